"""The generic drift method: one inequality about the policy gives stability and moments for every n."""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

DEFINITIONS = ("load", "queue-length", "policy", "stable")


def _moment() -> Statement:
    """Stationary drift of the sum of q_i^2: m = (1/n) E sum mu_i q_i, chosen = E sum p_i q_i, busy speed n lam."""
    return Statement(
        "sign",
        {
            "variables": ["lam", "m", "chosen", "c"],
            "domain": {
                "lam": ["lam", ">"],
                "r": ["1-lam", ">"],
                "c": ["c", ">="],
                "policy": ["m + c - chosen", ">="],
                "drift": ["lam*(2*chosen + 1) - 2*m + lam", ">="],
            },
        },
        stated(("m", "<=", "lam*(1+c)/(1-lam)")),
    )


def _foster() -> Statement:
    """Pointwise: the drift is at most lam (2 c + 1) + 1 - 2 (1-lam) s with s = (1/n) sum mu_i q_i, busy speed at most n."""
    return Statement(
        "sign",
        {
            "variables": ["lam", "s", "chosen", "c", "busy"],
            "domain": {
                "lam": ["lam", ">"],
                "policy": ["s + c - chosen", ">="],
                "idle": ["1-busy", ">="],
            },
        },
        stated(("lam*(2*chosen + 1) - 2*s + busy", "<=", "lam*(2*c+1) + 1 - 2*(1-lam)*s")),
    )


def _domination() -> Statement:
    """s_(k+1) = lam P(joined >= k) <= rho s_k: with a factor t <= rho that may change from level to level."""
    return Statement(
        "induction",
        {
            "variables": ["lam", "rho"],
            "domain": {"lam": ["lam", ">"], "rho": ["rho", ">="], "r": ["1-rho", ">"]},
            "state": ["s", "y"],
            "starts": [{"s": "lam", "y": "lam"}],
            "steps": {
                "level": {
                    "set": {"s": "t*s", "y": "rho*y"},
                    "free": ["t"],
                    "guard": {"t": ["t", ">="], "u": ["rho-t", ">="]},
                }
            },
        },
        stated(("s", "<=", "y")),
    )


def _sample() -> Statement:
    """One sample: shortest at m, longest at m + w, average at least m + r w (r = 1/d), an error only if w <= g."""
    domain = {
        "w": ["w", ">="],
        "eps": ["eps", ">="],
        "r": ["r", ">"],
        "average": ["A - m - r*w", ">="],
        "gap": ["g-w", ">="],
    }
    joined = "(1-eps)*m + eps*(m+w)"
    return Statement(
        "sign",
        {"variables": ["m", "w", "A", "r", "eps", "g"], "domain": domain},
        stated(
            (f"{joined} - A", "<=", "g*(eps-r)", {"assume": {"c": ["eps-r", ">="]}}),
            (f"{joined} - A", "<=", "0", {"assume": {"c": ["r-eps", ">="]}}),
            ("m - A", "<=", "0"),
        ),
    )


CLAIMS = (
    Claim(
        id="noisy.scheme.generic-drift",
        text="Any policy with sum p_i q_i <= (1/n) sum mu_i q_i + c in every state is positive recurrent for lam < 1, and"
        " (1/n) E sum mu_i q_i <= lam (1+c)/(1-lam); if n lam p(U) <= rho mu(U) for all top sets, s_k <= lam rho^(k-1).",
        latex=r"\frac1n E\sum_i \mu_i q_i \le \frac{\lambda(1+c)}{1-\lambda}",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_foster(), _moment(), _domination()),
        assumptions="n servers of speeds mu_i, sum mu_i = n, arrivals n lam, 0 < lam < 1, c >= 0, rho < 1",
        argument="Drift of sum q_i^2 per server: 2 lam (sum p_i q_i) + lam - 2 s + busy speed. Pointwise it is negative far out"
        " (Foster). In the stationary law it is at least 0 and the busy speed is n lam: the moment bound. For top sets:"
        " s_(k+1) = lam P(joined >= k) at most rho s_k.",
        definitions=DEFINITIONS,
        witness={
            "lam": "1/2",
            "m": "1/2",
            "chosen": "1/2",
            "c": "0",
            "s": "1/2",
            "busy": "1/2",
            "rho": "1/2",
        },
    ),
    Claim(
        id="noisy.dependent.queue-bound",
        text="n servers, errors at gaps up to g: positive recurrent and E Q <= lam (1 + g (eps - 1/d)^+)/(1-lam), for every n, g,"
        " eps, d and both sampling rules.",
        latex=r"E Q \le \frac{\lambda\,(1+g\,(\varepsilon-1/d)^+)}{1-\lambda}",
        source=Source(("P1", "P2"), "sharpens"),
        scope=Scope.ALL,
        statement=_sample,
        assumptions="n >= d unit-rate servers (n >= 1 with replacement), 0 < lam < 1, finite g",
        argument="In each sample the joined load exceeds the sample's average by at most g (eps - 1/d)^+, as the average is at"
        " least shortest + gap/d. The mean of the sample averages is the mean load under both rules, so the policy"
        " inequality of the generic drift holds with c = g (eps - 1/d)^+.",
        definitions=("load", "comparison-error", "queue-length", "stable"),
        uses=("noisy.scheme.generic-drift",),
        witness={"m": "0", "w": "1", "A": "1/2", "r": "1/2", "eps": "1/2", "g": "1"},
    ),
)
