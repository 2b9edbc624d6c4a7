"""Response times with several pools: against truncated chains by brute force, closed forms, and the mean."""

import math

import pytest
from flint import fmpq

from exactchains.solvers.stationary import stationary
from exactchains.truth import DoesNotExist, InputError
from meanfield.finite import exact_chain
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import SpeedAwareJSQ
from meanfield.solvers.quantities import balancing_quantity
from meanfield.solvers.response import response_ccdf

TWO = "1/2:3/2,1/2:1/2"


def _exceeds(policy, loads, at):
    """P(T > at) of a job that finds ``loads``: an Erlang time at the server that the rule gives it."""
    total = 0.0
    for (pool, jobs), chance in policy.law(loads).items():
        mean = at * float(policy.pools.speeds[pool].p) / int(policy.pools.speeds[pool].q)
        stages = sum(mean**i / math.factorial(i) for i in range(jobs + 1))
        total += int(chance.p) / int(chance.q) * math.exp(-mean) * stages
    return fmpq(*total.as_integer_ratio())


@pytest.mark.parametrize("policy", [SpeedAwareJSQ(TWO, "2/5"), SED(TWO, "2/5"), JIQ(TWO, "2/5")], ids=repr)
@pytest.mark.parametrize("at", [1, 4])
def test_two_pools_against_a_long_buffer(policy, at):
    """Arrivals see the stationary law; at this load a buffer of 18 cuts off less than 1e-6."""
    found = response_ccdf(policy, at=fmpq(at), n=2, digits=6).enclosure
    chain = exact_chain(policy, n=2, buffer=18)
    cut = chain.mean(stationary(chain.chain, digits=12), lambda loads: _exceeds(policy, loads, at))
    assert abs(cut.lower - found.lower) < fmpq(1, 10**6)
    assert found.has_digits(6)


@pytest.mark.parametrize("n", [2, None])
def test_random_routing_mixes_exponentials(n):
    found = response_ccdf(RandomBySpeed(TWO, "1/2"), at=fmpq(3), n=n, digits=15).enclosure
    exact = 0.75 * math.exp(-2.25) + 0.25 * math.exp(-0.75)
    assert abs(int(found.lower.p) / int(found.lower.q) - exact) < 1e-14


def test_the_mean_in_the_limit_is_the_integral_of_the_tail():
    policy, step = SpeedAwareJSQ(TWO, "9/10"), fmpq(1, 8)
    tails = [response_ccdf(policy, at=step * i, digits=6).enclosure.lower for i in range(1, 200)]
    area = step * (sum(tails, fmpq(0)) + fmpq(1, 2))
    mean = balancing_quantity(policy, "mean_response").value
    assert abs(area - mean) < fmpq(1, 200)


def test_refusals():
    with pytest.raises(InputError, match="at most 9 digits"):
        response_ccdf(SED(TWO, "1/2"), at=fmpq(1), n=2, digits=10)
    with pytest.raises(InputError, match="a time is >= 0"):
        response_ccdf(SED(TWO, "1/2"), at=fmpq(-1), n=2)
    with pytest.raises(DoesNotExist, match="limit 3/4"):
        response_ccdf(JIQ(TWO, "4/5"), at=fmpq(1), n=2, digits=5)
