"""The 1/n correction of the mean field of power of d: E Q at n servers = limit + V/n + ..."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_lyapunov

from exactchains.domain import Floats
from meanfield.flow import drift
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.fixed_point import fixed_point

__all__ = ["Refinement", "refinement"]

Vector = NDArray[np.float64]
STENCIL = (
    (-2, 1 / 12, -1 / 12),
    (-1, -8 / 12, 16 / 12),
    (0, 0.0, -30 / 12),
    (1, 8 / 12, 16 / 12),
    (2, -1 / 12, -1 / 12),
)
STEP = 1 / 64


@dataclass(frozen=True)
class Refinement:
    """Tails of the limit and the coefficient of 1/n in the expectation of each, in doubles: estimates."""

    limit: Vector
    correction: Vector

    def mean_queue(self, n: int) -> float:
        """Return the refined estimate of the mean number of jobs at one of ``n`` servers."""
        return float(self.limit.sum() + self.correction.sum() / n)


def refinement(policy: PowerOfD) -> Refinement:
    r"""Return the first correction :math:`V = -A^{-1}(c + \tfrac12 B : W)`, :math:`A W + W A^T + Q = 0`.

    A and B are the first and second derivatives of the vector field at the equilibrium, Q the covariance rate of the
    jumps, and c the 1/n term of the field itself: sampling without replacement replaces :math:`u^d` by
    :math:`u^d + \frac{d(d-1)}{2n}(u^d - u^{d-1})`.  Derivatives by a five-point stencil, exact for d <= 5.

    Source
    ------
    Gast and Van Houdt, A refined mean field approximation (2017).
    """
    point = fixed_point(policy, digits=15)
    x = np.array([int(low.p) / int(low.q) for low, _ in point.tails])
    x = x[: max(6, int(np.count_nonzero(x > 1e-14)))]
    size = len(x)

    def field(y: Vector) -> Vector:
        return np.array(drift(policy, [[1.0, *y]], domain=Floats())[0])

    identity = np.eye(size)
    A = np.array([_derivative(field, x, e, 1) for e in identity]).T
    load = float(int(policy.load.p) / int(policy.load.q))
    joins = np.array([float(v) for v in policy.limit_law([[1.0, *x]], Floats()).values()])[:size]
    leaves = x - np.append(x[1:], 0.0)
    W = solve_continuous_lyapunov(A, -np.diag(load * joins + leaves))
    values, vectors = np.linalg.eigh((W + W.T) / 2)
    curvature = sum(w * _derivative(field, x, v, 2) for w, v in zip(values, vectors.T, strict=True))
    bias = load * _sampling(policy, x) if not policy.replacement else np.zeros(size)
    return Refinement(x, np.linalg.solve(A, -(bias + curvature / 2)))


def _derivative(field: Any, x: Vector, direction: Vector, order: int) -> Vector:
    """Return the first or second derivative of the field along a direction."""
    total = np.zeros(len(x))
    for offset, first, second in STENCIL:
        weight = first if order == 1 else second
        if weight:
            total += weight * field(x + offset * STEP * direction)
    return total / STEP**order


def _sampling(policy: PowerOfD, x: Vector) -> Vector:
    """Return the 1/n term of the routing law without replacement: formula of the law with q(u) in place of u^d."""
    d, g, eps = policy.d, policy.g, float(int(policy.eps.p) / int(policy.eps.q))
    tail = np.concatenate([[1.0], x, np.zeros(2)])

    def q(u: float) -> float:
        return d * (d - 1) / 2 * (u**d - u ** (d - 1))

    found = []
    for j in range(len(x)):
        here, after = tail[j], tail[j + 1]
        above = 0.0 if g is None or j + g + 1 >= len(tail) else tail[j + g + 1]
        below = 1.0 if g is None else tail[max(j - g, 0)]
        errors = q(below - after) - q(below - here) - q(here - above) + q(after - above)
        found.append(q(here) - q(after) + eps * errors)
    return np.array(found)
