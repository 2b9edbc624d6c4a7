"""Exponential Lyapunov functions of shortest and idle queues: the exact best rate, for every number of servers."""

from fractions import Fraction
from functools import cache

from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.policy import Policy
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.pools.domination import DEFINITIONS, MODEL
from proofs_check.lyapunov.cells import system

POOLS, LOAD, BASE = "1/2:3/2,1/2:1/2", Fraction(1, 2), Fraction(5, 4)
SHORTEST = (JSQ(POOLS, LOAD), SpeedAwareJSQ(POOLS, LOAD))
IDLE = (JIQ(POOLS, LOAD, fallback="speed"), SpeedAwareJIQ(POOLS, LOAD, fallback="speed"))


def _steps() -> Statement:
    """z = y^q becomes y z at an arrival and z/y at a departure."""
    return Statement(
        "identity",
        {"variables": ["y", "z"], "domain": {"y": ["y-1", ">"]}},
        stated(("y*z - z", "=", "(y-1)*z"), ("z/y - z", "=", "-(1-1/y)*z")),
    )


def _bounds() -> Statement:
    """A server of speed m >= k, the least; r is the rate kappa; z = y^q >= 1 or y^(q - shortest) = 1 + w.

    Shortest queue, all busy: per server the average term lam (y-1) - (1-1/y) + r and the excess w (r - (1-1/y) m).
    Some server idle (both rules): above the state 0 each busy server adds (r - (1-1/y) m) z - r.
    Idle queue by speed, all busy: z (lam m (y-1) - (1-1/y) m + r).
    Beyond kappa*: the coefficient of the power that grows is positive.
    """
    domain = {
        "lam": ["lam", ">"],
        "y": ["y-1", ">"],
        "tail": ["1-lam*y", ">"],
        "k": ["k", ">"],
        "m": ["m-k", ">="],
        "r": ["r", ">="],
        "z": ["z-1", ">="],
        "w": ["w", ">="],
    }
    slow, even = {"S": ["(y-1)*k - y*r", ">="]}, {"E": ["(y-1)*(1-lam*y) - y*r", ">="]}
    both = {"B": ["(y-1)*(1-lam*y)*k - y*r", ">="]}
    fall = "(1-1/y)"
    return Statement(
        "sign",
        {"variables": ["lam", "y", "k", "m", "r", "z", "w"], "domain": domain},
        stated(
            (f"lam*(y-1) - {fall} + r", "<=", "0", {"assume": even}),
            (f"w*(r - {fall}*m)", "<=", "0", {"assume": slow}),
            (f"(r - {fall}*m)*z - r", "<=", "0", {"assume": slow}),
            (f"z*(lam*m*(y-1) - {fall}*m + r)", "<=", "0", {"assume": both}),
            (f"(r - {fall}*m)*z - r", "<=", "0", {"assume": both}),
            (f"r - {fall}*k", ">", "0", {"assume": {"S": ["y*r - (y-1)*k", ">"]}}),
            (f"lam*(y-1) - {fall} + r", ">", "0", {"assume": {"E": ["y*r - (y-1)*(1-lam*y)", ">"]}}),
            (f"lam*k*(y-1) - {fall}*k + r", ">", "0", {"assume": {"B": ["y*r - (y-1)*(1-lam*y)*k", ">"]}}),
        ),
    )


@cache
def _live(policy: Policy, n: int) -> Statement:
    """The claimed rate and supremum in every cell of the live rule."""
    y, load, slow = BASE, LOAD, Fraction(1, 2)
    shortest = type(policy) in (JSQ, SpeedAwareJSQ)
    rate = (1 - 1 / y) * (min(slow, 1 - load * y) if shortest else (1 - load * y) * slow)
    conclusion = {
        "function": "exponential",
        "base": str(y),
        "weights": ["1"] * len(policy.pools),
        "rate": str(rate),
        "bound": str(n * (load * (y - 1) + rate)),
    }
    return Statement("drift", system(policy, n, ordered=True), conclusion)


CLAIMS = (
    Claim(
        id="pools.exponential-drift",
        text="V = sum y^(q_i), 1 < y < 1/lam, N >= 2, kappa >= 0: the drift plus kappa V is bounded iff kappa <= kappa*, and"
        " then its supremum is N (lam (y-1) + kappa), reached at 0. kappa* = (1-1/y) min(mu_min, 1 - lam y) for JSQ with any"
        " ties and SA-JSQ, (1-1/y) (1 - lam y) mu_min for JIQ and SA-JIQ with fallback by speed.",
        latex=r"\sup_q (LV+\kappa V) < \infty \iff \kappa \le \kappa^*,\qquad"
        r" \kappa^* = (1-\tfrac1y)\min(\mu_{\min}, 1-\lambda y) \text{ or } (1-\tfrac1y)(1-\lambda y)\,\mu_{\min}",
        source=Source(("P4",), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_steps(), _bounds(), *(_live(p, n) for p in (*SHORTEST, *IDLE) for n in (2, 4))),
        assumptions=MODEL + "; N >= 2",
        argument="An arrival at level l adds (y-1) y^l, a departure takes (1-1/y) y^q (part 1). With an idle server all rules"
        " join level 0, and beyond the value N (lam (y-1) + kappa) at 0 a busy server adds (kappa - (1-1/y) mu) y^q - kappa <= 0."
        " With all busy and shortest m, JSQ adds y^m times terms that are <= 0, as the speeds sum to N; JIQ by speed adds"
        " y^q (kappa - (1-1/y)(1 - lam y) mu) <= 0 at each server (part 2). For larger kappa the coefficient is positive along"
        " a ray: the slowest server long with the others idle, all queues equal, or the slowest long with the others busy."
        " The other parts check rate and supremum in every cell of the live rules, for two and four servers.",
        definitions=(*DEFINITIONS, "stable"),
        witness={"lam": "1/2", "y": "5/4", "k": "1/2", "m": "3/2", "r": "1/100", "z": "1", "w": "0"},
    ),
)
