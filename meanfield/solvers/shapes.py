"""Comparison chains: loads as (level, shape), shapes from a finite set, targets outside it made larger or smaller."""

from collections import defaultdict
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from exactchains.truth import InputError, PrecisionExhausted
from meanfield.finite import moved, services
from meanfield.models.policy import Loads, Policy
from meanfield.solvers.replacement import Order, Side, filled, split, transferred

__all__ = ["Comparison", "ShapeSet", "comparison", "grown", "swept_law"]

Ints = NDArray[np.int64]


def lifted(loads: Loads, direction: tuple[int, ...], by: int) -> Loads:
    """Return loads + by * direction."""
    return tuple(tuple(q + by * v for q in queue) for queue, v in zip(loads, direction, strict=True))


@dataclass(frozen=True)
class Move:
    """A transition: the loads after it relative to the level before, its rate, and whether a job arrived."""

    target: Loads
    rate: Any
    arrival: bool


class ShapeSet:
    """A growing set of shapes with their transitions from level 0 and from any level above, found once each."""

    def __init__(self, policy: Policy, n: int) -> None:
        if policy.direction is None or not policy.monotone:
            raise InputError(
                f"{type(policy).__name__}: comparison chains need a rule that is monotone and, with all servers busy, "
                "looks at differences only"
            )
        policy.check(n)
        self.direction = policy.direction
        self.policy, self.n = policy, n
        self.shapes: list[Loads] = []
        self.place: dict[Loads, int] = {}
        self.moves: list[tuple[list[Move], list[Move]]] = []
        self.waiting: dict[Loads, list[tuple[int, int, Move]]] = defaultdict(list)
        self.inner: list[tuple[int, int, int, int, Any]] = []  # where (0: level 0, 1: above), i, j, step, rate
        self.add(tuple((0,) * size for size in policy.pools.sizes(n)))

    def add(self, shape: Loads) -> None:
        """Add a shape, its transitions, and those of others into it."""
        i = self.place[shape] = len(self.shapes)
        self.shapes.append(shape)
        self.moves.append((self._moves(shape, 0), self._moves(shape, 1)))
        for where, j, move in self.waiting.pop(shape, []):
            self.inner.append((where, j, i, split(move.target, self.direction)[0], move.rate))
        for where in (0, 1):
            for move in self.moves[i][where]:
                step, target = split(move.target, self.direction)
                if target in self.place:
                    self.inner.append((where, i, self.place[target], step, move.rate))
                else:
                    self.waiting[target].append((where, i, move))

    def _moves(self, shape: Loads, level: int) -> list[Move]:
        """Return transitions of ``shape`` at a level, targets shifted down by that level."""
        loads, arrival = lifted(shape, self.direction, level), self.n * self.policy.load
        found = [
            Move(lifted(moved(loads, pool, k, 1), self.direction, -level), arrival * chance, True)
            for (pool, k), chance in self.policy.law(loads).items()
        ]
        for target, rate in services(self.policy, loads):
            found.append(Move(lifted(target, self.direction, -level), rate, False))
        return found

    def entering(self, law: NDArray[np.float64]) -> dict[Loads, float]:
        """Return the flow into every shape outside the set, for a law by level and shape."""
        weight = law[0], law[1:].sum(axis=0)
        return {
            shape: sum(float(weight[where][i]) * _float(move.rate) for where, i, move in entries)
            for shape, entries in self.waiting.items()
        }

    def leaving(self, law: NDArray[np.float64]) -> float:
        """Return the flow out of the set."""
        return sum(self.entering(law).values())

    def replaced(self, move: Move, side: Side, order: Order) -> Loads | None:
        """Return the target made larger (upper) or smaller (lower) until its shape is in the set; None: no move."""
        if order == "majorisation":
            loads = transferred(move.target, self.place, side)
            if loads is not None:
                return loads
        if move.arrival == (side == "lower"):
            return None
        return filled(move.target, self.place, self.direction, side)


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
    tables: list[list[tuple[int, int, int, Any]]] = [[], []]
    for where, i, j, step, rate in found.inner:
        tables[where].append((i, j, step, rate))
    known: dict[tuple[Loads, bool], Loads | None] = {}
    for entries in found.waiting.values():
        for where, i, move in entries:
            key = move.target, move.arrival
            if key not in known:
                known[key] = found.replaced(move, side, order)
            loads = known[key]
            if loads is not None:
                step, target = split(loads, found.direction)
                tables[where].append((i, found.place[target], step, move.rate))
    rates = {rate for table in tables for *_, rate in table}
    common = lcm(*(int(rate.q) for rate in rates))
    whole = {rate: int((rate * common).p) for rate in rates}
    zero, above = (
        np.array([(i, j, k, whole[rate]) for i, j, k, rate in t if i != j or k], dtype=np.int64).reshape(-1, 4)
        for t in tables
    )
    return Comparison(found.shapes, found.policy, found.n, found.direction, side, zero, above, common)


def grown(found: ShapeSet, *, threshold: float, levels: int, most: int) -> tuple[ShapeSet, NDArray[np.float64]]:
    """Add the shapes whose inflow from the set exceeds ``threshold``; return the set and its approximate law by level.

    Power steps of the chain that stays put instead of leaving the set; the selection is a guess that no bound needs.

    Raises
    ------
    PrecisionExhausted
        More than ``most`` shapes would be needed; the set keeps those found before.
    """
    law = np.ones((levels + 1, len(found.shapes))) / ((levels + 1) * len(found.shapes))
    while True:
        law = _swept(found, law, 30)
        new = [shape for shape, flow in found.entering(law).items() if flow > threshold]
        if not new:
            return found, _swept(found, law, 200)
        if len(found.shapes) + len(new) > most:
            raise PrecisionExhausted(f"n = {found.n}: more than {most} shapes would be needed; ask for fewer digits")
        for shape in new:
            found.add(shape)
        law = np.hstack([law, np.zeros((levels + 1, len(new)))])


def swept_law(found: ShapeSet, levels: int) -> NDArray[np.float64]:
    """Return the approximate law on the levels and shapes."""
    m = len(found.shapes)
    return _swept(found, np.ones((levels + 1, m)) / ((levels + 1) * m), 300)


def _swept(found: ShapeSet, law: NDArray[np.float64], sweeps: int) -> NDArray[np.float64]:
    levels, m = law.shape[0] - 1, law.shape[1]
    size = (levels + 1) * m
    table = np.array([(w, i, j, k, _float(rate)) for w, i, j, k, rate in found.inner]).reshape(-1, 5)
    rows, columns, rates = [], [], []
    for level in range(levels + 1):
        part = table[table[:, 0] == (level > 0)]
        target = np.clip(part[:, 3] + level, 0, levels)
        rows.append(level * m + part[:, 1])
        columns.append(target * m + part[:, 2])
        rates.append(part[:, 4])
    i, j, r = (np.concatenate(x) for x in (rows, columns, rates))
    i, j = i.astype(np.int64), j.astype(np.int64)
    fastest = found.n * (1 + _float(found.policy.load))
    step = sp.csr_matrix((r / fastest, (j, i)), shape=(size, size))
    stay = 1 - np.bincount(i, r, size) / fastest
    x = law.ravel()
    for _ in range(sweeps):
        x = step @ x + stay * x
    return (x / x.sum()).reshape(levels + 1, m)


def _float(x: Any) -> float:
    return int(x.p) / int(x.q)
