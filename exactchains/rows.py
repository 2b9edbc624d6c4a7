"""Rows of a chain with rational entries, held compactly: one integer numerator an entry over one denominator.

Buffers are standard-library ``array`` objects (or anything with the buffer protocol), which numpy views at no cost.
Numerators beyond 63 bits are held as Python integers, rationals without a small common denominator as fractions.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from math import lcm
from numbers import Integral
from typing import Any, overload

from flint import fmpq

from exactchains.truth import InputError

COMMON_BITS = 1024  # a common denominator beyond so many bits is not formed


class CompactRows(Sequence[Mapping[int, fmpq]]):
    """Sparse rows: entries ``indptr[i] .. indptr[i+1]`` are the row of state i, ``numerators / denominator`` exactly.

    ``rows[i]`` is the row as a dictionary.  The buffers are never copied and must not change afterwards.
    """

    __slots__ = ("denominator", "indices", "indptr", "numerators")

    def __init__(self, indptr: Any, indices: Any, numerators: Any, denominator: int = 1) -> None:
        self.indptr, self.indices, self.numerators, self.denominator = indptr, indices, numerators, denominator

    @classmethod
    def gather(cls, rows: Sequence[Mapping[int, fmpq]]) -> "CompactRows":
        """Hold ``rows``; entries that are zero are left out."""
        indptr, indices, values = array("q", [0]), array("i" if len(rows) < 2**31 else "q"), []
        for row in rows:
            for j in sorted(row):
                if row[j] != 0:
                    indices.append(j)
                    values.append(row[j])
            indptr.append(len(indices))
        return cls(indptr, indices, *_over_one_denominator(values))

    def entry(self, k: int) -> fmpq:
        """Return the k-th stored number."""
        x = self.numerators[k]
        return x if isinstance(x, fmpq) else fmpq(int(x), self.denominator)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @overload
    def __getitem__(self, i: int) -> Mapping[int, fmpq]: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Mapping[int, fmpq]]: ...
    def __getitem__(self, i: int | slice) -> Mapping[int, fmpq] | Sequence[Mapping[int, fmpq]]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        i %= len(self)
        return {int(self.indices[k]): self.entry(k) for k in range(self.indptr[i], self.indptr[i + 1])}

    def __iter__(self) -> Iterator[Mapping[int, fmpq]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompactRows):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), len(self.indices), self.denominator))

    def __repr__(self) -> str:
        return f"CompactRows({len(self)} rows, {len(self.indices)} entries over {self.denominator})"


def transition_rows(size: Any, transitions: Any, convert: Any, refuse: type[InputError]) -> list[dict[int, Any]]:
    """Sort triples (i, j, value) into rows; states outside 0..size-1 and repeated pairs are refused."""
    if isinstance(size, bool) or not isinstance(size, Integral):
        raise refuse(f"size = {size!r}: give the number of states, an integer")
    rows: list[dict[int, Any]] = [{} for _ in range(size)]
    for triple in transitions:
        try:
            i, j, value = triple
        except (TypeError, ValueError):
            raise refuse(f"transition {str(triple)[:60]}: give triples (state, next state, rate)") from None
        if not (_is_integer(i) and _is_integer(j)):
            raise refuse(f"entry ({i!r}, {j!r}): states are integers from 0 to {size - 1}; number the states from 0")
        if not (0 <= i < size and 0 <= j < size):
            raise refuse(f"entry ({i}, {j}): states are 0 to {size - 1}; number the states from 0")
        if j in rows[i]:
            raise refuse(f"entry ({i}, {j}) is given twice; give each pair once")
        rows[i][j] = convert(value)
    return rows


def _is_integer(x: Any) -> bool:
    return type(x) is int or (isinstance(x, Integral) and not isinstance(x, bool))


def _over_one_denominator(values: list[fmpq]) -> tuple[Any, int]:
    below = 1
    for q in {int(x.q) for x in values}:
        below = lcm(below, q)
        if below.bit_length() > COMMON_BITS:
            return tuple(values), 1
    integers = [int(x.p) * (below // int(x.q)) for x in values]
    if all(-(2**63) <= x < 2**63 for x in integers):
        return array("q", integers), below
    return tuple(integers), below
