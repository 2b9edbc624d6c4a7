"""The mean response at d eps = 1 near load 1: against the plain recursion, refined, and far beyond its reach."""

import math

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains.number import nearest_double
from exactchains.truth import Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.solvers import critical as critical_solver
from meanfield.solvers.critical import critical_response
from meanfield.solvers.expansions import heavy_traffic_slope
from meanfield.solvers.fixed_point import fixed_point
from meanfield.solvers.quantities import balancing_quantity


def critical(d, load):
    return PowerOfD(load, d, None, fmpq(1, d))


@settings(max_examples=25)
@given(st.integers(3, 12), st.fractions("1/1000", "9/10", max_denominator=1000), st.integers(1, 12))
def test_it_agrees_with_the_recursion_to_its_end(d, load, digits):
    policy = critical(d, fmpq(load.numerator, load.denominator))
    found, plain = critical_response(policy, digits=digits), fixed_point(policy, digits=14).mean_response
    assert found.has_digits(digits)
    assert found.lower <= plain.upper and plain.lower <= found.upper


@pytest.mark.parametrize(("d", "load"), [(3, "0.9999"), (3, "0.99999999"), (7, "0.999999"), (40, "0.9999999999")])
def test_more_levels_stay_inside_the_bounds_of_few(d, load):
    coarse, fine = (critical_response(critical(d, load), digits=n) for n in (6, 10))
    assert fine.upper - fine.lower < (coarse.upper - coarse.lower) / 50
    assert coarse.lower <= fine.lower and fine.upper <= coarse.upper


@pytest.mark.parametrize("d", [3, 5])
def test_the_slope_is_that_of_the_claim(d):
    near, nearer = (critical_response(critical(d, 1 - fmpq(1, 10**n)), digits=9) for n in (12, 14))
    gained = arb(heavy_traffic_slope(critical(d, "1/2")).lower) * arb(100).log()
    assert abs(arb(nearer.lower - near.lower) - gained) < 0.01  # a small period in the logarithm remains


@pytest.mark.parametrize("load", ["0.99", "0.99999999"])  # by the plain recursion, and beyond its reach
def test_quantities_near_load_one(load):
    policy = critical(5, load)
    response = critical_response(policy, digits=9)
    found = {name: balancing_quantity(policy, name, digits=7) for name in ("mean_queue", "mean_response", "speedup")}
    assert (found["mean_queue"].certificate is None) == (load == "0.99999999")
    for name, factor in [("mean_queue", policy.load), ("mean_response", fmpq(1))]:
        assert response.lower * factor <= found[name].upper
        assert found[name].lower <= response.upper * factor
    assert found["speedup"].enclosure.has_digits(7)


def test_too_many_digits_are_refused(monkeypatch):
    monkeypatch.setattr(critical_solver, "MAX_TERMS", 5000)
    with pytest.raises(Undecided, match=r"20 digits .* more than 5000 levels; ask for at most"):
        critical_response(critical(3, "0.999999"), digits=20)


def test_next_to_load_one_the_response_grows_with_its_slope():
    far, near = (critical_response(PowerOfD(f"0.{'9' * k}", 3, None, "1/3"), digits=11) for k in (20, 30))
    growth = nearest_double(near.lower - far.lower)
    assert growth == pytest.approx((1 / math.log(2) + 1) * 10 * math.log(10), rel=1e-6)


def test_digits_out_of_reach_are_refused_with_those_within():
    with pytest.raises(Undecided, match="ask for at most 14"):
        critical_response(PowerOfD(f"0.{'9' * 30}", 3, None, "1/3"), digits=30)
