"""The fixed point of the limit with errors at gaps up to g: it exists, it is the only one of finite sum, and it attracts."""

from functools import cache

from exactchains.symbolic import Fractions
from meanfield.flow import drift
from meanfield.models.noisy import PowerOfD
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.dependent import COOPERATIVE, DEFINITIONS, MODEL, joined


def _mass() -> Statement:
    """From 0: W = sum (2k-1) x_k never falls, W' = lam (2 J + 1) - 2 S + x_1, J the mean joined load <= S + c, x_1 <= lam."""
    return Statement(
        "sign",
        {
            "variables": ["lam", "S", "J", "x1", "c"],
            "domain": {
                "lam": ["lam", ">"],
                "r": ["1-lam", ">"],
                "c": ["c", ">="],
                "policy": ["S + c - J", ">="],
                "first": ["lam - x1", ">="],
                "rises": ["lam*(2*J+1) - 2*S + x1", ">="],
            },
        },
        stated(("S", "<=", "lam*(1+c)/(1-lam)")),
    )


@cache
def _balance(d: int, g: int) -> Statement:
    """Live flow on tails x_0 = 1, x_1, .., x_4, 0: the sum of all derivatives is lam - x_1."""
    names = ["lam", "eps", *(f"x{i}" for i in range(1, 5))]
    field = Fractions(*names)
    x = [field.convert(1), *(field[f"x{i}"] for i in range(1, 5)), field.convert(0)]
    rows = drift(PowerOfD("1/2", d, g, field["eps"]), [x], domain=field, load=field["lam"])[0]
    return Statement(
        "identity",
        {"variables": names, "domain": {}},
        stated((field.text(sum(rows, field.convert(0))), "=", "lam - x1")),
    )


@cache
def _pattern(d: int, g: int, k: int) -> Statement:
    """P_k of the live flow does not increase with any later tail x_(k+1), .., x_(k+g), on ordered tails."""
    depth = k + 2 * g + 1
    field, whole = joined(d, g, k, depth, ends=True)
    ordered = {f"p{i}": [f"x{i}-x{i + 1}", ">="] for i in range(depth - 1)} | {"x": [f"x{depth - 1}", ">="]}
    domain = {"eps": ["eps", ">="], "f": ["1-eps", ">="], **ordered}
    slopes = (field.text(whole.diff(field[f"x{k + i}"])) for i in range(1, g + 1))
    return Statement(
        "sign",
        {"variables": list(field.names), "domain": domain},
        stated(*((slope, "<=", "0") for slope in slopes)),
    )


CLAIMS = (
    Claim(
        id="noisy.dependent.fixed-point",
        text="Errors at gaps up to g, every load below 1 and every eps: exactly one tail 1 = x_0 >= x_1 >= .. of finite sum is at"
        " rest, and every ordered start of finite sum tends to it in each coordinate; here d = 2, 3 with g = 1, 2.",
        latex=r"\exists!\ x,\ \sum_k x_k<\infty:\ \dot x = 0;\qquad x(t)\to x \text{ coordinatewise}",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.INSTANCE,
        statement=lambda: together(
            _mass(),
            *(_balance(d, g) for d, g in COOPERATIVE),
            *(_pattern(d, g, k) for d, g in COOPERATIVE for k in range(1, g + 2)),
        ),
        assumptions=MODEL + "; ordered tails; d = 2, 3 and g = 1, 2; rows beyond g + 1 are shifts of row g + 1",
        argument="From 0 the cooperative flow rises, and its mass stays below lam (1 + g (eps-1/d)^+)/(1-lam) (part 1), so it tends"
        " to a fixed point pi of finite sum. Another one, u, lies above pi, and u_1 = pi_1 = lam, as the derivatives sum to lam - x_1"
        " (parts 2 to 5). If u and pi agree up to k, then u_(k+1) = lam P_k(u) <= lam P_k(pi) = pi_(k+1), as P_k does not increase"
        " with later tails (the other parts); so they agree. A start above pi stays above it and loses mass at rate x_1 - lam, so"
        " x_1 tends to lam and then, level by level, x to pi; other starts lie between two such trajectories.",
        definitions=DEFINITIONS,
        uses=("noisy.dependent.cooperative", "noisy.dependent.queue-bound"),
        witness={
            "lam": "1/2",
            "S": "1/2",
            "J": "1/2",
            "x1": "1/2",
            "c": "0",
            "eps": "1/2",
            **{f"x{i}": f"1/{2**i}" for i in (0, *range(2, 12))},
        },
    ),
)
