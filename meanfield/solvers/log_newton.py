"""Fixed point of power of d with errors at bounded gaps, in doubles: Newton in the logarithms of the increments.

Unknowns s_k = log p_k, p_k = x_k - x_{k+1} the fraction of servers with exactly k jobs.  In equilibrium
p_{k+1} = lam p_k Psi_k, and Psi_k is a sum of positive terms (differences of tails are partial sums of increments), so
that nothing cancels and nothing underflows: one code for tails near 1 and for tails of 1e-9000.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactchains.truth import Undecided
from meanfield.solvers.divided import divided, divided_twice

__all__ = ["Guess", "LogBalance", "guess"]

Vector = NDArray[np.float64]
MAX_LEVELS = 1600  # a few seconds
SHALLOW_BITS = 32  # of the levels on which the continuation runs
SHALLOW = -27.0  # log of the last tail of the noiseless start
DEEPEST = -1e6  # log of the smallest tail that is written out


@dataclass(frozen=True)
class LogBalance:
    r"""The balance equations :math:`s_{k+1} - s_k = \log\lambda + \log\Psi_k`, ``idle`` = 1 - load exactly rounded.

    With y = x_{j+g+1}, z = x_{max(j-g,0)}, A = x_j - y, B = x_{j+1} - y, C = z - x_{j+1}, E = z - x_j,
    :math:`D_m(a,b) = (a^m - b^m)/(a - b)` and :math:`h_m` the sum of all products of m of the arguments,

    .. math:: \Psi_j = (1-\varepsilon) D_d(x_j,x_{j+1}) + \varepsilon y [h_{d-2}(x_j,x_{j+1},A) +
              h_{d-2}(A,x_{j+1},B)] + \varepsilon D_d(C,E).
    """

    load: float
    idle: float
    eps: float
    d: int
    g: int

    def growth(self, s: Vector) -> tuple[Vector, Vector]:
        """Return log(lam Psi_j), j = 0..K-1, and its derivatives with respect to s_0..s_K."""
        K, d, eps = len(s) - 1, self.d, self.eps
        j, i = np.arange(K)[:, None], np.arange(K + 1)[None, :]
        low = np.maximum(j - self.g, 0)
        log_tail = tails(s)
        share = np.exp(np.minimum(s[None, :] - log_tail[low[:, 0]][:, None], 1.0))  # p_i / z_j
        before, after, beyond = (i >= low) & (i < j), (i > j) & (i <= j + self.g), i > j + self.g
        own = share[j[:, 0], j[:, 0]]
        E, B, Y = ((share * inside).sum(1) for inside in (before, after, beyond))
        A, C, X, Z = own + B, own + E, own + B + Y, B + Y
        triples = [(X, X, Z), (X, Z, Z), (A, A, B), (A, B, B), (C, C, E), (C, E, E), (X, Z, A), (A, Z, B)]
        one, two, three = np.array(triples).swapaxes(0, 1)
        dx, dz, da, db, dc, de, *rest = divided_twice(one, two, three, d)
        psi = (1 - eps) * divided(X, Z, d) + eps * (Y * sum(rest) + divided(C, E, d))
        da, db, dc, de = dx - eps * da, dz - eps * db, eps * dc, eps * de
        parts = ((before, dc + de), (i == j, dc + da), (after, da + db), (beyond, dx + dz))
        slope = np.select([inside for inside, _ in parts], [by[:, None] for _, by in parts], 0.0) * share
        log_growth = math.log1p(-self.idle) + (d - 1) * log_tail[low[:, 0]] + np.log(psi)
        return log_growth, slope / psi[:, None]

    def rows(self, s: Vector) -> tuple[Vector, Vector, int]:
        """Return residuals and Jacobian for s_1..s_K, and the pivot level.

        The row of the largest increment is replaced by log x_0 = 0: the rows add up to that equation, which has a
        double root at lam d = 1 where it is left implicit.
        """
        K = len(s) - 1
        value, slope = self.growth(s)
        residual = s[1:] - s[:-1] - value
        matrix = np.eye(K) - np.eye(K, k=-1) - slope[:, 1:]
        pivot = max(int(np.argmax(s)), 1)
        total = tails(s)[0]
        residual[pivot - 1], matrix[pivot - 1] = total, np.exp(s[1:] - total)
        return residual, matrix, pivot

    def newton(self, s: Vector, tolerance: float) -> Vector:
        """Return the solution near ``s``; damped by the levels that matter, the deep tail is linear in logarithms."""
        s = s.copy()
        for _ in range(60):
            residual, matrix, _ = self.rows(s)
            step = np.linalg.solve(matrix, -residual)
            longest = np.abs(step[s[1:] > -40]).max()
            s[1:] = np.minimum(s[1:] + step * min(1.0, 2 / max(longest, 1e-300)), 0.0)
            if not np.isfinite(s).all():
                break
            if (np.abs(step) / np.maximum(1, np.abs(s[1:]))).max() < tolerance:
                return s
        raise ArithmeticError("Newton does not converge")

    def lengthened(self, s: Vector) -> Vector:
        """Return ``s`` with one more level, by the leading law of the tail."""
        log_tail, K = tails(s), len(s) - 1
        if self.eps and self.g:
            step = math.log(self.load * (1 + self.eps * self.d)) + (self.d - 1) * log_tail[max(K - self.g, 0)]
        else:
            step = math.log(self.load) + (self.d - 1) * log_tail[K]
        return np.append(s, s[-1] + min(step, -0.05))


@dataclass(frozen=True)
class Guess:
    """A solution in doubles: log increments, the Jacobian that refinement reuses, the bits that levels can spare."""

    s: Vector
    matrix: Vector
    pivot: int
    spared: NDArray[np.int_]


def tails(s: Vector) -> Vector:
    """Return log x_k from log p_k."""
    return np.logaddexp.accumulate(s[::-1])[::-1]


def guess(system: LogBalance, bits: int, keep: int, levels: int = 0) -> Guess:
    """Return the fixed point on at least ``levels`` levels, and as many as ``bits`` bits of the mean queue need.

    Levels far out need fewer bits, but at least ``keep``.  Continuation in eps from the noiseless solution, with step
    doubling and halving.
    """
    s = _noiseless(system)
    reached, step = 0.0, system.eps / 2
    while reached < system.eps:
        target = min(system.eps, reached + step)
        here = LogBalance(system.load, system.idle, target, system.d, system.g)
        try:
            s = _grown(here, s, min(SHALLOW_BITS, bits), bits, 0, 1e-8)
            reached, step = target, 2 * step
        except (ArithmeticError, np.linalg.LinAlgError):
            step /= 2
            if step < 1e-4 * system.eps:
                raise Undecided("Newton finds no fixed point; try fewer digits or a smaller gap g") from None
    s = _grown(system, s, bits, keep, levels, 1e-13)
    _, matrix, pivot = system.rows(s)
    return Guess(s, matrix, pivot, spared(s, bits - keep, levels))


def _noiseless(system: LogBalance) -> Vector:
    """Return log increments of x_{k+1} = lam x_k^d, from log x_k; the last is all that is left."""
    log_load = log_tail = math.log1p(-system.idle)
    found = [math.log(system.idle)]
    while log_tail > SHALLOW and len(found) < MAX_LEVELS:
        fall = log_load + (system.d - 1) * log_tail
        found.append(log_tail + math.log(-math.expm1(fall)))
        log_tail += fall
    return np.array([*found, log_tail])


def _grown(system: LogBalance, s: Vector, bits: int, keep: int, levels: int, tolerance: float) -> Vector:
    while True:
        s = system.newton(s, tolerance)
        K = len(s) - 1
        if tails(s)[K] < DEEPEST:
            raise Undecided(f"tail {K} lies below 1e-400000; ask for lower levels")
        if _deep(system, s, bits, keep, levels):
            return s
        if K > MAX_LEVELS:
            raise Undecided(
                f"g = {system.g}: more than {MAX_LEVELS} levels matter; take a smaller gap, or fewer digits"
            )
        for _ in range(max(8, system.g // 2)):
            s = system.lengthened(s)
            if _deep(system, s, bits, keep, levels):
                break


def _deep(system: LogBalance, s: Vector, bits: int, keep: int, levels: int) -> bool:
    """Return whether what lies beyond the last level changes it by less than its last bit."""
    K = len(s) - 1
    if not system.g < K >= levels:
        return False
    last = bits - spared(s, bits - keep, levels)[K]
    return bool((system.d - 1) * tails(s)[K - system.g] < -(last + 12) * math.log(2))


def spared(s: Vector, most: int, levels: int) -> NDArray[np.int_]:
    """Return by level the bits, at most ``most``, that it can do without: far out it weighs so much less in the mean.

    Six bits a level are kept back, so that each still weighs less than the slack of the level before.
    """
    drop = np.maximum((s[:-1] - s[1:]) / math.log(2) - 6, 0.0)
    drop[:levels] = 0.0
    return np.asarray(np.minimum(np.append(0.0, np.cumsum(drop)), max(most, 0)), dtype=int)
