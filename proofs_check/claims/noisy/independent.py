"""Errors at every gap (load-independent): h(u) = (1-eps) u^d + eps (1 - (1-u)^d) decides everything."""

from typing import Any

from exactchains.symbolic import Fractions
from meanfield.models.noisy import error_polynomial
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

MODEL = (
    "n unit-rate servers, Poisson arrivals n lam, 0 < lam < 1, samples of d >= 2 servers; with probability eps the job"
    " goes to the longest of the sample, whatever the gap"
)
DEFINITIONS = ("load", "comparison-error", "tail-k")
HALF = Fractions("eps", "u")


def _h(d: int, eps: Any, u: Any, field: Fractions) -> str:
    return field.text(field.convert(error_polynomial(d, eps, u)))


def _bernstein() -> Statement:
    """Coefficients of h in the Bernstein basis of degree d: 0, eps (d - 1 times), 1; those of u: j/d."""
    some = {"j": ["j-1", ">="], "d": ["d-1", ">"], "eps": ["eps", ">="], "f": ["1-eps", ">="]}
    small = {"assume": {"s": ["1-d*eps", ">="]}}
    large = {"assume": {"s": ["d*eps-1", ">="]}}
    return Statement(
        "sign",
        {"variables": ["j", "d", "eps"], "domain": some},
        stated(
            ("j/d", ">=", "eps", small),
            ("d*eps*(j/d)", ">=", "eps", large),
            ("d*eps", ">=", "1", large),
            ("1/d - eps", "<", "0", {"assume": {"s": ["d*eps-1", ">"]}}),
        ),
    )


def _domination(growth: str, guard: dict[str, list[str]]) -> Statement:
    """x_(k+1) = lam h(x_k) with h(x) = t x, 0 <= t <= growth: x_k <= lam (lam growth)^(k-1)."""
    return Statement(
        "induction",
        {
            "variables": ["lam", "m"],
            "domain": {"lam": ["lam", ">"], "r": ["1-lam*m", ">"], "m": ["m-1", ">="]},
            "state": ["x", "y"],
            "starts": [{"x": "lam", "y": "lam"}],
            "steps": {
                "level": {
                    "set": {"x": "lam*t*x", "y": f"lam*{growth}*y"},
                    "free": ["t"],
                    "guard": {"t": ["t", ">="], **guard},
                }
            },
        },
        stated(("x", "<=", "y")),
    )


def _half() -> Statement:
    """d = 2, eps = 1/2: h(u) = u; with n servers the top set of a servers is joined with chance a/n, both rules."""
    u = HALF["u"]
    top, pair = "a*(a-1)/(n*(n-1))", "(n-a)*(n-a-1)/(n*(n-1))"
    return together(
        Statement(
            "identity",
            {"variables": ["u"], "domain": {}},
            stated((_h(2, HALF.convert("1/2"), u, HALF), "=", "u")),
        ),
        Statement(
            "identity",
            {"variables": ["a", "n"], "domain": {"n": ["n-2", ">="]}},
            stated(
                (f"1/2*({top}) + 1/2*(1 - {pair})", "=", "a/n"),
                ("1/2*(a/n)^2 + 1/2*(1 - (1-a/n)^2)", "=", "a/n"),
            ),
        ),
    )


def _worse() -> Statement:
    """d = 2, eps > 1/2: x -> lam h(x) against y -> lam y from x_2, y_2 on."""
    field = Fractions("eps", "x")
    h = _h(2, field["eps"], field["x"], field)
    start = h.replace("x", "lam")
    return Statement(
        "induction",
        {
            "variables": ["lam", "eps"],
            "domain": {"lam": ["lam", ">"], "m": ["1-lam", ">"], "e": ["2*eps-1", ">"], "f": ["1-eps", ">="]},
            "state": ["x", "y"],
            "starts": [{"x": f"lam*({start})", "y": "lam^2"}],
            "steps": {"level": {"set": {"x": f"lam*({h})", "y": "lam*y"}}},
        },
        stated(("x", ">", "y")),
    )


def _worse_finite() -> Statement:
    """n servers, top set of a: joined with chance a/n + (2 eps - 1) a (n-a)/(n (n-1)); n^2 with replacement."""
    top, pair = "a*(a-1)/(n*(n-1))", "(n-a)*(n-a-1)/(n*(n-1))"
    return Statement(
        "identity",
        {"variables": ["a", "n", "eps"], "domain": {"n": ["n-2", ">="]}},
        stated(
            (f"(1-eps)*({top}) + eps*(1 - {pair}) - a/n", "=", "(2*eps-1)*a*(n-a)/(n*(n-1))"),
            ("(1-eps)*(a/n)^2 + eps*(1 - (1-a/n)^2) - a/n", "=", "(2*eps-1)*a*(n-a)/n^2"),
        ),
    )


CLAIMS = (
    Claim(
        id="noisy.independent.dominated",
        text="For every d >= 2 and u in [0,1]: h(u) <= max(1, d eps) u; and h(u) <= u for all u iff eps <= 1/d.",
        latex=r"h(u) \le \max(1, d\varepsilon)\,u;\qquad h(u)\le u \text{ on } [0,1] \iff \varepsilon \le 1/d",
        source=Source(("P1",), "sharpens"),
        scope=Scope.ALL,
        statement=_bernstein,
        assumptions=MODEL,
        argument="1 - (1-u)^d is the sum of all Bernstein polynomials but the first and u^d is the last, so h has coefficients"
        " 0, eps, .., eps, 1, and u has j/d. Every coefficient of max(1, d eps) u - h is nonnegative. For eps > 1/d the"
        " first coefficient of u - h is negative, so h(u) > u near 0.",
        definitions=DEFINITIONS,
        witness={"j": "1", "d": "2", "eps": "1/4"},
    ),
    Claim(
        id="noisy.independent.benefit",
        text="For eps <= 1/d the limit has x_k <= lam^k for every k, and for any eps x_k <= lam (lam max(1, d eps))^(k-1)"
        " while lam d eps < 1.",
        latex=r"x_k \le \lambda^k \quad\text{for } \varepsilon\le 1/d",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_domination("1", {"s": ["1-t", ">="]}), _domination("m", {"s": ["m-t", ">="]})),
        assumptions=MODEL + "; fixed point of the limit, x_1 = lam, x_(k+1) = lam h(x_k)",
        argument="h(x) = t x with t at most 1, or at most m = max(1, d eps), by noisy.independent.dominated; induction over k"
        " with a factor t that may change from level to level.",
        definitions=DEFINITIONS,
        uses=("noisy.independent.dominated",),
        witness={"lam": "1/2", "m": "1"},
    ),
    Claim(
        id="noisy.independent.no-benefit-at-half",
        text="d = 2 and eps = 1/2: the job joins each of the n servers with the same chance, for every n and both sampling"
        " rules; the scheme is random routing.",
        latex=r"d=2,\ \varepsilon=\tfrac12:\quad P(\text{joined}\in\text{top } a) = \frac{a}{n}",
        source=Source(("P2",), "corrects"),
        scope=Scope.ALL,
        statement=_half,
        assumptions=MODEL
        + "; the joined load is at least k with chance (1-eps) w(a) + eps (1 - w(n-a)), a servers having"
        " at least k jobs, w(a) the chance that both samples lie among them",
        argument="Rational identities in a and n, with and without replacement, and in the limit.",
        definitions=DEFINITIONS,
        witness={"u": "1/2", "a": "1", "n": "2"},
    ),
    Claim(
        id="noisy.two.worse-beyond-half",
        text="d = 2, errors at every gap, 1/2 < eps <= 1, 0 < lam < 1/(2 eps): x_k > lam^k for all k >= 2 in the limit; with n"
        " servers the chance to join a top set of a exceeds a/n by (2 eps - 1) a (n-a)/(n (n-1)), or over n^2.",
        latex=r"d=2,\ \varepsilon>\tfrac12:\quad x_k > \lambda^k \quad (k\ge2)",
        source=Source(("P2",), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_worse(), _worse_finite()),
        assumptions=MODEL,
        argument="h(u) - u = (2 eps - 1) u (1-u) is positive inside (0,1); induction over k. With n servers the same identity"
        " for top sets.",
        definitions=DEFINITIONS,
        witness={"lam": "1/2", "eps": "3/4", "a": "1", "n": "2"},
    ),
)
