"""Intervals for long-run averages of dependent data: batch means whose size is chosen by the data."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from proofs_check.simulators.pieces import FIRST, SECOND, WEIGHT, Floats, merged

BATCHES = (64, 48, 32, 24, 20, 16, 12, 10)
CORRELATED = 0.3  # von Neumann ratios above this many standard deviations send the search to fewer, longer batches
CORRELATED_AT_LAST = 2.0  # at the fewest batches: still correlated, the run is too short ..
HIGHER = 10  # a run worth N observations for a mean is taken as N / 10 for a second moment
LONG = 1000  # .. unless it is worth so many independent observations: then this is chance


@dataclass(frozen=True)
class Statistic:
    """A smooth function of the ratios sum(first) / sum(weight) and sum(second) / sum(weight), with its gradient."""

    name: str
    value: Callable[[float, float], float]
    gradient: Callable[[float, float], tuple[float, float]]


MEAN = Statistic("mean", lambda a, b: a, lambda a, b: (1.0, 0.0))
SECOND_MOMENT = Statistic("second moment", lambda a, b: b, lambda a, b: (0.0, 1.0))
VARIANCE = Statistic("variance", lambda a, b: b - a * a, lambda a, b: (-2 * a, 1.0))


@dataclass(frozen=True)
class Estimate:
    """An estimate with its standard error from batch means.

    ``effective`` is the number of independent observations that would give the same standard error of the mean;
    ``variance_constant`` is lim T Var(estimate over weight T); ``weight`` is the T of this run.
    """

    value: float
    error: float
    batches: int
    effective: float
    weight: float
    correlated: bool
    constant: bool

    @property
    def variance_constant(self) -> float:
        return self.error**2 * self.weight

    def half_width(self, confidence: float) -> float:
        """Return half the length of the two-sided t interval."""
        return float(stats.t.ppf((1 + confidence) / 2, self.batches - 1)) * self.error

    def interval(self, confidence: float) -> tuple[float, float]:
        half = self.half_width(confidence)
        return self.value - half, self.value + half


def estimate(pieces: Floats, statistic: Statistic = MEAN) -> Estimate:
    r"""Return a long-run average with its standard error by batch means.

    The statistic :math:`g(\sum y / \sum w, \sum z / \sum w)` is linearised: a batch contributes
    :math:`\nabla g \cdot (y - \bar y w, z - \bar z w) / \bar w`.  The number of batches is
    the largest of ``BATCHES`` whose batch means show no positive serial correlation (von Neumann's ratio).

    Parameters
    ----------
    pieces
        Rows (weight, first, second) in time order, at least 2 * min(BATCHES) of them.

    Guarantee
    ---------
    Asymptotic (long runs of a stationary mixing process); the number of batches and ``correlated`` say when not to
    believe it.
    """
    weight, first, second = pieces.sum(axis=0)
    a, b = first / weight, second / weight
    slope = statistic.gradient(a, b)
    pull = slope[0] * (pieces[:, FIRST] - a * pieces[:, WEIGHT]) + slope[1] * (
        pieces[:, SECOND] - b * pieces[:, WEIGHT]
    )
    batches = chosen_batches(pull)
    spread = float(np.std(batches, ddof=1))
    per_batch = weight / len(batches)
    error = spread / per_batch / math.sqrt(len(batches))
    variance = max(b - a * a, 0.0)
    constant = variance <= 1e-12 * b
    mean_error = error if statistic is MEAN else estimate(pieces, MEAN).error
    effective = variance / mean_error**2 if mean_error > 0 else math.inf
    if statistic is not MEAN:
        effective /= HIGHER  # squares are more skewed than values: their batch means are normal much later
    late = effective < LONG and von_neumann(batches) > CORRELATED_AT_LAST
    return Estimate(statistic.value(a, b), error, len(batches), effective, weight, late, constant)


def chosen_batches(values: Floats) -> Floats:
    """Return batch sums: as many batches as show no positive serial correlation; the remainder joins no batch."""
    sums = values
    for count in BATCHES:
        if len(values) >= 2 * count:
            sums = merged(values[:, None], len(values) // count)[:count, 0]
            if von_neumann(sums) <= CORRELATED:
                break
    return sums


def von_neumann(x: Floats) -> float:
    r"""Return von Neumann's ratio, standardised: about normal for independent ``x``, large if they are correlated.

    .. math:: \left(1 - \frac{\sum (x_{i+1} - x_i)^2}{2 \sum (x_i - \bar x)^2}\right) \sqrt{\frac{k^2 - 1}{k - 2}}
    """
    d = x - x.mean()
    total = float(d @ d)
    if total == 0 or len(x) < 3:
        return 0.0
    steps = np.diff(x)
    return float((1 - steps @ steps / (2 * total)) * math.sqrt((len(x) ** 2 - 1) / (len(x) - 2)))
