"""Ages in continuous time: event simulation, published closed formulas, cross routes, certified tails."""

from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, fmpq

from aoi_tools.models.queues import (
    Blocking,
    Deterministic,
    Erlang,
    LastCome,
    Mixture,
    PoissonFirstCome,
    Preemptive,
    Replacement,
    law,
)
from aoi_tools.solvers.continuous import age_moments, age_tail, gm1
from exactchains import QQ, Balls, DoesNotExist, Fractions, InputError
from exactchains.series import Series
from proofs_check.catalogue import find

F = Fractions("lam", "mu")
LAM, MU = F.gens
D = Balls(128)


def value(model: str, quantity: str, digits: int = 15, index: int = 0, **words: str):
    entry = find(model)
    return entry.results(entry.make(words), [quantity], [index], digits)[0]


# ---------------------------------------------------------------- simulation: follows updates one by one

Deliveries = list[tuple[float, float]]  # (delivery time, generation time), only those that lower the age


def simulate(discipline: str, gaps: np.ndarray, works: np.ndarray) -> Deliveries:
    """Play the queue event by event: arrivals at cumulated gaps; the i-th service to start takes works[i]."""
    arrivals, found = np.cumsum(gaps), []
    waiting: list[float] = []
    serving, done, started, freshest, i = None, np.inf, 0, -1.0, 0
    while i < len(arrivals):
        if arrivals[i] < done:
            now, i = arrivals[i], i + 1
            if serving is None or discipline == "preemptive":
                serving, done, started = now, now + works[started], started + 1
            elif discipline == "replacement":
                waiting = [now]
            elif discipline != "blocking":
                waiting.append(now)
        else:
            now = done
            if serving > freshest:
                freshest = serving
                found.append((now, serving))
            serving, done = None, np.inf
            if waiting:
                serving = waiting.pop(-1 if discipline == "lcfs" else 0)
                done, started = now + works[started], started + 1
    return found


def observed(found: Deliveries, level: float) -> np.ndarray:
    """Rows of (mean, second moment, P(A > level), mean peak) over 50 batches of deliveries."""
    times, made = np.array(found).T
    low, high = times[:-1] - made[:-1], times[1:] - made[:-1]
    parts = np.array(
        [(high**2 - low**2) / 2, (high**3 - low**3) / 3, np.maximum(high - np.maximum(low, level), 0), high, high - low]
    )
    keep = parts.shape[1] // 50 * 50
    sums = parts[:, :keep].reshape(5, 50, -1).sum(axis=2)
    return np.array([sums[0] / sums[4], sums[1] / sums[4], sums[2] / sums[4], sums[3] / (keep // 50)]).T


RNG_GAPS: dict[str, Callable] = {"exp": lambda r, n: r.exponential(2.0, n), "det": lambda r, n: np.full(n, 2.0)}
HYPER = "hyper:1/3*3,2/3*3/2"
CASES = [
    ("mm1", "fcfs", "exp", "exp", {}),
    ("md1", "fcfs", "exp", "det", {}),
    ("dm1", "fcfs", "det", "exp", {}),
    ("lcfs", "lcfs", "exp", "exp", {}),
    ("lcfs-preemptive", "preemptive", "exp", "exp", {}),
    ("mm11", "blocking", "exp", "exp", {}),
    ("mm12-replacement", "replacement", "exp", "exp", {}),
]


@pytest.mark.parametrize(
    ("model", "discipline", "gap", "work", "extra"), CASES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_moments_and_tail_against_event_simulation(model, discipline, gap, work, extra):
    rng = np.random.default_rng(11)
    n = 60_000
    works = rng.exponential(1.0, n) if work == "exp" else np.ones(n)
    rows = observed(simulate(discipline, RNG_GAPS[gap](rng, n), works), 3.0)
    words = {"lam": "1/2", "mu": "1", "at": "3"} | extra
    mean, variance, tail, peak = (
        value(model, q, **words) for q in ("age_mean", "age_variance", "age_ccdf", "peak_mean")
    )
    exact = [mean.lower, variance.lower + mean.lower**2, tail.lower, peak.lower]
    for column, expected in zip(rows.T, exact, strict=True):
        half = 5 * column.std(ddof=1) / np.sqrt(50)
        assert abs(column.mean() - int(expected.p) / int(expected.q)) < half


def test_general_services_against_event_simulation():
    """Preemption, blocking and replacement with constant services, first come with hyperexponential ones."""
    rng = np.random.default_rng(5)
    n = 60_000
    gaps = rng.exponential(2.0, n)
    mixed = np.where(rng.random(n) < 1 / 3, rng.exponential(1 / 3, n), rng.exponential(2 / 3, n))
    for discipline, works, made in (
        ("preemptive", np.ones(n), Preemptive("1/2", Deterministic(1))),
        ("blocking", np.ones(n), Blocking("1/2", Deterministic(1))),
        ("replacement", np.ones(n), Replacement("1/2", Deterministic(1))),
        ("fcfs", mixed, PoissonFirstCome("1/2", law(HYPER))),
    ):
        rows = observed(simulate(discipline, gaps, works), 3.0)
        found = age_moments(made, D)
        second = found.age_variance + found.age_mean * found.age_mean
        for column, expected in zip(rows.T[[0, 1, 3]], (found.age_mean, second, found.peak_mean), strict=True):
            assert abs(column.mean() - float(expected.mid())) < 5 * column.std(ddof=1) / np.sqrt(50)


# ---------------------------------------------------------------- closed formulas


def test_symbolic_means_are_the_published_formulas():
    """Kaul, Yates, Gruteser 2012 (M/M/1, LCFS); Costa, Codreanu, Ephremides 2016 (M/M/1/1)."""
    rho = LAM / MU
    mean = {
        PoissonFirstCome: (1 + 1 / rho + rho**2 / (1 - rho)) / MU,
        Blocking: 1 / LAM + 2 / MU - 1 / (LAM + MU),
        Preemptive: 1 / LAM + 1 / MU,
    }
    for kind, expected in mean.items():
        assert age_moments(kind(LAM, Erlang(MU)), F).age_mean == expected
    assert age_moments(LastCome(LAM, MU), F).age_mean == (1 + 1 / rho + rho**2) / MU
    assert age_moments(Preemptive(LAM, Erlang(MU)), F).age_variance == 1 / LAM**2 + 1 / MU**2


def test_variance_of_constant_service_is_right():
    """At rate 1/2 and service 1: 3.79, not 8.0 as a published package has it."""
    md1, dm1 = value("md1", "age_variance", 30, lam="1/2", mu="1"), value("dm1", "age_variance", 30, lam="1/2", mu="1")
    assert md1.digits(12) == "3.79201500661" and dm1.digits(12) == "1.90836078037"
    as_mg1 = value("mg1", "age_variance", 30, lam="1/2", service="det:1")
    as_gm1 = value("gm1", "age_variance", 30, arrivals="det:2", mu="1")
    assert md1.enclosure.overlaps(as_mg1.enclosure) and dm1.enclosure.overlaps(as_gm1.enclosure)


def test_two_routes_to_mm1():
    """M/M/1 as M/G/1 (exact) and as G/M/1 (root sigma = rho in balls)."""
    exact = age_moments(PoissonFirstCome("1/3", Erlang("5/7")), QQ)
    balls = age_moments(gm1(Erlang("1/3"), fmpq(5, 7), D), D)
    for name in ("age_mean", "age_variance", "peak_mean", "peak_variance", "sojourn_mean"):
        ball, x = getattr(balls, name), getattr(exact, name)
        assert abs(ball.mid().fmpq() - x) <= ball.rad().fmpq() < fmpq(1, 10**25)


@pytest.mark.parametrize(
    "made",
    [
        PoissonFirstCome("1/2", Erlang(1)),
        PoissonFirstCome("1/3", Erlang(2, 2)),
        Replacement("3/2", Erlang(1)),
        LastCome("1/2", 1),
        PoissonFirstCome("1/2", Deterministic(1)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_tail_integrates_to_the_mean(made):
    """Simpson over a fine grid: the area under P(A > x) is E A, twice that under x P(A > x) the second moment."""
    found = age_moments(made, D)
    step, top = fmpq(1, 2), 130
    values = [float(age_tail(made, step * i, D).mid()) for i in range(top + 1)]
    assert values == sorted(values, reverse=True) and abs(values[0] - 1) < 1e-12
    weights = np.ones(top + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    x = np.arange(top + 1) / 2
    area, second = ((weights * v).sum() / 6 for v in (np.array(values), 2 * x * np.array(values)))
    assert abs(area - float(found.age_mean.mid())) < 5e-3
    assert abs(second - float((found.age_variance + found.age_mean**2).mid())) < 5e-2


def test_exact_tail_of_fake_update_queue():
    """Preemptive M/M/1/1: the age is the sum of two independent exponentials."""
    with D.working():
        x = D.convert(fmpq(7, 3))
        expected = 2 * (-x / 2).exp() - (-x).exp()
        assert abs(age_tail(Preemptive("1/2", Erlang(1)), fmpq(7, 3), D) - expected) < 1e-30


def test_far_tails_keep_their_digits():
    """Two exponentials at 10^4 and 10^6; M/D/1 is e^{-lam (x - 1)} but for the tail of the wait, about e^{-1.25 x}."""
    with Balls(200).working():
        for x in (10**4, 10**6):
            exact = 2 * (arb(-x) / 2).exp() - arb(-x).exp()
            found = value("lcfs-preemptive", "age_ccdf", 20, lam="1/2", mu="1", at=str(x)).enclosure
            assert found.has_digits(20) and abs(arb(found.lower) / exact - 1) < 1e-19
        found = value("md1", "age_ccdf", 20, lam="1/2", mu="1", at="1000").enclosure
        assert found.has_digits(20) and abs(arb(found.lower) / (arb(-999) / 2).exp() - 1) < 1e-19


def test_an_age_that_is_exceeded_for_certain_is_exact():
    for model, at in (("md1", "0"), ("md1", "1/2"), ("md1", "1"), ("mm1", "0"), ("dm1", "0"), ("mm11", "0")):
        found = value(model, "age_ccdf", lam="1/3", mu="1", at=at)
        assert found.status == "exact" and found.value == 1 and "exact" in found.method


def test_delays():
    assert value("md1", "mean_wait", lam="1/2", mu="1").value == fmpq(1, 2)
    assert (
        value("mm1", "mean_queue", lam="1/2", mu="1").value
        == 1
        == value("mm1-ps", "mean_queue", lam="1/2", mu="1").value
    )
    assert value("mmc", "mean_wait", lam="1", mu="1", c="2").value == fmpq(1, 3)
    assert value("mmc", "tail", lam="1", mu="1", c="2", index=1).value == fmpq(2, 3)
    assert value("mmc", "mean_queue", lam="1/2", mu="1", c="1").value == 1
    assert value("mm1k", "mean_queue", lam="2", mu="1", k="3").value == fmpq(34, 15)
    assert value("mm11", "mean_wait", lam="2", mu="1").value == 0
    assert value("mg1", "mean_response", lam="1/2", service="atoms:1/2*1/2,1/2*3/2").value == fmpq(1) + fmpq(5, 8)


def test_near_saturation_keeps_its_digits():
    result = value("dm1", "age_variance", 20, lam="0.99999999", mu="1")
    assert result.enclosure.has_digits(20)


def test_series_arithmetic():
    t = Series.variable(6, fmpq(1))
    assert (1 / (1 - t)).terms == (1,) * 6
    assert [c * f for c, f in zip(t.exp().terms, (1, 1, 2, 6, 24, 120), strict=True)] == [1] * 6
    assert ((t * t) / t).terms == (0, 1, 0, 0, 0)
    assert ((1 + t) ** 3).terms[:4] == (1, 3, 3, 1)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: find("mm1").make({"lam": "1", "mu": "1"}), DoesNotExist, "load = 1"),
        (lambda: find("dm1").make({"lam": "3/2", "mu": "1"}), DoesNotExist, "load = 3/2"),
        (lambda: find("mm1").make({"lam": "-1", "mu": "1"}), InputError, "lam = -1"),
        (lambda: find("mm1k").make({"lam": "1", "mu": "1", "k": "0"}), InputError, "k = 0"),
        (lambda: find("mg1").make({"lam": "1/2", "service": "gamma:2"}), InputError, "law = 'gamma:2'"),
        (lambda: find("mg1").make({"lam": "1/2", "service": "erlang:1/2,1"}), InputError, "phases"),
        (lambda: value("mm1", "age_ccdf", lam="1/2", mu="1"), InputError, "needs at"),
        (lambda: value("dm1", "age_ccdf", lam="1/2", mu="1", at="1e9"), InputError, "at = 1000000000: at most"),
        (lambda: value("mg1", "age_ccdf", lam="1/2", service="erlang:99,99", at="5"), InputError, "at most 20 phases"),
        (lambda: value("md1", "age_ccdf", lam="1/2", mu="1", at="1e5"), InputError, "at = 100000: at most"),
        (lambda: value("mm1", "tail", lam="1/2", mu="1", index=10**9), InputError, "too small or too large"),
        (lambda: age_tail(Blocking(1, Deterministic(1)), fmpq(1), D), InputError, "age_ccdf: available"),
        (lambda: Mixture((("1/2", Erlang(1)),)), InputError, "sum to 1"),
        (lambda: Deterministic(0), InputError, "time = 0"),
    ],
)
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()
