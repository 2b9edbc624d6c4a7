"""Kind *domination*: rules that see all servers, against a pick in proportion to speed, for every number of servers.

problem     ``policy``: {"rule": "jsq" | "sa-jsq"} or {"rule": "jiq" | "sa-jiq", "fallback": "speed" | "uniform"};
            ``speeds``: of the pools, mean over servers 1; ``load`` in (0, 1)
conclusion  ``rho``: n load P(joined in U) <= rho (speed of U), U = {q >= k}, for all k >= 1, n and sizes of pools
proof       empty

The shortest queue lies in U only if all servers do: the ratio is then load.  An idle queue is never in U.  Without one
the fallback joins a server of pool j with chance n-free weight w_j/n; the ratio for a_j servers of pool j in U is
load sum a_j w_j / sum a_j mu_j, a mediant, largest at a vertex: servers of one pool.
"""

from typing import Any

from proofs_check.check.exact import Rejected, fields, rational, vector


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "policy speeds load")
    fields(proof, "")
    load, speeds = rational(problem["load"]), vector(problem["speeds"])
    if not 0 < load < 1 or not speeds or min(speeds) <= 0:
        raise Rejected("needs 0 < load < 1 and positive speeds")
    policy = problem["policy"]
    if policy.get("rule") in ("jsq", "sa-jsq"):
        fields(policy, "rule")
        least = load
    elif policy.get("rule") in ("jiq", "sa-jiq"):
        fallback = fields(policy, "rule fallback")["fallback"]
        if fallback not in ("speed", "uniform"):
            raise Rejected("the fallback is speed or uniform")
        least = max(load * (s if fallback == "speed" else 1) / s for s in speeds)
    else:
        raise Rejected("unknown rule")
    if rational(fields(conclusion, "rho")["rho"]) < least:
        raise Rejected(f"rho is at least {least}")
