"""Stationary laws: the exact law lies in every enclosure, of every method, for every kind of chain."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import Balls, DoesNotExist, FiniteChain, InputError, PrecisionExhausted, stationary
from exactchains.domain import encloses
from exactchains.solvers import scaled
from exactchains.solvers.arrays import arrays
from exactchains.solvers.flow import flow_of
from exactchains.solvers.stationary import extremal_laws, removed_equation
from tests.exactchains.chains import (
    birth_death,
    brute_law,
    chain_of,
    clusters,
    irreducible,
    power_of_two,
    rates,
    weak_rates,
    wild_rates,
)

METHODS = ("exact", "gth", "direct", "levels", "block")


def assert_encloses(law, exact, digits: int) -> None:
    for entry, x in zip(law, exact, strict=True):
        assert entry.contains(x)
        assert entry.has_digits(digits)


@given(irreducible())
def test_exact_law_is_that_of_brute_elimination(case):
    assert stationary(chain_of(*case)) == [fmpq(x.numerator, x.denominator) for x in brute_law(*case)]


@given(irreducible(values=st.one_of(rates, weak_rates)), st.sampled_from(METHODS), st.integers(1, 60))
def test_every_method_encloses_the_law(case, method, digits):
    try:
        law = stationary(chain_of(*case), digits=digits, method=method)
    except PrecisionExhausted:
        assert method in ("direct", "levels", "block")  # methods that may give up on nearly decomposable chains
        return
    assert_encloses(law, brute_law(*case), digits)


@given(irreducible(values=wild_rates, largest=5), st.sampled_from(["auto", "gth", "direct", "levels", "block"]))
@settings(max_examples=60)
def test_rates_over_600_decades(case, method):
    try:
        law = stationary(chain_of(*case), digits=15, method=method)
    except PrecisionExhausted:
        assert method in ("direct", "levels", "block")
        return
    assert_encloses(law, brute_law(*case), 15)


@given(irreducible(values=st.one_of(weak_rates, wild_rates), largest=9), st.integers(1, 25))
@settings(max_examples=60)
def test_automatic_choice_never_gives_up_on_small_chains(case, digits):
    assert_encloses(stationary(chain_of(*case), digits=digits), brute_law(*case), digits)


@given(irreducible(), st.integers(53, 200))
def test_balls_enclose_the_law(case, bits):
    size, entries = case
    chain = FiniteChain.from_transitions(size, ((i, j, str(q)) for (i, j), q in entries.items()), domain=Balls(bits))
    assert all(encloses(ball, x) for ball, x in zip(stationary(chain), brute_law(*case), strict=True))


@given(irreducible(), st.sampled_from(METHODS), st.booleans())
@settings(max_examples=50)
def test_discrete_time(case, method, lazy):
    """The uniformised chain has the same law; without laziness it may be periodic."""
    size, entries = case
    exits = [sum(q for (i, _), q in entries.items() if i == k) for k in range(size)]
    rate = max(exits) * (2 if lazy else 1)
    moves = [(i, j, str(q / rate)) for (i, j), q in entries.items()] + [
        (i, i, str(1 - x / rate)) for i, x in enumerate(exits)
    ]
    chain = FiniteChain.from_transitions(size, moves, time="discrete")
    try:
        law = stationary(chain, digits=20, method=method)
    except PrecisionExhausted:
        assert method in ("direct", "levels", "block")
        return
    assert_encloses(law, brute_law(*case), 20)
    assert repr(law).startswith(f"StationaryLaw({size} states, ")


@given(irreducible())
def test_removed_equation_agrees(case):
    assert removed_equation(chain_of(*case)) == stationary(chain_of(*case))


@given(irreducible(), irreducible(), rates)
def test_reducible_chain_has_one_law_a_class(first, second, leaving):
    """State 0 is transient and leads to both classes; labels are never used as indices."""
    a, b = first[0], second[0]
    entries = {(i + 1, j + 1): q for (i, j), q in first[1].items()}
    entries |= {(i + a + 1, j + a + 1): q for (i, j), q in second[1].items()}
    chain = chain_of(a + b + 1, entries | {(0, 1): leaving, (0, a + 1): Fraction(1)})
    with pytest.raises(DoesNotExist, match="2 recurrent classes"):
        stationary(chain, digits=10)
    with pytest.raises(DoesNotExist, match="extremal_laws"):
        stationary(chain)
    laws = extremal_laws(chain, digits=10)
    assert [list(law.states) for law in laws] == [list(range(1, a + 1)), list(range(a + 1, a + b + 1))]
    assert_encloses([laws[0][i + 1] for i in range(a)], brute_law(*first), 10)
    assert all(laws[0][i].upper == 0 for i in (0, *range(a + 1, a + b + 1)))
    assert_encloses([laws[1][i + a + 1] for i in range(b)], brute_law(*second), 10)


@given(irreducible(), rates)
def test_transient_states_have_the_exact_entry_zero(case, leaving):
    size, entries = case
    chain = chain_of(size + 1, entries | {(size, 0): leaving})
    assert stationary(chain)[size] == 0
    law = stationary(chain, digits=12, method="direct")
    assert law[size].is_exact and law[size].lower == 0
    assert_encloses([law[i] for i in range(size)], brute_law(*case), 12)


def test_one_state():
    chain = FiniteChain.from_transitions(1, [])
    assert stationary(chain) == [1]
    assert stationary(chain, digits=50)[0].lower == 1
    assert stationary(FiniteChain.from_matrix([[1]], time="discrete")) == [1]


def test_absorbing_state():
    chain = FiniteChain.from_transitions(3, [(0, 1, 1), (1, 2, 2), (1, 0, 1)])
    assert stationary(chain) == [0, 0, 1]


@pytest.mark.parametrize("digits", [12, 40])
def test_birth_death_beyond_the_range_of_doubles(digits):
    size = 20_000
    law = stationary(birth_death(size, 9, 10), digits=digits)
    mass = 10 * (1 - Fraction(9, 10) ** size)
    for k in (0, 1, 777, size - 1):
        exact = Fraction(9, 10) ** k / mass
        assert law[k].contains(exact) and law[k].has_digits(digits)
    assert law[size - 1].upper < fmpq(1, 10**900)
    assert law.certain_digits() >= digits


@pytest.mark.parametrize(("count", "ratio"), [(5, 10**9), (5, 10**12), (5, 10**13), (5, 10**16)])
def test_nearly_decomposable(count, ratio):
    chain = clusters(count, 8, ratio)
    exact = stationary(chain)
    for digits in (12, 30):
        assert_encloses(stationary(chain, digits=digits, method="auto"), exact, digits)
    try:
        law = stationary(chain, digits=12, method="block")
    except PrecisionExhausted:
        assert ratio >= 10**13
    else:
        assert_encloses(law, exact, 12)


@pytest.mark.parametrize("method", ["direct", "levels", "block"])
def test_power_of_two_against_exact_arithmetic(method):
    chain = power_of_two(3, 5)
    exact = stationary(chain)
    for digits in (15, 45):
        assert_encloses(stationary(chain, digits=digits, method=method), exact, digits)


@pytest.mark.parametrize("own", [True, False])
def test_sweeps_by_levels_are_triangular_solves(own, monkeypatch):
    """The product of scipy and the plain one give what the compiled factors give."""
    if not own:
        monkeypatch.setattr(scaled, "csr_matvec", None)
    flow = flow_of(arrays(power_of_two(3, 6)))
    assert flow.layered
    h, e = np.linspace(0.5, 0.99, flow.size), -np.arange(flow.size) // 7
    system, b = scaled.Levels(flow, h, e, 5), np.cos(np.arange(flow.size))
    whole = scaled.scaled_matrix(flow, h, e, 5)
    for strict, solve in ((system.below, system.up_solve), (system.above, system.down_solve)):
        y = solve(b)
        assert np.abs(y - strict @ y - b).max() < 1e-13 * np.abs(y).max()
        assert np.abs(scaled._triangle(strict)(b) - y).max() < 1e-12 * np.abs(y).max()
    y, product = system.both(b)
    assert np.abs(y - whole @ y - product).max() < 1e-12 * np.abs(y).max()


def test_hub_of_large_degree():
    """A star: the in-degree of the hub exceeds what is summed slot by slot."""
    size = 300
    entries = {(i, 0): Fraction(i) for i in range(1, size)} | {(0, i): Fraction(1, i) for i in range(1, size)}
    chain = chain_of(size, entries)
    weights = [Fraction(1), *(Fraction(1, i * i) for i in range(1, size))]
    for method in ("direct", "levels", "block"):
        law = stationary(chain, digits=14, method=method)
        assert_encloses(law, [w / sum(weights) for w in weights], 14)


def test_mean_of_a_reward():
    chain = power_of_two(2, 6)
    exact = sum((x * sum(chain.labels[i]) for i, x in enumerate(stationary(chain))), fmpq(0))
    law = stationary(chain, digits=20, method="direct")
    mean = law.mean(lambda i: sum(chain.labels[i]))
    assert mean.contains(exact) and mean.has_digits(18)
    assert stationary(chain, digits=20, method="exact").mean([sum(s) for s in chain.labels]).lower == exact
    with pytest.raises(InputError, match="28 states"):
        law.mean([1, 2])


def test_refusals():
    chain = birth_death(5000, 1, 2)
    with pytest.raises(InputError, match="give digits"):
        stationary(chain)
    with pytest.raises(InputError, match="digits = 0"):
        stationary(chain, digits=0)
    with pytest.raises(InputError, match="method = 'magic'"):
        stationary(chain, digits=3, method="magic")
