"""The blocks of a level chain as exact integers over one denominator, with doubles beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain as joined
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from numpy.typing import NDArray

from exactchains.domain import QQ
from exactchains.level_chain import LevelChain
from exactchains.solvers.cyclic_reduction import Array
from exactchains.solvers.twofold import two_sum
from exactchains.truth import InputError

Pattern = NDArray[np.bool_]
Four = tuple[Array, Array, Array, Array]

WIDE = 200  # binary orders of magnitude that doubles are trusted with on each side
WORD = 63  # bits of an integer that numpy holds
HALF = 31


@dataclass(frozen=True)
class LevelIntegers:
    """Generator blocks times ``scale``: ``local`` holds minus the exact row sums, ``kill`` the reset rates by phase.

    A discrete chain P is held as the generator P - 1: its G and R are the same.
    """

    entries: tuple[list[int], list[int], list[int], list[int]]  # up, off-diagonal local, down, kill; row by row
    totals: list[int]  # total rate out of each phase
    scale: fmpz
    doubles: Four  # of the entries, kill as a vector; divided by ``unit``
    lows: Four  # doubles + lows are the entries up to 2^-106 relative, exactly where all have 63 bits at most
    patterns: tuple[Pattern, Pattern, Pattern, Pattern]  # where they are nonzero
    diagonal: Array  # the totals in the unit of the doubles
    diagonal_low: Array
    unit: fmpq
    wide: bool  # the rates span more than doubles can hold safely

    @property
    def size(self) -> int:
        return len(self.totals)

    @cached_property
    def up(self) -> fmpz_mat:
        return fmpz_mat(self.size, self.size, self.entries[0])

    @cached_property
    def local(self) -> fmpz_mat:
        found = fmpz_mat(self.size, self.size, self.entries[1])
        for i, x in enumerate(self.totals):
            found[i, i] = -x
        return found

    @cached_property
    def down(self) -> fmpz_mat:
        return fmpz_mat(self.size, self.size, self.entries[2])

    @cached_property
    def kill(self) -> fmpz_mat:
        return fmpz_mat(self.size, 1, self.entries[3])

    @cached_property
    def reach(self) -> Pattern:
        """Return where G is positive: the phases in which the level below can be entered."""
        found = self.patterns[2]
        if found.all():
            return found
        up, local, down, _ = (pattern.astype(float) for pattern in self.patterns)
        while True:
            step = found.astype(float)
            more = found | (down + local @ step + (up @ step) @ step > 0)
            if (more == found).all():
                return np.asarray(found)
            found = more

    def inner(self, X: fmpz_mat, bits: int) -> fmpz_mat:
        """Return local + up X times ``scale`` 2^bits, exactly, for X over 2^bits."""
        return self.local * (fmpz(1) << bits) + self.up * X

    def residual(self, X: fmpz_mat, inner: fmpz_mat, bits: int) -> fmpz_mat:
        """Return down + (local + up X) X times ``scale`` 2^(2 bits), exactly; ``inner`` is :meth:`inner` of X."""
        return inner * X + self.down * (fmpz(1) << 2 * bits)


def level_integers(chain: LevelChain) -> LevelIntegers:
    """Return the repeating blocks of a chain with rational entries."""
    if chain.domain is not QQ and chain.domain != QQ:
        raise InputError(f"a level chain over {chain.domain}: give exact rates (domain QQ), or LevelChain.from_floats")
    m = chain.phases
    kill = [sum(row, fmpq(0)) for row in chain.reset] if chain.reset is not None else [fmpq(0)] * m
    flat = list(joined.from_iterable((*chain.up, *chain.local, *chain.down, kill)))
    flat[m * m : 2 * m * m : m + 1] = [fmpq(0)] * m
    numerators, scale = fmpq_mat(3 * m + 1, m, flat).numer_denom()
    numbers = values(numerators)
    top = max(numbers).bit_length()
    if top <= WORD:
        words = np.array(numbers, dtype=np.int64).reshape(-1, m)
        high, low, totals, leaving = _from_words(words, top)
    else:
        words = np.array(numbers, dtype=bool).reshape(-1, m)
        high, low, totals, leaving = _from_long(numbers, m, top)
    blocks = _parted(words != 0)
    doubles = _parted(high)
    least = min(float(block[where].min(initial=1.0)) for block, where in zip(doubles, blocks, strict=True))
    return LevelIntegers(
        entries=tuple(numbers[k : k + m * m] for k in range(0, 3 * m * m + 1, m * m)),  # type: ignore[arg-type]
        totals=totals,
        scale=scale,
        doubles=doubles,
        lows=_parted(low),
        patterns=blocks,
        diagonal=leaving[0],
        diagonal_low=leaving[1],
        unit=fmpq(fmpz(1) << top, scale),
        wide=least < 2.0**-WIDE,
    )


def _parted(rows: Any) -> Any:
    """Return up, local, down and the row of kill out of one array."""
    m = rows.shape[1]
    return rows[:m], rows[m : 2 * m], rows[2 * m : 3 * m], rows[3 * m]


def _from_words(words: Any, top: int) -> tuple[Array, Array, list[int], tuple[Array, Array]]:
    """Return both words of 63-bit integers over 2^top, exactly, and the totals of the phases."""
    m = words.shape[1]
    parts = [words >> HALF, words & ((1 << HALF) - 1)]
    sums = [sum(block.sum(1) for block in _parted(part)[:3]) + part[3 * m] for part in parts]
    totals = [(a << HALF) + b for a, b in zip(*(s.tolist() for s in sums), strict=True)]
    upper, unit = 2.0 ** (HALF - top), 2.0**-top
    high, low = two_sum(parts[0] * upper, parts[1] * unit)
    return high, low, totals, two_sum(sums[0] * upper, sums[1] * unit)


def _from_long(numbers: list[int], m: int, top: int) -> tuple[Array, Array, list[int], tuple[Array, Array]]:
    """The same for integers of any length; far apart sizes go to 0 (then ``wide`` is set)."""
    step = [sum(numbers[k : k + m]) for k in range(0, 3 * m * m, m)]
    totals = [sum(row) for row in zip(step[:m], step[m : 2 * m], step[2 * m :], numbers[3 * m * m :], strict=True)]
    high, low = _two_words(numbers, top)
    return high.reshape(-1, m), low.reshape(-1, m), totals, _two_words(totals, top)


def _two_words(numbers: list[int], top: int) -> tuple[Array, Array]:
    """Return numbers / 2^top as two doubles."""
    cut = max(0, top - 1000)
    numbers = [x >> cut for x in numbers] if cut else numbers
    heads = list(map(float, numbers))
    rests = [float(x - int(head)) for x, head in zip(numbers, heads, strict=True)]
    return np.ldexp(np.array(heads), cut - top), np.ldexp(np.array(rests), cut - top)


def values(matrix: fmpz_mat) -> list[int]:
    """Return the entries as Python integers, row by row."""
    return list(map(int, matrix.entries()))


def floats(matrix: fmpz_mat, exponent: int) -> tuple[Array, int]:
    """Return an array A and e with matrix * 2^exponent = A * 2^e up to 2^-60 of the largest entry, which is below 1."""
    entries = values(matrix)
    bits = max(max(entries, default=0), -min(entries, default=0)).bit_length()
    shift = bits - 62
    if shift > 0:
        entries = [x >> shift for x in entries]
        array = np.ldexp(np.array(entries, dtype=np.int64).astype(float), -62)
    else:
        array = np.ldexp(np.array(entries, dtype=np.int64).astype(float), -bits)
    return array.reshape(matrix.nrows(), matrix.ncols()), bits + exponent


def fixed(A: Array, bits: int) -> fmpz_mat:
    """Return round(A * 2^bits) as integers."""
    flat = np.asarray(A, dtype=float)
    rows, columns = flat.shape
    top = int(np.frexp(np.abs(flat).max(initial=0))[1]) if flat.size else 0
    shift = 62 - top  # largest shift that fits a 64-bit integer
    if bits <= shift:
        return fmpz_mat(rows, columns, np.rint(np.ldexp(flat, bits)).astype(np.int64).ravel().tolist())
    if flat.size and _spread(flat) > 8:  # small entries keep their own digits
        return fmpz_mat(rows, columns, [_integer(x, bits) for x in flat.ravel().tolist()])
    whole = fmpz_mat(rows, columns, np.rint(np.ldexp(flat, shift)).astype(np.int64).ravel().tolist())
    return whole * (fmpz(1) << (bits - shift))


def _spread(A: Array) -> int:
    """Return the binary orders of magnitude between the largest and the smallest nonzero entry."""
    sizes = np.abs(A[A != 0])
    return int(np.frexp(sizes.max())[1] - np.frexp(sizes.min())[1]) if sizes.size else 0


def _integer(x: float, bits: int) -> int:
    top, below = x.as_integer_ratio()
    shift = bits - (below.bit_length() - 1)
    return top << shift if shift >= 0 else top >> -shift


def column(numbers: Sequence[Any]) -> fmpz_mat:
    return fmpz_mat(len(numbers), 1, list(numbers))
