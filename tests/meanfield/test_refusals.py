"""Counts of digits, levels, orders, points: what is no count, or too large to end, is refused by name at once."""

import pytest
from flint import fmpq

from exactchains.truth import InputError, Undecided
from meanfield import (
    JSQ,
    PoolPowerOfD,
    Pools,
    PowerOfD,
    against_random,
    equilibrium,
    equilibrium_near,
    fixed_point,
    heavy_traffic_offset,
    is_cooperative,
    light_traffic,
    one_gate,
    optimal_response,
    refinement,
    regions,
    trajectory,
    validated,
)
from meanfield.solvers.critical import critical_response
from meanfield.solvers.expansions import heavy_traffic_slope

NOISY, POOLS = PowerOfD("9/10", 2, 2, "1/2"), "1/2:3/2,1/2:1/2"
CALLS = {
    "fixed_point digits": lambda v: fixed_point(NOISY, digits=v),
    "fixed_point levels": lambda v: fixed_point(NOISY, levels=v),
    "sampled digits": lambda v: fixed_point(PoolPowerOfD(POOLS, "1/2"), digits=v),
    "sampled levels": lambda v: fixed_point(PoolPowerOfD(POOLS, "1/2"), levels=v),
    "equilibrium digits": lambda v: equilibrium(JSQ(POOLS, "1/2"), digits=v),
    "equilibrium_near digits": lambda v: equilibrium_near(lambda x: [1 - x[0]], ["1"], digits=v),
    "against_random digits": lambda v: against_random(NOISY, digits=v),
    "critical_response digits": lambda v: critical_response(PowerOfD("9/10", 3, None, "1/3"), digits=v),
    "heavy_traffic_offset digits": lambda v: heavy_traffic_offset(NOISY, digits=v),
    "heavy_traffic_slope digits": lambda v: heavy_traffic_slope(NOISY, digits=v),
    "light_traffic order": lambda v: light_traffic(NOISY, order=v),
    "one_gate digits": lambda v: one_gate(JSQ(POOLS, "1/2"), n=2, digits=v),
    "one_gate n": lambda v: one_gate(JSQ(POOLS, "1/2"), n=v, digits=3),
    "refinement order": lambda v: refinement(NOISY, order=v),
    "refinement buffer": lambda v: refinement(NOISY, buffer=v or 0),
    "mean_queue n": lambda v: refinement(NOISY).mean_queue(v),
    "trajectory points": lambda v: trajectory(NOISY, until=1, points=v),
    "trajectory levels": lambda v: trajectory(NOISY, until=1, levels=v),
    "validated steps": lambda v: validated(NOISY, until=1, steps=v),
    "validated levels": lambda v: validated(NOISY, until=1, steps=1, levels=v),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("value", [-1, True, "3", None, 1.5])
def test_what_is_no_count_is_refused_by_name(call, value):
    with pytest.raises(InputError, match=f"^{call.split()[1]} = .*integer >= [01]"):
        CALLS[call](value)


@pytest.mark.parametrize("call", [c for c in CALLS if c not in ("mean_queue n", "one_gate n")])
def test_counts_without_end_are_refused_with_the_limit(call):
    with pytest.raises(InputError, match=f"^{call.split()[1]} = 1000000000: .*at most"):
        CALLS[call](10**9)


def test_paths_by_regimes_end():
    with pytest.raises(InputError, match=r"followed to a time in \(0, 10000\]"):
        trajectory(JSQ(POOLS, "1/2"), until=10**9)


@pytest.mark.parametrize(
    "call",
    [
        against_random,
        is_cooperative,
        refinement,
        heavy_traffic_offset,
        heavy_traffic_slope,
        lambda p: light_traffic(p, order=2),
        lambda p: validated(p, until=1, steps=9),
    ],
)
def test_what_is_for_power_of_d_says_so(call):
    with pytest.raises(InputError, match="is for PowerOfD, this is JSQ"):
        call(JSQ(POOLS, "1/2"))


def test_values_out_of_range_are_named():
    with pytest.raises(InputError, match="lower is at most upper"):
        regions(lambda x: (x, x), lambda x: (x, x), lower=1, upper=0, tolerance=1)
    with pytest.raises(InputError, match="load = 2"):
        optimal_response(Pools.of(POOLS), 2)
    with pytest.raises(InputError, match="one for each of 2 pools"):
        trajectory(JSQ(POOLS, "1/2"), until=1).mean_queue([1])
    with pytest.raises(InputError, match="until = 1e400"):
        trajectory(NOISY, until="1e400")
    path = validated(NOISY, until="1/10", steps=50, levels=3)
    assert path.tail(0).lower == 1
    with pytest.raises(InputError, match="index = 4"):
        path.tail(4)


def test_work_without_end_is_refused():
    with pytest.raises(InputError, match="too many kinds of samples of 40 servers"):
        fixed_point(PoolPowerOfD(POOLS, "2/5", 40))
    with pytest.raises(InputError, match="d = 1000, g = 3: the proof takes"):
        is_cooperative(PowerOfD("1/2", 1000, 3))
    near = fmpq(1, 10**7)
    with pytest.raises(Undecided, match="15000 boxes do not tell the means apart"):
        regions(lambda x: (x, x), lambda x: (x + near, x + near), lower=0, upper=1, tolerance="1e-12")


def test_series_of_many_samples_are_short():
    """At low load a job errs with chance eps to the busiest of d, of which one is busy with chance d lam."""
    assert light_traffic(PowerOfD("1/2", 1000, 3, "1/2"), order=1) == [1, 500]


@pytest.mark.parametrize(
    "field",
    [
        lambda x: [1 - abs(x[0])],
        lambda x: [1 - x[0] if x[0] > fmpq(1, 2) else 2 - x[0]],
        lambda x: [1 - max(x[0], 2)],
        lambda x: [x[0] ** 0.5 - 1],
        lambda x: [0.5 - x[0]],
        lambda x: [2 - x[0] if x[0] == fmpq(1, 4) else 1 - x[0]],
        lambda x: None,
    ],
)
def test_fields_that_are_no_rational_function_are_said_to_be_none(field):
    with pytest.raises(InputError, match=r"^field .*without abs, max or if") as caught:
        equilibrium_near(field, ["1/4"])
    assert "\n" not in str(caught.value)


def test_both_kinds_of_fixed_point_say_among_what_they_are_unique():
    assert fixed_point(NOISY, digits=5).uniqueness == "among sequences with finite sum"
    assert fixed_point(PoolPowerOfD(POOLS, "1/2"), digits=5).uniqueness == "in the box"


def test_a_tiny_load_has_its_mean_and_no_internal_error():
    for text, g in (("1e-14", 1), ("1e-300", 1), ("1e-2000", 3)):
        mean = fixed_point(PowerOfD(text, 2, g, "1/2"), digits=10).mean_response
        assert mean.contains(1) or 1 < mean.lower < mean.upper < fmpq(1001, 1000)
    with pytest.raises(Undecided, match="below 1e-12 tails"):
        fixed_point(PowerOfD("1e-100", 2, 1, "1/2"), digits=10, levels=2)


def test_a_rule_that_sees_far_and_an_integer_too_long_to_write_are_refused_in_a_line():
    class Far(PoolPowerOfD):
        sight = (0, 10**20)

    with pytest.raises(InputError, match="kinds of servers"):
        fixed_point(Far("1/2:3/2,1/2:1/2", "1/2"), digits=10)
    with pytest.raises(InputError, match="thousands of digits"):
        fixed_point(PowerOfD("1/2"), digits=10**5000)
