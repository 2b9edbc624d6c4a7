"""Poisson certificates of comparison chains: V with Q V + f <= c (upper) or >= c (lower) on all infinitely many states.

V is free on levels 0..L and alpha l^2 + b_i l + c_i beyond, the form of the exact solution up to terms that decay with
the mixing of shapes.  Found in doubles, refined against exact residuals, and valued in exact integers, of 64 bits where
they suffice.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from exactchains.solvers.threads import one_thread
from meanfield.solvers.bordered import Vector, solver
from meanfield.solvers.shapes import Comparison, lifted

__all__ = ["FEW", "Certificate", "LevelReward", "poisson"]

Objects = NDArray[np.object_]
SPARE = 36  # bits of V beyond those that the residuals need
COARSE = 2.0**-20  # residual that is small enough at few bits
FEW = 62  # bits of integers that numpy adds without overflow


@dataclass(frozen=True)
class LevelReward:
    """A reward in integers: ``low[l]`` by shape for levels up to ``len(low) - 1``, then ``slope`` more per level."""

    low: list[Any]  # arrays, of Python integers where 64 bits do not suffice
    slope: int

    def at(self, level: int) -> Any:
        last = len(self.low) - 1
        return self.low[level] if level <= last else self.low[last] + self.slope * (level - last)


@dataclass(frozen=True)
class Certificate:
    """V in units of 2^-bits on the levels, its continuation, and the bound c that it proves."""

    bound: Fraction
    bits: int
    values: Objects  # (levels, shapes)
    alpha: int
    linear: Objects
    constant: Objects


@dataclass
class _Problem:
    """The Poisson equation of one chain and reward, in doubles: everything is affine in c and in kappa."""

    chain: Comparison
    reward: LevelReward
    top: int  # the last free level
    law: Vector
    slack: float
    m: int = field(init=False)

    def __post_init__(self) -> None:
        self.m = len(self.chain.shapes)
        self.sign = 1 if self.chain.side == "upper" else -1
        self.jobs = [
            np.array([sum(map(sum, lifted(s, self.chain.direction, level))) for s in self.chain.shapes])
            for level in (0, 1)
        ]
        self._continuation()
        self._levels()

    def moves(self, level: int) -> tuple[Any, Any, Any, Any]:
        """Return (i, j, step, rate) of a level."""
        return tuple((self.chain.zero if level == 0 else self.chain.above).T)  # type: ignore[return-value]

    def _jobs(self, level: int) -> NDArray[np.int64]:
        return self.jobs[0] + level * (self.jobs[1] - self.jobs[0])

    def _row(self, v: Any) -> Vector:
        return np.bincount(self.chain.above[:, 0], v, self.m)

    def _continuation(self) -> None:
        """Solve the two phase systems that make alpha l^2 + (b + beta) l + c exact beyond the free levels."""
        i, j, step, rate = self.moves(1)
        k, r, common = step.astype(float), rate.astype(float), float(self.chain.common)
        offset = self.reward.at(self.top + 2).astype(float) - self.reward.slope * (self.top + 2.0)
        generator = sp.csr_matrix((r, (i, j)), shape=(self.m, self.m)) - sp.diags(self._row(r))
        drift = self._row(r * k)
        self.phase = solver(
            sp.hstack([sp.csr_matrix(2 * drift[:, None]), generator[:, 1:]]).tocsc(),
            groups=self._jobs(0),
            weights=self.law[1:].sum(axis=0) + 1e-30,
            planar=self.chain.n <= 3,
        )

        def solved(right: Vector) -> tuple[float, Vector]:
            x = self.phase(right)
            return float(x[0]), np.concatenate([[0.0], x[1:]])

        self.alpha, self.b = 0.0, np.zeros(self.m)
        while self.reward.slope:  # more slack where rounding, in doubles, takes half of it
            slope = self.reward.slope + self.sign * self.slack
            self.alpha, self.b = solved(np.full(self.m, -slope * common))
            grown = 2 * self.alpha * drift + self._row(r * (self.b[j] - self.b[i])) + self.reward.slope * common
            if (self.sign * grown).max() < -self.slack * common / 2 or self.slack > COARSE:
                break
            self.slack *= 8
        half, self.c_plain = solved(
            -(self.alpha * self._row(r * k * k) + self._row(r * k * self.b[j]) + common * offset)
        )
        self.beta_plain = 2 * half
        half, self.c_slope = solved(np.full(self.m, common))
        self.beta_slope = 2 * half

    def _levels(self) -> None:
        m, size = self.m, (self.top + 1) * self.m
        rows, columns, entries = [], [], []
        right, by_c, by_kappa = np.zeros(size), np.full(size, -float(self.chain.common)), np.zeros(size)
        for level in range(self.top + 1):
            i, j, step, rate = self.moves(level)
            to, r, here = step + level, rate.astype(float), level * m
            inside = to <= self.top
            rows += [here + i[inside], here + i]
            columns += [to[inside] * m + j[inside], here + i]
            entries += [r[inside], -r]
            a, b, t, w = i[~inside], j[~inside], to[~inside].astype(float), r[~inside]
            block = slice(here, here + m)
            plain = self.alpha * t**2 + t * (self.b[b] + self.beta_plain) + self.c_plain[b]
            right[block] = -self.chain.common * self.reward.at(level).astype(float) - np.bincount(a, w * plain, m)
            by_c[block] += np.bincount(a, w * (t * self.beta_slope + self.c_slope[b]), m)
            by_kappa[block] = np.bincount(a, w, m)
        matrix = sp.csr_matrix(
            (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)
        )
        self.solve = solver(
            sp.hstack([sp.csr_matrix(by_c[:, None]), matrix[:, 1:]]).tocsc(),
            groups=np.concatenate([self._jobs(level) for level in range(self.top + 1)]),
            weights=self.law.ravel() + 1e-30,
            planar=self.chain.n <= 3,
        )
        self.plain, self.tilt = self.solve(right), self.solve(-by_kappa)

    def tail(self, c: float) -> tuple[Vector, Vector]:
        """Return the linear and constant coefficients beyond the free levels, for kappa = 0."""
        return self.b + self.beta_plain + c * self.beta_slope, self.c_plain + c * self.c_slope

    def kappa(self) -> tuple[float, Vector]:
        """Return the constant of the tail that gives row top + 1 the right sign, and how its rows move with kappa."""
        i, j, step, rate = self.moves(1)
        down, top = step < 0, self.top
        linear, constant = self.tail(self.plain[0])
        at_top = np.concatenate([[0.0], self.plain[1:]])[top * self.m :]
        gap = at_top - (self.alpha * top**2 + top * linear + constant)
        moved = np.concatenate([[0.0], self.tilt[1:]])[top * self.m :]
        change = moved - self.tilt[0] * (top * self.beta_slope + self.c_slope) - 1
        rows = (np.bincount(i[down], rate[down] * v[j[down]], self.m) for v in (gap, change))
        excess, response = rows
        return self.least(excess, response), response

    def least(self, excess: Vector, response: Vector) -> float:
        """Return the kappa of least effect with excess + kappa response <= 0 (upper) or >= 0 (lower) in every row."""
        able = response < 0
        if not able.any():
            return 0.0  # exact rows decide
        needed = excess[able] / -response[able]
        return float(needed.max() if self.sign > 0 else needed.min())


@dataclass
class _Exact:
    """V in integers, units 2^-bits."""

    problem: _Problem
    bits: int
    values: Objects
    alpha: int
    linear: Objects
    constant: Objects

    def narrowed(self) -> "_Exact":
        """Return the same V in integers of 64 bits if no drift up to level top + 3 can overflow, else in Python's."""
        p, far = self.problem, self.problem.top + 4
        sizes = [max(abs(int(x.max())), abs(int(x.min()))) for x in (self.values, self.linear, self.constant)]
        largest = max(sizes[0], abs(self.alpha) * far * far + far * sizes[1] + sizes[2])
        rates = max(int(np.bincount(t[:, 0], t[:, 3]).max()) for t in (p.chain.zero, p.chain.above))
        total = 2 * (rates + 1) * largest + (p.chain.common << self.bits) * (int(p.reward.at(far).max()) + 1)
        kind = np.int64 if total < 1 << FEW else object
        parts = (x.astype(kind) for x in (self.values, self.linear, self.constant))
        return _Exact(p, self.bits, next(parts), self.alpha, next(parts), next(parts))

    def drift(self, level: int, *, beyond: bool = False) -> Any:
        """Return common 2^bits (Q V + f) at a level; ``beyond``: with the continuation everywhere."""
        p, kind = self.problem, self.values.dtype
        i, j, step, rate = p.moves(level)
        to = step + level
        free = (to <= p.top) & (not beyond)
        target = np.empty(len(i), dtype=kind)
        target[free] = self.values[to[free], j[free]]
        t = to[~free].astype(kind)
        target[~free] = self.alpha * t * t + t * self.linear[j[~free]] + self.constant[j[~free]]
        own = self.values[level] if level <= p.top and not beyond else self.continued(level)
        found = (p.chain.common << self.bits) * p.reward.at(level).astype(kind)
        np.add.at(found, i, rate.astype(kind) * (target - own[i]))
        return found

    def continued(self, level: int) -> Objects:
        return self.alpha * level * level + level * self.linear + self.constant  # type: ignore[no-any-return]

    def refine(self, c: float, response: Vector, steps: int) -> None:
        """Correct V by exact residuals on the free levels, and the tail constant by those of the next level."""
        p, unit, level_mean = self.problem, 1 << self.bits, _fixed(c, self.bits)
        for step in range(steps):
            whole = level_mean * p.chain.common
            if not p.reward.slope:
                self._refine_far(whole)
            if step:
                excess = _ratios(self.drift(p.top + 1) - whole, unit)
                more = p.least(excess, response)
                if p.sign * more > 0:
                    self.constant = self.constant + _fixed(more, self.bits)
            residual = np.concatenate([_ratios(self.drift(level) - whole, unit) for level in range(p.top + 1)])
            if step and np.abs(residual).max() < min(2.0 ** (SPARE - self.bits), COARSE):
                return
            dx = p.solve(-residual)
            level_mean += _fixed(float(dx[0]), self.bits)
            correction = np.concatenate([[0.0], dx[1:]]).reshape(self.values.shape)
            self.values = self.values + _fixed_array(correction, self.bits)
            self.linear = self.linear + _fixed(float(dx[0]) * p.beta_slope, self.bits)
            self.constant = self.constant + _fixed_array(float(dx[0]) * p.c_slope, self.bits)

    def _refine_far(self, whole: int) -> None:
        """Correct the continuation of a bounded reward, whose far rows have no slack, by their exact residuals."""
        unit = 1 << self.bits
        rows = self.drift(self.problem.top + 2, beyond=True)
        dx = self.problem.phase(-_ratios(rows - whole, unit))
        self.linear = self.linear + _fixed(2 * float(dx[0]), self.bits)
        self.constant = self.constant + _fixed_array(np.concatenate([[0.0], dx[1:]]), self.bits)

    def bound(self) -> Fraction | None:
        """Return the c that V proves, by exact rows; None: the continuation has the wrong sign far out."""
        p = self.problem
        first, second = (self.drift(p.top + 2 + k, beyond=True) for k in (0, 1))
        if (p.sign * (second - first)).max() > 0:
            return None
        if p.sign > 0 and (self.alpha < 0 or (self.alpha == 0 and self.linear.min() < 0)):
            return None
        rows = [first, *(self.drift(level) for level in range(p.top + 2))]
        worst = max(int((p.sign * row).max()) for row in rows)
        return Fraction(p.sign * worst, p.chain.common << self.bits)


@one_thread
def poisson(
    chain: Comparison, reward: LevelReward, *, top: int, law: Vector, bits: int, steps: int = 4
) -> Certificate | None:
    """Return a certified bound of the long-run mean of an increasing reward of the true chain; None: not found.

    ``chain`` bounds the true chain from above or below in the coordinate order; ``top`` is the last free level and
    must reach the levels on which the reward is not yet linear; ``law`` an approximate law that helps the solver.
    """
    if not len(chain.zero) or not len(chain.above):  # too few shapes to move among
        return None
    problem = _Problem(chain, reward, top, law, 2.0 ** max(16 - bits, -36))
    kappa, response = problem.kappa()
    x = problem.plain + kappa * problem.tilt
    linear, constant = problem.tail(float(x[0]))
    shape = (top + 1, problem.m)
    exact = _Exact(
        problem,
        bits,
        _fixed_array(np.concatenate([[0.0], x[1:]]).reshape(shape), bits),
        _fixed(problem.alpha, bits),
        _fixed_array(linear, bits),
        _fixed_array(constant + kappa, bits),
    )
    exact = exact.narrowed()
    exact.refine(float(x[0]), response, steps)
    exact = exact.narrowed()
    bound = exact.bound()
    if bound is None:
        return None
    return Certificate(bound, bits, exact.values, exact.alpha, exact.linear, exact.constant)


def _fixed(x: float, bits: int) -> int:
    """Return x 2^bits, truncated."""
    p, q = float(x).as_integer_ratio()
    return (p << bits) // q


def _fixed_array(x: Vector, bits: int) -> Objects:
    with np.errstate(over="ignore"):
        whole = np.floor(np.ldexp(x, bits))  # exact: a shift of the exponent
    if np.abs(whole).max() < 2.0**FEW:
        return whole.astype(np.int64)
    flat = np.array([_fixed(v, bits) for v in x.ravel()] + [None], dtype=object)[:-1]
    return flat.reshape(x.shape)


def _ratios(x: Any, unit: int) -> Vector:
    return x / float(unit) if x.dtype == np.int64 else np.array([int(v) / unit for v in x])
