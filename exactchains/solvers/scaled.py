r"""The balance equations scaled by an approximation of the law, and three ways to solve them.

With :math:`y_i = x_i / \tilde x_i` and reference state r the equations :math:`x S = b` become
:math:`(I - W) y = b / (\tilde x d)`, :math:`W_{ji} = \tilde x_i q_{ij} / (\tilde x_j d_j)`: the jump chain of the
reversed process with r removed.  Its entries are of order 1 and so is its solution, so that a norm-wise solver is
accurate in every entry.
"""

from typing import Any, Protocol

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from exactchains.solvers.flow import Flow
from exactchains.solvers.krylov import bicgstab

LU_OPTIONS = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Scaled(Protocol):
    """A solver of (I - W) y = b for one approximation of the law and one reference state."""

    applied: int

    def solve(self, b: Any, tolerance: float) -> Any: ...
    def apply(self, y: Any) -> Any: ...


def scaled_matrix(flow: Flow, h: Any, e: Any, reference: int | None) -> Any:
    """Return W (CSR, one row per target); row and column of the reference state are zero."""
    target = flow.target()
    data = np.ldexp(h[flow.source] * flow.rate_high, np.clip(e[flow.source] - e[target], -1000, 1000))
    data /= (h * flow.exit_high)[target]
    if reference is not None:
        data[flow.source == reference] = 0
        data[flow.indptr[reference] : flow.indptr[reference + 1]] = 0
    return sp.csr_matrix((data, flow.source, flow.indptr), shape=(flow.size, flow.size))


class Direct:
    """Complete factorisation: banded for birth-death chains, sparse LU for other narrow chains."""

    def __init__(self, flow: Flow, h: Any, e: Any, reference: int) -> None:
        self.W, self.applied = scaled_matrix(flow, h, e, reference), 0
        self.birth_death = flow.levels == flow.size
        if self.birth_death:
            self.bands = np.zeros((3, flow.size))
            self.bands[1] = 1.0
            self.bands[0, 1:], self.bands[2, :-1] = -self.W.diagonal(1), -self.W.diagonal(-1)
        else:
            system = (sp.identity(flow.size, format="csr") - self.W).tocsc()
            self.lu = sla.splu(system, permc_spec="MMD_AT_PLUS_A", **LU_OPTIONS)

    def apply(self, y: Any) -> Any:
        return y - self.W @ y

    def solve(self, b: Any, tolerance: float) -> Any:
        self.applied += 1
        return la.solve_banded((1, 1), self.bands, b, check_finite=False) if self.birth_death else self.lu.solve(b)


class Levels:
    """Krylov iteration preconditioned by aggregation over levels, one sweep down and one sweep up.

    A sweep is a triangular solve, compiled (SuperLU without fill); the aggregated system is tridiagonal because
    transitions join neighbouring levels only.
    """

    def __init__(self, flow: Flow, h: Any, e: Any, reference: int | None) -> None:
        self.flow, self.applied = flow, 0
        W = scaled_matrix(flow, h, e, reference)
        self.top = np.maximum.reduceat(e, flow.start[:-1])  # exponent of each level
        self.x = np.ldexp(h, e - self.top[flow.level])
        self.weight = self.x * flow.exit_high
        if reference is not None:
            self.weight[reference] = 0
        self.bands = self._aggregated(W)
        lower = flow.source < flow.target()
        self.below, self.above = _entries(W, lower), _entries(W, ~lower)
        del W
        self.up_solve, self.down_solve = _triangle(self.below), _triangle(self.above)

    def _aggregated(self, W: Any) -> Any:
        """Return the tridiagonal system of the levels, by which the coarse correction is found."""
        flow, target = self.flow, self.flow.target()
        flux = W.data * self.weight[target]
        target = flow.level[target]
        step = flow.level[flow.source] - target
        into = [np.bincount(target, flux * (step == k), flow.levels) for k in (-1, 0, 1)]
        bands = np.zeros((3, flow.levels))
        bands[0, 1:], bands[1], bands[2, :-1] = -into[2][:-1], flow.level_sum(self.weight) - into[1], -into[0][1:]
        bands[1][bands[1] <= 0] = 1.0
        return bands

    def apply(self, y: Any) -> Any:
        return y - self.below @ y - self.above @ y

    def both(self, r: Any) -> tuple[Any, Any]:
        """Return M r for the preconditioner M, and (I - W) M r, which the last sweep knows up to one half product."""
        self.applied += 1
        coarse = la.solve_banded((1, 1), self.bands, self.flow.level_sum(self.weight * r), check_finite=False)
        z = self.down_solve(r + self.below @ coarse[self.flow.level])
        y = self.up_solve(r + self.above @ z)
        return y, r + self.above @ (z - y)

    def sweep(self, y: Any) -> Any:
        """Return one positive Gauss-Seidel cycle from ``y``, for the homogeneous equations."""
        return self.up_solve(self.above @ self.down_solve(self.below @ y))

    def solve(self, b: Any, tolerance: float) -> Any:
        n, norm = len(b), float(np.linalg.norm(b)) or 1.0
        y = bicgstab(self.both, b / norm, tolerance=tolerance)
        if y is None or not np.isfinite(y).all():
            A = sla.LinearOperator((n, n), self.apply, dtype=float)
            M = sla.LinearOperator((n, n), lambda r: self.both(r)[0], dtype=float)
            y, _ = sla.gmres(A, b / norm, M=M, rtol=0, atol=tolerance, restart=50, maxiter=12)
        return y * norm


def _entries(W: Any, chosen: Any) -> Any:
    """Return the matrix of the chosen entries of W."""
    indptr = np.r_[0, np.cumsum(chosen, dtype=np.int32)][W.indptr].astype(np.int32)
    return sp.csr_matrix((W.data[chosen], W.indices[chosen], indptr), shape=W.shape)


def _triangle(strict: Any) -> Any:
    """Return the solver of (I - strict) y = b for a strictly triangular matrix: SuperLU finds no fill.

    The transpose is factored, whose transposed solve runs by rows, twice as fast.
    """
    system = (sp.identity(strict.shape[0], format="csr") - strict).T
    lu = sla.splu(system, permc_spec="NATURAL", relax=1, panel_size=1, **LU_OPTIONS)
    return lambda b: lu.solve(b, trans="T")


def cut_logs(flow: Flow, x: Any, top: Any, moves: tuple[Any, Any]) -> Any:
    """Return log2 of level factors that satisfy the cut balance c_l up(l) = c_(l+1) down(l+1) exactly.

    ``x`` is the law within each level; ``moves`` are the rates up and down out of every state.
    """
    up, down = (flow.level_sum(x * rate) for rate in moves)
    return np.r_[0.0, np.cumsum(np.log2(up[:-1]) - np.log2(down[1:]))] + top[0]


def level_moves(flow: Flow) -> tuple[Any, Any]:
    """Return the total rates to the next and to the previous level out of every state."""
    step = flow.level[flow.target()] - flow.level[flow.source]
    up, down = (np.bincount(flow.source, flow.rate_high * (step == k), flow.size) for k in (1, -1))
    return up, down
