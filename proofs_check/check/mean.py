"""Kind *mean*: the stationary mean of a reward on a finite chain, from its exact law.

problem     ``time``, ``states`` (count), ``transitions`` [i, j, rate] as in *stationary*; ``reward``: a number a state
conclusion  ``mean``: [lower, upper]
proof       ``law``: the exact stationary law, a number a state

Caps        those of :mod:`finite_chain` (states a transition) and :mod:`exact` (powers of two in a list)
"""

from typing import Any

from proofs_check.check.exact import Rejected, dot, fields, vector
from proofs_check.check.finite_chain import chain, leading_to


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "time states transitions reward")
    fields(conclusion, "mean")
    fields(proof, "law")
    into, out = chain({name: problem[name] for name in ("time", "states", "transitions")})
    law, reward = vector(proof["law"], len(out)), vector(problem["reward"], len(out))
    if min(law) < 0 or sum(law) != 1:
        raise Rejected("the law is negative somewhere or does not sum to 1")
    for j, sources in enumerate(into):
        if sum(law[i] * rate for i, rate in sources) != law[j] * sum(rate for _, rate in out[j]):
            raise Rejected(f"the law is not balanced at state {j}")
    if len(leading_to(law.index(max(law)), into)) < len(law):
        raise Rejected("some state does not lead to the most likely one: the law need not be unique")
    lower, upper = vector(conclusion["mean"], 2)
    if not lower <= dot(reward, law) <= upper:
        raise Rejected("the mean lies outside the stated bounds")
