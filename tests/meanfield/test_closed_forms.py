"""Limits of pools against independent values, against linear programs, and against the flow near the limit."""

import json
from itertools import product
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from exactchains.domain import QQ
from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist, InputError, Undecided
from meanfield.closed_forms import equilibrium, optimal_response, separate_loads
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.pools import EQUAL, Pools
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.solvers.quantities import balancing_quantity

VALUES = json.loads((Path(__file__).parent.parent / "data" / "heterogeneous_values.json").read_text())
POINTS = VALUES["fluid_fixed_points"]
TWO = "1/2:3/2,1/2:1/2"


@pytest.mark.parametrize("replacement", [False, True])
def test_power_of_two_that_errs_half_the_time_routes_at_random(replacement):
    fair = PowerOfD("1/2", 2, None, "1/2", replacement)
    for loads in product(range(4), repeat=3):
        joined = fair.law((tuple(sorted(loads)),))
        assert all(x == fmpq(loads.count(k), 3) for (_, k), x in joined.items())
    assert separate_loads(fair) == (fmpq(1, 2),)
    assert separate_loads(PowerOfD("1/2", 3, None, "1/3")) is separate_loads(PowerOfD("1/2", 2, 5, "1/2")) is None


def test_a_pool_beyond_its_capacity_is_unstable_also_under_a_rule_of_ones_own():
    class First(Policy):
        """Join the only server sampled."""

        d = 1

        def route(self, sample):
            return {0: fmpq(1)}

    with pytest.raises(DoesNotExist, match="slowest pool gets 6/5"):
        balancing_quantity(First("3/5", TWO), "mean_queue")


@pytest.mark.parametrize(
    ("policy", "loads"),
    [
        (PowerOfD("9/10", 1, 3, 1), ["9/10"]),
        (RandomBySpeed(TWO, "2/5"), ["2/5", "2/5"]),
        (PoolPowerOfD(TWO, "2/5", 1), ["4/15", "4/5"]),
        (PoolPowerOfD(TWO, "2/5", 1, "speed"), ["2/5", "2/5"]),
    ],
)
@pytest.mark.parametrize("n", [None, 2])
def test_one_sampled_server_leaves_each_queue_to_itself(policy, loads, n):
    """Jobs arrive at a pool of speed m at rate m times its load: of each pool, M/M/1 by hand."""
    a = [QQ.convert(x) for x in loads]
    share = fmpq(1, len(a))
    expected = {
        ("mean_queue", None): sum(share * x / (1 - x) for x in a),
        ("tail", 3): sum(share * x**3 for x in a),
        ("joined", 2): sum(share * m * x**3 for m, x in zip(policy.pools.speeds, a, strict=True)) / policy.load,
        ("idle", None): 1 - sum(share * x for x in a),
        ("busy", len(a) - 1): a[-1],
        ("pool_mean_queue", len(a) - 1): a[-1] / (1 - a[-1]),
    }
    for (name, index), value in expected.items():
        assert balancing_quantity(policy, name, index=index, n=n).enclosure == Enclosure.exact(value)


def _pools(row):
    return Pools.of(list(zip(row["gamma"], row["mu"], strict=True)))


@pytest.mark.parametrize("row", POINTS, ids=lambda r: f"{r['mu']},{r['lam']}")
def test_independent_fluid_fixed_points(row):
    pools, load = _pools(row), row["lam"]
    for policy in (
        SpeedAwareJSQ(pools, load),
        SpeedAwareJIQ(pools, load),
        SpeedAwareJIQ(pools, load, fallback="speed"),
    ):
        aware = equilibrium(policy)
        assert [aware.pool_tail(j, 1).value for j in range(len(pools))] == [QQ.convert(x) for x in row["sa_x1"]]
        assert aware.mean_response.value == QQ.convert(row["sa_D"]) == optimal_response(pools, policy.load).value
        assert aware.boundary is row["boundary"]
    for policy in (JSQ(pools, load), JIQ(pools, load)):
        oblivious = equilibrium(policy, digits=45)
        published = QQ.convert(row["obl_D"])
        assert abs(oblivious.mean_response.lower / published - 1) < fmpq(1, 10**38)
        assert oblivious.mean_response.has_digits(44)
        for j, x in enumerate(row["obl_x1"]):
            assert abs(oblivious.pool_tail(j, 1).upper / QQ.convert(x) - 1) < fmpq(1, 10**38)
        busy = sum(p.fraction * p.speed * oblivious.pool_tail(j, 1).lower for j, p in enumerate(pools))
        assert busy <= policy.load


@st.composite
def systems(draw):
    weights = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    speeds = sorted(draw(st.sets(st.integers(1, 12), min_size=len(weights), max_size=len(weights))), reverse=True)
    mean = sum(w * s for w, s in zip(weights, speeds, strict=True))
    pools = Pools.of(
        [(fmpq(w, sum(weights)), fmpq(s * sum(weights), mean)) for w, s in zip(weights, speeds, strict=True)]
    )
    return pools, fmpq(draw(st.integers(1, 39)), 40)


@given(systems())
@settings(max_examples=40, deadline=None)
def test_optimal_response_is_the_linear_program_and_its_dual(system):
    pools, load = system
    best = optimal_response(pools, load)
    floats = [(float(p.fraction.p) / int(p.fraction.q), float(p.speed.p) / int(p.speed.q)) for p in pools]
    found = linprog(
        [f for f, _ in floats], A_eq=[[f * s for f, s in floats]], b_eq=[float(load.p) / int(load.q)], bounds=(0, 1)
    )
    assert abs(found.fun - float((best.value * load).p) / int((best.value * load).q)) < 1e-9
    theta = best.multiplier
    dual = theta * load - sum(p.fraction * max(fmpq(0), theta * p.speed - 1) for p in pools)
    assert dual == best.value * load
    assert best.value <= 1


@given(systems())
@settings(max_examples=25, deadline=None)
def test_oblivious_rules_lose_and_waiting_counts_lose_more(system):
    pools, load = system
    plain = equilibrium(JSQ(pools, load), digits=20)
    waiting = equilibrium(JSQ(pools, load, counts="waiting"), digits=20)
    aware = equilibrium(SpeedAwareJSQ(pools, load))
    delay = equilibrium(SED(pools, load))
    assert plain.mean_response.upper >= 1 >= aware.mean_response.lower
    assert waiting.mean_queue.lower > plain.mean_queue.lower
    assert delay.mean_response.lower >= aware.mean_response.lower
    assert plain.tail(2).value == 0
    for point in (plain, waiting, aware, delay):
        busy = sum(p.fraction * p.speed * point.pool_tail(j, 1).upper for j, p in enumerate(pools))
        assert abs(busy - load) < fmpq(1, 10**18)


def test_equal_speeds():
    assert equilibrium(JIQ(EQUAL, "7/10")).mean_response.value == 1
    point = equilibrium(RandomBySpeed("1/2:3/2,1/2:1/2", "7/10"))
    assert point.mean_response.value == fmpq(10, 3)
    assert point.tail(3).value == fmpq(343, 1000)
    waiting = equilibrium(JSQ(EQUAL, "3/4", counts="waiting"))  # 1 + r + r^2 = 4
    r = (13**0.5 - 1) / 2
    assert waiting.tail(2).contains(waiting.tail(2).lower)
    assert abs(float(waiting.tail(2).lower.p) / int(waiting.tail(2).lower.q) - r * r / 4) < 1e-14


def test_shortest_expected_delay_queues_at_fast_servers():
    point = equilibrium(SED("1/4:5/2,3/4:1/2", "4/5"))
    assert [x.value for x in point.levels[0]] == [1] * 5
    assert point.levels[1][0].value == (fmpq(4, 5) - fmpq(5, 8)) / fmpq(3, 8)
    with pytest.raises(Undecided, match="ties"):
        equilibrium(SED("1/4:5/2,3/4:1/2", "4/5", ties="random"))


def test_other_policies_are_refused():
    with pytest.raises(InputError, match="no closed form"):
        equilibrium(PowerOfD("1/2"))
