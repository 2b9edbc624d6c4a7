"""Bare values whose mean is the quantity."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.job_checks import LARGEST, ROUNDING
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.repeats import Repeats
from proofs_check.simulators.statistics import MEAN, VARIANCE, Statistic

HOLDS = {  # quantities whose values stand in a column of that name
    "age": ("age_mean", "age_variance"),
    "peak": ("peak_mean", "peak_variance"),
    "wait": ("mean_wait",),
    "response": ("mean_response",),
}
TIMES = tuple(quantity for held in HOLDS.values() for quantity in held)
ANY = ("value", "x")
VALUE = (*ANY, *HOLDS)
WEIGHTS = ("weight", "duration")
HALF_WIDTH = ("half_width", "ci", "error")

EVERY_WHOLE = 2.0**52  # all floats from here on are whole numbers


class Values:
    """One number a line, in the order in which the run produced them (or one a replication), optionally weighted."""

    what = "values"
    count = 0

    def unit(self, quantity: str) -> str:
        return "values"

    def __init__(self, table: Any, weight: str | None) -> None:
        self.path, self.table, self.weight = table.path, table, [weight] if weight else []
        self.rounded = False
        self.octaves: Counter[int] = Counter()  # how many values lie between 2^(k - 1) and 2^k
        self.repeats = Repeats()

    def _column(self, quantity: str) -> str:
        """Return the column that holds values of a quantity: the one named after it, else one of any values."""
        named = (name for name, held in HOLDS.items() if quantity in held)
        found = next((name for name in (*named, *ANY) if name in self.table.columns), None)
        if found is None:
            other = next(name for name in HOLDS if name in self.table.columns)
            raise InputError(
                f"{self.path}: the column {other} holds values of {' and '.join(HOLDS[other])}, not of {quantity}; "
                "name a column of other values 'value'"
            )
        return found

    quantities = ("any mean or variance",)

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the values as observations; a variance is estimated as theirs, everything else as their mean."""
        found, whole, columns = Pieces(), True, [self._column(quantity), *self.weight]
        self.octaves, self.repeats = Counter(), Repeats()
        for line, rows in self.table.blocks(columns):
            bad = ~np.isfinite(rows).all(axis=1) | (rows[:, -1] < 0 if self.weight else False)
            if bad.any():
                i = int(np.argmax(bad))
                raise InputError(f"{self.table.path} line {line + i}: {rows[i].tolist()}: finite values are needed")
            slack = ROUNDING * max(1.0, float(np.abs(rows[:, 0]).max(initial=0.0)))  # differences of rounded times
            wrong = (rows[:, 0] < -slack) | (rows[:, 0] > LARGEST)
            if wrong.any():
                i = int(np.argmax(wrong))
                why = "is negative; times, ages and numbers of jobs are not" if rows[i, 0] < 0 else "is too large"
                raise InputError(f"{self.table.path} line {line + i}: value {rows[i, 0]:.9g} {why}")
            weight = rows[:, 1] if self.weight else np.ones(len(rows))
            found.add(weight, weight * rows[:, 0], weight * rows[:, 0] ** 2)
            self.repeats.add(rows[:, 0])
            octaves, counts = np.unique(np.frexp(rows[rows[:, 0] > 0, 0])[1], return_counts=True)
            self.octaves.update(dict(zip(octaves.tolist(), counts.tolist(), strict=True)))
            whole = whole and bool(np.all((rows[:, 0] == np.floor(rows[:, 0])) & (rows[:, 0] < EVERY_WHOLE)))
        self.count, self.rounded = found.count, whole and quantity in TIMES
        return found, VARIANCE if quantity.endswith("variance") else MEAN

    def notes(self) -> Iterator[str]:
        if self.rounded:
            yield "all values are whole numbers: times that are rounded down are half a unit short on average"
