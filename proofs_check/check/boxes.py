"""Boxes, finite or not, and the coefficients of a polynomial on one: if all are >= 0, so is the polynomial there.

A finite side has the Bernstein basis, an infinite one the powers of the distance from its end.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, lcm, prod

from proofs_check.check.exact import Rejected
from proofs_check.check.polynomial import Polynomial
from proofs_check.check.sign import Domain


@dataclass(frozen=True)
class Side:
    """An interval; ``None`` is an infinite end; an open end does not belong to the domain."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = True
    high_open: bool = True

    def cut(self, at: Fraction) -> tuple["Side", "Side"]:
        if (self.low is not None and at <= self.low) or (self.high is not None and at >= self.high):
            raise Rejected("a box is cut outside of itself")
        return Side(self.low, at, self.low_open, False), Side(at, self.high, False, self.high_open)

    def basis(self, degree: int) -> list[list[int]]:
        """Return row e: x^e in the basis of this side, times a positive number that is the same for all e."""
        if self.low is None and self.high is None:
            raise Rejected("a side that is infinite at both ends must be cut")
        start = self.low if self.low is not None else self.high
        step = self.high - self.low if self.low is not None and self.high is not None else Fraction(1)
        turned = -1 if self.low is None else 1
        assert start is not None
        below = start.denominator * step.denominator
        a, b = int(start * below), turned * int(step * below)
        rows = []
        for e in range(degree + 1):
            powers = [comb(e, i) * a ** (e - i) * b**i * below ** (degree - e) for i in range(e + 1)]
            if self.low is not None and self.high is not None:
                ks = range(degree + 1)
                rows.append([sum(comb(degree - i, k - i) * p for i, p in enumerate(powers[: k + 1])) for k in ks])
            else:
                rows.append(powers + [0] * (degree - e))
        return rows

    def ends(self, degree: int) -> list[range]:
        """Return the sets of indices of which one must hold a positive coefficient for each end that is included."""
        first_open = self.low_open if self.low is not None else self.high_open
        last_open = self.high_open if self.low is not None and self.high is not None else True
        ends = [range(1)] * (not first_open) + [range(degree, degree + 1)] * (not last_open)
        return ends or [range(degree + 1)]


Box = dict[str, Side]

MAX_COEFFICIENTS = 100_000


def box_of(domain: Domain) -> Box:
    """Return the box that the constraints on single variables describe; others are not used."""
    box = {name: Side() for name in domain.names}
    for symbol, g in domain.meaning.items():
        names = {name for m in g.top.terms for name, _ in m}
        if len(names) != 1 or g.bottom or max(sum(e for _, e in m) for m in g.top.terms) != 1:
            continue
        (name,) = names
        slope = Fraction(g.top.terms[((name, 1),)])
        at, is_open, side = -Fraction(g.top.terms.get((), 0)) / slope, symbol in domain.strict, box[name]
        if slope > 0 and (side.low is None or (at, is_open) > (side.low, side.low_open)):
            box[name] = Side(at, side.high, is_open, side.high_open)
        elif slope < 0 and (side.high is None or (-at, is_open) > (-side.high, side.high_open)):
            box[name] = Side(side.low, at, side.low_open, is_open)
    return box


def shown(p: Polynomial, box: Box, *, strict: bool) -> bool:
    """Return whether the coefficients show p >= 0, or > 0, on the box without its open ends."""
    degrees, found = coefficients(p, box)
    if any(c < 0 for c in found.values()):
        return False
    if not strict:
        return True
    names = list(box)
    ends = [box[name].ends(n) for name, n in zip(names, degrees, strict=True) if n]
    kept = [i for i, n in enumerate(degrees) if n]
    positive = [[index[i] for i in kept] for index, c in found.items() if c > 0]
    return all(
        any(all(k in part for k, part in zip(index, corner, strict=True)) for index in positive)
        for corner in product(*ends)
    )


def coefficients(p: Polynomial, box: Box) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """Return the degrees, and the nonzero coefficients of p on a box, each times a positive number."""
    names = list(box)
    common = lcm(*(c.denominator for c in p.terms.values()))
    found: dict[tuple[int, ...], int] = {}
    for monomial, c in p.terms.items():
        powers = dict(monomial)
        found[tuple(powers.get(name, 0) for name in names)] = int(c * common)
    degrees = [max((index[i] for index in found), default=0) for i in range(len(names))]
    if prod(n + 1 for n in degrees) > MAX_COEFFICIENTS:
        raise Rejected(f"more than {MAX_COEFFICIENTS} coefficients on a box")
    for i, name in enumerate(names):
        if degrees[i] == 0:
            continue
        rows = box[name].basis(degrees[i])
        after: dict[tuple[int, ...], int] = {}
        for index, c in found.items():
            for k, x in enumerate(rows[index[i]]):
                if x:
                    key = (*index[:i], k, *index[i + 1 :])
                    after[key] = after.get(key, 0) + c * x
        found = {key: c for key, c in after.items() if c}
    return degrees, found


def described(box: Box) -> str:
    """Return the box as text."""
    return ", ".join(
        f"{'-inf' if s.low is None else s.low} <= {name} <= {'inf' if s.high is None else s.high}"
        for name, s in box.items()
    )
