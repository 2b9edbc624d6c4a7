"""Channels with memory, reference schedules, decoders with side information, quantiles and moments."""

from itertools import product

import pytest
from flint import arb, fmpq

from aoi_tools import (
    Actual,
    BurstChannel,
    Code,
    Delayed,
    Feedback,
    Generalised,
    IdealErasure,
    LastDecoded,
    OnChannel,
    Periodic,
    RandomParityCheck,
    Sampling,
    Schedule,
    SideInformation,
    SlotChannel,
    age_law,
    gilbert_elliott,
    named_source,
    window,
)
from aoi_tools.solvers import quantiles
from aoi_tools.solvers.penalties import exponential_penalty
from aoi_tools.solvers.quantiles import age_quantile, slot_quantile
from exactchains import Balls, DoesNotExist, Fractions, InputError

F = Fractions("p", "d")
P, D = F.gens
BURSTS = gilbert_elliott("1/10", "1/3")


def same_law(first, second, domain, levels: int = 6) -> None:
    one, two = age_law(first, domain=domain), age_law(second, domain=domain)
    assert one.mean() == two.mean() and one.variance() == two.variance()
    for j in range(levels):
        assert one.pmf(j) == two.pmf(j)


@pytest.mark.parametrize("q", [0, 1, 2, 3])
def test_chained_schedule_is_periodic(q):
    same_law(Schedule(P, D, (0,) + (1,) * q), Periodic(P, D, q), F)


def test_side_information_that_is_dropped_is_feedback():
    same_law(SideInformation(P, D, 1), Feedback(P, D), F)
    law = age_law(SideInformation(P, D), domain=F)
    assert [law.pmf(j) for j in range(4)] == [(1 - D) * D**j for j in range(4)]


def test_no_schedule_beats_actual_updates():
    """T2 at instances: P(J > j) >= p^(j+1) whatever the references are."""
    p = fmpq(2, 5)
    for lags in [(0, 1, 2), (0, 0, 2, 2), (0, 3), (0, 1, 1, 3), (0, 0, 1, 2)]:
        law = age_law(Schedule(p, 0, lags))
        assert all(law.ccdf(j) >= p ** (j + 1) for j in range(8))


def test_references_without_a_root_have_no_unique_law():
    with pytest.raises(DoesNotExist, match="2 classes of modes"):
        age_law(Schedule("2/5", 0, (0, 2)))  # position 1 refers to itself two slots back, for ever


def test_one_channel_state_changes_nothing():
    channel = SlotChannel(((1,),), (("1/2", "1/10"),))
    for scheme in (Feedback(0, 0), Generalised(0, 0, "1/3"), Delayed(0, 0, 1), Schedule(0, 0, (0, 1, 1))):
        there = type(scheme)("1/2", "1/10", *[getattr(scheme, f) for f in list(scheme.__dataclass_fields__)[2:]])
        one, two = age_law(OnChannel(scheme, channel)), age_law(there, method="chain")
        assert one.variance() == two.variance() and one.pmf(3) == two.pmf(3)


def test_equal_erasures_in_all_states_are_independent():
    code = Code("rpc", 6, 3, "1/4", 1)
    channel = BurstChannel(BURSTS, ("1/4", "1/4"), code.actual, code.differential)
    one, two = age_law(OnChannel(Feedback(0, 0), channel)), age_law(Feedback(code.actual, code.differential))
    assert one.mean() == two.mean() and one.variance() == two.variance()


def test_burst_erasures_by_brute_force():
    """All erasure patterns and state paths of four uses."""
    eps, n = (fmpq(1, 20), fmpq(3, 4)), 4
    code = IdealErasure(n, 2, 0)
    found = BurstChannel(BURSTS, eps, code, code).erasures(0)
    expected = [[fmpq(0)] * 2 for _ in range(n + 1)]
    for path in product(range(2), repeat=n):
        for erased in product((0, 1), repeat=n):
            weight, state = fmpq(1), 0
            for after, e in zip(path, erased, strict=True):
                weight *= (eps[state] if e else 1 - eps[state]) * BURSTS[state][after]
                state = after
            expected[sum(erased)][state] += weight
    assert found == expected


def test_actual_updates_on_a_slot_channel_by_hand():
    """Always bad for two slots in a row: stationary mean of the renewal gap by the two-state chain."""
    channel = SlotChannel(((0, 1), (1, 0)), ((0, 0), (1, 1)))
    law = age_law(OnChannel(Actual("1/2"), channel))
    assert law.mean() == fmpq(1, 2) and law.pmf(0) == fmpq(1, 2) and law.pmf(2) == 0


def test_phase_average_obeys_the_general_bound():
    """T1: periodic against actual on a Gilbert-Elliott channel, ideal differentials."""
    channel = SlotChannel(BURSTS, (("1/10", 0), ("4/5", 0)))
    plain = age_law(OnChannel(Actual(0), channel))
    periodic = age_law(OnChannel(Schedule(0, 0, (0, 1)), channel))
    assert all(periodic.ccdf(j) >= plain.ccdf(j) for j in range(12))


def test_quantiles_are_least():
    scheme, sampling = Feedback("1/2", "1/10"), Sampling(10)
    law = age_law(scheme)
    for level in (fmpq(0), fmpq(1, 2), fmpq(5, 6), fmpq(9, 10), fmpq(999, 1000), 1 - fmpq(1, 10**30)):
        j = slot_quantile(scheme, level)
        assert law.ccdf(j) <= 1 - level and (j == 0 or law.ccdf(j - 1) > 1 - level)
        x = int(age_quantile(scheme, level, sampling=sampling).lower)
        assert law.age_ccdf(sampling, x) <= 1 - level
        assert x == 10 or law.age_ccdf(sampling, x - 1) > 1 - level
    fluid = age_quantile(scheme, fmpq(5, 12), sampling=Sampling(10, "fluid"))
    assert fluid.lower == 15  # P(J = 0) = 5/6: half of the first slot


def test_quantile_beyond_every_double():
    code = RandomParityCheck(30, 24, "9/10")
    j = slot_quantile(Actual(code), fmpq(1, 2))
    assert j > 10**18
    with pytest.raises(InputError, match="level = 1"):
        slot_quantile(Actual(code), fmpq(1))


@pytest.mark.parametrize(
    "scheme",
    [Feedback("1/2", "1/10"), Periodic("1/2", "1/7", 3), Delayed("1/2", "1/10", 2)],
    ids=lambda s: type(s).__name__,
)
def test_moments_and_age_law_against_sums(scheme):
    law, chain, sampling = age_law(scheme), age_law(scheme, method="chain"), Sampling(4)
    levels = [law.pmf(j) for j in range(400)]
    for r in (1, 2, 3, 4):
        assert law.moment(r) == chain.moment(r)
        assert abs(law.moment(r) - sum((j**r * x for j, x in enumerate(levels)), fmpq(0))) < fmpq(1, 10**15)
    total = fmpq(0)
    for x in range(4, 60):
        total += law.age_pmf(sampling, x)
        assert total + law.age_ccdf(sampling, x) == 1
    gap = law.gap_mean()
    assert law.peak_variance(sampling) == 16 * (law.gap_second_moment() - gap * gap)
    assert law.age_ccdf(sampling, 3) == 1 and law.age_pmf(Sampling(4, "slot"), 8) == law.pmf(1)


@pytest.mark.parametrize(
    "scheme", [Feedback("1/2", "1/10"), Periodic("1/2", "1/7", 3), Delayed("1/2", "1/10", 2)], ids=repr
)
def test_exponential_penalty_against_sums(scheme):
    law = age_law(scheme)
    for growth in (fmpq(11, 10), fmpq(1, 3), fmpq(1)):
        total = sum((growth**j * law.pmf(j) for j in range(500)), fmpq(0))
        assert abs(exponential_penalty(scheme, growth).lower - total) < fmpq(1, 10**15)
    with pytest.raises(DoesNotExist, match="infinite"):
        exponential_penalty(scheme, fmpq(2))
    assert exponential_penalty(scheme, fmpq(0)).lower == law.pmf(0)
    with pytest.raises(InputError, match="growth = -1"):
        exponential_penalty(scheme, fmpq(-1))
    assert exponential_penalty(Actual(0), fmpq(50)).lower == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SlotChannel(((1, 0), (0, 1)), ((0, 0),)), "1 given for 2"),
        (lambda: SlotChannel((("1/2", "1/3"), (0, 1)), ((0, 0), (0, 0))), "row 0"),
        (lambda: BurstChannel(BURSTS, ("1/2",), IdealErasure(4, 2, 0), IdealErasure(4, 1, 0)), "1 given for 2"),
        (lambda: BurstChannel(BURSTS, (0, 1), IdealErasure(4, 2, 0), IdealErasure(3, 1, 0)), "one length"),
        (lambda: gilbert_elliott("3/2", 0), "worsens = 3/2"),
        (lambda: Schedule(0, 0, ()), "lags"),
        (lambda: Schedule(0, 0, (0, 13)), "lag = 13"),
        (lambda: SideInformation(0, 0, -1), "patience = -1"),
        (lambda: age_law(Actual("1/2")).age_pmf(Sampling(3, "fluid"), 4), "density"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_quantiles_near_certain_loss():
    p = 1 - fmpq(1, 10**120)  # P(J <= j) = 1 - p^(j+1)
    j = slot_quantile(Actual(str(p)), fmpq(1, 2))
    with Balls(1024).working():
        exact = arb(2).log() / -(-arb(fmpq(1, 10**120))).log1p()
        assert exact <= j + 1 and exact > j


def test_a_quantile_that_is_followed_slot_by_slot_has_an_end(monkeypatch):
    monkeypatch.setattr(quantiles, "MOST_STEPS_BITS", 8)
    stuck = LastDecoded("0.9999999999", "0.9999999999", named_source("cyclic-walk:3,1/4,1/4"), window("0"))
    with pytest.raises(InputError, match=r"level = 1/2: the quantile is beyond 2\^7"):
        slot_quantile(stuck, fmpq(1, 2))
