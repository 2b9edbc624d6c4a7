"""Input of the wrong kind or size: exact sums beyond 64 bits, numpy numbers, and one clear line for the rest."""

import numpy as np
import pytest
import scipy.sparse as sp
from flint import fmpq

from exactchains import (
    FiniteChain,
    InputError,
    LevelChain,
    NotAGenerator,
    Reward,
    chain_from_arrays,
    chain_from_sparse,
    classes,
    expectation,
    level_law,
    rate_matrix,
    stationary,
)

BIG = 2**62


def test_row_sums_beyond_64_bits_are_exact():
    """Four rates of 2^62 sum to 0 modulo 2^64, and 2^63 - 1 + 2^63 - 1 + 3 to 1."""
    matrix = np.array([[0, BIG, BIG, BIG, BIG], *([1, *(-1 if i == j else 0 for j in range(4))] for i in range(4))])
    for make in (chain_from_sparse, FiniteChain.from_matrix):
        with pytest.raises(NotAGenerator, match=f"row 0 sums to {2**64}, expected 0"):
            make(sp.csr_matrix(matrix))
    triples = [0, 0, 0, 1, 2], [0, 1, 2, 0, 0], [2**63 - 1, 2**63 - 1, 3, 1, 1]
    with pytest.raises(NotAGenerator, match=f"row 0 sums to {2**64 + 1}, expected 1"):
        chain_from_arrays(3, *triples, time="discrete")
    triples[2][3:] = [2**63 - 1, 2**63 - 1]
    loops = [1, 1, 2, 2], [1, 2, 1, 2], [2**62 + 1] * 4
    whole = [a + b for a, b in zip(triples, loops, strict=True)]
    chain = chain_from_arrays(3, *whole, denominator=2**64 + 1, time="discrete")
    assert sum(stationary(chain)) == 1


def test_arrays_may_be_empty_and_their_numbers_are_integers():
    assert len(classes(chain_from_arrays(3, [], [], [])).recurrent) == 3
    with pytest.raises(InputError, match=r"denominator = 2\.5"):
        chain_from_arrays(2, [0], [1], [1], denominator=2.5)
    with pytest.raises(InputError, match="size = True"):
        chain_from_arrays(True, [], [], [])


def test_numpy_integers_are_numbers_and_states():
    moves = [(np.int64(0), np.int32(1), np.int64(3)), (1, 0, np.uint8(1))]
    assert stationary(FiniteChain.from_transitions(np.int64(2), moves)) == [fmpq(1, 4), fmpq(3, 4)]
    with pytest.raises(TypeError, match=r"write '1/2'"):
        FiniteChain.from_transitions(2, [(0, 1, np.float64(0.5))])


@pytest.mark.parametrize("matrix", [None, 7, [1, 2], np.array([1, 2]), np.zeros((2, 2, 2), int)])
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(InputError, match="not a table; give a list of rows"):
        FiniteChain.from_matrix(matrix)
    with pytest.raises(InputError, match="up is a"):
        LevelChain.from_blocks({"up": matrix if matrix is not None else 0, "down": [[1]]})


@pytest.mark.parametrize("moves", [[(0, 1)], [5], [("0", 1, 1)], [(0, 1.0, 1)], [(0, True, 1)]])
def test_what_is_no_transition_is_refused(moves):
    with pytest.raises(NotAGenerator, match=r"give triples|states are integers"):
        FiniteChain.from_transitions(2, moves)


def test_chains_of_another_kind_are_sent_to_their_function():
    finite = FiniteChain.from_transitions(2, [(0, 1, 1), (1, 0, 1)])
    level = LevelChain.from_blocks({"up": [[1]], "local": [[-3]], "down": [[2]], "boundary_local": [[-1]]})
    for call, chain, name in (
        (stationary, level, "level_law"),
        (level_law, finite, "stationary"),
        (rate_matrix, finite, "stationary"),
        (lambda c: expectation(c, Reward.total()), finite, "stationary"),
        (stationary, [[0]], "FiniteChain.from_"),
    ):
        with pytest.raises(InputError, match=name):
            call(chain)
