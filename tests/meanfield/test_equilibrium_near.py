"""Equilibria of users' own vector fields: proved boxes, stability, and refusals."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from exactchains import InputError, Undecided
from meanfield import equilibrium_near


def turning(x):
    """Rock, paper, scissors: the paths of the replicator flow are closed orbits around (1/3, 1/3, 1/3)."""
    return [x[0] * (x[2] - x[1]), x[1] * (x[0] - x[2]), x[2] * (x[1] - x[0])]


def test_a_point_of_an_orbit_is_never_taken_for_an_equilibrium():
    """Reported of rmftool: the end of a long path from (1/2, 1/4, 1/4) was returned as the fixed point."""
    found = equilibrium_near(turning, ["1/2", "1/4", "1/4"], total=1)
    assert all(x.contains(fmpq(1, 3)) and x.has_digits(15) for x in found.values)
    assert found.stability == "undecided"  # a centre: both eigenvalues lie on the imaginary axis
    path = solve_ivp(lambda _, x: turning(x), (0, 200), [0.5, 0.25, 0.25], rtol=1e-10)
    assert not any(
        x.contains(fmpq(*float(v).as_integer_ratio())) for x, v in zip(found.values, path.y[:, -1], strict=True)
    )


@pytest.mark.parametrize(("sign", "expected"), [(1, "attracting"), (-1, "unstable")])
def test_a_little_mutation_decides_the_stability(sign, expected):
    def field(x):
        return [v + sign * (x[i - 1] + x[(i + 1) % 3] - 2 * x[i]) / 10 for i, v in enumerate(turning(x))]

    found = equilibrium_near(field, ["1/2", "1/4", "1/4"], total=1)
    assert found.stability == expected and all(x.contains(fmpq(1, 3)) for x in found.values)
    path = solve_ivp(lambda _, x: field(x), (0, 5), [0.34, 0.33, 0.33], rtol=1e-10).y[:, -1]
    assert (np.abs(path - 1 / 3).max() < 0.34 - 1 / 3) == (expected == "attracting")


@settings(max_examples=20, deadline=None)
@given(st.fractions(-3, 3, max_denominator=9), st.fractions("1/9", 3, max_denominator=9))
def test_roots_of_a_quadratic(a, gap):
    """x' = (x - a)(x - a - gap): the lower root attracts, the upper one repels."""
    low, high = fmpq(a.numerator, a.denominator), fmpq((a + gap).numerator, (a + gap).denominator)

    def field(x):
        return [(x[0] - low) * (x[0] - high)]

    for start, root, stability in ((a - gap / 3, low, "attracting"), (a + 4 * gap / 3, high, "unstable")):
        found = equilibrium_near(field, [start], digits=20)
        assert found.values[0].contains(root) and found.stability == stability


def test_many_digits_of_a_square_root():
    value = equilibrium_near(lambda x: [2 - x[0] ** 2], ["1"], digits=200).values[0]
    assert value.has_digits(200) and value.lower**2 <= 2 <= value.upper**2


@pytest.mark.parametrize(
    ("field", "start", "total", "message"),
    [
        (lambda x: [x[0], x[0]], ["1"], None, "2 derivatives of 1 variables"),
        (lambda x: [x[0]], [], None, "0 entries"),
        (lambda x: [x[0]], [0.5], None, "start"),
        (lambda x: [x[0]], ["1"], 1, "do not add up to 0"),
    ],
)
def test_what_is_refused(field, start, total, message):
    with pytest.raises((InputError, TypeError), match=message):
        equilibrium_near(field, start, total=total)


@pytest.mark.parametrize("field", [lambda x: [x[0] ** 2], lambda x: [x[0] ** 2 + 1], lambda x: [1 / x[0]]])
def test_no_regular_zero_is_undecided(field):
    with pytest.raises(Undecided):
        equilibrium_near(field, ["1"])
