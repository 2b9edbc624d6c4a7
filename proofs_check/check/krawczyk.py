"""Equilibria of a rule that samples d servers, in the limit of many: a Newton-like map of a box contracts.

Problem     load; d; pools: [fraction, speed, share of the sample] each; sight [base, reach]; table: for b = 0..base
            entries [code, others, coefficient].  Code i (reach + 1) + r is a server of pool i, r jobs above the least
            load L of the sample (r = reach: or more), b = min(L, base); the coefficient is the chance that the job
            joins it when the other d - 1 are ``others``, summed over the orders of the sample.
Conclusion  box: integers m[j][k] (``levels``) and r[j][k] (``radius``), k = 0..K, in units 2^-scale, and ``ratio``;
            bounds of mean_queue and of tails.  Exactly one equilibrium lies in the box.
Proof       inverse [bits, rows]: C in units 2^-bits.

p_{j,k}: chance that a sampled server is of pool j with k jobs; w_j: share; c_j = load w_j / (fraction speed).  In
equilibrium
    sum_k p_{j,k} = w_j,   p_{j,k+1} = c_j p_{j,k} Psi_{j,k}(p),   Psi the table's polynomial.
Box: p = m (1 + u), |u| <= r, up to K; 0 <= p_{j,K+i} <= b_j ratio^i beyond, b_j = m (1 + r) at K.  The map u - C h(u),
h these equations up to K over m_{j,k+1} and w_j, and p_{j,k+1} = c_j p_{j,k} Psi beyond, takes the box into itself and
contracts in the norm of u / r and p / (b ratio^i).  Beyond K, Psi is at most its part of samples with L < K - reach
plus d (mass from K - reach on)^(d-1), as a job joins one server of its sample; with u it changes by (d-1) max r of
itself, with all beyond by d (d-1) (mass beyond) (all mass)^(d-2).

Caps    300 unknowns, scale d <= 100,000, 2 * 10^9 bits of products; and those of the table
"""

from fractions import Fraction
from operator import mul
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational, vector, wholes
from proofs_check.check.sampled_rule import Rows, Rule, short

SLOPE = 64  # bits of slopes
MAX_WORK = 2 * 10**9  # bits of all products


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    """Accept a box with exactly one equilibrium, and bounds of its mean queue and tails."""
    rule = Rule(problem)
    stated = fields(conclusion, "box", "mean_queue tail")
    box = fields(stated["box"], "scale levels radius ratio")
    E, ratio, d, reach = integer(box["scale"], 1), short(box["ratio"]), rule.d, rule.reach
    m, r = (list(map(wholes, items(box[name], len(rule.pools)))) for name in ("levels", "radius"))
    size = len(m[0])
    if any(len(row) != size for row in m + r) or not reach < size <= 300 // len(m) or not 0 < ratio < 1:
        raise Rejected("a box has as many levels in each pool, more than reach, 300 in all, and a ratio in (0, 1)")
    if E * d > 100_000 or (rule.length * size + (len(m) * size) ** 2) * E * d > MAX_WORK:
        raise Rejected("numbers or terms out of bounds")
    if any(not 0 < x <= 1 << E for row in m for x in row) or any(not 0 < x < 1 << E for row in r for x in row):
        raise Rejected("levels are in (0, 1], radii in (0, 1)")
    wide = [[_up(x * y, 1 << E) for x, y in zip(*q, strict=True)] for q in zip(m, r, strict=True)]
    lo, hi = ([[x + s * y for x, y in zip(*q, strict=True)] for q in zip(m, wide, strict=True)] for s in (-1, 1))
    tails = [[row[-1] * ratio ** (i + 1) / (1 - ratio) for i in range(reach + 1)] for row in hi]
    beyond = [[_up(x.numerator, x.denominator) for x in row] for row in tails]
    _head(rule, E, (m, lo, hi), beyond, [x for row in r for x in row], fields(proof, "inverse")["inverse"])
    longest = Fraction(max(max(row) for row in r), 1 << E)
    spread = Fraction(sum(row[0] for row in beyond), 1 << E)
    near = spread + Fraction(sum(sum(row[size - 1 - reach :]) for row in hi), 1 << E)
    total = spread + Fraction(sum(map(sum, hi)), 1 << E)
    for c, far in zip(rule.rates, rule.shares(hi, beyond)[1], strict=True):
        steep = c * (Fraction(far, rule.common << E * (d - 1)) + d * near ** (d - 1))
        if steep * (1 + (d - 1) * longest) + c * d * (d - 1) * spread * total ** max(d - 2, 0) >= ratio:
            raise Rejected("the tails are not proved to decay with this ratio")
    _conclude(stated, rule, E, (lo, hi), ratio)


def _head(rule: Rule, E: int, boxes: tuple[Rows, Rows, Rows], beyond: Rows, radii: list[int], inverse: Any) -> None:
    """Check that u - C h(u) takes |u| <= r into itself, and contracts: row sums of |1 - C h'| r + |C| change < r."""
    m, lo, hi = boxes
    size, common, levels = len(m[0]), rule.common, [x for row in m for x in row]
    none = [[0] * len(beyond[0])] * len(m)
    at, low, high = (rule.shares(x, b)[0] for x, b in ((m, none), (lo, none), (hi, beyond)))
    start, slopes, change = [], [], []  # one a row: h(0) and its change by all else in units 2^-E, the middle of h'
    for j, (c, (_, _, w)) in enumerate(zip(rule.rates, rule.pools, strict=True)):
        for k in range(size - 1):
            here, unit = j * size + k, c.denominator * m[j][k + 1] * common << E * (rule.d - 1)
            start.append((1 << E) - ((c.numerator * m[j][k] * at[j][k][0]) << E) // unit)
            ends = []
            for x, (value, _, *by) in ((lo[j][k], low[j][k]), (hi[j][k], high[j][k])):
                by = [x * y for y in by]
                by[here] += value
                ends.append([(c.numerator * x * y) << SLOPE for x, y in zip(levels, by, strict=True)])
            pairs = [(a // unit, _up(b, unit)) for a, b in zip(*ends, strict=True)]
            slopes.append([-((a + b) >> 1) for a, b in pairs])
            slopes[-1][here + 1] += 1 << SLOPE
            wide = sum((b - a + 1) * y for (a, b), y in zip(pairs, radii, strict=True))
            change.append(1 + _up(wide, 1 << SLOPE) + _up((c.numerator * hi[j][k] * high[j][k][1]) << E, unit))
        start.append(sum(m[j]) * w.denominator // w.numerator - (1 << E))
        middle = [(x << SLOPE) * w.denominator // (w.numerator << E) for x in m[j]]
        slopes.append([0] * (j * size) + middle + [0] * ((len(m) - 1 - j) * size))
        change.append(1 + _up(sum(radii), 1 << SLOPE) + _up(beyond[j][0] * w.denominator, w.numerator))
    bits, rows = integer(items(inverse, 2)[0]), items(inverse[1], len(radii))
    columns = list(zip(*slopes, strict=True))
    if any(abs(x) >> 512 for row in slopes for x in row):
        raise Rejected("slopes out of bounds")
    for i, texts in enumerate(rows):
        row = wholes(texts, len(radii))
        if bits > 256 or any(abs(x) >> 512 for x in row):
            raise Rejected("the inverse is out of bounds")
        moved = (abs(sum(map(mul, row, start))) + sum(map(mul, map(abs, row), change))) << SLOPE
        for q, column in enumerate(columns):
            moved += abs(((q == i) << (bits + SLOPE)) - sum(map(mul, row, column))) * radii[q]
        if moved >= radii[i] << (bits + SLOPE):
            raise Rejected(f"row {i}: the map does not take the box into itself")


def _conclude(stated: Any, rule: Rule, E: int, ends: tuple[Rows, Rows], ratio: Fraction) -> None:
    parts = [f / w for f, _, w in rule.pools]
    low, high = ([sum(map(mul, parts, level)) / 2**E for level in zip(*rows, strict=True)] for rows in ends)
    rest, top = high[-1] * ratio / (1 - ratio), len(low) - 1
    for entry in items(stated.get("tail", [])):
        k, least, most = items(entry, 3)
        if (
            not 1 <= integer(k) <= top
            or rational(least) > sum(low[k:])
            or rational(most) < min(sum(high[k:]) + rest, 1)
        ):
            raise Rejected(f"the box does not give these bounds of tail {k}")
    if "mean_queue" in stated:
        least, most = vector(stated["mean_queue"], 2)
        mean = [sum(k * x for k, x in enumerate(side)) for side in (low, high)]
        if least > mean[0] or most < mean[1] + rest * (top + 1 / (1 - ratio)):
            raise Rejected("the box does not give these bounds of the mean queue")


def _up(top: int, bottom: int) -> int:
    return -(-top // bottom)
