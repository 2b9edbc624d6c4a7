"""The limit of many servers: where noisy schemes beat random routing, and what lies between which."""

from meanfield.models.noisy import PowerOfD
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.dependent import DEFINITIONS
from proofs_check.claims.noisy.dependent import MODEL as DEPENDENT
from proofs_check.claims.noisy.independent import MODEL as INDEPENDENT

BEATEN = [
    ("1/2", "2/5", 3, "24/25"),
    ("7/10", "2/5", 3, "213/100"),
    ("4/5", "11/100", 10, "13/10"),
]  # load, eps, d, bound of the mean queue


def _beats_random(load: str, eps: str, d: int, bound: str) -> Statement:
    """The mean queue lies below a bound that is below lam/(1-lam), the mean queue of random routing."""
    policy = PowerOfD(load, d, None, eps)
    problem = {"load": str(policy.load), "eps": str(policy.eps), "d": policy.d, "g": policy.g}
    return Statement("fixed-point", problem, {"mean_queue": ["0", bound]})


def _below_random(load: str, bound: str) -> Statement:
    return Statement("sign", {"variables": [], "domain": {}}, stated((bound, "<", f"({load})/(1-({load}))")))


def _monotone() -> Statement:
    """A = u^d and B = (1-u)^d are at most u and 1-u: h gains (e' - e)(1 - B - A) >= 0 from a larger error chance."""
    return Statement(
        "sign",
        {
            "variables": ["u", "A", "B", "eps", "more"],
            "domain": {"a": ["u-A", ">="], "b": ["1-u-B", ">="], "m": ["more", ">="]},
        },
        stated(("(1-eps-more)*A + (eps+more)*(1-B)", ">=", "(1-eps)*A + eps*(1-B)")),
    )


def levels_in_order() -> Statement:
    """x <= y at a level gives lam h(x) <= lam h'(y) at the next: s = h(x), t = h'(y), s <= t as h increases."""
    return Statement(
        "induction",
        {
            "variables": ["lam"],
            "domain": {"lam": ["lam", ">"]},
            "state": ["x", "y"],
            "starts": [{"x": "lam", "y": "lam"}],
            "steps": {
                "level": {
                    "set": {"x": "lam*s", "y": "lam*t"},
                    "free": ["s", "t"],
                    "guard": {"s": ["s", ">="], "w": ["t-s", ">="]},
                }
            },
        },
        stated(("x", "<=", "y")),
    )


def _bernoulli() -> Statement:
    """(1 - lam)^j >= 1 - j lam."""
    return Statement(
        "induction",
        {
            "variables": ["lam"],
            "domain": {"lam": ["lam", ">="], "r": ["1-lam", ">="]},
            "state": ["j", "B"],
            "starts": [{"j": "0", "B": "1"}],
            "steps": {"factor": {"set": {"j": "j+1", "B": "(1-lam)*B"}}},
        },
        stated(("B", ">=", "1 - j*lam")),
    )


def _light() -> Statement:
    """c = d eps > 1 and lam <= (1 - 1/c)/(2 d): 1 + c lam (1 - d lam) B exceeds 1/(1-lam), B = (1-lam)^(d-1)."""
    return Statement(
        "sign",
        {
            "variables": ["lam", "d", "c", "B"],
            "domain": {
                "lam": ["lam", ">"],
                "r": ["1-lam", ">"],
                "d": ["d-2", ">="],
                "u": ["1-d*lam", ">"],
                "B": ["B - 1 + (d-1)*lam", ">="],
                "c": ["c", ">"],
                "range": ["c - 1 - 2*d*c*lam", ">="],
            },
        },
        stated(("c*(1-d*lam)*(1-(d-1)*lam)*(1-lam)", ">", "1"), ("1 + c*lam*(1-d*lam)*B", ">", "1/(1-lam)")),
    )


CLAIMS = (
    Claim(
        id="noisy.independent.worse-beyond-one-over-d",
        text="Errors at every gap, d >= 3, eps > 1/d: at every stable load the mean response is at least that of random"
        " routing, 1/(1-lam).",
        latex=r"d\ge3,\ \varepsilon>1/d:\quad E T \ge \frac{1}{1-\lambda}",
        source=Source(("P1",), "states"),
        scope=Scope.INSTANCE,
        statement=lambda: together(
            *(_beats_random(*case) for case in BEATEN), *(_below_random(load, bound) for load, _, _, bound in BEATEN)
        ),
        assumptions=INDEPENDENT + "; limit of many servers",
        argument="Three counterexamples: d = 3, eps = 2/5, lam = 1/2 has mean queue below 0.96 against 1 for random routing;"
        " lam = 7/10 below 2.13 against 7/3; d = 10, eps = 11/100, lam = 4/5 below 1.3 against 4. Certified bounds of the fixed"
        " point, recursion rounded outward.",
        definitions=DEFINITIONS,
        expected=Verdict.REFUTED,
        fails="d = 3: the map, eps against lam; at eps = 2/5 the loads of noisy.independent.where-worse. No formula is known",
    ),
    Claim(
        id="noisy.independent.monotone-in-eps",
        text="Errors at every gap: every x_k of the limit is nondecreasing in eps, for every d and load.",
        latex=r"\varepsilon\le\varepsilon' \implies x_k(\varepsilon)\le x_k(\varepsilon')",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(_monotone(), levels_in_order()),
        assumptions=INDEPENDENT + "; u^d <= u and (1-u)^d <= 1-u on [0,1]; h increases in u",
        argument="h(u) gains (eps' - eps)(1 - (1-u)^d - u^d) >= 0 (part 1); with h increasing, an induction over the levels"
        " (part 2).",
        definitions=DEFINITIONS,
        witness={"u": "1/2", "A": "1/4", "B": "1/4", "eps": "1/4", "more": "1/4", "lam": "1/2"},
    ),
    Claim(
        id="noisy.dependent.light-traffic",
        text="eps > 1/d and g >= 1, or errors at every gap: the mean response exceeds 1/(1-lam), that of random routing, for"
        " 0 < lam <= (1 - 1/(d eps))/(2 d).",
        latex=r"E T > \frac{1}{1-\lambda}\quad\text{for } 0<\lambda\le\frac{1-1/(d\varepsilon)}{2d}",
        source=Source(("P2",), "states", "earlier version"),
        scope=Scope.ALL,
        statement=lambda: together(_bernoulli(), _light()),
        assumptions=DEPENDENT
        + "; E T >= 1 + P_1 and P_1 >= eps d p_1 p_0^(d-1) with p_0 = 1-lam, p_1 >= lam (1 - d lam)",
        argument="One error among an idle and d - 1 idle servers already costs eps d p_1 p_0^(d-1); with (1-lam)^(d-1) >= 1 -"
        " (d-1) lam (part 1) the bound exceeds 1/(1-lam) on the stated range (part 2).",
        definitions=DEFINITIONS,
        witness={"lam": "1/100", "d": "2", "c": "2", "B": "99/100"},
    ),
)
