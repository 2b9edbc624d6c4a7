"""Agrees, disagrees or undecided: two one-sided tests against a margin, with the run length that would decide."""

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq
from scipy import special

from exactchains import decimals
from exactchains.enclosure import Enclosure, Result
from exactchains.number import parse
from exactchains.truth import InputError
from proofs_check.simulators.statistics import Estimate

AGREE_AT = 0.95  # the interval that must lie inside the margin
DISAGREE_AT = 0.999  # the interval that must lie outside: calling a program wrong needs more evidence
LEAST_EFFECTIVE = 100  # fewer independent observations than this decide nothing
PLANNED = 4.3  # standard errors in the margin of a planned run: 3.6 for 95 % power, more as the error is estimated
DEFAULT_MARGIN = "5%"
EXACT, REFERENCE, OWN = "the exact variance of the model", "a run of the reference simulator", "this run's own error"
STILL = 1e-18  # a variance below this is rounding: the model has one value only
FARTHEST = 1e100  # standard deviations in a margin that no run makes up for
LUCKY = 0.1  # a planned variance is as large as one estimated that low with this chance would be
MEETS = 1.3  # margin over LEAST_EFFECTIVE, as the number of independent observations is estimated too


class Verdict(enum.Enum):
    AGREES = "agrees"
    DISAGREES = "disagrees"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Margin:
    """What difference does not matter: a fraction of the exact value, or an absolute amount."""

    size: fmpq
    relative: bool = True

    @classmethod
    def read(cls, word: str) -> "Margin":
        """Read ``5%`` and ``0.05`` (of the exact value), or ``abs:0.01`` (in the quantity's unit)."""
        text, absolute, percent = word.strip().removeprefix("abs:"), word.strip().startswith("abs:"), word.endswith("%")
        size = parse(text.removesuffix("%"), "--margin") / (100 if percent else 1)
        if size <= 0 or (not absolute and size >= 1) or (absolute and percent):
            raise InputError(f"--margin {word[:40]}: write 5% or 0.05 (of the exact value, below 1), or abs:0.01")
        return cls(size, not absolute)

    def around(self, exact: Enclosure) -> fmpq:
        """Return the margin in the quantity's unit; a relative one is taken of the end nearer to zero."""
        if not self.relative:
            return self.size
        if exact.lower <= 0 <= exact.upper:
            raise InputError("the exact value is 0 or may be, of which no fraction can be taken; give --margin abs:M")
        return self.size * min(abs(exact.lower), abs(exact.upper))

    def __str__(self) -> str:
        return f"{float(self.size) * 100:g} % of the exact value" if self.relative else f"{float(self.size):g}"


@dataclass(frozen=True)
class Judgement:
    """The verdict on one quantity.

    ``needed`` is the weight (slots, jobs, time) of a run that agrees with about 95 % probability if the simulator
    is right, found from ``source``; ``at_least``: more than that, for the run is too short to tell its own error.
    ``total_error`` adds the sampling half width and the width of the exact enclosure.
    """

    quantity: str
    index: int | None
    exact: Result
    estimate: Estimate
    margin: Margin
    tolerance: float
    verdict: Verdict
    reason: str
    needed: float
    confidence: float = AGREE_AT
    source: str = EXACT
    at_least: bool = False

    @property
    def label(self) -> str:
        return self.quantity if self.index is None else f"{self.quantity}[{self.index}]"

    @property
    def difference(self) -> float:
        return self.estimate.value - midpoint(self.exact.enclosure)

    @property
    def total_error(self) -> float:
        return self.estimate.half_width(self.confidence) + width(self.exact.enclosure)


def judge(
    exact: Result,
    estimate: Estimate,
    *,
    margin: Margin,
    variance_constant: float | None = None,
    reference: Callable[[], float | None] | None = None,
    tests: int = 1,
    alarms: int | None = None,
) -> Judgement:
    """Return the verdict on a simulated long-run average.

    Agrees: the 95 % interval lies within the margin around every value of the exact enclosure.  Disagrees: the
    99.9 % interval lies wholly outside the margin.  Undecided: everything else, and runs too short to trust their
    own interval (fewer than ``LEAST_EFFECTIVE`` independent observations, batches still correlated, no spread).

    Parameters
    ----------
    variance_constant
        lim T Var(estimate from weight T) of the exact model, where it is known.
    reference
        Where it is not, and the run undecided: finds it from a run of the reference simulator, if it can.  Else the
        run's own estimate is used, at its upper end.
    tests, alarms
        Quantities judged together: the chances of a false "agrees" and of a false "disagrees" are divided by these
        numbers, by one number unless ``alarms`` is given.
    """
    tolerance = float(margin.around(exact.enclosure))
    inner = 1 - (1 - AGREE_AT) / tests
    outer = 1 - (1 - DISAGREE_AT) / (alarms or tests)
    settled = variance_constant is not None and abs(variance_constant) <= STILL
    verdict, reason = _decided(exact.enclosure, estimate, tolerance, inner, outer, settled)
    variance, source = max(variance_constant or 0.0, 0.0), EXACT
    if not variance and verdict is Verdict.UNDECIDED and reference is not None:
        variance, source = reference() or 0.0, REFERENCE
    if not variance:
        variance, source = upper_variance(estimate), EXACT if estimate.method == "reported" else OWN
    blind = source is OWN and bool(estimate.effective < LEAST_EFFECTIVE or estimate.correlated)
    needed = _needed(estimate, variance, tolerance, inner)
    return Judgement(
        exact.quantity, exact.index, exact, estimate, margin, tolerance, verdict, reason, needed, inner, source, blind
    )


def upper_variance(estimate: Estimate) -> float:
    """Return the variance constant of a run at the upper end of what its own error allows."""
    if estimate.method == "reported":
        return estimate.variance_constant
    freedom = estimate.batches - 1 if estimate.freedom is None else estimate.freedom
    return estimate.variance_constant * freedom / float(special.chdtri(freedom, 1 - LUCKY))


def _decided(
    exact: Enclosure, estimate: Estimate, tolerance: float, inner: float, outer: float, settled: bool
) -> tuple[Verdict, str]:
    """Return the verdict and why; ``settled``: the exact model does not vary either."""
    lower, upper = float(exact.lower), float(exact.upper)
    if estimate.error == math.inf:
        return Verdict.UNDECIDED, "no error is given for this number, and none can be found"
    if estimate.constant and settled and lower - tolerance <= estimate.value <= upper + tolerance:
        return Verdict.AGREES, "the model has this one value at every moment, and so have the data"
    if estimate.constant:
        return Verdict.UNDECIDED, "all values are equal: a run without spread gives no error to judge by"
    if estimate.effective < LEAST_EFFECTIVE:
        return Verdict.UNDECIDED, (
            f"the run is worth {estimate.effective:.0f} independent observations; at least {LEAST_EFFECTIVE} are needed"
        )
    if estimate.correlated:
        return (
            Verdict.UNDECIDED,
            f"{estimate.batches} batches are still correlated: the run is too short for its memory",
        )
    low, high = estimate.interval(inner)
    if upper - tolerance <= low and high <= lower + tolerance:
        return Verdict.AGREES, f"the {inner:.4g} interval lies within the margin"
    low, high = estimate.interval(outer)
    if high < lower - tolerance or low > upper + tolerance:
        return Verdict.DISAGREES, f"the {outer:.4g} interval lies outside the margin"
    return Verdict.UNDECIDED, "the interval reaches across the edge of the margin"


def _needed(estimate: Estimate, variance: float, tolerance: float, confidence: float) -> float:
    """Return the weight of a planned run: short intervals, and enough independent observations."""
    if tolerance <= 0 or math.sqrt(max(variance, 0.0)) / FARTHEST > tolerance:
        return math.inf
    unit = (math.sqrt(max(variance, 0.0)) / tolerance) ** 2  # at this weight one standard error fills the margin
    needed = unit * PLANNED**2
    if not 0 < needed < math.inf or not estimate.weight > 0 or estimate.constant:
        return needed
    if estimate.sequential:
        fixed = estimate.once().quantile(confidence)
        for _ in range(30):  # the boundary grows like the root of a logarithm: each round changes it less
            wider = estimate.quantile(confidence, needed / estimate.weight)
            if not math.isfinite(wider):
                return math.inf
            needed = unit * (PLANNED + wider - fixed) ** 2
    worth = estimate.effective * estimate.variance_constant / max(variance, estimate.variance_constant)
    return float(max(needed, MEETS * LEAST_EFFECTIVE * estimate.weight / worth)) if worth > 0 else needed


def midpoint(exact: Enclosure) -> float:
    return float((exact.lower + exact.upper) / 2)


def width(exact: Enclosure) -> float:
    return float(exact.upper - exact.lower)


def shown_exact(exact: Enclosure) -> str:
    """Return the exact value as a short fraction with its decimals, or its first certain digits."""
    if not exact.is_exact:
        return f"{exact.short(8)} ({exact.status})"
    text = str(exact.lower)
    if "/" not in text and len(text) < 16:
        return f"{text} (exact)"
    decimal = decimals.truncated(exact.lower, 8)
    decimal = decimal.rstrip("0") if parse(decimal) == exact.lower else decimal + ".."
    return f"{text} = {decimal} (exact)" if len(text) < 16 else f"{decimal} (exact)"


def rounded_up(x: float) -> str:
    """Return a run length with two digits, rounded up."""
    if not math.isfinite(x) or x <= 0:
        return "unknown"
    scale = 10 ** max(0, math.floor(math.log10(x)) - 1)
    return f"{math.ceil(x / scale) * scale:,}".replace(",", " ")
