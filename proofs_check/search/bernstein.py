"""Finds trees of boxes on which coefficients show the sign of a polynomial; also the box that resists."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import sympy

from proofs_check.check.boxes import Box, Side, coefficients, described, shown
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio
from proofs_check.check.sign import Domain
from proofs_check.check.sturm import keeps_sign
from proofs_check.search.algebra import poly, text
from proofs_check.search.factors import factor_list
from proofs_check.search.handelman import NotFound

MAX_BOXES = 6000
DEPTH = 40
SQUARE_BOXES = 200
Point = dict[str, Fraction]


class Resists(NotFound):
    """A box on which neither sign was shown, or a ``point`` at which the polynomial has the wrong sign."""

    def __init__(self, box: Box, point: Point | None = None) -> None:
        super().__init__(described(box))
        self.box, self.point = box, point


@dataclass
class Budget:
    """What a search may still spend: boxes, and time on the clock."""

    boxes: int = MAX_BOXES
    until: float = float("inf")

    def spend(self) -> bool:
        self.boxes -= 1
        return self.boxes >= 0 and time.process_time() < self.until


def tree(p: Polynomial, box: Box, domain: Domain, *, strict: bool, budget: Budget) -> Any:
    """Return a tree of kind *bernstein* for p >= 0 (or > 0) on the domain in the box.

    Raises
    ------
    Resists
        The budget is spent, or a corner in the domain has the wrong sign.
    """
    if len(names := {name for m in p.terms for name, _ in m}) == 1:
        (name,) = names
        try:
            keeps_sign(p, box[name].low, box[name].high, 1)
        except Rejected:
            pass  # a root at an end, or inside: boxes may still show p >= 0
        else:
            return "sturm"
    try:
        return _grown(p, box, domain, strict, budget, 0)
    except Resists as first:
        if first.point is None and (found := _by_square(p, first.box, box, domain, strict)) is not None:
            return found
        raise


def _by_square(p: Polynomial, small: Box, box: Box, domain: Domain, strict: bool) -> Any:
    """Return a tree for p minus a square that vanishes at a zero of p in the box that resists, or None."""
    zero = {name: _simplest(side) for name, side in small.items()}
    if at(p, zero) != 0:
        return None
    f = poly(p)
    for name, z in zero.items():
        v = sympy.Symbol(name)
        bend = sympy.diff(f, v, 2).subs({sympy.Symbol(n): sympy.Rational(str(x)) for n, x in zero.items()}) / 2
        if bend <= 0:
            continue
        root = text(v - sympy.Rational(str(z)))
        rest = p + expression(root, domain.names).power(2).top.scaled(-Fraction(str(bend)))
        try:
            return {"square": [root, str(bend), _grown(rest, box, domain, strict, Budget(SQUARE_BOXES), 0)]}
        except Resists:
            continue
    return None


def _simplest(side: Side) -> Fraction:
    """Return the fraction of least denominator in a finite interval."""
    low, high = side.low, side.high
    if low is None or high is None:
        return low if low is not None else high if high is not None else Fraction(0)
    middle = (low + high) / 2
    return next(x for k in range(1, 2**40) if low <= (x := middle.limit_denominator(k)) <= high) if low < high else low


def _grown(p: Polynomial, box: Box, domain: Domain, strict: bool, budget: Budget, depth: int) -> Any:
    loose = [
        name
        for name, s in box.items()
        if s.low is None and s.high is None and any(n == name for m in p.terms for n, _ in m)
    ]
    if not loose:
        if shown(p, box, strict=strict):
            return None
        if symbol := _outside(box, domain):
            return symbol
        if leaf := _by_constraint(p, box, domain, strict):
            return leaf
        if (point := _bad_corner(p, box, domain, strict)) is not None:
            raise Resists(box, point)
    if not budget.spend() or depth >= DEPTH:
        raise Resists(box)
    name, at = (loose[0], Fraction(0)) if loose else _cut(p, box)
    halves = box[name].cut(at)
    return [name, str(at), *(_grown(p, {**box, name: half}, domain, strict, budget, depth + 1) for half in halves)]


def _outside(box: Box, domain: Domain) -> str | None:
    """Return a constraint that fails in the whole box."""
    closed = {name: Side(s.low, s.high, False, False) for name, s in box.items()}
    for symbol, g in domain.meaning.items():
        used = {name for m in g.top.terms for name, _ in m}
        if g.bottom or any(box[n].low is None and box[n].high is None for n in used):
            continue
        if shown(g.top.scaled(-1), closed, strict=symbol not in domain.strict):
            return symbol
    return None


def _by_constraint(p: Polynomial, box: Box, domain: Domain, strict: bool) -> dict[str, list[str]] | None:
    """Return a leaf that shows p - m g for a constraint g in several variables: corners outside of g need m large."""
    corners = _corners(box)
    for symbol, g in domain.meaning.items():
        if g.bottom or len({name for m in g.top.terms for name, _ in m}) < 2:
            continue
        pairs = [(at(p, point), at(g.top, point)) for point in corners]
        least = max((a / b for a, b in pairs if b < 0), default=Fraction(0))
        most = min((a / b for a, b in pairs if b > 0), default=least + 1)
        for m in dict.fromkeys((least, most, (least + most) / 2)):
            if m > 0 and least <= m <= most and shown(p + g.top.scaled(-m), box, strict=strict):
                return {"minus": [symbol, str(m)]}
    return None


def _corners(box: Box) -> list[Point]:
    """Return the finite corners of a box, at most 64."""
    corners: list[tuple[Fraction, ...]] = [()]
    for side in box.values():
        ends = [x for x in (side.low, side.high) if x is not None] or [Fraction(0)]
        corners = [(*c, x) for c in corners for x in ends][:64]
    return [dict(zip(box, corner, strict=True)) for corner in corners]


def _bad_corner(p: Polynomial, box: Box, domain: Domain, strict: bool) -> Point | None:
    """Return a corner of the box, in the domain, at which p has the wrong sign."""
    for point in _corners(box):
        value = at(p, point)
        if (value < 0 or (strict and value == 0)) and inside(domain, point):
            return point
    return None


def at(p: Polynomial, point: Mapping[str, Fraction]) -> Fraction:
    """Return the value of p."""
    total = Fraction(0)
    for monomial, c in p.terms.items():
        term = Fraction(c)
        for name, e in monomial:
            term *= point[name] ** e
        total += term
    return total


def value(f: Ratio, point: Mapping[str, Fraction]) -> Fraction | None:
    """Return the value of a rational function; None at a pole."""
    below = Fraction(1)
    for factor, power in f.bottom.items():
        below *= at(factor, point) ** power
    return at(f.top, point) / below if below else None


def inside(domain: Domain, point: Mapping[str, Fraction]) -> bool:
    """Return whether a point satisfies every constraint."""
    for symbol, g in domain.meaning.items():
        x = value(g, point)
        if x is None or x < 0 or (symbol in domain.strict and x == 0):
            return False
    return True


def _cut(p: Polynomial, box: Box) -> tuple[str, Fraction]:
    """Return the variable along which the coefficients differ most, and where to cut."""
    degrees, found = coefficients(p, box)
    table = np.zeros([n + 1 for n in degrees])
    for index, c in found.items():
        table[index] = float(Fraction(c, _binomials(index, degrees, box)))
    largest, names = -1.0, list(box)
    for i, n in enumerate(degrees):
        if n and (step := float(np.abs(np.diff(table, axis=i)).max())) > largest:
            largest, name = step, names[i]
    side = box[name]
    if side.low is not None and side.high is not None:
        return name, (side.low + side.high) / 2
    start = side.low if side.low is not None else side.high
    assert start is not None
    return name, start + max(Fraction(1), abs(start)) * (1 if side.high is None else -1)


def _binomials(index: tuple[int, ...], degrees: list[int], box: Box) -> int:
    total = 1
    for k, n, side in zip(index, degrees, box.values(), strict=True):
        if side.low is not None and side.high is not None:
            total *= comb(n, k)
    return total


def bernstein(problem: dict[str, Any], conclusion: dict[str, Any], domain: Domain, box: Box, budget: Budget) -> dict:
    """Return the proof of kind *bernstein* of one inequality between rational functions.

    Raises
    ------
    NotFound
        No proof within the budget; :class:`Resists` if a box is known that resists.
    """
    (statement,) = conclusion["statements"]
    left, relation, right = statement["claim"]
    f = expression(left, domain.names) - expression(right, domain.names)
    strict, wanted = relation in (">", "<"), 1 if relation in (">", ">=") else -1
    top, bottoms = _factored(f.top), [_factored(b) for b in f.bottom]
    listed = sorted({g for _, powers in (top, *bottoms) for g in powers}, key=str)
    below = {g for _, powers in bottoms for g in powers}
    factors, signs = [], {}
    for g in listed:
        needed = strict or g in below
        p = expression(text(g), domain.names).top
        if not needed and top[1].get(g, 0) % 2 == 0:
            factors.append([text(g), 1, None])
            signs[g] = 1
            continue
        try:
            signs[g], found = _either(p, box, domain, needed, budget)
        except Rejected as reason:
            raise NotFound(str(reason)) from None
        factors.append([text(g), signs[g], found])
    total = _sign(top, signs)
    for part, power in zip(bottoms, f.bottom.values(), strict=True):
        total *= _sign(part, signs) ** power
    if total != wanted:
        raise NotFound("the statement has the opposite sign")
    written = [[str(number), [powers.get(g, 0) for g in listed]] for number, powers in (top, *bottoms)]
    return {"factors": factors, "top": written[0], "bottoms": written[1:]}


def _either(p: Polynomial, box: Box, domain: Domain, strict: bool, budget: Budget) -> tuple[int, Any]:
    """Return the sign of p on the domain with its tree; the first look decides which of the two is tried at length."""
    try:
        return 1, tree(p, box, domain, strict=strict, budget=budget)
    except Resists as first:
        if first.point is None:
            raise
    return -1, tree(p.scaled(-1), box, domain, strict=strict, budget=budget)


def _factored(p: Polynomial) -> tuple[sympy.Rational, dict[sympy.Expr, int]]:
    number, factors = factor_list(poly(p))
    return number, {g: int(k) for g, k in factors}


def _sign(part: tuple[sympy.Rational, dict[sympy.Expr, int]], signs: Mapping[sympy.Expr, int]) -> int:
    total = 1 if part[0] > 0 else -1
    for g, k in part[1].items():
        total *= signs[g] ** k
    return total
