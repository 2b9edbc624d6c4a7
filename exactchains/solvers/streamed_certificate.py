"""The certificate of a law that was proved level by level, as exact text for the checker kind *stationary*."""

from typing import Any

import numpy as np

from exactchains.number import wire
from exactchains.solvers.streamed import ByLevel, LevelSource, certified_by_levels
from exactchains.truth import InputError

MAX_STATES = 200_000  # of a file that is still read in one piece


def levels_certificate(source: LevelSource, *, candidate: ByLevel, vector: ByLevel) -> dict[str, Any]:
    """Return the proof of :func:`certified_by_levels` as a document that the independent checker reads.

    States are numbered level by level.  The bounds are those of :meth:`LevelBound.entry`; candidate and vector are
    written as the doubles they are, so that the checker repeats the proof in integers.

    Raises
    ------
    InputError
        More than 200,000 states: the file has to be read in one piece; or as :func:`certified_by_levels`.
    PrecisionExhausted
        As :func:`certified_by_levels`.
    """
    sizes = [source.size(level) for level in range(source.levels)]
    if sum(sizes) > MAX_STATES:
        raise InputError(f"{sum(sizes)} states; a certificate in a file holds at most {MAX_STATES}")
    found = certified_by_levels(source, candidate=candidate, vector=vector)
    start = np.cumsum([0, *sizes])
    rates, law, mantissas, entries = [], [], [], []
    for level, size in enumerate(sizes):
        for i, step, j, rate in zip(*(np.asarray(a).tolist() for a in source.out(level)), strict=True):
            rates.append([int(start[level] + i), int(start[level + step] + j), str(rate)])
        pairs = zip(*(np.asarray(read(level), dtype=float).tolist() for read in (candidate, vector)), strict=True)
        for x, u in pairs:
            top, height, exponent = _together(x, u)
            law.append([str(top), exponent])
            mantissas.append(str(height))
        for k in range(size):
            e = found.entry(level, k)
            entries.append([int(start[level] + k), wire(e.lower), wire(e.upper)])
    return {
        "format": 1,
        "kind": "stationary",
        "problem": {"time": "continuous", "states": sum(sizes), "transitions": rates},
        "conclusion": {"entries": entries, "unique": True},
        "proof": {"reference": 0, "law": law, "vector": mantissas},
    }


def _together(x: float, u: float) -> tuple[int, int, int]:
    """Return integers a, b and an exponent e with x = a 2^e and u = b 2^e."""
    (p, q), (r, s) = x.as_integer_ratio(), u.as_integer_ratio()
    below = max(q, s)  # powers of two
    return p * (below // q), r * (below // s), 1 - below.bit_length()
