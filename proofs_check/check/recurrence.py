"""Kind *level-drift*: do the levels of a chain come back down?  The sign of a drift, by one rational vector.

problem     a level chain (:mod:`proofs_check.check.blocks`)
conclusion  ``status``: "recurrent" (every level >= 1 is left downwards, or to level 0, in finite mean time),
            "transient" (from some member of the closed class ``members`` of phases the level escapes to infinity
            with positive probability), "null recurrent" (from every member of such a class the next lower level is
            entered surely, from some member after infinite mean time)
proof       ``members``: phases (all of them when recurrent), ``y``: one rational a member, ``constant`` >= 0

With s = (down + local + up) y + (up - down) 1 - constant kill: recurrent needs s < 0 in every phase, for level + y
then has negative drift from some level on, where a reset costs more than ``constant``.  Otherwise ``members`` must be
closed and never reset: s > 0 there for transient; for null recurrent s = 0 on one irreducible class whose level is no
function of the phase.
"""

from collections.abc import Mapping
from math import lcm
from typing import Any

from proofs_check.check.blocks import LevelBlocks, applied, level_blocks, plus
from proofs_check.check.exact import Rejected, fields, items, rational, word
from proofs_check.check.finite_chain import leading_to


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "status")
    drift_proof(level_blocks(problem), word(conclusion["status"]), proof)


def drift_proof(blocks: LevelBlocks, status: str, proof: Mapping[str, Any]) -> None:
    """Check that ``status`` is what the levels do."""
    fields(proof, "members y constant")
    members = [i for i in items(proof["members"]) if isinstance(i, int) and 0 <= i < blocks.size]
    if len(set(members)) != len(proof["members"]) or not members:
        raise Rejected("members are different phases of the chain")
    given = [rational(x) for x in items(proof["y"], len(members))]
    constant = rational(proof["constant"])
    over = lcm(*(x.denominator for x in given), constant.denominator)
    y = [0] * blocks.size
    for i, x in zip(members, given, strict=True):
        y[i] = x.numerator * (over // x.denominator)
    penalty = constant.numerator * (over // constant.denominator)
    total = plus(plus(blocks.up, 1, blocks.local, 1), 1, blocks.down, 1)
    rise = [(sum(up) - sum(down)) * over for up, down in zip(blocks.up, blocks.down, strict=True)]
    slack = [x + r - penalty * k for x, r, k in zip(applied(total, y), rise, blocks.kill, strict=True)]
    if status == "recurrent":
        if len(members) != blocks.size or penalty < 0 or max(slack) >= 0:
            raise Rejected("the vector does not prove that every level is left downwards")
        return
    inside = set(members)
    if any(blocks.kill[i] or any(x for j, x in enumerate(total[i]) if j not in inside) for i in members):
        raise Rejected("members must be closed and never reset")
    if status == "transient":
        if min(slack[i] for i in members) <= 0:
            raise Rejected("the vector does not prove that the level escapes")
    elif status == "null recurrent":
        _null(blocks, members, y, over, [slack[i] for i in members])
    else:
        raise Rejected("status is recurrent, null recurrent or transient")


def _null(blocks: LevelBlocks, members: list[int], y: list[int], over: int, slack: list[int]) -> None:
    """The level plus y is a martingale that moves, on one irreducible class."""
    if any(slack):
        raise Rejected("the drift is not zero")
    linked = plus(plus(blocks.up, 1, blocks.local, 1), 1, blocks.down, 1)  # positive where i leads to j
    for rows in (linked, list(zip(*linked, strict=True))):
        into = [[(i, 1) for i in members if rows[i][j]] for j in range(blocks.size)]
        if len(leading_to(members[0], into)) != len(members):
            raise Rejected("members are not one irreducible class")
    moves = (
        (step * over + y[j] - y[i])
        for step, block in ((1, blocks.up), (0, blocks.local), (-1, blocks.down))
        for i in members
        for j in members
        if block[i][j] and (step or i != j)
    )
    if not any(moves):
        raise Rejected("the level is a function of the phase")
