"""Exact chains on n servers: published truncations, bounds of the infinite system by independent routes."""

import json
import re
from itertools import accumulate
from pathlib import Path

import pytest
from flint import fmpq, fmpq_mat

from exactchains.domain import QQ
from exactchains.solvers.stationary import stationary
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from meanfield.finite import exact_chain, labelled_chain
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.pools import Pools
from meanfield.models.random import RandomBySpeed, Threshold
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.solvers import effort
from meanfield.solvers.enclosures import server_system
from meanfield.solvers.one_gate import one_gate
from meanfield.solvers.quantities import balancing_quantity
from meanfield.solvers.response import response_ccdf
from meanfield.solvers.two_servers import pair_expectation

DATA = Path(__file__).parent.parent / "data"
NOISY = json.loads((DATA / "noisy_comparison_values.json").read_text())
POOLED = json.loads((DATA / "heterogeneous_values.json").read_text())
TWO = "1/2:3/2,1/2:1/2"
THREE = "1/3:3/2,1/3:1,1/3:1/2"


def _noisy(row):
    gap = None if row["g"] == "inf" else row["g"]
    return PowerOfD(row["lam"], row["d"], gap, row["eps"], row["replacement"])


def _close(found, published, digits):
    return abs(found.lower / QQ.convert(published) - 1) < fmpq(1, 10**digits)


@pytest.mark.parametrize("row", NOISY["exact_small"], ids=lambda r: f"n={r['n']}")
def test_exact_rational_cases(row):
    chain = exact_chain(_noisy(row), n=row["n"], buffer=row["B"])
    law = stationary(chain.chain)
    assert str(chain.quantity(law, "mean_queue")) == row["EQ"]
    assert str(chain.blocking(law)) == row["p_block"]
    assert str(law[0]) == row["p_empty"]


@pytest.mark.parametrize("row", NOISY["finite_n"], ids=lambda r: f"n={r['n']},g={r['g']}")
def test_truncated_chains_and_the_infinite_system_above_them(row):
    policy, n = _noisy(row), row["n"]
    for cut in row["by_B"][:: 2 if n < 4 else 3]:
        found = balancing_quantity(policy, "mean_queue", n=n, buffer=cut["B"], digits=40)
        assert _close(found, cut["EQ"], 38)
        blocked = balancing_quantity(policy, "blocking", n=n, buffer=cut["B"], digits=40)
        assert _close(blocked, cut["p_block"], 17)
        busy = balancing_quantity(policy, "tail", index=1, n=n, buffer=cut["B"], digits=40)
        assert abs(busy.lower - policy.load * (1 - blocked.lower)) < fmpq(1, 10**38)
    whole = server_system(policy, n=n, digits=10 if n < 4 else 7).enclosure("mean_queue")
    assert QQ.convert(row["by_B"][-1]["EQ"]) <= whole.upper
    assert _close(whole, row["by_B"][-1]["EQ"], 6)


FAMILIES = {"SAJSQ": SpeedAwareJSQ, "JSQ": JSQ, "SED": SED, "SAJIQ": SpeedAwareJIQ, "JIQ": JIQ}


def _pooled(row):
    n = sum(count for count, _ in row["pools"])
    pools = Pools.of([(fmpq(count, n), speed) for count, speed in row["pools"]])
    name, _, fallback = row["policy"].partition("_")
    extra = {"fallback": {"s": "speed", "u": "uniform"}[fallback]} if fallback else {}
    return FAMILIES[name](pools, row["lam"], **extra), n


@pytest.mark.parametrize("row", POOLED["finite_N"], ids=lambda r: f"{r['policy']},{r['pools']},{r['lam']}")
def test_independent_values_of_pools(row):
    """The file's chains are cut at K: where it bounds the cut, our enclosure lies within that bound of its value."""
    policy, n = _pooled(row)
    digits = 9 if n == 2 and row["lam"] != "9/10" else 6
    found = balancing_quantity(policy, "mean_response", n=n, digits=digits)
    cut = QQ.convert(str(row.get("trunc_bound_EQ_total") or "1e-9")) / (n * policy.load)
    published = QQ.convert(row["ET"])
    assert found.lower <= published * (1 + fmpq(1, 10**12)) + cut
    assert published - fmpq(1, 10**12) <= found.upper
    assert abs(found.lower - published) <= cut + found.upper - found.lower + fmpq(1, 10**12)


@pytest.mark.parametrize(
    "row", [r for r in POOLED["finite_N"] if r["K"] in (12, 16, 28, 30)], ids=lambda r: r["policy"]
)
def test_the_same_truncation_gives_the_same_digits(row):
    policy, n = _pooled(row)
    found = balancing_quantity(policy, "mean_queue", n=n, buffer=min(row["K"], 12), digits=20)
    if row["K"] == 12:
        assert abs(n * found.lower / QQ.convert(row["EQ_total"]) - 1) < fmpq(1, 10**19)
    assert n * found.lower <= QQ.convert(row["EQ_total"])


def test_two_servers_speed_aware_by_three_routes_to_30_digits():
    policy = SpeedAwareJSQ(TWO, "1/2")
    gate = one_gate(policy, n=2, digits=30).enclosure("mean_queue")
    chains = server_system(policy, n=2, digits=30).enclosure("mean_queue")
    pair = pair_expectation(policy, "mean_queue", None, digits=30).enclosure
    published = QQ.convert(POOLED["qbd_N2_SAJSQ"][0]["level_min"]["EQ_total"]) / 2
    for found in (gate, chains, pair):
        assert found.has_digits(30)
        assert abs(found.lower - published) < fmpq(1, 10**29)
    assert gate.overlaps(chains)
    assert gate.overlaps(pair)


def test_all_quantities_agree_between_the_routes():
    policy = SpeedAwareJSQ(TWO, "7/10")
    gate, chains = one_gate(policy, n=2, digits=12), server_system(policy, n=2, digits=12)
    for name, index in (("tail", 2), ("busy", 0), ("busy", 1), ("pool_mean_queue", 1), ("idle", None)):
        a, b = gate.enclosure(name, index), chains.enclosure(name, index)
        assert a.overlaps(b)
        assert a.has_digits(9)
        assert b.has_digits(9)
    speeds = (fmpq(3, 4), fmpq(1, 4))  # work is conserved: the busy speeds add up to the load
    busy = [chains.enclosure("busy", j) for j in (0, 1)]
    assert sum(s * b.lower for s, b in zip(speeds, busy, strict=True)) <= policy.load
    assert sum(s * b.upper for s, b in zip(speeds, busy, strict=True)) >= policy.load


@pytest.mark.parametrize(
    ("policy", "n", "digits"),
    [
        (SpeedAwareJSQ(THREE, "3/5"), 3, 7),
        (SpeedAwareJSQ(TWO, "99/100"), 2, 8),
        (SpeedAwareJSQ(TWO, "1/2"), 4, 6),
        (SED(TWO, "9/10"), 2, 9),
        (JSQ(TWO, "1/2", counts="waiting"), 2, 10),
        (PoolPowerOfD(TWO, "1/2"), 2, 10),
        (PowerOfD("9/10", 2, 1, "1/2"), 3, 6),
    ],
    ids=repr,
)
def test_comparison_chains_lie_above_every_truncation(policy, n, digits):
    found = server_system(policy, n=n, digits=digits).enclosure("mean_queue")
    assert found.has_digits(digits)
    cut = balancing_quantity(policy, "mean_queue", n=n, buffer=6 if n > 2 else 25, digits=12)
    assert cut.lower <= found.upper
    assert cut.lower * 20 >= found.lower


def test_reported_width_at_three_servers():
    found = server_system(PowerOfD("9/10", 2, 1, "1/2"), n=3, digits=12).enclosure("mean_queue")
    assert found.contains("4.038710672671065")


def test_random_routing_and_one_server_are_closed_forms():
    assert balancing_quantity(RandomBySpeed(TWO, "3/4"), "mean_response", n=2).value == 4
    assert balancing_quantity(PowerOfD("3/4", 2, 1, 1, True), "mean_queue", n=1).value == 3
    random = server_system(PowerOfD("1/2", 1), n=2, digits=8).enclosure("tail", 2)
    assert random.contains("1/4")


def test_power_of_two_at_eps_one_half_is_random():
    """d = 2, errors at every gap with probability 1/2: random routing for every n."""
    found = server_system(PowerOfD("1/2", 2, None, "1/2"), n=2, digits=8)
    assert found.enclosure("mean_queue").contains(1)
    assert found.enclosure("tail", 3).contains("1/8")


def test_starving_rules_on_two_servers():
    assert balancing_quantity(JIQ(TWO, "1/2"), "mean_response", n=2, digits=12).enclosure.contains(
        "2.116609013135989254"
    )
    with pytest.raises(DoesNotExist, match="limit 3/4"):
        balancing_quantity(JIQ(TWO, "76/100"), "mean_response", n=2)
    assert balancing_quantity(JIQ(TWO, "74/100"), "stability_limit", n=2).value == fmpq(3, 4)
    with pytest.raises(Undecided):
        balancing_quantity(JIQ("2/4:3/2,2/4:1/2", "3/5"), "mean_queue", n=4)
    with pytest.raises(Undecided, match="n = 2: the uniform fallback starves servers slower than the load"):
        response_ccdf(JIQ(TWO, "1/2"), at=1, n=2)


@pytest.mark.parametrize("rule", [JIQ, SpeedAwareJIQ])
@pytest.mark.parametrize(
    ("name", "index"), [("tail", 1), ("tail", 4), ("joined", 2), ("busy", 0), ("busy", 1), ("idle", None)]
)
def test_flow_balance_of_idle_queue_rules_on_two_servers(rule, name, index):
    """Against comparison chains where no server starves, and against a buffer that is rarely full where one does."""
    pair = pair_expectation(rule(TWO, "1/4"), name, index, digits=9).enclosure
    assert pair.overlaps(balancing_quantity(rule(TWO, "1/4"), name, index=index, n=2, digits=9).enclosure)
    starved = balancing_quantity(rule(TWO, "1/2"), name, index=index, n=2, digits=9).enclosure
    cut = balancing_quantity(rule(TWO, "1/2"), name, index=index, n=2, digits=9, buffer=24).enclosure
    assert abs(starved.lower - cut.lower) < fmpq(1, 10**5)


def test_too_many_digits_cost_no_more_than_the_states_and_leave_the_best_bounds(monkeypatch):
    """The bounds that the refusal names enclose the truth, and the digits that it offers are reached."""
    monkeypatch.setitem(effort.STATES, 3, 1500)
    policy = PowerOfD("4/5", 2, 1, "1/2")
    with pytest.raises(PrecisionExhausted, match="ask for fewer") as refused:
        balancing_quantity(policy, "mean_queue", n=3, digits=30)
    low, high, offered = re.search(r"in \[(.*), (.*)\]; ask for fewer, (\d+) can be had", str(refused.value)).groups()
    found = balancing_quantity(policy, "mean_queue", n=3, digits=int(offered)).enclosure
    monkeypatch.undo()
    truth = server_system(policy, n=3, digits=int(offered) + 3).enclosure("mean_queue")
    assert QQ.convert(low) <= truth.lower <= truth.upper <= QQ.convert(high)
    assert found.overlaps(truth)
    with pytest.raises(PrecisionExhausted, match=r"20 digits of the mean queue are not reached; it lies in \["):
        server_system(policy, n=3, digits=20, most=500)
    with pytest.raises(PrecisionExhausted, match=r"no digit .* take fewer servers, a lower load or a buffer"):
        server_system(PowerOfD("999/1000"), n=2, digits=20, most=6000)


def test_rare_tails_keep_their_digits():
    """Against the chain with a long buffer; far beyond, a refusal at once."""
    policy = PowerOfD("1/3", 2, 1, "1/2")
    chain = exact_chain(policy, n=2, buffer=18)
    law = stationary(chain.chain, digits=30)
    for name, index in (("tail", 10), ("joined", 9)):
        found = balancing_quantity(policy, name, index=index, n=2, digits=6).enclosure
        cut = chain.quantity(law, "tail", 10).lower / (1 if name == "tail" else policy.load)
        assert found.has_digits(6)
        assert abs(found.lower - cut) < found.lower / 10**5
    with pytest.raises(PrecisionExhausted, match=r"too rare, about .* zeros; take a smaller index"):
        balancing_quantity(policy, "tail", index=10**6, n=2)


@pytest.mark.parametrize(("load", "buffer"), [("1/2", 1), ("9/10", 6), ("1/3", 12)])
def test_the_variance_of_time_averages_of_one_server_is_that_of_a_birth_death_chain(load, buffer):
    """Up and down crossings: the sum over k of 2 (sum to k of pi_i (i - c))^2 / (load pi_k), in fractions."""
    rate = QQ.convert(load)
    weights = [rate**k for k in range(buffer + 1)]
    law = [w / sum(weights) for w in weights]
    mean = sum(k * p for k, p in enumerate(law))
    below = list(accumulate(p * (k - mean) for k, p in enumerate(law)))
    variance = 2 * sum(s**2 / (rate * p) for s, p in zip(below[:-1], law, strict=False))
    found = balancing_quantity(JSQ("1:1", load), "time_average_variance", n=1, buffer=buffer, digits=25)
    assert found.lower <= variance <= found.upper
    assert found.enclosure.has_digits(25)


@pytest.mark.parametrize(
    ("policy", "n", "buffer"),
    [(JSQ("1:1", "9/10"), 2, 3), (SpeedAwareJSQ(TWO, "1/2"), 2, 2), (PowerOfD("3/4", 2, 1, "1/3"), 3, 2)],
    ids=repr,
)
def test_the_variance_of_time_averages_is_that_of_the_labelled_chain(policy, n, buffer):
    """The deviation matrix of labelled servers, (1 pi - Q)^-1 - 1 pi, in fractions."""
    states, chain = labelled_chain(policy, n=n, buffer=buffer)
    size = len(states)
    rates = fmpq_mat(size, size)
    for i, row in enumerate(chain.rows):
        for j, rate in row.items():
            if i != j:
                rates[i, j] += rate
                rates[i, i] -= rate
    law = stationary(chain)
    ones = fmpq_mat([list(law) for _ in states])
    jobs = fmpq_mat([[fmpq(sum(q), n)] for q in states])
    gain = (ones - rates).inv() * jobs - ones * jobs
    variance = 2 * sum(p * jobs[i, 0] * gain[i, 0] for i, p in enumerate(law))
    found = balancing_quantity(policy, "time_average_variance", n=n, buffer=buffer, digits=20)
    assert found.lower <= variance <= found.upper
    assert found.enclosure.has_digits(20)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: balancing_quantity(JSQ("1:1", "1/2"), "mean_queue", n=2, digits=10**5),
            InputError,
            "digits = 100000: at",
        ),
        (lambda: server_system(Threshold(TWO, "1/2"), n=2, digits=5), InputError, "monotone"),
        (lambda: one_gate(SED(TWO, "1/2"), n=2, digits=5), InputError, "one-gate bound needs JSQ"),
        (lambda: one_gate(JSQ(TWO, "99/100"), n=2, digits=9), PrecisionExhausted, "states"),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "blocking", n=2), InputError, "blocking needs buffer"),
        (
            lambda: balancing_quantity(JSQ(TWO, "1/2"), "time_average_variance", n=2),
            InputError,
            "variance needs buffer",
        ),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "time_average_variance", buffer=2), InputError, "needs n"),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "mean_queue", buffer=3), InputError, "needs n"),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "busy", index=2), InputError, "pools are 0 to 1"),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "wait"), InputError, "allowed are"),
        (lambda: pair_expectation(SED(TWO, "1/2"), "mean_queue", None, digits=5), InputError, "pair chain needs JSQ"),
        (lambda: balancing_quantity(PowerOfD("7/10", 2, None, "4/5"), "mean_queue", n=3), DoesNotExist, "5/8"),
    ],
)
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()
