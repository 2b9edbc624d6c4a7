"""Response times with several pools: against truncated chains by brute force, closed forms, and the mean."""

import math

import pytest
from flint import fmpq

from exactchains.solvers.stationary import stationary
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted
from meanfield.finite import exact_chain
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import PoolPowerOfD, SpeedAwareJSQ
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


def test_every_queue_on_its_own_is_a_mixture_of_exponentials():
    """Uniform samples of one server: arrivals at the load, whatever the speed."""
    blind = PoolPowerOfD(TWO, "2/5", 1)
    found = response_ccdf(blind, at="5/2", n=2, digits=12).enclosure
    assert abs(int(found.lower.p) / int(found.lower.q) - (math.exp(-2.75) + math.exp(-0.25)) / 2) < 1e-12


@pytest.mark.parametrize(("n", "at", "digits", "buffer", "near"), [(2, 20, 6, 24, 10**4), (3, 9, 4, 12, 10**3)])
def test_equal_servers_at_late_times_against_a_long_buffer(n, at, digits, buffer, near):
    policy = PowerOfD("2/5", 2, 1, "1/2")
    found = response_ccdf(policy, at=at, n=n, digits=digits).enclosure
    chain = exact_chain(policy, n=n, buffer=buffer)
    cut = chain.mean(stationary(chain.chain, digits=40 if n == 2 else 12), lambda loads: _exceeds(policy, loads, at))
    assert found.has_digits(digits)
    assert n == 3 or found.upper < fmpq(1, 10**6)
    assert abs(cut.lower - found.lower) < found.lower / near


def test_the_mean_in_the_limit_is_the_integral_of_the_tail():
    policy, step = SpeedAwareJSQ(TWO, "9/10"), fmpq(1, 8)
    tails = [response_ccdf(policy, at=step * i, digits=6).enclosure.lower for i in range(1, 200)]
    area = step * (sum(tails, fmpq(0)) + fmpq(1, 2))
    mean = balancing_quantity(policy, "mean_response").value
    assert abs(area - mean) < fmpq(1, 200)


def test_refusals():
    with pytest.raises(PrecisionExhausted, match="take an earlier time"):
        response_ccdf(SED(TWO, "1/2"), at=10**6, n=2, digits=3)
    with pytest.raises(InputError, match=r"at = 1\.0 is a float"):
        response_ccdf(SED(TWO, "1/2"), at=1.0, n=2)
    with pytest.raises(InputError, match="digits = 0"):
        response_ccdf(SED(TWO, "1/2"), at=1, n=2, digits=0)
    with pytest.raises(InputError, match="a time is >= 0"):
        response_ccdf(SED(TWO, "1/2"), at=fmpq(-1), n=2)
    with pytest.raises(DoesNotExist, match="limit 3/4"):
        response_ccdf(JIQ(TWO, "4/5"), at=fmpq(1), n=2, digits=5)
