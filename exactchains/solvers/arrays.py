"""Chains as numpy arrays: views of the compact rows, and chains made from arrays with vectorised checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from exactchains.chain import FiniteChain, NotAGenerator, Time
from exactchains.domain import QQ
from exactchains.rows import CompactRows
from exactchains.truth import InputError, expect


@dataclass(frozen=True, eq=False)
class Arrays:
    """Off-diagonal transitions by row: state i jumps to ``targets[indptr[i]:indptr[i+1]]`` with ``rates`` (exact).

    ``rates`` are integers (``int64`` or Python integers) up to one common factor, or fractions.  A discrete chain
    leaves its diagonal out: the stationary law does not depend on it.
    """

    size: int
    indptr: Any
    targets: Any
    rates: Any

    def graph(self) -> Any:
        """Return the adjacency matrix (scipy, CSR)."""
        ones = np.ones(len(self.targets), np.int8)
        return sp.csr_matrix((ones, self.targets, self.indptr), shape=(self.size, self.size))

    def sources(self) -> Any:
        return np.repeat(np.arange(self.size, dtype=self.targets.dtype), np.diff(self.indptr))

    def within(self, states: Any) -> "Arrays":
        """Return the transitions between ``states`` (sorted), renumbered from 0."""
        if len(states) == self.size:
            return self
        number = np.full(self.size, -1, dtype=self.targets.dtype)
        number[states] = np.arange(len(states), dtype=self.targets.dtype)
        sources, targets = number[self.sources()], number[self.targets]
        keep = (sources >= 0) & (targets >= 0)
        indptr = np.r_[0, np.cumsum(np.bincount(sources[keep], minlength=len(states)))]
        return Arrays(len(states), indptr, targets[keep], self.rates[keep])


def arrays(chain: FiniteChain) -> Arrays:
    """Return the off-diagonal transitions of a rational chain."""
    expect(chain, FiniteChain)
    rows = chain.rows
    if chain.domain != QQ or not isinstance(rows, CompactRows):
        raise InputError("this solver needs a chain over QQ; give exact rational rates")
    indptr, targets = np.asarray(rows.indptr), np.asarray(rows.indices)
    rates: Any = rows.numerators
    if isinstance(rates, tuple):
        held = np.empty(len(rates), dtype=object)
        held[:] = rates
        rates = held
    else:
        rates = np.asarray(rates)
    plain = Arrays(len(rows), indptr, targets, rates)
    keep = rates != 0
    if chain.time == "discrete":
        keep &= plain.sources() != targets
    if keep.all():
        return plain
    indptr = np.r_[0, np.cumsum(keep)][indptr]
    return Arrays(len(rows), indptr, targets[keep], rates[keep])


def chain_from_arrays(
    size: int, sources: Any, targets: Any, numerators: Any, *, denominator: int = 1, time: Time = "continuous"
) -> FiniteChain:
    """Return the chain with rates ``numerators / denominator``, all integers, checked without a Python loop.

    Parameters
    ----------
    size
        Number of states.
    sources, targets, numerators
        Integer arrays of one length: state, next state (0-based), numerator of the rate or probability.
        Off-diagonal only in continuous time; pairs must not repeat.

    Raises
    ------
    NotAGenerator
        The message names the first bad entry or row and its defect.
    """
    source, target, rate = (
        _integers(a, name) for a, name in ((sources, "sources"), (targets, "targets"), (numerators, "rates"))
    )
    for name, x in (("size", size), ("denominator", denominator)):
        if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < 1:
            raise InputError(f"{name} = {x!r}: give a positive integer")
    size, denominator = int(size), int(denominator)
    if not len(source) == len(target) == len(rate):
        raise InputError(f"{len(source)} sources, {len(target)} targets, {len(rate)} rates: give arrays of one length")
    _first(
        source,
        target,
        (np.minimum(source, target) < 0) | (np.maximum(source, target) >= size),
        f"is out of range; states are 0 to {size - 1}",
    )
    _first(source, target, rate < 0, "is negative; rates and probabilities are >= 0")
    if time == "continuous":
        _first(source, target, source == target, "is a rate from a state to itself; leave it out")
    index = np.int32 if max(size, len(source)) < 2**31 else np.int64
    matrix = sp.csr_matrix((rate.astype(np.int64), (source.astype(index), target.astype(index))), shape=(size, size))
    if matrix.nnz != len(rate):
        raise NotAGenerator(f"{len(rate) - matrix.nnz} of the pairs are given twice; give each pair once")
    matrix.sort_indices()
    matrix.eliminate_zeros()
    if time == "discrete":
        _sums_to(1, _row_sums(size, source, rate), denominator)
    return FiniteChain.checked(CompactRows(matrix.indptr, matrix.indices, matrix.data, denominator), time=time)


def chain_from_sparse(matrix: Any, *, denominator: int = 1, time: Time = "continuous") -> FiniteChain:
    """Return the chain of a scipy sparse integer matrix over ``denominator``: a generator with its diagonal, or
    off-diagonal rates only, or a stochastic matrix."""
    given = matrix.tocoo()
    if given.shape[0] != given.shape[1]:
        raise NotAGenerator(f"matrix is {given.shape[0]} x {given.shape[1]}; give a square matrix")
    size, source, target, rate = given.shape[0], given.row, given.col, _integers(given.data, "the matrix")
    if time == "continuous" and (source == target).any():
        _sums_to(0, _row_sums(size, source, rate), denominator)
        source, target, rate = source[source != target], target[source != target], rate[source != target]
    return chain_from_arrays(size, source, target, rate, denominator=denominator, time=time)


def _row_sums(size: int, source: Any, rate: Any) -> Any:
    """Return the exact sum of every row: in Python integers where 64 bits could overflow."""
    most = max(int(rate.max(initial=0)), -int(rate.min(initial=0)))
    large = most * int(np.bincount(source).max(initial=0)) >= 2**63
    total = np.zeros(size, object if large else np.int64)
    np.add.at(total, source, rate.astype(object) if large else rate)
    return total


def _sums_to(target: int, total: Any, denominator: int) -> None:
    wrong = total != target * denominator
    if wrong.any():
        i = int(np.argmax(wrong))
        raise NotAGenerator(f"row {i} sums to {fmpq(int(total[i]), denominator)}, expected {target}")


def _integers(values: Sequence[int] | Any, name: str) -> Any:
    found = np.asarray(values)
    if not found.size:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu" or found.dtype == np.uint64:
        raise TypeError(f"{name}: data type {found.dtype}; give 64-bit integers over a denominator")
    return found


def _first(source: Any, target: Any, bad: Any, why: str) -> None:
    if bad.any():
        k = int(np.argmax(bad))
        raise NotAGenerator(f"entry ({source[k]}, {target[k]}) {why}")
