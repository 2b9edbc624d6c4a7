"""The same stretch of a run written again and again: no longer run, and no independent data."""

import math

import numpy as np

from proofs_check.simulators.pieces import Floats

MOST = 1_000_000  # values that are looked at, the first ones of a run
FINE = 1e-3  # values are compared to this part of their mean: a shifted clock changes their last digits
BY_CHANCE = 1e-9  # that any two stretches of a run that repeats nothing are equal
SHARE = 0.01  # of the run that stands more than once
SPANS = (1, 2, 4, 8, 16)
MULTIPLIER = 0x9E3779B97F4A7C15
WORD = 1 << 64


class Repeats:
    """Values of a run in their order, as they are read."""

    def __init__(self) -> None:
        self._parts: list[Floats] = []
        self._held = 0

    def add(self, values: Floats) -> None:
        """Append values; those beyond the first ``MOST`` are not kept."""
        part = values[: MOST - self._held]
        if len(part):
            self._parts.append(part.astype(float))
            self._held += len(part)

    @property
    def values(self) -> Floats:
        return np.concatenate(self._parts or [np.empty(0)])

    def found(self) -> bool:
        """Return whether whole stretches of the run stand more than once."""
        return repeats(self.values)

    def dependence(self) -> float:
        """Return the correlation of neighbours in its standard errors if they were independent."""
        off = self.values - self.values.mean()
        return float(off[1:] @ off[:-1] / (off @ off)) * math.sqrt(len(off))


def repeats(values: Floats) -> bool:
    """Return whether stretches of values stand more than once that would not by chance.

    The chance that two stretches of k values are equal is at most about r^k, where r^m is how often two stretches of
    m = 1, .., 16 values are: k is taken so long that no pair among all is expected.  Equal neighbours count as one.
    """
    scale = FINE * float(np.mean(np.abs(values))) if len(values) else 0.0
    if not 0 < scale < math.inf:
        return False
    cells = np.floor(values / scale + 0.318)  # rounded values lie on no edge
    starts = np.flatnonzero(np.concatenate([[True], np.diff(cells) != 0]))
    lengths = np.diff(np.append(starts, len(cells))).astype(np.uint64)
    words = _mixed(_mixed(cells[starts].astype(np.int64).astype(np.uint64)) + lengths)
    number, rate = len(words), 1e-6
    for span in SPANS:
        if number <= 2 * span:
            return False
        counts = _counts(words, span).astype(float)
        rate = max(rate, float(counts @ (counts - 1) / counts.sum() / (counts.sum() - 1)) ** (1 / span))
    if rate >= 1:
        return False
    span = math.ceil(2 * (2 * math.log(number) - math.log(BY_CHANCE)) / -math.log(rate))
    if number <= 2 * span:
        return False
    counts = _counts(words, span)
    return bool(counts[counts > 1].sum() > SHARE * number)


def _mixed(words: np.ndarray) -> np.ndarray:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _counts(words: np.ndarray, span: int) -> np.ndarray:
    """Return how often each stretch of ``span`` words occurs, by polynomial hashes modulo 2^64."""
    there, back = (_powers(factor, len(words)) for factor in (MULTIPLIER, pow(MULTIPLIER, -1, WORD)))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words * there, dtype=np.uint64)])
    return np.unique((sums[span:] - sums[:-span]) * back[: len(words) + 1 - span], return_counts=True)[1]


def _powers(factor: int, count: int) -> np.ndarray:
    steps = np.full(count, factor, dtype=np.uint64)
    steps[0] = 1
    return np.cumprod(steps, dtype=np.uint64)
