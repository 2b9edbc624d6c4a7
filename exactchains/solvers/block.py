"""Subtraction-free elimination by levels: dense blocks, every entry accurate however nearly decomposable the chain."""

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from exactchains.solvers.flow import Flow
from exactchains.solvers.scaled import scaled_matrix

PANEL = 48


class Block:
    """Elimination from the last level to the first, one dense factor a level; state 0 of the flow is the reference.

    Guarantee
    ---------
    None: estimates.  But only sums, products and quotients of nonnegative numbers occur, so that errors stay
    relative in every entry.
    """

    def __init__(self, flow: Flow) -> None:
        n, s = flow.size, flow.start
        rates = sp.csr_matrix((flow.rate_high, flow.source, flow.indptr), shape=(n, n)).T.tocsr()

        def cut(a: int, b: int) -> Any:
            return rates[s[a] : s[a + 1], s[b] : s[b + 1]]

        L = flow.levels
        self.flow, self.applied = flow, 0
        self.factor: list[Any] = [None] * L
        self.up: list[Any] = [None] * L  # up[k]: transposed block from level k-1 to k
        self.down: list[Any] = [None] * L
        local = cut(L - 1, L - 1).toarray()
        for k in range(L - 1, 0, -1):
            down, up = cut(k, k - 1), cut(k - 1, k)
            np.fill_diagonal(local, 0)
            self.factor[k] = triplet_factor(local, np.asarray(down.sum(1)).ravel())
            self.up[k], self.down[k] = up.T.tocsr(), down.T.tocsr()
            if k > 1:
                local = (self.down[k] @ solve_rows(self.factor[k], up.toarray()).T).T + cut(k - 1, k - 1).toarray()

    def law(self) -> tuple[Any, Any]:
        """Return the law with entry 1 at the reference state, as h, e."""
        s, h, e = self.flow.start, np.ones(self.flow.size), np.zeros(self.flow.size, np.int64)
        y, exponent = np.ones(1), 0
        for k in range(1, self.flow.levels):
            y = solve_rows(self.factor[k], self.up[k] @ y)
            gain = int(np.frexp(y.max())[1])
            y, exponent = np.ldexp(y, -gain), exponent + gain
            h[s[k] : s[k + 1]], e[s[k] : s[k + 1]] = y, exponent
        return h, e

    def solve_flow(self, b: Any, top: Any) -> Any:
        """Return y with y S = b (entry 0 is ignored), level l in units ``2^top[l]``."""
        L, s = self.flow.levels, self.flow.start
        at = [slice(s[k], s[k + 1]) for k in range(L)]
        c = b.copy()
        c[0] = 0
        self.applied += 1
        for k in range(L - 1, 1, -1):
            c[at[k - 1]] += _shifted(self.down[k] @ solve_rows(self.factor[k], c[at[k]]), top[k] - top[k - 1])
        for k in range(1, L):
            if k > 1:
                c[at[k]] += _shifted(self.up[k] @ c[at[k - 1]], top[k - 1] - top[k])
            c[at[k]] = solve_rows(self.factor[k], c[at[k]])
        return c


class ScaledBlock:
    """The block elimination in the unknowns of :mod:`exactchains.solvers.scaled`."""

    def __init__(self, block: Block, h: Any, e: Any) -> None:
        flow = block.flow
        self.block, self.applied = block, 0
        self.top = np.maximum.reduceat(e, flow.start[:-1])
        self.x = np.ldexp(h, np.maximum(e - self.top[flow.level], -1000))
        self.W = scaled_matrix(flow, h, e, 0)

    def apply(self, y: Any) -> Any:
        return y - self.W @ y

    def solve(self, b: Any, tolerance: float) -> Any:
        self.applied += 1
        return self.block.solve_flow(b * self.x * self.block.flow.exit_high, self.top) / self.x


def triplet_factor(N: Any, w: Any) -> Any:
    """Factor the M-matrix with off-diagonal rates ``N`` and row sums ``w`` in place, without subtraction.

    M = (I - F)(D - G), last state first: F strictly upper = triu(N), G strictly lower = tril(N), D = diag(N) on
    return, all entries nonnegative.  Alfa, Xue and Ye, Math. Comp. 71 (2002) 217-236.
    """
    for end in range(len(N), 0, -PANEL):
        begin = max(0, end - PANEL)
        A, m = N[begin:end, begin:end], end - begin
        v = w[begin:end] + N[begin:end, :begin].sum(1)
        for k in range(m - 1, -1, -1):
            pivot = v[k] + A[k, :k].sum()
            A[k, k] = pivot
            A[:k, k] /= pivot
            v[:k] += A[:k, k] * v[k]
            A[:k, :k] += A[:k, k, None] * A[k, :k]
        if begin:
            F, G = np.eye(m) - np.triu(A, 1), np.diag(np.diag(A)) - np.tril(A, -1)
            right = np.c_[N[begin:end, :begin], w[begin:end]]
            X = la.solve_triangular(F, right, unit_diagonal=True, check_finite=False)
            Y = la.solve_triangular(G, N[:begin, begin:end].T, lower=True, trans=1, check_finite=False).T
            N[begin:end, :begin], N[:begin, begin:end], w[begin:end] = X[:, :-1], Y, X[:, -1]
            N[:begin, :begin] += Y @ X[:, :-1]
            w[:begin] += Y @ X[:, -1]
    N *= -1
    np.fill_diagonal(N, -np.diag(N))
    return N


def solve_rows(factor: Any, B: Any) -> Any:
    """Return X with X M = B for a factored M: sums of nonnegative terms when B is nonnegative."""
    X = la.solve_triangular(factor, B.T, lower=True, trans=1, check_finite=False)
    return la.solve_triangular(factor, X, lower=False, trans=1, unit_diagonal=True, check_finite=False).T


def _shifted(values: Any, bits: Any) -> Any:
    return np.ldexp(values, int(np.clip(bits, -1000, 1000)))
