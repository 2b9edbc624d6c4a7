"""Kinds *identity* and *sign*: equalities and signs of rational functions on a domain.

problem     ``variables``, ``domain``: {symbol: [polynomial, ">" or ">="]}, perhaps ``define``: {name: expression}
conclusion  ``statements``: [{"claim": [left, relation, right], "assume": more domain, "set": {variable: expression}}]
proof       ``positive``: the divisors, as positive expressions in the symbols; ``signs``: one text or null a statement;
            ``witness``: points, [{variable: number}, ..], one in the domain and one in every part that is
            assumed or set
"""

from typing import Any

from proofs_check.check.exact import Rejected, fields, items, rational, table, word
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant, substituted, variable
from proofs_check.check.sign import Domain, Positive, relation


def variables(names: Any) -> dict[str, Ratio]:
    """Return the variables by name, each named once."""
    listed = [word(name) for name in items(names)]
    if len(set(listed)) != len(listed) or not all(n.isidentifier() and n.isascii() for n in listed):
        raise Rejected("variables must be distinct names")
    return {name: variable(name) for name in listed}


def define(names: dict[str, Ratio], definitions: Any) -> dict[str, Ratio]:
    """Return names extended by defined ones, each in terms of those before it."""
    extended = dict(names)
    for name, text in table(definitions).items():
        if name in extended:
            raise Rejected(f"{name[:40]!r} is defined twice")
        extended[name] = expression(text, extended)
    return extended


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "variables domain", "define")
    fields(conclusion, "statements")
    fields(proof, "positive signs", "witness")
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    vocabulary = define(names, problem.get("define", {}))
    check_statements(conclusion["statements"], proof, domain, vocabulary)


def check_statements(statements: Any, proof: Any, domain: Domain, vocabulary: dict[str, Ratio]) -> None:
    """Check each statement in the vocabulary; ``proof`` has ``positive``, ``signs`` and ``witness``."""
    listed, points = items(statements), proof.get("witness", [])
    domain.inhabited(points)
    if not listed:
        raise Rejected("nothing is stated")
    for statement, sign in zip(listed, items(proof["signs"], len(listed)), strict=True):
        fields(statement, "claim", "assume set")
        left, rel, right = items(statement["claim"], 3)
        here = domain.extended(statement.get("assume", {}))
        here.inhabited(points)
        f = Positive(here, proof["positive"]).divides(expression(left, vocabulary) - expression(right, vocabulary))
        chosen = chosen_values(statement.get("set", {}), here)
        if chosen:
            _met(here, chosen, points)
        relation(substituted(f, chosen), rel, sign, here)


def chosen_values(values: Any, domain: Domain) -> dict[str, Ratio]:
    """Return the values that restrict variables to a part of the domain."""
    chosen = {}
    for name, text in table(values).items():
        if name not in domain.names:
            raise Rejected(f"{name[:40]!r} is no variable")
        chosen[name] = expression(text, domain.names)
    return chosen


def _met(here: Domain, chosen: dict[str, Ratio], points: Any) -> None:
    """Return None if at one of the points, in the domain, the variables have the chosen values."""
    for point in points:
        at = {name: constant(rational(x)) for name, x in table(point).items()}
        inside = set(at) == set(here.names) and here.holds(at)
        if inside and all((substituted(f, at) - at[name]).is_zero() for name, f in chosen.items()):
            return
    raise Rejected("no witness lies where the variables have the chosen values: the statement may speak of nothing")
