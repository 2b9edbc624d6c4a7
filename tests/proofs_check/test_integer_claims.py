"""Claims about all integers: proved by induction, refuted at integers, or undecided; every certificate is checked."""

import copy
import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains.truth import InputError
from proofs_check.check import document
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import constant
from proofs_check.claim_file import read_claims
from proofs_check.integer_terms import declared
from proofs_check.user_claims import verdict


def claim(tmp_path, **entry):
    path = tmp_path / "c.toml"

    def spelled(x):
        return (
            f"{{ {', '.join(f'{k} = {json.dumps(v)}' for k, v in x.items())} }}"
            if isinstance(x, dict)
            else json.dumps(x)
        )

    path.write_text("".join(f"{key} = {spelled(value)}\n" for key, value in entry.items()), encoding="utf-8")
    (read,) = read_claims(path)
    return read


UNIT = {"variables": ["x"], "domain": ["0 <= x <= 1"]}
TRUE = {
    "geometric": UNIT | {"integers": ["k >= 0"], "statement": "x^(k+1) <= x^k"},
    "two integers": UNIT | {"integers": ["k >= 0", "q >= 1"], "statement": "x^(k+q) <= x^(q-1)"},
    "bernoulli": {"variables": ["x"], "domain": ["x >= -1"], "integers": ["n >= 0"], "statement": "(1+x)^n >= 1+n*x"},
    "strict": {"variables": ["x"], "domain": ["x > 0"], "integers": ["n >= 2"], "statement": "(1+x)^n > 1+n*x"},
    "union bound": UNIT | {"integers": ["d >= 1"], "statement": "1-(1-x)^d <= d*x"},
    "gauss": {"integers": ["n >= 0"], "statement": "sum(i,1,n,i) = n*(n+1)/2"},
    "reciprocal squares": {"integers": ["n >= 1"], "statement": "sum(i,1,n,1/i^2) <= 2-1/n"},
    "from four on": {"integers": ["n >= 4"], "statement": "2^n >= n^2"},
    "negative exponent": {"variables": ["x"], "domain": ["x >= 1"], "integers": ["k >= 0"], "statement": "x^(-k) <= 1"},
    "integers only": {"integers": ["n >= 0"], "statement": "n^2 >= n"},
    "factorial": {"integers": ["n >= 1"], "sequences": {"f": ["1", "f*(n+1)"]}, "statement": "f >= 2^(n-1)"},
    "assumed": UNIT | {"integers": ["n >= 0"], "domain": ["0 <= x <= 1", "n*x <= 1"], "statement": "(1-x)^n >= 1-n*x"},
    "assumed later": UNIT
    | {
        "integers": ["n >= 1"],
        "domain": ["0 <= x <= 1", "n*x >= 3"],
        "statement": "(1+x)^n >= 4",
        "lemmas": "(1+x)^n >= 1+n*x",
    },
    "telescoping": {"integers": ["k >= 3"], "sequences": {"x": ["1", "x*k/(k+1)"]}, "statement": "x = 3/k"},
    "the same on both sides": UNIT | {"integers": ["m >= 0", "n >= 0"], "statement": "x^m*x^n = x^(m+n)"},
    "lemma": {
        "integers": ["n >= 0"],
        "statement": "sum(i,1,n,i^3) = sum(i,1,n,i)^2",
        "lemmas": "sum(i,1,n,i) = n*(n+1)/2",
    },
}
FALSE = {
    "everywhere": ({"variables": ["x"], "integers": ["n >= 0"], "statement": "(1+x)^n >= 1+n*x"}, "n = 5"),
    "too early": ({"integers": ["n >= 0"], "statement": "2^n >= n^2"}, "n = 3"),
    "harmonic": ({"integers": ["n >= 1"], "statement": "sum(i,1,n,1/i) <= 2"}, "n = 4"),
    "sequence": ({"integers": ["n >= 1"], "sequences": {"f": ["1", "f*(n+1)"]}, "statement": "f <= 3^(n-1)"}, "n = 5"),
    "assumed": (
        UNIT | {"integers": ["n >= 1"], "domain": ["0 <= x <= 1", "n*x <= 1"], "statement": "x^n < 1/2"},
        "n = 1",
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_are_proved_for_all_integers(tmp_path, name):
    found = verdict(claim(tmp_path, **TRUE[name]))
    assert found.status.value == "PROVED", found.reason
    assert found.certificate["kind"] in ("induction", "sign")
    document.check(json.loads(json.dumps(found.certificate)))


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_refuted_at_integers(tmp_path, name):
    entry, where = FALSE[name]
    found = verdict(claim(tmp_path, **entry))
    assert (found.status.value, where in found.reason) == ("REFUTED", True), found.reason
    document.check(json.loads(json.dumps(found.certificate)))


def test_what_no_induction_shows_is_undecided(tmp_path):
    entry = UNIT | {
        "integers": ["n >= 1"],
        "statement": "sum(i,1,n,x^i/i) <= 3/2 + n/4",
    }  # true, but its step fails early
    found = verdict(claim(tmp_path, **entry), patience=0.5)
    assert found.status.value == "OPEN"
    assert "n >= 1 resists" in found.reason


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 3), st.integers(0, 5), st.integers(-2, 3), st.integers(1, 3), st.fractions(Fraction(1, 5), 3))
def test_states_are_the_powers_and_sums_that_they_stand_for(least, more, shift, times, x):
    terms = declared([f"n >= {least}"], {}, ["x"])
    texts = [terms.read(f"(1+x)^({times}*n+{shift})"), terms.read(f"sum(i, {least}, n+1, x^i*(i+1)/(i+2))")]
    n, values = least, {name: constant(0) for name in terms.states}
    names = {"x": constant(x)}
    values = {name: expression(s.start, names) for name, s in terms.states.items()}
    for n in range(least, least + more):
        here = names | values | {"n": constant(n)}
        values = {name: expression(s.after, here) for name, s in terms.states.items()}
    n = least + more
    here = names | values | {"n": constant(n)}
    direct = [(1 + x) ** (times * n + shift), sum(x**i * Fraction(i + 1, i + 2) for i in range(least, n + 2))]
    for text, number in zip(texts, direct, strict=True):
        assert (expression(text, here) - constant(number)).is_zero()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"integers": ["n"], "statement": "n > 0"}, "n >= 1"),
        ({"integers": ["n >= 0.5"], "statement": "n > 0"}, "n >= 1"),
        ({"integers": ["x >= 0"], "variables": ["x"], "statement": "x > 0"}, "new name"),
        ({"integers": [], "statement": "1 > 0"}, "1 to 4"),
        ({"integers": ["n >= 0"], "statement": "n^n >= n"}, "more than one integer"),
        ({"integers": ["n >= 0"], "statement": "2^(2^n) >= n"}, "integers of the claim"),
        ({"integers": ["n >= 0"], "statement": "(2^n)^n >= n"}, "a base"),
        ({"integers": ["n >= 0"], "statement": "2^(n/2) >= n"}, "whole numbers"),
        ({"integers": ["n >= 0"], "statement": "2^(n*n) >= n"}, "whole numbers"),
        ({"integers": ["n >= 0"], "statement": "2^(201*n) >= n"}, "up to 200"),
        ({"integers": ["n >= 0"], "statement": "2^(n+300) >= n"}, "up to 200"),
        ({"integers": ["n >= 0"], "statement": "sum(i,1,n,sum(j,1,n,1)) >= n"}, "another sum"),
        ({"integers": ["n >= 0"], "statement": "sum(i,1,n) >= n"}, "sum\\(i, 1, n"),
        ({"integers": ["n >= 0"], "statement": "sum(n,1,n,n) >= n"}, "already a name"),
        ({"integers": ["n >= 0"], "statement": "sum(i,5,n,i) >= n"}, "none left out"),
        ({"integers": ["n >= 0"], "statement": "sum(i,1,2*n,i) >= n"}, "integer variable"),
        ({"integers": ["n >= 0", "k >= 0"], "statement": "sum(i,1,n,2^(i+k)) >= n"}, "more than one integer"),
        ({"integers": ["n >= 0"], "statement": "sum(i,0,n,1/i) >= n"}, "division by"),
        ({"integers": ["n >= 0"], "statement": "__import__(n) >= n"}, "not allowed"),
        ({"integers": ["n >= 0"], "statement": "eval(n) >= n"}, "unknown name"),
        ({"integers": ["n >= 0"], "statement": "\u043f >= n"}, "not allowed"),
        ({"integers": ["n >= 0"], "domain": ["n = 3"], "statement": "n > 0"}, "inequalities only"),
        ({"integers": ["n >= 0"], "statement": "(" * 90 + "n" + ")" * 90 + " > 0"}, "nested deeper"),
        ({"integers": ["n >= 0"], "statement": "(n > 0"}, "not closed"),
        ({"integers": ["n >= 0"], "statement": "2^(n > 0"}, "not closed"),
        ({"integers": ["n >= 0"], "sequences": {"x": ["n", "x"]}, "statement": "x > 0"}, "unknown name"),
        ({"integers": ["n >= 0"], "sequences": {"x": ["1"]}, "statement": "x > 0"}, "two expressions"),
        ({"integers": ["n >= 0", "k >= 0"], "sequences": {"x": ["1", "x"]}, "statement": "x > 0"}, "exactly one"),
        ({"lemmas": ["1 > 0"], "statement": "1 > 0"}, "1 to 4"),
    ],
)
def test_what_is_no_statement_about_integers_is_refused(tmp_path, entry, says):
    with pytest.raises(InputError, match=says) as refused:
        claim(tmp_path, **entry)
    assert len(str(refused.value)) < 400


# what the checker refuses: the certificate says what was asked, and nothing more follows from it


@pytest.fixture(scope="module")
def bernoulli(tmp_path_factory):
    return verdict(claim(tmp_path_factory.mktemp("c"), **TRUE["bernoulli"])).certificate


def spoil(certificate, *path_and_value):
    *path, last, value = path_and_value
    spoiled = copy.deepcopy(certificate)
    at = spoiled
    for key in path:
        at = at[key]
    at[last] = value
    return spoiled


def test_spoiled_inductions_are_rejected(bernoulli):
    (name,) = [n for n in bernoulli["problem"]["state"] if n != "n"]
    (start,) = bernoulli["problem"]["starts"]
    changes = [
        ("problem", "domain", {}),
        ("problem", "starts", [{**start, name: "1/2"}]),
        ("problem", "starts", [{**start, "n": "1"}]),
        ("problem", "steps", "n", "set", name, f"{name}*(1-x)"),
        ("problem", "steps", "n", "set", "n", "n+2"),
        ("conclusion", "statements", [{"claim": [name, ">", "1+n*x"]}]),
        ("conclusion", "statements", [{"claim": [name, ">=", "1+2*n*x"]}]),
        ("proof", "signs", [["x", []]]),  # a variable alone has no sign
        ("proof", "signs", [["x^3", []]]),
        ("proof", "signs", [["x^2", []]]),
        ("proof", "invariants", {}),
    ]
    document.check(copy.deepcopy(bernoulli))
    for change in changes:
        with pytest.raises(Rejected):
            document.check(spoil(bernoulli, *change))


@pytest.mark.parametrize(
    ("text", "relation", "accepted"),
    [("x^2", ">=", True), ("x^4*y^2+x^2", ">=", True), ("x^2+1", ">", True), ("x^2", ">", False), ("x*y", ">=", False)]
    + [("x^3", ">=", False), ("x^2*y", ">=", False), ("x^2-y^2", ">=", False), ("x^2/y^2", ">=", False)]
    + [("1/x^2", ">", False), ("x", ">=", False)],
)
def test_variables_stand_in_sign_proofs_in_even_powers_only(text, relation, accepted):
    certificate = {
        "format": 1,
        "kind": "sign",
        "problem": {"variables": ["x", "y"], "domain": {}},
        "conclusion": {"statements": [{"claim": [text, relation, "0"]}]},
        "proof": {"positive": [], "signs": [text]},
    }
    if accepted:
        document.check(certificate)
    else:
        with pytest.raises(Rejected):
            document.check(certificate)


def test_a_constraint_hides_a_variable_of_its_name():
    problem = {"variables": ["x", "y"], "domain": {"x": ["1-y", ">="]}}
    says, proof = (
        {"statements": [{"claim": ["1-y", ">=", "0"]}]},
        {"positive": [], "signs": ["x"], "witness": [{"x": "0", "y": "0"}]},
    )
    good = {"format": 1, "kind": "sign", "problem": problem, "conclusion": says, "proof": proof}
    document.check(good)
    with pytest.raises(Rejected, match="another function"):
        document.check(spoil(good, "conclusion", "statements", [{"claim": ["x", ">=", "0"]}]))
