"""Reference simulators against slow simulations of the definition, and against the exact values of every model."""

import itertools

import numpy as np
import pytest
from scipy import stats

from exactchains import QQ, InputError, stationary
from exactchains.number import nearest_double
from meanfield.finite import exact_chain
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.pools import Pools
from meanfield.models.shortest import JSQ
from proofs_check.catalogue import find
from proofs_check.simulators.balancing_suspects import RandomError
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.server_runs import _distinct, _samples, server_trace, simulate_policy
from proofs_check.simulators.validation import validate

CASES = {
    "mm1": {"lam": "1/2", "mu": "1"},
    "md1": {"lam": "1/2", "mu": "1"},
    "dm1": {"lam": "1/2", "mu": "1"},
    "mg1": {"lam": "1/2", "service": "hyper:1/2*2,1/2*2/3"},
    "gm1": {"arrivals": "erlang:2,1", "mu": "1"},
    "mmc": {"lam": "2", "mu": "1", "c": "3"},
    "mm1k": {"lam": "1", "mu": "1", "k": "4"},
    "mm11": {"lam": "1", "mu": "1"},
    "lcfs": {"lam": "1/2", "mu": "1"},
    "lcfs-preemptive": {"lam": "1/2", "mu": "1"},
    "mm12-replacement": {"lam": "1/2", "mu": "1"},
    "mm1-ps": {"lam": "1/2", "mu": "1"},
}


def trace(model: str, jobs: int, seed: int) -> dict[str, np.ndarray]:
    header, rows = job_trace(model, find(model).read(CASES[model]), jobs=jobs, seed=seed)
    return dict(zip(header, rows.T, strict=True))


@pytest.mark.parametrize("model", CASES)
def test_runs_do_not_disagree_with_the_exact_values(model):
    data = trace(model, 60_000, 4)
    names = {q.name for q in find(model).quantities}
    wanted = sorted(names & {"mean_queue", "mean_response", "age_mean", "peak_mean"})
    found = validate(model, CASES[model], data, quantities=wanted, margin="10%")
    for finding in found.findings:
        assert finding.judgement.verdict.value != "disagrees", finding.judgement
        assert abs(finding.judgement.difference) < 4.5 * finding.judgement.estimate.error


def by_events(arrive, service, servers: int, order: str) -> np.ndarray:
    """Departures by a plain event loop over a list of waiting jobs: slow, and nothing but the definition."""
    end, waiting, busy = np.full(len(arrive), np.nan), [], []
    i = 0
    while i < len(arrive) or waiting or busy:
        next_end = min(busy)[0] if busy else np.inf
        if i < len(arrive) and arrive[i] < next_end:
            now = arrive[i]
            waiting.append(i)
            i += 1
        else:
            now, job = min(busy)
            busy.remove((now, job))
        while waiting and len(busy) < servers:
            job = waiting.pop(0 if order == "first" else -1)
            end[job] = now + service[job]
            busy.append((end[job], job))
    return end


@pytest.mark.parametrize(("model", "servers", "order"), [("mm1", 1, "first"), ("mmc", 3, "first"), ("lcfs", 1, "last")])
def test_departures_are_those_of_a_plain_event_loop(model, servers, order):
    data = trace(model, 800, 2)
    service = data["t_end"] - data["t_start"]
    assert np.allclose(by_events(data["t_arrive"], service, servers, order), data["t_end"], atol=1e-9)


def test_sharing_is_that_of_small_time_steps():
    data = trace("mm1-ps", 40, 5)
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(2)[1])
    left, step, now = rng.exponential(1.0, 40), 1e-3, 0.0
    end = np.full(40, np.nan)
    while np.isnan(end).any():
        here = (data["t_arrive"] <= now) & np.isnan(end)
        if here.any():
            left[here] -= step / here.sum()
            end[here & (left <= 0)] = now
        now += step
    assert np.allclose(end, data["t_end"], atol=0.1)


def test_lost_and_replaced_jobs_are_marked():
    blocked = trace("mm1k", 5000, 1)
    assert np.isfinite(blocked["t_end"]).all() and len(blocked["job"]) < 5000
    assert np.isnan(trace("lcfs-preemptive", 5000, 1)["t_end"]).mean() == pytest.approx(1 / 3, abs=0.05)
    assert np.isnan(trace("mm12-replacement", 5000, 1)["t_start"]).any()


def test_same_seed_same_trace():
    assert np.array_equal(trace("mm1", 100, 3)["t_end"], trace("mm1", 100, 3)["t_end"])
    assert not np.array_equal(trace("mm1", 100, 3)["t_end"], trace("mm1", 100, 4)["t_end"])


PAIR = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}


@pytest.mark.parametrize(
    ("model", "parameters", "policy", "n"),
    [
        ("jsq", PAIR, JSQ("1/2:3/2,1/2:1/2", "1/2"), 2),
        ("jsq", PAIR | {"counts": "waiting"}, JSQ("1/2:3/2,1/2:1/2", "1/2", "waiting"), 2),
        ("pod.load-dependent", {"d": "2", "g": "1", "eps": "1/4", "lam": "1/2", "n": "2"},
         PowerOfD("1/2", 2, 1, "1/4", False), 2),
    ],
)  # fmt: skip
def test_servers_do_not_disagree_with_the_exact_chain(model, parameters, policy, n):
    header, rows = server_trace(policy, n, jobs=30_000, seed=6)
    data = dict(zip(header, rows.T, strict=True))
    found = validate(model, parameters, data, quantities=["mean_queue", "tail"], indices=[1, 2], margin="10%")
    for finding in found.findings:
        assert finding.judgement.verdict.value != "disagrees"
        assert abs(finding.judgement.difference) < 4.5 * finding.judgement.estimate.error


class Loyal(Policy):
    """The fast server, unless it has two jobs more than the slow one."""

    def route(self, sample):
        fast, slow = sample
        return {1: 1} if fast.jobs - slow.jobs >= 2 else {0: "3/4", 1: "1/4"}


def test_a_users_policy_is_simulated_by_its_rule():
    """Against the exact chain with a buffer: jobs lost, and the fast server's share of those let in."""
    policy, jobs = Loyal("4/5", "1/2:3/2,1/2:1/2"), 40_000
    chain = exact_chain(policy, n=2, buffer=3)
    law = stationary(chain.chain)
    lost = nearest_double(chain.blocking(law))
    found = simulate_policy(policy, n=2, jobs=jobs, seed=4, buffer=3)
    assert abs(1 - len(found["job"]) / jobs - lost) < 4 * (lost / jobs) ** 0.5 * 2
    busy = chain.quantity(law, "busy", 0) * QQ.convert("3/2") / (QQ.convert("8/5") * (1 - chain.blocking(law)))
    assert abs((found["server"] == 0).mean() - nearest_double(busy)) < 0.02


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 3}, "n = 3: n times the fraction"),
        ({"jobs": 0}, "jobs = 0: at least one job comes"),
        ({"seed": -1}, "seed = -1: it is an integer >= 0"),
        ({"buffer": 0}, "buffer = 0: at least one job must fit"),
        ({"policy": "jsq"}, "an object of a subclass of Policy is needed"),
        ({"n": 200_000}, "n = 200000: at most 100000 servers"),
    ],
)
def test_policies_that_cannot_be_simulated(change, words):
    given = {"policy": Loyal("1/2", "1/2:3/2,1/2:1/2"), "n": 2, "jobs": 10, "seed": 1} | change
    with pytest.raises(InputError, match=words):
        simulate_policy(given.pop("policy"), **given)


def test_waiting_only_shortest_queue_is_named():
    header, rows = server_trace(JSQ("1/2:3/2,1/2:1/2", "1/2", "waiting"), 2, jobs=60_000, seed=8)
    data = dict(zip(header, rows.T, strict=True))
    finding = validate("jsq", PAIR, data, quantities=["mean_queue"]).findings[0]
    assert finding.judgement.verdict.value == "disagrees"
    assert "compares waiting jobs only" in finding.diagnosis.matches[0].fault


def test_what_cannot_be_simulated_says_so():
    with pytest.raises(InputError, match="give n"):
        from proofs_check.simulators.reference import simulate

        model = find("jsq")
        simulate(model, model.read({"pools": "1:1", "lam": "1/2"}), seed=1)
    with pytest.raises(InputError, match="cannot be simulated"):
        job_trace("age.feedback", {}, jobs=10, seed=1)


def test_errors_to_a_random_one_of_two_are_errors_to_the_longest_half_as_often():
    random_error = RandomError("1/2", 2, 1, "1/3")
    halved = PowerOfD("1/2", 2, 1, "1/6", False)
    for loads in (((0, 1, 1),), ((0, 0, 3),), ((2, 3, 4),)):
        assert random_error.enumerated_law(loads) == halved.enumerated_law(loads)


@pytest.mark.parametrize("g", ["8", None])
def test_errors_to_a_random_server_are_named(g):
    words = {"d": "2", "eps": "1/2", "lam": "1/2", "n": "2"} | ({"g": g} if g else {})
    model = "pod.load-dependent" if g else "pod.load-independent"
    header, rows = server_trace(RandomError("1/2", 2, int(g) if g else None, "1/2"), 2, jobs=60_000, seed=9)
    finding = validate(model, words, dict(zip(header, rows.T, strict=True)), quantities=["mean_queue"], margin="3%")
    named = [suspect.fault for suspect in finding.findings[0].diagnosis.matches]
    assert any("random sampled server" in fault for fault in named)


class Speedy(RandomError):
    weighting = "speed"


def test_servers_are_sampled_uniformly_or_by_speed_with_and_without_replacement():
    counts = np.bincount(_distinct(4, 3, np.random.default_rng(1)) @ [16, 4, 1], minlength=64)
    tuples = [16 * i + 4 * j + k for i in range(4) for j in range(4) for k in range(4) if len({i, j, k}) == 3]
    assert counts.sum() == counts[tuples].sum() and stats.chisquare(counts[tuples]).pvalue > 1e-3
    pools = Pools.read("1/2:3/2,1/2:1/2")
    for replacement, share in ((False, (3 / 4, 1 / 4)), (True, (9 / 16, 3 / 16, 3 / 16, 1 / 16))):
        policy = Speedy("1/2", 2, None, 0, replacement, pools)
        seen = np.array(list(itertools.islice(_samples(policy, [0, 1], np.random.default_rng(2)), 4096))) @ [2, 1]
        pairs = [0, 1, 2, 3] if replacement else [1, 2]  # (0, 1) first sees the fast server
        found = np.bincount(seen, minlength=4)
        assert found.sum() == found[pairs].sum()
        assert stats.chisquare(found[pairs], 4096 * np.array(share)).pvalue > 1e-3
