"""Paths of discontinuous fluid limits, one smooth piece after another: which levels are full decides the regime."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from exactchains.domain import Floats
from exactchains.truth import Undecided
from meanfield.fluid import regime_rates
from meanfield.models.policy import Policy

__all__ = ["Piece", "Regime", "pieces_of"]

Vector = NDArray[np.float64]
MOST = 1000  # regimes on one path
SLACK = 1e-11  # drift that counts as none
THIN = 1e-7  # density of a level that begins to empty, see regime_rates
FILLED = 1 + 1e-9  # beyond which a level counts as full: rounding alone does not fill it


@dataclass(frozen=True)
class Regime:
    """From ``begin`` on, pool j has ``full[j]`` levels that hold all its servers."""

    begin: float
    full: tuple[int, ...]


@dataclass(frozen=True)
class Piece(Regime):
    """The path in one regime: ``solution(t)`` are the tails x_1..x_K, all pools one after another."""

    solution: Any


def pieces_of(policy: Policy, x0: Vector, end: float) -> Iterator[Piece]:
    """Yield the pieces of the path from tails ``x0[j, k-1]`` up to the time ``end``.

    A full level stays full while its refill equals what drains from it.  A regime ends where the next level of a pool
    fills, or where a full level is no longer refilled; it is then left in the direction in which its tail falls.

    Raises
    ------
    Undecided
        The path changes its regime too often.
    """
    shape, x, now = x0.shape, x0.copy(), 0.0
    known = _floats(policy)
    full = [_leading(row) for row in x]
    for _ in range(MOST):
        full = _released(policy, known, x, full)

        def field(_: float, y: Vector, full: list[int] = full) -> Vector:
            found = _drift(policy, known, y.reshape(shape), full)
            for row, f in zip(found, full, strict=True):
                row[:f] = 0.0  # full levels stay full until the regime ends
            return found.ravel()

        def fills(_: float, y: Vector, full: list[int] = full) -> float:
            return (
                float(max((r[f] for r, f in zip(y.reshape(shape), full, strict=True) if f < shape[1]), default=0))
                - FILLED
            )

        def drains(_: float, y: Vector, full: list[int] = full) -> float:
            return _held(_drift(policy, known, y.reshape(shape), full), full) + SLACK

        fills.terminal, fills.direction = True, 1  # type: ignore[attr-defined]
        drains.terminal, drains.direction = True, -1  # type: ignore[attr-defined]
        found = solve_ivp(
            field, (now, end), x.ravel(), "DOP853", events=(fills, drains), rtol=1e-9, atol=1e-12, dense_output=True
        )
        yield Piece(now, tuple(full), found.sol)
        if found.status != 1:
            return
        now, x = float(found.t[-1]), np.clip(found.y[:, -1].reshape(shape), 0.0, 1.0)
        if len(found.t_events[0]):
            j = max((i for i, f in enumerate(full) if f < shape[1]), key=lambda i: x[i, full[i]])
            x[j, full[j]] = 1.0
            full = [f + (i == j) for i, f in enumerate(full)]
    raise Undecided(f"the path changes its regime more than {MOST} times before {end}; take an earlier end")


def _floats(policy: Policy) -> Any:
    number = Floats().convert
    pools = [SimpleNamespace(fraction=number(p.fraction), speed=number(p.speed)) for p in policy.pools]
    return SimpleNamespace(load=number(policy.load), pools=pools, fallback=getattr(policy, "fallback", None), thin=THIN)


def _leading(row: Vector) -> int:
    below = np.flatnonzero(row < 1)
    return int(below[0]) if len(below) else len(row)


def _drift(policy: Policy, known: Any, x: Vector, full: list[int]) -> Vector:
    """Return the derivative of x[j, k-1] by the rates of the regime."""
    rows = [[1.0, *row.tolist(), 0.0, 0.0] for row in x]
    joined = regime_rates(policy, rows, full, known)
    found = np.empty_like(x)
    for j, pool in enumerate(known.pools):
        arrivals = np.array([joined.get((j, k), 0.0) for k in range(x.shape[1])]) / pool.fraction
        found[j] = arrivals - pool.speed * (x[j] - np.append(x[j, 1:], 0.0))
    return found


def _held(drift: Vector, full: list[int]) -> float:
    """Return the least drift of the last full level of a pool; 0 where none is full."""
    return float(min((row[f - 1] for row, f in zip(drift, full, strict=True) if f), default=0.0))


def _released(policy: Policy, known: Any, x: Vector, full: list[int]) -> list[int]:
    """Return the regime that the path enters: full levels that are not refilled are let go, the worst first."""
    while True:
        drift = _drift(policy, known, x, full)
        held = [(row[f - 1], j) for j, (row, f) in enumerate(zip(drift, full, strict=True)) if f]
        if not held or min(held)[0] >= -SLACK / 2:
            return full
        full = [f - (j == min(held)[1]) for j, f in enumerate(full)]
