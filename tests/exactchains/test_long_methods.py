"""Chains beyond two doubles: long potentials, resets into one state, clusters coupled at 1e-16 and less."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from exactchains import stationary
from exactchains.solvers.arrays import arrays, chain_from_arrays
from exactchains.solvers.certificate import Certified
from exactchains.solvers.entrywise import entrywise
from exactchains.solvers.stationary import _long_block
from exactchains.solvers.structure import narrow_order
from proofs_check.check.document import check
from tests.exactchains.chains import birth_death, clusters, power_of_two


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
