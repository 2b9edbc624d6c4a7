"""The blocks of a level chain as exact integers over one denominator, with doubles beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from numpy.typing import NDArray

from exactchains.domain import QQ
from exactchains.level_chain import LevelChain
from exactchains.solvers.cyclic_reduction import Array
from exactchains.truth import InputError

Pattern = NDArray[np.bool_]

WIDE = 200  # binary orders of magnitude that doubles are trusted with on each side


@dataclass(frozen=True)
class LevelIntegers:
    """Generator blocks times ``scale``: ``local`` holds minus the exact row sums, ``kill`` the reset rates by phase.

    A discrete chain P is held as the generator P - 1: its G and R are the same.
    """

    up: fmpz_mat
    local: fmpz_mat
    down: fmpz_mat
    kill: fmpz_mat
    scale: fmpz
    doubles: tuple[Array, Array, Array, Array]  # up, off-diagonal local, down, kill; divided by ``unit``
    patterns: tuple[Pattern, Pattern, Pattern, Pattern]  # where they are nonzero
    diagonal: Array  # total rate out of each phase, in the unit of the doubles
    unit: fmpq
    wide: bool  # the rates span more than doubles can hold safely

    @property
    def size(self) -> int:
        return int(self.up.nrows())

    @cached_property
    def reach(self) -> Pattern:
        """Return where G is positive: the phases in which the level below can be entered."""
        up, local, down, _ = (pattern.astype(float) for pattern in self.patterns)
        found = down > 0
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
    reset = [[sum(row, fmpq(0))] for row in chain.reset] if chain.reset is not None else [[fmpq(0)]] * chain.phases
    matrices = [fmpq_mat([list(row) for row in block]) for block in (chain.up, chain.local, chain.down, reset)]
    for i in range(chain.phases):
        matrices[1][i, i] = fmpq(0)
    parts = [matrix.numer_denom() for matrix in matrices]
    scale = fmpz(1)
    for _, below in parts:
        scale = scale.lcm(below)
    up, local, down, kill = (top * (scale / below) if scale != below else top for top, below in parts)
    ones = fmpz_mat(chain.phases, 1, [1] * chain.phases)
    total = ((up + local + down) * ones + kill).entries()
    numbers = [values(block) for block in (up, local, down, kill)]
    top = max(max(block) for block in numbers).bit_length()
    doubles = [_doubles(block, top, chain.phases) for block in numbers]
    leaving = _doubles(list(map(int, total)), top, chain.phases).ravel()
    patterns = [np.array(block, dtype=bool).reshape(chain.phases, -1) for block in numbers]
    least = min(float(block[where].min(initial=1.0)) for block, where in zip(doubles, patterns, strict=True))
    for i, x in enumerate(total):
        local[i, i] = -x
    return LevelIntegers(
        *(up, local, down, kill, scale),
        doubles=(doubles[0], doubles[1], doubles[2], doubles[3].ravel()),
        patterns=(patterns[0], patterns[1], patterns[2], patterns[3].ravel()),
        diagonal=leaving,
        unit=fmpq(fmpz(1) << top, scale),
        wide=least < 2.0**-WIDE,
    )


def values(matrix: fmpz_mat) -> list[int]:
    """Return the entries as Python integers, row by row."""
    return list(map(int, matrix.entries()))


def _doubles(entries: list[int], bits: int, rows: int) -> Array:
    """Return entries / 2^bits as an array; far apart sizes go to 0 (then ``wide`` is set)."""
    if max(entries, default=0) < 1 << 62:
        array = np.ldexp(np.array(entries, dtype=np.int64).astype(float), -bits)
    elif bits < 1000:
        array = np.ldexp(np.array(list(map(float, entries))), -bits)
    else:
        array = np.ldexp(np.array([float(x >> (bits - 1000)) for x in entries]), -1000)
    return np.asarray(array.reshape(rows, -1))


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
