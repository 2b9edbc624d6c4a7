"""Comparison chains: loads as (level, shape), shapes from a finite set, targets outside it made larger or smaller."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from exactchains.number import nearest_double
from exactchains.truth import InputError, PrecisionExhausted
from meanfield.finite import moved
from meanfield.models.policy import Loads, Policy, checked
from meanfield.monotone import monotonicity_violation
from meanfield.solvers.replacement import Order, Side, filled, split, transferred

__all__ = ["Comparison", "ShapeSet", "comparison", "grown", "swept_law"]

Ints = NDArray[np.int64]
MOST_PERIOD = 1000  # jobs of one level
LARGEST = 2**62  # integer rate
TRIED, SMALL = 200, 4  # shapes, and servers and jobs, on which a user's rule is tried
FURTHER = (1, 2, 4, 7, 12)  # jobs more at every server
LARGE = 100_000  # levels times shapes from which the last sweeps are fewer


def lifted(loads: Loads, direction: tuple[int, ...], by: int) -> Loads:
    """Return loads + by * direction."""
    return tuple(tuple(q + by * v for q in queue) for queue, v in zip(loads, direction, strict=True))


class ShapeSet:
    """A growing set of shapes with their transitions from level 0 and from any level above, found once each.

    A target is numbered by its shape, ``targets[t]``, whose place in the set is ``index[t]``, -1 outside.
    """

    def __init__(self, policy: Policy, n: int) -> None:
        if policy.direction is None or not policy.monotone:
            raise InputError(
                f"{type(policy).__name__}: comparison chains need a rule that is monotone and, with all servers busy, "
                "looks at differences only; set buffer, or leave out n for the limit of many"
            )
        n = checked(policy, n)
        if policy.owned:
            _keeps_order(policy, n)
        self.direction = policy.direction
        period = sum(size * v for size, v in zip(policy.pools.sizes(n), policy.direction, strict=True))
        if period > max(MOST_PERIOD, n):
            raise InputError(
                f"pools = {policy.pools}: differences of delays repeat only after {period} jobs, and at most "
                f"{MOST_PERIOD} are enclosed; give speeds of smaller ratio, or set buffer"
            )
        self.policy, self.n = policy, n
        self.shapes: list[Loads] = []
        self.place: dict[Loads, int] = {}
        self.targets: list[Loads] = []
        self.index: list[int] = []
        self.rates: dict[Any, int] = {}
        self._numbers: dict[Loads, int] = {}
        self._moves = array("q")  # rows of six: see table
        self.add(tuple((0,) * size for size in policy.pools.sizes(n)))

    def add(self, shape: Loads) -> None:
        """Add a shape and its transitions."""
        i = self.place[shape] = len(self.shapes)
        self.shapes.append(shape)
        self.index[self._number(shape)] = i
        if self.policy.owned and i < TRIED:
            self._looks_at_differences(shape)
        for where in (0, 1):
            for loads, rate, arrival in self._transitions(shape, where):
                step, target = split(loads, self.direction)
                number = self.rates.setdefault(rate, len(self.rates))
                self._moves.extend((where, i, self._number(target), step, number, arrival))

    def _looks_at_differences(self, shape: Loads) -> None:
        """Refuse a rule whose answer, all servers busy, changes with as many jobs more at every server."""
        low = lifted(shape, self.direction, 1)
        law = self.policy.law(low)
        for more in FURTHER:
            high = lifted(low, self.direction, more)
            if self.policy.law(high) != {(j, k + more * self.direction[j]): x for (j, k), x in law.items()}:
                raise InputError(
                    f"{type(self.policy).__name__}.homogeneous: all servers busy, loads {low} and {high} get other "
                    "answers; leave homogeneous out, or mend the rule"
                )

    def _number(self, shape: Loads) -> int:
        number = self._numbers.setdefault(shape, len(self.targets))
        if number == len(self.targets):
            self.targets.append(shape)
            self.index.append(-1)
        return number

    def _transitions(self, shape: Loads, level: int) -> Iterator[tuple[Loads, Any, bool]]:
        """Yield (loads after, rate, whether a job arrived) at a level, loads shifted down by that level."""
        arrival = self.n * self.policy.load
        for (pool, k), chance in self.policy.law(lifted(shape, self.direction, level)).items():
            yield moved(shape, pool, k - level * self.direction[pool], 1), arrival * chance, True
        for pool, (queue, speed) in enumerate(zip(shape, self.policy.pools.speeds, strict=True)):
            for k in set(queue):
                if level or k:
                    yield moved(shape, pool, k, -1), queue.count(k) * speed, False

    def table(self) -> Ints:
        """Return the transitions: where (0: level 0, 1: above), shape, target, levels up, rate number, arrival."""
        return np.array(self._moves, dtype=np.int64).reshape(-1, 6)

    def speeds(self) -> NDArray[np.float64]:
        """Return the numbered rates in doubles."""
        return np.array([nearest_double(rate) for rate in self.rates])

    def entering(self, law: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the flow into every target's shape outside the set, 0 for those inside; a law by level and shape."""
        where, i, target, _, rate, _ = self.table().T
        weight = np.array([law[0], law[1:].sum(axis=0)])
        flow = np.bincount(target, weight[where, i] * self.speeds()[rate], len(self.targets))
        return np.where(np.array(self.index) < 0, flow, 0.0)

    def leaving(self, law: NDArray[np.float64]) -> float:
        """Return the flow out of the set."""
        return float(self.entering(law).sum())

    def located(self, loads: Loads | None) -> tuple[int, int]:
        """Return level and place of loads whose shape is in the set; (0, -1) for None."""
        if loads is None:
            return 0, -1
        level, shape = split(loads, self.direction)
        return level, self.place[shape]

    def replaced(self, target: Loads, arrival: bool, side: Side, order: Order) -> Loads | None:
        """Return the target made larger (upper) or smaller (lower) until its shape is in the set; None: no move."""
        if order == "majorisation":
            loads = transferred(target, self.place, side)
            if loads is not None:
                return loads
        if side == "lower" and arrival:
            return None
        if side == "upper" and not arrival:  # at most the job that left comes back; else the service is lost
            loads = filled(target, self.place, self.direction, side, order) if order == "majorisation" else None
            return loads if loads is not None and sum(loads[0]) == sum(target[0]) + 1 else None
        return filled(target, self.place, self.direction, side, order)


@dataclass(frozen=True)
class Comparison:
    """Integer transitions of a side: ``zero`` at level 0, ``above`` beyond; rows (i, j, step, rate * common)."""

    shapes: list[Loads]
    policy: Policy
    n: int
    direction: tuple[int, ...]
    side: Side
    zero: Ints
    above: Ints
    common: int


def comparison(found: ShapeSet, side: Side, order: Order = "coordinate") -> Comparison:
    """Return the chain above (or below) the true one in an order: same rates, some targets replaced."""
    where, i, target, step, rate, arrival = found.table().T
    j, step = np.array(found.index)[target], step.copy()
    outside = np.flatnonzero(j < 0)
    codes, which = np.unique(2 * target[outside] + arrival[outside], return_inverse=True)
    instead = [found.replaced(found.targets[int(c) // 2], bool(c % 2), side, order) for c in codes]
    ends = [found.located(x) for x in instead]
    if ends:
        up, end = np.array(ends).T
        j[outside], step[outside] = end[which], step[outside] + up[which]
    common = lcm(*(int(x.q) for x in found.rates))
    whole = [int((x * common).p) for x in found.rates]
    if max(whole) >= LARGEST:
        raise InputError(
            f"load = {found.policy.load}: the rates have a common denominator of {len(str(common))} digits, and at n "
            "servers at most 18 are taken; give load, probabilities and speeds in fewer digits"
        )
    kept = (j >= 0) & ((i != j) | (step != 0))
    rows = np.column_stack([i, j, step, np.array(whole, dtype=np.int64)[rate]])
    zero, above = (rows[kept & (where == k)] for k in (0, 1))
    return Comparison(found.shapes, found.policy, found.n, found.direction, side, zero, above, common)


def grown(
    found: ShapeSet, *, threshold: float, levels: int, most: int, law: NDArray[np.float64] | None = None
) -> tuple[ShapeSet, NDArray[np.float64]]:
    """Add the shapes whose inflow from the set exceeds ``threshold``; return the set and its approximate law by level.

    Power steps of the chain that stays put instead of leaving the set, from ``law`` where one is known; the selection
    is a guess that no bound needs.

    Raises
    ------
    PrecisionExhausted
        More than ``most`` shapes would be needed; the set keeps those found before.
    """
    if law is None or law.shape != (levels + 1, len(found.shapes)):
        law = np.ones((levels + 1, len(found.shapes))) / ((levels + 1) * len(found.shapes))
    while True:
        law = _swept(found, law, 30)
        new = np.flatnonzero(found.entering(law) > threshold)
        if not len(new):
            return found, _swept(found, law, 200 if law.size < LARGE else 30)
        if len(found.shapes) + len(new) > most:
            raise PrecisionExhausted(f"n = {found.n}: more than {most} shapes would be needed; ask for fewer digits")
        for target in new:
            found.add(found.targets[target])
        law = np.hstack([law, np.zeros((levels + 1, len(new)))])


def swept_law(found: ShapeSet, levels: int) -> NDArray[np.float64]:
    """Return the approximate law on the levels and shapes."""
    m = len(found.shapes)
    return _swept(found, np.ones((levels + 1, m)) / ((levels + 1) * m), 300)


def _keeps_order(policy: Policy, n: int) -> None:
    """Refuse a rule that breaks an order it states on the smallest system it can serve, or on this one if small."""
    step = lcm(*(int(f.q) for f in policy.pools.fractions))
    least = step * max(1, -(-(policy.d or 2) // step))
    for size in {least, n}:
        if size <= SMALL and (found := monotonicity_violation(policy, n=size, most=SMALL)):
            raise InputError(
                f"{type(policy).__name__}.monotone: more jobs lead to fewer elsewhere, from loads {found[0]} and "
                f"{found[1]}; leave monotone out, or mend the rule"
            )
    if not policy.majorised or len(policy.pools) > 1:  # this order is not used
        return
    size = n if n <= SMALL else max(least, 3)  # two servers are too few to tell for more
    if size <= SMALL:
        most = SMALL if size > 3 else 2 * SMALL
        if found := monotonicity_violation(policy, n=size, most=most, order="majorisation"):
            raise InputError(
                f"{type(policy).__name__}.majorised: from loads {found[1]}, the larger ones in weak majorisation, "
                f"arrivals can lead to smaller loads than from {found[0]}; leave majorised out, or mend the rule"
            )


def _swept(found: ShapeSet, law: NDArray[np.float64], sweeps: int) -> NDArray[np.float64]:
    levels, m = law.shape[0] - 1, law.shape[1]
    size = (levels + 1) * m
    where, i, target, step, number, _ = found.table().T
    j, speed = np.array(found.index)[target], found.speeds()[number]
    rows, columns, rates = [], [], []
    for level in range(levels + 1):
        part = (where == (level > 0)) & (j >= 0)
        rows.append(level * m + i[part])
        columns.append(np.clip(step[part] + level, 0, levels) * m + j[part])
        rates.append(speed[part])
    i, j, r = (np.concatenate(x) for x in (rows, columns, rates))
    fastest = found.n * (1 + nearest_double(found.policy.load))
    stay = 1 - np.bincount(i, r, size) / fastest
    move = sp.csr_matrix((r / fastest, (j, i)), shape=(size, size))
    x = law.ravel()
    for _ in range(sweeps):
        x = move @ x + stay * x
    return (x / x.sum()).reshape(levels + 1, m)
