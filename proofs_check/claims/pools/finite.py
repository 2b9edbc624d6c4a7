"""Pools at a finite number of servers: the distance to the optimal response, and what a box of states proves."""

from functools import cache
from itertools import product

from flint import fmpq

from meanfield.models.policy import Policy
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.pools.domination import DEFINITIONS, MODEL

THREE, TWO = "1/3:2,2/3:1/2", "1/2:3/2,1/2:1/2"
ROUTED = (
    (JSQ(TWO, "1/2"), 2),
    (SpeedAwareJSQ(TWO, "1/2"), 2),
    (JSQ(THREE, "1/2"), 3),
    (SpeedAwareJSQ(THREE, "1/2"), 3),
)


def _identity() -> Statement:
    """Faster pools: F servers of total speed M, Z idle ones of total speed Y; the pool j*: B busy of speed m; slower
    pools: b busy of total speed y; W waiting jobs; A = N lam, the busy speed.

    A E T = jobs = busy + waiting, A D* = F + (A - M)/m.
    """
    names = ["F", "M", "Z", "Y", "B", "m", "b", "y", "W"]
    busy_speed = "(M - Y + m*B + y)"
    jobs = "(F - Z + B + b + W)"
    return Statement(
        "identity",
        {"variables": names, "domain": {"m": ["m", ">"]}},
        stated((f"{jobs} - (F + ({busy_speed} - M)/m)", "=", "(Y/m - Z) + (b - y/m) + W")),
    )


def _excursions() -> Statement:
    """u = P(max > K), p and z the chances of the full and the empty box in its own law, t and w those of these states.

    Above the box: u <= t (1/w - 1); conditioned on the box the law lies below the box's own: t <= (1-u) p, w >= (1-u) z.
    """
    domain = {
        "u": ["u", ">="],
        "r": ["1-u", ">"],
        "p": ["p", ">="],
        "s": ["1-p", ">"],
        "z": ["z", ">"],
        "w": ["w-(1-u)*z", ">="],
        "one": ["1-w", ">="],
        "t": ["(1-u)*p - t", ">="],
        "mean": ["t*(1-w) - u*w", ">="],
    }
    return Statement(
        "sign",
        {"variables": ["u", "p", "z", "t", "w"], "domain": domain},
        stated(("u", "<=", "p*(1-z)/(z*(1-p))")),
    )


@cache
def _monotone(policy: Policy, n: int) -> Statement:
    """One job more at server r: every other server is joined at least as often, in all states (gaps up to 3)."""
    found = set()
    for queue in product(range(4), repeat=n):
        if min(queue) > 0:
            continue  # only differences count
        before = joined(policy, n, queue)
        for r in range(n):
            after = joined(policy, n, tuple(q + (i == r) for i, q in enumerate(queue)))
            found |= {(str(before[i]), "<=", str(after[i])) for i in range(n) if i != r}
    return Statement("sign", {"variables": [], "domain": {}}, stated(*sorted(found)))


def joined(policy: Policy, n: int, queue: tuple[int, ...]) -> list[fmpq]:
    """Return the chance that each server is joined, ties inside a pool at random."""
    sizes = policy.pools.sizes(n)
    pool = [j for j, size in enumerate(sizes) for _ in range(size)]
    loads = tuple(tuple(sorted(q for q, k in zip(queue, pool, strict=True) if k == j)) for j in range(len(sizes)))
    law = policy.law(loads)
    count = {(j, q): loads[j].count(q) for j in range(len(sizes)) for q in loads[j]}
    return [law.get((j, q), fmpq(0)) / count[j, q] for j, q in zip(pool, queue, strict=True)]


CLAIMS = (
    Claim(
        id="pools.first-order",
        text="N lam (E T - D*) = sum over faster pools of (m_j/m_(j*) - 1) E Z_j + sum over slower pools of (1 - m_j/m_(j*))"
        " E B_j + E W for every policy with a stationary law; Z_j idle, B_j busy servers, W waiting jobs.",
        latex=r"N\lambda (E T - D^*) = \sum_{j<j^*}\Big(\frac{m_j}{m_{j^*}}-1\Big) E Z_j"
        r" + \sum_{j>j^*}\Big(1-\frac{m_j}{m_{j^*}}\Big) E B_j + E W",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=_identity,
        assumptions=MODEL + "; j* with Lam_(j*-1) < lam <= Lam_(j*), N g_j integers",
        argument="Little's law, the busy speed N lam, and D* N lam = servers of the faster pools + what is left over m_(j*). The"
        " identity is linear in the counts of the pools, so their sums stand for all of them.",
        definitions=("load", "pools", "mean-response"),
        uses=("pools.identity.busy",),
        witness=dict.fromkeys(("F", "M", "Z", "Y", "B", "m", "b", "y", "W"), "1"),
    ),
    Claim(
        id="pools.truncation.one-gate",
        text="JSQ and SA-JSQ, the box of at most K jobs a server in which arrivals are lost only when all servers are full:"
        " P(max > K) <= p (1 - z)/(z (1 - p)) with p and z the chances of the full and of the empty box in its own law.",
        latex=r"P(\max q > K) \le \frac{p_K\,(1-\pi_K(0))}{\pi_K(0)\,(1-p_K)}",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(_excursions(), *(_monotone(*case) for case in ROUTED)),
        assumptions=MODEL + "; N >= 2, K >= 1, ties by a fresh random order",
        argument="Under a common coupling both rules keep the coordinatewise order (the other parts check the live rules at two"
        " and three servers, in all states). The longest queue rises above K only from the full box. An excursion above it is no"
        " longer than the way to 0 from one job, of mean (1/pi(0) - 1)/(N lam), so u <= pi(full)(1/pi(0) - 1). The law"
        " conditioned on the box lies below that of the box, so pi(full) <= (1-u) p and pi(0) >= (1-u) z. Solve for u (part 1).",
        definitions=(*DEFINITIONS, "stationary-law"),
        witness={"u": "0", "p": "1/4", "z": "1/2", "t": "1/8", "w": "1/2"},
    ),
    Claim(
        id="pools.first-order.limit",
        text="For Lam_(j*-1) < lam < Lam_(j*) and SA-JSQ: N lam (E T - D*) tends to the sum over faster pools of (m_j/m_(j*) - 1)"
        " (Lam_j/(lam - Lam_j) - Lam_(j-1)/(lam - Lam_(j-1))).",
        latex=r"N\lambda(E T-D^*) \to \sum_{j<j^*}\Big(\frac{m_j}{m_{j^*}}-1\Big)"
        r"\Big[\frac{\Lambda_j}{\lambda-\Lambda_j}-\frac{\Lambda_{j-1}}{\lambda-\Lambda_{j-1}}\Big]",
        source=Source((), "ours"),
        scope=Scope.ALL,
        assumptions=MODEL + "; N g_j integers",
        argument="The identity at finite N, with the means of the fast chain for the idle servers of faster pools.",
        definitions=("load", "pools", "mean-response"),
        uses=("pools.first-order", "pools.fluid.fast-chain"),
        missing="convergence of the mean numbers of idle servers, and of waiting jobs and slower busy servers to 0",
    ),
)
