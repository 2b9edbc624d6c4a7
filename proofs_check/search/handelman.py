"""Finds texts that prove signs: nonnegative combinations of products of constraints (Handelman), by factors and LP."""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
import sympy
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog
from scipy.sparse import csc_matrix
from sympy.polys.rings import PolyElement, ring

from proofs_check.search.factors import factor_list

Constraints = Mapping[str, tuple[sympy.Expr, bool]]  # symbol -> (polynomial, strictly positive)

Products = dict[tuple[str, ...], PolyElement]

EXTRA_DEGREE = 2
MAX_PRODUCTS = 10_000


class NotFound(Exception):
    """The search ended without a proof; this says nothing about the statement."""


def sign_text(f: sympy.Expr, constraints: Constraints, *, strict: bool, limit: int = MAX_PRODUCTS) -> str:
    """Return a text in the constraint symbols with nonnegative coefficients that equals the rational function f.

    Numerator and denominator are proved factor by factor, since a product of proofs is a proof.  ``limit`` bounds the
    products of constraints that one linear program may hold.
    """
    top, bottom = sympy.fraction(sympy.together(f))
    if sympy.expand(top) == 0:
        if strict:
            raise NotFound("zero is not positive")
        return "0"
    try:
        above, flipped = _product(top, constraints, strict=strict, limit=limit)
        below, turned = _product(bottom, constraints, strict=True, limit=limit)
        if flipped != turned:
            raise NotFound(f"{f} is negative somewhere")
    except NotFound:
        # the factors have no sign of their own: take the numerator whole, times the sign of the denominator
        below, turned = _product(bottom, constraints, strict=True, limit=limit)
        above = _multiplied(-top if turned else top, constraints, strict=strict, limit=limit)
    return above if below == "1" else f"({above})/({below})"


def _multiplied(f: sympy.Expr, constraints: Constraints, *, strict: bool, limit: int) -> str:
    """Return a text for f itself, or for f times a positive constraint over that constraint."""
    positive = [(name, g) for name, (g, certain) in sorted(constraints.items()) if certain and g.free_symbols]
    for extra in range(EXTRA_DEGREE + 1):  # a multiplier of low degree before a long combination
        for name, g in [("", sympy.Integer(1)), *positive]:
            try:
                text = whole(sympy.expand(f * g), constraints, strict=strict, extra=extra, limit=limit)
            except NotFound:
                continue
            return f"({text})/{name}" if name else text
    raise NotFound(f"no nonnegative combination found for {f}")


def _product(poly: sympy.Expr, constraints: Constraints, *, strict: bool, limit: int) -> tuple[str, bool]:
    """Return a text for |poly| by factors, and whether poly is minus that."""
    coefficient, factors = factor_list(poly)
    texts, negative = [str(abs(coefficient))], coefficient < 0
    for factor, power in factors:
        try:
            text = whole(factor, constraints, strict=strict, limit=limit)
        except NotFound:
            text = whole(-factor, constraints, strict=strict, limit=limit)
            negative ^= bool(power % 2)
        texts.append(f"({text})" + (f"^{power}" if power > 1 else ""))
    return "*".join(t for t in texts if t != "1") or "1", negative


def whole(
    f: sympy.Expr, constraints: Constraints, *, strict: bool, extra: int = EXTRA_DEGREE, limit: int = MAX_PRODUCTS
) -> str:
    """Return a text for a polynomial f by linear programming over products of constraints, repaired exactly."""
    variables = sorted(set().union(f.free_symbols, *(g.free_symbols for g, _ in constraints.values())), key=str)
    if not variables or not f.free_symbols:
        if f < 0 or (strict and f == 0):
            raise NotFound(f"{f} has the wrong sign")
        return str(f)
    space = ring(variables, sympy.QQ)[0]
    target = space.from_expr(sympy.expand(f))
    meaning = {name: space.from_expr(sympy.expand(g)) for name, (g, _) in constraints.items()}
    positive = {name for name, (_, certain) in constraints.items() if certain}
    degree = max(sum(m) for m in target)
    for bound in range(1, degree + extra + 1):
        if comb(len(meaning) + bound, bound) > limit:
            break
        products = _products(meaning, bound, space.one)
        if text := _by_program(target, products, positive if strict else None):
            return text
    raise NotFound(f"no nonnegative combination found for {f}")


def _products(meaning: Mapping[str, PolyElement], degree: int, one: PolyElement) -> Products:
    """Return all products of at most ``degree`` constraints, by their names in order."""
    found = {(): one}
    frontier = dict(found)
    for _ in range(degree):
        frontier = {
            (*names, new): value * meaning[new]
            for names, value in frontier.items()
            for new in sorted(meaning)
            if not names or new >= names[-1]
        }
        found |= frontier
    return found


def _by_program(target: PolyElement, products: Products, positive: set[str] | None) -> str | None:
    """Return a text, or None; ``positive``: the names of which one product needs a positive weight."""
    names, columns = list(products), list(products.values())
    rows = {m: i for i, m in enumerate(sorted({m for c in [*columns, target] for m in c}))}
    entries = [(rows[m], j, float(x)) for j, column in enumerate(columns) for m, x in column.items()]
    i, j, x = zip(*entries, strict=True)
    matrix = csc_matrix((x, (i, j)), shape=(len(rows), len(names)))
    right = np.zeros(len(rows))
    for m, value in target.items():
        right[rows[m]] = float(value)
    certain = [positive is not None and set(c) <= positive for c in names]
    cost = [-1.0 if sure else 1e-3 * (1 + len(c)) for sure, c in zip(certain, names, strict=True)]
    solution = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0.0, None), method="highs-ds")
    if solution.status != 0:
        return None
    support = [k for k in range(len(names)) if solution.x[k] > 1e-9]
    weights = _exact([columns[k] for k in support], target, list(rows))
    if weights is None or any(w < 0 for w in weights):
        return None
    if positive is not None and not any(certain[k] and w > 0 for k, w in zip(support, weights, strict=True)):
        return None
    return " + ".join(_term(w, names[k]) for k, w in zip(support, weights, strict=True) if w != 0) or "0"


def _exact(columns: list[PolyElement], target: PolyElement, rows: list[tuple[int, ...]]) -> list[fmpq] | None:
    """Return exact weights with sum of weight times column = target, or None."""
    if not columns:
        return None if target else []
    table = fmpq_mat([[exact(c.get(m, 0)) for c in columns] + [exact(target.get(m, 0))] for m in rows])
    reduced, rank = table.rref()
    weights, row = [fmpq(0)] * len(columns), 0
    for column in range(len(columns)):
        if row < rank and reduced[row, column] == 1 and all(reduced[row, c] == 0 for c in range(column)):
            weights[column] = reduced[row, len(columns)]
            row += 1
    return weights if row == rank else None  # else a pivot in the last column: the products do not reach the target


def exact(x: Any) -> fmpq:
    """Return a rational number of any library as FLINT's."""
    return fmpq(int(x.numerator), int(x.denominator)) if x else fmpq(0)


def _term(weight: fmpq, product: tuple[str, ...]) -> str:
    factors = [_factor(n, product.count(n)) for n in sorted(set(product))]
    return "*".join(factors if weight == 1 and factors else [str(weight), *factors])


def _factor(name: str, count: int) -> str:
    if name.endswith("^2"):  # the square of a variable
        return f"{name[:-1]}{2 * count}"
    return name if count == 1 else f"{name}^{count}"
