"""Certificate files are read strictly: every malformed file ends in one Rejected with a reason."""

import copy
import json
import re

import pytest

from proofs_check.check.document import check, loads, read
from proofs_check.check.exact import Rejected, rational
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import variable

GOOD = {
    "format": 1,
    "kind": "sign",
    "problem": {"variables": ["x"], "domain": {"x": ["x", ">="]}},
    "conclusion": {"statements": [{"claim": ["x + 1", ">", "0"]}]},
    "proof": {"positive": [], "signs": ["x + 1"], "witness": [{"x": "0"}]},
}


def test_a_good_file_is_accepted(tmp_path):
    path = tmp_path / "good.json"
    path.write_text(json.dumps(GOOD))
    check(read(path))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "deep|not JSON"),
        ('{"format": 1, "format": 1}', "twice"),
        (json.dumps(GOOD).replace('"format": 1', '"format": 1.0'), "float"),
        (json.dumps(GOOD).replace('"format": 1', '"format": NaN'), "float"),
        (json.dumps(GOOD).replace('"format": 1', '"format": 2'), "format"),
        (json.dumps(GOOD).replace('"format": 1', '"format": ' + "1" * 5000), "long integer"),
        (json.dumps(GOOD | {"extra": 1}), "unknown field"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "proof"}), "missing"),
        ("", "not JSON"),
        ("[]", "no object"),
    ],
)
def test_malformed_text_is_rejected(text, reason):
    with pytest.raises(Rejected, match=reason):
        check(loads(text))


@pytest.mark.parametrize("kind", ["os", "__init__", "proofs_check.check.exact", "", None, ["sign"]])
def test_only_kinds_of_the_table_are_run(kind):
    with pytest.raises(Rejected):
        check(GOOD | {"kind": kind})


@pytest.mark.parametrize("where", ["problem", "conclusion", "proof"])
@pytest.mark.parametrize("value", [None, [], {}, "x", 3, {"foreign": 1}])
def test_wrong_shapes_are_rejected(where, value):
    with pytest.raises(Rejected):
        check(copy.deepcopy(GOOD) | {where: value})


@pytest.mark.parametrize("text", ["1e3", "0.5", "1/0", "1_0", "١", " 1", "1/", "--1", "inf", "1" * 5000, 1, None, True])
def test_numbers_of_another_grammar_are_rejected(text):
    with pytest.raises(Rejected):
        rational(text)


def test_fractions_that_would_take_long_to_reduce_are_refused():
    long = "0x" + "f" * 200_000
    assert rational(f"{long}/3") == rational(long) / 3
    with pytest.raises(Rejected, match="above and below"):
        rational(f"{long}/{long}")


def test_long_integers_are_read_in_hexadecimal():
    assert rational("0x" + "f" * 10_000) == 16**10_000 - 1
    assert rational("-0x3*2^-2") == rational("-3/4")


@pytest.mark.parametrize(
    "text",
    ["x^", "x^-1", "x^1000000", "(x", "x)", "x x", "x**2", "__import__", "1/0", "1/(x-x)", "x^9999", "", "+", "x.y"]
    + ["(" * 5000 + "x" + ")" * 5000, "(x+1)^4000*(x+2)^4000"],
)
def test_expressions_of_another_grammar_are_rejected(text):
    with pytest.raises(Rejected):
        expression(text, {"x": variable("x")})


def test_expressions_follow_the_usual_precedence():
    names = {"x": variable("x"), "y": variable("y")}
    same = [("-x^2", "0-(x*x)"), ("x-y-1", "x-(y+1)"), ("x/y/2", "x/(2*y)"), ("2*x^2/4", "x*x/2"), ("--x", "x")]
    for left, right in same:
        assert (expression(left, names) - expression(right, names)).is_zero(), (left, right)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(Rejected, match="cannot be read"):
        read(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Rejected, match="UTF-8"):
        read(tmp_path / "bytes.json")


def test_every_reason_is_one_line():
    for text in ("[" * 100_000, '{"a": 1, "a": 2}', json.dumps(GOOD | {"kind": "x\ny" * 1000})):
        with pytest.raises(Rejected) as caught:
            check(loads(text))
        assert not re.search("\n", str(caught.value)) and len(str(caught.value)) < 300
