"""The stored certificates of the catalogue: accepted as they are, rejected after every change that matters."""

import copy
import json
from dataclasses import replace
from functools import cache

import pytest

from proofs_check.check import document
from proofs_check.check.exact import Rejected
from proofs_check.registry import claims, ordered
from proofs_check.verify import Status, certificate_folder, check_against, stored, verification

OPEN = {name: c for name, c in claims().items() if c.missing}
CLAIMS = {name: c for name, c in claims().items() if not c.missing}


def certificate(name):
    return document.read(stored(name))


def leaves(data, path=()):
    """Yield the path of every text in a document."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from leaves(value, (*path, i))
    elif isinstance(data, str):
        yield path


def replaced(data, path, value):
    if not path:
        return value
    changed = data.copy()
    changed[path[0]] = replaced(data[path[0]], path[1:], value)
    return changed


def parts(certificate):
    """Return the parts of a conjunction as certificates: it is rejected as soon as one of them is."""
    if certificate["kind"] != "all":
        return [certificate]
    listed = (certificate[name]["parts"] for name in ("problem", "conclusion", "proof"))
    return [part | {"conclusion": says, "proof": shown} for part, says, shown in zip(*listed, strict=True)]


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_has_its_expected_verdict(name):
    v = verification(name)
    assert v.status is Status[CLAIMS[name].expected.name], v.reason


@pytest.mark.parametrize("name", OPEN)
def test_an_open_claim_says_what_is_missing_and_stays_open(name):
    v = verification(name)
    assert v.status is Status.OPEN
    assert v.reason == OPEN[name].missing
    assert not v.settled
    assert stored(name) is None


@pytest.mark.parametrize("name", CLAIMS)
def test_no_file_is_stored_without_a_claim_and_none_is_misnamed(name):
    assert certificate(name)["claim"] == name
    assert {p.stem for p in certificate_folder().glob("*.json")} == set(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_changed_problem_or_conclusion_is_rejected(name):
    good, once = certificate(name), replace(CLAIMS[name], statement=cache(CLAIMS[name].statement))
    for part in ("problem", "conclusion"):
        places = list(leaves(good[part]))
        for path in places[:: max(1, len(places) // 20)]:
            with pytest.raises(Rejected):
                check_against(replaced(good, (part, *path), "17*p^3"), once)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_spoiled_proof_text_is_rejected(name):
    places = [(part, p) for part in parts(certificate(name)) for p in leaves(part["proof"]) if "witness" not in p]
    for good, path in places[:: max(1, len(places) // 20)]:  # many points are witnesses
        bad = replaced(good, ("proof", *path), "-1")
        if bad != good:
            with pytest.raises(Rejected):
                document.check(bad)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_certificate_without_its_witnesses_is_rejected(name):
    bad, found = certificate(name), 0
    for proof in bad["proof"].get("parts", [bad["proof"]]):
        found += bool(proof.pop("witness", None))
    if found:
        with pytest.raises(Rejected, match="witness"):
            check_against(bad, CLAIMS[name])
    else:
        check_against(bad, CLAIMS[name])


def test_a_certificate_of_another_claim_is_rejected():
    with pytest.raises(Rejected, match="another claim"):
        check_against(certificate("age.feedback.gain"), CLAIMS["age.feedback.improves"])
    unnamed = {k: v for k, v in certificate("age.feedback.gain").items() if k != "claim"}
    with pytest.raises(Rejected, match="conclusion"):
        check_against(unnamed, CLAIMS["age.feedback.improves"])


def test_a_strengthened_conclusion_is_rejected():
    good = certificate("age.feedback.improves")
    statements = good["conclusion"]["statements"]
    for i, change in [(0, {"assume": {}}), (0, {"claim": ["mean_feedback", "<", "mean_actual - p"]}), (2, {"set": {}})]:
        bad = copy.deepcopy(good)
        bad["conclusion"]["statements"][i] = statements[i] | change
        with pytest.raises(Rejected):
            document.check(bad)
        with pytest.raises(Rejected, match="conclusion"):
            check_against(bad, CLAIMS["age.feedback.improves"])


def test_certificate_bytes_are_stable():
    from proofs_check.verify import dump

    for name in CLAIMS:
        assert dump(certificate(name)) == stored(name).read_text(encoding="utf-8")
        json.loads(stored(name).read_text(encoding="utf-8"))


def test_claims_that_prove_each_other_are_refused():
    import dataclasses

    a, b = (
        dataclasses.replace(c, id=i, uses=(o,)) for c, i, o in zip(list(CLAIMS.values())[:2], "ab", "ba", strict=True)
    )
    with pytest.raises(ValueError, match="prove each other"):
        ordered({"a": a, "b": b})
