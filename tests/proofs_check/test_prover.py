"""The inequality prover: true statements get accepted certificates, false ones a point, hostile files an answer."""

import copy
import json
import time
from fractions import Fraction
from itertools import product

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains.truth import InputError
from proofs_check.check import document
from proofs_check.check.boxes import Side, box_of, coefficients
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import variable
from proofs_check.check.sign import Domain
from proofs_check.check.sturm import keeps_sign, sturm_chain
from proofs_check.claim_file import read_claims
from proofs_check.cli.main import cli
from proofs_check.search.bernstein import at
from proofs_check.search.prover import answer
from proofs_check.user_claims import verdicts


def unit(*names):
    return {f"{n}{i}": [text, ">="] for n in names for i, text in enumerate((n, f"1-{n}"))}


def asked(names, domain, *claim):
    return answer(tuple(names.split()), domain, claim)


def noisy(d, load="lam"):
    return f"{load}*((1-eps)*x^{d} + eps*(1-(1-x)^{d}))"


AGE = {"a": ["p", ">="], "b": ["1-p", ">"], "c": ["t", ">="], "e": ["1-t", ">="]}
SQUARE = {f"{n}{i}": [f"2{s}{n}", ">="] for n in "xy" for i, s in enumerate("+-")}
QUEUES = {"g0": ["x", ">="], "g1": ["y-x", ">="], "g2": ["z-y", ">="]}
MOTZKIN = "x^4*y^2 + x^2*y^4 - 3*x^2*y^2 + 1"

TRUE = [
    ("p t", AGE, "p/(1-p)", ">=", "p*t/(1-p*t)"),
    ("p t", AGE, "p*(1-t)/(1-p*(1-t))", ">=", "0"),
    *(
        ("lam eps x", unit("lam", "eps", "x") | {"g": [f"1-{d}*lam*eps", ">="]}, noisy(d), "<=", "x")
        for d in (2, 3, 5, 8)
    ),
    ("x y", SQUARE, f"{MOTZKIN} + 1/1000", ">", "0"),
    ("x y", {}, f"{MOTZKIN} + 1/1000", ">", "0"),
    ("x y", unit("x", "y"), "(x-1/3)^2 + y*(1-x)", ">=", "0"),
    ("x", unit("x"), "(x-1/3)^2 + 1/10^30", ">", "0"),
    ("x", {}, "x^2 - x", ">", "-1/3"),
    ("x", {"a": ["x-1", ">"]}, "x^3", ">", "1"),
    ("x y z", QUEUES, "z^2", ">=", "x*y"),
    ("x y", {"a": ["x", ">"], "b": ["y", ">"]}, "(x+y)/2", ">=", "2*x*y/(x+y)"),
    ("x y", {}, "(x+y)^2", "=", "x^2+2*x*y+y^2"),
    ("x y", {"a": ["1-x^2-y^2", ">="]}, "x + y", "<=", "3/2"),
    ("x", {"a": ["0-x", ">="]}, "x^3", "<=", "0"),
    *(
        ("x", {"a": ["x", ">"], "b": ["1-x", ">"]}, noisy(d, f"1/({d}*eps)").replace("eps", e), "<", "x")
        for d, e in ((2, "1"), (3, "(2/3)"), (4, "(1/2)"))
    ),
]

FALSE = [
    ("p t", AGE, "p*(1-t)/(1-p*(1-t))", ">=", "p/1000"),
    ("x", unit("x"), "x*(1-x)", "<", "1/4"),
    ("x", unit("x"), "x^2", ">=", "2*x - 1 + 1/10^6"),
    ("x y", {}, "(x+y)^2", "=", "x^2+y^2"),
    ("x", {}, "x^2", ">=", "x"),
    ("x", {"a": ["x", ">="]}, "1/(x-1)", ">", "0"),
    ("x y", SQUARE, f"{MOTZKIN}", ">", "0"),
    ("x y", {"a": ["x^2+y^2-1", ">="]}, "x + y", ">=", "-14/10"),
    ("lam eps x", unit("lam", "eps", "x") | {"g": ["11/10-3*lam*eps", ">="]}, noisy(3), "<=", "x"),
]


@pytest.mark.parametrize("case", TRUE, ids=lambda c: f"{c[2][:30]} {c[3]} {c[4][:15]}")
def test_true_statements_are_proved(case):
    found = asked(*case)
    assert found.verdict == "proved", found
    document.check(json.loads(json.dumps(found.certificate)))
    assert found.certificate["conclusion"] == {"statements": [{"claim": list(case[2:])}]}


@pytest.mark.parametrize("case", FALSE, ids=lambda c: f"{c[2][:30]} {c[3]} {c[4][:15]}")
def test_false_statements_are_refuted_at_a_point(case):
    found = asked(*case)
    assert found.verdict == "refuted", found
    document.check(json.loads(json.dumps(found.certificate)))
    names, domain, left, relation, right = case
    point = {n: Fraction(x) for n, x in found.certificate["conclusion"]["at"].items()}
    meaning = {n: variable(n) for n in names.split()}
    for text, sign in domain.values():
        value = at(expression(text, meaning).top, point)
        assert value > 0 if sign == ">" else value >= 0
    f = expression(left, meaning) - expression(right, meaning)
    value = at(f.top, point)
    for b, n in f.bottom.items():
        value /= at(b, point) ** n
    assert not {"<": value < 0, "<=": value <= 0, ">": value > 0, ">=": value >= 0, "=": value == 0}[relation]


def test_the_point_is_simple():
    found = asked("p t", AGE, "p*(1-t)/(1-p*(1-t))", ">=", "p/1000")
    assert found.certificate["conclusion"]["at"] == {"p": "1/2", "t": "1"}


def test_undecided_names_the_box_that_resists():
    claim = ("(x^2-y/2)^2 + (x-2/3)^2*(y-8/9)^2", ">=", "0")
    found = answer(("x", "y"), unit("x", "y"), claim, patience=1)
    assert found.verdict == "undecided"
    assert "<= x <=" in found.resists


polynomials = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-6, 6)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(polynomials, st.sampled_from([">=", ">", "<="]))
def test_answers_agree_with_a_grid(terms, relation):
    text = "+".join(f"({c})*x^{i}*y^{j}" for i, j, c in terms)
    found = answer(("x", "y"), unit("x", "y"), (text, relation, "0"), patience=1)
    f = expression(text, {n: variable(n) for n in "xy"}).top
    values = [at(f, {"x": Fraction(i, 12), "y": Fraction(j, 12)}) for i, j in product(range(13), repeat=2)]
    holds = {">=": min(values) >= 0, ">": min(values) > 0, "<=": max(values) <= 0}[relation]
    assert not (found.verdict == "proved" and not holds)
    if not holds:
        assert found.verdict == "refuted"


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.fractions(-3, 3), st.fractions(Fraction(1, 9), 3))
def test_box_coefficients_are_the_bernstein_form(numbers, low, width):
    text = "+".join(f"({c})*x^{i}" for i, c in enumerate(numbers))
    p, side = expression(text, {"x": variable("x")}).top, Side(low, low + width, False, False)
    (degree,), found = coefficients(p, {"x": side})
    for t in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)):
        value = sum(c * t**k * (1 - t) ** (degree - k) for (k,), c in found.items())
        true = at(p, {"x": low + width * t})
        assert (value > 0) == (true > 0)
        assert (value < 0) == (true < 0)


@given(st.lists(st.fractions(-4, 4, max_denominator=6), min_size=1, max_size=5, unique=True))
def test_sturm_sees_every_root(roots):
    text = "*".join(f"(x-({r}))" for r in roots)
    p = expression(text, {"x": variable("x")}).top
    low, high = min(roots) - 1, max(roots) + 1
    for a, b in ((low, None), (None, high), (low, high), (None, None)):
        with pytest.raises(Rejected):
            keeps_sign(p, a, b, 1)
    keeps_sign(p, max(roots) + Fraction(1, 9), None, 1)
    keeps_sign(p, None, min(roots) - Fraction(1, 9), (-1) ** len(roots))
    with pytest.raises(Rejected, match="end"):
        keeps_sign(p, max(roots), None, 1)
    assert len(sturm_chain([Fraction(0)])) == 1


# what the checker refuses


def certificate(case):
    found = copy.deepcopy(asked(*case).certificate)
    assert found["kind"] == "bernstein"
    return found


BOXED = ("x", unit("x"), "x^2 - x + 3/10", ">", "0")
CUT = ("x y", SQUARE, f"{MOTZKIN} + 1/1000", ">", "0")


@pytest.mark.parametrize(
    "change",
    [
        {"factors": []},
        {"factors": [["x^2-x", 1, None]]},
        {"factors": [["10*x^2-10*x+3", -1, "sturm"]]},
        {"factors": [["10*x^2-10*x+3", 1, None]]},
        {"factors": [["10*x^2-10*x+3", 1, "x0"]]},
        {"factors": [["10*x^2-10*x+3", 1, "nothing"]]},
        {"factors": [["10*x^2-10*x+3", 1, {"minus": ["x0", "-1"]}]]},
        {"factors": [["10*x^2-10*x+3", 1, {"square": ["x-1/2", "-1", None]}]]},
        {"factors": [["10*x^2-10*x+3", 1, {"square": ["x-1/2", "13", None]}]]},
        {"factors": [["10*x^2-10*x+3", 1, ["x", "2", None, None]]]},
        {"factors": [["10*x^2-10*x+3", 1, ["y", "1/2", None, None]]]},
        {"factors": [["10*x^2-10*x+3", 2, "sturm"]]},
        {"top": ["1", [1]]},
        {"top": ["1/10", [2]]},
        {"bottoms": [["1", [1]]]},
    ],
)
def test_spoiled_proofs_are_rejected(change):
    good = certificate(BOXED)
    assert good["proof"]["factors"] == [["10*x^2 - 10*x + 3", 1, "sturm"]]
    good["proof"] |= change
    with pytest.raises(Rejected):
        document.check(good)


@pytest.mark.parametrize(
    "tree", [{"square": ["x-1/2", "10", None]}, ["x", "1/2", ["x", "1/4", None, None], ["x", "3/4", None, None]]]
)
def test_other_proofs_of_the_same_are_accepted(tree):
    good = certificate(BOXED)
    good["proof"]["factors"][0][2] = tree
    document.check(good)


@pytest.mark.parametrize(
    ("claim", "domain"),
    [
        (["x^2 - x + 1/4", ">", "0"], None),
        (["x^2 - x + 3/10", "<", "0"], None),
        (["x^2 - x + 3/10", "=", "0"], None),
        (["x^2 - x + 3/10", ">", "1/10"], None),
        (["x^2 - x + 3/10", ">", "0"], {"x0": ["x", ">="]}),
    ],
)
def test_other_statements_are_rejected(claim, domain):
    good = certificate(CUT if domain is None and "x" not in claim[0] else BOXED)
    good["conclusion"]["statements"][0]["claim"] = claim
    if domain is not None:
        good["proof"]["factors"][0][2] = None
        good["problem"]["domain"] = domain
    with pytest.raises(Rejected):
        document.check(good)


def test_a_touching_zero_is_no_strict_sign_unless_it_is_outside():
    closed = asked("x", unit("x"), "x", ">", "0")
    assert closed.verdict == "refuted"
    opened = asked("x", {"a": ["x", ">"], "b": ["1-x", ">="]}, "x", ">", "0").certificate
    document.check(opened)
    opened["problem"]["domain"]["a"][1] = ">="
    with pytest.raises(Rejected):
        document.check(opened)


def test_boxes_come_from_the_tightest_constraints():
    names = {"x": variable("x"), "y": variable("y")}
    rows = {"a": ["x", ">="], "b": ["2*x-1", ">"], "c": ["3-x", ">="], "d": ["3-x", ">"], "e": ["x*y", ">="]}
    box = box_of(Domain(names, rows))
    assert box["x"] == Side(Fraction(1, 2), Fraction(3), True, True)
    assert box["y"] == Side()


# claim files


def written(tmp_path, text, name="my.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """
[[claim]]
id = "bound"
variables = ["lam"]
domain = ["0 < lam < 1"]
statement = "lam*(1-lam) <= 0.25"

[[claim]]
id = "boundary"
text = "At lam d eps = 1 the errors do not help to grow, d = 2."
variables = "lam, eps, x"
domain = "0 < eps <= 1, 0 < lam < 1, lam = 1/(2*eps) and 0 < x < 1"
statement = "lam*((1-eps)*x**2 + eps*(1-(1-x)^2)) < x"

[[claim]]
id = "false"
variables = ["p", "t"]
domain = ["0 <= p < 1", "0 <= t <= 1"]
statement = "p*(1-t)/(1-p*(1-t)) >= 1e-3*p"
expect = "refuted"

[[claim]]
id = "chain"
variables = ["x"]
domain = ["0 <= x <= 1"]
statement = ["0 <= x*(1-x) <= 1/4", "x^2 <= x"]
"""


def test_a_claim_file_is_verified(tmp_path):
    path = written(tmp_path, GOOD)
    done = CliRunner().invoke(
        cli, ["verify", str(path), "--certificates", str(tmp_path / "c"), "--json", str(tmp_path / "o.json")]
    )
    assert done.exit_code == 0, done.output
    assert "4 claims: 3 PROVED, 1 REFUTED" in done.output
    data = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert [d["status"] for d in data] == ["PROVED", "PROVED", "REFUTED", "PROVED"]
    for d in data:
        document.check(d["certificate"])
        assert document.read(tmp_path / "c" / f"{d['id']}.json")["kind"] == d["certificate"]["kind"]


def test_an_unexpected_verdict_and_an_undecided_one_have_their_exit_codes(tmp_path):
    false = written(tmp_path, 'variables = ["x"]\nstatement = "x^2 > 0"\n')
    done = CliRunner().invoke(cli, ["verify", str(false)])
    assert (done.exit_code, "REFUTED" in done.output) == (1, True)
    empty = written(tmp_path, 'variables = ["x"]\ndomain = ["x > 2", "x < 1"]\nstatement = "x > 5"\n')
    done = CliRunner().invoke(cli, ["verify", str(empty)])
    assert (done.exit_code, "no point of the domain" in done.output) == (3, True)


def test_a_pole_is_no_point_of_the_domain(tmp_path):
    text = 'variables = ["x"]\ndomain = ["1/x >= 0", "x <= 1"]\nstatement = "x > 0"\n'
    (found,) = verdicts(written(tmp_path, text))
    assert found.status.value == "PROVED"
    gone = 'variables = ["x", "y"]\ndomain = ["y = 1/x", "0 <= x <= 1"]\nstatement = "x > 0"\n'
    (found,) = verdicts(written(tmp_path, gone))
    assert found.status.value == "PROVED"


NAMES = ", ".join(f'"x{i}"' for i in range(20))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("statement = '" + "(" * 3000 + "x" + ")" * 3000 + " > 0'", "nested deeper"),
        ("statement = '" + "-" * 20_000 + "x > 0'", "characters"),
        ("statement = 'x^99999999 > 0'", "exponent"),
        ("statement = 'x^201 > 0'", "exponent"),
        ("statement = '(x^100)^100 > 0'", "degree"),
        ("statement = '((9^199)^199)^199 > 0'", "bits"),
        ("statement = '1e999999999 > x'", "exponents are read"),
        ("statement = '1e99999 > x'", "digits"),
        ("statement = '(a+b+c+d+e+x+1)^99 > 0'\nvariables = ['a','b','c','d','e','x']", "terms"),
        ("statement = '__import__(1) > 0'", "not allowed"),
        ("statement = 'os > 0'", "unknown name"),
        ("statement = 'x.real > 0'", "not allowed"),
        ("statement = 'x > 0; y'", "not allowed"),
        ("statement = 'x'", "no relation"),
        ("statement = 'x > '", "empty side"),
        ("statement = 'x/0 > 0'", "division by"),
        ("statement = 'x/(x-x) > 0'", "division by"),
        ("statement = 3", "quotes"),
        ("", "statement is missing"),
        ("statement = 'x > 0'\nvariables = ['__import__', 'x']", "__import__"),
        ("statement = 'x > 0'\nvariables = ['x', 'x']", "twice"),
        ("statement = 'x > 0'\nvariables = [" + ", ".join(f"'x{i}'" for i in range(10_000)) + "]", "at most 24"),
        ("statement = 'x > 0'\nvariables = [1]", "a letter"),
        ("statement = 'x > 0'\nexpect = 'maybe'", "allowed are"),
        ("statement = 'x > 0'\nid = '../../x y'", "letters, digits"),
        ("statement = 'x > 0'\nproof = 'x'", "unknown field"),
        ("statement = 'x > 0'\ndomain = 'x = x^2'", "variable = expression"),
        ("statement = 'x > 0'\nid = " + "[" * 50_000, "TOML|nested"),
        ("statement = '(x+y-1)^150 > 0'\nvariables = ['x','y']", "products of terms"),
        ("statement = '" + "1/(1+" * 90 + "x" + ")" * 90 + " > 0'", "products of terms"),
        ("statement = '\uff58 > 0'", "not allowed"),
        ("statement = 'x\u00b2 > 0'", "not allowed"),
        ("statement = 'x > \u0663'", "not allowed"),
        ("statement = 'nan > 0'", "unknown name"),
        ("statement = nan", "no relation"),
        ("statement = 'x^x > 0'", "exponent"),
        ("statement = 'x^-1 > 0'", "exponent"),
        ("a." * 20_000 + "a = 1", "16 parts"),
        ("claim = []", "tables"),
        ("claim = 3", "tables"),
        ("claim = [1]", "a table"),
        ("nonsense", "no TOML"),
    ],
)
def test_hostile_files_are_refused_with_one_line(tmp_path, text, says):
    if "variables" not in text and "claim" not in text and "nonsense" not in text:
        text = "variables = ['x']\n" + text
    start = time.process_time()
    with pytest.raises(InputError, match=says) as refused:
        read_claims(written(tmp_path, text))
    assert time.process_time() - start < 30  # bounded, not fast: the point is that it ends
    assert len(str(refused.value)) < 400


def test_large_and_foreign_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="bytes"):
        read_claims(written(tmp_path, "#" * 1_000_001))
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="TOML"):
        read_claims(path)
    twice = "[[claim]]\nid = 'a'\nstatement = '1 > 0'\n"
    with pytest.raises(InputError, match="share an id"):
        read_claims(written(tmp_path, twice + twice))
    assert CliRunner().invoke(cli, ["verify", str(tmp_path / "none.toml")]).exit_code == 2


def test_a_search_that_never_looks_at_the_clock_is_ended(tmp_path, monkeypatch):
    def forever(*_args, **_kwargs):
        while True:
            sum(range(1000))

    monkeypatch.setattr("proofs_check.user_claims.answer", forever)
    (found,) = verdicts(written(tmp_path, 'variables = ["x"]\nstatement = "x^2 >= 0"\n'), patience=-0.6)
    assert (found.status.value, "no answer in" in found.reason) == ("OPEN", True)


@pytest.mark.parametrize(
    ("domain", "status"),
    [
        ("'x > 1', 'x < 0'", "OPEN"),
        ("'x^2 < 0'", "OPEN"),
        ("'1/(x-1) > 0', 'x < 1'", "OPEN"),
        ("'x > 0', 'x < 1'", "PROVED"),
    ],
)
def test_a_claim_about_no_point_is_never_proved(tmp_path, domain, status):
    text = f"variables = ['x']\ndomain = [{domain}]\nstatement = 'x^2 >= 0'\n"
    (found,) = verdicts(written(tmp_path, text), patience=1)
    assert found.status.value == status


def test_many_variables_end_with_a_point_or_without_an_answer(tmp_path):
    domain = ", ".join(f'"0 <= x{i} <= 1"' for i in range(20))
    text = "+".join(f"(x{i}-1/3)^2" for i in range(20))
    head = f"variables = [{NAMES}]\ndomain = [{domain}]\n"
    (found,) = verdicts(written(tmp_path, f'{head}statement = "{text} >= x1*x2*x3/1000000"\n'), patience=1)
    assert (found.status.value, "x19 = 1/3" in found.reason) == ("REFUTED", True)
    (found,) = verdicts(written(tmp_path, f'{head}statement = "{text} + (x1*x2-x3)^2 + x4/10^6 > 0"\n'), patience=1)
    assert found.status.value == "OPEN"
    assert "x19" in found.reason
