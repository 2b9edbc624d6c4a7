"""The monotone rules are monotone on small systems, exactly; a rule that is not is found out."""

import pytest

from exactchains.truth import InputError
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.monotone import monotonicity_violation

TWO, THREE = "1/2:3/2,1/2:1/2", "1/3:3/2,1/3:1,1/3:1/2"


@pytest.mark.parametrize(
    ("policy", "n", "most"),
    [
        *(
            (PowerOfD("1/2", d, g, eps, again), 3, 4)
            for d in (2, 3)
            for g in (1, 2)
            for eps in ("1/3", 1)
            for again in (False, True)
        ),
        (PowerOfD("1/2", 2, None, "3/4"), 3, 4),
        (JSQ(TWO, "1/2"), 4, 2),
        (JSQ(THREE, "1/2", counts="waiting"), 3, 3),
        (SpeedAwareJSQ(TWO, "1/2"), 4, 2),
        (JIQ(THREE, "1/2"), 3, 3),
        (SpeedAwareJIQ(THREE, "1/2", fallback="speed"), 3, 3),
        (SED(THREE, "1/2"), 3, 3),
        (RandomBySpeed(THREE, "1/2"), 3, 2),
        (PoolPowerOfD(THREE, "1/2"), 3, 3),
        (PoolPowerOfD(THREE, "1/2", 2, "speed", "fastest", True), 3, 3),
    ],
    ids=repr,
)
def test_shipped_rules(policy, n, most):
    assert policy.monotone
    assert monotonicity_violation(policy, n=n, most=most) is None


@pytest.mark.parametrize(
    ("policy", "n", "most"),
    [
        (PowerOfD("1/2", 2, 1, "1/2"), 3, 5),
        (PowerOfD("1/2", 2, 1, "1/2"), 4, 3),
        (PowerOfD("1/2", 2, 1, "1/5", True), 4, 3),
        (PowerOfD("1/2", 3, 0), 4, 3),
        (PowerOfD("1/2", 3, None, "3/4"), 4, 3),
        (PowerOfD("1/2", 3, None, 1, True), 3, 4),
    ],
    ids=repr,
)
def test_rules_monotone_in_weak_majorisation(policy, n, most):
    assert policy.majorised
    assert monotonicity_violation(policy, n=n, most=most, order="majorisation") is None


@pytest.mark.parametrize(
    ("policy", "pair"),
    [
        (PowerOfD("1/2", 2, 1, "51/100"), (((1, 1, 2),), ((0, 2, 2),))),
        (PowerOfD("1/2", 2, 2, "1/100"), (((0, 2, 2),), ((0, 1, 3),))),
        (PowerOfD("1/2", 3, 1, "1/100"), (((1, 1, 2),), ((0, 2, 2),))),
    ],
    ids=repr,
)
def test_rules_not_monotone_in_weak_majorisation(policy, pair):
    """First case: the longest queue grows with chance 2 eps/3 from the balanced loads, 1/3 from the others."""
    assert not policy.majorised
    assert policy.monotone
    assert monotonicity_violation(policy, n=3, most=3, order="majorisation") == pair


def test_weak_majorisation_is_for_equal_servers():
    with pytest.raises(InputError, match="order = 'majorisation'"):
        monotonicity_violation(JSQ(TWO, "1/2"), n=2, most=2, order="majorisation")


class Parity(Policy):
    """Joins the shortest queue when the number of jobs is odd, else the longest: not monotone."""

    monotone = homogeneous = True

    def route(self, sample):
        jobs = [s.jobs for s in sample]
        return {jobs.index(min(jobs) if sum(jobs) % 2 else max(jobs)): 1}


def test_a_rule_that_is_not_monotone():
    """From (0, 1) the job goes to the shorter queue: (1, 1).  From (0, 2) to the longer: (0, 3), not above (1, 1)."""
    assert monotonicity_violation(Parity("1/2"), n=2, most=4) == (((0, 1),), ((0, 2),))
