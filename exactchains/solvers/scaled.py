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
from exactchains.solvers.twofold import two_to

try:  # scipy's own product of the rows of a matrix with a vector, added in place
    from scipy.sparse._sparsetools import csr_matvec
except ImportError:
    csr_matvec = None

LU_OPTIONS = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Scaled(Protocol):
    """A solver of (I - W) y = b for one approximation of the law and one reference state."""

    applied: int

    def solve(self, b: Any, tolerance: float) -> Any: ...
    def apply(self, y: Any) -> Any: ...


def scaled_matrix(flow: Flow, h: Any, e: Any, reference: int | None) -> Any:
    """Return W (CSR, one row per target); row and column of the reference state are zero."""
    data = np.empty(len(flow.source))
    for a, b, at in flow.parts():
        data[at] = _scaled_rows(flow, (h, e), reference, (a, b, at))
    return sp.csr_matrix((data, flow.source, flow.indptr), shape=(flow.size, flow.size))


def _scaled_rows(flow: Flow, x: tuple[Any, Any], reference: int | None, part: tuple[int, int, slice]) -> Any:
    """Return the entries of W in the rows of some states."""
    (h, e), (a, b, at) = x, part
    source, target = flow.source[at], flow.target(a, b) - a
    data = h[source] * flow.rate_high[at]
    data *= two_to(np.clip(e[source] - e[a:b][target], -1000, 1000))
    data /= (h[a:b] * flow.exit_high[a:b])[target]
    if reference is not None:
        data[(source == reference) | (target == reference - a)] = 0
    return data


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

    A sweep is a triangular solve, by levels where no transition stays within one, else compiled (SuperLU without
    fill); the aggregated system is tridiagonal because transitions join neighbouring levels only.
    """

    def __init__(self, flow: Flow, h: Any, e: Any, reference: int | None) -> None:
        self.flow, self.applied = flow, 0
        self.top = np.maximum.reduceat(e, flow.start[:-1])  # exponent of each level
        self.x = np.ldexp(h, e - self.top[flow.level])
        self.weight = self.x * flow.exit_high
        if reference is not None:
            self.weight[reference] = 0
        self._assemble(h, e, reference)
        if flow.layered:
            self.up_solve, self.down_solve = _layers(self.below, flow, 1), _layers(self.above, flow, -1)
        else:
            self.up_solve, self.down_solve = _triangle(self.below), _triangle(self.above)

    def _assemble(self, h: Any, e: Any, reference: int | None) -> None:
        """Form the halves of W, and the tridiagonal system of the levels, by which the coarse correction is found."""
        flow = self.flow
        halves = [np.empty(len(sources)) for _, sources in flow.halves]
        filled, into = [0, 0], np.zeros((3, flow.levels))
        for a, b, at in flow.parts():
            data, target = _scaled_rows(flow, (h, e), reference, (a, b, at)), flow.target(a, b)
            lower = flow.source[at] < target
            for k, chosen in enumerate((lower, ~lower)):
                kept = data[chosen]
                halves[k][filled[k] : filled[k] + len(kept)] = kept
                filled[k] += len(kept)
            data *= self.weight[target]
            level = flow.level[target]
            step, first = flow.level[flow.source[at]] - level, int(flow.level[a])
            for k in (-1, 0, 1):
                found = np.bincount(level - first, data * (step == k))
                into[k + 1, first : first + len(found)] += found
        shape = (flow.size, flow.size)
        self.below, self.above = (
            sp.csr_matrix((data, sources, rows), shape=shape)
            for data, (rows, sources) in zip(halves, flow.halves, strict=True)
        )
        self.bands = np.zeros((3, flow.levels))
        self.bands[0, 1:], self.bands[2, :-1] = -into[2][:-1], -into[0][1:]
        self.bands[1] = flow.level_sum(self.weight) - into[1]
        self.bands[1][self.bands[1] <= 0] = 1.0

    def apply(self, y: Any) -> Any:
        return y - self.below @ y - self.above @ y

    def both(self, r: Any) -> tuple[Any, Any]:
        """Return M r for the preconditioner M, and (I - W) M r, which the last sweep knows up to one half product."""
        self.applied += 1
        coarse = la.solve_banded((1, 1), self.bands, self.flow.level_sum(self.weight * r), check_finite=False)
        b = self.below @ coarse[self.flow.level]
        b += r
        z = self.down_solve(b)
        b -= z
        np.subtract(r, b, out=b)  # r + above z: the sweep has solved z - above z = b
        y = self.up_solve(b)
        z -= y
        b = self.above @ z
        b += r
        return y, b

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


def _layers(strict: Any, flow: Flow, step: int) -> Any:
    """Return the solver of (I - strict) y = b where ``strict`` leads to a level from the one before (behind) only."""
    ends, size = flow.start.tolist(), flow.size
    layers = [slice(ends[k], ends[k + 1]) for k in range(flow.levels)][::step][1:]
    starts = [strict.indptr[rows.start : rows.stop + 1] for rows in layers]
    indices, data = strict.indices, strict.data

    def solve(b: Any) -> Any:
        y = b.copy()
        for rows, start in zip(layers, starts, strict=True):
            if csr_matvec is not None:
                csr_matvec(len(start) - 1, size, start, indices, data, y, y[rows])
            else:
                y[rows] += strict[rows] @ y
        return y

    return solve


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
