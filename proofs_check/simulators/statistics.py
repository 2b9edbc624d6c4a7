"""Long-run averages of dependent data, with intervals that the dependence has not fooled."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from proofs_check.simulators import intervals
from proofs_check.simulators.intervals import BATCHES, LOOKS_FROM, von_neumann
from proofs_check.simulators.pieces import FIRST, SECOND, WEIGHT, Floats

__all__ = ["BATCHES", "MEAN", "SECOND_MOMENT", "VARIANCE", "Estimate", "Statistic", "estimate", "von_neumann"]

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
    """An estimate with its standard error.

    ``batches`` is how many batches or cycles it comes from, ``freedom`` the degrees of freedom (batches - 1 unless
    given); ``sequential`` widens intervals so that they hold at every look at a growing run.  ``effective`` is the
    number of independent observations that would give the same standard error of the mean; ``variance_constant`` is
    lim T Var(estimate over weight T); ``weight`` is the T of this run.  ``skewness`` is that of the batches;
    ``modelled`` says that the error is averaged with the exact model's.
    """

    value: float
    error: float
    batches: int
    effective: float
    weight: float
    correlated: bool
    constant: bool
    freedom: float | None = None
    sequential: bool = False
    method: str = "batch"
    skewness: float = 0.0
    modelled: bool = False

    @property
    def variance_constant(self) -> float:
        return self.error**2 * self.weight

    def half_width(self, confidence: float) -> float:
        """Return the longer arm of the two-sided interval."""
        return max(self.arms(confidence))

    def arms(self, confidence: float) -> tuple[float, float]:
        """Return how far the interval reaches below and above the value."""
        below, above = intervals.skewed(self.quantile(confidence), self.skewness, self.batches)
        return below * self.error, above * self.error

    def quantile(self, confidence: float, longer: float = 1.0) -> float:
        """Return half the length in standard errors; of a run ``longer`` times as long, for a sequence."""
        freedom = self.batches - 1 if self.freedom is None else self.freedom
        looks = self.effective * longer / LOOKS_FROM if self.sequential else None
        return intervals.quantile(confidence, freedom, looks)

    def once(self) -> "Estimate":
        """Return the estimate as of a run whose length was settled beforehand."""
        return replace(self, sequential=False)

    def interval(self, confidence: float) -> tuple[float, float]:
        below, above = self.arms(confidence)
        return self.value - below, self.value + above


def estimate(
    pieces: Floats,
    statistic: Statistic = MEAN,
    *,
    method: str = "batch",
    sequential: bool = False,
    variance_constant: float | None = None,
) -> Estimate:
    r"""Return a long-run average with its standard error.

    The statistic :math:`g(\sum y / \sum w, \sum z / \sum w)` is linearised: a piece contributes
    :math:`\nabla g \cdot (y - \bar y w, z - \bar z w) / \bar w`, and the error is that of the sum of these.

    Parameters
    ----------
    pieces
        Rows (weight, first, second) in time order, at least 2 * min(BATCHES) of them; one a cycle for the method
        ``regenerative``.
    method
        One of :data:`proofs_check.simulators.intervals.METHODS`.  The number of batches is the largest of ``BATCHES``
        whose batch means show no positive serial correlation (von Neumann's ratio).
    sequential
        Intervals that hold at every look at a growing run (confidence sequence).
    variance_constant
        lim T Var(estimate over weight T) of the exact model, where it is known: the error is averaged with it unless
        the run is clearly more variable.  Without it the interval is widened for the skewness of the batches.

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
    spread = intervals.method(method)(pull)
    error, freedom = spread.deviation / weight, spread.freedom
    both = intervals.averaged(error, freedom, math.sqrt(max(variance_constant or 0.0, 0.0) / weight))
    own_error, (error, freedom) = error, both or (error, freedom)
    variance = max(b - a * a, 0.0)
    constant = variance <= 1e-12 * b
    mean_error = own_error if statistic is MEAN else estimate(pieces, MEAN, method=method).error
    effective = variance / mean_error**2 if mean_error > 0 else math.inf
    if method != "regenerative":  # one line that holds for most of the run is one observation
        effective = min(effective, weight**2 / float(np.square(pieces[:, WEIGHT]).sum()))
    if statistic is not MEAN:
        effective /= HIGHER  # squares are more skewed than values: their batch means are normal much later
    late = effective < LONG and von_neumann(spread.batches) > CORRELATED_AT_LAST
    return Estimate(
        statistic.value(a, b),
        error,
        len(spread.batches),
        effective,
        weight,
        late,
        constant,
        freedom,
        sequential,
        method,
        0.0 if both else intervals.skewness(spread.batches),
        both is not None,
    )
