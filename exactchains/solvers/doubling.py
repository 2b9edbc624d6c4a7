"""Transition matrices at long times by doubling: P(2s) = P(s) P(s), every entry rounded down.

The terms are nonnegative, so that rounding down and leaving terms out of the series give lower bounds throughout; what
a row lacks to its known sum bounds its error, as in :mod:`exactchains.solvers.transient`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from flint import fmpq, fmpz, fmpz_mat

LARGEST = 100  # states
SHORT = 32  # mean number of jumps in the time that is doubled


def halvings(mean: fmpq) -> int:
    """Return how often a time with so many jumps on average is halved."""
    return int(max(0, int(mean.p).bit_length() - int(mean.q).bit_length() + 1 - SHORT.bit_length()))


def cost(size: int, mean: fmpq) -> int:
    """Return about how many entries are formed; the series has about 5 SHORT terms."""
    return (halvings(mean) + 5 * SHORT) * size**2 * (2 + size // 20)


def series(jump: fmpz_mat, weights: Sequence[int], bits: int) -> fmpz_mat:
    """Return lower bounds of the sum of weights[k] jump^k, all over 2^bits."""
    size = jump.nrows()
    total = fmpz_mat(size, size)
    for weight in reversed(weights):
        total = _down(total * jump, bits) + _identity(size) * weight
    return total


def doubled(
    jump: fmpz_mat, mean: fmpq, bits: int, weigh: Callable[[fmpq], Sequence[Sequence[int]]]
) -> tuple[fmpz_mat, fmpz_mat]:
    """Return lower bounds of P(t) and of the mean times spent until t, by start and state, in mean times of a jump.

    ``weigh(mean)`` returns the chances of 0, 1, .. jumps and the chances of more than 0, 1, .. jumps, from below.
    """
    times = halvings(mean)
    law, spent = (series(jump, weights, bits) for weights in weigh(mean / fmpz(2) ** times))
    for _ in range(times):
        spent = spent + _down(law * spent, bits)
        law = _down(law * law, bits)
    return law, spent


def _identity(size: int) -> fmpz_mat:
    return fmpz_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def _down(matrix: fmpz_mat, bits: int) -> fmpz_mat:
    entries: list[Any] = matrix.entries()
    return fmpz_mat(matrix.nrows(), matrix.ncols(), [x >> bits for x in entries])
