"""Verdicts on a user's claim file: proved or refuted with a certificate, or undecided with the box that resists."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from exactchains.spread import spread
from proofs_check.check.exact import Rejected
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict
from proofs_check.claim_domain import Relation, UserClaim
from proofs_check.claim_file import read_claims
from proofs_check.joined import joined
from proofs_check.patience import OutOfTime, at_most
from proofs_check.search.integers import for_all_integers, whole
from proofs_check.search.prover import PATIENCE, Answer, a_point, answer
from proofs_check.verify import Status, Verification

SLACK = 1.25  # of the patience, until the clock ends a search that does not look at it
Json = dict[str, Any]
Found = tuple[Status, str, int, float, Json | None, dict[str, str]]  # as in Verification, then witness


def verdicts(
    path: str | Path, *, patience: float = PATIENCE, executor: Executor | None = None
) -> Iterator[Verification]:
    """Yield the verification of each claim in a file, in its order; ``patience`` is seconds a statement.

    With an ``executor`` of processes the claims are searched there side by side.
    """
    read = read_claims(path)
    for claim, found in zip(read, spread(partial(_found, patience=patience), read, executor), strict=True):
        yield _verification(claim, found)


def verdict(claim: UserClaim, *, patience: float = PATIENCE) -> Verification:
    """Return the verification of one claim; its certificate, if any, has been accepted by the checker."""
    return _verification(claim, _found(claim, patience=patience))


def _verification(claim: UserClaim, found: Found) -> Verification:
    *outcome, certificate, witness = found
    return Verification(_as_claim(claim, certificate, witness), *outcome, certificate)


def _found(claim: UserClaim, *, patience: float) -> Found:
    """Return a verification as what pickles: claims hold functions."""
    start = time.perf_counter()
    domain = {symbol: list(constraint) for symbol, constraint in claim.domain.items()}
    try:
        with at_most(SLACK * patience + 1):
            witness = a_point(claim.variables, domain)
    except (OutOfTime, Rejected):
        witness = None
    if witness is None:
        empty = "undecided: no point of the domain was found, so the claim may speak of nothing"
        return Status.OPEN, empty, 0, time.perf_counter() - start, None, {}
    answers: list[Answer] = []
    for statement in claim.statements:
        answers.append(_answer(claim, domain, statement, patience))
        if answers[-1].verdict == "refuted":
            answers = answers[-1:]
            break
    open_ones = [a for a in answers if a.verdict == "undecided"]
    certificate = None if open_ones else joined([a.certificate for a in answers if a.certificate])
    seconds, size = time.perf_counter() - start, len(json.dumps(certificate)) if certificate else 0
    if open_ones:
        status, reason = Status.OPEN, f"undecided: {open_ones[0].how}; the box {open_ones[0].resists} resists"
    else:
        status = Status[answers[0].verdict.upper()]
        reason = "; ".join(dict.fromkeys(a.how for a in answers))
    return status, reason, size, seconds, certificate, witness


def _answer(claim: UserClaim, domain: Json, statement: Relation, patience: float) -> Answer:
    """Return the answer on one statement, undecided if it takes much longer than the patience."""
    try:
        with at_most(SLACK * patience + 1):
            if claim.integers:
                return for_all_integers(claim.variables, domain, claim.integers, statement, patience=patience)
            return answer(claim.variables, domain, statement, patience=patience)
    except OutOfTime:
        how = f"no answer in {SLACK * patience + 1:g} s"
        return Answer("undecided", how, None, whole(claim.variables, domain, claim.integers))
    except Rejected as reason:  # the checker's own bounds on what it reads
        how = f"too large for the checker: {reason}"
        return Answer("undecided", how, None, whole(claim.variables, domain, claim.integers))


def _as_claim(claim: UserClaim, certificate: Json | None, witness: dict[str, str]) -> Claim:
    """Return the claim as one of the catalogue's form."""
    shown = certificate or {"kind": "sign", "problem": {}, "conclusion": {}}
    return Claim(
        id=claim.id,
        text=claim.text,
        source=Source((), "yours"),
        scope=Scope.ALL,
        statement=lambda: Statement(shown["kind"], shown["problem"], shown["conclusion"]),
        assumptions=", ".join(f"{text} {relation} 0" for text, relation in claim.domain.values()),
        expected=Verdict(claim.expect),
        witness=witness,
    )
