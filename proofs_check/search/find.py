"""Finds the certificate of a claim: statement from the live claim, proof from the finder of its kind."""

from typing import Any

from exactchains.chain import FiniteChain
from exactchains.solvers.stationary import removed_equation
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.fixed_point import fixed_point
from proofs_check.check import document
from proofs_check.claim import Claim
from proofs_check.search import levels
from proofs_check.search.coupling import coupling, source_labels
from proofs_check.search.handelman import NotFound
from proofs_check.search.ideas import IDEAS
from proofs_check.search.induction import Idea, induction
from proofs_check.search.witness import witnessed
from proofs_check.search.words import words


def find(claim: Claim) -> dict[str, Any]:
    """Return a certificate of the claim, accepted by the checker.

    Raises
    ------
    NotFound
        The search ended without a proof; the claim stays open.
    """
    if claim.missing:
        raise NotFound(f"open: {claim.missing}")
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
    return witnessed(kind, problem, conclusion, _argument(kind, problem, conclusion, idea))


def _argument(kind: str, problem: Any, conclusion: Any, idea: Idea | None) -> dict[str, Any]:
    if kind == "induction":
        return induction(problem, conclusion, idea or Idea())
    finders = {
        "levels": levels.levels,
        "identity": levels.statements,
        "sign": levels.statements,
        "counterexample": levels.counterexample,
        "words": words,
        "fixed-point": _fixed_point,
        "mean": _mean,
    }
    if kind in ("drift", "sample", "domination"):
        return {}  # the checker looks at every cell itself
    if kind == "coupling":
        return coupling(problem, conclusion, source_labels(problem))
    if kind not in finders:
        raise NotFound(f"no finder for certificates of kind {kind}")
    return finders[kind](problem, conclusion)


def _fixed_point(problem: Any, conclusion: Any) -> dict[str, Any]:
    """Return the proof of kind *fixed-point*: the solver's, at more digits than the bounds need."""
    policy = PowerOfD(problem["load"], problem["d"], problem["g"], problem["eps"])
    proof: dict[str, Any] = fixed_point(policy, digits=8).certificate()["proof"]
    return proof


def _mean(problem: Any, conclusion: Any) -> dict[str, Any]:
    """Return the proof of kind *mean*: the exact law."""
    moves = [(i, j, rate) for i, j, rate in problem["transitions"]]
    law = removed_equation(FiniteChain.from_transitions(problem["states"], moves, time=problem["time"]))
    return {"law": [str(x) for x in law]}
