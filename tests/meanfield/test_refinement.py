"""Corrections of the mean field against exact chains of n servers: errors fall like 1/n, 1/n^2, 1/n^3."""

import itertools

import pytest

from exactchains import stationary
from exactchains.truth import InputError, Undecided
from meanfield.finite import exact_chain
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.refinement import refinement

CASES = [
    PowerOfD("1/2", 2, 1, "1/2"),
    PowerOfD("1/2", 2, 1, "1/2", True),
    PowerOfD("7/10", 3, 1, "1/3"),
    PowerOfD("1/2", 3, None, "1/5", True),
    PowerOfD("9/10", 2),
]


def errors(policy, n):
    """Return the distances of limit, first and second correction from the exact mean queue, with their signs."""
    found = refinement(policy, order=2, buffer=2)
    chain = exact_chain(policy, n=n, buffer=2)
    exact = chain.quantity(stationary(chain.chain, digits=14), "mean_queue")
    low = getattr(exact, "lower", exact)
    value = int(low.p) / int(low.q)
    first = found.limit.sum() + found.correction.sum() / n
    return value - found.limit.sum(), value - first, value - found.mean_queue(n)


@pytest.mark.parametrize("policy", CASES, ids=repr)
def test_each_correction_gains_an_order_over_exact_chains_of_twenty_and_forty_servers(policy):
    for order, (small, large) in enumerate(zip(errors(policy, 20), errors(policy, 40), strict=True), start=1):
        assert 2**order / 1.35 < small / large < 2**order * 1.35


def test_ten_to_forty_servers_halve_as_often_as_predicted():
    plain, first, second = zip(*(errors(CASES[1], n) for n in (10, 20, 40)), strict=True)
    assert [round(a / b) for a, b in itertools.pairwise(plain)] == [2, 2]
    assert [round(a / b) for a, b in itertools.pairwise(first)] == [4, 4]
    assert [round(a / b) for a, b in itertools.pairwise(second)] == [8, 8]


def test_a_large_buffer_is_none():
    policy = PowerOfD("1/2", 2, 1, "1/2")
    free, held = refinement(policy, order=2), refinement(policy, order=2, buffer=9)
    assert abs(free.second.sum() - held.second.sum()) < 1e-5
    assert abs(free.correction.sum() - held.correction.sum()) < 1e-6
    assert refinement(policy).second is None


def test_random_routing_has_no_correction_of_any_order():
    found = refinement(PowerOfD("1/4", 2, None, "1/2"), order=2)
    assert abs(found.correction).max() < 1e-9
    assert abs(found.second).max() < 1e-7


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"order": 3}, InputError, "order = 3: give an integer of at most 2"),
        ({"buffer": 0}, InputError, "buffer = 0: give an integer >= 1"),
        ({"order": 2}, Undecided, "up to 30 levels"),
    ],
)
def test_refusals(options, error, words):
    with pytest.raises(error, match=words.replace("|", r"\|")):
        refinement(PowerOfD("9/10", 2, None, "1/2"), **options)
