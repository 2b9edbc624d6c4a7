"""Random binary matrices by the thousand: which of them have independent rows."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

WORD = 64


def independent_rows(counts: NDArray[np.int64], lengths: NDArray[np.int64], rng: Generator) -> NDArray[np.bool_]:
    """Return, matrix by matrix, whether uniform binary rows drawn here are linearly independent.

    Matrix s has ``counts[s]`` rows of ``lengths[s]`` bits.  All matrices are eliminated together, row after row: a
    row is reduced by the rows before it, each by its lowest bit; a row that vanishes depends on them.
    """
    possible = counts <= lengths
    counts = np.where(possible, counts, 0)
    full = _masks(lengths, max(1, -(-int(lengths.max(initial=1)) // WORD)))
    rows: list[NDArray[np.uint64]] = []
    leads: list[NDArray[np.uint64]] = []
    for i in range(int(counts.max(initial=0))):
        row = rng.integers(0, 1 << WORD, size=full.shape, dtype=np.uint64) & full
        for earlier, lead in zip(rows, leads, strict=True):
            hit = (row & lead).any(axis=0)
            row ^= np.where(hit, earlier, np.uint64(0))
        possible &= row.any(axis=0) | (i >= counts)
        rows.append(row)
        leads.append(_lowest(row))
    return possible


def _masks(lengths: NDArray[np.int64], words: int) -> NDArray[np.uint64]:
    """Return the words of 2^length - 1, as (word, matrix)."""
    left = np.clip(lengths - WORD * np.arange(words)[:, None], 0, WORD).astype(np.uint64)
    ones = (np.uint64(1) << np.minimum(left, WORD - 1)) - np.uint64(1)
    return np.where(left == WORD, ~np.uint64(0), ones)


def _lowest(row: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the lowest set bit of each vector, 0 where there is none."""
    found = row & (~row + np.uint64(1))
    for word in range(1, len(row)):
        found[word][found[:word].any(axis=0)] = 0
    return found
