"""What is read as a chain and what is refused, with the row, the entry and the defect."""

from array import array
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from exactchains import FiniteChain, Fractions, InputError, NotAGenerator, classes, period, reachable_chain, stationary
from exactchains.number import rational
from exactchains.rows import CompactRows
from exactchains.solvers import structure
from exactchains.solvers.arrays import arrays, chain_from_arrays, chain_from_sparse
from tests.exactchains.chains import irreducible, rates


@pytest.mark.parametrize(
    ("matrix", "time", "message"),
    [
        ([[-1, 1], [1, -2]], "continuous", "row 1 sums to -1, expected 0"),
        ([["1/2", "1/3"], [0, 1]], "discrete", "row 0 sums to 5/6, expected 1"),
        ([[0, 0], [0, 1]], "discrete", "row 0 sums to 0, expected 1"),  # an all-zero row is no absorbing state
        ([["3/2", "-1/2"], [0, 1]], "discrete", r"entry \(0, 1\) = -1/2 is negative"),
        ([[1, -1], [1, -1]], "continuous", r"entry \(0, 1\) = -1 is negative"),
        ([[1, 2], [3]], "continuous", "row 1 has 1 entries, expected 2"),
        ([], "continuous", "at least one state"),
        ([["0.33333", "0.33333", "0.33333"]] * 3, "discrete", "row 0 sums to 99999/100000"),
    ],
)
def test_malformed_matrices(matrix, time, message):
    with pytest.raises(NotAGenerator, match=message):
        FiniteChain.from_matrix(matrix, time=time)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.5])
def test_floats_are_refused_with_their_place(bad):
    with pytest.raises(TypeError, match=r"entry \(0, 1\)"):
        FiniteChain.from_matrix([[0, bad], [1, 0]], time="discrete")
    with pytest.raises(TypeError, match="from_floats"):
        FiniteChain.from_matrix(sp.csr_matrix([[0, bad], [1.0, 0]]), time="discrete")


@pytest.mark.parametrize("bad", ["nan", "inf", "1_0", "1e999999999", "٣"])
def test_text_that_is_no_number(bad):
    with pytest.raises(InputError):
        FiniteChain.from_transitions(2, [(0, 1, bad)])


def test_transitions_twice_or_out_of_range():
    with pytest.raises(NotAGenerator, match=r"\(0, 1\) is given twice"):
        FiniteChain.from_transitions(2, [(0, 1, 1), (0, 1, 2)])
    with pytest.raises(NotAGenerator, match="states are 0 to 1"):
        FiniteChain.from_transitions(2, [(0, 2, 1)])
    with pytest.raises(NotAGenerator, match="from a state to itself"):
        FiniteChain.from_transitions(2, [(1, 1, 1)])


def test_from_floats_reports_the_defect():
    chain, defect = FiniteChain.from_floats([[-0.3, 0.1, 0.2], [0.5, -0.5, 0.0], [0.25, 0.25, -0.5]])
    assert chain.rows[0] == {1: fmpq(*(0.1).as_integer_ratio()), 2: fmpq(*(0.2).as_integer_ratio())}
    assert defect == rational(abs(Fraction(0.1) + Fraction(0.2) - Fraction(0.3))) > 0
    thirds, defect = FiniteChain.from_floats(np.full((3, 3), 1 / 3), time="discrete")
    assert sum(thirds.rows[1].values()) == 1 and 0 < defect < fmpq(1, 10**15)
    assert sum(stationary(thirds)) == 1
    for bad in (float("nan"), float("inf")):
        with pytest.raises(NotAGenerator, match="finite"):
            FiniteChain.from_floats([[0, bad], [1, 0]])
    with pytest.raises(NotAGenerator, match=r"sum to .* > 1"):
        FiniteChain.from_floats([[0.0, 1.8], [1, 0]], time="discrete")
    with pytest.raises(NotAGenerator, match="negative"):
        FiniteChain.from_floats(sp.csr_matrix([[0, -0.5], [1, 0]]), time="discrete")


@given(irreducible(values=st.one_of(rates, st.integers(1, 2**90).map(Fraction))))
def test_every_input_gives_the_same_chain(case):
    size, entries = case
    exact = {pair: fmpq(q.numerator, q.denominator) for pair, q in entries.items()}
    rows = [{j: q for (a, j), q in exact.items() if a == i} for i in range(size)]
    listed = FiniteChain.from_transitions(size, ((i, j, q) for (i, j), q in exact.items()))
    dense = [[-sum(rows[i].values()) if i == j else rows[i].get(j, fmpq(0)) for j in range(size)] for i in range(size)]
    explored = reachable_chain(0, lambda i: list(rows[i].items()))
    relabelled = [{explored.labels[j]: q for j, q in row.items()} for row in explored.rows]
    assert list(listed.rows) == list(FiniteChain.from_matrix(dense).rows) == rows
    assert sorted(explored.labels) == list(range(size))
    assert all(relabelled[explored.index(i)] == rows[i] for i in range(size))


@given(irreducible(values=st.integers(1, 2**40)))
def test_arrays_give_the_same_chain(case):
    size, entries = case
    pairs = np.array(list(entries))
    chain = chain_from_arrays(size, pairs[:, 0], pairs[:, 1], np.array(list(entries.values())), denominator=7)
    expected = FiniteChain.from_transitions(size, ((i, j, fmpq(q, 7)) for (i, j), q in entries.items()))
    assert list(chain.rows) == list(expected.rows)
    matrix = sp.coo_matrix((list(entries.values()), (pairs[:, 0], pairs[:, 1])), shape=(size, size), dtype=np.int64)
    assert list(chain_from_sparse(matrix.tocsr(), denominator=7).rows) == list(expected.rows)
    generator = (matrix.tocsr() - sp.diags_array(np.asarray(matrix.sum(1)).ravel(), dtype=np.int64)).tocsr()
    assert list(chain_from_sparse(generator, denominator=7).rows) == list(expected.rows)
    assert list(FiniteChain.from_matrix(generator).rows) == [{j: 7 * x for j, x in row.items()} for row in chain.rows]


def test_arrays_are_checked():
    one = np.array([1])
    for source, target, rate, message in (
        ([0], [0], one, "itself"),
        ([0], [2], one, "states are 0 to 1"),
        ([-1], [0], one, "states are 0 to 1"),
        ([0], [1], -one, "negative"),
        ([0, 0], [1, 1], np.array([1, 1]), "twice"),
    ):
        with pytest.raises(NotAGenerator, match=message):
            chain_from_arrays(2, np.array(source), np.array(target), rate)
    with pytest.raises(NotAGenerator, match="row 1 sums to 0, expected 1"):
        chain_from_arrays(2, np.array([0]), np.array([1]), one, time="discrete")
    with pytest.raises(TypeError, match="float64"):
        chain_from_arrays(2, np.array([0]), np.array([1]), np.array([0.5]))
    with pytest.raises(NotAGenerator, match="row 0 sums to 1, expected 0"):
        chain_from_sparse(sp.csr_matrix([[-1, 2], [1, -1]]))


def test_compact_rows_hold_wide_and_unrelated_rates():
    wide = FiniteChain.from_transitions(2, [(0, 1, "1e300"), (1, 0, "1e-300")])
    assert wide.rows[0] == {1: fmpq(10) ** 300} and wide.rows[1] == {0: fmpq(1) / fmpq(10) ** 300}
    primes = [p for p in range(10**6, 10**6 + 3000) if all(p % k for k in range(2, 1010))]
    ring = FiniteChain.from_transitions(
        len(primes), [(i, (i + 1) % len(primes), fmpq(1, p)) for i, p in enumerate(primes)]
    )
    assert isinstance(ring.rows, CompactRows) and ring.rows.denominator == 1
    assert [row[(i + 1) % len(primes)] for i, row in enumerate(ring.rows)] == [fmpq(1, p) for p in primes]
    assert stationary(ring) == [fmpq(p, sum(primes)) for p in primes]
    for method in ("direct", "block"):
        for digits in (12, 40):
            law = stationary(ring, digits=digits, method=method)
            assert all(x.contains(fmpq(p, sum(primes))) for x, p in zip(law, primes, strict=True))


def test_stored_zeros_are_no_transitions():
    rows = CompactRows(array("q", [0, 2, 3, 4]), array("i", [1, 2, 0, 0]), array("q", [1, 0, 1, 1]))
    chain = FiniteChain(rows)
    assert structure.structure(arrays(chain)).transient.tolist() == [2] and stationary(chain) == [
        fmpq(1, 2),
        fmpq(1, 2),
        0,
    ]


def test_exploration():
    walk = reachable_chain(2, lambda n: [((n + 1) % 5, "1/2"), ((n - 1) % 5, "1/2")], time="discrete")
    assert walk.labels == [2, 3, 1, 4, 0] and walk.index(4) == 3
    with pytest.raises(InputError, match="state 9"):
        walk.index(9)
    with pytest.raises(InputError, match="limit = 10"):
        reachable_chain(0, lambda n: [(n + 1, 1)], limit=10)
    with pytest.raises(NotAGenerator, match="'a' sum to 1/2, expected 1"):
        reachable_chain("a", lambda n: [("b", "1/2")], time="discrete")
    with pytest.raises(NotAGenerator, match="negative"):
        reachable_chain("a", lambda n: [("b", -1)])
    grown = reachable_chain(0, lambda n: [(n + 1, fmpq(1, n + 2))] * (n < 30) + [(0, 2**70)] * (n > 0))
    assert grown.rows[7] == {0: 2**70, 8: fmpq(1, 9)}


@given(st.integers(1, 9), st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=25))
def test_classes_by_both_routes(size, pairs):
    pairs = {(i, j) for i, j in pairs if i < size and j < size and i != j}
    chain = FiniteChain.from_transitions(size, [(i, j, 1) for i, j in pairs])
    found, other = classes(chain), structure.structure(arrays(chain))
    assert [list(c) for c in found.recurrent] == [c.tolist() for c in other.recurrent]
    assert list(found.transient) == other.transient.tolist()
    reach = {i: {i} for i in range(size)}
    for _ in range(size):
        for i, j in pairs:
            reach[i] |= reach[j]
    closed = sorted({tuple(sorted(reach[i])) for i in range(size) if all(i in reach[j] for j in reach[i])})
    assert sorted(found.recurrent) == closed


@given(st.integers(1, 6), st.integers(1, 4), st.randoms())
def test_period_of_a_cycle_of_groups(length, width, random):
    moves = []
    for k in range(length):
        for a in range(width):
            targets = [((k + 1) % length) * width + b for b in random.sample(range(width), random.randint(1, width))]
            moves += [(k * width + a, t, fmpq(1, len(targets))) for t in targets]
    chain = FiniteChain.from_transitions(length * width, moves, time="discrete")
    for states in classes(chain).recurrent:
        found = period(chain, states)
        assert found % length == 0
        loops = any(i in chain.rows[i] for i in states)
        assert structure.period(arrays(chain), np.array(states), loops) == found
    assert period(FiniteChain.from_transitions(1, []), [0]) is None


def test_symbolic_chain():
    F = Fractions("lam", "mu")
    lam, mu = F.gens
    chain = FiniteChain.from_matrix([[-lam, lam], [mu, -mu]], domain=F)
    assert stationary(chain) == [mu / (lam + mu), lam / (lam + mu)]


def test_states_are_no_truth_values():
    with pytest.raises(NotAGenerator, match=r"entry \(False, 1\)"):
        FiniteChain.from_transitions(2, [(False, 1, 1), (1, 0, 1)])


def test_messages_shorten_long_numbers():
    with pytest.raises(NotAGenerator, match="602 characters") as refusal:
        FiniteChain.from_matrix([[fmpq(-1, 10**300), 1], [1, -1]])
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("digits", [1.5, True, 0])
def test_digits_are_an_integer(digits):
    with pytest.raises(InputError, match=f"digits = {digits}"):
        stationary(FiniteChain.from_transitions(2, [(0, 1, 1), (1, 0, 1)]), digits=digits)
