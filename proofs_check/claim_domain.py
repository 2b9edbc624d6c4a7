"""A user's claim: what relations say of its domain, as polynomial constraints in the grammar of certificates."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exactchains.truth import InputError
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio, variable
from proofs_check.expression_size import bounded
from proofs_check.integer_terms import Integers, Terms

Relation = tuple[str, str, str]  # left, relation, right
LONGEST = 100_000  # characters of a side after equalities were put in


@dataclass(frozen=True)
class UserClaim:
    """One claim: all points of the domain satisfy every statement; texts are in the grammar of certificates."""

    id: str
    text: str
    variables: tuple[str, ...]
    domain: Mapping[str, tuple[str, str]]  # symbol -> (expression, ">" or ">=")
    statements: tuple[Relation, ...]
    expect: str = "proved"
    integers: Integers | None = None


def with_integers(
    name: str,
    text: str,
    terms: Terms,
    relations: list[Relation],
    statements: list[Relation],
    lemmas: list[Relation],
    expect: str,
) -> UserClaim:
    """Return the claim whose integers stand in exponents, end sums or are the index of a sequence."""
    if any(sign == "=" for _, sign, _ in relations):
        raise InputError("a domain with integers holds inequalities only; write the expression in place of its name")
    inducted = terms.inducted
    whole = {n: low for n, low in terms.least.items() if n not in inducted} if inducted else {}
    over = {n: low for n, low in terms.least.items() if n not in whole}
    meaning = {n: variable(n) for n in (*terms.known, *terms.states)}
    for a, _, b in (*statements, *lemmas):
        expression(a, meaning), expression(b, meaning)  # refuses a division by zero
    for state in terms.states.values():
        expression(state.start, meaning), expression(state.after, meaning)
    listed = [*dict.fromkeys(part for r in relations for part in _constraints(r, meaning))]
    moving = {*over, *terms.states}
    split: tuple[list[tuple[str, str]], ...] = ([(f"{n}-{low}", ">=") for n, low in whole.items()], [])
    for f, sign in listed:
        split[bool(moving & set(re.findall(r"[A-Za-z]\w*", f, re.ASCII)))].append((f, sign))
    domain, assume = (
        {f"{letter}{i}": c for i, c in enumerate(part, 1)} for letter, part in zip("ca", split, strict=True)
    )
    integers = Integers(over, whole, dict(terms.states), assume, tuple(lemmas))
    return UserClaim(name, text, (*terms.names, *whole), domain, tuple(statements), expect, integers)


def reduced(
    name: str, text: str, names: list[str], relations: list[Relation], statements: list[Relation], expect: str
) -> UserClaim:
    """Return the claim with its equalities in the domain used to eliminate variables."""
    said = text or "; ".join(f"{a} {sign} {b}" for a, sign, b in statements)
    left = list(names)
    while equality := next((r for r in relations if r[1] == "="), None):
        a, _, b = equality
        pairs = [(x, y) for x, y in ((a, b), (b, a)) if x in left and not re.search(rf"\b{x}\b", y)]
        if not pairs:
            raise InputError(f"{a} = {b}: write an equality of the domain as variable = expression in the others")
        (gone, value), *_ = pairs
        left.remove(gone)
        relations = [_put(r, gone, value, left) for r in relations if r is not equality] + [(value, "defined", value)]
        statements = [_put(r, gone, value, left) for r in statements]
    meaning = {n: variable(n) for n in left}
    for a, _, b in statements:
        expression(a, meaning), expression(b, meaning)  # refuses a division by zero
    listed = dict.fromkeys(part for r in relations for part in _constraints(r, meaning))
    domain = {f"c{i}": constraint for i, constraint in enumerate(listed, 1)}
    return UserClaim(name, said, tuple(left), domain, tuple(statements), expect)


def _constraints(r: Relation, meaning: Mapping[str, Ratio]) -> Iterator[tuple[str, str]]:
    """Yield polynomial constraints that say the same: f = p/q with q^2 > 0, and p q in place of f."""
    a, sign, b = r
    larger, smaller = (a, b) if sign in (">", ">=") else (b, a)
    f = expression(larger, meaning) if sign == "defined" else expression(larger, meaning) - expression(smaller, meaning)
    for q in f.bottom:
        yield f"({_spelled(q)})^2", ">"
    if sign == "defined":
        return
    odd = "".join(f"*({_spelled(q)})" for q, power in f.bottom.items() if power % 2)
    plain = larger if smaller == "0" else f"{larger}-({smaller})"
    yield f"({_spelled(f.top)}){odd}" if f.bottom else plain, ">" if sign in ("<", ">") else ">="


def _spelled(p: Polynomial) -> str:
    """Return a polynomial as text in the grammar of certificates."""
    terms = ("*".join([f"({c})", *(f"{name}^{e}" for name, e in monomial)]) for monomial, c in p.terms.items())
    return "+".join(terms) or "0"


def _put(r: Relation, gone: str, value: str, left: list[str]) -> Relation:
    """Return a relation with a variable replaced."""
    sides = [re.sub(rf"\b{gone}\b", f"({value})", side) for side in (r[0], r[2])]
    if any(len(side) > LONGEST for side in sides):
        raise InputError("the equalities of the domain make the relations too long")
    for side in sides:
        bounded(side, left)
    return sides[0], r[1], sides[1]
