"""Schemes: symbolic = chain = closed form, brute force over slot outcomes, laws that do not exist."""

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from aoi_tools import Actual, Cyclic, Delayed, Feedback, Generalised, Lossy, Periodic, Sampling, age_law, age_quantity
from exactchains import QQ, Balls, DoesNotExist, Fractions, InputError, PrecisionExhausted
from exactchains.domain import encloses

F = Fractions("p", "d", "alpha")
P, D, ALPHA = F.gens
SYMBOLIC = [
    Actual(P),
    Feedback(P, D),
    Generalised(P, D, ALPHA),
    Lossy(P, D, ALPHA),
    *[Periodic(P, D, q) for q in range(5)],
    *[Delayed(P, D, delay) for delay in range(3)],
]
MOMENTS = ("mean", "variance", "second_moment", "success", "failure", "gap_mean", "gap_second_moment")


@pytest.mark.parametrize("scheme", SYMBOLIC, ids=lambda s: f"{type(s).__name__}{getattr(s, 'q', '')}")
def test_closed_form_is_the_chain_for_all_parameters(scheme):
    form, chain = age_law(scheme, domain=F, method="closed form"), age_law(scheme, domain=F, method="chain")
    for name in MOMENTS:
        assert getattr(form, name)() == getattr(chain, name)(), name
    for j in range(7):
        assert form.pmf(j) == chain.pmf(j)
        assert form.ccdf(j) == chain.ccdf(j)
        assert form.gap_pmf(j + 1) == chain.gap_pmf(j + 1)


def test_feedback_prints_as_rational_functions():
    law = age_law(Feedback(P, D), domain=F)
    assert law.mean() == D / ((1 - P) * (1 - P + D))
    assert law.pmf(3) == (1 - P) * D * P**2 / (1 - P + D)
    assert law.variance() == D * (1 + P) / ((1 - P) ** 2 * (1 - P + D)) - law.mean() ** 2


def test_the_notes_formulas_for_periodic():
    """a/d forms of the notes, q = 4, at a point with d > 0."""
    p, d, period = fmpq(1, 3), fmpq(1, 7), 5
    a, b = 1 - p, 1 - d
    g = (1 - b**period) / d
    law = age_law(Periodic(p, d, 4))
    expected = fmpq(period + 1, 2) - a / d + a * b * g / (period * d) + p * (period - a * g) / a
    assert law.mean() == expected
    assert law.failure() == 1 - a * g / period
    assert law.gap_mean() == period / (a * g)
    assert age_law(Periodic(p, 0, 4)).mean() == p * (period + 1) / 2 + p**2 * period / a


def walk(scheme, p: fmpq, d: fmpq, slots: int) -> list[fmpq]:
    """Law of the slot age after ``slots`` slots from a known state, by listing all outcomes of all slots."""
    law = [fmpq(0)] * (slots + 1)
    for outcome in product((False, True), repeat=slots):  # would the codeword of the slot be lost?
        weight, known, latest = fmpq(1), [], -1
        for t, lost in enumerate(outcome):
            plain = t % (scheme.q + 1) == 0 if isinstance(scheme, Periodic) else t > 0 and not known[t - 1]
            fail = p if plain else d
            weight *= fail if lost else 1 - fail
            known.append(not lost and (plain or t == 0 or known[t - 1]))
            latest = t if known[t] else latest
        law[slots - 1 - latest] += weight
    return law


def test_brute_force_over_all_outcomes():
    """From a period start the age after k whole periods has, up to p^k, the law given by the position."""
    p, d, q = fmpq(1, 100), fmpq(1, 7), 2
    law = age_law(Periodic(p, d, q))
    last = [law._position_pmf(q, j) for j in range(9)]
    found = walk(Periodic(p, d, q), p, d, 9)
    assert all(abs(x - y) <= p**3 for x, y in zip(found[:9], last, strict=True))
    fed = walk(Feedback(p, d), p, d, 10)
    exact = age_law(Feedback(p, d))
    gap = abs(d - p) ** 10  # second eigenvalue of the chain of outcomes is d - p
    assert all(abs(fed[j] - exact.pmf(j)) <= gap for j in range(9))


numbers = st.integers(0, 8).map(lambda i: fmpq(i, 9))


@given(numbers, st.integers(0, 9).map(lambda i: fmpq(i, 9)), st.integers(0, 6))
def test_periodic_balls_hold_fractions_and_the_law_sums_to_one(p, d, q):
    exact, ball = age_law(Periodic(p, d, q)), age_law(Periodic(p, d, q), domain=Balls(96))
    for name in MOMENTS:
        assert encloses(getattr(ball, name)(), getattr(exact, name)())
    total = sum((exact.pmf(j) for j in range(6)), fmpq(0))
    assert total + exact.ccdf(5) == 1
    assert sum((exact.gap_pmf(z) for z in range(1, 7)), fmpq(0)) <= 1
    assert exact.mean() == (exact.gap_second_moment() / exact.gap_mean() - 1) / 2


@pytest.mark.parametrize(("delay", "mean"), [(0, "1/3"), (1, "2/9"), (2, "11/54")])
def test_late_feedback_is_smaller(delay, mean):
    """The notes' table: p = 1/2, d = 1/10 gives 0.333, 0.222, 0.204."""
    p, d = fmpq(1, 2), fmpq(1, 10)
    phi = d / (1 - p + d)
    lag = delay + 1
    expected = sum((phi**j for j in range(1, lag + 1)), fmpq(0)) + phi**lag * p / (1 - p)
    for method in ("chain", "closed form"):
        assert age_law(Delayed(p, d, delay), method=method).mean() == expected == QQ.convert(mean)


def test_synchronised_channel_lets_periodic_win():
    channel = ((0, 0), (1, 0))
    assert age_law(Cyclic(("actual",), channel)).mean() == fmpq(1, 2)
    assert age_law(Cyclic(("actual", "differential"), channel)).mean() == 0


def test_cyclic_with_one_phase_is_periodic():
    cyclic = Cyclic(("actual", "differential", "differential"), ((P, D),))
    assert age_law(cyclic, domain=F).variance() == age_law(Periodic(P, D, 2), domain=F).variance()


@pytest.mark.parametrize("method", ["chain", "closed form"])
@pytest.mark.parametrize("scheme", [Actual(1), Feedback(1, "1/2"), Feedback(1, 0), Periodic(1, 0, 3)], ids=repr)
def test_no_law_where_nothing_gets_through(scheme, method):
    with pytest.raises(DoesNotExist, match=r"no (unique )?age law exists"):
        age_law(scheme, method=method)


def test_period_of_the_chain_is_no_obstacle():
    assert age_law(Feedback(0, 1), method="chain").mean() == fmpq(1, 2) == age_law(Feedback(0, 1)).mean()


def test_sampling_conventions():
    law = age_law(Feedback("1/2", "1/10"))
    n, mean, gap = 12, law.mean(), law.gap_mean()
    expected = {
        ("bit", "n"): (fmpq(3 * n - 1, 2) + n * mean, n * (1 + gap) - 1),
        ("slot", "n"): (n * (1 + mean), n * (1 + gap)),
        ("fluid", "n"): (fmpq(3 * n, 2) + n * mean, n * (1 + gap)),
        ("bit", "0"): (fmpq(n - 1, 2) + n * mean, n * gap - 1),
        ("slot", "0"): (n * mean, n * gap),
        ("fluid", "0"): (fmpq(n, 2) + n * mean, n * gap),
    }
    for (convention, start), (age, peak) in expected.items():
        sampling = Sampling(n, convention, start)
        assert law.age_mean(sampling) == age
        assert law.peak_mean(sampling) == peak
    assert law.age_variance(Sampling(n)) == n**2 * law.variance() + fmpq(n**2 - 1, 12)


def test_quantity_at_a_thousand_digits_and_far_periods():
    for scheme in (
        Actual("1/3"),
        Feedback("1/3", "1e-30"),
        Generalised("1/3", "1/7", "1/2"),
        Periodic("1/3", "1/7", 10**4),
    ):
        result = age_quantity(scheme, "slot_variance", digits=1000)
        assert result.enclosure.has_digits(1000)
    far = age_quantity(Periodic("1/3", "1e-50", 10**4), "slot_mean", digits=40)
    ideal = age_law(Periodic("1/3", 0, 10**4)).mean()
    assert abs(far.lower - ideal) < ideal / 10**39


def test_balls_that_are_too_wide_are_not_passed_off():
    from flint import arb

    with pytest.raises(PrecisionExhausted, match="could not certify 30 digits"):
        age_quantity(Actual(arb("0.5", "1e-10")), "slot_mean", digits=30)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: age_quantity(Actual("1/2"), "slot_pmf"), "needs an index >= 0"),
        (lambda: age_quantity(Actual("1/2"), "gap_pmf", index=0), "needs an index >= 1"),
        (lambda: age_quantity(Actual("1/2"), "age_mean"), "needs the codeword length n"),
        (lambda: age_quantity(Actual("1/2"), "mean"), "quantity = 'mean'"),
        (lambda: Periodic("1/2", "1/2", -1), "q = -1"),
        (lambda: Delayed("1/2", "1/2", -1), "delay = -1"),
        (lambda: Cyclic(("true",), ((0, 0),)), "schedule"),
        (lambda: Sampling(0), "n = 0"),
        (lambda: Generalised("1/2", "1/2", 2), "alpha = 2"),
        (lambda: age_law(Cyclic(("actual",), ((0, 0),)), method="closed form"), "no closed form"),
    ],
)
def test_bad_requests(call, word):
    with pytest.raises(InputError, match=word):
        call()
