"""The flow of an irreducible chain: transitions sorted by target and distance level, rates in two doubles.

Each state's rates are divided by the power of two above its exit rate, which only moves the exponent of its entry in
the law: exit rates lie in [1/2, 1], whatever the rates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from exactchains.number import nearest_double
from exactchains.solvers.arrays import Arrays
from exactchains.solvers.structure import distances

PART = 1 << 14  # states that are worked on at a time: their vectors stay in the cache
LEAST = 2.0**-400  # rates below this fraction of the exit rate are left to integer arithmetic


@dataclass(frozen=True, eq=False)
class Flow:
    """Transitions into state j stand at ``indptr[j]:indptr[j+1]``: ``source`` and ``rate_high + rate_low``.

    States are numbered by distance from ``order[0]``, ``order[k]`` is the number in the given chain; level l holds
    ``start[l]:start[l+1]``.  ``shift[k]``: the true rates out of k are ``2^shift[k]`` times those held here.
    """

    size: int
    order: Any
    level: Any
    start: Any
    shift: Any
    indptr: Any
    source: Any
    rate_high: Any
    rate_low: Any
    exit_high: Any
    exit_low: Any
    degree: Any

    @property
    def levels(self) -> int:
        return len(self.start) - 1

    def parts(self) -> Iterator[tuple[int, int, slice]]:
        """Yield ranges of targets, and where the transitions into them stand: no array of all transitions is needed."""
        for a in range(0, self.size, PART):
            b = min(a + PART, self.size)
            yield a, b, slice(int(self.indptr[a]), int(self.indptr[b]))

    def target(self, a: int, b: int) -> Any:
        """Return the target of every transition into the states a .. b - 1."""
        return np.repeat(np.arange(a, b, dtype=self.source.dtype), self.degree[a:b])

    @cached_property
    def halves(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return rows and sources of the transitions from states before the target, and from those behind it."""
        before = np.zeros(self.size, self.indptr.dtype)
        sources: tuple[list[Any], list[Any]] = [], []
        for a, b, at in self.parts():
            source = self.source[at]
            lower = source < self.target(a, b)
            before[a:b] = _row_counts(lower, self.indptr[a : b + 1])
            for kept, chosen in zip(sources, (lower, ~lower), strict=True):
                kept.append(source[chosen])
        counts = before, self.degree - before
        found = [
            (np.r_[0, np.cumsum(count)].astype(self.source.dtype), np.concatenate(kept))
            for count, kept in zip(counts, sources, strict=True)
        ]
        return found[0], found[1]

    @cached_property
    def moves(self) -> tuple[Any, Any]:
        """Return the total rates to the next and to the previous level out of every state."""
        up, down = np.zeros(self.size), np.zeros(self.size)
        for a, b, at in self.parts():
            source, rate = self.source[at], self.rate_high[at]
            if not len(source):
                continue
            low, high = int(source.min()), int(source.max()) + 1
            step = self.level[self.target(a, b)] - self.level[source]
            for total, k in ((up, 1), (down, -1)):
                total[low:high] += np.bincount(source - low, rate * (step == k), high - low)
        return up, down

    @cached_property
    def layered(self) -> bool:
        """Return whether no transition stays within a level."""
        parts = ((self.level[self.source[at]] != self.level[self.target(a, b)]).all() for a, b, at in self.parts())
        return all(parts)

    def level_sum(self, values: Any) -> Any:
        return np.add.reduceat(values, self.start[:-1])


def _row_counts(chosen: Any, indptr: Any) -> Any:
    """Return how many entries of each row are chosen; ``indptr`` may start anywhere."""
    return np.diff(np.r_[0, np.cumsum(chosen)][indptr - indptr[0]])


def flow_of(chain: Arrays, reference: int = 0) -> Flow | None:
    """Sort the transitions of an irreducible chain by distance from ``reference``; None: rates range too far."""
    split = _two_words(chain)
    if split is None:
        return None
    high, low, exit_high, exit_low, shift = split
    n = chain.size
    level = distances(chain.graph(), reference)
    order = np.argsort(level, kind="stable").astype(chain.targets.dtype)
    number = np.empty(n, chain.targets.dtype)
    number[order] = np.arange(n, dtype=number.dtype)
    level = level[order].astype(np.int32)
    start = np.searchsorted(level, np.arange(int(level[-1]) + 2))
    data = high if low is None else np.arange(len(high))
    held = sp.csr_matrix((data, number[chain.targets], chain.indptr), shape=(n, n))[order].T.tocsr()
    degree = np.diff(held.indptr)
    if low is not None:
        high, low = high[held.data], low[held.data]
    return Flow(
        size=n,
        order=order,
        level=level,
        start=start,
        shift=shift[order],
        indptr=held.indptr,
        source=held.indices,
        rate_high=held.data if low is None else high,
        rate_low=low,
        exit_high=exit_high[order],
        exit_low=None if exit_low is None else exit_low[order],
        degree=degree,
    )


def _two_words(chain: Arrays) -> Any:
    """Return rates and exit rates as two doubles each, and the power of two divided out of every row."""
    rates, indptr, n = chain.rates, chain.indptr, chain.size
    if rates.dtype != object and int(rates.max(initial=0)) < 2**53 // max(1, int(np.diff(indptr).max(initial=1))):
        total = np.add.reduceat(rates, indptr[:-1]).astype(float)  # exact: below 2^53
        shift = np.frexp(total)[1].astype(np.int64)
        high = rates.astype(float)
        high *= np.repeat(np.ldexp(1.0, -shift), np.diff(indptr))
        return high, None, np.ldexp(total, -shift), None, shift
    high, low = np.empty(len(rates)), np.empty(len(rates))
    exits, shift = np.empty((2, n)), np.zeros(n, np.int64)
    for i in range(n):
        row: list[Any] = [fmpq(x) if isinstance(x, fmpq) else fmpq(int(x)) for x in rates[indptr[i] : indptr[i + 1]]]
        sum_of_row: Any = sum(row, fmpq(0))
        shift[i] = k = int(sum_of_row.p).bit_length() - int(sum_of_row.q).bit_length() + 1
        scale = fmpq(2) ** -k
        words = [_words(x * scale) for x in row]
        high[indptr[i] : indptr[i + 1]] = [a for a, _ in words]
        low[indptr[i] : indptr[i + 1]] = [b for _, b in words]
        exits[:, i] = _words(sum_of_row * scale)
    if high.min() < LEAST:
        return None
    return high, low, exits[0], exits[1], shift


def _words(x: fmpq) -> tuple[float, float]:
    """Return h, l with h + l = x up to u^2 relative."""
    h = nearest_double(x)
    return h, nearest_double(x - fmpq(*h.as_integer_ratio()))
