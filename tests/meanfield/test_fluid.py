"""Fluid limits with two time scales, and expansions at both ends of the load."""

import json
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains.domain import QQ
from exactchains.truth import DoesNotExist, InputError
from meanfield.closed_forms import equilibrium
from meanfield.fluid import fluid_drift, joining_rates
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.pools import Pools
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from meanfield.solvers.expansions import heavy_traffic_offset, light_traffic
from meanfield.solvers.fixed_point import fixed_point

VALUES = json.loads((Path(__file__).parent.parent / "data" / "heterogeneous_values.json").read_text())
THREE = "1/4:2,1/4:1,1/2:1/2"


@st.composite
def states(draw):
    """Random nonincreasing tails of three pools, often with full levels, so that every regime occurs."""
    rows = []
    for _ in range(3):
        full = draw(st.integers(0, 2))
        rest = sorted(draw(st.lists(st.integers(0, 6), min_size=3, max_size=3)), reverse=True)
        rows.append([fmpq(1)] * (full + 1) + [fmpq(x, 6) for x in rest])
    return [row + [fmpq(0)] * (7 - len(row)) for row in rows]


@given(states(), st.integers(1, 19))
@settings(max_examples=60, deadline=None)
def test_rates_are_nonnegative_and_all_jobs_join(tails, twentieths):
    load = fmpq(twentieths, 20)
    for policy in (
        JSQ(THREE, load),
        SpeedAwareJSQ(THREE, load),
        JIQ(THREE, load),
        SpeedAwareJIQ(THREE, load, fallback="speed"),
    ):
        joined = joining_rates(policy, tails)
        assert sum(joined.values()) == load
        assert min(joined.values()) >= 0
        mass = sum(p.fraction * sum(row) for p, row in zip(policy.pools, fluid_drift(policy, tails), strict=True))
        busy = sum(p.fraction * p.speed * row[1] for p, row in zip(policy.pools, tails, strict=True))
        assert mass == load - busy


@pytest.mark.parametrize("row", VALUES["fluid_fixed_points"], ids=lambda r: f"{r['mu']},{r['lam']}")
def test_equilibria_do_not_move(row):
    pools = Pools.of(list(zip(row["gamma"], row["mu"], strict=True)))
    for policy in (SpeedAwareJSQ(pools, row["lam"]), SpeedAwareJIQ(pools, row["lam"])):
        tails = [[1, point[0].lower, 0] for point in equilibrium(policy).levels]
        assert all(v == 0 for line in fluid_drift(policy, tails) for v in line)
    oblivious = JIQ(pools, row["lam"])
    tails = [[1, point[0].lower, 0] for point in equilibrium(oblivious, digits=25).levels]
    assert all(abs(v) < fmpq(1, 10**20) for line in fluid_drift(oblivious, tails) for v in line)


def test_infinite_mass_is_never_left():
    """x_{k,1} = 1 for all listed k: the derivative of the fast pool is 0 below its end."""
    policy = SpeedAwareJSQ("1/2:3/2,1/2:1/2", "1/2")
    fast = fluid_drift(policy, [[1] * 8, [1] * 8])[0]
    assert fast[:5] == [0] * 5


def test_fluid_refusals():
    with pytest.raises(InputError, match="fluid limit is known for JSQ"):
        fluid_drift(SED(THREE, "1/2"), [[1, 0]] * 3)
    with pytest.raises(InputError, match="tails of 1 pools"):
        fluid_drift(JSQ(THREE, "1/2"), [[1, 0]])
    with pytest.raises(InputError, match="do not increase"):
        fluid_drift(JSQ(THREE, "1/2"), [[1, 0, 1]] * 3)


def test_light_traffic_series():
    random = light_traffic(PowerOfD("1/2", 2, None, "1/2"), order=8)
    assert random == [1] * 9  # 1/(1 - load)
    for d, g, eps in ((2, 1, "3/4"), (3, 2, "1/3"), (3, None, "2/5")):
        assert light_traffic(PowerOfD("1/2", d, g, eps), order=1)[1] == d * QQ.convert(eps)
    noiseless = light_traffic(PowerOfD("1/2", 2), order=6)  # (lam + lam^3 + lam^7 + ..)/lam
    assert noiseless == [1, 0, 1, 0, 0, 0, 1]


def test_light_traffic_series_meets_the_fixed_point():
    policy = PowerOfD("1/100", 2, 2, "1/2")
    series = light_traffic(policy, order=8)
    value = sum(c * policy.load**k for k, c in enumerate(series))
    assert abs(fixed_point(policy, digits=25).mean_response.lower - value) < fmpq(1, 10**13)


@pytest.mark.parametrize(
    ("d", "g", "eps", "offset"),
    [(2, 1, 1, "-0.766304"), (2, 3, 1, "1.09334"), (3, 2, 1, "0.433143"), (2, 2, "1/2", "-0.554982")],
)
def test_heavy_traffic_constants(d, g, eps, offset):
    found = heavy_traffic_offset(PowerOfD("0.99999999", d, g, eps), digits=12)
    assert abs(found.lower - QQ.convert(offset)) < fmpq(1, 10**5)
    assert found.has_digits(9)
    coarse = heavy_traffic_offset(PowerOfD("0.999", d, g, eps), digits=12)
    assert abs(coarse.lower - found.lower) < fmpq(1, 20)


def test_heavy_traffic_at_every_gap():
    a, b = (heavy_traffic_offset(PowerOfD(x, 2, None, "1/10"), digits=12) for x in ("0.999999", "0.999999999"))
    assert abs(a.lower - b.lower) < fmpq(1, 1000)
    critical = [heavy_traffic_offset(PowerOfD(x, 3, None, "1/3"), digits=4) for x in ("0.999", "0.9999")]
    assert abs(critical[0].lower - critical[1].lower) < fmpq(1, 20)
    with pytest.raises(DoesNotExist, match="does not grow like"):
        heavy_traffic_offset(PowerOfD("1/2", 2, None, "1/2"))
