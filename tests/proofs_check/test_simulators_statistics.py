"""Statistics and verdicts against closed forms, statsmodels and brute force."""

import math

import numpy as np
import pytest
from scipy import stats

from aoi_tools import Actual, Feedback, Periodic, slot_ages
from exactchains.enclosure import Enclosure, Result
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.planning import age_variance_constant, birth_death_variance
from proofs_check.simulators.statistics import MEAN, VARIANCE, estimate, von_neumann
from proofs_check.simulators.verdict import PLANNED, Estimate, Margin, Verdict, judge


def autoregression(n: int, phi: float, seed: int) -> np.ndarray:
    """A stationary AR(1) series with unit innovations: lim n Var(mean) = 1 / (1 - phi)^2."""
    rng = np.random.default_rng(seed)
    x = np.empty(n)
    x[0] = rng.normal() / math.sqrt(1 - phi * phi)
    for i, e in enumerate(rng.normal(size=n - 1)):
        x[i + 1] = phi * x[i] + e
    return x


def of(values) -> Pieces:
    pieces = Pieces()
    pieces.add_values(np.asarray(values, dtype=float))
    return pieces


def test_batch_means_find_the_variance_constant_of_an_autoregression():
    found = [estimate(of(autoregression(8000, 0.6, seed)).array()).variance_constant for seed in range(40)]
    assert np.mean(found) == pytest.approx(1 / 0.4**2, rel=0.1)


def test_batch_means_cover_what_they_promise():
    covered = 0
    for seed in range(200):
        low, high = estimate(of(autoregression(4000, 0.7, seed)).array()).interval(0.95)
        covered += low <= 0 <= high
    assert stats.binomtest(covered, 200, 0.95).pvalue > 1e-3


def test_effective_sample_of_independent_values_is_their_number():
    found = [estimate(of(np.random.default_rng(s).normal(size=4000)).array()).effective for s in range(30)]
    assert np.median(found) == pytest.approx(4000, rel=0.2)


def test_variance_is_estimated_with_its_error():
    inside = 0
    for seed in range(100):
        found = estimate(of(np.random.default_rng(seed).exponential(size=3000)).array(), VARIANCE)
        low, high = found.interval(0.95)
        inside += low <= 1 <= high
    assert inside >= 85


def test_von_neumann_agrees_with_statsmodels():
    durbin_watson = pytest.importorskip("statsmodels.stats.stattools").durbin_watson
    x = autoregression(500, 0.3, 1)
    ours = 1 - von_neumann(x) / math.sqrt((500**2 - 1) / 498)
    assert ours == pytest.approx(durbin_watson(x - x.mean()) / 2, rel=1e-12)


def test_merged_pieces_give_the_same_estimate():
    x = np.random.default_rng(2).exponential(size=50_003)
    w = np.random.default_rng(3).uniform(0.5, 1.5, size=50_003)
    large, small = Pieces(), Pieces(limit=300)
    for part in np.array_split(np.arange(len(x)), 17):
        for pieces in (large, small):
            pieces.add(w[part], w[part] * x[part], w[part] * x[part] ** 2)
    assert small.count == large.count == 50_003 and len(small.array()) <= 601
    assert np.allclose(small.array().sum(axis=0), large.array().sum(axis=0), rtol=1e-12)
    assert estimate(small.array()).value == pytest.approx((w * x).sum() / w.sum(), rel=1e-12)
    assert estimate(small.array()).error == pytest.approx(estimate(large.array()).error, rel=0.3)


@pytest.mark.parametrize("scheme", [Actual("1/3"), Feedback("1/2", "1/10"), Periodic("1/2", "1/10", 2)])
def test_planned_variance_is_that_of_long_runs(scheme):
    means = [slot_ages(scheme, slots=1000, seed=seed).mean() for seed in range(150)]
    planned = age_variance_constant(scheme, lambda j: j)
    assert 1000 * np.var(means, ddof=1) == pytest.approx(planned, rel=0.4)


def test_planned_variance_of_independent_failures():
    # Z geometric with success s; the cycle formula E[(Z(Z-1)/2 - m Z)^2] / E Z summed term by term
    p = 0.5
    z = np.arange(1, 400)
    law = (1 - p) * p ** (z - 1)
    mean = p / (1 - p)
    reward = z * (z - 1) / 2 - mean * z
    assert age_variance_constant(Actual("1/2"), lambda j: j) == pytest.approx((law @ reward**2) / (law @ z), rel=1e-8)


def test_birth_death_variance_of_mm1():
    # time average of the queue of M/M/1 with mu = 1: 2 rho (1 + rho) / (1 - rho)^4 (Whitt 1989)
    rho = 0.6
    law = (1 - rho) * rho ** np.arange(400)
    found = birth_death_variance(law / law.sum(), np.full(400, rho), np.arange(400.0))
    assert found == pytest.approx(2 * rho * (1 + rho) / (1 - rho) ** 4, rel=1e-9)


def result(x) -> Result:
    return Result(Enclosure.exact(x), "slot_mean")


def judged(value: float, error: float, **changes) -> Verdict:
    given = {"batches": 64, "effective": 1e4, "weight": 1e5, "correlated": False, "constant": False} | changes
    return judge(result("2"), Estimate(value, error, **given), margin=Margin.read("5%")).verdict


def test_verdicts_follow_the_two_intervals():
    assert judged(2.0, 0.01) is Verdict.AGREES
    assert judged(2.07, 0.01) is Verdict.AGREES  # well inside 0.1
    assert judged(2.09, 0.01) is Verdict.UNDECIDED  # reaches over the edge
    assert judged(2.11, 0.01) is Verdict.UNDECIDED
    assert judged(2.2, 0.01) is Verdict.DISAGREES
    assert judged(2.13, 0.01) is Verdict.UNDECIDED  # outside with 95 %, not with 99.9 %
    assert judged(2.0, 0.3) is Verdict.UNDECIDED


def test_short_runs_never_decide():
    for value in (2.0, 3.0):
        assert judged(value, 0.01, effective=50) is Verdict.UNDECIDED
        assert judged(value, 0.01, correlated=True) is Verdict.UNDECIDED
        assert judged(value, 0.0, constant=True) is Verdict.UNDECIDED


def test_width_of_the_exact_enclosure_counts():
    wide = Result(
        Enclosure.of(2).__class__(Enclosure.exact("19/10").lower, Enclosure.exact("21/10").upper), "slot_mean"
    )
    near = Estimate(2.0, 0.01, 64, 1e4, 1e5, False, False)
    assert judge(wide, near, margin=Margin.read("abs:1/10")).verdict is Verdict.UNDECIDED
    assert judge(wide, near, margin=Margin.read("abs:1/5")).verdict is Verdict.AGREES


def test_false_alarms_are_rare_and_the_planned_length_decides():
    verdicts = []
    mean, constant = 1 / 3, age_variance_constant(Feedback("1/2", "1/10"), lambda j: j)
    length = math.ceil(constant * (PLANNED / (0.15 * mean)) ** 2)
    for seed in range(60):
        ages = slot_ages(Feedback("1/2", "1/10"), slots=length, seed=seed)
        found = estimate(of(ages).array())
        verdicts.append(judge(result("1/3"), found, margin=Margin.read("15%")).verdict)
    assert Verdict.DISAGREES not in verdicts
    assert verdicts.count(Verdict.AGREES) >= 50


def test_mean_of_weighted_pieces_is_the_ratio():
    pieces = Pieces()
    pieces.add(np.array([1.0, 3.0]), np.array([2.0, 3.0]), np.array([4.0, 3.0]))
    weight, first, _ = pieces.array().sum(axis=0)
    assert MEAN.value(first / weight, 0) == 5 / 4
