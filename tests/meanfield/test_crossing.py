"""Certified regions against random routing, held against the published crossings and a scan in doubles."""

from itertools import pairwise

import pytest
from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.truth import InputError
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.crossing import Region, against_random, crossings, regions


def test_independent_errors_of_three_choices_win_only_in_the_middle():
    found = against_random(PowerOfD("1/2", 3, None, "2/5"), digits=6)
    assert [r.relation for r in found] == ["greater", "undecided", "less", "undecided", "greater"]
    assert found[0].lower == 0
    assert found[-1].upper == fmpq(5, 6)
    assert all(a.upper == b.lower for a, b in pairwise(found))
    first, second = crossings(found)
    for crossing, eps in ((first, 1), (second, -1)):  # the sign in doubles, just outside the crossing
        assert _gap(float(crossing.lower.p) / int(crossing.lower.q) - 1e-5) * eps > 0
        assert _gap(float(crossing.upper.p) / int(crossing.upper.q) + 1e-5) * eps < 0


def _gap(load, d=3, eps=0.4):
    x, total = load, 0.0
    for _ in range(20_000):
        total += x
        x = load * ((1 - eps) * x**d + eps * (1 - (1 - x) ** d))
    return total - load / (1 - load)


def test_two_choices_beyond_one_half_are_worse_at_every_stable_load():
    found = against_random(PowerOfD("1/2", 2, None, "3/5"), digits=4)
    assert found == [Region(fmpq(0), fmpq(5, 6), "greater")]


@pytest.mark.parametrize(
    ("d", "g", "eps", "upper", "published"),
    [(2, 1, 1, "1/2", "0.2755"), (3, 1, "4/5", "1/2", "0.2301"), (3, 2, 1, "9/10", "0.4801")],
)
def test_published_crossings_of_bounded_gaps(d, g, eps, upper, published):
    found = against_random(PowerOfD("1/2", d, g, eps), digits=4, upper=upper)
    (crossing,) = crossings(found)
    assert [found[0].relation, found[-1].relation] == ["greater", "less"]
    assert abs(crossing.lower - fmpq(int(published[2:]), 10**4)) < fmpq(1, 10**4)


def test_many_digits_of_a_crossing_are_within_reach():
    """Boxes grow with the digits; bisection of the two means in 60 digits with mpmath: 0.2713754087850598697141113.."""
    found = against_random(PowerOfD("1/2", 3, None, "2/5"), digits=21, upper="3/10")
    (crossing,) = crossings(found)
    own = Enclosure(fmpq(2713754087850598697141113, 10**25), fmpq(2713754087850598697141114, 10**25))
    assert crossing.overlaps(own)
    assert crossing.upper - crossing.lower < fmpq(1, 10**21)


def test_small_errors_are_dominated():
    (only,) = against_random(PowerOfD("1/2", 3, None, "1/3"))
    assert only.relation == "less"
    assert only.upper == 1


def test_regions_of_any_two_means():
    def square(x):
        return x * x, x * x

    def third(x):
        return x / 3, x / 3

    found = regions(square, third, lower="1/10", upper=1, tolerance="1/1000000")
    assert [r.relation for r in found] == ["less", "undecided", "greater"]
    assert crossings(found)[0].contains("1/3")
    with pytest.raises(InputError, match="tolerance"):
        regions(square, third, lower=0, upper=1, tolerance=0)


def test_loads_beyond_stability_are_refused():
    with pytest.raises(InputError, match="5/6"):
        against_random(PowerOfD("1/2", 3, None, "2/5"), upper="9/10")
