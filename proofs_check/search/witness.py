"""Finds the points that show that a statement speaks of something: one in the domain, one in every part assumed."""

from typing import Any

from proofs_check.check.boxes import box_of
from proofs_check.check.exact import Rejected
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables
from proofs_check.search.handelman import NotFound
from proofs_check.search.refuter import counterexample

Json = dict[str, Any]
KINDS = ("identity", "sign", "levels", "induction", "coupling", "bernstein")


def witnessed(kind: str, problem: Json, conclusion: Json, proof: Json) -> Json:
    """Return the proof with the points that its kind asks for.

    Raises
    ------
    NotFound
        No point of a part was found.
    """
    if kind not in KINDS or not (problem["domain"] or _assumptions(kind, conclusion)):
        return proof
    domain = Domain(variables(problem["variables"]), problem["domain"])
    points: list[dict[str, str]] = []
    for here in (domain, *(domain.extended(more) for more in _assumptions(kind, conclusion))):
        try:
            here.inhabited(points)
        except Rejected:
            points.append(_point(here))
    return {**proof, "witness": points}


def _assumptions(kind: str, conclusion: Json) -> list[Json]:
    if kind == "induction":
        return []  # they may speak of states
    says = (*conclusion.get("statements", []), *conclusion.get("orders", []))
    return [part["assume"] for part in says if part.get("assume")]


def _point(domain: Domain) -> dict[str, str]:
    box = box_of(domain)
    for deep in (0.0, 4.0):
        if point := counterexample(("1", "<=", "0"), domain, box, deep=deep):
            return {name: str(x) for name, x in point.items()}
    raise NotFound("no point of the domain was found")
