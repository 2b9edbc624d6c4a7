"""How large an expression would become when written out: outside text is measured before it is expanded."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from exactchains.truth import InputError
from proofs_check.check.expression import evaluated

MAX_DEGREE = 200
MAX_TERMS = 20_000
MAX_BITS = 20_000


@dataclass(frozen=True)
class Part:
    """Bounds for a polynomial: degree, terms, and bits of the sum of its coefficients."""

    degree: int
    terms: int
    bits: int

    def __add__(self, other: "Part") -> "Part":
        return Part(max(self.degree, other.degree), self.terms + other.terms, max(self.bits, other.bits) + 1)

    def __mul__(self, other: "Part") -> "Part":
        return Part(self.degree + other.degree, self.terms * other.terms, self.bits + other.bits)

    def power(self, k: int, variables: int) -> "Part":
        terms = 1 if self.terms == 1 else comb(self.degree * k + variables, variables)
        return Part(self.degree * k, terms, self.bits * k)


@dataclass(frozen=True)
class Size:
    """Bounds for a rational function of some variables; every operation is refused when they become too large."""

    top: Part
    bottom: Part
    variables: int

    def __post_init__(self) -> None:
        for part in (self.top, self.bottom):
            terms = min(part.terms, comb(part.degree + self.variables, self.variables))
            if part.degree > MAX_DEGREE:
                raise InputError(f"a degree of {part.degree}; at most {MAX_DEGREE}")
            if terms > MAX_TERMS:
                raise InputError(f"perhaps {terms} terms when written out; at most {MAX_TERMS}")
            if part.bits > MAX_BITS:
                raise InputError(f"numbers of perhaps {part.bits} bits; at most {MAX_BITS}")

    def __add__(self, other: "Size") -> "Size":
        if self.bottom == other.bottom == CONSTANT:
            return Size(self.top + other.top, CONSTANT, self.variables)
        top = self.top * other.bottom + other.top * self.bottom
        return Size(top, self.bottom * other.bottom, self.variables)

    __sub__ = __add__

    def __neg__(self) -> "Size":
        return self

    def __mul__(self, other: "Size") -> "Size":
        return Size(self.top * other.top, self.bottom * other.bottom, self.variables)

    def __truediv__(self, other: "Size") -> "Size":
        return Size(self.top * other.bottom, self.bottom * other.top, self.variables)

    def power(self, k: int) -> "Size":
        if k > MAX_DEGREE:
            raise InputError(f"an exponent of {k}; at most {MAX_DEGREE}")
        return Size(self.top.power(k, self.variables), self.bottom.power(k, self.variables), self.variables)


CONSTANT = Part(0, 1, 1)


def bounded(text: str, names: list[str]) -> None:
    """Return None if the expression stays small when it is written out.

    Raises
    ------
    InputError
        It would have too many terms, too high a degree, or too long numbers.
    """
    count = len(names)

    def number(x: Fraction) -> Size:
        return Size(Part(0, 1, x.numerator.bit_length() + x.denominator.bit_length()), CONSTANT, count)

    evaluated(text, {name: Size(Part(1, 1, 1), CONSTANT, count) for name in names}, number)
