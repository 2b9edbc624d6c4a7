"""Corrections of the mean field of power of d at n servers: E Q = limit + V/n + A/n^2 + ..."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_lyapunov, solve_sylvester

from exactchains.number import nearest_double
from exactchains.solvers.threads import one_thread
from exactchains.truth import Undecided
from meanfield.models.noisy import PowerOfD, power_of_d
from meanfield.models.pools import whole
from meanfield.solvers.fixed_point import fixed_point

__all__ = ["Refinement", "refinement"]

Vector = NDArray[np.float64]
NEGLIGIBLE = {1: 1e-14, 2: 1e-10}  # tails that are left out, by the order of the correction
MOST_BUFFER = 200
DEEPEST = 30  # levels up to which the second correction is solved for


@dataclass(frozen=True)
class Refinement:
    """Tails of the limit and the coefficients of 1/n and 1/n^2 in their expectations, in doubles: estimates.

    ``second`` is None when only the first correction was asked for.
    """

    limit: Vector
    correction: Vector
    second: Vector | None = None

    def mean_queue(self, n: int) -> float:
        """Return the refined estimate of the mean number of jobs at one of ``n`` servers."""
        n = whole(n, "n", "give")
        last = 0.0 if self.second is None else self.second.sum() / n**2
        return float(self.limit.sum() + self.correction.sum() / n + last)


@one_thread
def refinement(policy: PowerOfD, *, order: int = 1, buffer: int | None = None) -> Refinement:
    r"""Return the first corrections of the expected tails, from the moment equations at the equilibrium.

    With :math:`Y = X - \pi`, E Y = V/n + A/n^2, E YY = W/n + B/n^2, E YYY = C/n^2 and E YYYY = D/n^2, where D is
    Gaussian with covariance W, every order of :math:`E\,L f(Y) = 0`, f of degree 1 to 3, is one linear equation;
    the first two are :math:`A W + W A^T + Q = 0` and :math:`A V + \tfrac12 F'':W + F_1 = 0`.

    Parameters
    ----------
    order
        1, or 2 for the coefficient of 1/n^2 too.
    buffer
        Jobs that fit at a server, None: queues are unlimited.  The corrections are those of the same chain.

    Raises
    ------
    InputError
        The order is neither 1 nor 2, or the buffer out of 1 to 200, 30 for the second.
    Undecided
        More levels matter than the second correction is solved for.

    Source
    ------
    Gast and Van Houdt, A refined mean field approximation (2017); Gast, Bortolussi and Tribastone, Size expansions of
    mean field approximation (2018).  Without replacement the sampling polynomial itself is expanded in 1/n.
    """
    policy, order = power_of_d(policy, "refinement"), whole(order, "order", "give", most=2)
    if buffer is not None:
        buffer = whole(buffer, "buffer", "give", most=DEEPEST if order == 2 else MOST_BUFFER)
    point = fixed_point(policy, digits=15)
    x = np.array([nearest_double(low) for low, _ in point.tails])
    if buffer is None:
        x = x[: max(6, int(np.count_nonzero(x > NEGLIGIBLE[order])))]
        if order == 2 and len(x) > DEEPEST:
            raise Undecided(f"the second correction is solved for up to {DEEPEST} levels; {len(x)} matter here")
    else:
        x = np.append(x, np.zeros(buffer))[:buffer]
    field = _Field(policy, len(x))
    if buffer is not None:
        x = field.equilibrium(x)
    return _corrections(field, x, order)


class _Field:
    r"""The vector field :math:`\lambda\sum_t c_t\varphi_n(o_t + L_t x) - (x_k - x_{k+1})`, term by term.

    :math:`\varphi_n(u) = \varphi_0 + \varphi_1/n + \varphi_2/n^2` is the probability that all d samples lie in a set
    of share u.
    """

    def __init__(self, policy: PowerOfD, size: int) -> None:
        eps, g = nearest_double(policy.eps), policy.g
        self.load = nearest_double(policy.load)
        self.sampling = _sampling(policy)
        unit = np.vstack([np.zeros(size), np.eye(size), np.zeros(size)])  # x_0 = 1, x_1..x_K, 0 beyond
        terms: list[tuple[int, float, int, int]] = []
        end = size + 1
        for j in range(size):
            above = end if g is None else min(j + g + 1, end)
            below = 0 if g is None else max(j - g, 0)
            terms += [(j, 1.0, j, end), (j, -1.0, j + 1, end)]
            errors = ((1, below, j + 1), (-1, below, j), (-1, j, above), (1, j + 1, above))
            terms += [(j, s * eps, a, b) for s, a, b in errors]
        self.row = np.array([t[0] for t in terms])
        self.weight = self.load * np.array([t[1] for t in terms])
        self.slope = np.array([unit[a] - unit[b] for _, _, a, b in terms])
        self.offset = np.array([float(a == 0) - float(b == 0) for _, _, a, b in terms])
        self.size = size
        self.leaving = np.eye(size) - np.eye(size, k=1)

    def terms(self, x: Vector, derivative: int, order: int = 0) -> Vector:
        """Return load c_t times a derivative of phi_order at every term."""
        u = self.offset + self.slope @ x
        return self.weight * polynomial.polyval(u, polynomial.polyder(self.sampling[order], derivative))

    def summed(self, terms: Any) -> Any:
        """Return the sums of terms that belong to one row."""
        found = np.zeros((self.size, *terms.shape[1:]))
        np.add.at(found, self.row, terms)
        return found

    def linear(self, x: Vector, order: int = 0) -> Vector:
        """Return the derivative of the arrivals."""
        return np.asarray(self.summed(self.terms(x, 1, order)[:, None] * self.slope))

    def equilibrium(self, x: Vector) -> Vector:
        """Return the zero of the field near x, by Newton."""
        for _ in range(60):
            value = self.summed(self.terms(x, 0)) - self.leaving @ x
            step = np.linalg.solve(self.linear(x) - self.leaving, -value)
            x = x + step
            if np.abs(step).max() < 1e-14:
                return x
        raise Undecided("the equilibrium of the chain with a buffer is not found; take a larger buffer")


def _corrections(field: _Field, x: Vector, order: int) -> Refinement:
    A = field.linear(x) - field.leaving
    arrivals = field.summed(field.terms(x, 0))
    W = solve_continuous_lyapunov(A, -np.diag(arrivals + field.leaving @ x))
    spread = np.einsum("ti,ij,tj->t", field.slope, W, field.slope)
    bent = field.summed(field.terms(x, 2) * spread)  # F'' : W
    first = field.summed(field.terms(x, 0, 1))
    V = np.linalg.solve(A, -(first + bent / 2))
    if order == 1:
        return Refinement(x, V)
    C = _third(field, x, A, W, V)
    L, along = field.slope, field.slope @ W  # along[t] = W L_t
    cubed = np.einsum("ti,tj,ijk->tk", L, L, C)
    source = field.summed(field.terms(x, 2)[:, None] * cubed) / 2
    source += field.summed((field.terms(x, 3) * spread)[:, None] * along) / 2
    source += np.outer(first, V) + field.linear(x, 1) @ W
    rates = field.linear(x) @ V + field.leaving @ V + bent / 2 + first
    B = solve_continuous_lyapunov(A, -(source + source.T + np.diag(rates)))
    total = field.summed(field.terms(x, 4) * spread**2) / 8
    total += field.summed(field.terms(x, 3) * np.einsum("tk,tk->t", cubed, L)) / 6
    total += field.summed(field.terms(x, 2) * np.einsum("ti,ij,tj->t", L, B, L)) / 2
    total += field.linear(x, 1) @ V + field.summed(field.terms(x, 2, 1) * spread) / 2
    total += field.summed(field.terms(x, 0, 2))
    return Refinement(x, V, np.linalg.solve(A, -total))


def _third(field: _Field, x: Vector, A: Vector, W: Vector, V: Vector) -> Vector:
    """Return the third moments: A acting on each of three indices = -(sources, each in three places)."""
    size, L = field.size, field.slope
    along = L @ W
    spread = np.einsum("ti,ti->t", along, L)
    curved = field.terms(x, 2)
    source = np.einsum("i,jk->ijk", field.summed(curved * spread) / 2 + field.summed(field.terms(x, 0, 1)), W)
    source += field.summed(curved[:, None, None] * along[:, :, None] * along[:, None, :])
    rates = field.summed(field.terms(x, 0)) + field.leaving @ x
    moved = (field.linear(x) + field.leaving) @ W
    diagonal = np.einsum("i,k->ik", rates, V) + moved
    place = np.arange(size)
    jumps = np.zeros((size, size, size))
    jumps[place, place, :] = diagonal
    total = sum(np.transpose(source, axes) for axes in ((0, 1, 2), (1, 0, 2), (1, 2, 0)))
    total += sum(np.transpose(jumps, axes) for axes in ((0, 1, 2), (0, 2, 1), (2, 0, 1)))
    pairs = np.kron(A, np.eye(size)) + np.kron(np.eye(size), A)
    return np.asarray(solve_sylvester(A, pairs.T, -total.reshape(size, size**2))).reshape(size, size, size)


def _sampling(policy: PowerOfD) -> list[Vector]:
    """Return the coefficients of phi_0, phi_1, phi_2 by powers of u: u^d, or a falling product over a falling one."""
    d = policy.d
    if policy.replacement:
        return [np.array([*[0.0] * d, 1.0]), np.zeros(1), np.zeros(1)]
    series = [np.array([1.0]), np.zeros(1), np.zeros(1)]
    for i in range(d):  # times (u - i h) / (1 - i h), up to h^2
        over = [np.array([0.0, 1.0]), np.array([-i, i]), np.array([-(i**2), i**2])]
        series = [
            sum((polynomial.polymul(series[a], over[k - a]) for a in range(k + 1)), np.zeros(1)) for k in range(3)
        ]
    return [np.asarray(s, dtype=float) for s in series]
