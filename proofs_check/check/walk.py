"""Chains on pairs of nonnegative integers whose jumps depend on the signs of x1, x2 and of border forms a x1 + b x2.

A jump brings x1, x2 and each border form closer to 0 by at most one, hence crosses no border without landing on it: Q
maps a sum of 1, x1, x2, x1^2, x1 x2, x2^2, the positive parts of the border forms and their squares to a function that
is affine on every ray and on every open cone between rays.
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, rational

Pair = tuple[int, int]
Row = list[Fraction]
MAX_REACH = 5000


class Walk:
    """The chain, checked; rays are the directions of its borders with the axes at the ends."""

    def __init__(self, data: Any) -> None:
        fields(data, "borders cells")
        self.borders = [pair(x) for x in items(data["borders"])]
        if any(not a > 0 > b or gcd(a, b) != 1 for a, b in self.borders):
            raise Rejected("a border is a x1 + b x2 with a > 0 > b and no common divisor")
        self.rays: list[Pair] = [(1, 0), *((-b, a) for a, b in self.borders), (0, 1)]
        self.cones = list(itertools.pairwise(self.rays))
        if any(p * s <= q * r for (p, q), (r, s) in self.cones):
            raise Rejected("borders must be in order")
        self.jumps: dict[tuple[int, ...], list[tuple[int, int, Fraction]]] = {}
        for cell in items(data["cells"]):
            fields(cell, "signs jumps")
            signs = tuple(items(cell["signs"], 2 + len(self.borders)))
            if signs in self.jumps:
                raise Rejected("a cell occurs twice")
            self.jumps[signs] = [self._jump(signs, x) for x in items(cell["jumps"])]
        inside = [(p + r, q + s) for (p, q), (r, s) in self.cones]
        if {self.signs(x) for x in [(0, 0), *self.rays, *inside]} != set(self.jumps):
            raise Rejected("the cells are not those of the borders")
        self.scale = lcm(*(q.denominator for jumps in self.jumps.values() for _, _, q in jumps))

    def _jump(self, signs: tuple[int, ...], data: Any) -> tuple[int, int, Fraction]:
        dx, dy, rate = *pair(items(data, 3)[:2]), rational(data[2])
        forms = [dx, dy, *(a * dx + b * dy for a, b in self.borders)]
        if rate <= 0 or (dx, dy) == (0, 0) or any(s * v < -1 for s, v in zip(signs, forms, strict=True)):
            raise Rejected("a jump has a positive rate and brings each form closer to 0 by at most one")
        if (signs[0] == 0 and dx < 0) or (signs[1] == 0 and dy < 0):
            raise Rejected("a jump leads below zero")
        return dx, dy, rate

    def signs(self, x: Pair) -> tuple[int, ...]:
        forms = (x[0], x[1], *(a * x[0] + b * x[1] for a, b in self.borders))
        return tuple((v > 0) - (v < 0) for v in forms)

    def basis(self, x: Pair) -> list[int]:
        i, j = x
        parts = [max(a * i + b * j, 0) for a, b in self.borders]
        return [1, i, j, i * i, i * j, j * j, *parts, *(p * p for p in parts)]

    def drift(self, theta: Row, x: Pair) -> Fraction:
        """Return Q of the function theta . basis at x."""
        here, total = self.basis(x), Fraction(0)
        for dx, dy, rate in self.jumps[self.signs(x)]:
            there = self.basis((x[0] + dx, x[1] + dy))
            total += rate * sum(
                (t * (v - w) for t, v, w in zip(theta, there, here, strict=True) if v != w), Fraction(0)
            )
        return total

    def affine(self) -> Iterator[tuple[Pair, list[Pair]]]:
        """Yield a first pair and the directions of every ray and every open cone."""
        for ray in self.rays:
            yield ray, [ray]
        for first, second in self.cones:
            yield (first[0] + second[0], first[1] + second[1]), [first, second]


def polyhedron(directions: list[Pair], rises: list[int], bound: Fraction) -> tuple[list[Row], list[Row]]:
    """Return vertices and extreme directions, as weights of the directions, of the pairs with form >= bound > 0.

    On a ray the weight is an integer >= 1; in an open cone the border forms are integers >= 1, so that both weights
    are at least 1 / determinant.
    """
    if len(directions) == 1:
        if rises[0] <= 0:
            return [], []
        return [[Fraction(max(1, -(-bound // rises[0])))]], [[Fraction(1)]]
    (a, b), (c, d) = directions
    least, (p, q) = Fraction(1, a * d - b * c), rises
    if p <= 0 and q <= 0:
        return [], []
    corners = []
    if least * (p + q) >= bound:
        corners.append([least, least])
        if q < 0:
            corners.append([least, (bound - least * p) / q])
        if p < 0:
            corners.append([(bound - least * q) / p, least])
    else:
        if q > 0:
            corners.append([least, max(least, (bound - least * p) / q)])
        if p > 0:
            corners.append([max(least, (bound - least * q) / p), least])
    one = Fraction(1)
    first = [one, 0 * one] if p >= 0 else [one * q, -one * p]
    second = [0 * one, one] if q >= 0 else [-one * q, one * p]
    return corners, [first, second]


def pair(data: Any) -> Pair:
    x, y = items(data, 2)
    if any(not isinstance(v, int) or isinstance(v, bool) or abs(v) > MAX_REACH for v in (x, y)):
        raise Rejected("a pair holds two small integers")
    return x, y
