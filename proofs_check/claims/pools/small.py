"""Two servers: what the limit of many servers hides, from boxes that lie below the true law."""

from flint import fmpq

from meanfield.finite import exact_chain, jobs
from meanfield.models.policy import Loads
from meanfield.models.shortest import SpeedAwareJSQ
from proofs_check.claim import Claim, Scope, Source, Statement

BELOW = (
    "two servers, arrivals 2 lam; in the box of at most K jobs a server arrivals are lost only when every server is full, and"
    " its law lies stochastically below the true one (SA-JSQ keeps the coordinatewise order under one coupling)"
)
DEFINITIONS = ("load", "pools", "mean-response")


def _box(pools: str, load: str, buffer: int, slow_only: bool, lower: str, upper: str) -> Statement:
    """Bounds of the mean number of jobs, or of the chance that the slow server is busy, in the box."""
    box = exact_chain(SpeedAwareJSQ(pools, load), n=2, buffer=buffer)

    def reward(loads: Loads) -> int:
        return int(loads[1][0] > 0) if slow_only else jobs(loads)

    transitions = [[i, j, str(rate)] for i, row in enumerate(box.chain.rows) for j, rate in sorted(row.items())]
    problem = {
        "time": "continuous",
        "states": len(box.states),
        "transitions": transitions,
        "reward": [str(fmpq(reward(loads))) for loads in box.states],
    }
    return Statement("mean", problem, {"mean": [lower, upper]})


CLAIMS = (
    Claim(
        id="pools.small-n.sa-jsq-can-lose",
        text="Two servers of speeds 9/5 and 1/5 at load 1/2: SA-JSQ has mean response time above 2, that of random routing by"
        " speed.",
        latex=r"N=2,\ \mu=(9/5,1/5),\ \lambda=\tfrac12:\quad E T_{\mathrm{SA\text{-}JSQ}} > 2",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=lambda: _box("1/2:9/5,1/2:1/5", "1/2", 5, False, "201/100", "10"),
        assumptions=BELOW + "; K = 5",
        argument="The mean number of jobs in the box is at least 2.01, hence in the true system; the arrival rate is 1, so it is"
        " the mean response. Random routing by speed has 1/(1-lam) = 2.",
        definitions=DEFINITIONS,
    ),
    Claim(
        id="pools.small-n.slow-busier",
        text="Two servers of speeds 3/2 and 1/2 at load 1/2 under SA-JSQ: the slow server is busy more often than the fast one.",
        latex=r"N=2,\ \mu=(3/2,1/2),\ \lambda=\tfrac12:\quad P(\text{slow busy}) > P(\text{fast busy})",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=lambda: _box("1/2:3/2,1/2:1/2", "1/2", 3, True, "101/200", "1"),
        assumptions=BELOW + "; K = 3; 3/4 P(fast busy) + 1/4 P(slow busy) = lam",
        argument="In the box the slow server is busy with chance at least 0.505, hence in the true system; the busy identity then"
        " puts the fast server below 1/2.",
        definitions=DEFINITIONS,
        uses=("pools.identity.busy",),
    ),
)
