"""Closed routing laws against enumeration of the job-level rule; lumped chains against labelled ones; refusals."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains.truth import DoesNotExist, InputError
from meanfield.closed_forms import equilibrium
from meanfield.finite import exact_chain, labelled_chain
from meanfield.flow import drift as field
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy, evenly
from meanfield.models.pools import Pools
from meanfield.models.random import RandomBySpeed, Threshold
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.monotone import monotonicity_violation
from meanfield.solvers.enclosures import server_system
from meanfield.solvers.quantities import balancing_quantity
from proofs_check.lyapunov.engine import drift

TWO = "1/2:3/2,1/2:1/2"
THREE = "1/4:2,1/4:1,1/2:1/2"


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_closed_law_of_noisy_comparisons_is_the_enumeration_of_all_samples(d, replacement):
    for n in range(1 if replacement else d, 8):
        states = list(combinations_with_replacement(range(4), n))
        for g in (0, 1, 2, 3, None):
            policy = PowerOfD("1/2", d, g, "1/3", replacement)
            for queue in states[:: 1 + len(states) // 60]:
                assert policy.law((queue,)) == policy.enumerated_law((queue,))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=7), st.integers(2, 3), st.integers(0, 9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_closed_law_holds_with_large_gaps(queue, d, g, replacement):
    loads = (tuple(sorted(queue)),)
    policy = PowerOfD("1/2", min(d, len(queue)), g, "3/7", replacement)
    law = policy.law(loads)
    assert law == policy.enumerated_law(loads)
    assert sum(law.values()) == 1


POOLED = [
    JSQ(TWO, "1/2"),
    JSQ(TWO, "1/2", counts="waiting"),
    SpeedAwareJSQ(TWO, "1/2"),
    JIQ(TWO, "1/2"),
    JIQ(TWO, "1/2", fallback="speed"),
    SpeedAwareJIQ(TWO, "1/2"),
    SpeedAwareJIQ(THREE, "1/2", fallback="speed"),
    SED(TWO, "1/2"),
    SED(THREE, "1/2", ties="random"),
    RandomBySpeed(TWO, "1/2"),
    Threshold(TWO, "1/2", threshold=2, replacement=False),
    PoolPowerOfD(TWO, "1/2"),
    PoolPowerOfD(TWO, "1/2", weighting="speed", ties="fastest"),
    PowerOfD("1/2", 2, 1, "1/2"),
    PowerOfD("1/2", 2, None, "3/4", True),
]


@pytest.mark.parametrize("policy", POOLED, ids=repr)
def test_closed_law_is_the_enumeration(policy):
    sizes = policy.pools.sizes(4)
    for queues in product(*(list(combinations_with_replacement(range(3), size)) for size in sizes)):
        assert policy.law(queues) == policy.enumerated_law(queues)


@pytest.mark.parametrize("policy", POOLED, ids=repr)
def test_lumped_chain_is_the_labelled_one(policy):
    n = 4
    sizes = policy.pools.sizes(n)
    lumped = exact_chain(policy, n=n, buffer=2)
    states, labelled = labelled_chain(policy, n=n, buffer=2)
    place = {s: i for i, s in enumerate(lumped.states)}
    block = [place[_by_pool(q, sizes)] for q in states]
    for i, row in enumerate(labelled.rows):
        found: dict[int, fmpq] = {}
        for j, rate in row.items():
            found[block[j]] = found.get(block[j], 0) + rate
        assert found == lumped.chain.rows[block[i]]


def _by_pool(q, sizes):
    found, start = [], 0
    for size in sizes:
        found.append(tuple(sorted(q[start : start + size])))
        start += size
    return tuple(found)


class Middle(Policy):
    """Sample three, join the middle one: a user's policy."""

    d = 3

    def route(self, sample):
        return {sorted(range(3), key=lambda i: sample[i].jobs)[1]: 1}


class Silent(Policy):
    """Forgets to answer."""

    def route(self, sample):
        return None


class FirstServer(Policy):
    """Depends on the label of a server."""

    def route(self, sample):
        return {0: 1}


class Half(Policy):
    """Probabilities that sum to one half."""

    d = 2

    def route(self, sample):
        return {0: "1/2"}


class Raising(Policy):
    """Fails on its own."""

    def route(self, sample):
        return {}[7]


class Sorting(Policy):
    """Sorts the list that it is given."""

    d = 2

    def route(self, sample):
        sample.sort(key=lambda s: s.jobs)
        return {0: 1}


class Tired(Policy):
    """The shorter of two queues, any when both hold five jobs or more: not what it states."""

    d = 2
    homogeneous = monotone = True

    def route(self, sample):
        least = min(s.jobs for s in sample)
        return evenly(i for i, s in enumerate(sample) if s.jobs == least or least >= 5)


class Contrary(Policy):
    """The longest queue when there are two lengths, else the shortest: not monotone."""

    homogeneous = monotone = True

    def route(self, sample):
        jobs = [s.jobs for s in sample]
        wanted = max(jobs) if len(set(jobs)) == 2 else min(jobs)
        return evenly(i for i, q in enumerate(jobs) if q == wanted)


class Wide(Policy):
    """Either of two queues that differ by at most five jobs, else the shorter: monotone, not in weak majorisation."""

    d = 2
    homogeneous = monotone = majorised = True

    def route(self, sample):
        a, b = (s.jobs for s in sample)
        return evenly([0, 1] if abs(a - b) <= 5 else [0 if a < b else 1])


class Bare(Policy):
    """Forgets to call the __init__ of Policy."""

    def __init__(self):
        pass


class Sampling(Policy):
    """Joins the first server of a sample that is stated in some way."""

    def __init__(self, load, d=2, replacement=False, weighting="uniform"):
        super().__init__(load)
        self.d, self.replacement, self.weighting = d, replacement, weighting

    def route(self, sample):
        return {0: 1}


def test_a_users_policy_has_a_chain_of_its_own():
    chain = exact_chain(Middle("1/2"), n=3, buffer=2)
    assert chain.policy.law(((0, 1, 2),)) == {(0, 1): 1}
    states, labelled = labelled_chain(Middle("1/2"), n=3, buffer=2)
    assert labelled.rows[states.index((0, 1, 2))][states.index((0, 2, 2))] == fmpq(3, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Pools.read("1/2:3/2,1/3:1/2"), "fractions sum to 5/6"),
        (lambda: Pools.read("1/2:2,1/2:1"), "rescaled: pools=1/2:4/3,1/2:2/3"),
        (lambda: Pools.read("1/2:1/2,1/2:3/2"), "fastest pool first"),
        (lambda: Pools.read("1/2;3/2"), "no fraction:speed"),
        (lambda: Pools.read(TWO).sizes(3), "multiple of 2"),
        (lambda: PowerOfD("1/2", eps="11/10"), r"eps = 11/10: an error probability lies in \[0, 1\]"),
        (lambda: PowerOfD("1"), "load = 1"),
        (lambda: JSQ(TWO, "3/2"), "load = 3/2"),
        (lambda: PowerOfD("1/2", d=0), "d = 0"),
        (lambda: PowerOfD("1/2", g=-1), "g = -1"),
        (lambda: exact_chain(PowerOfD("1/2", d=3), n=2, buffer=3), "d = 3: without replacement at most n = 2"),
        (lambda: exact_chain(Half("1/2"), n=2, buffer=3), "Half.route .* probabilities sum to 1/2"),
        (lambda: exact_chain(FirstServer("1/2"), n=2, buffer=3), "FirstServer.route depends on the order"),
        (lambda: exact_chain(Silent("1/2"), n=2, buffer=3), r"Silent.route on loads \[0, 0\]: None; return a dict"),
        (lambda: exact_chain(Raising("1/2"), n=2, buffer=3), r"Raising.route on loads \[0, 0\]: it raised KeyError: 7"),
        (lambda: drift(Raising("1/2"), n=2), r"Raising.route on loads .*: it raised KeyError: 7"),
        (lambda: drift(FirstServer("1/2"), n=2), "FirstServer.route depends on the order"),
        (lambda: exact_chain(Sorting("1/2"), n=2, buffer=3), "Sorting.route on loads .* 'tuple' object has no"),
        (lambda: server_system(Tired("1/2"), n=3, digits=3), r"Tired.homogeneous: .* loads .* get other answers"),
        (lambda: server_system(Contrary("1/2"), n=3, digits=3), r"Contrary.monotone: .* loads \(\(0, 0, 2\),\) and"),
        (lambda: server_system(Wide("1/2"), n=5, digits=2), r"Wide.majorised: .* loads \(\(0, 1, 6\),\), the larger"),
        (lambda: exact_chain(Half, n=2, buffer=3), r"this is the class Half; make one, Half\(..\)"),
        (lambda: exact_chain("jsq", n=2, buffer=3), "subclass of Policy is needed, this is jsq"),
        (lambda: exact_chain(Bare(), n=2, buffer=3), "Bare has no load or pools"),
        (lambda: exact_chain(Sampling("1/2", d="2"), n=2, buffer=3), "d = '2': the number of sampled servers is"),
        (lambda: exact_chain(Sampling("1/2", d=True), n=2, buffer=3), "d = True"),
        (lambda: exact_chain(Sampling("1/2", replacement="no"), n=2, buffer=3), "replacement = 'no': allowed are True"),
        (lambda: exact_chain(Sampling("1/2", weighting="size"), n=2, buffer=3), "weighting = 'size': allowed are"),
        (lambda: Sampling("1/2", d=30).law(((0, 1) * 20,)), "more than 500000 ordered samples; lower d or n"),
        (lambda: PowerOfD("1/2", 2, 1, "1/2", "no"), "replacement = 'no': allowed are True"),
        (lambda: PowerOfD("1/2", d=None), "d = None"),
        (lambda: PowerOfD("1/2", d=10**9), "d = 1000000000: .* of at most 1000"),
        (lambda: PowerOfD("1/2", g=True), "g = True"),
        (lambda: PowerOfD("0"), "load = 0: .* without arrivals"),
        (lambda: PowerOfD("-1/2"), "load = -1/2: .* without arrivals"),
        (lambda: JSQ([(1, 1, 1)], "1/2"), "give text such as"),
        (lambda: JSQ(None, "1/2"), "pools = None: give text such as"),
        (lambda: Pools.read("1/1000000007:1,1000000006/1000000007:1"), "fastest pool first"),
        (lambda: Pools.read("1/1000000007:2,1000000006/1000000007:1000000005/1000000006").sizes(2), "of 1000000007"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=True, buffer=2), "n = True"),
        (lambda: labelled_chain(JSQ(TWO, "1/2"), n=20, buffer=9), "labelled states"),
        (lambda: monotonicity_violation(JSQ(TWO, "1/2"), n=4, most=-1), "most = -1"),
        (lambda: monotonicity_violation(JSQ(TWO, "1/2"), n=4, most=10**6), "more than 3000 loads"),
        (lambda: server_system(JSQ(TWO, "1/2"), n=10**6, digits=3), "at most 1000 servers are enclosed"),
        (lambda: server_system(JSQ(TWO, "1/2"), n=2, digits=2.0), "digits = 2.0"),
        (lambda: server_system(SED("1/2:1.00001,1/2:0.99999", "1/2"), n=2, digits=2), "only after 200000 jobs"),
        (
            lambda: server_system(PowerOfD("0.1234567890123456789012"), n=2, digits=3),
            "denominator of 2. digits",
        ),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "mean_queue", n=2, digits=True), "digits = True"),
        (lambda: balancing_quantity(JSQ(TWO, "1/2"), "tail", index=-1, n=2), "index = -1"),
        (lambda: field(PowerOfD("1/2"), [1, "1/2"]), "tails"),
        (lambda: field(PowerOfD("1/2"), [[1, 0.5]]), "is a float"),
        (lambda: field(PoolPowerOfD(TWO, "1/2"), [[1, "1/2"]]), "tails .* 2 pools"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=2, buffer=0), "buffer = 0"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=2, buffer=2.5), "buffer = 2.5: .* give an integer"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=2.0, buffer=2), "n = 2.0: .* give an integer"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=10**6, buffer=2), "more than 1000000 states"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=2, buffer=1000), "more than 1000000 states"),
        (lambda: exact_chain(JSQ(TWO, "1/2"), n=10**6, buffer=10**6), "more than 1000000 states"),
        (lambda: JIQ(TWO, "1/2", fallback="none"), "uniform | speed"),
    ],
)
def test_bad_input_is_one_clear_line(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_field_takes_every_spelling_of_exact_numbers():
    exact = [[fmpq(1), fmpq(1, 2), fmpq(1, 8), fmpq(0)]]
    assert field(PowerOfD("1/2"), [[1, "1/2", Fraction(1, 8), 0]]) == field(PowerOfD("1/2"), exact)


def test_floats_are_refused():
    with pytest.raises(TypeError, match="1/2"):
        PowerOfD(0.5)


def test_evenly_is_a_law():
    assert evenly([1, 3]) == {1: fmpq(1, 2), 3: fmpq(1, 2)}


def test_thresholds():
    assert JIQ(TWO, "1/2").stability_limit(2) == fmpq(3, 4)
    assert JIQ(TWO, "1/2", fallback="speed").stability_limit(2) == 1
    limit = JIQ("1/2:9/5,1/2:1/5", "1/10").stability_limit(2)
    assert limit.digits(30) == "0.477200187265876558393582416311"
    assert PowerOfD("1/2", 2, None, "3/4").stability_limit(2) == fmpq(2, 3)
    assert PowerOfD("1/2", 2, None, "3/4", True).stability_limit(2) == fmpq(4, 5)
    assert PowerOfD("1/2", 3, None, "2/5", True).stability_limit(3) == 1
    assert PoolPowerOfD("1/2:19/10,1/2:1/10", "1/2").stability_limit(None) == fmpq(1, 5)


@pytest.mark.parametrize("weighting", ["uniform", "speed"])
@pytest.mark.parametrize("ties", ["random", "fastest"])
def test_closed_limit_law_of_pools_is_the_enumeration(weighting, ties):
    policy = PoolPowerOfD(TWO, "1/2", 3, weighting, ties, True)
    tails = [[fmpq(1), fmpq(3, 4), fmpq(1, 8), fmpq(0)], [fmpq(1), fmpq(1, 2), fmpq(1, 3), fmpq(1, 3)]]
    closed, enumerated = policy.limit_law(tails), policy.enumerated_limit_law(tails)
    assert {c: x for c, x in closed.items() if x} == {c: x for c, x in enumerated.items() if x}
    assert sum(closed.values()) == 1


@pytest.mark.parametrize(("d", "g"), [(2, 0), (2, 1), (3, 2), (2, None)])
def test_closed_limit_law_of_noisy_comparisons_is_the_enumeration(d, g):
    policy = PowerOfD("1/2", d, g, "2/7")
    tails = [[fmpq(1), fmpq(3, 4), fmpq(2, 3), fmpq(1, 8), fmpq(0)]]
    closed, enumerated = policy.limit_law(tails), policy.enumerated_limit_law(tails)
    assert {c: x for c, x in closed.items() if x} == {c: x for c, x in enumerated.items() if x}


def test_expected_delay_at_the_capacity_of_the_fast_pool_has_no_single_equilibrium():
    """Fast servers all busy, slow ones idle: jobs behind the first neither grow nor drain, whatever their number."""
    with pytest.raises(DoesNotExist, match="more than one equilibrium"):
        equilibrium(SED("1/2:3/2,1/2:1/2", "3/4"))
    assert equilibrium(SED("1/2:3/2,1/2:1/2", "2/3")).mean_response.is_exact
