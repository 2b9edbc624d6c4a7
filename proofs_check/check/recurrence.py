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

from typing import Any

from proofs_check.check.blocks import drift_proof, level_blocks
from proofs_check.check.exact import fields, word


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "status")
    drift_proof(level_blocks(problem), word(conclusion["status"]), proof)
