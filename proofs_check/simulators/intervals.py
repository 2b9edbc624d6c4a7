"""Standard errors of long-run averages by the classical methods, and the width of intervals that hold at every look."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats

BATCHES = (64, 48, 32, 24, 20, 16, 12, 10)
ALIKE = 0.05  # an own variance so improbable for the model is not averaged with the model's
CORRELATED = 0.3  # von Neumann ratios above this many standard deviations send the search to fewer, longer batches
LOOKS_FROM = 100  # a confidence sequence is narrowest, and believed, from so many independent observations on


@dataclass(frozen=True)
class Spread:
    """What a method says about a sum of n terms: its standard deviation, and the degrees of freedom behind it.

    ``batches`` are the sums whose serial correlation tells whether the run is too short for its memory.
    """

    deviation: float
    freedom: float
    batches: Floats


def batch_means(pull: Floats) -> Spread:
    r"""Return the spread from k batch sums: :math:`\sqrt{k}\, s`, k - 1 degrees of freedom."""
    sums = chosen_batches(pull)
    return Spread(math.sqrt(len(sums)) * float(np.std(sums, ddof=1)), len(sums) - 1, sums)


def overlapping(pull: Floats) -> Spread:
    r"""Return the spread from overlapping batches of length b, the length that :func:`batch_means` chooses.

    .. math:: \hat\sigma^2 = \frac{n}{b\,(1 - b/n)\,(n - b + 1)} \sum_j (S_j - b \bar y)^2,

    S_j the sum of the b terms from j on; 3/2 (n/b - 1) degrees of freedom.

    Source
    ------
    M. S. Meketon and B. Schmeiser, Overlapping batch means: something for nothing?, Proc. WSC 1984.
    """
    n, (b, sums) = len(pull), _length(pull)
    total = np.concatenate([[0.0], np.cumsum(pull - pull.mean())])
    squares = float(np.sum((total[b:] - total[:-b]) ** 2))
    variance = n * squares / (b * (1 - b / n) * (n - b + 1))
    return Spread(math.sqrt(variance), 1.5 * (n / b - 1), sums)


def spectral(pull: Floats) -> Spread:
    r"""Return the spread from the spectral density at 0 with Bartlett's window of b lags, b as in :func:`batch_means`.

    .. math:: \hat\sigma^2 = n\left(\hat\gamma_0 + 2 \sum_{k<b} (1 - k/b)\, \hat\gamma_k\right)\frac{1}{1 - b/n},

    with the autocovariances over n; 3/2 (n/b - 1) degrees of freedom.  The last factor takes away the bias from
    subtracting the run's own mean.

    Source
    ------
    M. S. Bartlett, Periodogram analysis and continuous spectra, Biometrika 37 (1950).
    """
    n, (b, sums) = len(pull), _length(pull)
    centred = pull - pull.mean()
    power = np.abs(np.fft.rfft(centred, 1 << (n + b).bit_length())) ** 2
    gamma = np.fft.irfft(power)[:b] / n
    window = 1 - np.arange(b) / b
    variance = n * (2 * float(window @ gamma) - float(gamma[0])) / (1 - b / n)
    return Spread(math.sqrt(max(variance, 0.0)), 1.5 * (n / b - 1), sums)


def regenerative(cycles: Floats) -> Spread:
    r"""Return the spread from independent cycles, one entry each: :math:`\sqrt{m}\, s`, m - 1 degrees of freedom.

    For the linearised ratio :math:`Y_i - r \tau_i` this is the classical ratio estimator.

    Source
    ------
    M. A. Crane and D. L. Iglehart, Simulating stable stochastic systems III, Operations Research 23 (1975).
    """
    return Spread(math.sqrt(len(cycles)) * float(np.std(cycles, ddof=1)), len(cycles) - 1, cycles)


METHODS: dict[str, Callable[[Floats], Spread]] = {
    "batch": batch_means,
    "overlapping": overlapping,
    "regenerative": regenerative,
    "spectral": spectral,
}


def method(name: str) -> Callable[[Floats], Spread]:
    """Return a method by its name."""
    if name not in METHODS:
        raise InputError(f"--interval {name[:40]!r}: allowed are {', '.join(METHODS)}")
    return METHODS[name]


def quantile(confidence: float, freedom: float, looks: float | None = None) -> float:
    r"""Return the half width of an interval in standard errors.

    Parameters
    ----------
    freedom
        Degrees of freedom of the standard error.
    looks
        None: Student's t, for one look at a run of a length settled beforehand.  A number r: a confidence
        sequence, for a run whose weight now is r times that of ``LOOKS_FROM`` independent observations.

    Notes
    -----
    The confidence sequence is Robbins' normal mixture: with probability ``confidence`` a Brownian motion stays below
    :math:`\sqrt{(t + 1) \log((t + 1) / \alpha^2)}` at all times t; at t = r, in standard deviations
    :math:`\sqrt{t}`, its tail probability is then taken on the t scale, for the error is itself estimated.

    Guarantee
    ---------
    Asymptotic, as batch means are.

    Source
    ------
    H. Robbins, Statistical methods related to the law of the iterated logarithm, Ann. Math. Stat. 41 (1970);
    I. Waudby-Smith et al., Time-uniform central limit theory and asymptotic confidence sequences (2021).
    """
    if looks is None:
        return _upper_t((1 - confidence) / 2, freedom)
    if looks <= 0:
        return math.inf
    bound = math.sqrt((looks + 1) / looks * math.log((looks + 1) / (1 - confidence) ** 2))
    return _upper_t(float(special.ndtr(-bound)), freedom)


def _upper_t(chance: float, freedom: float) -> float:
    """Return what Student's t exceeds with a chance; scipy.special loads in half the time of scipy.stats."""
    return -float(special.stdtrit(freedom, chance)) if chance > 0 else math.inf


def skewed(quantile: float, skewness: float, batches: int) -> tuple[float, float]:
    r"""Return how far an interval reaches below and above, in standard errors, when the batches are skewed.

    The studentised mean of k batches of skewness :math:`\gamma` has the lower quantile
    :math:`-t - \gamma (1 + 2 t^2) / (6 \sqrt{k})` to first order: an average that came out low has a standard error
    that came out low too.  Only the end that this moves outward is moved.

    Source
    ------
    N. J. Johnson, Modified t tests and confidence intervals for asymmetrical populations, JASA 73 (1978).
    """
    shift = skewness * (1 + 2 * quantile**2) / (6 * math.sqrt(batches))
    return quantile + max(-shift, 0.0), quantile + max(shift, 0.0)


def skewness(x: Floats) -> float:
    """Return the adjusted sample skewness (G1); 0 for fewer than three values or no spread."""
    d, n = x - x.mean(), len(x)
    square = float(np.mean(d * d))
    if n < 3 or square == 0:
        return 0.0
    return float(np.mean(d**3)) / square**1.5 * math.sqrt(n * (n - 1)) / (n - 2)


def averaged(own: float, freedom: float, known: float) -> tuple[float, float] | None:
    r"""Return (error, degrees of freedom) from a run's own error and that of the exact model over a run of that length.

    The variances are averaged, 4 times the degrees of freedom (Satterthwaite).  The average is less at the mercy of the
    run than its own error is, and the model's alone would take the model for granted, which is what is in question.
    None: the own variance is larger than a run of the model has with probability ``ALIKE``.
    """
    if not known > 0 or not math.isfinite(known) or own**2 > known**2 * special.chdtri(freedom, ALIKE) / freedom:
        return None
    return math.sqrt((own**2 + known**2) / 2), 4 * freedom


def chosen_batches(values: Floats) -> Floats:
    """Return batch sums: as many as show no positive serial correlation, of lengths that differ by one at most."""
    sums = values
    for count in BATCHES:
        if len(values) >= 2 * count:
            sums = np.add.reduceat(values, np.arange(count) * len(values) // count)
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


def _length(pull: Floats) -> tuple[int, Floats]:
    """Return the length of the batches that :func:`chosen_batches` finds, and their sums."""
    sums = chosen_batches(pull)
    return max(1, len(pull) // len(sums)), sums
