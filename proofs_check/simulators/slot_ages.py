"""Slot ages, one a slot, and what can be estimated from them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats, Pieces
from proofs_check.simulators.repeats import Repeats
from proofs_check.simulators.statistics import MEAN, SECOND_MOMENT, VARIANCE, Statistic

AGE_NAMES = ("age", "slot_age", "J", "value")
SLOT_NAMES = ("slot", "t", "time")
LARGEST = 2.0**52

OBSERVABLES: dict[str, tuple[Callable[[Floats, int], Floats], Statistic]] = {
    "slot_mean": (lambda age, j: age, MEAN),
    "slot_variance": (lambda age, j: age, VARIANCE),
    "slot_second_moment": (lambda age, j: age, SECOND_MOMENT),
    "slot_pmf": (lambda age, j: (age == j).astype(float), MEAN),
    "slot_ccdf": (lambda age, j: (age > j).astype(float), MEAN),
    "failure": (lambda age, j: (age > 0).astype(float), MEAN),
}

GAPS: dict[str, tuple[Callable[[Floats, int], Floats], Statistic]] = {
    "gap_mean": (lambda gap, z: gap, MEAN),
    "gap_second_moment": (lambda gap, z: gap * gap, MEAN),
    "gap_pmf": (lambda gap, z: (gap == z).astype(float), MEAN),
}
Observables = dict[str, tuple[Callable[[Floats, int], Floats], Statistic]]


def observables(sampling: Any) -> Observables:
    """Return what is read from the slot ages J; with a sampling also the age start + n J + V in channel uses."""
    if sampling is None:
        return OBSERVABLES
    n, fixed = sampling.n, float(sampling.start + sampling.offset_mean)
    spread = float(sampling.offset_variance)  # V is independent of J: its variance is added
    variance = Statistic("variance of the age", lambda a, b: b - a * a + spread, VARIANCE.gradient)
    age = lambda j, _: n * j + fixed  # noqa: E731
    return OBSERVABLES | {"age_mean": (age, MEAN), "age_variance": (age, variance)}


def gap_observables(sampling: Any) -> Observables:
    """Return what is read from the gaps Z; with a sampling also the peak start + n Z, less its last use."""
    if sampling is None:
        return GAPS
    n, fixed = sampling.n, sampling.start - sampling.last_use
    peak = lambda z, _: n * z + fixed  # noqa: E731
    return GAPS | {"peak_mean": (peak, MEAN), "peak_variance": (peak, VARIANCE)}


class SlotAges:
    """A file of slot ages: a column of ages and, optionally, one of slot numbers; read and checked in blocks.

    Checked: ages are whole and not negative, slots increase by whole steps, and from one row to the next the age
    either grows with the slots or has restarted in between.  With ``sampling`` ages in channel uses follow from them.
    """

    what = "slots"

    def __init__(self, table: Any, sampling: Any = None) -> None:
        self.sampling = sampling
        self.observables, self.gaps = observables(sampling), gap_observables(sampling)
        self.path = table.path
        self._table = table
        self._where = [0] if table.headless and len(table.columns) == 1 else self._named(table)
        self._restart()

    def _restart(self) -> None:
        self.least, self.rows, self.missing = np.inf, 0, 0
        self._steps: set[float] = set()
        self.repeats = Repeats()

    @property
    def skipped(self) -> bool:
        return self.missing > 0

    @property
    def uneven(self) -> bool:
        """Whether slots are left out, and not between every two rows as many."""
        return len(self._steps) > 1

    @property
    def quantities(self) -> tuple[str, ...]:
        return (*self.observables, *self.gaps)

    @property
    def count(self) -> int:
        return self.rows

    def unit(self, quantity: str) -> str:
        return "gaps" if quantity in self.gaps else "slots"

    def blocks(self) -> Iterator[Floats]:
        """Yield the ages in order, checked."""
        last: tuple[float, float] | None = None
        for line, rows in self._table.blocks(self._where):
            age = rows[:, -1]
            slot = rows[:, 0] if len(self._where) == 2 else np.arange(self.rows, self.rows + len(age), dtype=float)
            self._check_values(age, slot, line)
            if len(age):
                before = (slot[0] - 1, age[0] - 1) if last is None else last
                self._check_steps(np.concatenate([[before[1]], age]), np.concatenate([[before[0]], slot]), line)
                self.least = min(self.least, float(age.min()))
                last = float(slot[-1]), float(age[-1])
                self.repeats.add(age[:-1][np.diff(age) <= 0])  # the highest ages between restarts
            self.rows += len(age)
            yield age
        if not self.rows:
            raise InputError(f"{self.path}: a header and no data")

    def again(self) -> "SlotAges":
        """Return a second reader of the same ages."""
        return SlotAges(self._table, self.sampling)

    def rewound(self) -> Iterator[Floats]:
        """Yield the ages from the first one on."""
        self._restart()
        yield from self.blocks()

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the observations of one quantity and the statistic that estimates it."""
        if quantity not in self.quantities:
            raise InputError(f"{quantity} cannot be estimated from slot ages; these can: {', '.join(self.quantities)}")
        if quantity in self.gaps:
            return self._gaps(quantity, index), self.gaps[quantity][1]
        observable, statistic = self.observables[quantity]
        found = Pieces()
        for age in self.rewound():
            found.add_values(observable(age, index or 0))
        return found, statistic

    def _gaps(self, quantity: str, index: int | None) -> Pieces:
        """Return the gaps between restarts: the age just before one, and one slot more."""
        found, last = Pieces(), np.empty(0)
        for age in self.rewound():
            joined = np.concatenate([last, age])
            restarts = np.flatnonzero(joined[1:] == self.least)
            found.add_values(self.gaps[quantity][0](joined[restarts] - self.least + 1, index or 0))
            last = joined[-1:]
        if self.skipped:
            raise InputError(f"{self.path}: slots are left out; {quantity} needs the age of every slot")
        return found

    def notes(self) -> Iterator[str]:
        """Yield what the data say about themselves, beyond any estimate."""
        if self.missing:
            yield f"{self.missing} slots are left out between the first and the last"
        if self.least > 0:
            yield f"no age is below {self.least:.0f}; a slot age is 0 at a usable update"

    @staticmethod
    def _named(table: Any) -> list[int]:
        ages = [i for i, name in enumerate(table.columns) if name in AGE_NAMES]
        slots = [i for i, name in enumerate(table.columns) if name in SLOT_NAMES]
        if len(ages) != 1 or len(slots) > 1:
            what = "no column" if not ages else "more than one column"
            raise InputError(
                f"{table.path}: {what} of ages among {', '.join(table.columns)[:200]}; slot ages are read from a "
                f"column {' | '.join(AGE_NAMES)}, and optionally {' | '.join(SLOT_NAMES)}"
            )
        return [*slots, *ages]

    def _check_values(self, age: Floats, slot: Floats, line: int) -> None:
        self._refuse(~np.isfinite(age) | ~np.isfinite(slot), line, age, "is missing or not finite")
        self._refuse(age < 0, line, age, "is negative; ages are at least 0 (is -1 a mark for a missing value?)")
        self._refuse(age != np.floor(age), line, age, "is no whole number; slot ages count slots")
        self._refuse(age > LARGEST, line, age, "is too large for an age (is it a mark for a missing value?)")

    def _check_steps(self, age: Floats, slot: Floats, line: int) -> None:
        step = np.diff(slot)
        self._refuse(step == 0, line, slot[1:], "is a slot that stands twice; each slot is read once", what="slot")
        self._refuse(
            step < 0, line, slot[1:], "is a slot before the one above; is this two runs in one file?", what="slot"
        )
        self._refuse(step != np.floor(step), line, slot[1:], "is no whole number of slots on", what="slot")
        self.missing += int((step - 1).sum())
        self._steps |= set(np.unique(step[(not self.rows) :])[:2].tolist())
        floor = min(self.least, float(age[1:].min()))
        grown = age[1:] == age[:-1] + step
        restarted = age[1:] < floor + step
        self._refuse(
            ~(grown | restarted),
            line,
            age[1:],
            "does not follow from the age above: a slot age grows by 1 a slot or starts again; left-out slots need a "
            "slot column",
        )

    def _refuse(self, bad: np.ndarray, line: int, values: Floats, why: str, what: str = "age") -> None:
        if bad.any():
            i = int(np.argmax(bad))
            more = f" ({int(bad.sum())} such rows in this block)" if bad.sum() > 1 else ""
            raise InputError(f"{self.path} line {line + i}: {what} {values[i]:.12g} {why}{more}")
