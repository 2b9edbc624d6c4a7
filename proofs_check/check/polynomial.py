"""Polynomials and rational functions with rational coefficients: just enough to check identities and signs.

A rational function keeps its denominator as a product of polynomials, so that sums over a common denominator do not
grow; nothing is ever cancelled, equality is decided by cross multiplication.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_check.check.exact import Rejected

MAX_TERMS = 60_000
MAX_DEGREE = 5_000
MAX_PRODUCTS = 2_000_000  # of terms, in one certificate
MAX_BITS = 4_000_000  # of a coefficient that a power would make

Monomial = tuple[tuple[str, int], ...]  # ((name, exponent), ...) by name
Coefficient = int | Fraction


class Work:
    """The products of terms that the certificate in hand has cost so far."""

    spent = 0


def _spend(products: int) -> None:
    Work.spent += products
    if Work.spent > MAX_PRODUCTS:
        Work.spent = 0  # the next one starts afresh
        raise Rejected(f"more than {MAX_PRODUCTS} products of terms")


class Polynomial:
    """A polynomial as a map from monomials to nonzero coefficients."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, Coefficient]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}
        if len(self.terms) > MAX_TERMS:
            raise Rejected(f"a polynomial of more than {MAX_TERMS} terms")

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for m, c in other.terms.items():
            total[m] = total.get(m, 0) + c
        return Polynomial(total)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        _spend(len(self.terms) * len(other.terms) * (1 + (self.length() + other.length()) // 512))
        total: dict[Monomial, Coefficient] = {}
        for m, c in self.terms.items():
            for n, e in other.terms.items():
                product = _times(m, n)
                total[product] = total.get(product, 0) + c * e
        return Polynomial(total)

    def length(self) -> int:
        """Return the bits of the longest coefficient: long ones cost more than short ones."""
        return max((c.numerator.bit_length() + c.denominator.bit_length() for c in self.terms.values()), default=0)

    def scaled(self, factor: Coefficient) -> "Polynomial":
        return Polynomial({m: c * factor for m, c in self.terms.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def monic(self) -> tuple["Polynomial", Fraction]:
        """Return self divided by its coefficient at the largest monomial, and that coefficient."""
        lead = Fraction(self.terms[max(self.terms)])
        return self.scaled(1 / lead), lead


ONE = Polynomial({(): 1})


class Ratio:
    """``top`` over the product of monic factors ``bottom[f]`` times each."""

    __slots__ = ("bottom", "top")

    def __init__(self, top: Polynomial, bottom: Mapping[Polynomial, int] | None = None) -> None:
        self.top, self.bottom = top, dict(bottom or {})

    def __add__(self, other: "Ratio") -> "Ratio":
        common = dict(self.bottom)
        for factor, power in other.bottom.items():
            common[factor] = max(power, common.get(factor, 0))
        return Ratio(self._over(common) + other._over(common), common)

    def __neg__(self) -> "Ratio":
        return Ratio(self.top.scaled(-1), self.bottom)

    def __sub__(self, other: "Ratio") -> "Ratio":
        return self + (-other)

    def __mul__(self, other: "Ratio") -> "Ratio":
        bottom = dict(self.bottom)
        for factor, power in other.bottom.items():
            bottom[factor] = bottom.get(factor, 0) + power
        return Ratio(self.top * other.top, bottom)

    def __truediv__(self, other: "Ratio") -> "Ratio":
        if not other.top.terms:
            raise Rejected("division by the zero function")
        factor, lead = other.top.monic()
        inverse = {} if factor == ONE else {factor: 1}
        top = _expanded(other.bottom)
        for inner, power in other.bottom.items():  # x/(y/z) needs z as much as y: z stays below, and once more above
            inverse[inner] = inverse.get(inner, 0) + power
        return self * Ratio((top * top).scaled(1 / lead), inverse)

    def power(self, exponent: int) -> "Ratio":
        if exponent > MAX_DEGREE or exponent * max(1, _degree(self.top)) > MAX_DEGREE:
            raise Rejected(f"a degree beyond {MAX_DEGREE}")
        if exponent * self.top.length() > MAX_BITS:
            raise Rejected(f"a power with coefficients of more than {MAX_BITS} bits")
        result = Ratio(_expanded(self.bottom), self.bottom) if self.bottom else constant(1)
        for bit in bin(exponent)[2:]:
            result = result * result
            if bit == "1":
                result = result * self
        return result

    def is_zero(self) -> bool:
        return not self.top.terms

    def _over(self, common: Mapping[Polynomial, int]) -> Polynomial:
        missing = {f: n - self.bottom.get(f, 0) for f, n in common.items() if n > self.bottom.get(f, 0)}
        return self.top * _expanded(missing) if missing else self.top


def constant(x: Any) -> Ratio:
    return Ratio(Polynomial({(): Fraction(x)}))


def variable(name: str) -> Ratio:
    return Ratio(Polynomial({((name, 1),): 1}))


def composed(poly: Polynomial, values: Mapping[str, Ratio]) -> Ratio:
    """Return the polynomial with every variable that has a value replaced by it."""
    total, powers = constant(0), {}
    for monomial, coefficient in poly.terms.items():
        term = constant(coefficient)
        for name, e in monomial:
            if (name, e) not in powers:
                powers[name, e] = values.get(name, variable(name)).power(e)
            term = term * powers[name, e]
        total = total + term
    return total


def substituted(f: Ratio, values: Mapping[str, Ratio]) -> Ratio:
    """Return the rational function with variables replaced."""
    result = composed(f.top, values)
    for factor, power in f.bottom.items():
        result = result / composed(factor, values).power(power)
    return result


def _expanded(bottom: Mapping[Polynomial, int]) -> Polynomial:
    product = ONE
    for factor, power in bottom.items():
        for _ in range(power):
            product = product * factor
    return product


def _degree(poly: Polynomial) -> int:
    return max((sum(e for _, e in m) for m in poly.terms), default=0)


def _times(m: Monomial, n: Monomial) -> Monomial:
    if not m or not n:
        return m or n
    exponents = dict(m)
    for name, e in n:
        exponents[name] = exponents.get(name, 0) + e
    return tuple(sorted(exponents.items()))
