"""Signs of polynomials in one variable on an interval, by Sturm's theorem: how many roots lie in it."""

from fractions import Fraction
from itertools import pairwise

from proofs_check.check.exact import Rejected
from proofs_check.check.polynomial import Polynomial

Coefficients = list[Fraction]  # ascending powers
End = Fraction | None  # None: infinite

MAX_DEGREE = 200


def keeps_sign(poly: Polynomial, low: End, high: End, sign: int) -> None:
    """Return None if sign * poly > 0 on the whole interval, its ends included; raise Rejected otherwise."""
    p = coefficients(poly)
    if not p:
        raise Rejected("the zero polynomial has no sign")
    chain = sturm_chain(p)
    left, right = signs(chain, low, -1), signs(chain, high, 1)
    if left[0] == 0 or right[0] == 0:
        raise Rejected("a root at an end of the interval")
    if variations(left) != variations(right):
        raise Rejected(f"{variations(left) - variations(right)} roots inside the interval")
    if left[0] != sign:
        raise Rejected("the polynomial has the other sign")


def coefficients(poly: Polynomial) -> Coefficients:
    """Return the coefficients of a polynomial in one variable."""
    found: Coefficients = []
    names = {name for monomial in poly.terms for name, _ in monomial}
    if len(names) > 1:
        raise Rejected("Sturm's theorem is about one variable")
    for monomial, c in poly.terms.items():
        degree = monomial[0][1] if monomial else 0
        if degree > MAX_DEGREE:
            raise Rejected(f"a degree beyond {MAX_DEGREE}")
        found += [Fraction(0)] * (degree + 1 - len(found))
        found[degree] += c
    return found


def sturm_chain(p: Coefficients) -> list[Coefficients]:
    """Return p, its derivative, and the negatives of the remainders, each scaled by a positive number."""
    chain = [p, [i * c for i, c in enumerate(p)][1:]]
    while chain[-1]:
        rest = list(chain[-2])
        while len(rest) >= len(chain[-1]):
            factor, shift = rest[-1] / chain[-1][-1], len(rest) - len(chain[-1])
            rest = [c - factor * chain[-1][i - shift] if i >= shift else c for i, c in enumerate(rest)][:-1]
            while rest and rest[-1] == 0:
                rest.pop()
        size = max((abs(c) for c in rest), default=Fraction(1))
        chain.append([-c / size for c in rest])
    return chain[:-1]


def signs(chain: list[Coefficients], at: End, end: int) -> list[int]:
    """Return the signs of the chain at a point, or at -infinity (end = -1) or infinity (end = 1)."""
    found = []
    for p in chain:
        if at is None:
            value = p[-1] * (end if len(p) % 2 == 0 else 1)
        else:
            value = Fraction(0)
            for c in reversed(p):
                value = value * at + c
        found.append((value > 0) - (value < 0))
    return found


def variations(found: list[int]) -> int:
    kept = [s for s in found if s]
    return sum(a != b for a, b in pairwise(kept))
