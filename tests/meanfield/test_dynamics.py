"""Trajectories, 1/n corrections and rankings against enclosures, simulations of others, and each other."""

import json
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from exactchains.truth import InputError, Truth
from meanfield.flow import drift
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.solvers.enclosures import server_system
from meanfield.solvers.fixed_point import fixed_point
from meanfield.solvers.ranking import faster, ranking
from meanfield.solvers.refinement import refinement
from meanfield.solvers.trajectory import _field, trajectory, validated

VALUES = json.loads((Path(__file__).parent.parent / "data" / "noisy_comparison_values.json").read_text())
TWO = "1/2:3/2,1/2:1/2"


def _float(x):
    return int(x.p) / int(x.q)


def test_every_start_leads_to_the_fixed_point():
    policy = PowerOfD("7/10", 2, 2, "1/2")
    point = fixed_point(policy, digits=15, levels=4)
    wanted = [_float(point.tail(k).lower) for k in range(1, 5)]
    for start in ((), ("1", "1", "9/10", "1/2")):
        path = trajectory(policy, start=start, until=120, points=50)
        assert np.allclose(path.tails[-1][:4], wanted, atol=1e-7)
        assert path.first_entry(wanted, 1e-5) < 120
    assert abs(path.mean_queue([1.0])[-1] - _float(point.mean_queue.lower)) < 1e-6


@pytest.mark.parametrize("gap", [None, 0, 1, 3, 40])
def test_the_field_in_doubles_is_the_exact_drift(gap):
    policy, tails = PowerOfD("4/5", 3, gap, "2/3"), [fmpq(40 - k, 44) ** 2 for k in range(12)]
    exact = drift(policy, [[fmpq(1), *tails]])[0]
    found = _field(policy, len(tails))(0.0, np.array([_float(x) for x in tails]))
    assert np.allclose(found, [_float(x) for x in exact], rtol=1e-13, atol=1e-15)


def test_pools_flow_to_their_balance():
    path = trajectory(PoolPowerOfD(TWO, "1/2"), until=80, points=5, levels=20)
    busy = path.tails.reshape(5, 2, 20)[-1, :, 0]
    assert abs((0.75 * busy[0] + 0.25 * busy[1]) - 0.5) < 1e-6


def test_validated_steps_contain_the_path_and_close_in_on_it():
    policy = PowerOfD("1/2", 2, 1, 1)
    path = trajectory(policy, until=1, points=2)
    widths = []
    for steps in (50, 200):
        state = validated(policy, until=1, steps=steps, levels=6)
        for k in range(1, 4):
            bounds = state.tail(k)
            assert _float(bounds.lower) <= path.tails[-1][k - 1] <= _float(bounds.upper)
        widths.append(_float(state.tail(1).upper - state.tail(1).lower))
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize(
    "make", [lambda p: trajectory(p, start=("1/2", "3/4"), until=1), lambda p: trajectory(p, until=0)]
)
def test_bad_starts_are_refused(make):
    with pytest.raises(InputError):
        make(PowerOfD("1/2", 2, 1, 1))
    with pytest.raises(InputError, match="steps"):
        validated(PowerOfD("1/2"), until=1, steps=0)
    for start in (["2"], ["-1/2"], ["1/4", "1/2"], ["1/2"] * 21):
        with pytest.raises(InputError, match="start"):
            validated(PowerOfD("1/2"), start=start, until=1, steps=50)
    with pytest.raises(InputError, match="points"):
        trajectory(PowerOfD("1/2"), until=1, points=0)


@pytest.mark.parametrize("row", VALUES["simulation"], ids=lambda r: f"{r['lam']},{r['g']},{r['n']}")
def test_refinement_meets_the_simulated_bias(row):
    found = refinement(PowerOfD(row["lam"], row["d"], None if row["g"] == "inf" else row["g"], row["eps"]))
    assert abs(found.limit.sum() - float(row["mean_field"])) < 1e-9
    assert abs(found.correction.sum() - float(row["n_times_bias"])) < 2.5 * float(row["n_times_ci"])


def test_the_error_of_the_refinement_falls_like_one_over_n_squared():
    policy = PowerOfD("1/2", 2, 1, "1/2")
    found = refinement(policy)
    plain, refined = [], []
    for n in (2, 4):
        exact = _float(server_system(policy, n=n, digits=7).enclosure("mean_queue").lower)
        plain.append(abs(exact - found.limit.sum()))
        refined.append(abs(exact - found.mean_queue(n)))
    assert refined[1] < plain[1] / 3
    assert refined[0] / refined[1] > 3


def test_random_routing_has_no_bias():
    assert abs(refinement(PowerOfD("1/2", 2, None, "1/2")).correction.sum()) < 1e-9


@pytest.mark.parametrize(
    ("speeds", "load", "order"),
    [
        (("9/5", "1/5"), "1/2", [SED, SpeedAwareJIQ, RandomBySpeed, SpeedAwareJSQ]),
        (("3/2", "1/2"), "1/2", [SED, SpeedAwareJSQ, SpeedAwareJIQ, RandomBySpeed]),
    ],
)
def test_two_servers_who_wins(speeds, load, order):
    pools = f"1/2:{speeds[0]},1/2:{speeds[1]}"
    policies = [SpeedAwareJSQ(pools, load), RandomBySpeed(pools, load), SED(pools, load)]
    policies.append(SpeedAwareJIQ(pools, load, fallback="speed"))
    assert [type(r.policy) for r in ranking(policies, n=2)] == order


def test_three_servers_who_wins():
    """At three servers shortest expected delay is not the best of the four."""
    pools = "1/3:3/2,1/3:1,1/3:1/2"
    policies = [JSQ(pools, "2/5"), SpeedAwareJSQ(pools, "2/5"), SED(pools, "2/5"), RandomBySpeed(pools, "2/5")]
    assert [type(r.policy) for r in ranking(policies, n=3)] == [SpeedAwareJSQ, SED, JSQ, RandomBySpeed]


def test_shortest_and_idle_change_places_with_the_load():
    assert faster(JIQ(TWO, "1/2", fallback="speed"), JSQ(TWO, "1/2"), n=2) is Truth.TRUE
    assert faster(JIQ(TWO, "4/5", fallback="speed"), JSQ(TWO, "4/5"), n=2) is Truth.FALSE


def test_ties_and_unstable_systems_are_ranked_too():
    assert faster(SpeedAwareJSQ(TWO, "1/2"), SpeedAwareJIQ(TWO, "1/2"), n=None) is Truth.FALSE
    found = ranking([JIQ(TWO, "4/5"), RandomBySpeed(TWO, "4/5")], n=2)
    assert found[0].mean_response.value == 5
    assert found[1].mean_response is None
