"""Chains on pairs of nonnegative integers whose rates depend on where the pair lies between straight borders."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, lcm
from typing import Any

from flint import fmpq

from exactchains.chain import NotAGenerator
from exactchains.number import Rational, rational
from exactchains.truth import InputError

Point = tuple[int, int]
Jump = tuple[Point, fmpq]
Signs = tuple[int, ...]
MAX_JUMP = 5000  # in each coordinate, as in the checker
SAMPLE = 12  # a rule is compared on all pairs up to here


@dataclass(frozen=True)
class CountableChain:
    """Continuous-time chain on pairs (x1, x2) >= 0: the jumps out of a pair depend only on signs.

    ``borders`` are linear forms a x1 + b x2 with a > 0 > b; ``jumps`` gives, for the signs of (x1, x2, *borders), the
    jumps (dx1, dx2) with their rates.  A jump comes closer to x1 = 0, to x2 = 0 and to a border by at most one, so that
    it crosses none without landing on it; away from them it is up to 5000 long.
    """

    borders: tuple[Point, ...]
    jumps: Mapping[Signs, tuple[Jump, ...]]

    def __post_init__(self) -> None:
        for a, b in self.borders:
            if not (a > 0 > b and gcd(a, b) == 1):
                raise InputError(f"border ({a}, {b}): give a x1 + b x2 with a > 0 > b and no common divisor")
        rays = [(-b, a) for a, b in self.borders]
        if any(p * s <= q * r for (p, q), (r, s) in itertools.pairwise(rays)):
            raise InputError("borders: give them in order, from the one next to x2 = 0 to the one next to x1 = 0")
        missing = set(self.cells()) - set(self.jumps)
        if missing:
            raise InputError(f"jumps for the signs {min(missing)} are missing")
        for signs in self.cells():
            for jump, rate in self.jumps[signs]:
                self._check(signs, jump, rate)

    def _check(self, signs: Signs, jump: Point, rate: fmpq) -> None:
        where = f"jump {jump} at signs {signs}"
        if rate <= 0:
            raise NotAGenerator(f"{where}: rate {rate}; rates are > 0")
        if max(map(abs, jump)) > MAX_JUMP:
            raise InputError(f"{where}: jumps are at most {MAX_JUMP} long")
        forms = (a * jump[0] + b * jump[1] for a, b in ((1, 0), (0, 1), *self.borders))
        if jump == (0, 0) or any(sign * change < -1 for sign, change in zip(signs, forms, strict=True)):
            raise InputError(f"{where}: x1, x2 and each border form may come closer to 0 by at most one")
        if any(sign == 0 and step < 0 for sign, step in zip(signs, jump, strict=False)):
            raise NotAGenerator(f"{where} leads below zero")

    @classmethod
    def from_rule(
        cls, rule: Callable[[Point], Iterable[tuple[Point, Any]]], *, borders: Sequence[Point] = ()
    ) -> "CountableChain":
        """Build from ``rule(x)``, which yields (target, rate); it is compared on all pairs up to 12.

        Guarantee
        ---------
        The chain is the one with the rates found, continued to all pairs by the signs.

        Raises
        ------
        InputError
            Two pairs with the same signs have different jumps.
        """
        found: dict[Signs, tuple[Jump, ...]] = {}
        seen: dict[Signs, Point] = {}
        for x in ((i, j) for i in range(SAMPLE + 1) for j in range(SAMPLE + 1)):
            rates: dict[Point, fmpq] = {}
            for target, rate in rule(x):
                jump, amount = (target[0] - x[0], target[1] - x[1]), rational(rate, f"rate at {x}")
                if amount != 0:
                    rates[jump] = rates.get(jump, fmpq(0)) + amount
            signs, here = signs_of(x, borders), tuple(sorted(rates.items()))
            if found.setdefault(signs, here) != here:
                raise InputError(f"rule: {seen[signs]} and {x} lie between the same borders but jump differently")
            seen.setdefault(signs, x)
        return cls(tuple((a, b) for a, b in borders), found)

    def rays(self) -> list[Point]:
        """Return the directions of the borders in order, with the axes at the ends."""
        return [(1, 0), *((-b, a) for a, b in self.borders), (0, 1)]

    def cells(self) -> list[Signs]:
        """Return the signs of the origin, of the rays and of the cones between neighbouring rays."""
        rays = self.rays()
        inside = [(p + r, q + s) for (p, q), (r, s) in itertools.pairwise(rays)]
        return [signs_of(x, self.borders) for x in [(0, 0), *rays, *inside]]

    def transitions(self, x: Point) -> list[tuple[Point, fmpq]]:
        """Return the pairs reached from x in one jump, with their rates."""
        return [((x[0] + i, x[1] + j), rate) for (i, j), rate in self.jumps[signs_of(x, self.borders)]]


@dataclass(frozen=True)
class Reward:
    """A function of (x1, x2): constant + first x1 + second x2, with other values at finitely many pairs."""

    constant: Rational = 0
    first: Rational = 0
    second: Rational = 0
    exceptions: Mapping[Point, Rational] = field(default_factory=dict)

    @classmethod
    def total(cls) -> "Reward":
        return cls(0, 1, 1)

    @classmethod
    def total_at_least(cls, k: int) -> "Reward":
        """Return the indicator of x1 + x2 >= k."""
        return cls(1, 0, 0, {(i, j): 0 for i in range(k) for j in range(k - i)})

    def coefficients(self) -> tuple[fmpq, fmpq, fmpq]:
        return rational(self.constant, "constant"), rational(self.first, "first"), rational(self.second, "second")

    def unit(self) -> int:
        """Return the common denominator of all values."""
        numbers = [*self.coefficients(), *(rational(x, "exception") for x in self.exceptions.values())]
        return lcm(*(int(x.q) for x in numbers))

    def integers(self, unit: int) -> Callable[[Point], int]:
        """Return the function times ``unit``, over pairs."""
        a, b, c = (int((x * unit).p) for x in self.coefficients())
        special = {pair: int((rational(x, "exception") * unit).p) for pair, x in self.exceptions.items()}
        return lambda x: special[x] if x in special else a + b * x[0] + c * x[1]


def signs_of(x: Point, borders: Sequence[Point]) -> Signs:
    """Return the signs of x1, x2 and the border forms."""
    return tuple((v > 0) - (v < 0) for v in (x[0], x[1], *(a * x[0] + b * x[1] for a, b in borders)))


def shortest_queue(arrival: Any, service: tuple[Any, Any]) -> CountableChain:
    """Return two queues with service rates of their own; a job joins the shorter one, ties are split in halves."""
    lam, (first, second) = rational(arrival, "arrival"), (rational(x, "service") for x in service)

    def rule(x: Point) -> Iterable[tuple[Point, fmpq]]:
        i, j = x
        if i:
            yield (i - 1, j), first
        if j:
            yield (i, j - 1), second
        if i <= j:
            yield (i + 1, j), lam if i < j else lam / 2
        if j <= i:
            yield (i, j + 1), lam if j < i else lam / 2

    return CountableChain.from_rule(rule, borders=((1, -1),))
