"""Levels over time: paths that hold a value until the next line, and samples at regular instants."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.pieces import Floats, Pieces
from proofs_check.simulators.repeats import Repeats
from proofs_check.simulators.statistics import MEAN, Statistic

LARGEST = 1e30
SIMILAR = 0.05  # plain and weighted means further apart than this are worth a note


class Levels:
    """Numbers of jobs over time, read in blocks.

    Parameters
    ----------
    table
        With columns of time and of one or more levels, which are added (waiting and in service).
    path
        True: a value holds until the next line, and is weighted by that time; False: samples at regular instants.
    waiting
        The level counts waiting jobs only.
    seen
        By Little's law with its arrival rate the mean wait is the mean number waiting over it; levels are totals over
        its servers.
    """

    def __init__(self, table: Any, columns: list[str], *, path: bool, waiting: bool = False, seen: Observed) -> None:
        self.table, self.columns, self.is_path, self.waiting, self.seen = table, columns, path, waiting, seen
        self.path = table.path
        self.what = "lines" if path else "samples"
        self.plain_mean = self.weighted_mean = self.cut = 0.0
        self.total, self.rows = 0.0, 0
        self._came, self._span = 0.0, 0.0
        self.changes = self.leaps = 0  # of the level of a path, and those by more than one
        self.repeats = Repeats()

    @property
    def totals(self) -> tuple[float, float, float, float] | None:
        """Return how many jobs came, in what time (and nothing on services), where the path holds every event."""
        return None if self.waiting or self.leaps or not self.is_path else (self._came, self._span, 0.0, 0.0)

    @property
    def count(self) -> int:
        return self.rows

    def unit(self, quantity: str) -> str:
        """Return the unit of the weight of a run."""
        return "units of time" if self.is_path else "samples"

    @property
    def quantities(self) -> tuple[str, ...]:
        if not self.waiting:
            return ("mean_queue", "tail") if self.seen.servers == 1 else ("mean_queue",)
        return ("mean_wait",) if self.seen.rate else ()

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the pieces from which a quantity is estimated, and how."""
        if quantity not in self.quantities:
            raise InputError(self._unable(quantity))
        found, self.total, self.rows = Pieces(), 0.0, 0
        self._came, self._span, self.changes, self.leaps, self.repeats = 0.0, 0.0, 0, 0, Repeats()
        self.cut = 0.0
        for duration, level in self.blocks():
            self.repeats.add(duration if self.is_path else level)
            above = (level >= (index or 0)).astype(float)
            value = above if quantity == "tail" else level / self._unit(quantity)
            found.add(duration, duration * value, duration * value * value)
        weight, first, _ = found.array().sum(axis=0)
        self.plain_mean = self.total / max(self.rows, 1)
        if quantity != "tail" and weight > 0:
            self.weighted_mean = first / weight * self._unit(quantity)
        return found, MEAN

    def _unit(self, quantity: str) -> float:
        """Return the level that stands for one unit of the quantity."""
        return self.seen.rate or 1.0 if quantity == "mean_wait" else float(self.seen.servers)

    def blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield (durations, levels), checked; the last line of a path has no duration and is left out."""
        last: Floats | None = None
        for line, rows in self.table.blocks(self.columns):
            time, level = rows[:, 0], rows[:, 1:].sum(axis=1)
            self._check(line, time, level, last)
            self.rows += len(time)
            self.total += float(level.sum())
            if not self.is_path:
                yield np.ones(len(time)), level
            else:
                if last is not None:
                    time, level = np.concatenate([last[:1], time]), np.concatenate([last[1:], level])
                steps = np.diff(level)
                self._came += float(np.maximum(steps, 0.0).sum())
                self._span += float(time[-1] - time[0])
                self.changes += int((steps != 0).sum())
                self.leaps += int((np.abs(steps) > 1).sum())
                if len(steps):
                    self.cut = float(time[-1]) if steps[-1] else 0.0
                yield np.diff(time), level[:-1]
            last = np.array([time[-1], level[-1]])
        if last is None:
            raise InputError(f"{self.table.path}: a header and no data")

    def _check(self, line: int, time: Floats, level: Floats, last: Floats | None) -> None:
        before = time[0] if last is None else last[0]
        step = np.diff(np.concatenate([[before], time]))
        problems = (
            (~np.isfinite(time), time, "time", "is missing or not finite"),
            (~np.isfinite(level), level, "level", "is missing or not finite"),
            (level < 0, level, "level", "is negative; a number of jobs is at least 0"),
            (np.abs(time) > LARGEST, time, "time", "is too large for a time"),
            (level > LARGEST, level, "level", "is too large for a number of jobs"),
            (
                level != np.floor(level),
                level,
                "level",
                "is no whole number of jobs; is it per server? Give the total",
            ),
            (step < 0, time, "time", "is before the line above; are these two runs in one file?"),
        )
        for bad, values, what, why in problems:
            if bad.any():
                i = int(np.argmax(bad))
                raise InputError(f"{self.table.path} line {line + i}: {what} {values[i]:.9g} {why}")

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about the path."""
        if self.waiting:
            yield f"{self.columns[1]} counts waiting jobs only; mean_wait follows by Little's law with the model's lam"
        if self.is_path and self.weighted_mean and abs(self.plain_mean / self.weighted_mean - 1) > SIMILAR:
            yield (
                f"event weighting: the plain mean of the listed levels is {self.plain_mean:.4g}, weighted by how long "
                f"each holds {self.weighted_mean:.4g}; only the second is a time average"
            )
        if self.is_path and self.cut:
            yield f"the path ends with a change at {self.cut:.6g}; if the run went on, add its end: the value holds on"
        if not self.is_path:
            yield "levels are polled at instants, not recorded at events; each sample has weight one"

    def _unable(self, quantity: str) -> str:
        what = f"{self.columns[1]} counts waiting jobs only" if self.waiting else "the data are levels over time"
        can = ", ".join(self.quantities) or "nothing of this model"
        return f"{self.table.path}: {what}; {quantity} cannot be estimated from them; these can: {can}"
