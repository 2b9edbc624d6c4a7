"""Policies whose joined length is below a pick in proportion to speed: tails and drifts for every number of servers.

S is the set {JSQ with any tie rule, SA-JSQ, JIQ and SA-JIQ with fallback by speed}; s_k = (1/N) sum mu_i P(q_i >= k).
"""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

MODEL = "N servers of speeds mu_i, sum mu_i = N, in any pools, Poisson arrivals N lam, 0 < lam < 1"
DEFINITIONS = ("load", "pools", "policy", "tail-k")


def _generator() -> Statement:
    """(q - k)^+ rises by 1 at an arrival iff q >= k, and falls by 1 at a departure iff q >= k + 1; else it stays.

    x = q - k; the three cases x >= 0, x = -1 and x <= -2 for arrivals, x >= 1 and x <= 0 for departures, where the
    positive part is x or 0.
    """
    return Statement(
        "identity",
        {"variables": ["x"], "domain": {}},
        stated(("(x+1) - x", "=", "1"), ("(x+1) - 0", "=", "0", {"set": {"x": "-1"}}), ("(x-1) - x", "=", "-1")),
    )


def _policies() -> Statement:
    """P(joined >= k) against u, the share of speed at servers with at least k jobs.

    Shortest queue: it is 1 if all servers have k jobs (u = 1), else 0.  Idle queue, k >= 1: 0 while a server is idle,
    else u itself.
    """
    share = {"u": ["u", ">="], "v": ["1-u", ">="]}
    return Statement(
        "sign",
        {"variables": ["u"], "domain": share},
        stated(("1", "<=", "u", {"set": {"u": "1"}}), ("0", "<=", "u"), ("u", "<=", "u")),
    )


def _levels() -> Statement:
    """s_(k+1) = lam P(joined >= k) = lam t s_k with 0 <= t <= 1."""
    return Statement(
        "induction",
        {
            "variables": ["lam"],
            "domain": {"lam": ["lam", ">"], "r": ["1-lam", ">"]},
            "state": ["s", "y"],
            "starts": [{"s": "lam", "y": "lam"}],
            "steps": {
                "level": {
                    "set": {"s": "lam*t*s", "y": "lam*y"},
                    "free": ["t"],
                    "guard": {"t": ["t", ">="], "u": ["1-t", ">="]},
                }
            },
        },
        stated(("s", "<=", "y")),
    )


def _transform() -> Statement:
    """E y^q = 1 + (y-1) sum y^(k-1) P(q >= k): partial sums with P replaced by lam^k, remainder (lam y)^k.

    power = lam (lam y)^(k-1); scaled = (1 - lam y) times the sum over 1..k.
    """
    return Statement(
        "induction",
        {
            "variables": ["lam", "y"],
            "domain": {"lam": ["lam", ">"], "y": ["y-1", ">="], "z": ["1-lam*y", ">"]},
            "state": ["power", "scaled"],
            "starts": [{"power": "lam", "scaled": "(1-lam*y)*lam"}],
            "steps": {"level": {"set": {"power": "lam*y*power", "scaled": "scaled + (1-lam*y)*lam*y*power"}}},
            "define": {"transform": "1 + (y-1)*scaled/(1-lam*y)"},
        },
        stated(
            ("transform", "=", "(1-lam)/(1-lam*y) - (y-1)*lam*y*power/(1-lam*y)"),
            ("transform", "<=", "(1-lam)/(1-lam*y)"),
        ),
    )


def _quadratic() -> Statement:
    """Per server: 2 lam joined + lam - 2 s + busy with joined <= s (speed-weighted mean length) and busy <= 1."""
    return Statement(
        "sign",
        {
            "variables": ["lam", "s", "joined", "busy"],
            "domain": {"lam": ["lam", ">"], "policy": ["s - joined", ">="], "idle": ["1-busy", ">="]},
        },
        stated(("2*lam*joined + lam - 2*s + busy", "<=", "-2*(1-lam)*s + 1 + lam")),
    )


CLAIMS = (
    Claim(
        id="pools.identity.busy",
        text="Any policy with a stationary law: s_1 = lam and s_(k+1) = lam P(the joined server has at least k jobs).",
        latex=r"s_1=\lambda,\qquad s_{k+1} = \lambda\, P(\text{joined} \ge k)",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=_generator,
        assumptions=MODEL + "; any policy with a stationary law",
        argument="The generator of the sum of (q_i - k)^+ is N lam P(joined >= k) - sum mu_i 1(q_i > k), by the cases of one"
        " arrival and one departure; applied to min(q_i, M) and M to infinity its stationary mean is zero.",
        definitions=DEFINITIONS,
        witness={"x": "1"},
    ),
    Claim(
        id="pools.domination",
        text="JSQ with any ties, SA-JSQ, JIQ and SA-JIQ with fallback by speed: s_k <= lam^k for every k, N and pools.",
        latex=r"s_k = \frac1N\sum_i \mu_i P(q_i\ge k) \le \lambda^k",
        source=Source(("P4",), "sharpens"),
        scope=Scope.ALL,
        statement=lambda: together(_policies(), _levels()),
        assumptions=MODEL,
        argument="For each policy the joined length is stochastically below a pick in proportion to speed (part 1), so"
        " s_(k+1) = lam P(joined >= k) <= lam s_k (part 2, an induction over k).",
        definitions=DEFINITIONS,
        uses=("pools.identity.busy",),
        witness={"u": "1/2", "lam": "1/2"},
    ),
    Claim(
        id="pools.tail",
        text="The same policies, 1 <= y < 1/lam: the speed-weighted mean of E y^q is at most (1-lam)/(1-lam y): exponential"
        " tails and tightness, uniformly in N.",
        latex=r"\frac1N\sum_i\mu_i E\,y^{q_i} \le \frac{1-\lambda}{1-\lambda y}",
        source=Source(("P4",), "states"),
        scope=Scope.ALL,
        statement=_transform,
        assumptions=MODEL,
        argument="E y^q = 1 + (y-1) sum y^(k-1) P(q >= k) and s_k <= lam^k; partial sums by induction, the remainder has a"
        " factor (lam y)^k.",
        definitions=DEFINITIONS,
        uses=("pools.domination",),
        witness={"lam": "1/2", "y": "3/2"},
    ),
    Claim(
        id="pools.quadratic-drift",
        text="The same policies: the drift of sum q_i^2 is at most -2 (1-lam) sum mu_i q_i + N (1+lam) in every state.",
        latex=r"L\sum_i q_i^2 \le -2(1-\lambda)\sum_i\mu_i q_i + N(1+\lambda)",
        source=Source(("P3", "P4"), "states"),
        scope=Scope.ALL,
        statement=_quadratic,
        assumptions=MODEL,
        argument="Summed over k, domination says that the joined length is at most the speed-weighted mean length in every"
        " state; the busy speed is at most N.",
        definitions=DEFINITIONS,
        uses=("pools.domination",),
        witness={"lam": "1/2", "s": "1", "joined": "1/2", "busy": "1/2"},
    ),
)
