"""Equilibria of general rules that sample few servers: two routes, closed relations, long paths, the flow itself."""

import itertools
from typing import ClassVar

import numpy as np
import pytest
from flint import fmpq

from exactchains.domain import Balls
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from meanfield.flow import drift
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy, evenly
from meanfield.models.random import Threshold
from meanfield.models.shortest import JSQ, PoolPowerOfD
from meanfield.solvers import krawczyk
from meanfield.solvers.fixed_point import fixed_point
from meanfield.solvers.krawczyk import sampled_equilibrium
from meanfield.solvers.quantities import balancing_quantity
from meanfield.solvers.sampled import rule_of, shares
from meanfield.solvers.trajectory import trajectory

TWO, THREE = "1/2:3/2,1/2:1/2", "1/4:2,1/4:1,1/2:1/2"


class Hesitant(Policy):
    """With probability 3/4 the shorter of two, else either: errors with probability 1/8 at every gap."""

    d = 2
    sight = (0, 1)

    def route(self, sample):
        a, b = (s.jobs for s in sample)
        return evenly((0, 1)) if a == b else {0: fmpq(7, 8), 1: fmpq(1, 8)} if a < b else {0: "1/8", 1: "7/8"}


class Longer(Hesitant):
    """Joins the longer of two: no equilibrium of finite mean from load 1/2 on, which nobody tells the solver."""

    def route(self, sample):
        most = max(s.jobs for s in sample)
        return evenly(i for i, s in enumerate(sample) if s.jobs == most)


class Eager(Policy):
    """Sample two: an idle one of the faster pool, else the shorter, else the first."""

    d: ClassVar[int] = 2
    sight = (1, 1)

    def route(self, sample):
        idle = [(s.pool, i) for i, s in enumerate(sample) if s.jobs == 0]
        return {min(idle)[1] if idle else min((s.jobs, i) for i, s in enumerate(sample))[1]: 1}


class Short(Eager):
    """Declares less than it looks at."""

    sight = (0, 1)


class Far(Hesitant):
    """Looks further than it declares: at a gap of three, or from five jobs on."""

    def __init__(self, load, what):
        super().__init__(load)
        object.__setattr__(self, "what", what)

    def route(self, sample):
        a, b = (s.jobs for s in sample)
        other = abs(a - b) == 3 if self.what == "gap" else min(a, b) >= 5
        return evenly((0, 1)) if a == b or other else {int(a > b): 1}


class Silent(Eager):
    """Declares nothing."""

    sight = None


@pytest.mark.parametrize(
    "args",
    [("9/10", 2, 2, "1/2", True), ("99/100", 2, 5, 1), ("1/2", 3, 1, 1), ("99/100", 2, 0, 0), ("9/10", 5, 1, "1/10")],
)
def test_two_routes_enclose_one_number(args):
    policy = PowerOfD(*args)
    general, special = sampled_equilibrium(policy, digits=30, levels=4), fixed_point(policy, digits=30, levels=4)
    assert general.mean_queue.overlaps(special.mean_queue)
    for k in range(1, 5):
        assert general.tail(k).overlaps(special.tail(k))
        assert general.tail(k).has_digits(30)
    assert general.contraction < 1


def test_equal_pools_are_one_pool():
    one = sampled_equilibrium(PoolPowerOfD("1:1", "9/10", d=3), digits=25)
    assert one.mean_queue.overlaps(fixed_point(PowerOfD("9/10", d=3), digits=25).mean_queue)


def test_random_errors_are_load_independent_errors():
    found = fixed_point(Hesitant("9/10"), digits=20, levels=6)
    known = fixed_point(PowerOfD("9/10", 2, None, "1/8"), digits=20, levels=6)
    assert all(found.tail(k).overlaps(known.tail(k)) for k in range(1, 7))
    assert found.mean_queue.overlaps(known.mean_queue)


@pytest.mark.parametrize("threshold", [1, 3])
def test_threshold_has_two_geometric_parts_in_every_pool(threshold):
    """Sampling by speed makes the pools alike: p_{k+1} = lam (1 + x_T) p_k below T, lam x_T p_k from there on."""
    load = fmpq(1, 2)
    found = sampled_equilibrium(Threshold(TWO, load, threshold=threshold), digits=20, levels=8)
    for j in range(2):
        x = [found.pool_tail(j, k) for k in range(9)]
        low, high = load * x[threshold].lower, load * x[threshold].upper
        for k in range(7):
            p, following = (x[k].lower - x[k + 1].upper), (x[k + 1].upper - x[k + 2].lower)
            extra = 1 if k < threshold else 0
            assert p * (low + load * extra) <= following
            most = (x[k].upper - x[k + 1].lower) * (high + load * extra)
            assert most >= x[k + 1].lower - x[k + 2].upper


POOLED = [
    PoolPowerOfD(TWO, "1/2"),
    PoolPowerOfD(THREE, "3/5", weighting="speed", ties="fastest"),
    Threshold(TWO, "1/2", threshold=2),
    Eager("4/5", TWO.replace("3/2", "6/5").replace(":1/2", ":4/5")),
]


@pytest.mark.parametrize("policy", POOLED, ids=lambda policy: type(policy).__name__)
def test_the_flow_stands_still_and_leads_there(policy):
    found = sampled_equilibrium(policy, digits=20)
    balls, levels = Balls(200), min(len(found.levels[0]), 7)
    middle = [[(x.lower + x.upper) / 2 for x in row[:levels]] for row in found.levels]
    with balls.working():
        tails = [[balls.convert(1), *map(balls.convert, row)] for row in middle]
        rates = drift(policy, tails, domain=balls)
        assert all(abs(r) < balls.convert("1e-15") + 2 * tails[j][-1] for j, row in enumerate(rates) for r in row[:-1])
    busy = sum(p.fraction * p.speed * row[0] for p, row in zip(policy.pools, middle, strict=True))
    assert abs(busy - policy.load) < fmpq(1, 10**18)
    path = trajectory(policy, until=120, points=2, levels=25).tails[-1].reshape(len(policy.pools), -1)
    wanted = np.array([[int(x.p) / int(x.q) for x in row[:3]] for row in middle])
    assert np.allclose(path[:, :3], wanted, atol=1e-6)


def test_shares_are_the_routing_law():
    """p Psi against the enumeration of all samples of classes, in exact numbers turned into doubles."""
    for policy in POOLED:
        x = [[fmpq(1), fmpq(3, 4), fmpq(1, 3), fmpq(1, 8), fmpq(0)] for _ in policy.pools]
        weights = [p.fraction * (p.speed if policy.weighting == "speed" else 1) for p in policy.pools]
        p = np.array(
            [
                [float((w * (a - b)).p) / int((w * (a - b)).q) for a, b in itertools.pairwise(r)]
                for w, r in zip(weights, x, strict=True)
            ]
        )
        rule = rule_of(policy)
        found = p * shares(rule, p, np.zeros((len(p), rule.reach + 1))).value
        for (j, k), chance in policy.enumerated_limit_law(x).items():
            assert k > 3 or abs(found[j, k] - int(chance.p) / int(chance.q)) < 1e-14


def test_deep_tails_and_near_saturation():
    deep = sampled_equilibrium(PoolPowerOfD(TWO, "1/2"), digits=30, levels=12)
    assert deep.pool_tail(1, 12).has_digits(25)
    assert deep.pool_tail(1, 12).upper < fmpq(1, 10**600)
    near = sampled_equilibrium(PoolPowerOfD(TWO, "0.999999", weighting="speed"), digits=30)
    assert near.mean_queue.has_digits(30)
    with pytest.raises(PrecisionExhausted, match="beyond"):
        near.tail(400)


def test_quantities_of_the_limit():
    found = balancing_quantity(PoolPowerOfD(TWO, "1/2"), "mean_response", digits=12)
    assert found.digits(12) == "1.79723031341"
    assert found.certificate is not None
    assert "unique in its box" in found.method
    idle = balancing_quantity(PoolPowerOfD(TWO, "1/2"), "pool_mean_queue", index=1, digits=12)
    assert idle.enclosure.has_digits(12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: fixed_point(Silent("1/2")), InputError, "declares no sight"),
        (lambda: fixed_point(Short("1/2", TWO)), InputError, r"sight = \(0, 1\): loads"),
        (lambda: fixed_point(Far("1/2", "gap")), InputError, r"sight = \(0, 1\): loads"),
        (lambda: fixed_point(Far("1/2", "level")), InputError, r"sight = \(0, 1\): loads"),
        (lambda: fixed_point(JSQ(TWO, "1/2")), InputError, "sees all servers"),
        (lambda: fixed_point(PoolPowerOfD("1/2:9/5,1/2:1/5", "1/2")), DoesNotExist, "stability limit"),
        (lambda: fixed_point(Hesitant("1/2"), digits=0), InputError, "digits = 0"),
        (lambda: sampled_equilibrium(PowerOfD("1/2", 2, None, "1/3")), InputError, "declares no sight"),
    ],
)
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("sight", [5, "ab", (0,), (0.5, 1), (-1, 1), (0, 0), (0, 1, 2), [0, 1]])
def test_a_sight_is_two_integers(sight):
    rule = Hesitant("1/2")
    object.__setattr__(rule, "sight", sight)
    with pytest.raises(InputError, match="two integers"):
        fixed_point(rule)


def test_nobody_tells_where_a_users_rule_is_unstable(monkeypatch):
    monkeypatch.setattr(krawczyk, "MOST_LEVELS", 60)
    assert fixed_point(Longer("1/4"), digits=5).mean_queue.overlaps(
        fixed_point(PowerOfD("1/4", 2, None, 1), digits=5).mean_queue
    )
    with pytest.raises(Undecided, match=r"more than 60 levels|no equilibrium beyond load"):
        fixed_point(Longer("3/5"))
