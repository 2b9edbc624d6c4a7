"""Sub- and super-solutions around G and R that were found in balls, for the checker kind *rates*.

Balls prove G and R by the way they were computed; a checker wants inequalities.  D = diag G, L(X, V) = M(X) V - up V X:

* off drift zero, V = sum A^i M^-1 D G^i with A = M^-1 up solves L(G, V) = D, and G -+ delta V are a sub- and a
  super-solution, tied by V.  Sums of nonnegative terms, formed by doubling: entries of any size keep their digits.
* at drift zero there is no super-solution.  With a reset at the small rate kappa diag, the minimal solution Y has
  F(Y) = kappa diag Y > 0, and what its rows lack to 1 bounds G - Y.
"""

import dataclasses
import math
from typing import Any

import flint
from flint import arb, arb_mat, fmpz, fmpz_mat

from exactchains.domain import ball_floor, ball_length
from exactchains.solvers.ball_reduction import ball_bounds, identity, level_system, triplet_solve
from exactchains.solvers.level_drift import Drift, DriftProof
from exactchains.solvers.level_integers import LevelIntegers
from exactchains.solvers.rate_bounds import Bounds
from exactchains.truth import PrecisionExhausted, Undecided

TRIES = 4
DOUBLINGS = 4000
SPARE = 24  # bits
MAX_BITS = 2000  # of the rate of the resets that stand in for a drift
Proof = dict[str, Any]  # t: list of integers, V: integer matrix


def ball_certificate(blocks: LevelIntegers, sign: DriftProof, digits: int) -> tuple[Bounds, Bounds, Proof]:
    """Return bounds of G and R with ``digits`` digits, and the vectors that prove them.

    Raises
    ------
    Undecided
        No such bounds were found.
    """
    certain = sign.drift is not Drift.TRANSIENT and not blocks.patterns[3].any()
    if sign.drift is Drift.NULL_RECURRENT and not (certain and len(sign.members) == blocks.size):
        raise Undecided("only from some phases the chain comes down for certain")
    spare = 6
    for _ in range(TRIES):
        try:
            if sign.drift is Drift.NULL_RECURRENT:
                first, proof = _by_rows(blocks, digits + spare)
            else:
                first, proof = _by_matrix(blocks, certain, digits + spare)
            rate, t = _rate(blocks, first, certain, digits + spare)
        except PrecisionExhausted as error:
            raise Undecided(str(error)) from None
        proof["t"] = t
        if min(first.digits, rate.digits) >= digits and _accepted(blocks, first, rate, proof):
            return first, rate, proof
        spare *= 3
    raise Undecided("no bounds of G and R that a checker accepts")


def _by_matrix(blocks: LevelIntegers, certain: bool, digits: int) -> tuple[Bounds, Proof]:
    """Return G -+ delta V, and V."""
    most = 0
    for sure in (15, 0):
        sure = sure or math.ceil(0.302 * most) + 15  # V is as sure as G, less the digits of its size
        near, _ = ball_bounds(blocks, certain, sure)
        with flint.ctx.workprec(4 * sure + 192):
            G, V = _direction(blocks, near, certain)
            pairs = zip(V.entries(), G.entries(), strict=True)
            most = max((ball_length(v) - ball_length(g) for v, g in pairs if g > 0), default=0)
            least = min((ball_length(g) for g in G.entries() if g > 0), default=0)
        if most < 32:
            break
    finest = most + max(math.ceil(3.33 * digits), most + SPARE)  # delta = 2^-finest, and its square does not count
    bits = finest - least + SPARE + blocks.size.bit_length()
    closer, _ = ball_bounds(blocks, certain, math.ceil(0.302 * finest) + 3)
    with flint.ctx.workprec(bits + 64):
        unit = arb(2) ** bits
        middle = [[ball_floor(x * unit) for x in row] for row in _middle(closer).tolist()]
        width = [[ball_floor(x * arb(2) ** (bits - finest)) + 1 if x > 0 else 0 for x in row] for row in V.tolist()]
    X, W = fmpz_mat(middle), fmpz_mat(width)
    return Bounds(X - W, X + W, bits), {"V": W}


def _direction(blocks: LevelIntegers, near: Bounds, certain: bool) -> tuple[arb_mat, arb_mat]:
    """Return G and V, nearly."""
    G = _middle(near)
    off, excess = level_system(blocks, *_ends(near), certain)
    gain = arb_mat([[x * arb(d) for x in row] for row, d in zip(G.tolist(), blocks.totals, strict=True)])
    V, A = (_mid(X) for X in triplet_solve(off, excess, [gain, arb_mat(blocks.up)]))
    power = G
    for _ in range(DOUBLINGS):
        more = A * V * power
        V = _mid(V + more)
        if all(x <= y * arb(2) ** -60 for x, y in zip(more.entries(), V.entries(), strict=True)):
            return G, V
        A, power = _mid(A * A), _mid(power * power)
    raise Undecided("the mean number of moves is too large")


def _by_rows(blocks: LevelIntegers, digits: int) -> tuple[Bounds, Proof]:
    """Return Y <= G <= Y + (1 - Y 1) for a chain that comes down for certain."""
    near, _ = ball_bounds(blocks, True, 15)
    with flint.ctx.workprec(256):
        least = min(ball_length(x) for x in _middle(near).entries() if x > 0)
    rare = 2 * (math.ceil(3.33 * digits) - least)  # kappa = 2^-rare: rows lack about its square root
    if rare > MAX_BITS:
        raise Undecided("entries of G lie too far apart")
    below, _ = ball_bounds(_resetting(blocks, rare), False, math.ceil(0.302 * rare) + 3)
    bits = rare - least + SPARE + blocks.size.bit_length()
    with flint.ctx.workprec(bits + 64):
        lower = fmpz_mat([[ball_floor(x * arb(2) ** bits) for x in row] for row in _middle(below).tolist()])
    lack = [(fmpz(1) << bits) - sum(row, fmpz(0)) for row in lower.tolist()]
    reach = blocks.reach
    upper = fmpz_mat(
        [
            [x + gap if reach[i, j] else 0 for j, x in enumerate(row)]
            for i, (row, gap) in enumerate(zip(lower.tolist(), lack, strict=True))
        ]
    )
    return Bounds(lower, upper, bits), {}


def _resetting(blocks: LevelIntegers, rare: int) -> LevelIntegers:
    """Return the same chain with a reset from every phase at 2^-rare times its total rate, in exact integers only."""
    one = 1 << rare
    up, local, down = ([x * one for x in entries] for entries in blocks.entries[:3])
    totals = [x * (one + 1) for x in blocks.totals]
    return dataclasses.replace(
        blocks, entries=(up, local, down, list(blocks.totals)), totals=totals, scale=blocks.scale * one
    )


def _rate(blocks: LevelIntegers, first: Bounds, certain: bool, digits: int) -> tuple[Bounds, list[int]]:
    """Return R -+ W with (R + W) M(upper) >= up >= (R - W) M(lower), and t with M(upper) t > 0."""
    m, up = blocks.size, arb_mat(blocks.up)
    with flint.ctx.workprec(first.bits + 64):
        off, excess = level_system(blocks, *_ends(first), certain)
        (inverse,) = triplet_solve(off, excess, [identity(m)])
        inverse = _mid(inverse)
        R = _mid(up * inverse)
        width = arb_mat(first.upper - first.lower) * (arb(1) / (fmpz(1) << first.bits))
        least = arb(10) ** -digits
        diagonal = [arb(x) for x in blocks.totals]
        gain = arb_mat([[x * d * least for x, d in zip(row, diagonal, strict=True)] for row in R.tolist()])
        W = _mid((gain + R * up * width) * inverse)
        inner = [sum((row[j] for row in (off + _diagonal(diagonal)).tolist()), arb(0)) for j in range(m)]
        sizes = [ball_length(inner[j]) - ball_length(gain[i, j]) for i in range(m) for j in range(m) if R[i, j] > 0]
        bits = max([0, *sizes]) + SPARE + m.bit_length()
        unit = arb(2) ** bits
        middle = fmpz_mat([[ball_floor(x * unit) for x in row] for row in R.tolist()])
        spread = fmpz_mat([[ball_floor(2 * x * unit) + 2 if x > 0 else 0 for x in row] for row in W.tolist()])
        t = [ball_floor(x * 256) + 1 for x in (inverse * arb_mat(m, 1, diagonal)).entries()]
    return Bounds(middle - spread, middle + spread, bits), t


def _accepted(blocks: LevelIntegers, G: Bounds, R: Bounds, proof: Proof) -> bool:
    """Return whether the inequalities hold that a checker will ask for."""
    up = blocks.up * (fmpz(1) << G.bits + R.bits)
    below, above = (blocks.inner(X, G.bits) for X in (G.lower, G.upper))
    signs = [
        blocks.residual(G.lower, below, G.bits),
        R.upper * above * -1 - up,
        up + R.lower * below,
        above * fmpz_mat(blocks.size, 1, proof["t"]) * -1,
        G.lower,
        R.lower,
    ]
    if "V" in proof:
        V, reach = proof["V"], blocks.reach.ravel().tolist()
        signs.append(blocks.residual(G.upper, above, G.bits) * -1)
        loss = (above * V + blocks.up * V * G.upper).entries()
        if any(x >= 0 for x, live in zip(loss, reach, strict=True) if live):
            return False
    return all(x >= 0 for block in signs for x in block.entries()) and min(signs[3].entries()) > 0


def _middle(bounds: Bounds) -> arb_mat:
    return _mid(arb_mat(bounds.lower + bounds.upper) * (arb(1) / (fmpz(1) << bounds.bits + 1)))


def _ends(bounds: Bounds) -> tuple[arb_mat, arb_mat]:
    scale = arb(1) / (fmpz(1) << bounds.bits)
    return arb_mat(bounds.lower) * scale, arb_mat(bounds.upper) * scale


def _mid(A: arb_mat) -> arb_mat:
    return A.mid()


def _diagonal(x: list[arb]) -> arb_mat:
    return arb_mat(len(x), len(x), [v if i == j else 0 for i, v in enumerate(x) for j in range(len(x))])
