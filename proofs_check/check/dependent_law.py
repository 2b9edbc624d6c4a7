"""Kind *dependent-law*: every stationary law of levels whose rates grow, constant + n slope on level n, lies in bounds.

problem     ``constant``, ``slope``: {"up", "local", "down"}, square blocks of nonnegative rates, zero on the diagonal
            of ``local``; level 0 has no way down
conclusion  ``levels``: [[[lower, upper] a phase] a level] from level 0 on, ``mean_level``: [lower, upper]
proof       ``last`` = N: the levels watched; ``ratio`` r > 1, ``weights`` w > 0, ``eta`` > 0; ``rows``: for every phase
            j in which level N can be entered from above {"phase": j, "over": s, "lower", "upper"}, integers a level

above       (r up_n + local_n + down_n / r) w <= -eta w for n = N + 1, and no entry of the left side grows with n: so
            for all n > N.  With V = r^(n-N-1) w the integral of V over an excursion above N has a mean of at most
            V(start) / eta: the sum over n > N of pi_n r^(n-N-1) 1 is at most pi_N up_N w / (eta min w), and
            n <= r^(n-N-1) (N + 1) (r / (r - 1))^2
inside      T is the generator of levels 0..N killed when it leaves upwards.  From a return to (N, j) until the next
            climb the mean times are x = e_j (-T)^-1: the law given levels 0..N is a mixture of the x, normalised.
            hi > 0 with hi (-T) > 0 makes -T an M-matrix; then lo (-T) <= s e_j <= hi (-T) gives lo <= s x <= hi

Caps    10,000 levels; 10,000,000 for levels times phases of return times phases squared
"""

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

from proofs_check.check.blocks import Integers, applied, integers
from proofs_check.check.exact import Rejected, fields, integer, items, matrix, rational, vector, whole, wholes

NAMES = ("up", "local", "down")
MAX_LAST = 10_000
MAX_WORK = 10_000_000  # levels times phases of return times phases squared
Pair = tuple[Fraction, Fraction]
Row = tuple[list[list[int]], list[list[int]]]


class Rates:
    """The rates of every level as integers over ``scale``."""

    def __init__(self, problem: Any) -> None:
        fields(problem, "constant slope")
        parts = []
        for part in ("constant", "slope"):
            fields(problem[part], "up local down")
            self.size = len(items(problem["constant"]["up"]))
            blocks = [matrix(problem[part][name], self.size, self.size) for name in NAMES]
            if not self.size or any(x < 0 for block in blocks for row in block for x in row):
                raise Rejected("rates are at least 0, of at least one phase")
            if any(blocks[1][i][i] for i in range(self.size)):
                raise Rejected("the diagonal of local follows from the row sums; it is written 0")
            parts.append(blocks)
        self.scale = lcm(*(x.denominator for blocks in parts for block in blocks for row in block for x in row))
        self.parts = [[integers(block, self.scale) for block in blocks] for blocks in parts]

    def block(self, k: int, n: int) -> Integers:
        """Return up (0), local (1) or down (2) of level n, without a diagonal."""
        if k == 2 and n == 0:
            return [[0] * self.size for _ in range(self.size)]
        constant, slope = self.parts[0][k], self.parts[1][k]
        return [[x + n * y for x, y in zip(*rows, strict=True)] for rows in zip(constant, slope, strict=True)]

    def pressed(self, n: int, r: Fraction, w: list[Fraction]) -> list[Fraction]:
        """Return (r up + local + down / r) w on level n, times scale, with the diagonal."""
        blocks = [self.block(k, n) for k in range(3)]
        factors = (r, Fraction(1), 1 / r)
        return [
            sum(
                (f * x * v for f, b in zip(factors, blocks, strict=True) for x, v in zip(b[i], w, strict=True)),
                Fraction(0),
            )
            - sum(map(sum, (b[i] for b in blocks))) * w[i]
            for i in range(self.size)
        ]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "levels mean_level")
    fields(proof, "last ratio weights eta rows")
    rates, last = Rates(problem), integer(proof["last"])
    if not 0 <= last <= MAX_LAST:
        raise Rejected(f"0 to {MAX_LAST} levels are watched")
    ratio, eta = rational(proof["ratio"]), rational(proof["eta"])
    weights = vector(proof["weights"], rates.size)
    _above(rates, last, (ratio, eta, weights))
    rows = _rows(rates, last, proof["rows"])
    sums = [tuple(sum(map(sum, end)) for end in row) for row in rows]
    price = [sum(map(mul, row, weights), Fraction(0)) / rates.scale for row in rates.block(0, last)]
    climb = max(
        sum(map(mul, high[last], price), Fraction(0)) / low for (_, high), (low, _) in zip(rows, sums, strict=True)
    )
    above = climb / (eta * min(weights))
    inside = 1 - min(above, Fraction(1))
    says = items(conclusion["levels"])
    if not 1 <= len(says) <= last + 1:
        raise Rejected("the law is stated for levels that are watched")
    for n, level in enumerate(says):
        for i, pair in enumerate(items(level, rates.size)):
            ends = [
                (Fraction(low[n][i], s[1]), Fraction(high[n][i], s[0]))
                for (low, high), s in zip(rows, sums, strict=True)
            ]
            _within(pair, min(x for x, _ in ends) * inside, max(y for _, y in ends), f"level {n}, phase {i}")
    means = [
        (Fraction(_mean(low), s[1]), Fraction(_mean(high), s[0])) for (low, high), s in zip(rows, sums, strict=True)
    ]
    far = (last + 1) * (ratio / (ratio - 1)) ** 2
    _within(
        conclusion["mean_level"],
        min(x for x, _ in means) * inside,
        max(y for _, y in means) + above * far,
        "the mean level",
    )


def _above(rates: Rates, last: int, tail: tuple[Fraction, Fraction, list[Fraction]]) -> None:
    ratio, eta, weights = tail
    if ratio <= 1 or eta <= 0 or min(weights) <= 0:
        raise Rejected("needs ratio > 1, eta > 0 and positive weights")
    first, second = (rates.pressed(n, ratio, weights) for n in (last + 1, last + 2))
    if any(x > -eta * rates.scale * w or y > x for x, y, w in zip(first, second, weights, strict=True)):
        raise Rejected("the levels above are not left downwards fast enough")


def _rows(rates: Rates, last: int, data: Any) -> list[Row]:
    """Return the bounds for every phase of return, checked."""
    entered = [j for j, column in enumerate(zip(*rates.block(2, last + 1), strict=True)) if any(column)]
    given = items(data, len(entered))
    if not given:
        raise Rejected("the last level is never entered from above")
    if (last + 1) * len(given) * rates.size**2 > MAX_WORK:
        raise Rejected(f"levels times phases of return times phases squared exceed {MAX_WORK}")
    found, targets = [], []
    for j, row in zip(entered, given, strict=True):
        fields(row, "phase over lower upper")
        over = whole(row["over"]) * rates.scale
        if integer(row["phase"]) != j or over <= 0:
            raise Rejected(f"phase {j} of return needs its row, over a positive number")
        low, high = ([wholes(x, rates.size) for x in items(row[end], last + 1)] for end in ("lower", "upper"))
        if min(map(min, low)) < 0 or min(map(min, high)) <= 0 or not any(map(any, low)):
            raise Rejected("bounds must be nonnegative, the upper ones positive")
        found.append((low, high))
        targets.append([over * (i == j) for i in range(rates.size)])
    for n, around in enumerate(_neighbours(rates, last)):
        for (low, high), end in zip(found, targets, strict=True):
            target = end if n == last else [0] * rates.size
            above, below = (_flow(x, n, around) for x in (high, low))
            if any(x <= 0 or x < y for x, y in zip(above, target, strict=True)):
                raise Rejected(f"the upper bound is no super-solution on level {n}")
            if any(x > y for x, y in zip(below, target, strict=True)):
                raise Rejected(f"the lower bound is no sub-solution on level {n}")
    return found


def _neighbours(rates: Rates, last: int) -> Iterator[tuple[list[int], list[tuple[int, Integers]]]]:
    """Yield, level by level, the rates of leaving and the transposed blocks that lead there, with their levels."""
    here = [rates.block(k, 0) for k in range(3)]
    before: list[Integers] = []
    for n in range(last + 1):
        after = [rates.block(k, n + 1) for k in range(3)]
        blocks = [(n - 1, before[0])] if before else []
        blocks += [(n, here[1]), *([(n + 1, after[2])] if n < last else [])]
        leaving = [sum(map(sum, rows)) for rows in zip(*here, strict=True)]
        yield leaving, [(m, [list(column) for column in zip(*block, strict=True)]) for m, block in blocks]
        before, here = here, after


def _flow(x: list[list[int]], n: int, around: tuple[list[int], list[tuple[int, Integers]]]) -> list[int]:
    """Return x (-T) on level n."""
    leaving, blocks = around
    inflows = [applied(columns, x[m]) for m, columns in blocks]
    return [v * q - sum(parts) for v, q, *parts in zip(x[n], leaving, *inflows, strict=True)]


def _within(pair: Any, least: Fraction, most: Fraction, what: str) -> None:
    low, high = vector(pair, 2)
    if low > least or high < most:
        raise Rejected(f"{what} is not proved so closely")


def _mean(levels: list[list[int]]) -> int:
    return sum(n * sum(level) for n, level in enumerate(levels))
