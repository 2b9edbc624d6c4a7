"""Paths of discontinuous fluid limits against closed forms, conservation of jobs, and the exact right-hand side."""

import math

import numpy as np
import pytest

from exactchains.truth import Undecided
from meanfield.closed_forms import equilibrium
from meanfield.fluid import fluid_drift
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from meanfield.solvers import regimes
from meanfield.solvers.fixed_point import fixed_point
from meanfield.solvers.trajectory import trajectory

TWO = "1/2:3/2,1/2:1/2"
FROM_ABOVE = ("1", "1", "1/2")
CASES = [
    (JSQ(TWO, "4/5"), ()),
    (JSQ(TWO, "1/2"), FROM_ABOVE),
    (SpeedAwareJSQ(TWO, "9/10"), ()),
    (SpeedAwareJSQ(TWO, "1/2"), FROM_ABOVE),
    (JIQ(TWO, "1/2", fallback="speed"), FROM_ABOVE),
    (SpeedAwareJIQ(TWO, "1/2", fallback="speed"), FROM_ABOVE),
]


def test_the_fast_pool_fills_when_its_exponential_says_so():
    """x' = load/gamma - mu x until x = 1: full at log(6)/1.5, within 1/1000 of it a little earlier."""
    path = trajectory(SpeedAwareJSQ(TWO, "9/10"), until=20, points=21, levels=5)
    assert [r.full for r in path.regimes] == [(0, 0), (1, 0)]
    assert abs(path.regimes[1].begin - math.log(6) / 1.5) < 1e-7
    assert abs(path.first_entry([1.0], 1e-3) + math.log(1 - 0.999 / 1.2) / 1.5) < 1e-7
    assert path.first_entry([0.5], 1e-9) is None


def test_one_pool_empties_a_level_when_it_drains_faster_than_jobs_come():
    """Load 9/10, all busy, half with a third job: 1 - x_2 rises to the load, jobs fall by 1/10 a time unit."""
    path = trajectory(JSQ("1:1", "9/10"), start=("1", "1/2", "1/2"), until=12, points=25, levels=5)
    assert [r.full for r in path.regimes] == [(1,), (0,)]
    mass = path.mean_queue([1.0])
    before = path.times < path.regimes[1].begin
    assert np.allclose(mass[before], 2 - path.times[before] / 10, atol=1e-7)


@pytest.mark.parametrize(("policy", "start"), CASES, ids=repr)
def test_paths_conserve_jobs_and_end_at_the_equilibrium(policy, start):
    path = trajectory(policy, start=start, until=40, points=401, levels=6)
    x = path.tails.reshape(len(path.times), 2, 6)
    busy = x[:, :, 0] @ np.array([0.75, 0.25])
    load = int(policy.load.p) / int(policy.load.q)
    step = path.times[1]
    mass = path.mean_queue([0.5, 0.5])
    change = step * np.cumsum(load - (busy[1:] + busy[:-1]) / 2)
    assert np.allclose(mass[1:] - mass[0], change, atol=2e-3)
    wanted = [level[0] for level in equilibrium(policy).levels]
    assert np.allclose(x[-1, :, 0], [int(w.lower.p) / int(w.lower.q) for w in wanted], atol=1e-3)
    assert x.max() < 1 + 1e-8
    assert x.min() > -1e-8


def test_slopes_are_the_exact_right_hand_side():
    policy = SpeedAwareJSQ(TWO, "9/10")
    path = trajectory(policy, until=4, points=5, levels=3)
    for t in (0.5, 1.0, 2.0, 3.5):
        x = path.solution(t).reshape(2, 3)
        tails = [[1, *(float(v).as_integer_ratio() for v in row)] for row in np.clip(x, 0, 1)]
        exact = fluid_drift(policy, [[1, *(f"{a}/{b}" for a, b in row[1:])] for row in tails])
        slope = (path.solution(t + 1e-5) - path.solution(t - 1e-5)).reshape(2, 3) / 2e-5
        assert np.allclose(slope, [[int(v.p) / int(v.q) for v in row] for row in exact], atol=1e-5)


def test_a_path_that_changes_too_often_is_undecided(monkeypatch):
    monkeypatch.setattr(regimes, "MOST", 1)
    with pytest.raises(Undecided, match="changes its regime"):
        trajectory(SpeedAwareJSQ(TWO, "9/10"), until=20, levels=5)


def test_a_recursion_of_far_too_many_terms_is_refused_at_once():
    with pytest.raises(Undecided, match=r"take .* terms of at most 1000000; ask for at most 3"):
        fixed_point(PowerOfD("0.83332", 3, None, "2/5"), digits=30)
    with pytest.raises(Undecided, match="no digit is within reach"):
        fixed_point(PowerOfD("0.49999999", 2, None, 1), digits=15)
