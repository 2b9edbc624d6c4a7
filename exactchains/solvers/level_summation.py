"""Level by level and summed over all levels: the stationary law of a level chain, in balls or exactly."""

import math
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from exactchains.chain import FiniteChain
from exactchains.domain import QQ, Balls, Domain
from exactchains.level_chain import LevelChain
from exactchains.solvers.gth import gth
from exactchains.solvers.level_decay import nonzero
from exactchains.solvers.matrix_geometric import RateMatrix
from exactchains.solvers.rate_bounds import Around, Bounds
from exactchains.truth import DoesNotExist

EXACT_PHASES, EXACT_BOUNDARY = 12, 60  # beyond, fractions grow too long to be of use


class Summation:
    """pi_0, pi_1 and R, and what sums over levels need: in fractions where R is known exactly, else in balls.

    The caller sets the working precision of ``prec`` bits for every method.
    """

    def __init__(self, chain: LevelChain, rates: RateMatrix, prec: int) -> None:
        self.chain, self.rates, self.prec = chain, rates, prec
        self.size, self.start = chain.phases, len(chain.widths)
        self.exact = rates.exact is not None and self.size <= EXACT_PHASES and sum(chain.widths) <= EXACT_BOUNDARY
        self.number: Any = fmpq if self.exact else arb
        self.matrix: Any = fmpq_mat if self.exact else arb_mat
        both: Any = rates.exact if self.exact else (_balls(rates, 0), _balls(rates, 1))
        self.G, self.R = both[0], both[1]
        inner = self.matrix([list(row) for row in chain.local]) + self.matrix([list(row) for row in chain.up]) * self.G
        identity = self.matrix(self.size, self.size, [int(i == j) for i in range(self.size) for j in range(self.size)])
        if chain.time == "discrete":
            inner -= identity
        self.M = -1 * inner  # pi_1 M = flow from level 0 into level 1
        self.gap = identity - self.R
        self.zero, self.one = self._boundary()

    def _boundary(self) -> tuple[list[Any], Any]:
        """Return pi_0 and pi_1, normalised."""
        chain, back = self.chain, self._return_block()
        assert chain.boundary_local is not None and chain.boundary_up is not None
        rows: list[dict[int, Any]] = [
            {j: self.number(x) for j, x in row.items() if j != i} for i, row in enumerate(chain.boundary_local)
        ]
        for i, row in enumerate(chain.boundary_up):
            if row:
                passed = self._entry({0: self.number(1)}, (row,)) * back
                live = nonzero(passed)
                for j in range(passed.ncols()):
                    if j != i and live[0, j]:
                        rows[i][j] = rows[i].get(j, self.number(0)) + passed[0, j]
        zero = _recurrent_law(rows, QQ if self.exact else Balls(self.prec))
        one = self._divided(self._entry(dict(enumerate(zero)), chain.boundary_up), self.M)
        total = sum(zero, self.number(0)) + sum(self._divided(one, self.gap).entries(), self.number(0))
        return [x / total for x in zero], one * (self.number(1) / total)

    def _entry(self, weights: dict[int, Any], rows: Any) -> Any:
        """Return the weighted sum of sparse rows into level 1."""
        flow = [self.number(0)] * self.size
        for i, weight in weights.items():
            for j, x in rows[i].items():
                flow[j] += weight * x
        return self.matrix([flow])

    def _return_block(self) -> Any:
        """Return M^-1 (boundary_down + (I - R)^-1 reset): where level 0 is entered after level 1 was entered."""
        chain = self.chain
        assert chain.boundary_local is not None and chain.boundary_down is not None
        back: Any = self.matrix(self.size, len(chain.boundary_local))
        for i, row in enumerate(chain.boundary_down):
            for j, x in row.items():
                back[i, j] = self.number(x)
        if chain.reset is not None:
            back += self._solved(self.gap, self.matrix([list(row) for row in chain.reset]))
        return self._solved(self.M, back)

    def _solved(self, M: Any, right: Any) -> Any:
        """Return M^-1 right for an M-matrix and right >= 0, with its zeros exact and nothing below zero."""
        found: Any = M.solve(right)
        reachable = _support(M, right)
        for i in range(found.nrows()):
            for j in range(found.ncols()):
                if not reachable[i, j]:
                    found[i, j] = self.number(0)
                elif not self.exact and not found[i, j] > 0:
                    found[i, j] = found[i, j].max(arb(0))
        return found

    def _divided(self, row: Any, matrix: Any) -> Any:
        """Return row matrix^-1."""
        return matrix.transpose().solve(row.transpose()).transpose()

    def block(self, j: int) -> Any:
        """Return pi_j of the j-th repeating block, j >= 1."""
        row, power, left = self.one, self.R, j - 1
        while left:
            if left & 1:
                row = row * power
            left >>= 1
            if left:
                power = power * power
        return row

    def level(self, n: int) -> list[Any]:
        """Return the law of the original level n."""
        if n < self.start:
            first = sum(self.chain.widths[:n])
            return self.zero[first : first + self.chain.widths[n]]
        stride = self.chain.stride
        width = self.size // stride
        block, part = divmod(n - self.start, stride)
        whole: list[Any] = self.block(block + 1).entries()
        return whole[part * width : (part + 1) * width]

    def tail(self, n: int) -> Any:
        """Return P(original level >= n)."""
        one = self.number(1)
        if n <= self.start:
            return one - sum((x for k in range(n) for x in self.level(k)), self.number(0))
        stride = self.chain.stride
        width = self.size // stride
        block, part = divmod(n - self.start, stride)
        row = self.block(block + 1)
        here = sum(row.entries()[part * width :], self.number(0))
        return here + sum((self._divided(row * self.R, self.gap)).entries(), self.number(0))

    @cached_property
    def geometric(self) -> list[Any]:
        """Return sum_i C(i, r) pi_1 R^i for r = 0, 1, ..: pi_1 R^r (I - R)^-(r+1), grown on demand."""
        return [self._divided(self.one, self.gap)]

    def moment(self, order: int) -> Any:
        """Return E[level^order] of the original level."""
        while len(self.geometric) <= order:
            self.geometric.append(self._divided(self.geometric[-1] * self.R, self.gap))
        stride, width = self.chain.stride, self.size // self.chain.stride
        total = sum(
            (self.number(n) ** order * sum(self.level(n), self.number(0)) for n in range(self.start)), self.number(0)
        )
        for part in range(stride):
            for power in range(order + 1):  # (first + stride i)^order by powers of i
                factor = math.comb(order, power) * (self.start + part) ** (order - power) * stride**power
                for r in range(power + 1):
                    sums = self.geometric[r].entries()[part * width : (part + 1) * width]
                    total += factor * _onto(power, r) * sum(sums, self.number(0))
        return total

    def phases(self) -> list[Any]:
        """Return the law of the phase summed over the repeating levels."""
        width = self.size // self.chain.stride
        whole = self.geometric[0].entries()
        return [sum((whole[k] for k in range(j, self.size, width)), self.number(0)) for j in range(width)]


def _onto(power: int, r: int) -> int:
    """Return the number of maps of ``power`` things onto r: i^power = sum_r onto(power, r) C(i, r)."""
    return sum((-1) ** k * math.comb(r, k) * (r - k) ** power for k in range(r + 1))


def _recurrent_law(rows: list[dict[int, Any]], domain: Domain) -> list[Any]:
    """Return the law, up to a factor, of the only recurrent class; zero elsewhere."""
    size = len(rows)
    pairs = [(i, j) for i, row in enumerate(rows) for j, x in row.items() if not bool(x == 0)]
    graph = csr_matrix((np.ones(len(pairs)), ([i for i, _ in pairs], [j for _, j in pairs])), shape=(size, size))
    count, labels = connected_components(graph, connection="strong")
    leaving = {labels[i] for i, j in pairs if labels[i] != labels[j]}
    closed = [c for c in range(count) if c not in leaving]
    if len(closed) > 1:
        raise DoesNotExist(f"{len(closed)} recurrent classes meet level 0: there is no single law")
    inside = [i for i in range(size) if labels[i] == closed[0]]
    place = {i: k for k, i in enumerate(inside)}
    watched = tuple({place[j]: x for j, x in rows[i].items() if j in place} for i in inside)
    law = gth(FiniteChain(watched, domain=domain))
    whole = [domain.convert(0)] * size
    for i, x in zip(inside, law, strict=True):
        whole[i] = x
    return whole


def _support(M: Any, right: Any) -> Any:
    """Return where M^-1 right is positive: M leads to a phase where ``right`` is not zero."""
    step, found = nonzero(M) | np.eye(M.nrows(), dtype=bool), nonzero(right)
    while True:
        more = (step.astype(float) @ found.astype(float)) > 0
        if (more == found).all():
            return found
        found = more


def _balls(rates: RateMatrix, which: int) -> arb_mat:
    """Return G (0) or R (1) in balls."""
    if rates.exact is not None:
        return arb_mat(rates.exact[which])
    bounds: Bounds | Around = rates.first if which == 0 else rates.rate
    scale = arb(1) / arb(fmpz(1) << bounds.bits)
    pairs = zip(bounds.lower.entries(), bounds.upper.entries(), strict=True)
    entries = [(arb(x) if x == y else arb(x).union(arb(y))) * scale for x, y in pairs]
    return arb_mat(bounds.lower.nrows(), bounds.lower.ncols(), entries)
