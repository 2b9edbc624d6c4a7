"""Errors at gaps up to g only (load-dependent): what couples the levels, and where a recursion survives."""

from typing import Any

from exactchains.symbolic import Fractions
from meanfield.models.noisy import PowerOfD
from proofs_check.claim import Claim, Scope, Source, Statement
from proofs_check.claims.age.domains import stated

MODEL = (
    "limit of many unit-rate servers, load lam in (0,1), samples of d; with probability eps the job goes to the longest"
    " of the sample, only if longest - shortest <= g"
)
DEFINITIONS = ("load", "comparison-error", "tail-k")


def joined(d: int, g: int, k: int, depth: int, *, ends: bool = False) -> tuple[Fractions, Any]:
    """Return P_k = P(joined load >= k) from the live flow, in x0 = 1, x1, .., x_depth; ``ends`` sets x_depth = 0."""
    names = ["lam", "eps", *(f"x{i}" for i in range(depth + 1))]
    field = Fractions(*names)
    x = [field[f"x{i}"] for i in range(depth + 1)]
    if ends:
        x[-1] = field.convert(0)
    law = PowerOfD("1/2", d, g, field["eps"]).limit_law([x], field)
    return field, sum((law[0, j] for j in range(k, depth)), field.convert(0))


def _recursion() -> Statement:
    """d = 2, g = 1: u = lam P_k is linear in u = x_(k+1); P_k = x_k^2 + 2 eps p_(k-1) p_k, p_k = x_k - x_(k+1)."""
    field, whole = joined(2, 1, 2, 6)
    text = field.text(whole)
    solved = "(lam*x2*(x2 + 2*eps*(x1-x2))/(1 + 2*lam*eps*(x1-x2)))"
    ordered = {f"p{i}": [f"x{i}-x{i + 1}", ">="] for i in range(6)} | {"x6": ["x6", ">="]}
    domain = {"lam": ["lam", ">"], "eps": ["eps", ">="], **ordered}
    return Statement(
        "sign",
        {"variables": list(field.names), "domain": domain},
        stated(
            (text, "=", "x2^2 + 2*eps*(x1-x2)*(x2-x3)", {"set": {"x0": "1", "x6": "0"}}),
            (f"lam*(x2^2 + 2*eps*(x1-x2)*(x2-{solved}))", "=", solved),
            (solved, ">=", "0"),
        ),
    )


COOPERATIVE = [(2, 1), (2, 2), (3, 1), (3, 2)]  # (d, g), rows 1 .. g + 1, which stand for all

CLAIMS = (
    Claim(
        id="noisy.dependent.recursion-at-one",
        text="g = 1 has a forward recursion; for d = 2 it is x_(k+1) = lam x_k (x_k + 2 eps p)/(1 + 2 lam eps p) with"
        " p = x_(k-1) - x_k.",
        latex=r"g=1,\ d=2:\quad x_{k+1}=\frac{\lambda x_k\,(x_k+2\varepsilon p_{k-1})}{1+2\lambda\varepsilon p_{k-1}}",
        source=Source(("P1", "P2"), "corrects"),
        scope=Scope.ALL,
        statement=_recursion,
        assumptions=MODEL
        + "; ordered tails 1 = x_0 >= x_1 >= ..; fixed point x_(k+1) = lam P_k; written at k = 2, the rows"
        " being shifts of each other",
        argument="P_k of the live flow depends on x_(k-1), x_k, x_(k+1) only and is affine in x_(k+1); solve for it.",
        definitions=DEFINITIONS,
        witness={"lam": "1/2", "eps": "1/2", **{f"x{i}": f"1/{2**i}" for i in range(7)}},
    ),
)
