"""Ranks of random binary matrices against brute elimination and the product formula."""

import math

import numpy as np
import pytest

from aoi_tools.gf2 import independent_rows


class Recorded:
    """A generator that keeps what it drew, so that the same matrices can be eliminated again."""

    def __init__(self, seed: int) -> None:
        self.rng, self.drawn = np.random.default_rng(seed), []

    def integers(self, *args, **kwargs):
        self.drawn.append(self.rng.integers(*args, **kwargs))
        return self.drawn[-1].copy()


def rank(vectors: list[int]) -> int:
    basis: list[int] = []
    for v in vectors:
        for b in basis:
            v = min(v, v ^ b)
        if v:
            basis.append(v)
    return len(basis)


@pytest.mark.parametrize("longest", [3, 40, 64, 65, 140])
def test_independence_is_that_of_plain_elimination(longest):
    rng = np.random.default_rng(longest)
    lengths = rng.integers(0, longest + 1, size=300)
    counts = np.maximum(lengths - rng.integers(-1, 4, size=300), 0)
    recorded = Recorded(7)
    found = independent_rows(counts, lengths, recorded)
    for s, (count, length) in enumerate(zip(counts.tolist(), lengths.tolist(), strict=True)):
        words = [[int(w) for w in draw[:, s]] for draw in recorded.drawn[:count]]
        vectors = [sum(w << (64 * i) for i, w in enumerate(ws)) & ((1 << length) - 1) for ws in words]
        assert found[s] == (count <= length and rank(vectors) == count), (count, length)


def test_frequency_is_the_product_formula():
    size = 40_000
    found = independent_rows(np.full(size, 5), np.full(size, 6), np.random.default_rng(1))
    expected = math.prod(1 - 2.0 ** (i - 6) for i in range(5))
    assert abs(found.mean() - expected) < 5 * math.sqrt(expected * (1 - expected) / size)
