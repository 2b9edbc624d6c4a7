"""Interval methods against closed forms, brute force, statsmodels and arviz; sequences at every look; Holm."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from exactchains import InputError
from exactchains.enclosure import Enclosure, Result
from proofs_check.catalogue import find
from proofs_check.simulators import intervals
from proofs_check.simulators.cycles import grouped
from proofs_check.simulators.holm import step_down
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.statistics import Estimate, estimate
from proofs_check.simulators.validation import Rule, validate
from proofs_check.simulators.verdict import DISAGREE_AT, Margin, Verdict, judge

HALF = {"lam": "1/2", "mu": "1"}


def autoregression(n: int, phi: float, seed: int) -> np.ndarray:
    """A stationary AR(1) series with unit innovations: lim n Var(mean) = 1 / (1 - phi)^2."""
    e = np.random.default_rng(seed).normal(size=n)
    e[0] /= math.sqrt(1 - phi * phi)
    return lfilter([1], [1, -phi], e)


def rows(values: np.ndarray) -> np.ndarray:
    pieces = Pieces()
    pieces.add_values(values)
    return pieces.array()


@pytest.mark.parametrize("name", ["batch", "overlapping", "spectral"])
def test_methods_find_the_variance_constant_of_an_autoregression_and_cover(name):
    found = [estimate(rows(autoregression(4000, 0.6, seed)), method=name) for seed in range(150)]
    variance = np.mean([e.variance_constant for e in found])  # the search for batches errs upward, by 8 % on average
    assert variance == pytest.approx(1 / 0.4**2, rel=0.15)
    covered = sum(low <= 0 <= high for low, high in (e.interval(0.95) for e in found))
    assert stats.binomtest(covered, len(found), 0.95).pvalue > 1e-3


def mm1_waits(n: int, load: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    net = np.cumsum(np.concatenate([[0.0], rng.exponential(1, n - 1) - rng.exponential(1 / load, n - 1)]))
    return net - np.minimum.accumulate(net)


@pytest.mark.parametrize("name", ["batch", "overlapping", "spectral"])
@pytest.mark.parametrize(
    "series", [lambda seed: autoregression(8000, 0.8, seed), lambda seed: mm1_waits(60_000, 0.5, seed)]
)
def test_errors_and_independent_observations_are_those_of_arviz(name, series):
    # arviz: Geyer's initial monotone sequence of autocovariances, another route to the same two numbers
    from arviz_stats.base import array_stats as arviz

    errors, sizes = [], []
    for seed in range(30):
        x = series(seed)
        ours = estimate(rows(x), method=name)
        errors.append(ours.error / float(arviz.mcse(x[None, :], method="mean")))
        sizes.append(ours.effective / float(arviz.ess(x[None, :], method="mean")))
    assert np.mean(errors) == pytest.approx(1, abs=0.08) and min(errors) > 0.6 and max(errors) < 1.6
    assert np.median(sizes) == pytest.approx(1, abs=0.15)


def test_overlapping_is_the_sum_over_all_windows():
    pull = autoregression(331, 0.5, 1)
    b = len(pull) // len(intervals.chosen_batches(pull))
    means = [pull[j : j + b].mean() for j in range(331 - b + 1)]
    variance = 331 * b / ((331 - b + 1) * (331 - b)) * sum((m - pull.mean()) ** 2 for m in means)
    assert intervals.overlapping(pull).deviation == pytest.approx(math.sqrt(331 * variance), rel=1e-10)


def test_spectral_agrees_with_statsmodels():
    from statsmodels.stats.sandwich_covariance import S_hac_simple as hac

    pull = autoregression(700, 0.5, 2)
    b = 700 // len(intervals.chosen_batches(pull))
    theirs = float(np.squeeze(hac((pull - pull.mean())[:, None], nlags=b - 1)))  # weights 1 - k / (nlags + 1)
    assert intervals.spectral(pull).deviation == pytest.approx(math.sqrt(theirs / (1 - b / 700)), rel=1e-9)


def test_grouped_sums_whole_cycles_only():
    begins = np.array([False, True, False, True, True, False])
    weight, value = np.array([9.0, 1, 2, 3, 4, 5]), np.array([9.0, 1, 2, 0, 3, 7])
    assert grouped(weight, value, begins).tolist() == [[3, 5, 9], [3, 0, 0]]


def test_regenerative_ratio_by_a_plain_loop():
    header, table = job_trace("mm1", find("mm1").read(HALF), jobs=20_000, seed=4)
    jobs = dict(zip(header, table.T, strict=True))
    found = validate("mm1", HALF, jobs, quantities=["mean_wait"], rule=Rule("regenerative")).findings[0].judgement
    cycles, free = [], 0.0
    for a, s, e in zip(jobs["t_arrive"], jobs["t_start"], jobs["t_end"], strict=True):
        if a >= free:
            cycles.append([0, 0.0])
        cycles[-1][0] += 1
        cycles[-1][1] += s - a
        free = max(free, e)
    tau, y = np.array(cycles[:-1]).T
    ratio = y.sum() / tau.sum()
    error = math.sqrt(np.var(y - ratio * tau, ddof=1) / len(tau)) / tau.mean()
    assert found.estimate.batches == len(tau)
    assert found.estimate.value == pytest.approx(ratio, rel=1e-12)
    daley = 29  # lim n Var(mean of n waits) at load 1/2, rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4
    assert found.estimate.error == pytest.approx(math.sqrt((error**2 + daley / tau.sum()) / 2), rel=1e-9)
    assert len(tau) == pytest.approx(10_000, rel=0.05)  # a job finds M/M/1 empty with probability 1 - rho


@pytest.mark.parametrize("quantity", ["mean_response", "mean_queue", "tail"])
def test_regenerative_errors_are_those_of_batch_means(quantity):
    header, table = job_trace("mm1", find("mm1").read(HALF), jobs=60_000, seed=5)
    jobs = dict(zip(header, table.T, strict=True))
    one, two = (
        validate("mm1", HALF, jobs, quantities=[quantity], indices=[2], rule=Rule(name)).findings[0].judgement
        for name in ("batch", "regenerative")
    )
    assert two.estimate.value == pytest.approx(one.estimate.value, rel=1e-3)
    assert two.estimate.error == pytest.approx(one.estimate.error, rel=0.35)
    assert one.verdict is two.verdict is Verdict.AGREES


def test_cycles_of_slot_ages_and_level_paths():
    ages = {"age": np.array([3.0, 0, 1, 0, 0, 1, 2] * 600)}
    once = {"quantities": ["slot_mean"], "rule": Rule("regenerative")}
    found = validate("age.actual", {"p": "1/2"}, ages, **once).findings[0].judgement
    assert found.estimate.batches == 3 * 600 - 1
    path = {
        "t": np.arange(4001) + np.tile([0, 0.5, 0.25, 0.5], 1001)[:4001],
        "level": np.tile([0, 1, 2, 1], 1001)[:4001],
    }
    found = validate("mm1", HALF, path, quantities=["mean_queue"], rule=Rule("regenerative")).findings[0].judgement
    assert found.estimate.batches == 999 and found.estimate.value == pytest.approx((0.75 + 2 * 1.25 + 0.5) / 4)


def test_data_without_visible_cycles_are_refused():
    values = np.random.default_rng(1).exponential(size=500)
    with pytest.raises(InputError, match="starts afresh"):
        validate("mm1", HALF, values, quantities=["mean_wait"], rule=Rule("regenerative"))
    with pytest.raises(InputError, match="--interval 'naive'"):
        Rule("naive")


def misses(n: int, runs: int, known: float | None) -> np.ndarray:
    """Return how many 95 % intervals of M/M/1 waits at load 1/2 end below, and begin above, the exact mean 1."""
    found = np.zeros(2)
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        net = np.cumsum(np.concatenate([[0.0], rng.exponential(1, n - 1) - rng.exponential(2, n - 1)]))
        low, high = estimate(rows(net - np.minimum.accumulate(net)), variance_constant=known).interval(0.95)
        found += high < 1, low > 1
    return found


def test_variance_of_the_model_and_skewness_bring_intervals_of_waits_to_their_level():
    own, both = misses(4000, 400, None), misses(4000, 400, 29.0)
    assert stats.binomtest(int(own.sum()), 400, 0.05).pvalue > 1e-3
    assert stats.binomtest(int(both.sum()), 400, 0.05).pvalue > 1e-3
    assert both[0] < own[0]


def test_an_error_larger_than_the_model_allows_is_kept():
    assert intervals.averaged(1.0, 63, 0.9) == (math.sqrt(0.905), 252)
    assert intervals.averaged(0.1, 63, 0.9) == (math.sqrt(0.41), 252)  # wider than its own, never trusted to be shorter
    assert intervals.averaged(1.0, 63, 0.5) is intervals.averaged(1.0, 63, 0.0) is None
    assert intervals.averaged(1.0, 63, math.inf) is None
    x = autoregression(4000, 0.6, 1)
    with_model, without = (estimate(rows(x), variance_constant=c) for c in (1 / 0.4**2, None))
    assert with_model.modelled and not without.modelled and with_model.effective == without.effective


def test_skewness_moves_only_the_end_on_its_side():
    shift = 0.8 * (1 + 2 * 4) / (6 * 4)
    assert intervals.skewed(2.0, 0.8, 16) == (2.0, pytest.approx(2 + shift))
    assert intervals.skewed(2.0, -0.8, 16) == (pytest.approx(2 + shift), 2.0)
    x = np.random.default_rng(1).exponential(size=40)
    assert intervals.skewness(x) == pytest.approx(stats.skew(x, bias=False)) and intervals.skewness(np.ones(9)) == 0


def test_boundary_of_the_confidence_sequence_is_robbins():
    # at t = 1: P(|B| crosses sqrt((t + 1) log((t + 1) / alpha^2))) = alpha over all t
    assert intervals.quantile(0.95, 1e9, 1.0) == pytest.approx(math.sqrt(2 * math.log(2 / 0.05**2)), rel=1e-6)
    assert intervals.quantile(0.95, 20, 1.0) > intervals.quantile(0.95, 1e9, 1.0)
    assert intervals.quantile(0.95, 20) == pytest.approx(stats.t.ppf(0.975, 20), rel=1e-12)


def test_sequences_hold_at_every_look_where_intervals_do_not():
    looks, missed = np.unique(np.geomspace(1000, 16_000, 30).astype(int)), {False: 0, True: 0}
    for seed in range(50):
        x = autoregression(16_000, 0.5, seed)
        for sequential in missed:
            found = (estimate(rows(x[:n]), sequential=sequential) for n in looks)
            missed[sequential] += any(abs(e.value) > e.half_width(0.95) for e in found)
    assert missed[True] <= 3 and missed[False] >= 6


def test_a_sequential_verdict_needs_a_longer_run():
    x = np.random.default_rng(3).exponential(size=3000)
    once, often = (
        judge(Result(Enclosure.exact("1"), "mean"), estimate(rows(x), sequential=s), margin=Margin.read("5%"))
        for s in (False, True)
    )
    assert once.needed < often.needed < 4 * once.needed
    assert once.total_error < often.total_error


def pvalues(estimates: list[Estimate], sizes: list[float], tolerance: float) -> list[float]:
    """The level at which "disagrees" is just reached, from the t distribution."""
    return [
        2 * stats.t.sf((abs(size) - tolerance) / e.error, e.batches - 1)
        for e, size in zip(estimates, sizes, strict=True)
    ]


@pytest.mark.parametrize("seed", range(25))
def test_step_down_is_holm(seed):
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(seed)
    sizes = rng.uniform(0.05, 0.1, 5) * rng.choice([0.5, 1.0], 5) + 0.05
    estimates = [Estimate(1 + d, 0.01, 64, 1e4, 1e5, False, False) for d in sizes]
    exact = Result(Enclosure.exact("1"), "mean")
    judged = [
        (lambda tests, alarms, e=e: judge(exact, e, margin=Margin.read("5%"), tests=tests, alarms=alarms))
        for e in estimates
    ]
    ours = [found.verdict is Verdict.DISAGREES for found in step_down(judged)]
    theirs = multipletests(pvalues(estimates, list(sizes), 0.05), alpha=1 - DISAGREE_AT, method="holm")[0]
    assert ours == theirs.tolist()


def test_holm_decides_what_bonferroni_leaves_open():
    exact = Result(Enclosure.exact("1"), "mean")
    near, edge = (Estimate(1 + d, 0.01, 10**6, 1e4, 1e5, False, False) for d in (0.0, 0.0300))
    edge_alone = judge(exact, edge, margin=Margin.read("5%"), tests=2)
    assert edge_alone.verdict is Verdict.UNDECIDED
    both = step_down([partial(_judged, exact, near), partial(_judged, exact, edge)])
    assert [found.verdict for found in both] == [Verdict.AGREES, Verdict.AGREES]


def _judged(exact: Result, found: Estimate, tests: int, alarms: int):
    return judge(exact, found, margin=Margin.read("5%"), tests=tests, alarms=alarms)
