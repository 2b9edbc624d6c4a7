"""Level chains as data: what is accepted, what is refused, and what the message names."""

from fractions import Fraction

import pytest

from exactchains import QQ, LevelChain, NotAGenerator, rational
from exactchains import chain as chain_module
from exactchains.truth import InputError

GOOD = {"up": [["1", "0"], ["2", "0"]], "local": [["-6", "5"], ["3", "-12"]], "down": [["0", "0"], ["3", "4"]]}


def test_both_homes_hand_out_the_same_class():
    assert chain_module.LevelChain is LevelChain


def test_a_qbd_fills_in_its_boundary():
    chain = LevelChain.from_blocks(GOOD | {"boundary_local": [["-6", "5"], ["6", "-8"]]})
    assert chain.kind == "qbd" and chain.phases == 2 and chain.widths == (2,)
    assert [dict(row) for row in chain.boundary_up] == [{0: 1}, {0: 2}]


def test_without_level_zero_there_is_no_boundary():
    assert LevelChain.from_blocks(GOOD).boundary_local is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"local": [["-6", "5"], ["3", "-11"]]}, r"row 1 of down \+ local \+ up .* sums to 1, expected 0"),
        ({"up": [["-1", "0"], ["2", "0"]]}, r"up \(0, 0\) = -1 is negative"),
        ({"up": [["1", "0"]]}, "up: row 0 has 2 entries, expected 1"),
        ({"down": [["0"], ["7"]]}, "down: row 0 has 1 entries, expected 2"),
        ({"boundary_local": [["-6", "5"], ["6", "-9"]]}, r"row 1 of boundary_local .* sums to -1"),
        ({"boundary_local": [["-1"]]}, "boundary_up is missing"),
        ({"up": [["1/0", "0"], ["2", "0"]]}, r"up \(0, 0\).*division by zero"),
        ({"sideways": [["1"]]}, "unknown block 'sideways'"),
    ],
)
def test_bad_blocks_are_refused_by_name(change, message):
    with pytest.raises(InputError, match=message):
        LevelChain.from_blocks(GOOD | change)


def test_a_float_is_refused_with_its_spelling():
    with pytest.raises(TypeError, match=r"up \(0, 0\).*1/2"):
        LevelChain.from_blocks({"up": [[0.5]], "local": [["-1"]], "down": [["1/2"]]})


def test_doubles_are_taken_as_they_are_and_rows_closed_exactly():
    chain = LevelChain.from_floats({"up": [[0.1]], "local": [[-7.0]], "down": [[0.2]], "boundary_local": [[0.0]]})
    assert chain.up[0][0] == rational(Fraction(0.1))
    assert chain.up[0][0] + chain.local[0][0] + chain.down[0][0] == 0
    assert chain.boundary_local[0][0] == -chain.up[0][0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_doubles_that_are_no_numbers_are_refused(bad):
    with pytest.raises(NotAGenerator, match="finite"):
        LevelChain.from_floats({"up": [[bad]], "local": [[0.0]], "down": [[1.0]]})


def test_resetting_chain():
    chain = LevelChain.resetting([["1/2", "0"], ["1/4", "1/4"]], [["1/4", "1/4"], ["1/2", "0"]], domain=QQ)
    assert chain.kind == "reset" and chain.time == "discrete"
    assert chain.phase_chain().rows[1] == {0: rational("3/4"), 1: rational("1/4")}
    with pytest.raises(NotAGenerator, match="sums to 5/4"):
        LevelChain.resetting([["1/2"]], [["3/4"]], domain=QQ)


def test_long_jumps_are_merged():
    jumps = {-2: [["1"]], 0: [["-2"]], 1: [["1"]]}
    edge = {(0, 0): [["-1"]], (0, 1): [["1"]], (1, 1): [["-2"]], (1, 0): [["1"]], (1, 2): [["1"]]}
    chain = LevelChain.jumping(jumps, boundary=edge)
    assert (chain.stride, chain.widths, chain.phases) == (2, (1, 1), 2)
    assert chain.up == ((0, 0), (1, 0)) and chain.down == ((1, 0), (0, 1))


@pytest.mark.parametrize(
    ("jumps", "edge", "message"),
    [
        ({0: [["-1"]], 1: [["1"]]}, {(0, 0): [["-1"]]}, "at least one jump up"),
        ({-1: [["1"]], 0: [["-2"]], 1: [["1"]]}, {(1, 1): [["-1"]]}, "without a gap"),
        ({-2: [["1"]], 0: [["-2"]], 1: [["1"]]}, {(0, 0): [["-1"]], (0, 1): [["1"]]}, "below level 0"),
    ],
)
def test_merging_refuses_what_it_cannot_place(jumps, edge, message):
    with pytest.raises(InputError, match=message):
        LevelChain.jumping(jumps, boundary=edge)
