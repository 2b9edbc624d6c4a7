"""Proves or refutes inequalities between rational functions: cheap certificates first, a point if it is false."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import sympy
from flint import fmpq, fmpq_mat

from proofs_check.check import document
from proofs_check.check.boxes import box_of, described
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio, Work, composed, constant, variable
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables
from proofs_check.search import bernstein as boxes
from proofs_check.search import levels
from proofs_check.search.algebra import poly, text
from proofs_check.search.factors import factor_list
from proofs_check.search.handelman import NotFound, exact
from proofs_check.search.refuter import counterexample
from proofs_check.search.witness import witnessed

PATIENCE = 10.0  # seconds for one statement
FEW, MANY = 150, boxes.MAX_BOXES
MAX_PRODUCTS = 2000

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """``verdict``: proved, refuted or undecided; how; the certificate; for undecided what resists."""

    verdict: str
    how: str
    certificate: Json | None = None
    resists: str = ""


def answer(names: tuple[str, ...], domain: Json, claim: tuple[str, str, str], *, patience: float = PATIENCE) -> Answer:
    """Return whether the relation ``claim`` holds at every point of the domain.

    Parameters
    ----------
    names, domain
        Variables, and {symbol: [expression, ">" or ">="]}.
    claim
        (left, relation, right) with relation =, <, <=, > or >=.

    Guarantee
    ---------
    Proved and refuted come with a certificate that the independent checker has accepted.
    """
    Work.spent = 0
    problem = {"variables": list(names), "domain": {s: list(c) for s, c in domain.items()}}
    conclusion = {"statements": [{"claim": list(claim)}]}
    read = Domain(variables(problem["variables"]), problem["domain"])
    box = box_of(read)
    f = expression(claim[0], read.names) - expression(claim[2], read.names)
    if point := counterexample(claim, read, box, deep=0):
        return refuted(problem, claim, point)
    until, look, resists, looked = time.process_time() + patience, patience / 10, "", False
    for how, kind, find in _routes(problem, conclusion, read, box, f, until):
        try:
            proof = find()
            return Answer("proved", how(proof), certificate(kind, problem, conclusion, proof))
        except boxes.Resists as reason:
            resists = described(reason.box)
            hints = [reason.point] if reason.point else []
            if (hints or not looked) and (point := counterexample(claim, read, box, hints=hints, deep=look)):
                return refuted(problem, claim, point)
            looked = True
        except (NotFound, Rejected):
            pass
        if time.process_time() > until:
            break
    if not looked and (point := counterexample(claim, read, box, deep=look)):
        return refuted(problem, claim, point)
    return Answer("undecided", "no certificate and no counterexample found", None, resists or described(box))


def a_point(names: tuple[str, ...], domain: Json) -> dict[str, str] | None:
    """Return a simple rational point of the domain, or None when none was found."""
    read = Domain(variables(list(names)), {s: list(c) for s, c in domain.items()})
    point = counterexample(("1", "<=", "0"), read, box_of(read))
    return None if point is None else {name: str(x) for name, x in point.items()}


def _routes(problem: Json, conclusion: Json, domain: Domain, box: Any, f: Ratio, until: float) -> Any:
    """Yield (how, kind, finder), cheapest first."""
    relation = conclusion["statements"][0]["claim"][1]
    if relation == "=":
        yield (lambda _: "identity"), "identity", lambda: levels.statements(problem, conclusion)
        return

    def by_boxes(count: int) -> Callable[[], Json]:
        return lambda: boxes.bernstein(problem, conclusion, domain, box, boxes.Budget(count, until))

    yield (lambda _: "nonnegative coefficients"), "sign", lambda: _substituted(conclusion, domain, f)
    yield _boxes, "bernstein", by_boxes(FEW)
    if _small(domain, f):
        yield _terms, "sign", lambda: levels.statements(problem, conclusion)
    yield _boxes, "bernstein", by_boxes(MANY)


def _substituted(conclusion: Json, domain: Domain, f: Ratio) -> Json:
    """Return a proof of kind *sign* by taking constraints for coordinates: x = low + c, or the gaps of a chain."""
    relation = conclusion["statements"][0]["claim"][1]
    sign, strict = (1 if relation in (">", ">=") else -1), relation in (">", "<")
    values = _coordinates(domain)

    def written(p: Polynomial, positive: bool) -> str:
        q = composed(p, values).top
        if any(c < 0 for c in q.terms.values()):
            raise NotFound("a negative coefficient")
        if positive and not any(all(name in domain.strict for name, _ in m) for m in q.terms):
            raise NotFound("no term that is certainly positive")
        return text(poly(q))

    bottoms = [written(b, True) for b in f.bottom]
    over = "".join(f"/({b})^{n}" for b, n in zip(bottoms, f.bottom.values(), strict=True))
    return {"positive": bottoms, "signs": [f"({written(f.top.scaled(sign), strict)}){over}"]}


def _coordinates(domain: Domain) -> dict[str, Ratio]:
    """Return every variable as a linear function of constraints, the first that are independent."""
    names = list(domain.names)
    rows: list[list[fmpq]] = []
    chosen: list[Ratio] = []
    for symbol, g in domain.meaning.items():
        if g.bottom or any(sum(e for _, e in m) > 1 for m in g.top.terms):
            continue
        row = [exact(g.top.terms.get(((name, 1),), 0)) for name in names]
        if fmpq_mat([*rows, row]).rank() > len(rows):
            rows.append(row)
            chosen.append(variable(symbol) - constant(g.top.terms.get((), 0)))
    if len(chosen) < len(names):
        raise NotFound("too few linear constraints for coordinates")
    inverse = fmpq_mat(rows).inv().table() if names else []
    return {
        name: sum((constant(str(c)) * x for c, x in zip(row, chosen, strict=True) if c), constant(0))
        for name, row in zip(names, inverse, strict=True)
    }


def _small(domain: Domain, f: Ratio) -> bool:
    """Return whether products of constraints are few enough for a linear program."""
    if any(g.bottom for g in domain.meaning.values()):
        return False
    _, factors = factor_list(poly(f.top))
    degree = max((sympy.Poly(g).total_degree() for g, _ in factors), default=0)
    return comb(len(domain.meaning) + degree, degree) <= MAX_PRODUCTS


def certificate(kind: str, problem: Json, conclusion: Json, proof: Json) -> Json:
    """Return a certificate that the checker has accepted; raise Rejected if it does not accept it."""
    found = {
        "format": document.FORMAT,
        "kind": kind,
        "problem": problem,
        "conclusion": conclusion,
        "proof": witnessed(kind, problem, conclusion, proof),
        "found_by": "proofs_check.search.prover",
    }
    document.check(found)
    return found


def refuted(
    problem: Json, claim: tuple[str, str, str], point: boxes.Point, integers: Mapping[str, int] | None = None
) -> Answer:
    """Return the refutation of a statement at a point; ``integers`` are those that it was written out for."""
    names = variables(problem["variables"])
    sides = [boxes.value(expression(side, names), point) for side in (claim[0], claim[2])]
    at = {name: str(x) for name, x in point.items()}
    found = certificate(
        "counterexample",
        {**problem, "laws": {}, "statement": list(claim)},
        {"at": at, "left": str(sides[0]), "right": str(sides[1])},
        {"laws": {}},
    )
    said = {**(integers or {}), **at}
    where = ", ".join(f"{name} = {x}" for name, x in said.items()) or "once and for all"
    return Answer("refuted", f"false at {where}: left side {sides[0]}, right side {sides[1]}", found)


def _boxes(proof: Json) -> str:
    counts = [_leaves(tree) for _, _, tree in proof["factors"]]
    if any(tree == "sturm" for _, _, tree in proof["factors"]):
        return "no root by Sturm's theorem"
    return f"Bernstein coefficients on {sum(counts)} boxes" if max(counts, default=1) > 1 else "Bernstein coefficients"


def _leaves(tree: Any) -> int:
    return _leaves(tree[2]) + _leaves(tree[3]) if isinstance(tree, list) else 1


def _terms(proof: Json) -> str:
    return f"Handelman: {sum(s.count('+') + 1 for s in proof['signs'] if s)} products of constraints"
