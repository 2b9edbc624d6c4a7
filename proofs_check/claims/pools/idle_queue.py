"""Two servers, idle-queue policies with uniform fallback: the exact stability threshold.

Speeds m > k > 0, m + k = 2; queues q1 (fast) and q2 (slow); threshold: the root of 2 lam^2 = k (m + lam).
"""

from typing import Any

from exactchains.domain import QQ
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

DOMAIN = {
    "lam": ["lam", ">"],
    "m": ["m-k", ">"],
    "k": ["k", ">"],
    "l": ["1-lam", ">"],
    "t": ["2-m-k", ">="],
    "s": ["m+k-2", ">="],
}
ABOVE = {"over": ["2*lam^2 - k*(m+lam)", ">="]}
STRICTLY = {"over": ["2*lam^2 - k*(m+lam)", ">"]}
BELOW = {"under": ["k*(m+lam) - 2*lam^2", ">"]}
CELLS = {"both idle": (0, 0), "fast idle": (0, 1), "slow idle": (1, 0), "busy": (1, 1)}
POLICIES = {"jiq": JIQ, "sa-jiq": SpeedAwareJIQ}


def arrivals(policy: Any, cell: tuple[int, int]) -> tuple[str, str]:
    """Return the chances to join the fast and the slow server in a cell, from the live rule."""
    law = policy("1/2:3/2,1/2:1/2", "1/2").law(((cell[0],), (cell[1],)))
    return tuple(str(law.get((pool, cell[pool]), QQ.convert(0))) for pool in (0, 1))  # type: ignore[return-value]


def linear_drift(policy: Any, cell: tuple[int, int], fast: str, slow: str) -> str:
    """Return the drift of fast*q1 + slow*q2."""
    p1, p2 = arrivals(policy, cell)
    services = f"-({fast})*m" * cell[0] + f"-({slow})*k" * cell[1]
    return f"2*lam*(({p1})*({fast}) + ({p2})*({slow})){services}"


def _unstable() -> Statement:
    """F = q2 + a q1, a = k/(2 lam): no negative drift anywhere at or above the threshold, positive with q2 = 0."""
    claims = []
    for policy in POLICIES.values():
        for cell in CELLS.values():
            drift = linear_drift(policy, cell, "k/(2*lam)", "1")
            claims.append((drift, ">=", "0", {"assume": ABOVE}))
            if cell[1] == 0:
                claims.append((drift, ">", "0", {"assume": ABOVE}))
    return Statement("sign", {"variables": ["lam", "m", "k"], "domain": DOMAIN}, stated(*claims))


def quadratic_drift(policy: Any, cell: tuple[int, int], a: str, C: str) -> tuple[str, str, str]:
    """Return the coefficients of q1, of q2 and the constant in the drift of q2^2/2 + a q1 q2 + C q1^2."""
    p1, p2 = (f"2*lam*({p})" for p in arrivals(policy, cell))
    s1, s2 = ("m" if cell[0] else "0"), ("k" if cell[1] else "0")
    first = f"({a})*({p2} - {s2}) + 2*({C})*({p1} - {s1})"
    second = f"({p2} - {s2}) + ({a})*({p1} - {s1})"
    constant = f"({p2} + {s2})/2 + ({C})*({p1} + {s1})"
    return first, second, constant


def _stable() -> Statement:
    """a = lam/(m + lam), C large: in each cell the coefficients of the queues that are not zero are negative."""
    claims = []
    a = "lam/(m+lam)"
    domain = DOMAIN | {"C": ["C*(m-lam) - lam", ">"], "e": ["C", ">"], "x": ["m-lam", ">"], "y": ["C*m-lam", ">"]}
    for policy in POLICIES.values():
        for cell in CELLS.values():
            first, second, _ = quadratic_drift(policy, cell, a, "C")
            if cell[0]:
                claims.append((first, "<", "0", {"assume": BELOW}))
            if cell[1]:
                claims.append((second, "<", "0", {"assume": BELOW}))
    return Statement("sign", {"variables": ["lam", "m", "k", "C"], "domain": domain}, stated(*claims))


def _transient() -> Statement:
    """Above the threshold k/(2 lam) < (lam-k)/(m-lam), and for every a between them all drifts are positive."""
    between = {"low": ["2*lam*a - k", ">"], "high": ["(lam-k) - a*(m-lam)", ">"], "a": ["a", ">"]}
    claims = [
        (linear_drift(policy, cell, "a", "1"), ">", "0", {"assume": between})
        for policy in POLICIES.values()
        for cell in CELLS.values()
    ]
    gap = ("(lam-k)/(m-lam) - k/(2*lam)", ">", "0", {"assume": STRICTLY})
    domain = DOMAIN | {"x": ["m-lam", ">"]}
    return Statement("sign", {"variables": ["lam", "m", "k", "a"], "domain": domain}, stated(gap, *claims))


def _no_separable() -> Statement:
    """V = b q1^2 + c q2^2 with c > 0: with nobody idle the coefficient of q2 is 2 c (lam - k), not negative for lam >= k."""
    second = quadratic_drift(JIQ, (1, 1), "0", "b")[1]
    return Statement(
        "sign",
        {"variables": ["lam", "m", "k", "c"], "domain": {"c": ["c", ">"], "over": ["lam-k", ">="]}},
        stated((f"2*c*({second})", ">=", "0")),
    )


MODEL = (
    "two servers of speeds m > k > 0, m + k = 2, Poisson arrivals 2 lam, 0 < lam < 1; JIQ or SA-JIQ, and a server chosen"
    " uniformly when none is idle"
)

CLAIMS = (
    Claim(
        id="pools.jiq.uniform-fallback-threshold",
        text="JIQ and SA-JIQ with uniform fallback on two servers are positive recurrent iff 2 lam^2 < mu_2 (mu_1 + lam), that"
        " is below [mu_2 + sqrt(mu_2^2 + 8 mu_1 mu_2)]/4 < 1, and transient above.",
        latex=r"\text{positive recurrent} \iff \lambda < \lambda^* = \frac{\mu_2+\sqrt{\mu_2^2+8\mu_1\mu_2}}{4}",
        source=Source(("P3",), "corrects", "if the paper means this fallback"),
        scope=Scope.ALL,
        statement=lambda: together(_stable(), _unstable(), _transient()),
        assumptions=MODEL + "; mu_1 > 1 > lam as the speeds sum to 2",
        argument="Below: V = q2^2/2 + a q1 q2 + C q1^2, a = lam/(mu_1+lam), C (mu_1-lam) > lam, has in each cell negative"
        " coefficients of the queues that are not zero (part 1). At and above: F = q2 + mu_2/(2 lam) q1 has bounded jumps and"
        " nonnegative drift in all four cells, positive when the slow server is idle, which a positive recurrent chain"
        " forbids (part 2). Strictly above: F = q2 + a q1 has positive drift everywhere for a in an interval that is not"
        " empty (part 3).",
        definitions=("load", "pools", "policy", "stable"),
        witness={"lam": "4/5", "m": "3/2", "k": "1/2", "C": "2", "a": "2/5"},
    ),
    Claim(
        id="pools.jiq.cross-term-certificate",
        text="Below that threshold a quadratic with a cross term has negative drift far out; at loads lam >= mu_2 no separable"
        " quadratic has.",
        latex=r"2\lambda^2 < \mu_2(\mu_1+\lambda) \implies L V \le B - e(q_1+q_2)",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(_stable(), _no_separable()),
        assumptions=MODEL
        + "; mu_1 > 1 > lam; V = q2^2/2 + a q1 q2 + C q1^2 with a = lam/(mu_1+lam), C (mu_1-lam) > lam",
        argument="In each cell the drift is linear in the queues; the coefficients of those that are not zero are negative. For"
        " a separable quadratic bounded below the coefficient of the slow queue with nobody idle is 2 c (lam - mu_2) >= 0.",
        definitions=("load", "pools", "policy", "stable"),
        witness={"lam": "3/5", "m": "3/2", "k": "1/2", "C": "1", "c": "1"},
    ),
)
