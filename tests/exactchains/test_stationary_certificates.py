"""Certificates of stationary laws: accepted as found, rejected when anything in them is spoiled."""

import copy
import json

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from exactchains import FiniteChain, stationary
from exactchains.solvers.proof import exact_text
from exactchains.solvers.stationary import extremal_laws
from proofs_check.check import stationary as checker
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected, rational
from tests.exactchains.chains import birth_death, brute_law, chain_of, clusters, irreducible, power_of_two, rates

CHAIN = power_of_two(2, 4)
METHODS = [("exact", 9), ("direct", 15), ("direct", 40), ("levels", 15), ("block", 30), ("block", 15)]


def document(method: str, digits: int):
    return stationary(CHAIN, digits=digits, method=method).certificate


@pytest.mark.parametrize(("method", "digits"), METHODS)
def test_certificates_of_every_method_are_accepted(method, digits):
    check(loads(json.dumps(document(method, digits))))


@given(irreducible(), st.sampled_from(METHODS))
def test_accepted_bounds_hold(case, choice):
    law = stationary(chain_of(*case), digits=choice[1], method=choice[0])
    certificate = law.certificate
    check(certificate)
    for (state, lower, upper), x in zip(certificate["conclusion"]["entries"], brute_law(*case), strict=True):
        assert rational(lower) <= x <= rational(upper), state


def test_nearly_decomposable_and_tiny_entries():
    for chain in (clusters(4, 6, 10**12), birth_death(3000, 1, 3)):
        law = stationary(chain, digits=12, method="block" if chain.size < 100 else "direct")
        check(law.certificate)


def test_discrete_time_and_classes():
    matrix = [
        ["1/2", "1/2", 0, 0, 0],
        ["1/3", "2/3", 0, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0],
        ["1/2", 0, "1/2", 0, 0],
    ]
    chain = FiniteChain.from_matrix(matrix, time="discrete")
    for digits, method in ((None, "auto"), (15, "direct")):
        for law in extremal_laws(chain, digits=digits, method=method):
            document = law.certificate
            assert document["conclusion"]["class"] == law.states.tolist()
            check(document)
            with pytest.raises(Rejected, match="need not be unique"):
                check(document | {"conclusion": document["conclusion"] | {"unique": True}})
            with pytest.raises(Rejected, match="closed"):
                spoiled = document["conclusion"] | {"class": law.states.tolist()[:-1]}
                check(document | {"conclusion": spoiled})
            outside = next(i for i in range(5) if i not in law.states)
            claim = document["conclusion"] | {"entries": [[outside, "0", "0"]]}
            check(document | {"conclusion": claim})
            with pytest.raises(Rejected, match="tighter"):
                check(document | {"conclusion": claim | {"entries": [[outside, "1/100", "1"]]}})


def test_unique_law_with_transient_states():
    chain = chain_of(3, {(0, 1): 1, (1, 2): 2, (2, 1): 3})
    document = stationary(chain, digits=5).certificate
    check(document | {"conclusion": document["conclusion"] | {"unique": True}})


def spoil(data, path, value):
    """Return a deep copy with one place replaced; a callable gets the old value."""
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return data


def tighter(text: str) -> str:
    return exact_text(fmpq(*rational(text).as_integer_ratio()) * (1 + fmpq(1, 10**60)))


SPOILS = [
    (("conclusion", "entries", 3, 1), lambda x: "1"),
    (("conclusion", "entries", 3, 2), lambda x: "0"),
    (("conclusion", "entries", 3, 1), lambda x: exact_text(fmpq(*rational(x).as_integer_ratio()) * fmpq(1001, 1000))),
    (("conclusion", "entries", 3, 2), lambda x: exact_text(fmpq(*rational(x).as_integer_ratio()) * fmpq(999, 1000))),
    (("conclusion", "entries", 3, 0), 99),
    (("proof", "law"), lambda x: x[1:]),
    (("proof", "law", 2, 0), "0x1"),
    (("proof", "law", 2, 0), "-0x1"),
    (("proof", "law", 2, 1), lambda e: e + 1),
    (("proof", "reference"), 99),
    (("proof", "reference"), lambda r: (r + 1) % 5),
    (("conclusion", "unique"), 0),
    (("problem", "time"), "sometimes"),
    (("problem", "transitions"), lambda x: x[1:]),
    (("problem", "transitions", 0, 2), "17"),
    (("problem", "transitions", 0, 2), "-1"),
    (("problem", "transitions", 0, 1), 0),
    (("problem", "transitions", 0, 2), 1.5),
    (("problem", "states"), 0),
]


@pytest.mark.parametrize(("path", "value"), SPOILS)
@pytest.mark.parametrize("choice", [("direct", 15), ("block", 40)])
def test_spoiled_certificates_are_rejected(path, value, choice):
    with pytest.raises(Rejected):
        check(spoil(document(*choice), path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("proof", "vector"), lambda x: ["0x0"] * len(x)),
        (("proof", "vector"), lambda x: x[1:]),
        (("proof", "vector", 4), "-0x1"),
        (("proof", "vector", 4), "0x0"),
        (("proof", "vector", 4), "1/3"),
    ],
)
def test_spoiled_vectors_are_rejected(path, value):
    with pytest.raises(Rejected):
        check(spoil(document("direct", 15), path, value))


def test_a_vector_is_needed_unless_the_law_is_exact():
    data = document("direct", 15)
    with pytest.raises(Rejected, match="not exact"):
        check(data | {"proof": {k: v for k, v in data["proof"].items() if k != "vector"}})
    check(document("exact", 9))
    with pytest.raises(Rejected, match="not exact"):
        check(spoil(document("exact", 9), ("proof", "law", 1, 0), lambda x: hex(int(x, 16) + 1)))
    with pytest.raises(Rejected, match="tighter"):
        check(spoil(document("exact", 9), ("conclusion", "entries", 1, 1), tighter))


def test_two_classes_have_no_certificate_of_one_law():
    """Every state must lead to the reference state: here state 2 does not."""
    problem = {"time": "continuous", "states": 3, "transitions": [[1, 0, "1"], [1, 2, "1"]]}
    for proof in (
        {"reference": 0, "law": [["0x1", 0], ["0x0", 0], ["0x0", 0]]},
        {"reference": 0, "law": [["0x1", 0], ["0x0", 0], ["0x0", 0]], "vector": ["0x0", "0x1", "0x1"]},
    ):
        with pytest.raises(Rejected):
            checker.check(problem, {"entries": []}, proof)


@given(irreducible(values=rates), st.integers(0, 40), st.data())
def test_wrong_laws_are_never_accepted_with_tight_bounds(case, bits, data):
    """A law spoiled by a relative change may keep a certificate, but only with bounds that hold the truth."""
    document = stationary(chain_of(*case), digits=15, method="direct").certificate
    state = data.draw(st.integers(0, case[0] - 1))
    change = lambda x: hex(int(x, 16) + (int(x, 16) >> bits) + 1)  # noqa: E731
    with pytest.raises(Rejected):
        check(spoil(document, ("proof", "law", state, 0), change))
