"""Chains beyond two doubles: long potentials, resets into one state, clusters coupled at 1e-16 and less."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import FiniteChain, PrecisionExhausted, stationary
from exactchains.solvers import elimination
from exactchains.solvers.arrays import arrays, chain_from_arrays
from exactchains.solvers.certificate import Certified
from exactchains.solvers.entrywise import entrywise
from exactchains.solvers.stationary import _long_block
from exactchains.solvers.structure import narrow_order
from proofs_check.check.document import check
from tests.exactchains.chains import birth_death, clusters, power_of_two, wild_rates


def reset_chain(size: int):
    """Up one at rate 9, back to 0 at rate 1: state 0 has in-degree size - 1."""
    i = np.arange(size - 1)
    targets, rates = (
        np.r_[i + 1, np.zeros(size - 1, np.int64)],
        np.r_[np.full(size - 1, 9), np.ones(size - 1, np.int64)],
    )
    return chain_from_arrays(size, np.r_[i, i + 1], targets, rates)


def potential(size: int, seed: int = 0):
    """A birth-death chain whose rates are random powers of two: metastable at every scale."""
    g, i = np.random.default_rng(seed), np.arange(size - 1)
    rates = 2 ** g.integers(0, 40, 2 * size - 2)
    return chain_from_arrays(size, np.r_[i, i + 1], np.r_[i + 1, i], rates), rates


def test_reset_chain():
    size = 3000
    ratio = Fraction(9, 10)
    weights = [ratio**k for k in range(size - 1)]
    weights.append(9 * weights[-1])
    total = sum(weights)
    for method in ("auto", "gth"):
        law = stationary(reset_chain(size), digits=20, method=method)
        for k in (0, 1, 500, size - 2, size - 1):
            assert law[k].contains(weights[k] / total) and law[k].has_digits(20)


def test_random_potential():
    size = 400
    chain, rates = potential(size)
    weights = [Fraction(1)]
    for up, down in zip(rates[: size - 1].tolist(), rates[size - 1 :].tolist(), strict=True):
        weights.append(weights[-1] * up / down)
    total = sum(weights)
    law = stationary(chain, digits=15, method="gth")
    assert all(x.contains(w / total) and x.has_digits(15) for x, w in zip(law, weights, strict=True))
    check(law.certificate)


@pytest.mark.parametrize("ratio", [10**9, 10**16])
def test_long_block_elimination(ratio):
    chain = clusters(6, 9, ratio)
    exact = stationary(chain)
    found: Certified = entrywise(arrays(chain), method="block")[-1]
    values, method, prove = _long_block((chain, np.arange(chain.size), arrays(chain)), found, 25)
    assert method == "block, long" and prove is not None
    for k, x in enumerate(exact):
        lower, upper = values.ends(k)
        assert lower <= x <= upper and upper - lower <= x * fmpq(1, 10**24)
    check(prove())


def test_elimination_order_keeps_hubs_to_the_end():
    order, width = narrow_order(arrays(reset_chain(500)))
    assert order[0] == 0 and width <= 3
    order, width = narrow_order(arrays(birth_death(100, 1, 1)))
    assert width == 1 and sorted(order.tolist()) == list(range(100))
    assert sorted(narrow_order(arrays(power_of_two(3, 4)))[0].tolist()) == list(range(35))


FAR = Fraction(2) ** 1000
steps = st.tuples(wild_rates, wild_rates, st.integers(0, 3))


def tree(branches):
    """State k + 1 hangs on a state at most so far back, with rates away and back: reversible, the law is a product."""
    moves, weights = [], [Fraction(1)]
    for k, (away, back, distance) in enumerate(branches):
        above = max(0, k - distance)
        moves += [(above, k + 1, str(away)), (k + 1, above, str(back))]
        weights.append(weights[above] * away / back)
    total = sum(weights)
    return FiniteChain.from_transitions(len(weights), moves), [w / total for w in weights]


@given(st.lists(steps, min_size=20, max_size=60), st.sampled_from(["auto", "gth"]), st.integers(1, 40))
@settings(max_examples=12)
def test_products_of_rates_over_600_decades(branches, method, digits):
    """Entries of 1e-20000, barriers as high, and the modes anywhere."""
    chain, exact = tree(branches)
    law = stationary(chain, digits=digits, method=method)
    assert all(x.contains(w) and x.has_digits(digits) for x, w in zip(law, exact, strict=True))


@pytest.mark.parametrize(
    "rates",
    [
        [(1, FAR)] * 90,  # the mode is where elimination starts
        [(FAR, 1)] * 60,
        [(1, 1 / FAR)] * 60,
        [(1 / FAR, 1 / FAR**2)] * 80,
        [(1, FAR)] * 30 + [(FAR, 1)] * 30,  # two wells, 2^30000 steps apart
        ([(1, FAR)] * 12 + [(FAR, 1)] * 12) * 3,
    ],
)
def test_ratios_of_two_to_the_thousand(rates):
    chain, exact = tree([(Fraction(up), Fraction(down), 0) for up, down in rates])
    law = stationary(chain, digits=15)
    assert law.method == "gth"
    assert all(x.contains(w) and x.has_digits(15) for x, w in zip(law, exact, strict=True))
    check(law.certificate)


def test_elimination_says_how_many_bits_it_needs(monkeypatch):
    monkeypatch.setattr(elimination, "MOST_BITS", 1e6)
    chain, _ = tree([(Fraction(1), FAR, 0)] * 40 + [(FAR, Fraction(1), 0)] * 40)
    with pytest.raises(PrecisionExhausted, match=r"elimination to 15 digits needs 39\d{3} bits"):
        stationary(chain, digits=15)
