"""Kind *bernstein*: the sign of a rational function on a domain, by its coefficients in Bernstein bases on boxes.

problem     ``variables``, ``domain`` as in kind *sign*
conclusion  ``statements``: [{"claim": [left, relation, right]}], one of them, the relation an inequality
proof       ``factors``: [[polynomial, sign, tree], ..] with sign 1 or -1: sign * polynomial > 0 on the domain, or
            >= 0 if a zero is allowed; ``top``, ``bottoms``: [number, [power, ..]] each, the numerator and the
            factors of the denominator of left - right as a number times powers of the factors;
            ``witness``: points of the domain

A tree is one of
  null                            the coefficients on this box show the sign
  {"minus": [constraint, m]}      those of the polynomial minus m >= 0 times the constraint do
  {"square": [s, m, tree]}        the tree shows it for the polynomial minus m s^2, m >= 0
  "sturm"                         one variable, no root in its interval
  a constraint                    it fails in the whole box
  [variable, point, tree, tree]   cut the box there
The box is given by the constraints on single variables; it may be infinite.
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.boxes import Box, Side, box_of, described, shown
from proofs_check.check.exact import Rejected, fields, integer, items, rational
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio, constant
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables
from proofs_check.check.sturm import keeps_sign

MAX_DEPTH = 200


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "variables domain")
    fields(proof, "factors top bottoms", "witness")
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    domain.inhabited(proof.get("witness", []))
    (statement,) = items(fields(conclusion, "statements")["statements"], 1)
    left, relation, right = items(fields(statement, "claim")["claim"], 3)
    if relation not in (">", ">=", "<", "<="):
        raise Rejected("an inequality is needed")
    f = expression(left, names) - expression(right, names)
    factors = [
        (expression(text, names), integer(s, -1), tree) for text, s, tree in map(_three, items(proof["factors"]))
    ]
    bottoms = items(proof["bottoms"], len(f.bottom))
    strict = relation in (">", "<")
    signs = [_product(Ratio(f.top), proof["top"], factors)]
    signs += [_product(Ratio(b), part, factors) ** n for (b, n), part in zip(f.bottom.items(), bottoms, strict=True)]
    total = 1
    for s in signs:
        total *= s
    if total != (1 if relation in (">", ">=") else -1):
        raise Rejected("the signs of the factors give the other relation")
    box, never_zero = box_of(domain), {i for part in bottoms for i, k in enumerate(part[1]) if k}
    for i, (p, s, tree) in enumerate(factors):
        if p.bottom or s not in (-1, 1):
            raise Rejected("a factor is a polynomial with sign 1 or -1")
        needed = strict or i in never_zero
        if needed or proof["top"][1][i] % 2:
            _signed(p.top.scaled(s), tree, box, domain, needed, 0)


def _three(x: Any) -> list[Any]:
    return items(x, 3)


def _product(f: Ratio, part: Any, factors: list[tuple[Ratio, int, Any]]) -> int:
    """Return the sign of f, which must be the number times the powers of the factors."""
    number, powers = items(part, 2)
    value, sign = rational(number), 1
    total = constant(value)
    for (p, s, _), k in zip(factors, items(powers, len(factors)), strict=True):
        total = total * p.power(integer(k))
        sign *= s ** integer(k)
    if not (f - total).is_zero() or value == 0:
        raise Rejected("the factors have another product")
    return sign if value > 0 else -sign


def _signed(p: Polynomial, tree: Any, box: Box, domain: Domain, strict: bool, depth: int) -> None:
    """Check that p >= 0, or > 0, in the part of the domain inside the box."""
    if depth > MAX_DEPTH:
        raise Rejected("a tree that is too deep")
    if isinstance(tree, list):
        name, at, *branches = items(tree, 4)
        if name not in box:
            raise Rejected("a box is cut along no variable")
        for half, branch in zip(box[name].cut(rational(at)), branches, strict=True):
            _signed(p, branch, {**box, name: half}, domain, strict, depth + 1)
    elif tree == "sturm":
        name = next((name for m in p.terms for name, _ in m), next(iter(box)))
        keeps_sign(p, box[name].low, box[name].high, 1)
    elif isinstance(tree, dict) and "square" in tree:
        root, number, rest = items(fields(tree, "square")["square"], 3)
        square = expression(root, domain.names).power(2)
        if square.bottom:
            raise Rejected("a square of a polynomial is needed")
        _signed(p + square.top.scaled(-_nonnegative(number)), rest, box, domain, strict, depth + 1)
    elif tree is None or isinstance(tree, dict):
        if tree is not None:
            symbol, number = items(fields(tree, "minus")["minus"], 2)
            p = p + _constraint(domain, symbol).scaled(-_nonnegative(number))
        if not shown(p, box, strict=strict):
            raise Rejected(f"the coefficients on {described(box)} do not show the sign")
    else:
        outside = _constraint(domain, tree).scaled(-1)
        closed = {name: Side(s.low, s.high, False, False) for name, s in box.items()}
        if not shown(outside, closed, strict=tree not in domain.strict):
            raise Rejected(f"the constraint {tree} does not fail on {described(box)}")


def _constraint(domain: Domain, symbol: Any) -> Polynomial:
    if symbol not in domain.meaning or domain.meaning[symbol].bottom:
        raise Rejected("no such constraint")
    return domain.meaning[symbol].top


def _nonnegative(text: Any) -> Fraction:
    if (x := rational(text)) < 0:
        raise Rejected("a negative multiple of a constraint")
    return x
