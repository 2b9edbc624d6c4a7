"""Piecewise quadratic functions on the cones of a countable chain, and where affine functions are largest on them.

On a cone the generator Q turns such a function into an affine one, exactly: a jump crosses no border without landing
on it.  What must hold at infinitely many pairs is then a finite list of conditions at vertices and along rays.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from exactchains.countable_chain import CountableChain, Point

Vector = list[Fraction]
SUM = (1, 1)


@dataclass(frozen=True)
class Side:
    """Pairs with a x1 + b x2 <= bound lie inside a box; ``step`` is the largest change of the form in a jump."""

    form: Point
    bound: int
    step: int

    def value(self, x: Point) -> int:
        return self.form[0] * x[0] + self.form[1] * x[1]


def basis(x: Point, borders: Sequence[Point]) -> list[int]:
    """Return 1, x1, x2, x1^2, x1 x2, x2^2 and, for every border form, its positive part and the square of it."""
    i, j = x
    parts = [max(a * i + b * j, 0) for a, b in borders]
    return [1, i, j, i * i, i * j, j * j, *parts, *(p * p for p in parts)]


def drift(chain: CountableChain, x: Point) -> Vector:
    """Return Q applied to every function of the basis, at x."""
    here = basis(x, chain.borders)
    total = [Fraction(0)] * len(here)
    for target, rate in chain.transitions(x):
        amount = Fraction(int(rate.p), int(rate.q))
        for k, value in enumerate(basis(target, chain.borders)):
            if value != here[k]:
                total[k] += amount * (value - here[k])
    return total


@dataclass(frozen=True)
class Condition:
    """A vertex (``at_ray`` false) where values count, or a direction along which slopes count."""

    at_ray: bool
    row: Vector  # coefficients of Q basis, at the vertex or as slope along the direction
    place: tuple[Fraction, Fraction]  # the vertex or the direction


def conditions(chain: CountableChain, sides: Sequence[Side]) -> list[Condition]:
    """Return the vertices and directions of the pairs that lie beyond one of the sides, cell by cell."""
    rays, found = chain.rays(), []
    for ray in rays:
        one, two = drift(chain, ray), drift(chain, _times(ray, 2))
        slope = [b - a for a, b in zip(one, two, strict=True)]
        for side in sides:
            rise = side.value(ray)
            if rise > 0:
                t = max(1, -(-(side.bound + side.step + 1) // rise))
                value = [a + (t - 1) * s for a, s in zip(one, slope, strict=True)]
                found += [Condition(False, value, _pair(ray, t)), Condition(True, slope, _pair(ray, 1))]
    for first, second in itertools.pairwise(rays):
        found += _cone(chain, first, second, sides)
    return found


def _cone(chain: CountableChain, first: Point, second: Point, sides: Sequence[Side]) -> list[Condition]:
    """Conditions of the open cone between two rays; x = a first + b second with a, b >= 1 / determinant."""
    base = (first[0] + second[0], first[1] + second[1])
    start = drift(chain, base)
    slopes = [
        [w - v for v, w in zip(start, drift(chain, (base[0] + ray[0], base[1] + ray[1])), strict=True)]
        for ray in (first, second)
    ]
    least = Fraction(1, first[0] * second[1] - first[1] * second[0])
    found = []
    for side in sides:
        rises = (side.value(first), side.value(second))
        for kind, a, b in corners(rises, Fraction(side.bound + side.step + 1), least):
            place = (a * first[0] + b * second[0], a * first[1] + b * second[1])
            if kind == "vertex":
                row = [v + (a - 1) * s + (b - 1) * t for v, s, t in zip(start, *slopes, strict=True)]
            else:
                row = [a * s + b * t for s, t in zip(*slopes, strict=True)]
            found.append(Condition(kind == "ray", row, place))
    return found


def corners(rises: tuple[int, int], bound: Fraction, least: Fraction) -> list[tuple[str, Fraction, Fraction]]:
    """Return vertices and extreme directions of {a, b >= least, a rises[0] + b rises[1] >= bound}, bound > 0."""
    one, zero = Fraction(1), Fraction(0)
    p, q = rises
    if p <= 0 and q <= 0:
        return []
    if least * (p + q) >= bound:
        found = [("vertex", least, least)]
    else:
        found = []
        if q > 0:
            found.append(("vertex", least, max(least, (bound - least * p) / q)))
        if p > 0:
            found.append(("vertex", max(least, (bound - least * q) / p), least))
    found.append(("ray", one, zero) if p >= 0 else ("ray", Fraction(q), Fraction(-p)))
    found.append(("ray", zero, one) if q >= 0 else ("ray", Fraction(-q), Fraction(p)))
    return found


def _times(x: Point, t: int) -> Point:
    return (x[0] * t, x[1] * t)


def _pair(x: Point, t: int) -> tuple[Fraction, Fraction]:
    return (Fraction(x[0] * t), Fraction(x[1] * t))
