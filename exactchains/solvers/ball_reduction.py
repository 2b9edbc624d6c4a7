"""Cyclic reduction without subtraction in balls: for rates beyond the range of doubles, and for null recurrent chains.

Every intermediate is a sum, product or quotient of nonnegative balls, so that entries keep their relative accuracy at
any size.  What the reduction has not yet seen, the chance to climb 2^h levels and to come back, is bounded and added.
"""

import functools
import itertools
from typing import Any

import flint
from flint import arb, arb_mat, fmpq, fmpz, fmpz_mat

from exactchains.domain import ball_ends
from exactchains.solvers.level_integers import LevelIntegers, Pattern
from exactchains.solvers.rate_bounds import Bounds
from exactchains.truth import PrecisionExhausted, Undecided

EXTRA = 64  # guard bits beside those that the number of steps costs
OFTEN = 64  # steps after which bounds are formed at every eighth one only
Rows = list[list[Any]]


def ball_bounds(blocks: LevelIntegers, recurrent: bool, digits: int) -> tuple[Bounds, Bounds]:
    """Return bounds of G and R with at least ``digits`` certain digits in every entry; ``recurrent`` says that G 1 = 1.

    Guarantee
    ---------
    G_h <= G <= G_h + gap in every row, from (G - G_h) 1 <= M_h^-1 u c where c bounds the chance to come back from
    level 2^h; the zeros of G are exact.

    Raises
    ------
    PrecisionExhausted
        The gap did not close.
    """
    first = 4 * digits + EXTRA + 64
    for prec in (first, 8 * digits + 1000, 8 * digits + 4000):
        goal = digits if prec == first else max(digits, prec // 16)  # the steps cost more than the digits
        with flint.ctx.workprec(prec):
            try:
                return _bounds(blocks, recurrent, goal, prec)  # a step costs more than a bit
            except Undecided:
                continue
    raise PrecisionExhausted(f"G could not be enclosed to {digits} digits; ask for fewer digits")


def _bounds(blocks: LevelIntegers, recurrent: bool, digits: int, steps: int) -> tuple[Bounds, Bounds]:
    m = blocks.size
    up, down = arb_mat(blocks.up), arb_mat(blocks.down)
    off = arb_mat(blocks.local)
    kill = [arb(x) for x in blocks.kill.entries()]
    for i in range(m):
        off[i, i] = arb(0)
    N, hat, d, u, k, hat_kill = off, off, down, up, list(kill), list(kill)
    for step in range(steps):
        K = triplet_solve(N, _plus(d * _ones(m) + u * _ones(m), k), [d, u, _column(k)])
        Kd, Ku, Kk = K
        gain = u * Kd
        hat = _hollow(hat + gain)
        N = _hollow(N + gain + d * Ku)
        hat_kill = _plus(u * Kk, hat_kill)
        k = _plus(u * Kk + d * Kk, k)
        d, u = d * Kd, u * Ku
        if step >= 4 and (step < OFTEN or step % 8 == 0):
            closed = _close(blocks, (hat, hat_kill, N, d, u, k), recurrent, digits)
            if closed is not None:
                return closed
    raise Undecided("the reduction did not close")


def _close(blocks: LevelIntegers, state: Any, recurrent: bool, digits: int) -> tuple[Bounds, Bounds] | None:
    """Return the bounds if the part of G that is still missing is small enough."""
    hat, hat_kill, N, d, u, k = state
    m, down = blocks.size, arb_mat(blocks.down)
    excess = _plus(down * _ones(m) + u * _ones(m), hat_kill)
    G, missing = triplet_solve(hat, excess, [down, u * _return_chance(_repeated(blocks.reach), N, d, u, k)])
    reach, tolerance = blocks.reach, arb(10) ** (-digits - 1)
    upper = arb_mat(m, m)
    for i in range(m):
        gap = missing[i, 0]
        for j in range(m):
            if reach[i, j]:
                if not (G[i, j] > 0 and gap <= G[i, j] * tolerance and G[i, j].rad() <= G[i, j].mid() * tolerance):
                    return None
                upper[i, j] = G[i, j] + gap
    rates = _rates(blocks, G, upper, recurrent)
    return _fixed(G, upper, reach, digits), _fixed(rates, rates, None, digits)


def _return_chance(entered: Pattern, N: arb_mat, d: arb_mat, u: arb_mat, k: list[arb]) -> arb_mat:
    """Return a bound c of G 1 in the reduced chain: the chance to come back down over one reduced level.

    c <= 1, and where c < 1, M^-1 (d 1 + u (s c)) <= c with s_i the largest c among the phases that can be entered from
    phase i (``entered``): then all iterates X = M^-1 (d + u X^2) from 0 have X 1 <= c, because X c <= s X 1.
    """
    m = d.nrows()
    fall, climb = triplet_solve(N, _plus(d * _ones(m) + u * _ones(m), k), [d * _ones(m), u])
    places = [[j for j in range(m) if row[j]] for row in entered.tolist()]
    c = [arb(1).min(2 * fall[i, 0]) for i in range(m)]
    for _ in range(m + 1):
        most = [functools.reduce(arb.max, (c[j] for j in row), arb(0)) for row in places]
        total = climb * _column([x * y for x, y in zip(most, c, strict=True)])
        poor = [i for i in range(m) if c[i] < 1 and not fall[i, 0] + total[i, 0] <= c[i]]
        if not poor:
            break
        for i in poor:
            c[i] = arb(1)
    return _column([x if x < 1 else arb(1) for x in c])


def _repeated(reach: Pattern) -> Pattern:
    """Return where some power of G is positive."""
    while True:
        more = reach | (reach.astype(float) @ reach.astype(float) > 0)
        if (more == reach).all():
            return reach
        reach = more


def _rates(blocks: LevelIntegers, lower: arb_mat, upper: arb_mat, recurrent: bool) -> arb_mat:
    """Return up M^-1 for the G between two bounds."""
    N, excess = level_system(blocks, lower, upper, recurrent)
    return arb_mat(blocks.up) * triplet_solve(N, excess, [identity(blocks.size)])[0]


def level_system(blocks: LevelIntegers, lower: arb_mat, upper: arb_mat, recurrent: bool) -> tuple[arb_mat, list[arb]]:
    """Return local + up G off the diagonal, and the row sums of M = -(local + up G), for the G between two bounds.

    1 - G 1, which is never negative, is 0 for a recurrent chain.
    """
    m, up, reach = blocks.size, arb_mat(blocks.up), blocks.reach
    G, lost = arb_mat(m, m), []
    for i in range(m):
        inside = [j for j in range(m) if reach[i, j]]
        for j in inside:
            G[i, j] = lower[i, j].union(upper[i, j])
        least, most = (arb(1) - sum((bound[i, j] for j in inside), arb(0)) for bound in (upper, lower))
        lost.append(arb(0) if recurrent else least.max(arb(0)).union(most.max(arb(0))))
    kill = [arb(x) for x in blocks.kill.entries()]
    excess = _plus(arb_mat(blocks.down) * _ones(m) + up * _column(lost), kill)
    return _hollow(arb_mat(blocks.local) + up * G), excess


def triplet_solve(N: arb_mat, w: list[arb], right: list[arb_mat]) -> list[arb_mat]:
    """Return M^-1 B for M = diag(w + N 1) - N and several B >= 0, by elimination without subtraction.

    Raises
    ------
    Undecided
        A pivot is not certainly positive.
    """
    m, widths = len(w), [B.ncols() for B in right]
    tables = [B.tolist() for B in right]
    A = [[*row, w[i], *(x for table in tables for x in table[i])] for i, row in enumerate(N.tolist())]
    pivots = []
    for k in range(m):
        pivot = sum(A[k][k + 1 : m + 1], arb(0))
        if not pivot > 0:
            raise Undecided("a pivot is not certainly positive")
        pivots.append(pivot)
        tail = [(j, x) for j, x in enumerate(A[k]) if j > k and not _zero(x)]
        for i in range(k + 1, m):
            row = A[i]
            if not _zero(row[k]):
                factor = row[k] / pivot
                for j, x in tail:
                    if j != i:
                        row[j] += factor * x
    X: Rows = [row[m + 1 :] for row in A]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            if not _zero(A[k][j]):
                X[k] = [x + A[k][j] * y for x, y in zip(X[k], X[j], strict=True)]
        X[k] = [x / pivots[k] for x in X[k]]
    cuts = [sum(widths[:b]) for b in range(len(widths) + 1)]
    return [arb_mat([row[a:b] for row in X]) for a, b in itertools.pairwise(cuts)]


def _fixed(lower: arb_mat, upper: arb_mat, pattern: Pattern | None, digits: int) -> Bounds:
    """Return the outer ends over one power of two, fine enough for the smallest entry."""
    m = lower.nrows()
    ends = [[(ball_ends(lower[i, j])[0], ball_ends(upper[i, j])[1]) for j in range(m)] for i in range(m)]
    if pattern is None:  # an entry of R is zero or certainly positive
        least = [low for row in ends for low, high in row if high > 0]
    else:
        least = [ends[i][j][0] for i in range(m) for j in range(m) if pattern[i, j]]
    small = min(least, default=fmpq(1))
    if not small > 0:
        raise Undecided("an entry is not certainly positive")
    bits = 4 * digits + 16 + max(0, int(small.q).bit_length() - int(small.p).bit_length())
    one = fmpz(1) << bits
    low = [[(x.p * one) // x.q if y > 0 else 0 for x, y in row] for row in ends]
    high = [[-((-y.p * one) // y.q) if y > 0 else 0 for x, y in row] for row in ends]
    if pattern is not None:
        low = [[x if pattern[i, j] else 0 for j, x in enumerate(row)] for i, row in enumerate(low)]
        high = [[x if pattern[i, j] else 0 for j, x in enumerate(row)] for i, row in enumerate(high)]
    return Bounds(fmpz_mat(low), fmpz_mat(high), bits)


def _zero(x: arb) -> bool:
    """Return whether a ball is exactly zero (``x != 0`` would mean certainly nonzero)."""
    return bool(x == 0)


def _ones(m: int) -> arb_mat:
    return arb_mat(m, 1, [1] * m)


def identity(m: int) -> arb_mat:
    return arb_mat(m, m, [int(i == j) for i in range(m) for j in range(m)])


def _column(x: list[arb]) -> arb_mat:
    return arb_mat(len(x), 1, x)


def _plus(a: arb_mat, b: list[arb]) -> list[arb]:
    return [a[i, 0] + x for i, x in enumerate(b)]


def _hollow(A: arb_mat) -> arb_mat:
    """Return a copy with a zero diagonal, which elimination never uses."""
    B = arb_mat(A)
    for i in range(A.nrows()):
        B[i, i] = arb(0)
    return B
