"""Every kind of certificate accepts a right proof and rejects each way of spoiling it."""

import copy

import pytest

from proofs_check.check.document import check
from proofs_check.check.exact import Rejected

UNIT = {"p": ["p", ">="], "a": ["1-p", ">"]}


def certificate(kind, problem, conclusion, proof):
    return {"format": 1, "kind": kind, "problem": problem, "conclusion": conclusion, "proof": proof}


IDENTITY = certificate(
    "identity",
    {"variables": ["p"], "domain": UNIT},
    {"statements": [{"claim": ["1/(1-p) - 1", "=", "p/(1-p)"]}]},
    {"positive": ["a"], "signs": [None], "witness": [{"p": "1/2"}]},
)
SIGN = certificate(
    "sign",
    {"variables": ["p", "d"], "domain": UNIT | {"d": ["d", ">="]}},
    {
        "statements": [
            {"claim": ["p/(1-p)", ">=", "0"]},
            {"claim": ["d/(1-p+d)", "<", "p"], "assume": {"e": ["p-d", ">"]}},
            {"claim": ["d/(1-p+d)", "=", "p"], "set": {"d": "p"}},
        ]
    },
    {
        "positive": ["a", "a+d"],
        "signs": ["p/a", "a*e/(a+d)", None],
        "witness": [{"p": "0", "d": "1"}, {"p": "1/2", "d": "0"}, {"p": "1/2", "d": "1/2"}],
    },
)
INDUCTION = certificate(  # sums of odd numbers are squares, and positive
    "induction",
    {
        "variables": [],
        "domain": {},
        "state": ["n", "s"],
        "starts": [{"n": "1", "s": "1"}],
        "steps": {"next": {"set": {"n": "n+1", "s": "s+2*n+1"}}},
        "define": {"mean": "s/n"},
    },
    {
        "statements": [
            {"claim": ["s", "=", "n^2"]},
            {"claim": ["mean", ">", "0"]},
            {"claim": ["mean_after_next", ">", "mean"]},
        ]
    },
    {
        "equalities": ["s - n^2"],
        "invariants": {"N": ["n", ">"]},
        "starts": [{"N": "1"}],
        "steps": {"next": {"equalities": [["1"]], "invariants": {"N": ["N+1", ["0"]]}}},
        "positive": ["N", "N+1"],
        "signs": [[None, ["1"]], ["N", ["1/n"]], ["1", ["1/(n+1)-1/n"]]],
    },
)
LEVELS = certificate(
    "levels",
    {"variables": ["p"], "domain": UNIT, "laws": {"actual": {"up": [["p"]], "reset": [["1-p"]]}}},
    {
        "statements": [{"claim": ["mean_actual", "=", "p/(1-p)"]}, {"claim": ["failure_actual", "<", "1"]}],
        "orders": [{"smaller": "actual", "larger": "actual"}],
        "laws": {"actual": {"pmf": ["1-p", "(1-p)*p"], "period": 1, "ratio": "p"}},
    },
    {
        "laws": {
            "actual": {
                "law": ["1"],
                "levels": 1,
                "period": 1,
                "ratio": "p",
                "ratio_sign": "p",
                "entries": {"p": "p", "1-p": "a"},
                "parents": [None],
            }
        },
        "positive": ["a"],
        "signs": [None, "a"],
        "orders": [["0", "0"]],
        "witness": [{"p": "0"}],
    },
)
COUNTEREXAMPLE = certificate(
    "counterexample",
    {
        "variables": ["p"],
        "domain": UNIT,
        "laws": {"x": {"up": [["p"]], "reset": [["1-p"]]}},
        "statement": ["mean_x", ">=", "1"],
    },
    {"at": {"p": "1/3"}, "left": "1/2", "right": "1"},
    {
        "laws": {
            "x": {
                "law": ["1"],
                "levels": 1,
                "period": 1,
                "ratio": "1/3",
                "ratio_sign": "1/3",
                "entries": {"p": "1/3", "1-p": "2/3"},
                "parents": [None],
            }
        }
    },
)
ALL = certificate(
    "all",
    {"parts": [{"kind": c["kind"], "problem": c["problem"]} for c in (SIGN, LEVELS)]},
    {"parts": [c["conclusion"] for c in (SIGN, LEVELS)]},
    {"parts": [c["proof"] for c in (SIGN, LEVELS)]},
)
WORDS = certificate(  # x A = b and A c = 0 give b c = 0
    "words",
    {
        "scalars": ["t"],
        "letters": ["x", "A", "b", "c"],
        "given": [[["t", ["x", "A"]], ["-1", ["b"]]], [["1", ["A", "c"]]]],
    },
    {"zero": [[["1", ["b", "c"]]]]},
    {"combinations": [[["-1", [], 0, ["c"]], ["t", ["x"], 1, []]]]},
)
COUPLING = certificate(  # a better channel has the smaller age
    "coupling",
    {
        "variables": ["p", "d"],
        "domain": UNIT | {"d": ["d", ">="], "e": ["p-d", ">="]},
        "smaller": {"up": [["d"]], "reset": [["1-d"]]},
        "larger": {"up": [["p"]], "reset": [["1-p"]]},
    },
    {"order": "smaller <= larger"},
    {
        "pairs": [[0, 0]],
        "moves": [
            [
                ["up", 0, "up", 0, "d", "d"],
                ["reset", 0, "up", 0, "p-d", "e"],
                ["reset", 0, "reset", 0, "1-p", "a"],
            ]
        ],
        "positive": ["a"],
        "witness": [{"p": "1/2", "d": "1/2"}],
    },
)
MEAN = certificate(  # two states, rates 1 and 2
    "mean",
    {"time": "continuous", "states": 2, "transitions": [[0, 1, "1"], [1, 0, "2"]], "reward": ["0", "3"]},
    {"mean": ["1", "1"]},
    {"law": ["2/3", "1/3"]},
)
GOOD = {c["kind"]: c for c in (IDENTITY, SIGN, INDUCTION, LEVELS, COUNTEREXAMPLE, WORDS, COUPLING, MEAN, ALL)}

# (kind, path to a place, what to put there)
SPOILED = [
    ("identity", "conclusion statements 0 claim 2", "p/(1-p)^2"),
    ("identity", "conclusion statements 0 claim 1", ">="),
    ("identity", "proof positive", []),
    ("identity", "proof positive", ["p"]),
    ("identity", "proof signs", []),
    ("identity", "problem domain", {}),
    ("sign", "conclusion statements 0 claim 1", ">"),
    ("sign", "conclusion statements 1 assume", {}),
    ("sign", "conclusion statements 1 assume e 1", ">="),
    ("sign", "conclusion statements 1 claim 1", ">"),
    ("sign", "conclusion statements 2 set", {}),
    ("sign", "conclusion statements 2 set", {"z": "p"}),
    ("sign", "conclusion statements", []),
    ("sign", "proof signs 0", "2*p/a"),
    ("sign", "proof signs 0", "p/a - p/a + p/a - 0*q"),
    ("sign", "proof signs 1", "(p-d)*a/(a+d)"),
    ("sign", "proof signs 1", None),
    ("sign", "proof positive", ["a+d", "a-d"]),
    ("sign", "problem domain a 1", ">="),
    ("sign", "problem variables", ["p", "p"]),
    ("sign", "problem domain z", ["0-1", ">="]),
    ("sign", "problem domain z", ["d-2", ">="]),
    ("sign", "proof witness", []),
    ("sign", "proof witness", [{"p": "0", "d": "1"}]),
    ("sign", "proof witness", [{"p": "0", "d": "1"}, {"p": "1/2", "d": "0"}]),
    ("sign", "conclusion statements 2 set d", "p-2"),
    ("sign", "proof witness", [{"p": "1", "d": "0"}]),
    ("sign", "proof witness", [{"p": "1/2"}]),
    ("sign", "proof witness", [{"p": "1/2", "d": "p"}]),
    ("sign", "proof witness", {"p": "1/2", "d": "0"}),
    ("identity", "problem domain z", ["p-1", ">="]),
    ("induction", "problem domain", {"z": ["0-1", ">"]}),
    ("levels", "problem domain z", ["p-1", ">="]),
    ("levels", "conclusion orders 0 assume", {"z": ["p-1", ">="]}),
    ("levels", "proof witness", []),
    ("levels", "problem laws actual up 0 0", "p^2/p"),
    ("levels", "problem laws actual reset 0 0", "(1-p)*(2-p)/(2-p)"),
    ("levels", "conclusion laws actual pmf 1", "(1-p)*p^2/p"),
    ("levels", "conclusion laws actual ratio", "p^2/p"),
    ("levels", "proof laws actual ratio", "p^2/p"),
    ("induction", "problem starts", []),
    ("induction", "problem starts 0 s", "2"),
    ("induction", "problem starts 0 n", "0"),
    ("induction", "problem steps", {}),
    ("induction", "problem steps next set s", "s+2*n"),
    ("induction", "problem steps next set n", "n-1"),
    ("induction", "conclusion statements 0 claim 2", "n^3"),
    ("induction", "conclusion statements 2 claim 1", "<"),
    ("induction", "proof invariants N 0", "n-2"),
    ("induction", "proof invariants N 1", ">="),
    ("induction", "proof equalities", []),
    ("induction", "proof equalities", ["0"]),
    ("induction", "proof steps next equalities 0 0", "2"),
    ("induction", "proof steps next invariants N 0", "N"),
    ("induction", "proof steps", {}),
    ("induction", "proof starts 0", {}),
    ("induction", "proof signs 1 1 0", "1/(n-1)"),
    ("induction", "proof signs 2 0", "0"),
    ("levels", "problem laws actual up 0 0", "p^2"),
    ("levels", "problem laws actual reset 0 0", "1-2*p"),
    ("levels", "conclusion statements 0 claim 2", "p"),
    ("levels", "conclusion statements 1 claim 2", "1-p"),
    ("levels", "conclusion laws actual pmf 1", "p"),
    ("levels", "conclusion laws actual pmf", ["1-p"]),
    ("levels", "conclusion laws actual ratio", "p^2"),
    ("levels", "proof laws actual law 0", "2"),
    ("levels", "proof laws actual ratio", "2*p"),
    ("levels", "proof laws actual levels", 0),
    ("levels", "proof laws actual levels", 10**9),
    ("levels", "proof laws actual entries p", "-p"),
    ("levels", "proof laws actual entries", {}),
    ("levels", "proof laws actual parents 0", 0),
    ("levels", "proof laws actual parents 0", 5),
    ("levels", "proof laws actual ratio_sign", "a"),
    ("levels", "proof laws", {}),
    ("levels", "proof orders 0", []),
    ("counterexample", "conclusion at p", "2/3"),
    ("counterexample", "conclusion at p", "4/3"),
    ("counterexample", "conclusion at", {}),
    ("counterexample", "conclusion left", "1/3"),
    ("counterexample", "problem statement 1", "<="),
    ("counterexample", "problem statement 2", "1/2"),
    ("counterexample", "proof laws x ratio", "1/2"),
    ("counterexample", "proof laws", {}),
    ("mean", "conclusion mean", ["101/100", "2"]),
    ("mean", "conclusion mean", ["0", "99/100"]),
    ("mean", "problem reward 1", "4"),
    ("mean", "problem reward", ["0"]),
    ("mean", "problem transitions 1 2", "3"),
    ("mean", "problem transitions", [[0, 1, "0"], [1, 0, "0"]]),
    ("mean", "proof law", ["1/3", "2/3"]),
    ("mean", "proof law", ["4/3", "2/3"]),
    ("mean", "proof law", []),
    ("coupling", "problem domain e 0", "d-p"),
    ("coupling", "problem smaller up 0 0", "p"),
    ("coupling", "problem larger reset 0 0", "1-d"),
    ("coupling", "conclusion order", "smaller >= larger"),
    ("coupling", "proof pairs", []),
    ("coupling", "proof positive", ["p"]),
    ("coupling", "proof witness", []),
    ("coupling", "proof witness", [{"p": "0", "d": "1/2"}]),
    ("coupling", "problem smaller up 0 0", "d*p/p"),
    ("coupling", "problem larger up 0 0", "p^2/p"),
    ("coupling", "proof moves 0 0 4", "d*p/p"),
    ("coupling", "proof pairs 0 0", 1),
    ("coupling", "proof moves 0 1 0", "up"),
    ("coupling", "proof moves 0 1", ["up", 0, "reset", 0, "p-d", "e"]),
    ("coupling", "proof moves 0 1 5", "p"),
    ("coupling", "proof moves 0 1 1", 1),
    ("coupling", "proof moves 0", []),
    ("words", "conclusion zero", []),
    ("words", "conclusion zero 0 0 0", "2"),
    ("words", "conclusion zero 0 0 1", ["c", "b"]),
    ("words", "problem given 1", [["1", ["c", "A"]]]),
    ("words", "problem letters", ["x", "A", "b"]),
    ("words", "proof combinations 0", []),
    ("words", "proof combinations 0 0 2", 1),
    ("words", "proof combinations 0 0 2", 7),
    ("words", "proof combinations 0 1 0", "1/t"),
    ("words", "proof combinations 0 0 3", ["z"]),
    ("all", "problem parts", []),
    ("all", "problem parts 0 kind", "all"),
    ("all", "problem parts 0 kind", "levels"),
    ("all", "proof parts 1", {}),
    ("all", "conclusion parts 0 statements 0 claim 1", ">"),
]


ACCEPTED = [  # what is divided by is positive, and each part has its point
    ("coupling", "proof moves 0 0 4", "d*(1-p)/(1-p)"),
    ("coupling", "problem larger up 0 0", "p*(1-p)/(1-p)"),
    ("levels", "conclusion laws actual ratio", "p*(1-p)/(1-p)"),
    ("levels", "proof witness", [{"p": "2"}, {}, {"p": "3/4"}]),
    ("levels", "conclusion orders 0 assume", {"z": ["1/2-p", ">="]}),
]


def spoiled(good, path, value):
    bad = copy.deepcopy(good)
    *way, last = [int(step) if step.isdigit() else step for step in path.split()]
    place = bad
    for step in way:
        place = place[step]
    place[last] = value
    return bad


@pytest.mark.parametrize("kind", GOOD)
def test_a_right_proof_is_accepted(kind):
    check(GOOD[kind])


@pytest.mark.parametrize(("kind", "path", "value"), ACCEPTED, ids=lambda x: str(x)[:40])
def test_another_right_proof_is_accepted(kind, path, value):
    check(spoiled(GOOD[kind], path, value))


@pytest.mark.parametrize(("kind", "path", "value"), SPOILED, ids=lambda x: str(x)[:40])
def test_a_spoiled_proof_is_rejected(kind, path, value):
    with pytest.raises(Rejected):
        check(spoiled(GOOD[kind], path, value))


def test_a_law_needs_its_modes_to_be_connected():
    """Two closed classes: no unique law, so no proof may pass."""
    problem = {
        "variables": [],
        "domain": {},
        "laws": {"x": {"up": [["0", "0"], ["0", "1"]], "reset": [["1", "0"], ["0", "0"]]}},
    }
    for parents in ([None, 0], [1, None], [None, None]):
        proof = {
            "laws": {
                "x": {
                    "law": ["1", "0"],
                    "levels": 1,
                    "period": 1,
                    "ratio": "0",
                    "ratio_sign": "0",
                    "entries": {"1": "1"},
                    "parents": parents,
                }
            },
            "positive": [],
            "signs": [None],
        }
        with pytest.raises(Rejected):
            check(certificate("levels", problem, {"statements": [{"claim": ["mean_x", "=", "0"]}]}, proof))


def test_a_free_name_stands_for_any_value_that_its_guard_allows():
    """x -> t x with 0 <= t <= 1 keeps x <= 1; without the guard t <= 1 it does not."""
    step = {"set": {"x": "t*x"}, "free": ["t"], "guard": {"t": ["t", ">="], "s": ["1-t", ">="]}}
    problem = {"variables": [], "domain": {}, "state": ["x"], "starts": [{"x": "1"}], "steps": {"shrink": step}}
    proof = {
        "equalities": [],
        "invariants": {"X": ["x", ">="], "Y": ["1-x", ">="]},
        "starts": [{"X": "1", "Y": "0"}],
        "steps": {"shrink": {"equalities": [], "invariants": {"X": ["t*X", []], "Y": ["Y + s*X", []]}}},
        "positive": [],
        "signs": [["Y", []]],
    }
    good = certificate("induction", problem, {"statements": [{"claim": ["x", "<=", "1"]}]}, proof)
    check(good)
    for path, value in [
        ("problem steps shrink guard", {"t": ["t", ">="]}),
        ("problem steps shrink free", []),
        ("problem steps shrink free", ["x"]),
        ("problem steps shrink set x", "2*t*x"),
    ]:
        with pytest.raises(Rejected):
            check(spoiled(good, path, value))


def test_unreachable_states_prove_nothing_by_an_empty_invariant():
    """An invariant that no start satisfies cannot be smuggled in."""
    bad = spoiled(INDUCTION, "proof invariants", {"N": ["n", ">"], "Z": ["0-1", ">"]})
    bad["proof"]["starts"] = [{"N": "1", "Z": "1"}]
    bad["proof"]["steps"]["next"]["invariants"]["Z"] = ["Z", ["0"]]
    with pytest.raises(Rejected, match="Z at the start"):
        check(bad)
