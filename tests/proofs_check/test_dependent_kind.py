"""Kind dependent-law: laws with closed forms are accepted, spoiled proofs and stronger statements are not."""

import copy
import json
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import DependentChain, Undecided, dependent_law
from exactchains.truth import PrecisionExhausted
from proofs_check.check import dependent_law as kind
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected, rational
from tests.spoiling import put

SERVERS = DependentChain.from_blocks({"up": [["7/2"]]}, {"down": [["1"]]})
RETRIAL = DependentChain.from_blocks(
    {"up": [["0", "0"], ["0", "1/2"]], "local": [["0", "1/2"], ["1", "0"]]}, {"down": [["0", "1/3"], ["0", "0"]]}
)
MODULATED = DependentChain.from_blocks(
    {"up": [["3", "0"], ["0", "1"]], "local": [["0", "1"], ["2", "0"]]}, {"down": [["1", "0"], ["0", "2"]]}
)
CERTIFICATES = {
    "servers": dependent_law(SERVERS, digits=12).certificate,
    "retrial": dependent_law(RETRIAL, digits=5).certificate,
    "modulated": dependent_law(MODULATED, digits=9).certificate,
}


def ends(pair):
    return tuple(map(rational, pair))


@pytest.mark.parametrize("name", CERTIFICATES)
def test_accepted(name):
    check(loads(json.dumps(CERTIFICATES[name])))


def test_the_statements_hold():
    says = {name: c["conclusion"] for name, c in CERTIFICATES.items()}
    with mpmath.workdps(40):
        for n, level in enumerate(says["servers"]["levels"]):  # Poisson with mean 7/2
            low, high = (mpmath.mpf(x.numerator) / x.denominator for x in ends(level[0]))
            truth = mpmath.exp(-3.5) * mpmath.mpf(3.5) ** n / mpmath.factorial(n)
            assert low <= truth <= high and high - low < truth * mpmath.mpf(10) ** -10
    for name, mean, digits in (("servers", "7/2", 12), ("retrial", "2", 5), ("modulated", "17/9", 9)):
        low, high = ends(says[name]["mean_level"])
        assert low <= Fraction(mean) <= high and high - low <= high / 10 ** (digits - 1)


def moved(share):
    return lambda text: hex(int(int(text, 0) * (1 + Fraction(share))) + (1 if Fraction(share) > 0 else -1))


SPOILED = {
    "mean above": ("servers", put("conclusion", "mean_level", 0, value="7/2")),
    "mean below": ("servers", put("conclusion", "mean_level", 1, value="7/2")),
    "level above": ("servers", put("conclusion", "levels", 0, 0, 0, value="31/1000")),
    "level below": ("modulated", put("conclusion", "levels", 2, 1, 1, value="1/1000")),
    "level of too many phases": ("servers", put("conclusion", "levels", 0, value=lambda x: [*x, *x])),
    "no levels": ("servers", put("conclusion", "levels", value=[])),
    "more levels than watched": ("servers", put("conclusion", "levels", value=lambda x: x * 100)),
    "upper lowered": ("servers", put("proof", "rows", 0, "upper", 2, 0, value=moved("-1/1000"))),
    "upper lowered where little is": ("modulated", put("proof", "rows", 0, "upper", 9, 1, value=moved("-1/1000"))),
    "lower raised": ("servers", put("proof", "rows", 0, "lower", 2, 0, value=moved("1/1000"))),
    "lower raised at the end": ("modulated", put("proof", "rows", 1, "lower", -1, 0, value=moved("1/1000"))),
    "upper zero": ("servers", put("proof", "rows", 0, "upper", 0, 0, value="0")),
    "lower negative": ("servers", put("proof", "rows", 0, "lower", 0, 0, value="-1")),
    "all lower zero": ("servers", put("proof", "rows", 0, "lower", value=lambda x: [["0"]] * len(x))),
    "over": ("servers", put("proof", "rows", 0, "over", value=moved("1/100"))),
    "over zero": ("servers", put("proof", "rows", 0, "over", value="0")),
    "a phase of return is missing": ("modulated", put("proof", "rows", value=lambda x: x[:1])),
    "no phase of return": ("servers", put("proof", "rows", value=[])),
    "a phase of return twice": ("modulated", put("proof", "rows", value=lambda x: [x[0], x[0]])),
    "last": ("servers", put("proof", "last", value=lambda x: x - 1)),
    "last negative": ("servers", put("proof", "last", value=-1)),
    "ratio": ("servers", put("proof", "ratio", value="1")),
    "ratio too large": ("servers", put("proof", "ratio", value="1000")),
    "eta": ("servers", put("proof", "eta", value="1000")),
    "eta zero": ("servers", put("proof", "eta", value="0")),
    "weights": ("retrial", put("proof", "weights", 0, value="1/1000000")),
    "weights negative": ("servers", put("proof", "weights", 0, value="-1")),
    "other rate": ("servers", put("problem", "constant", "up", 0, 0, value="36/10")),
    "rates that grow up": ("servers", put("problem", "slope", "up", 0, 0, value="2")),
    "negative rate": ("servers", put("problem", "slope", "down", 0, 0, value="-1")),
    "rates that do not grow": ("servers", put("problem", "slope", "down", 0, 0, value="0")),
    "diagonal": ("modulated", put("problem", "constant", "local", 0, 0, value="-4")),
    "shape": ("modulated", put("problem", "slope", "local", value=[["0"]])),
    "no phases": ("servers", put("problem", "constant", "up", value=[])),
    "float": ("servers", put("proof", "eta", value=0.5)),
    "unknown field": ("servers", put("proof", "hint", value="1")),
}


@pytest.mark.parametrize("name", SPOILED)
def test_rejected(name):
    source, spoil = SPOILED[name]
    certificate = copy.deepcopy(CERTIFICATES[source])
    spoil(certificate)
    with pytest.raises(Rejected):
        check(loads(json.dumps(certificate)))


def test_a_state_of_probability_zero_is_enclosed():
    """Jobs come in phase 0 and lead to phase 1, jobs leave in phase 0 only: level 0 is never met in phase 1."""
    chain = DependentChain.from_blocks(
        {"up": [["0", "1"], ["0", "0"]], "local": [["0", "0"], ["1", "0"]]}, {"down": [["1", "0"], ["0", "0"]]}
    )
    certificate = dependent_law(chain, digits=8).certificate
    check(loads(json.dumps(certificate)))
    low, high = ends(certificate["conclusion"]["levels"][0][1])
    assert low == 0 < high < Fraction(1, 10**8)


def test_a_proof_that_claims_many_levels_is_refused_before_any_work(monkeypatch):
    levels, block = [], kind.Rates.block
    monkeypatch.setattr(kind.Rates, "block", lambda self, k, n: levels.append(n) or block(self, k, n))
    certificate = copy.deepcopy(CERTIFICATES["modulated"])
    certificate["proof"]["last"] = 9999
    with pytest.raises(Rejected, match="where 10000 are needed"):
        check(loads(json.dumps(certificate)))
    assert len(levels) < 20
    monkeypatch.setattr(kind, "MAX_WORK", 100)
    with pytest.raises(Rejected, match="exceed 100"):
        check(loads(json.dumps(CERTIFICATES["modulated"])))


rates = st.sampled_from(["0", "0", "1", "1/3", "5", "1/100", "1e-9"])


@st.composite
def growing_chains(draw):
    m = draw(st.integers(1, 2))
    block = st.lists(st.lists(rates, min_size=m, max_size=m), min_size=m, max_size=m)
    slope = {"down": draw(block)} | ({"local": draw(block)} if draw(st.booleans()) else {})
    return DependentChain.from_blocks({name: draw(block) for name in ("up", "local", "down")}, slope)


@settings(max_examples=12, deadline=None)
@given(growing_chains(), st.sampled_from([1, 6, 15]))
def test_random_chains_are_proved_and_agree(chain, digits):
    try:
        law = dependent_law(chain, digits=digits)
    except (Undecided, PrecisionExhausted):
        return
    certificate = law.certificate
    check(loads(json.dumps(certificate)))
    low, high = (x.as_integer_ratio() for x in ends(certificate["conclusion"]["mean_level"]))
    mine = [Fraction(int(x.p), int(x.q)) for x in (law.mean_level.lower, law.mean_level.upper)]
    assert Fraction(*low) <= mine[1] and mine[0] <= Fraction(*high)
