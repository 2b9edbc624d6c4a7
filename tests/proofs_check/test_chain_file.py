"""Chains in files and ``exaq chain``: what is read, what is answered, and one line for everything that is refused."""

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner
from flint import fmpq

from exactchains import InputError, Undecided, stationary, transient_law
from exactchains.solvers import law_certificate
from proofs_check.chain_file import read_chain
from proofs_check.chain_report import certificate
from proofs_check.check.document import check, read
from proofs_check.cli.main import cli

RUIN = {
    "kind": "dtmc",
    "states": 5,
    "transitions": [
        [0, 0, 1],
        [1, 0, "1/2"],
        [1, 2, 0.5],
        [2, 1, "1/2"],
        [2, 3, "0.5"],
        [3, 2, "5e-1"],
        [3, 4, 0.5],
        [4, 4, 1],
    ],
}
QBD = {
    "kind": "qbd",
    "time": "continuous",
    "up": [[1, 0], [2, 0]],
    "local": [[-6, 5], [3, -12]],
    "down": [[0, 0], [3, 4]],
    "boundary_local": [[-6, 5], [6, -8]],
}
MARKET = """%%MatrixMarket matrix coordinate real general
% up 3/2, down 3
3 3 7
1 1 -1.5
1 2 1.5
2 1 3
2 2 -4.5
2 3 15e-1
3 2 3
3 3 -3
"""


def write(folder, data, name="chain.json"):
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return str(path)


def run(*words, code=0):
    result = CliRunner().invoke(cli, ["chain", *words])
    assert result.exit_code == code, result.output
    if code:
        assert result.stderr.startswith("exaq: ") and result.stderr.count("\n") == 1
    return result.stderr if code else result.stdout


def test_formats_give_the_same_chain(tmp_path):
    listed = {"kind": "ctmc", "states": 3, "transitions": [[0, 1, "3/2"], [1, 0, 3], [1, 2, 1.5], [2, 1, 3]]}
    dense = {"kind": "ctmc", "matrix": [["-3/2", "1.5", 0], [3, "-9/2", 1.5], [0, 3, -3]]}
    array = "%%MatrixMarket matrix array real general\n3 3\n-1.5\n3\n0\n1.5\n-4.5\n3\n0\n1.5\n-3\n"
    chains = [
        read_chain(write(tmp_path, listed)),
        read_chain(write(tmp_path, dense, "dense.json")),
        read_chain(write(tmp_path, MARKET, "a.mtx")),
        read_chain(write(tmp_path, array, "b.mtx")),
    ]
    for chain in chains:
        assert list(chain.rows) == [{1: fmpq(3, 2)}, {0: fmpq(3), 2: fmpq(3, 2)}, {1: fmpq(3)}]
        assert chain.time == "continuous" and stationary(chain) == [fmpq(4, 7), fmpq(2, 7), fmpq(1, 7)]
    stochastic = read_chain(
        write(tmp_path, "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 0.25\n2 2 0.75\n", "c.mtx")
    )
    assert stochastic.time == "discrete" and stationary(stochastic) == [fmpq(1, 5), fmpq(4, 5)]


def test_law_of_every_class_as_json(tmp_path):
    data = json.loads(run(write(tmp_path, RUIN), "--json", "--digits", "8"))
    assert [c["states"] for c in data["classes"]] == [[0], [4]] and data["transient"] == [1, 2, 3]
    assert data["classes"][1]["law"] == [
        {
            "state": 4,
            "status": "exact",
            "exact": "1",
            "lower": "1.00000000000000000",
            "upper": "1.00000000000000000",
            "digits": "1.0000000",
        }
    ]
    assert [c["period"] for c in data["classes"]] == [1, 1]
    ctmc = json.loads(run(write(tmp_path, MARKET, "a.mtx"), "--json", "--index", "1..2", "--digits", "5"))
    assert [x["state"] for x in ctmc["classes"][0]["law"]] == [1, 2]
    assert ctmc["classes"][0]["period"] is None and ctmc["classes"][0]["law"][0]["exact"] == "2/7"


def test_large_chain_is_enclosed_outward(tmp_path):
    n = 700
    moves = [[i, i + 1, "9"] for i in range(n)] + [[i + 1, i, "10"] for i in range(n)]
    path = write(tmp_path, {"kind": "ctmc", "states": n + 1, "transitions": moves})
    law = json.loads(run(path, "--json", "--digits", "12", "--index", f"{n}"))["classes"][0]["law"][0]
    exact = fmpq(9, 10) ** n / (10 * (1 - fmpq(9, 10) ** (n + 1)))
    bounds = [fmpq(*map(int, _decimal(law[end]))) for end in ("lower", "upper")]
    assert law["status"] == "enclosed" and law["exact"] is None and bounds[0] <= exact <= bounds[1]


def _decimal(text):
    mantissa, _, exponent = text.partition("e")
    whole, _, part = mantissa.partition(".")
    shift = len(part) - int(exponent or 0)
    return (whole + part, 10**shift) if shift >= 0 else (int(whole + part) * 10**-shift, 1)


def test_absorption_and_classes(tmp_path):
    path = write(tmp_path, RUIN)
    data = json.loads(run(path, "--quantity", "absorption", "--from", "1", "--json"))
    assert data["from"] == 1 and [x["exact"] for x in data["absorption"]] == ["3/4", "1/4"]
    assert "from 1 to class {0} = 3/4" in run(path, "--quantity", "absorption", "--from", "1")
    assert run(path, "--quantity", "classes").splitlines()[-1] == "transient {1 2 3}"


def test_certificates_are_accepted_by_the_checker(tmp_path):
    proof = tmp_path / "law.cert.json"
    for data, name in ((MARKET, "a.mtx"), (QBD, "qbd.json")):
        run(write(tmp_path, data, name), "--certificate", str(proof), "--digits", "9")
        check(read(proof))
    assert "2 recurrent classes" in run(write(tmp_path, RUIN), "--certificate", str(proof), code=2)


def test_level_chains(tmp_path):
    path = write(tmp_path, QBD)
    data = json.loads(run(path, "--json", "--digits", "10"))
    assert data["status"] == "recurrent" and len(data["levels"]) == 4
    assert [[x["exact"] for x in row] for row in data["G"]] == [["3/7", "4/7"]] * 2
    assert data["R"][1][0]["exact"] == "152/273" and data["levels"][0][1]["exact"] == "17/91"
    assert data["mean_level"]["exact"] == "2070/1547"
    assert set(json.loads(run(path, "--json", "--quantity", "decay"))) == {"status", "decay"}
    assert (
        run(path, "--quantity", "levels", "--index", "2", "--digits", "5")
        .splitlines()[1]
        .startswith("law[2,0] = 56848/599781")
    )
    reset = write(tmp_path, {"kind": "reset", "up": [["1/3"]], "reset": [["2/3"]]}, "reset.json")
    answer = json.loads(run(reset, "--json"))
    assert answer["R"][0][0]["exact"] == "1/3" and [x[0]["exact"] for x in answer["levels"]] == [
        "2/3",
        "2/9",
        "2/27",
        "2/81",
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 1, 1], [0, 1, 2]]}, "(0, 1) is given twice"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 0, 1]]}, "from a state to itself"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 2, 1]]}, "no integer from 0 to 1"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 1, -1]]}, "negative"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 1, "x"]]}, "transitions[0]"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 1, True]]}, "no number"),
        ({"kind": "ctmc", "states": 2, "transitions": [[0, 1]]}, "write [from, to"),
        ({"kind": "ctmc", "states": 10**12, "transitions": []}, "states"),
        ({"kind": "ctmc", "states": 0, "transitions": []}, "states"),
        ({"kind": "ctmc", "states": 2}, "'states' and 'transitions'"),
        ({"kind": "ctmc", "matrix": [[-1, 1], [1, -2]]}, "row 1 sums to -1"),
        ({"kind": "dtmc", "matrix": [["1/2", "1/3"], [0, 1]]}, "row 0 sums to 5/6"),
        ({"kind": "dtmc", "matrix": [[1]], "states": 1}, "either"),
        ({"kind": "dtmc", "matrix": 7}, "a list is needed"),
        ({"kind": "ctmc", "matrix": [[0]], "colour": 1}, "unknown field 'colour'"),
        ({"kind": "petri"}, "kind = 'petri'"),
        (QBD | {"time": "never"}, "time = 'never'"),
        (QBD | {"reset": [[0]]}, "kind 'reset'"),
        ({k: v for k, v in QBD.items() if k != "down"}, "down is missing"),
        (QBD | {"down": [[0, 0], [3, 5]]}, "row 1 of"),
        ('{"kind": "ctmc", "kind": "dtmc"}', "occurs twice"),
        ('{"kind": "ctmc", "states": 1, "transitions": [[0, 0, NaN]]}', "NaN"),
        ('{"kind": ' + "[" * 100_000, "nested"),
        ('{"kind": "ctmc", "states": 2, "transitions": [[0, 1, 1e999999999]]}', "exponents are read from"),
        ("[1, 2]", "a table"),
        ("", "not valid JSON"),
    ],
)
def test_refused_files(tmp_path, data, message):
    assert message in run(write(tmp_path, data), code=2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "first line"),
        ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "is not read"),
        ("%%MatrixMarket matrix coordinate real symmetric\n1 1 0\n", "is not read"),
        ("%%MatrixMarket matrix coordinate real general\n", "size line"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 0\n", "square"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n", "announces 2"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "line 3"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", "line 3"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 2\n", "row 0 sums to 1"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n1 2 -1\n2 2 0\n", "twice"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 -1\n1 1 0\n1 2 1\n", "twice"),
    ],
)
def test_refused_matrix_market(tmp_path, text, message):
    assert message in run(write(tmp_path, text, "a.mtx"), code=2)


GAPS = {
    "kind": "dtmc",
    "parameters": {"p": "3/10", "r": None},
    "states": 9,  # 0: no gap; 1..7: gaps 1..7; 8: scored
    "transitions": [
        [0, 8, "p"],
        [0, 0, "1-p"],
        *([i, j, q] for i in range(1, 6) for j, q in ((8, "p+r"), (i + 1, "1-(p+r)"))),
        *([i, j, q] for i in (6,) for j, q in ((8, "p"), (7, "1-p"))),
        [7, 8, "p"],
        [7, 7, "1-p"],
        [8, 8, "p+r"],
        [8, 1, "1 - (p + r)"],
    ],
}


def test_parameters_have_exact_values(tmp_path):
    """stormpy 337: two parameters, a reward of 1 a step: i after i steps, as long as the rows are probabilities."""
    path = write(tmp_path, GAPS)
    chain = read_chain(path, {"r": "0.1"})
    assert chain.rows[1] == {2: fmpq(3, 5), 8: fmpq(2, 5)} and chain.rows[0] == {0: fmpq(7, 10), 8: fmpq(3, 10)}
    assert chain == read_chain(path, {"r": Fraction(1, 10), "p": "3e-1"})
    for steps in range(1, 15):
        assert sum((x.value for k in range(steps) for x in transient_law(chain, 0, k)), fmpq(0)) == steps
    law = stationary(chain)
    assert json.loads(run(path, "--set", "r=1/10", "--json", "--index", "8"))["classes"][0]["law"][0]["exact"] == str(
        law[8]
    )
    assert stationary(read_chain(path, {"r": "7/10"})) == [0] * 8 + [1]  # p + r = 1: state 8 absorbs


def test_violated_constraints_are_named(tmp_path):
    """stormpy 337: a '+' where an '&' was meant makes the row of a gap of 6 sum to 2; the answer was a number."""
    path = write(tmp_path, GAPS)
    where = "p = 3/10, r = 4/5"
    assert (
        run(path, "--set", "r=4/5", code=2)
        == f"exaq: transitions[3], entry (1, 2) = 1-(p+r) = -1/10 is below 0, with {where}\n"
    )
    moves = [[i, j, "1-p + 1" if (i, j) == (6, 7) else q] for i, j, q in GAPS["transitions"]]
    message = run(write(tmp_path, GAPS | {"transitions": moves}), "--set", "r=0.1", code=2)
    assert "row 6 sums to 2, expected 1" in message and message.endswith(", with p = 3/10, r = 1/10\n")


PAIR = {"kind": "ctmc", "parameters": {"p": "1/2", "q": "1/2"}, "states": 2}
MATRIX = {"kind": "ctmc", "parameters": {"p": "1/2"}, "matrix": [["-p", "p"], ["1-p", "p-1"]]}


@pytest.mark.parametrize(
    ("data", "values", "message"),
    [
        (PAIR | {"transitions": [[0, 1, "1/(p-q)"]]}, {}, "'1/(p-q)': division by zero in a formula, with p = 1/2, q"),
        (PAIR | {"transitions": [[0, 1, "s"]]}, {}, "transitions[0], entry (0, 1) = 's': 's' in a formula"),
        (PAIR | {"transitions": [[0, 1, "p q"]]}, {}, "not expected in a formula"),
        (PAIR | {"transitions": [[0, 1, "__import__('os')"]]}, {}, "no part of a formula"),
        (PAIR | {"transitions": [[0, 1, "p^99999"]]}, {}, "exponent 99999"),
        (PAIR | {"transitions": [[0, 1, "p^900^900"]]}, {}, "not expected"),
        (PAIR | {"transitions": [[0, 1, -1]]}, {}, "entry (0, 1) = -1 is negative"),
        (MATRIX, {"p": "3/2"}, "entry (1, 0) = -1/2 is negative; rates and probabilities are >= 0, with p = 3/2"),
        (MATRIX | {"matrix": [["-p", "p"], ["1-p", "-p"]]}, {"p": 1}, "row 1 sums to -1, expected 0"),
        (MATRIX, {"q": 1}, "q is no parameter of this chain; parameters are p"),
        (RUIN, {"q": 1}, "parameters are none; declare them"),
        (MATRIX, {"p": "one"}, "parameter p = 'one'"),
        (MATRIX | {"parameters": {"p": None}}, {}, "parameter p has no value; write --set p=VALUE"),
        (MATRIX | {"parameters": {"p": [1]}}, {}, "parameter p = ['1'] is no number"),
        (MATRIX | {"parameters": {"p": True}}, {}, "parameter p = True is no number"),
        (MATRIX | {"parameters": ["p"]}, {}, "write a table of names"),
        (MATRIX | {"parameters": {"p-q": 1}}, {}, "'p-q' cannot be a name"),
        (MATRIX | {"parameters": {"min": 1}}, {}, "'min' cannot be a name"),
        (QBD | {"parameters": {"up": 1}, "down": [[0, 0], [3, "4*up"]]}, {"up": 2}, "with up = 2"),
    ],
)
def test_refused_parameters(tmp_path, data, values, message):
    path = write(tmp_path, data)
    words = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    assert message in run(path, *words, code=2)


def test_parameters_of_other_files(tmp_path):
    market = write(tmp_path, MARKET, "a.mtx")
    assert "q is no parameter" in run(market, "--set", "q=1", code=2)
    with pytest.raises(TypeError, match=r"p = 0\.5 is a float"):
        read_chain(write(tmp_path, MATRIX), {"p": 0.5})
    blocks = QBD | {"parameters": {"up": 1}, "up": [["up", 0], ["2*up", 0]], "local": [["-5-up", 5], [3, "-10-2*up"]]}
    path = write(tmp_path, blocks | {"boundary_local": [["-5-up", 5], [6, "-6-2*up"]]})
    assert run(path, "--quantity", "G") == run(write(tmp_path, QBD, "plain.json"), "--quantity", "G")


def test_a_law_to_start_from(tmp_path):
    path = write(tmp_path, RUIN)
    data = json.loads(run(path, "--quantity", "absorption", "--from", "1:1/2,3:0.25,0:1/4", "--json"))
    assert data["from"] == {"1": "1/2", "3": "1/4", "0": "1/4"}
    assert [x["exact"] for x in data["absorption"]] == ["11/16", "5/16"]
    shown = run(path, "--quantity", "absorption", "--from", "1:1/2,3:1/2", "--digits", "3")
    assert shown.splitlines()[1] == "from 1:1/2,3:1/2 to class {4} = 1/2 = 0.500..  (exact)"
    for law, message in (
        ("1:1/2", "sum to 1/2"),
        ("1:1/2,1:1/2", "number of a state, or a law"),
        ("1:1/2,2", "start in 2"),
        ("1,2", "start in 1"),
        ("x:1", "number of a state"),
        ("7:1", "states are 0 to 4"),
        ("", "number of a state"),
    ):
        assert message in run(path, "--quantity", "absorption", "--from", law, code=2)


def test_refused_requests(tmp_path):
    path = write(tmp_path, RUIN)
    for words, message in (
        (("--quantity", "absorption"), "state or law to start in"),
        (("--quantity", "absorption", "--from", "5"), "states are 0 to 4"),
        (("--quantity", "absorption", "--from", "-1"), "number of a state"),
        (("--quantity", "G"), "law, classes, absorption"),
        (("--index", "7"), "states are 0 to 4"),
        (("--from", "1"), "only there"),
    ):
        assert message in run(path, *words, code=2)
    assert "cannot be read" in run(str(tmp_path / "none.json"), code=2)
    with pytest.raises(InputError, match=r"\.json and \.mtx"):
        read_chain("chain.csv")


def test_transient_level_chain_has_rates_but_no_law(tmp_path):
    path = write(
        tmp_path,
        {"kind": "qbd", "time": "continuous", "up": [[2]], "local": [[-3]], "down": [[1]], "boundary_local": [[-2]]},
    )
    data = json.loads(run(path, "--quantity", "G", "--json"))
    bounds = [fmpq(*map(int, _decimal(data["G"][0][0][end]))) for end in ("lower", "upper")]
    assert data["status"] == "transient" and bounds[0] <= fmpq(1, 2) <= bounds[1] < fmpq(51, 100)
    assert "transient" in run(path, code=2)


def test_digits_beyond_reach_are_no_silent_shortfall(tmp_path, monkeypatch):
    from exactchains.solvers import stationary as module
    from exactchains.truth import PrecisionExhausted

    def exhausted(*arguments):
        raise PrecisionExhausted("could not certify 30 digits in every entry: 9")

    monkeypatch.setattr(module, "_class_law", exhausted)
    assert "could not certify 30 digits" in run(write(tmp_path, RUIN), code=3)


def test_a_law_spread_too_far_for_a_certificate_is_named(tmp_path, monkeypatch):
    def refused(law, digits):
        raise Undecided("no integers of one size hold the law at this precision")

    monkeypatch.setattr(law_certificate, "law_certificate", refused)
    (tmp_path / "queue.json").write_text(json.dumps(QBD))
    with pytest.raises(InputError, match="spread too far for integers of one size"):
        certificate(read_chain(tmp_path / "queue.json"), 5)
