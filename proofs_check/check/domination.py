"""Kind *domination*: rules that see all servers, against a pick in proportion to speed, for every number of servers.

problem     ``policy``: {"rule": "jsq" | "sa-jsq" | "sed"} or
            {"rule": "jiq" | "sa-jiq", "fallback": "speed" | "uniform"};
            ``speeds``: of the pools, mean over servers 1; ``load`` in (0, 1)
conclusion  for sed ``mean_queue``: (1/n) E sum q_i is at most this, all n and sizes of pools; for the others
            ``rho``: n load P(joined in U) <= rho (speed of U), U = {q >= k}, for all k >= 1, n and sizes of pools
proof       empty

The shortest queue lies in U only if all servers do: the ratio is then load.  An idle queue is never in U.  Without one
the fallback joins a server of pool j with chance n-free weight w_j/n; the ratio for a_j servers of pool j in U is
load sum a_j w_j / sum a_j mu_j, a mediant, largest at a vertex: servers of one pool.

Shortest expected delay joins a server i with the least (q_i + 1)/mu_i, whatever its ties.  With V = sum q_i (q_i +
1)/mu_i an arrival adds 2 (q_i + 1)/mu_i, at most its mean under the chances mu_j/n: (2/n) sum (q_j + 1); departures
take 2 sum q_j a time.  So L V <= 2 load n - 2 (1 - load) sum q_j in every state, and 0 <= E L V bounds E sum q_j.
"""

from typing import Any

from proofs_check.check.exact import Rejected, fields, rational, vector


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "policy speeds load")
    fields(proof, "")
    load, speeds = rational(problem["load"]), vector(problem["speeds"])
    if not 0 < load < 1 or not speeds or min(speeds) <= 0:
        raise Rejected("needs 0 < load < 1 and positive speeds")
    if not min(speeds) < 1 < max(speeds) and set(speeds) != {1}:
        raise Rejected("no sizes of the pools give the mean speed 1")
    policy, name = problem["policy"], "rho"
    if policy.get("rule") == "sed":
        fields(policy, "rule")
        least, name = load / (1 - load), "mean_queue"
    elif policy.get("rule") in ("jsq", "sa-jsq"):
        fields(policy, "rule")
        least = load
    elif policy.get("rule") in ("jiq", "sa-jiq"):
        fallback = fields(policy, "rule fallback")["fallback"]
        if fallback not in ("speed", "uniform"):
            raise Rejected("the fallback is speed or uniform")
        least = max(load * (s if fallback == "speed" else 1) / s for s in speeds)
    else:
        raise Rejected("unknown rule")
    if rational(fields(conclusion, name)[name]) < least:
        raise Rejected(f"{name} is at least {least}")
