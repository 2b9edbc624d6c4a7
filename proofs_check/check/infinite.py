"""Kind *poisson*: the stationary mean of a chain on pairs of nonnegative integers lies between two numbers.

problem     ``chain``: {"borders": [[a, b], ..], "cells": [{"signs", "jumps": [[dx1, dx2, rate], ..]}, ..]}: the jumps
            out of a pair depend on the signs of (x1, x2, a x1 + b x2, ..);
            ``reward``: {"linear": [constant, first, second], "exceptions": [[x1, x2, value], ..]}
conclusion  ``mean``: [lower, upper]: a stationary law exists, and every one has its mean reward between these
proof       ``lyapunov``: {"theta", "delta"}; ``lower``, ``upper``: {"sides": [[a, b, bound], ..], "theta", "over",
            "values"}: V is values / over on the pairs inside all sides, in lexicographic order, and outside the sum of
            ``theta`` times 1, x1, x2, x1^2, x1 x2, x2^2, the positive parts of the border forms and their squares

mean        Q V + f <= upper everywhere (>= lower): pairs inside and in the shell, from which a jump leads inside, one
            by one; all others lie beyond some side in a cell: an affine function on a polyhedron, bounded by its
            vertices and extreme directions
premise     V0 >= kappa s^2 - beta0 with s = x1 + x2, kappa > 0, and Q V0 <= -delta s + C.  With U = (V0 + beta0)^2
            and bounded rates, Q U <= -kappa delta s^3 + C', so every stationary law has a finite mean of s^3, which
            dominates |V|; then the mean of Q V is 0, and a law exists by Foster's criterion with V0
Caps        20 sides with bounds up to 5000; no more pairs inside and in the shell than values and 400,000 more, and
            50,000,000 for pairs times (1 + jumps out of one) times (3 + borders)
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, rational, vector, whole, wholes
from proofs_check.check.walk import MAX_REACH, Pair, Walk, pair, polyhedron

MAX_SIDES, MAX_SHELL, MAX_WORK = 20, 400_000, 50_000_000


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "chain reward")
    fields(conclusion, "mean")
    fields(proof, "lyapunov lower upper")
    walk, reward = Walk(problem["chain"]), Reward(problem["reward"])
    _premise(walk, proof["lyapunov"])
    mean = vector(conclusion["mean"], 2)
    if mean[0] > mean[1]:
        raise Rejected("the lower bound exceeds the upper one")
    for name, sense, bound in zip(("lower", "upper"), (-1, 1), mean, strict=True):
        Side(walk, reward, proof[name], sense).proves(bound)


class Reward:
    """constant + first x1 + second x2, with exceptions."""

    def __init__(self, data: Any) -> None:
        fields(data, "linear exceptions")
        self.constant, self.first, self.second = vector(data["linear"], 3)
        self.special: dict[Pair, Fraction] = {}
        for x in items(data["exceptions"]):
            self.special[pair(items(x, 3)[:2])] = rational(x[2])
        if len(self.special) != len(data["exceptions"]):
            raise Rejected("a pair is exceptional twice")

    def __call__(self, x: Pair) -> Fraction:
        if x in self.special:
            return self.special[x]
        return self.constant + self.first * x[0] + self.second * x[1]


class Side:
    """One inequality Q V + f <= c (sense 1) or >= c (sense -1), everywhere."""

    def __init__(self, walk: Walk, reward: Reward, data: Any, sense: int) -> None:
        fields(data, "sides theta over values")
        self.walk, self.reward, self.sense, self.over = walk, reward, sense, whole(data["over"])
        self.theta = vector(data["theta"], 6 + 2 * len(walk.borders))
        if self.over <= 0 or any((t * self.over).denominator != 1 for t in self.theta):
            raise Rejected("theta must be integers over ``over``")
        self.tail = [(t * self.over).numerator for t in self.theta]
        # step: no jump changes the form by more, so that pairs from which a jump leads inside are within the shell
        jumps = [(dx, dy) for listed in walk.jumps.values() for dx, dy, _ in listed]
        self.sides = []
        for side in items(data["sides"]):
            a, b = pair(items(side, 3)[:2])
            bound = side[2] if isinstance(side[2], int) and not isinstance(side[2], bool) else -1
            if not 0 <= bound <= MAX_REACH:
                raise Rejected("a side has a bound from 0 to 5000")
            self.sides.append((a, b, bound, max([1, *(abs(a * dx + b * dy) for dx, dy in jumps)])))
        inside, self.shell = self._pairs(_room(walk, data))
        values = wholes(data["values"], len(inside))
        self.V = dict(zip(inside, values, strict=True))
        if not set(reward.special) <= {*self.V, *self.shell}:
            raise Rejected("the reward is exceptional beyond the box")

    def _pairs(self, room: int = MAX_SHELL) -> tuple[list[Pair], list[Pair]]:
        reach = min((bound + step for a, b, bound, step in self.sides if (a, b) == (1, 1)), default=None)
        if reach is None:
            raise Rejected("one side must bound x1 + x2")
        inside: list[Pair] = []
        shell: list[Pair] = []
        for i in range(reach + 1):
            low, high = 0, reach - i
            for a, b, bound, step in self.sides:  # a i + b j <= bound + step
                free = bound + step - a * i
                if b > 0:
                    high = min(high, free // b)
                elif b < 0:
                    low = max(low, -(free // -b))
                elif free < 0:
                    high = -1
            for j in range(low, high + 1):
                within = all(a * i + b * j <= bound for a, b, bound, _ in self.sides)
                (inside if within else shell).append((i, j))
            if len(inside) + len(shell) > room:
                raise Rejected(f"more than {room} pairs inside the sides and around them")
        return inside, shell

    def value(self, x: Pair) -> int:
        """Return V(x) times ``over``."""
        found = self.V.get(x)
        return sum(t * v for t, v in zip(self.tail, self.walk.basis(x), strict=True)) if found is None else found

    def proves(self, bound: Fraction) -> None:
        walk, whole_rates = self.walk, {}
        for signs, jumps in walk.jumps.items():
            whole_rates[signs] = [(dx, dy, (rate * walk.scale).numerator) for dx, dy, rate in jumps]
        unit = walk.scale * self.over
        for x in [*self.V, *self.shell]:
            here, i, j = self.value(x), *x
            total = sum(q * (self.value((i + dx, j + dy)) - here) for dx, dy, q in whole_rates[walk.signs(x)])
            if self.sense * ((bound - self.reward(x)) * unit - total) < 0:
                raise Rejected(f"Q V + f exceeds the bound at {x}")
        for start, directions in walk.affine():
            for a, b, limit, step in self.sides:
                self._beyond(start, directions, (a, b), (limit + step + 1, bound))

    def _beyond(self, start: Pair, directions: list[Pair], form: Pair, limits: tuple[int, Fraction]) -> None:
        """Check the pairs of one cell with form(x) >= limits[0]."""
        rises = [form[0] * x + form[1] * y for x, y in directions]
        base = self._image(start)
        slopes = [self._image((start[0] + x, start[1] + y)) - base for x, y in directions]
        lines = [self.reward.first * x + self.reward.second * y for x, y in directions]
        slopes = [s + f for s, f in zip(slopes, lines, strict=True)]
        base += self.reward.constant + self.reward.first * start[0] + self.reward.second * start[1]
        corners, extremes = polyhedron(directions, rises, Fraction(limits[0]))
        for weights in extremes:
            if self.sense * sum(w * s for w, s in zip(weights, slopes, strict=True)) > 0:
                raise Rejected(f"Q V + f grows beyond the side {form}")
        for weights in corners:
            value = base + sum(((w - 1) * s for w, s in zip(weights, slopes, strict=True)), Fraction(0))
            if self.sense * (value - limits[1]) > 0:
                raise Rejected(f"Q V + f exceeds the bound beyond the side {form}")

    def _image(self, x: Pair) -> Fraction:
        """Return Q of the outer function at x."""
        return self.walk.drift(self.theta, x)


def _premise(walk: Walk, data: Any) -> None:
    """V0 grows like s^2 and has drift <= -delta s up to a constant."""
    fields(data, "theta delta")
    theta, delta = vector(data["theta"], 6 + 2 * len(walk.borders)), rational(data["delta"])
    if delta <= 0:
        raise Rejected("delta must be positive")
    for start, directions in walk.affine():
        base = walk.drift(theta, start)
        for x, y in directions:
            if walk.drift(theta, (start[0] + x, start[1] + y)) - base > -delta * (x + y):
                raise Rejected("Q V0 does not fall along every ray")
    form = [Fraction(0)] * 3 + theta[3:6] + [Fraction(0)] * len(walk.borders) + theta[6 + len(walk.borders) :]

    def square(x: Pair) -> Fraction:
        return sum((t * v for t, v in zip(form, walk.basis(x), strict=True)), Fraction(0))

    for first, second in walk.cones:
        u, w = square(first), square(second)
        polar = (square((first[0] + second[0], first[1] + second[1])) - u - w) / 2
        if u <= 0 or w <= 0 or (polar < 0 and polar * polar >= u * w):
            raise Rejected("V0 does not grow like the square of x1 + x2")


def _room(walk: Walk, data: Any) -> int:
    """Return how many pairs the inside, which has a value each, and the shell of a side may have together."""
    if len(items(data["sides"])) > MAX_SIDES:
        raise Rejected(f"more than {MAX_SIDES} sides")
    effort = (1 + max(map(len, walk.jumps.values()))) * (3 + len(walk.borders))
    return min(len(items(data["values"])) + MAX_SHELL, MAX_WORK // effort)
