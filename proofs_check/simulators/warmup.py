"""Warm-up: where the beginning of a run stops looking unlike the rest, and how to leave it out."""

import math

import numpy as np

from exactchains.number import parse
from exactchains.truth import InputError
from proofs_check.simulators.pieces import FIRST, WEIGHT, Floats, merged
from proofs_check.simulators.statistics import Estimate, estimate

CERTAIN = 4.0  # standard errors between beginning and rest that are no chance
GROUP = 5


def without_beginning(pieces: Floats, fraction: float) -> Floats:
    """Return the pieces after the first ``fraction`` of their weight."""
    if fraction <= 0:
        return pieces
    gone = np.cumsum(pieces[:, WEIGHT]) - pieces[:, WEIGHT]
    return pieces[gone >= fraction * pieces[:, WEIGHT].sum()]


def read_fraction(word: str) -> float:
    """Read ``10%`` or ``0.1``, from 0 to below 1."""
    text = word.strip()
    fraction = parse(text.removesuffix("%"), "--warmup") / (100 if text.endswith("%") else 1)
    if not 0 <= fraction < 1:
        raise InputError(f"--warmup {word[:40]}: write the part of the run to leave out, such as 10% or 0.1")
    return float(fraction)


def mser5(values: Floats) -> int:
    r"""Return how many values to cut from the beginning: White's rule MSER-5.

    Over means of five, the cut d <= n/2 that minimises :math:`\sum_{i > d} (y_i - \bar y_d)^2 / (n - d)^2`.
    """
    means = merged(values[:, None], GROUP)[:, 0] / GROUP
    n = len(means)
    if n < 4:
        return 0
    left = n - np.arange(n)
    sums, squares = (np.cumsum(x[::-1])[::-1] for x in (means, means * means))
    score = (squares - sums * sums / left) / left**2
    return GROUP * int(np.argmin(score[: n // 2 + 1]))


def transient(pieces: Floats) -> tuple[float, Estimate] | None:
    """Return (fraction of the weight, estimate of the rest) when a run begins unlike it goes on; else None.

    The cut is that of MSER-5; it counts when the means before and after it lie ``CERTAIN`` standard errors apart.
    """
    solid = pieces[pieces[:, WEIGHT] > 0]
    cut = mser5(solid[:, FIRST] / solid[:, WEIGHT])
    if not 0 < cut <= len(solid) - 2 * GROUP * GROUP:
        return None
    head, tail = solid[:cut], solid[cut:]
    rest = estimate(tail)
    weight, first, _ = head.sum(axis=0)
    error = math.sqrt(rest.variance_constant / weight + rest.error**2)
    if abs(first / weight - rest.value) <= CERTAIN * error:
        return None
    return float(weight / pieces[:, WEIGHT].sum()), rest
