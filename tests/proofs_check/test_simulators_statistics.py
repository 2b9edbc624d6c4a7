"""Statistics and verdicts against closed forms, statsmodels and brute force."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from aoi_tools import Actual, Feedback, Periodic, slot_ages
from exactchains.enclosure import Enclosure, Result
from proofs_check.catalogue import find
from proofs_check.simulators.knowledge import knowledge
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.planning import age_variance_constant, birth_death_variance
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.statistics import MEAN, VARIANCE, estimate, von_neumann
from proofs_check.simulators.validation import validate
from proofs_check.simulators.verdict import EXACT, OWN, PLANNED, REFERENCE, Estimate, Margin, Verdict, judge
from proofs_check.simulators.wording import lines


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
    from statsmodels.stats.stattools import durbin_watson

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


def knowing(model, **words):
    subject = find(model)
    values = subject.read(words)
    return knowledge(subject, values, subject.build(values))


@pytest.mark.parametrize("load", ["1/2", "4/5", "9/10"])
def test_variance_of_jobs_of_mm1_by_two_routes_and_in_closed_form(load):
    # waits: Daley (1968); responses: the queue as a birth-death process, against the work of M/G/1 with phases
    rho, mm1, mg1 = float(Fraction(load)), knowing("mm1", lam=load, mu="1"), knowing("mg1", lam=load, service="exp:1")
    chain = mm1.chain()
    daley = rho * (2 + 5 * rho - 4 * rho**2 + rho**3) / (1 - rho) ** 4
    for known in (mm1, mg1):
        assert known.variance_constant("mean_wait", None, "Jobs") == pytest.approx(daley, rel=1e-12)
        responses = known.variance_constant("mean_response", None, "Jobs")
        assert responses == pytest.approx(chain.job_variance(lambda n: n), rel=1e-6)
        for quantity in ("mean_queue", "mean_wait"):
            over_time = known.variance_constant(quantity, None, "Levels")
            value = (lambda n: n) if quantity == "mean_queue" else (lambda n: np.maximum(n - 1, 0) / rho)
            assert over_time == pytest.approx(chain.variance_constant(value), rel=1e-6)
    assert chain.job_variance(lambda n: np.maximum(n - 1, 0)) == pytest.approx(daley, rel=1e-6)


@pytest.mark.parametrize(
    ("model", "words", "quantity"),
    [
        ("md1", {"lam": "1/2", "mu": "1"}, "mean_wait"),
        ("mg1", {"lam": "1/2", "service": "erlang:2,2"}, "mean_response"),
        ("mg1", {"lam": "1/3", "service": "hyper:1/4*1/3,3/4*3"}, "mean_response"),
        ("mm1", {"lam": "1/2", "mu": "1"}, "peak_mean"),
        ("mmc", {"lam": "1", "mu": "1", "c": "3"}, "mean_response"),
        ("mm1k", {"lam": "1", "mu": "1", "k": "4"}, "mean_response"),
    ],
)
def test_variance_of_jobs_is_that_of_reference_runs(model, words, quantity):
    subject = find(model)
    values, means = subject.read(words), []
    for seed in range(150):
        _, rows = job_trace(model, values, jobs=1500, seed=seed)
        arrive, start, end = rows.T[1:]
        jobs = {"mean_wait": start - arrive, "mean_response": end - arrive, "peak_mean": end[1:] - arrive[:-1]}
        means.append(jobs[quantity].mean())
    low, high = 149 * np.var(means, ddof=1) / stats.chi2.ppf([0.9999, 0.0001], 149)
    exact = knowing(model, **words).variance_constant(quantity, None, "Jobs")
    assert low < exact / len(jobs[quantity]) < high


@pytest.mark.parametrize(
    ("model", "words", "quantity", "margin", "source"),
    [
        ("mm1", {"lam": "4/5", "mu": "1"}, "mean_response", "20%", EXACT),
        ("mm1", {"lam": "1/2", "mu": "1"}, "age_mean", "15%", REFERENCE),
        ("dm1", {"lam": "1/2", "mu": "1"}, "mean_response", "15%", REFERENCE),
    ],
)
def test_the_length_named_after_a_very_short_run_decides(model, words, quantity, margin, source):
    subject = find(model)
    values = subject.read(words)

    def judged(jobs, seed):
        header, rows = job_trace(model, values, jobs=jobs, seed=seed)
        data = dict(zip(header, rows.T, strict=True))
        return validate(model, words, data, quantities=[quantity], margin=margin).findings[0].judgement

    short = [judged(200, seed) for seed in range(3)]
    assert {j.source for j in short} == {source} and not any(j.at_least for j in short)
    length = math.ceil(min(j.needed for j in short) * (float(values["lam"]) if quantity == "age_mean" else 1))
    verdicts = [judged(length, seed).verdict for seed in range(100, 120)]
    assert verdicts.count(Verdict.AGREES) >= 16 and Verdict.DISAGREES not in verdicts


def test_a_run_that_cannot_tell_its_own_error_names_a_lower_bound():
    rng = np.random.default_rng(0)
    waits = np.convolve(rng.exponential(size=400), np.ones(60) / 60)[60:400]  # bare values: no model knows their memory
    found = validate("mm1", {"lam": "1/2", "mu": "1"}, {"value": waits}, quantities=["mean_wait"])
    judgement = found.findings[0].judgement
    assert judgement.at_least and judgement.source == OWN
    assert any("needed      more than" in line for line in lines(found))


def test_a_planned_run_is_worth_the_observations_that_a_verdict_needs():
    short = Estimate(1.0, 0.1, 20, 50, 50, False, False)  # 50 independent observations of variance 1/2
    found = judge(result("1"), short, margin=Margin.read("90%"))
    assert found.verdict is Verdict.UNDECIDED and found.needed >= 100
    assert judge(result("1"), short, margin=Margin.read("90%"), variance_constant=2.0).needed >= 400
