"""Kind *rates*: the matrices G and R of a level chain lie between given bounds, entry by entry.

problem     a level chain (:mod:`proofs_check.check.blocks`)
conclusion  ``status`` (as in kind *level-drift*), ``G`` and ``R``: {"over", "lower", "upper"}, integers over ``over``
proof       ``drift``: proof of the status; ``t``: positive integer vector; either ``gamma`` > 0 with positive vectors
            ``u``, ``v``, or a nonnegative matrix ``V``, or none of these for a chain that comes down for certain

With F(X) = down + local X + up X^2 and M(X) = -(local + up X):
upper       F(U) <= 0: the iteration X + F(X)/c from 0 rises to G and stays below U
lower       F(Y) >= 0 with Y <= U: the iteration from Y rises to a solution G2 >= Y, below U.  For E = G2 - G >= 0,
            E = M(G2)^-1 up E G.  With G u <= gamma u, E u <= gamma M(U)^-1 up E u, and (gamma up + local + up U) v < 0
            makes the spectral radius of gamma M(U)^-1 up less than 1, so E = 0 and Y <= G.
            G u <= gamma u holds if U u <= gamma u, and for gamma = 1, u = 1 always.
            Or: V > 0 where U > 0, with (local + up U) V + up V U < 0 there.  If E <= c V with equality at one entry,
            D = c V - E >= 0 has -(local + up U) D > up D U >= 0 there, against D = 0 at the entry; so E = 0
            Or: Y 1 <= 1 and, (null) recurrent in all phases and never reset, G 1 = 1.  The iteration from Y keeps row
            sums up to 1, hence G <= G2 (G is minimal) and G2 1 <= 1 = G 1, so G2 = G
            Then G <= Y + (1 - Y 1) entry by entry too: U may have F(U) > 0 where it is at least that.  Where F(U) <= 0,
            the iteration from 0 stays below U as before, since elsewhere its limit G does
R           M(U) t > 0 makes M(X) an M-matrix for all X <= U; X M(U) >= up gives R <= X, Y M(G lower) <= up gives Y <= R
"""

from typing import Any

from proofs_check.check.blocks import (
    Bounds,
    Integers,
    LevelBlocks,
    applied,
    bounds,
    level_blocks,
    plus,
    positive,
    product,
)
from proofs_check.check.exact import Rejected, fields, items, rational, wholes, word
from proofs_check.check.recurrence import drift_proof


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "status G R")
    fields(proof, "drift t", "gamma u v V")
    blocks = level_blocks(problem)
    drift_proof(blocks, word(conclusion["status"]), proof["drift"])
    check_rates(blocks, conclusion, proof, conclusion["status"])


def check_rates(blocks: LevelBlocks, conclusion: Any, proof: Any, status: str) -> tuple[Bounds, Bounds]:
    """Check the bounds of G and R of a chain whose status has been checked; return them."""
    G, R = bounds(conclusion["G"], blocks.size), bounds(conclusion["R"], blocks.size)
    above, below = (plus(blocks.local, G.over, product(blocks.up, X), 1) for X in (G.upper, G.lower))
    residual = _residual(blocks, above, G.upper, G.over)
    if any(x < 0 for row in _residual(blocks, below, G.lower, G.over) for x in row):
        raise Rejected("the lower bound of G is no sub-solution")
    if "gamma" in proof or "V" in proof:
        if any(x > 0 for row in residual for x in row):
            raise Rejected("the upper bound of G is no super-solution")
        _tied(blocks, above, G, proof)
    else:
        _tied_by_rows(blocks, G, status, len(proof["drift"]["members"]))
        _above_by_rows(residual, G)
    t = positive(proof["t"], blocks.size)
    if max(applied(above, t)) >= 0:
        raise Rejected("t does not show that -(local + up G) is an M-matrix")
    if any(x < 0 for row in _remainder(blocks, above, R.upper, G.over, R.over) for x in row):
        raise Rejected("the upper bound of R is no super-solution")
    if any(x > 0 for row in _remainder(blocks, below, R.lower, G.over, R.over) for x in row):
        raise Rejected("the lower bound of R is no sub-solution")
    return G, R


def _residual(blocks: LevelBlocks, inner: Integers, X: Integers, over: int) -> Integers:
    """Return down + (local + up X) X, times scale over^2."""
    return plus(product(inner, X), 1, blocks.down, over * over)


def _remainder(blocks: LevelBlocks, inner: Integers, X: Integers, over: int, own: int) -> Integers:
    """Return -X (local + up G) - up, times scale over own."""
    return plus(product(X, inner), -1, blocks.up, -over * own)


def _tied(blocks: LevelBlocks, above: Integers, G: Bounds, proof: Any) -> None:
    """No other solution lies between the minimal one and the upper bound."""
    if "V" in proof:
        _tied_by_matrix(blocks, above, G, proof["V"])
        return
    gamma = rational(proof["gamma"])
    u, v = positive(proof["u"], blocks.size), positive(proof["v"], blocks.size)
    if gamma <= 0:
        raise Rejected("gamma must be positive")
    if gamma != 1 or len(set(u)) != 1:
        image = applied(G.upper, u)
        if any(x * gamma.denominator > gamma.numerator * G.over * y for x, y in zip(image, u, strict=True)):
            raise Rejected("G u <= gamma u does not follow")
    raised = plus(blocks.up, gamma.numerator * G.over, above, gamma.denominator)
    if max(applied(raised, v)) >= 0:
        raise Rejected("the lower bound of G is not tied to the minimal solution")


def _tied_by_rows(blocks: LevelBlocks, G: Bounds, status: str, members: int) -> None:
    if status == "transient" or any(blocks.kill) or members != blocks.size:
        raise Rejected("without gamma or V the chain must come down for certain, from every phase")
    if any(sum(row) > G.over for row in G.lower):
        raise Rejected("the rows of the lower bound of G sum to more than 1")


def _above_by_rows(residual: Integers, G: Bounds) -> None:
    """Each entry leaves room for all that its row lacks to 1, or has no inflow beyond it."""
    for flows, low, high in zip(residual, G.lower, G.upper, strict=True):
        lack = G.over - sum(low)
        if any(x > 0 and z < y + lack for x, y, z in zip(flows, low, high, strict=True)):
            raise Rejected("the upper bound of G is no super-solution and leaves its row too little room")


def _tied_by_matrix(blocks: LevelBlocks, above: Integers, G: Bounds, data: Any) -> None:
    size = blocks.size
    V = [wholes(row, size) for row in items(data, size)]
    if any(
        x < 0 or (x == 0 and u > 0) for row, us in zip(V, G.upper, strict=True) for x, u in zip(row, us, strict=True)
    ):
        raise Rejected("V must be positive where the upper bound of G is")
    total = plus(product(above, V), 1, product(product(blocks.up, V), G.upper), 1)
    if any(x >= 0 for row, us in zip(total, G.upper, strict=True) for x, u in zip(row, us, strict=True) if u > 0):
        raise Rejected("V does not tie the lower bound of G to the minimal solution")
