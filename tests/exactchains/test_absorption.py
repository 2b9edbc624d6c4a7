"""Absorption probabilities by the chain that starts anew, against the linear system, in closed form and at scale."""

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import FiniteChain, InputError, absorption, accumulated_reward, classes, transient_law
from tests.exactchains.chains import rates


@st.composite
def reducible(draw):
    size = draw(st.integers(2, 8))
    pairs = draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=2 * size))
    return FiniteChain.from_transitions(size, [(i, j, str(draw(rates))) for i, j in sorted(pairs) if i != j])


@given(reducible(), st.integers(0, 7), st.integers(1, 40))
def test_against_the_linear_system(chain, start, digits):
    start %= chain.size
    found = classes(chain)
    transient = {i: k for k, i in enumerate(found.transient)}
    exact = [fmpq(int(start in c)) for c in found.recurrent]
    if start in transient:
        n = len(transient)
        system = [[fmpq(0)] * n for _ in range(n)]
        for i, k in transient.items():
            for j, q in chain.rows[i].items():
                system[k][k] += q
                if j in transient:
                    system[k][transient[j]] -= q
        right = [
            [sum((q for j, q in chain.rows[i].items() if j in c), fmpq(0)) for c in found.recurrent] for i in transient
        ]
        ends = fmpq_mat(system).solve(fmpq_mat(right))
        exact = [ends[transient[start], c] for c in range(len(exact))]
    assert [x.value for x in absorption(chain, start)] == exact
    for x, p in zip(absorption(chain, start, digits=digits), exact, strict=True):
        assert x.contains(p) and 0 <= x.lower <= x.upper <= 1 and (x.has_digits(digits) or p == 0)


@pytest.mark.parametrize("digits", [12, 30])
def test_ruin_of_a_rich_gambler(digits):
    """Down 2, up 1, from 1 of 2000: reaches the top with probability 1 / (2^2000 - 1)."""
    n = 2000
    moves = [(i, i + d, q) for i in range(1, n) for d, q in ((1, "1/3"), (-1, "2/3"))] + [(0, 0, 1), (n, n, 1)]
    chain = FiniteChain.from_transitions(n + 1, moves, time="discrete")
    lost, won = absorption(chain, 1, digits=digits)
    p = Fraction(1, 2**n - 1)
    assert won.contains(p) and won.has_digits(digits) and lost.contains(1 - p)


@given(reducible(), st.lists(st.integers(0, 5), min_size=8, max_size=8), st.integers(1, 40))
@settings(max_examples=40)
def test_a_law_to_start_from_mixes_its_states(chain, weights, digits):
    weights = [w + (i == 0) for i, w in enumerate(weights[: chain.size])]
    start = {i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}
    parts = [(fmpq(p.numerator, p.denominator), absorption(chain, i)) for i, p in start.items()]
    exact = [sum((p * ends[c].value for p, ends in parts), fmpq(0)) for c in range(len(parts[0][1]))]
    assert [x.value for x in absorption(chain, start)] == exact
    for x, p in zip(absorption(chain, start, digits=digits), exact, strict=True):
        assert x.contains(p) and 0 <= x.lower <= x.upper <= 1 and (x.has_digits(digits) or p == 0)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({0: "1/2"}, "sum to 1/2, expected 1"),
        ({}, "sum to 0, expected 1"),
        ({0: 2, 1: -1}, "start in 1 = -1 is negative"),
        ({0: "1/2", 3: "1/2"}, "start = 3: states are 0 to 1"),
        ({True: 1}, "start = True"),
        ("0", "start = '0'"),
    ],
)
def test_no_law_to_start_from(start, message):
    chain = FiniteChain.from_transitions(2, [(0, 1, 1)])
    for ask in (absorption, lambda c, s: transient_law(c, s, 1), lambda c, s: accumulated_reward(c, s, [1, 1], time=1)):
        with pytest.raises(InputError, match=message):
            ask(chain, start)


def test_no_such_state():
    with pytest.raises(InputError, match="states are 0 to 1"):
        absorption(FiniteChain.from_transitions(2, [(0, 1, 1)]), 2)
