"""The status of a claim, computed from its stored certificate and from the live model.  Runs no solver."""

import enum
import json
import re
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from exactchains.spread import spread
from proofs_check.check import document
from proofs_check.check.counterexample import inside
from proofs_check.check.exact import Rejected, rational
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import constant, variable
from proofs_check.claim import Claim, Scope, Statement, Verdict
from proofs_check.registry import claims, matching


class Status(enum.Enum):
    """What is known of a claim."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    CONDITIONAL = "CONDITIONAL"
    EVIDENCE = "EVIDENCE"
    OPEN = "OPEN"
    REJECTED = "REJECTED"


@dataclass(frozen=True)
class Verification:
    """The outcome for one claim: status, why, the certificate's size in bytes, and the time of the check.

    ``certificate`` is there for a user's claim only; those of the catalogue are stored by id.
    """

    claim: Claim
    status: Status
    reason: str = ""
    size: int = 0
    seconds: float = 0.0
    certificate: Mapping[str, Any] | None = None

    @property
    def as_expected(self) -> bool:
        """Whether nothing contradicts the expected verdict; an open claim contradicts nothing."""
        if self.status in (Status.PROVED, Status.REFUTED):
            return self.status.value.lower() == self.claim.expected.value
        return self.status is not Status.REJECTED

    @property
    def settled(self) -> bool:
        return self.status in (Status.PROVED, Status.REFUTED)


def verify(*patterns: str, executor: Executor | None = None) -> list[Verification]:
    """Return the verification of every matching claim, by id; see :func:`proofs_check.registry.matching`.

    With an ``executor`` of processes the certificates are checked there.
    """
    found = matching(patterns)
    checked = spread(_outcome, [c.id for c in found], executor)
    return [Verification(c, *outcome) for c, outcome in zip(found, checked, strict=True)]


def _outcome(name: str) -> tuple[Status, str, int, float]:
    """Return a verification as what pickles: claims hold models."""
    v = verification(name)
    return v.status, v.reason, v.size, v.seconds


@cache
def verification(name: str) -> Verification:
    """Return the verification of one claim and, through it, of the claims that it uses."""
    c = claims()[name]
    start = time.perf_counter()
    path = stored(name)
    if c.missing:
        return Verification(c, Status.OPEN, c.missing)
    if c.scope is Scope.SAMPLED:
        return Verification(c, Status.EVIDENCE, "sampling proves nothing")
    if path is None:
        return Verification(c, Status.OPEN, "no certificate is stored; `exaq verify --find` searches for one")
    raw = path.read_text(encoding="utf-8")
    try:
        certificate = document.loads(raw)
        check_against(certificate, c)
    except Rejected as reason:
        return Verification(c, Status.REJECTED, str(reason), len(raw), time.perf_counter() - start)
    seconds = time.perf_counter() - start
    open_ones = [used for used in c.uses if not verification(used).settled]
    if open_ones:
        return Verification(c, Status.CONDITIONAL, f"rests on {', '.join(open_ones)}", len(raw), seconds)
    return Verification(c, Status[c.expected.name], "", len(raw), seconds)


def check_against(certificate: Mapping[str, Any], c: Claim) -> None:
    """Return None if the certificate establishes what the live claim states; raise Rejected otherwise."""
    statement = c.statement()
    if certificate.get("claim") not in (None, c.id):
        raise Rejected(f"certificate of another claim: {str(certificate['claim'])[:80]}")
    if certificate["kind"] != statement.kind:
        raise Rejected(f"kind {certificate['kind']!r}; the claim needs {statement.kind!r}")
    for part in ("problem", "conclusion"):
        if where := difference(certificate[part], getattr(statement, part)):
            raise Rejected(f"the {part} is not the claim's: it differs at {where}")
    parts = statement.problem["parts"] if statement.kind == "all" else [{"kind": statement.kind}]
    if any(part["kind"] == "counterexample" for part in parts) and c.expected is not Verdict.REFUTED:
        raise Rejected("a counterexample refutes; the claim expects to be proved")
    _meets(c, statement)
    document.check(dict(certificate))


def _meets(c: Claim, statement: Statement) -> None:
    """Check that the claim's assumptions can be met: its witness lies in the domain of every part."""
    parts = statement.problem["parts"] if statement.kind == "all" else [{"problem": statement.problem}]
    for part in parts:
        problem = part["problem"]
        if names := problem.get("variables"):
            point = {name: constant(rational(c.witness[name])) for name in names}
            inside(problem["domain"], point)


def stored(name: str) -> Path | None:
    """Return the path of the certificate stored for a claim."""
    path = certificate_folder() / f"{file_name(name)}.json"
    return path if path.is_file() else None


def certificate_folder() -> Path:
    return Path(str(resources.files("proofs_check"))) / "certificates"


def file_name(name: str) -> str:
    """Return a claim id as a file name: only letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", name).lstrip(".")


def difference(found: Any, live: Any, path: str = "") -> str:
    """Return where two documents differ, or "" if they say the same; texts are compared as the numbers they spell."""
    if isinstance(live, Mapping) and isinstance(found, Mapping):
        if set(found) != set(live):
            return f"{path}/{min(set(found) ^ set(live))}"
        return _first(difference(found[key], live[key], f"{path}/{key}") for key in live)
    if isinstance(live, list | tuple) and isinstance(found, list):
        if len(found) != len(live):
            return path or "/"
        return _first(difference(x, y, f"{path}/{i}") for i, (x, y) in enumerate(zip(found, live, strict=True)))
    if found == live and type(found) is type(live):
        return ""
    if isinstance(found, str) and isinstance(live, str) and _same(found, live):
        return ""
    return path or "/"


def _first(places: Iterable[str]) -> str:
    return next((place for place in places if place), "")


def _same(found: str, live: str) -> bool:
    names = {name: variable(name) for name in re.findall(r"[A-Za-z]\w*", live, re.ASCII)}
    try:
        return (expression(found, names) - expression(live, names)).is_zero()
    except Rejected:
        return False


def to_json(v: Verification) -> dict[str, Any]:
    """Return a verification as plain data."""
    return {
        "id": v.claim.id,
        "status": v.status.value,
        "expected": v.claim.expected.value,
        "scope": v.claim.scope.value,
        "papers": list(v.claim.source.papers),
        "relation": v.claim.source.relation,
        "statement": v.claim.text,
        "reason": v.reason,
        "certificate_bytes": v.size,
        "seconds": round(v.seconds, 3),
    } | ({"certificate": v.certificate} if v.certificate else {})


def dump(certificate: Mapping[str, Any]) -> str:
    """Return certificate text: stable bytes, one line a top-level field."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(', ', ': '))}" for key, value in certificate.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
