"""Signs of rational functions on a domain, by nonnegative coefficients after a stated substitution.

A domain names nonnegative or positive polynomials, for instance ``a = 1 - p > 0``.  A function is nonnegative there if
it equals a polynomial with nonnegative coefficients in those names, over one that is positive; it is positive if some
term of the numerator is a positive number times positive names only.  Variables may stand beside those names, in even
powers; where a variable and a constraint share a name, the constraint is meant.
"""

from collections.abc import Mapping
from typing import Any

from proofs_check.check.exact import Rejected, items, rational, table, word
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio, constant, substituted, variable


class Domain:
    """The points at which every named constraint holds."""

    def __init__(self, names: Mapping[str, Ratio], constraints: Any) -> None:
        self.names = names
        self.meaning: dict[str, Ratio] = {}
        self.strict: set[str] = set()
        for symbol, constraint in table(constraints).items():
            text, relation = items(constraint, 2)
            self.add(symbol, expression(text, names), relation)

    def add(self, symbol: str, meaning: Ratio, relation: Any) -> None:
        if symbol in self.meaning or relation not in (">", ">="):
            raise Rejected(f"constraint {symbol[:40]!r}: named twice, or its relation is not '>' or '>='")
        self.meaning[symbol] = meaning
        if relation == ">":
            self.strict.add(symbol)

    def extended(self, constraints: Any) -> "Domain":
        """Return the domain with further constraints."""
        more = Domain(self.names, constraints)
        both = Domain(self.names, {})
        for part in (self, more):
            for symbol, meaning in part.meaning.items():
                both.add(symbol, meaning, ">" if symbol in part.strict else ">=")
        return both

    def holds(self, at: Mapping[str, Ratio]) -> bool:
        """Return whether every constraint holds where the names have these values, numbers each."""
        values = [substituted(f, at) for f in self.meaning.values()]
        signs = [x.top.terms.get((), 0) for x in values if not x.bottom and not any(x.top.terms)]
        return len(signs) == len(values) and all(
            x >= 0 and (x > 0 or name not in self.strict) for name, x in zip(self.meaning, signs, strict=True)
        )

    def inhabited(self, points: Any) -> None:
        """Return None if one of the points, {name: number} each, satisfies every constraint."""
        for point in items(points):
            at = {name: constant(rational(x)) for name, x in table(point).items()}
            if set(at) == set(self.names) and self.holds(at):
                return
        if self.meaning:
            raise Rejected("no witness is a point of the domain: the statement may speak of nothing")

    def proves(self, f: Ratio, text: Any, *, strict: bool) -> None:
        """Return None if ``text``, a quotient of polynomials in the symbols, shows f >= 0 (or f > 0)."""
        witness = self.witness(text, strict=strict)
        if not (f - witness).is_zero():
            raise Rejected(f"{word(text)[:80]!r} is another function than the one whose sign it should prove")

    def witness(self, text: Any, *, strict: bool) -> Ratio:
        """Return the function that ``text`` spells, shown to be nonnegative (or positive)."""
        proof = expression(text, {s: variable(s) for s in (*self.names, *self.meaning)})
        self._nonnegative(proof.top, strict=strict, text=text)
        for factor in proof.bottom:
            self._nonnegative(factor, strict=True, text=text)
        return substituted(proof, {**self.names, **self.meaning})

    def _nonnegative(self, poly: Polynomial, *, strict: bool, text: str) -> None:
        if any(c < 0 for c in poly.terms.values()):
            raise Rejected(f"{text[:80]!r} has a negative coefficient")
        if any(e % 2 for m in poly.terms for name, e in m if name not in self.meaning):
            raise Rejected(f"{text[:80]!r} has an odd power of a variable, which may have either sign")
        if strict and not any(all(name in self.strict for name, _ in m) for m in poly.terms):
            raise Rejected(f"{text[:80]!r} has no term that is certainly positive")


class Positive:
    """Polynomials known to be positive: the only things one may divide by."""

    def __init__(self, domain: Domain, texts: Any) -> None:
        self.known: set[Polynomial] = set()
        for text in items(texts):
            f = domain.witness(text, strict=True)
            if f.bottom:
                raise Rejected(f"{word(text)[:80]!r}: list the positive polynomials without quotients")
            self.known.add(f.top.monic()[0])

    def divides(self, f: Ratio) -> Ratio:
        """Return f, if every factor of its denominator is a known positive polynomial."""
        for factor in f.bottom:
            if factor not in self.known:
                raise Rejected("a denominator is not among the polynomials shown to be positive")
        return f


def relation(f: Ratio, sign: Any, proof: Any, domain: Domain) -> None:
    """Return None if f = 0, or if the proof shows f > 0, >= 0, < 0 or <= 0 on the domain, as ``sign`` says."""
    if sign == "=":
        if not f.is_zero():
            raise Rejected("an equality does not hold identically")
    elif sign in (">", ">="):
        domain.proves(f, proof, strict=sign == ">")
    elif sign in ("<", "<="):
        domain.proves(-f, proof, strict=sign == "<")
    else:
        raise Rejected(f"{str(sign)[:20]!r} is no relation")
