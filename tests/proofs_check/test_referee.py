"""Certificates of false statements and of endless work that a referee wrote: each one is rejected, and soon."""

from pathlib import Path

import pytest

from proofs_check.check import polynomial
from proofs_check.check.document import check, read
from proofs_check.check.exact import Rejected

DATA = Path(__file__).parent.parent / "data"


def certificate(kind, problem, conclusion, proof):
    return {"format": 1, "kind": kind, "problem": problem, "conclusion": conclusion, "proof": proof}


def sign(claims, *, domain=None, variables=("q",), positive=(), signs=None, kind="sign"):
    statements = [{"claim": list(c)} for c in claims]
    proof = {"positive": list(positive), "signs": signs or [None] * len(statements)}
    proof["witness"] = [dict.fromkeys(variables, "1/2")]
    return certificate(kind, {"variables": list(variables), "domain": domain or {}}, {"statements": statements}, proof)


def law(name, **more):
    blocks = {name: {"up": [["0"]], "reset": [["1"]]}}
    proof = {
        "law": ["1"],
        "levels": 1,
        "period": 1,
        "ratio": "0",
        "ratio_sign": "0",
        "entries": {"1": "1"},
        "parents": [None],
    }
    return blocks, {name: proof | more}


@pytest.mark.parametrize("lower", ["191587831/37940000", "-100"])
def test_a_mean_below_the_true_one_by_a_shell_that_is_too_thin(lower):
    """Jumps fall faster than they rise: pairs two beyond the side still jump inside (true mean 1.0236)."""
    false = read(DATA / "false_mean.json")
    false["conclusion"]["mean"][0] = lower
    with pytest.raises(Rejected):
        check(false)


COUPLED = {
    "closed modes left out": (
        {"up": [["0", "0"], ["0", "1/2"]], "reset": [["1", "0"], ["0", "1/2"]]},
        {"up": [["1/4"]], "reset": [["3/4"]]},
        [["reset", 0, "up", 0, "1/4", "1/4"], ["reset", 0, "reset", 0, "3/4", "3/4"]],
    ),
    "nothing happens": ({"up": [["0"]], "reset": [["0"]]}, {"up": [["0"]], "reset": [["0"]]}, []),
    "a chance of three": (
        {"up": [["3"]], "reset": [["0"]]},
        {"up": [["3"]], "reset": [["0"]]},
        [["up", 0, "up", 0, "3", "3"]],
    ),
}


@pytest.mark.parametrize("name", COUPLED)
def test_a_coupling_of_what_is_no_scheme(name):
    smaller, larger, moves = COUPLED[name]
    problem = {"variables": [], "domain": {}, "smaller": smaller, "larger": larger}
    proof = {"pairs": [[0, 0]], "moves": [moves], "positive": []}
    with pytest.raises(Rejected, match=r"mode|1"):
        check(certificate("coupling", problem, {"order": "smaller <= larger"}, proof))


def test_a_variable_with_the_name_of_a_quantity():
    blocks, proof = law("A")
    problem = {"variables": ["mean_A"], "domain": {"m": ["mean_A-5", ">="]}, "laws": blocks}
    statement = {"statements": [{"claim": ["mean_A", ">=", "5"]}]}
    with pytest.raises(Rejected, match="both a variable and a quantity"):
        check(
            certificate(
                "levels",
                problem,
                statement,
                {"laws": proof, "positive": [], "signs": ["m"], "witness": [{"mean_A": "5"}]},
            )
        )
    refuted = {"at": {"mean_A": "7"}, "left": "0", "right": "5"}
    with pytest.raises(Rejected, match="both a variable and a quantity"):
        check(certificate("counterexample", problem | {"statement": ["mean_A", ">=", "5"]}, refuted, {"laws": proof}))


@pytest.mark.parametrize("claim", [("1/(1/q)", "=", "q"), ("(1/q)^0", ">=", "1"), ("q/q", "=", "1")])
def test_an_expression_that_is_undefined_somewhere(claim):
    domain = {"q": ["q", ">="]}
    with pytest.raises(Rejected):
        check(sign([claim], domain=domain, signs=["0"] if claim[1] == ">=" else [None]))


def test_an_inequality_inside_an_identity_inside_a_conjunction():
    part = sign([("2", ">", "1")], signs=["1"], kind="identity")
    whole = {
        "problem": {"parts": [{"kind": "identity", "problem": part["problem"]}]},
        "conclusion": {"parts": [part["conclusion"]]},
        "proof": {"parts": [part["proof"]]},
    }
    with pytest.raises(Rejected, match="equalities only"):
        check(certificate("all", **whole))


def test_powers_and_products_have_bounds(monkeypatch):
    with pytest.raises(Rejected, match="bits"):
        check(sign([("((2^5000)^5000)^5000", "=", "0")]))
    monkeypatch.setattr(polynomial, "MAX_PRODUCTS", 20_000)
    with pytest.raises(Rejected, match="products"):
        check(sign([("-".join(["(1+q)^1000"] * 700), "=", "0")]))


def test_periods_without_a_common_one_in_reach():
    blocks, proof = law("A", period=1997)
    more, other = law("B", period=1999, levels=1)
    problem = {"variables": [], "domain": {}, "laws": blocks | more}
    conclusion = {"statements": [], "orders": [{"smaller": "A", "larger": "B"}]}
    with pytest.raises(Rejected):
        check(
            certificate(
                "levels", problem, conclusion, {"laws": proof | other, "positive": [], "signs": [], "orders": [[]]}
            )
        )


def series(start, step, claims, *, signs, domain=None, assume=None, free=None, **proof):
    """An induction over s: from ``start`` by ``step``, with invariant S: s - 1 >= 0."""
    problem = {
        "variables": ["x"],
        "domain": domain or {"x": ["x", ">="]},
        "state": ["s"],
        "starts": [{"s": start}],
        "steps": {"next": {"set": {"s": step}} | (free or {})},
    }
    said = {"statements": [{"claim": list(c)} | ({"assume": assume} if assume else {}) for c in claims]}
    shown = {
        "equalities": [],
        "invariants": {"S": ["s-1", ">="]},
        "starts": [{"S": proof.pop("first", "0")}],
        "steps": {"next": {"equalities": [], "invariants": {"S": [proof.pop("kept", "S+1"), []]}}},
        "positive": [],
        "signs": [[text, []] for text in signs],
        "witness": [{"x": "1"}],
    }
    return certificate("induction", problem, said, shown | proof)


def test_an_induction_that_divides_by_what_may_be_zero():
    good = series("(x+1)/(x+1)", "s*(s+1)/s", [("s", ">=", "1")], signs=["S"], positive=["x+1", "S+1"])
    check(good)
    one = [("s", ">=", "1")]
    for bad in (
        series("x/x", "s+1", one, signs=["S"]),
        series("x/x", "s+1", one, signs=["S"], domain={"z": ["0-x^2", ">="]}, witness=[{"x": "0"}]),
        series("(x+1)/(x+1)", "s+1", one, signs=["S"], positive=["S+1"]),
        series("1", "s+x/x", one, signs=["S"]),
        series("1", "s+(s-1)/(s-1)", one, signs=["S"], positive=["S"]),
        series("1", "s+1", one, signs=["S"], invariants={"S": ["(s-1)*x/x", ">="]}),
    ):
        with pytest.raises(Rejected, match=r"denominator|between polynomials"):
            check(bad)


def test_an_induction_that_assumes_what_no_state_satisfies():
    """1 < 0 "follows" where -1 > 0; what is assumed must hold in a state that is reached, at a start or by a run."""
    false, late = [("1", "<", "0")], {"late": ["s-3", ">="]}
    run = [{"x": "1"}, 0, [["next", {}], ["next", {}]]]
    check(series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late, runs=[run]))
    free = {"free": ["t"], "guard": {"t": ["t", ">="]}}
    drawn = [{"x": "1"}, 0, [["next", {"t": "2"}]]]
    check(series("1", "s+t", [("s", ">=", "2")], signs=["late+1"], assume=late, free=free, kept="S+t", runs=[drawn]))
    for bad in (
        series("1", "s+1", false, signs=["a"], assume={"a": ["0-1", ">"]}),
        series("1", "s+1", false, signs=["a+S"], assume={"a": ["0-s", ">"]}, runs=[run]),
        series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late),
        series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late, runs=[[{"x": "-1"}, *run[1:]]]),
        series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late, runs=[[{}, *run[1:]]]),
        series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late, runs=[[*run[:2], [["next", {}]]]]),
        series("1", "s+1", [("s", ">=", "2")], signs=["late+1"], assume=late, runs=[[*run[:2], [["other", {}]]]]),
        series(
            "1",
            "s+t",
            [("s", ">=", "2")],
            signs=["late+1"],
            assume=late,
            free={**free, "guard": {**free["guard"], "small": ["1-t", ">="]}},
            kept="S+t",
            runs=[drawn],
        ),
    ):
        with pytest.raises(Rejected):
            check(bad)


def test_a_part_of_the_domain_that_is_empty():
    """A variable is set to a value that it never has: nowhere in the domain, or where the value is undefined."""
    problem = {"variables": ["n", "x"], "domain": {"n": ["n", ">="], "x": ["1-x", ">="]}}

    def stated(value, *points):
        statements = {"statements": [{"claim": ["n", "=", value], "set": {"n": value}}]}
        proof = {"positive": [], "signs": [None], "witness": [{"n": n, "x": x} for n, x in points]}
        return certificate("identity", problem, statements, proof)

    check(stated("2*x", ("5", "0"), ("1", "1/2")))
    for value, *points in (
        ("2*x", ("5", "0")),
        ("2*x", ("-1", "-1/2")),
        ("x-2", ("5", "0"), ("0", "1")),
        ("1/x", ("5", "0")),
    ):
        with pytest.raises(Rejected):
            check(stated(value, *points))


@pytest.mark.parametrize("speeds", [["1000"], ["1", "2"], ["1/2", "1"]])
def test_speeds_whose_mean_is_never_one(speeds):
    problem = {"policy": {"rule": "sed"}, "speeds": speeds, "load": "1/2"}
    with pytest.raises(Rejected, match="mean speed"):
        check(certificate("domination", problem, {"mean_queue": "1"}, {}))
