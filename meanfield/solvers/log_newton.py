"""Fixed point of power of d with errors at bounded gaps, in doubles: Newton in the logarithms of the increments.

Unknowns s_k = log p_k, p_k = x_k - x_{k+1} the fraction of servers with exactly k jobs.  In equilibrium
p_{k+1} = lam p_k Psi_k, and Psi_k is a sum of positive terms (differences of tails are partial sums of increments), so
that nothing cancels and nothing underflows: one code for tails near 1 and for tails of 1e-9000.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactchains.truth import Undecided

__all__ = ["Guess", "LogBalance", "guess"]

Vector = NDArray[np.float64]
MAX_LEVELS = 4000
DEEPEST = -1e6  # log of the smallest tail that is written out


@dataclass(frozen=True)
class LogBalance:
    r"""The balance equations :math:`s_{k+1} - s_k = \log\lambda + \log\Psi_k`, ``idle`` = 1 - load exactly rounded.

    With A = x_j - y, B = x_{j+1} - y, C = z - x_{j+1}, E = z - x_j, y = x_{j+g+1}, z = x_{max(j-g,0)} and
    :math:`D_m(a,b) = (a^m - b^m)/(a - b)`,

    .. math:: \Psi_j = \sum_{m=1}^{d} c_m y^{d-m} D_m(A,B) + \varepsilon D_d(C,E),
              \quad c_m = \binom{d}{m} - \varepsilon [m=d].
    """

    load: float
    idle: float
    eps: float
    d: int
    g: int

    def growth(self, s: Vector) -> tuple[Vector, Vector]:
        """Return log(lam Psi_j), j = 0..K-1, and its derivatives with respect to s_0..s_K."""
        K, d = len(s) - 1, self.d
        j, i = np.arange(K)[:, None], np.arange(K + 1)[None, :]
        low = np.maximum(j - self.g, 0)
        log_tail = tails(s)
        share = np.exp(np.minimum(s[None, :] - log_tail[low[:, 0]][:, None], 1.0))  # p_i / z_j
        in_a = (i >= j) & (i <= j + self.g)
        in_b, in_y = in_a & (i > j), i > j + self.g
        in_c = (i >= low) & (i <= j)
        in_e = in_c & (i < j)
        A, B, Y, C, E = ((share * inside).sum(1) for inside in (in_a, in_b, in_y, in_c, in_e))
        psi, by_a, by_b, by_y = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
        for m in range(1, d + 1):
            c = math.comb(d, m) if m < d else 1 - self.eps
            value, da, db = _divided_power(m, A, B)
            power = Y ** (d - m)
            psi, by_a, by_b = psi + c * power * value, by_a + c * power * da, by_b + c * power * db
            if m < d:
                by_y = by_y + c * (d - m) * Y ** (d - m - 1) * value
        value, dc, de = _divided_power(d, C, E)
        psi = psi + self.eps * value
        parts = zip((by_a, by_b, by_y, self.eps * dc, self.eps * de), (in_a, in_b, in_y, in_c, in_e), strict=True)
        slope = sum(v[:, None] * inside for v, inside in parts) * share
        log_growth = math.log1p(-self.idle) + (d - 1) * log_tail[low[:, 0]] + np.log(psi)
        return log_growth, slope / psi[:, None]

    def rows(self, s: Vector) -> tuple[Vector, Vector, Vector, int]:
        """Return residuals and Jacobian for s_1..s_K, the column of s_0, and the pivot level.

        The row of the largest increment is replaced by log x_0 = 0: the rows add up to that equation, which has a
        double root at lam d = 1 where it is left implicit.
        """
        K = len(s) - 1
        value, slope = self.growth(s)
        residual = s[1:] - s[:-1] - value
        matrix = np.eye(K) - np.eye(K, k=-1) - slope[:, 1:]
        column = -slope[:, 0]
        column[0] -= 1
        pivot = max(int(np.argmax(s)), 1)
        total = tails(s)[0]
        residual[pivot - 1], matrix[pivot - 1] = total, np.exp(s[1:] - total)
        column[pivot - 1] = math.exp(s[0] - total)
        return residual, matrix, column, pivot

    def newton(self, s: Vector, tolerance: float) -> Vector:
        """Return the solution near ``s``; damped by the levels that matter, the deep tail is linear in logarithms."""
        s = s.copy()
        for _ in range(60):
            residual, matrix, _, _ = self.rows(s)
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
    """A solution in doubles: log increments, and the Jacobian that refinement and certificate reuse."""

    s: Vector
    matrix: Vector
    column: Vector
    pivot: int


def tails(s: Vector) -> Vector:
    """Return log x_k from log p_k."""
    return np.logaddexp.accumulate(s[::-1])[::-1]


def guess(system: LogBalance, depth: float, levels: int = 0) -> Guess:
    """Return the fixed point on at least ``levels`` levels, and as many as make x_{K-g}^(d-1) less than exp(-depth).

    Continuation in eps from the noiseless solution, with step doubling and halving.
    """
    s = _noiseless(system)
    reached, step = 0.0, system.eps / 4
    while reached < system.eps:
        target = min(system.eps, reached + step)
        here = LogBalance(system.load, system.idle, target, system.d, system.g)
        try:
            s = _grown(here, s, min(30.0, depth), 0, 1e-8)
            reached, step = target, 2 * step
        except (ArithmeticError, np.linalg.LinAlgError):
            step /= 2
            if step < 1e-4 * system.eps:
                raise Undecided("Newton finds no fixed point; try fewer digits or a smaller gap g") from None
    s = _grown(system, s, depth, levels, 1e-13)
    _, matrix, column, pivot = system.rows(s)
    return Guess(s, matrix, column, pivot)


def _noiseless(system: LogBalance) -> Vector:
    """Return log increments of x_{k+1} = lam x_k^d, by 1 - x where x is near 1."""
    y, found = system.idle, [math.log(system.idle)]
    while 1 - y > 1e-12 and len(found) < MAX_LEVELS:
        if y < 0.5:
            following = system.idle - system.load * math.expm1(system.d * math.log1p(-y))
        else:
            following = 1 - system.load * (1 - y) ** system.d
        found.append(math.log(max(following - y, 1e-18)))
        y = following
    return np.array(found)


def _grown(system: LogBalance, s: Vector, depth: float, levels: int, tolerance: float) -> Vector:
    for _ in range(MAX_LEVELS // 2):
        s = system.newton(s, tolerance)
        K = len(s) - 1
        log_tail = tails(s)
        if log_tail[K] < DEEPEST:
            raise Undecided(f"tail {K} lies below 1e-400000; ask for lower levels")
        if system.g < K and levels <= K and (system.d - 1) * log_tail[K - system.g] < -depth:
            return s
        for _ in range(max(2, system.g // 2)):
            s = system.lengthened(s)
    raise ArithmeticError("the tail does not end")


def _divided_power(m: int, a: Vector, b: Vector) -> tuple[Any, Any, Any]:
    """Return D_m(a, b) = sum_{t<m} a^t b^(m-1-t) and its two partial derivatives."""
    value = sum(a**t * b ** (m - 1 - t) for t in range(m))
    by_a = sum((t * a ** (t - 1) * b ** (m - 1 - t) for t in range(1, m)), 0 * a)
    by_b = sum(((m - 1 - t) * a**t * b ** (m - 2 - t) for t in range(m - 1)), 0 * a)
    return value, by_a, by_b
