"""Kinds level-drift, rates and level-law: spoiled proofs, stronger statements and other chains are refused."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactchains import LevelChain
from exactchains.solvers.level_law import level_law
from exactchains.solvers.matrix_geometric import rate_matrix
from exactchains.solvers.rate_certificate import drift_certificate
from proofs_check.check.blocks import MAX_FIELD, product
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected
from tests.spoiling import put

BLOCKS = {
    "up": [["1/2", "0"], ["1/3", "1"]],
    "local": [["-7/2", "1"], ["2", "-16/3"]],
    "down": [["1", "1"], ["0", "2"]],
    "boundary_local": [["-3/2", "1"], ["2", "-10/3"]],
}
UPWARDS = {"up": [["2", "0"], ["1/3", "2"]], "local": [["-5", "1"], ["2", "-16/3"]], "down": [["1", "1"], ["0", "1"]]}
LEVEL = {"up": [["1"]], "local": [["-2"]], "down": [["1"]]}
BALANCED = {"up": [["1", "1"], ["0", "1"]], "local": [["-5", "1"], ["2", "-4"]], "down": [["1", "1"], ["1/2", "1/2"]]}
RESETS = {
    "up": [["1/10", "1/5"], ["1/7", "0"]],
    "local": [["1/5", "0"], ["1/7", "1/7"]],
    "down": [["0", "1/10"], ["1/7", "1/7"]],
    "reset": [["2/5", "0"], ["1/7", "1/7"]],
    "boundary_local": [["7/10", "0"], ["5/7", "1/7"]],
}
APART = {"up": [["1", "0"], ["0", "3"]], "local": [["-3", "0"], ["0", "-5"]], "down": [["2", "0"], ["0", "2"]]}


def chain(blocks, time="continuous"):
    return LevelChain.from_blocks(blocks, time=time)


SWAPPED = {"up": [["1", "0"], ["0", "1"]], "local": [["-4", "2"], ["1", "-3"]], "down": [["1", "0"], ["0", "1"]]}
FAR_APART = {"up": [["3", "0"], ["0", "1"]], "local": [["-6", "1"], ["1", "-1e300"]], "down": [["2", "0"], ["0", "1"]]}
FAR_APART["local"][1] = ["9" * 300, "-1" + 299 * "0" + "1"]

CERTIFICATES = {
    "rates": rate_matrix(chain(BLOCKS), digits=20).certificate,
    "rates up": rate_matrix(chain(UPWARDS), digits=20).certificate,
    "rates mixed": rate_matrix(chain(APART), digits=20).certificate,
    "rates null": rate_matrix(chain(LEVEL)).certificate,
    "rates null, rank one": rate_matrix(chain(BALANCED)).certificate,
    "rates null, in balls": rate_matrix(chain(SWAPPED), digits=12).certificate,
    "rates wide": rate_matrix(chain(FAR_APART), digits=12).certificate,
    "rates reset": rate_matrix(chain(RESETS, "discrete"), digits=20).certificate,
    "law": level_law(chain(BLOCKS), digits=20).certificate,
    "law reset": level_law(chain(RESETS, "discrete"), digits=20).certificate,
    "drift": drift_certificate(rate_matrix(chain(BLOCKS))),
    "drift up": drift_certificate(rate_matrix(chain(UPWARDS))),
    "drift level": drift_certificate(rate_matrix(chain(LEVEL))),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_accepted(name):
    check(loads(json.dumps(CERTIFICATES[name])))


def plus(text: str, change: int) -> str:
    return hex(int(text, 0) + change)


def drop(*path):
    def spoil(c):
        for key in path[:-1]:
            c = c[key]
        del c[path[-1]]

    return spoil


def bounded_by(which, end):
    """Move one bound to the other: the statement becomes an equality that is false."""

    def spoil(c):
        bounds = c["conclusion"][which]
        bounds[end] = copy.deepcopy(bounds["lower" if end == "upper" else "upper"])

    return spoil


def untied(c):
    """Y = U = 1 solves the equation of a transient chain; without gamma and V nothing says that it is not its G."""
    other_solution(c)
    for name in ("gamma", "u", "v"):
        del c["proof"][name]


def too_little_room(c):
    """Upper bounds that leave their rows one unit less than they lack to 1, and that are no super-solution."""
    bounds = c["conclusion"]["G"]
    bounds["upper"] = [[plus(x, -1) for x in row] for row in bounds["upper"]]


def above_one(c):
    """down = 1, up = 1: any G with G = 1 only; a lower bound above 1 is refused by its row."""
    c["conclusion"]["G"] |= {"lower": [["2"]], "upper": [["2"]]}


def reset_and_untied(c):
    for name in ("gamma", "u", "v"):
        c["proof"].pop(name, None)


def other_solution(c):
    """Y = U = 1 solves the equation of a transient chain too, but is not its G."""
    c["problem"] = {"time": "continuous", "up": [["2"]], "local": [["-3"]], "down": [["1"]]}
    one = {"over": "1", "lower": [["1"]], "upper": [["1"]]}
    c["conclusion"] = {"status": "transient", "G": one, "R": {"over": "1", "lower": [["2"]], "upper": [["2"]]}}
    drift = {"members": [0], "y": ["0"], "constant": "0"}
    c["proof"] = {"drift": drift, "gamma": "1", "u": ["1"], "v": ["1"], "t": ["1"]}


REJECTED = {
    "upper bound of G below G": ("rates", bounded_by("G", "upper")),
    "lower bound of G above G": ("rates", bounded_by("G", "lower")),
    "upper bound of R below R": ("rates", bounded_by("R", "upper")),
    "lower bound of R above R": ("rates", bounded_by("R", "lower")),
    "G of the transient chain": ("rates up", bounded_by("G", "upper")),
    "another solution": ("rates", other_solution),
    "another solution, untied": ("rates", untied),
    "row above one": ("rates null", above_one),
    "resets untied": ("rates reset", reset_and_untied),
    "transient untied": ("rates up", reset_and_untied),
    "mixed untied": ("rates mixed", drop("proof", "V")),
    "null, in balls: upper": ("rates null, in balls", bounded_by("G", "upper")),
    "null, in balls: lower": ("rates null, in balls", bounded_by("G", "lower")),
    "null, in balls: lower of R": ("rates null, in balls", bounded_by("R", "lower")),
    "null, in balls: other rate": ("rates null, in balls", put("problem", "up", 0, 1, value="1")),
    "null, in balls: t": ("rates null, in balls", put("proof", "t", 0, value="1")),
    "null, in balls: zero": ("rates null, in balls", put("conclusion", "G", "upper", 0, 1, value="0")),
    "null, in balls: too little room": ("rates null, in balls", too_little_room),
    "wide: V": ("rates wide", put("proof", "V", 0, 0, value="1")),
    "wide: upper": ("rates wide", bounded_by("G", "upper")),
    "wide: lower": ("rates wide", bounded_by("G", "lower")),
    "wide: upper of R": ("rates wide", bounded_by("R", "upper")),
    "null: other status": ("rates null", put("conclusion", "status", value="transient")),
    "null: recurrent": ("rates null, rank one", put("conclusion", "status", value="recurrent")),
    "null: G": ("rates null, rank one", put("conclusion", "G", "lower", 0, 0, value="2")),
    "null: members": ("rates null, rank one", put("proof", "drift", "members", value=[0])),
    "null: other rate": ("rates null, rank one", put("problem", "up", 0, 1, value="2")),
    "status": ("rates", put("conclusion", "status", value="transient")),
    "status up": ("rates up", put("conclusion", "status", value="recurrent")),
    "no such status": ("rates", put("conclusion", "status", value="stable")),
    "drift vector": ("rates", put("proof", "drift", "y", 1, value="50")),
    "drift short": ("rates", put("proof", "drift", "y", value=[])),
    "drift members": ("rates", put("proof", "drift", "members", value=[0])),
    "gamma": ("rates up", put("proof", "gamma", value="1/1000")),
    "gamma zero": ("rates up", put("proof", "gamma", value="0")),
    "gamma one": ("rates up", put("proof", "gamma", value="1")),
    "u": ("rates up", put("proof", "u", 0, value="1")),
    "v": ("rates", put("proof", "v", 0, value="1")),
    "v zero": ("rates", put("proof", "v", 0, value="0")),
    "t": ("rates", put("proof", "t", 0, value="1")),
    "matrix V": ("rates", put("proof", "V", value=[["1", "1000000"], ["1000000", "1"]])),
    "matrix V zero": ("rates mixed", put("proof", "V", 1, 1, value="0")),
    "matrix V shape": ("rates mixed", put("proof", "V", value=[["1"]])),
    "no v": ("rates", drop("proof", "v")),
    "no proof": ("rates", put("proof", value={})),
    "negative bound": ("rates", put("conclusion", "G", "lower", 0, 0, value="-0x1")),
    "denominator": ("rates", put("conclusion", "G", "over", value="0")),
    "shape": ("rates", put("conclusion", "G", "upper", value=[["1"]])),
    "other rate": ("rates", put("problem", "down", 0, 0, value="2")),
    "row sum": ("rates", put("problem", "local", 0, 0, value="-4")),
    "negative rate": ("rates", put("problem", "up", 0, 1, value="-1/2")),
    "discrete time": ("rates", put("problem", "time", value="discrete")),
    "resets forgotten": ("rates reset", drop("problem", "reset")),
    "law level": ("law", put("conclusion", "levels", 1, 0, 0, value="1")),
    "law level upper": ("law", put("conclusion", "levels", 2, 1, 1, value="0")),
    "law mean": ("law", put("conclusion", "mean_level", 1, value="1/2")),
    "law mean lower": ("law", put("conclusion", "mean_level", 0, value="100")),
    "law decay": ("law", put("conclusion", "decay", 1, value="1/10")),
    "law decay lower": ("law", put("conclusion", "decay", 0, value="1")),
    "law decay vector": ("law", put("proof", "decay_lower", value=["0", "0"])),
    "law decay vector upper": ("law", put("proof", "decay_upper", 0, value="1")),
    "law upper": ("law", put("proof", "upper", 1, value="0x1")),
    "law lower": ("law reset", lambda c: put("proof", "lower", value=c["proof"]["upper"])(c)),
    "law reference": ("law", put("proof", "reference", value=1)),
    "law reference above": ("law", put("proof", "reference", value=3)),
    "law sums": ("law", put("proof", "sums", "upper", 0, value="0x1")),
    "law sums lower": ("law", lambda c: put("proof", "sums", "lower", value=c["proof"]["sums"]["upper"])(c)),
    "law no levels": ("law", put("conclusion", "levels", value=[])),
    "law boundary": ("law", put("problem", "boundary_up", 0, 0, value="1")),
    "law boundary down": ("law", put("problem", "boundary_down", 0, 0, value="2")),
    "law drift": ("law", put("proof", "vectors", "drift", "y", 0, value="90")),
    "drift turned round": ("drift", put("conclusion", "status", value="null recurrent")),
    "drift never zero": ("drift up", put("conclusion", "status", value="null recurrent")),
    "drift zero is not down": ("drift level", put("conclusion", "status", value="recurrent")),
    "drift zero is not up": ("drift level", put("conclusion", "status", value="transient")),
    "drift not closed": ("drift up", put("proof", value={"members": [0], "y": ["0"], "constant": "0"})),
    "drift member twice": ("drift level", put("proof", value={"members": [0, 0], "y": ["0", "0"], "constant": "0"})),
    "drift penalty": ("drift", put("proof", "constant", value="-5")),
    "drift float": ("drift", put("proof", "y", 0, value=0.5)),
}


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name):
    source, spoil = REJECTED[name]
    certificate = copy.deepcopy(CERTIFICATES[source])
    spoil(certificate)
    with pytest.raises(Rejected):
        check(loads(json.dumps(certificate)))


@pytest.mark.parametrize("which", ["G", "R"])
@pytest.mark.parametrize(("end", "side"), [("lower", 1), ("upper", -1)])
@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("j", [0, 1])
def test_every_entry_is_tested(which, end, side, i, j):
    """A bound moved across the matrix by its own width is refused, whatever the entry."""
    certificate = copy.deepcopy(CERTIFICATES["rates"])
    bounds = certificate["conclusion"][which]
    gap = int(bounds["upper"][i][j], 0) - int(bounds["lower"][i][j], 0)
    bounds[end][i][j] = plus(bounds[end][i][j], side * gap)
    with pytest.raises(Rejected):
        check(loads(json.dumps(certificate)))


def test_a_drift_that_only_a_bounded_level_has_is_no_null_recurrence():
    problem = {"time": "continuous", "up": [["0", "1"], ["0", "0"]], "local": [["-1", "0"], ["0", "-1"]]}
    problem["down"] = [["0", "0"], ["1", "0"]]
    proof = {"members": [0, 1], "y": ["0", "-1"], "constant": "0"}
    certificate = {"format": 1, "kind": "level-drift", "problem": problem, "conclusion": {"status": "null recurrent"}}
    with pytest.raises(Rejected, match="function of the phase"):
        check(loads(json.dumps(certificate | {"proof": proof})))


@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 70, MAX_FIELD]))
def test_products_of_integers_are_exact(data, rows, inner, columns, bits):
    number = st.integers(-(2**bits), 2**bits)
    A, B = (
        data.draw(st.lists(st.lists(number, min_size=n, max_size=n), min_size=m, max_size=m))
        for m, n in ((rows, inner), (inner, columns))
    )
    assert product(A, B) == [
        [sum(A[i][k] * B[k][j] for k in range(inner)) for j in range(columns)] for i in range(rows)
    ]
