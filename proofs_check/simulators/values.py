"""Bare values whose mean is the quantity, and summaries that a tool computed itself."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.statistics import MEAN, VARIANCE, Estimate, Statistic

VALUE = ("value", "age", "wait", "response", "x")
WEIGHTS = ("weight", "duration")
HALF_WIDTH = ("half_width", "ci", "error")


class Values:
    """One number a line, in the order in which the run produced them (or one a replication), optionally weighted."""

    what = "values"
    count = 0

    def unit(self, quantity: str) -> str:
        return "values"

    def __init__(self, table: Any, value: str, weight: str | None) -> None:
        self.path = table.path
        self.table, self.columns = table, [value, *([weight] if weight else [])]

    quantities = ("any mean or variance",)

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the values as observations; a variance is estimated as theirs, everything else as their mean."""
        found = Pieces()
        for line, rows in self.table.blocks(self.columns):
            bad = ~np.isfinite(rows).all(axis=1) | (rows[:, -1] < 0 if len(self.columns) == 2 else False)
            if bad.any():
                i = int(np.argmax(bad))
                raise InputError(f"{self.table.path} line {line + i}: {rows[i].tolist()}: finite values are needed")
            weight = rows[:, 1] if len(self.columns) == 2 else np.ones(len(rows))
            found.add(weight, weight * rows[:, 0], weight * rows[:, 0] ** 2)
        self.count = found.count
        return found, VARIANCE if quantity.endswith("variance") else MEAN

    def notes(self) -> Iterator[str]:
        yield from ()


class Summary:
    """A mean with the half width of its 95 % interval, as another program reports it; without one: undecided."""

    what = "value"
    count = 1

    def unit(self, quantity: str) -> str:
        return "values"

    def __init__(self, table: Any, value: str, half_width: str | None) -> None:
        line, rows = next(iter(table.blocks([value, *([half_width] if half_width else [])])), (2, np.empty((0, 1))))
        if len(rows) != 1 or not np.isfinite(rows).all() or (rows[:, 1:] < 0).any():
            raise InputError(f"{table.path} line {line}: a summary is one line of finite numbers, half width >= 0")
        self.value = float(rows[0, 0])
        self.half_width = float(rows[0, 1]) if half_width else math.inf
        self.path = table.path

    quantities = ("any mean",)

    def summary(self) -> Estimate:
        """Return the estimate that was reported, taken at its word."""
        error = self.half_width / 1.959963984540054
        effective = math.inf if math.isfinite(error) else 0.0
        return Estimate(self.value, error, 10**9, effective, math.nan, False, False)

    def notes(self) -> Iterator[str]:
        if math.isfinite(self.half_width):
            yield "the error is taken as reported; naive intervals of dependent data are far too short"
        else:
            yield "the summary has no error (column half_width); nothing can be decided from it"
