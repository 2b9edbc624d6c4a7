"""Finds the certificate of a claim: statement from the live claim, proof from the finder of its kind."""

from typing import Any

from proofs_check.check import document
from proofs_check.claim import Claim
from proofs_check.search import levels
from proofs_check.search.coupling import coupling, source_labels
from proofs_check.search.handelman import NotFound
from proofs_check.search.ideas import IDEAS
from proofs_check.search.induction import Idea, induction
from proofs_check.search.words import words


def find(claim: Claim) -> dict[str, Any]:
    """Return a certificate of the claim, accepted by the checker.

    Raises
    ------
    NotFound
        The search ended without a proof; the claim stays open.
    """
    statement = claim.statement()
    if statement.kind == "all":
        pairs = zip(statement.problem["parts"], statement.conclusion["parts"], strict=True)
        parts = [
            _proof(part["kind"], part["problem"], says, IDEAS.get((claim.id, i)))
            for i, (part, says) in enumerate(pairs)
        ]
        proof: dict[str, Any] = {"parts": parts}
    else:
        proof = _proof(statement.kind, statement.problem, statement.conclusion, IDEAS.get((claim.id, 0)))
    certificate = {
        "format": document.FORMAT,
        "claim": claim.id,
        "kind": statement.kind,
        "problem": statement.problem,
        "conclusion": statement.conclusion,
        "proof": proof,
        "found_by": "proofs_check.search.find",
    }
    document.check(certificate)
    return certificate


def _proof(kind: str, problem: Any, conclusion: Any, idea: Idea | None) -> dict[str, Any]:
    if kind == "induction":
        return induction(problem, conclusion, idea or Idea())
    finders = {
        "levels": levels.levels,
        "identity": levels.statements,
        "sign": levels.statements,
        "counterexample": levels.counterexample,
        "words": words,
    }
    if kind == "coupling":
        return coupling(problem, conclusion, source_labels(problem))
    if kind not in finders:
        raise NotFound(f"no finder for certificates of kind {kind}")
    return finders[kind](problem, conclusion)
