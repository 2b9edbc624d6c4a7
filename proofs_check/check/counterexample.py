"""Kind *counterexample*: a stated relation that fails at one exact point.

problem     as in kind *levels* (``laws`` may be empty), with ``statement``: [left, relation, right] in its vocabulary
conclusion  ``at``: {variable: number}, and the exact ``left`` and ``right`` there
proof       ``laws`` as in kind *levels*, at that point
"""

import operator
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, rational, table
from proofs_check.check.expression import expression
from proofs_check.check.levels import derived, with_quantities
from proofs_check.check.polynomial import Ratio, constant
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables

HOLDS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "variables domain laws statement")
    fields(conclusion, "at left right")
    fields(proof, "laws")
    names = variables(problem["variables"])
    if set(table(conclusion["at"])) != set(names):
        raise Rejected("the point must give every variable a value")
    point = {name: constant(rational(x)) for name, x in conclusion["at"].items()}
    inside(problem["domain"], point)
    domain = Domain(point, {})
    laws = derived(problem["laws"], proof["laws"], point, domain, ["1"]) if problem["laws"] else {}
    vocabulary = with_quantities(point, laws)
    left, relation, right = items(problem["statement"], 3)
    values = [number(expression(side, vocabulary)) for side in (left, right)]
    if values != [rational(conclusion["left"]), rational(conclusion["right"])]:
        raise Rejected("the sides have other values at the point")
    if relation not in HOLDS:
        raise Rejected("no such relation")
    if HOLDS[relation](values[0], values[1]):
        raise Rejected("the statement holds at the point: no counterexample")


def inside(constraints: Any, point: dict[str, Ratio]) -> None:
    """Return None if the point satisfies every constraint."""
    for symbol, constraint in table(constraints).items():
        text, relation = items(constraint, 2)
        value = number(expression(text, point))
        if relation not in (">", ">=") or value < 0 or (relation == ">" and value == 0):
            raise Rejected(f"the point violates {symbol[:40]}")


def number(f: Ratio) -> Any:
    """Return the value of a constant function."""
    if any(m for m in f.top.terms) or f.bottom:
        raise Rejected("not a number at the point")
    return f.top.terms.get((), 0)
