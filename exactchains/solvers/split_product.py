r"""Products of nonnegative matrices of doubles in two words, by exact products of slices, with an a-priori error bound.

A row of A is cut into slices of b bits, :math:`A = A_1 + \dots + A_n + A_r`, a column of B likewise, with
:math:`2b + \log_2 K < 53` for the inner dimension K: then the products :math:`A_i B_j` are sums of integers below 2^53
times a power of two, and BLAS makes them without rounding in whatever order.  Those with i + j <= n + 1 are exact, the
rest is rounded.

Ozaki, Ogita, Oishi and Rump, Numerical Algorithms 59 (2012) 95-118.
"""

import math
from dataclasses import dataclass

import numpy as np

from exactchains.solvers.cyclic_reduction import Array
from exactchains.solvers.twofold import U, two_sum


@dataclass(frozen=True)
class Slices:
    """A = parts[0] + ... + parts[n-1] + rests[n] exactly; rests[k] is A without its first k parts.

    ``size`` is a power of two above each row (or column) of A.
    """

    parts: list[Array]
    rests: list[Array]
    size: Array


@dataclass(frozen=True)
class Product:
    """high + low = A B up to ``far`` left_i right_j + 16 u^2 (A B)_ij."""

    high: Array
    low: Array
    left: Array
    right: Array
    far: float


def slice_bits(inner: int) -> int:
    return math.floor((53 - math.log2(1.25 * inner)) / 2)


def sliced(A: Array, inner: int, count: int, *, rows: bool) -> Slices:
    """Cut the rows of a left factor, or the columns of a right factor, for sums of ``inner`` products."""
    bits = slice_bits(inner)
    top = np.abs(A).max(1 if rows else 0, initial=0)
    size = np.ldexp(1.0, np.frexp(top)[1])
    unit = size[:, None] if rows else size
    parts, rests, rest = [], [A], A
    for k in range(1, count + 1):
        shift = 1.5 * 2.0 ** (52 - k * bits) * unit  # adding it rounds to multiples of unit 2^(-k bits)
        part = (rest + shift) - shift
        rest = rest - part
        parts.append(part)
        rests.append(rest)
    return Slices(parts, rests, size)


def multiplied(A: Slices, B: Slices) -> Product:
    """Return A B in two doubles, for A and B >= 0."""
    count, inner = len(A.parts), A.rests[0].shape[1]
    high: Array = A.parts[0] @ B.parts[0]
    low = np.zeros_like(high)
    for k in range(2, count + 1):
        left = np.hstack(A.parts[:k])
        term = left @ np.vstack(B.parts[:k][::-1])
        high, error = two_sum(high, term)
        low = low + error
    left = np.hstack([*A.parts, A.rests[count]])
    rest = left @ np.vstack([B.rests[count - i] for i in range(count)] + [B.rests[0]])
    bits = slice_bits(inner)
    # |A_1 B_r| and |A_r B| are below K 2^(-n bits) size_i size_j / 2, the n - 1 others below half of that
    far = 2 * (count + 1) * inner**2 * U * 2.0 ** (-count * bits)
    high, error = two_sum(high, low + rest)
    return Product(high, error, A.size, B.size, far)
