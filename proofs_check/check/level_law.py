"""Kind *level-law*: the stationary law of a level chain with a boundary, by levels, with its mean and its decay.

problem     a level chain with ``boundary_local``, ``boundary_up``, ``boundary_down``
conclusion  ``levels``: [[[lower, upper] a phase] a level] from level 0 on, ``mean_level``: [lower, upper] of
            sum_n n P(level n), ``decay``: [lower, upper] of the spectral radius of R
proof       ``rates``: conclusion of kind *rates* without status, ``vectors``: its proof (with ``drift``),
            ``reference``: a phase of level 0, ``over``, ``lower``, ``upper``: integers for pi_0, pi_1 and
            T = sum over levels >= 1, scaled so that the reference has ``over``; ``sums``: {"over", "lower", "upper"}
            for s = (I - R)^-1 1, ``decay_lower``, ``decay_upper``: nonnegative and positive vectors

The stationary measure with x_ref = 1 solves a system x A = 0 without the column of the reference:
into level 0   pi_0 boundary_local + pi_1 boundary_down + T reset
into level 1   pi_0 boundary_up + pi_1 (local + up G)
sums           pi_1 + T R - T
Off the diagonal A >= 0 grows with G and R.  If hi > 0 makes every column negative with the upper bounds of G and R,
-A is an M-matrix and x <= hi; if lo makes every column nonnegative with the lower bounds, lo <= x.

Caps    1000 levels; 10^13 bits of products to get from level to level
"""

from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

from proofs_check.check.blocks import (
    Bounds,
    Integers,
    LevelBlocks,
    applied,
    boundary,
    integers,
    level_blocks,
    longest,
    plus,
    positive,
    product,
)
from proofs_check.check.exact import Rejected, fields, integer, items, vector, whole, wholes
from proofs_check.check.rate_matrix import check_rates
from proofs_check.check.recurrence import drift_proof

MAX_LEVELS = 1000
MAX_WORK = 10**13  # bits of products


class Edges:
    """The blocks of level 0 as integers, and the flows into the three groups of unknowns."""

    def __init__(self, problem: Any, blocks: LevelBlocks) -> None:
        own, rise, fall = boundary(problem, blocks)
        self.width, self.blocks = len(own), blocks
        reset = blocks.reset or [[Fraction(0)] * self.width for _ in range(blocks.size)]
        scale = lcm(blocks.scale, *(x.denominator for b in (own, rise, fall, reset) for row in b for x in row))
        self.own, self.rise, self.fall, self.reset = (integers(b, scale) for b in (own, rise, fall, reset))
        self.ratio = scale // blocks.scale

    def flows(self, x: list[int], G: Integers, over: int, R: Integers, own: int) -> list[int]:
        """Return x A column by column, each group of columns with a scale of its own."""
        a, b = self.width, self.width + self.blocks.size
        zero, one, total = x[:a], x[a:b], x[b:]
        inner = plus(self.blocks.local, over, product(self.blocks.up, G), 1)
        parts = [_row(zero, self.own), _row(one, self.fall), _row(total, self.reset)]
        first = [sum(v) for v in zip(*parts, strict=True)]
        pairs = zip(_row(zero, self.rise), _row(one, inner), strict=True)
        second = [v * over + w * self.ratio for v, w in pairs]
        third = [(u - t) * own + w for u, t, w in zip(one, total, _row(total, R), strict=True)]
        return first + second + third


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "levels mean_level decay")
    fields(proof, "rates vectors reference over lower upper sums decay_lower decay_upper")
    blocks = level_blocks(problem)
    edges = Edges(problem, blocks)
    fields(proof["rates"], "G R")
    fields(proof["vectors"], "drift t", "gamma u v V")
    drift_proof(blocks, "recurrent", proof["vectors"]["drift"])
    G, R = check_rates(blocks, proof["rates"], proof["vectors"], "recurrent")
    lower, upper = _measure(edges, proof, G, R)
    s = _sums(proof["sums"], R)
    _levels(conclusion["levels"], edges, (lower, upper), R)
    size = blocks.size
    least = Fraction(sum(map(mul, lower[-size:], s[0])), s[2] * _total(upper, size))
    most = Fraction(sum(map(mul, upper[-size:], s[1])), s[2] * _total(lower, size))
    low, high = vector(conclusion["mean_level"], 2)
    if low > least or high < most:
        raise Rejected("the mean level is not proved so closely")
    _decay(conclusion["decay"], proof, R)


def _measure(edges: Edges, proof: Any, G: Bounds, R: Bounds) -> tuple[list[int], list[int]]:
    """Return the bounds of pi_0, pi_1, T (reference = over), checked."""
    count = edges.width + 2 * edges.blocks.size
    upper, over = positive(proof["upper"], count), whole(proof["over"])
    lower = wholes(proof["lower"], count)
    at = integer(proof["reference"])
    if at >= edges.width or lower[at] != over or upper[at] != over or min(lower) < 0:
        raise Rejected("the reference must be a phase of level 0 with value 1 in both bounds")
    above, below = (
        edges.flows(upper, G.upper, G.over, R.upper, R.over),
        edges.flows(lower, G.lower, G.over, R.lower, R.over),
    )
    if any(x >= 0 for j, x in enumerate(above) if j != at):
        raise Rejected("the upper bound of the law is no super-solution")
    if any(x < 0 for j, x in enumerate(below) if j != at):
        raise Rejected("the lower bound of the law is no sub-solution")
    return lower, upper


def _sums(data: Any, R: Bounds) -> tuple[list[int], list[int], int]:
    """Return bounds of (I - R)^-1 1 and their denominator."""
    fields(data, "over lower upper")
    size, over = len(R.upper), whole(data["over"])
    upper = positive(data["upper"], size)
    lower = wholes(data["lower"], size)
    if over <= 0 or min(lower) < 0:
        raise Rejected("sums must be nonnegative over a positive denominator")
    if any((x - over) * R.over < y for x, y in zip(upper, applied(R.upper, upper), strict=True)):
        raise Rejected("the upper bound of (I - R)^-1 1 fails")
    if any((x - over) * R.over > y for x, y in zip(lower, applied(R.lower, lower), strict=True)):
        raise Rejected("the lower bound of (I - R)^-1 1 fails")
    return lower, upper, over


def _levels(says: Any, edges: Edges, measure: tuple[list[int], list[int]], R: Bounds) -> None:
    lower, upper = measure
    a, b = edges.width, edges.width + edges.blocks.size
    size, scale, work = edges.blocks.size, 1, 0
    if not 1 <= len(items(says)) <= MAX_LEVELS:
        raise Rejected(f"the law is stated for 1 to {MAX_LEVELS} levels")
    low, high, totals = lower[:a], upper[:a], (_total(lower, size), _total(upper, size))
    for n, level in enumerate(says):
        for j, pair in enumerate(items(level, len(low))):
            least, most = vector(pair, 2)
            ends = (least, scale * totals[1], low[j]), (most, scale * totals[0], high[j])
            below, above = (x.numerator * mass - y * x.denominator for x, mass, y in ends)
            if below > 0 or above < 0:
                raise Rejected(f"level {n}, phase {j} is not proved so closely")
        if n == 0:
            low, high = lower[a:b], upper[a:b]
        else:
            work += longest([high]) * longest(R.upper) * size**2
            if work > MAX_WORK:
                raise Rejected(f"levels stated too far out: more than {MAX_WORK} bits of products")
            low, high, scale = _row(low, R.lower), _row(high, R.upper), scale * R.over


def _total(x: list[int], size: int) -> int:
    """Return the mass of all levels: pi_0 and the sums over the levels above."""
    return sum(x) - sum(x[-2 * size : -size])


def _decay(says: Any, proof: Any, R: Bounds) -> None:
    low, high = vector(says, 2)
    v, w = positive(proof["decay_upper"], len(R.upper)), wholes(proof["decay_lower"], len(R.upper))
    if any(x * high.denominator > high.numerator * R.over * y for x, y in zip(applied(R.upper, v), v, strict=True)):
        raise Rejected("the upper bound of the decay rate fails")
    if min(w) < 0 or not any(w):
        raise Rejected("decay_lower must be nonnegative and not zero")
    if any(x * low.denominator < low.numerator * R.over * y for x, y in zip(applied(R.lower, w), w, strict=True)):
        raise Rejected("the lower bound of the decay rate fails")


def _row(x: list[int], block: Integers) -> list[int]:
    """Return x block."""
    return [sum(map(mul, x, column)) for column in zip(*block, strict=True)]
