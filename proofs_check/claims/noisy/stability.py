"""Errors at every gap on n servers: exactly which loads are stable, with and without replacement."""

from functools import cache

from flint import fmpq

from exactchains.symbolic import Fractions
from meanfield.models.noisy import PowerOfD, error_polynomial
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.independent import MODEL
from proofs_check.lyapunov.cells import system

DEFINITIONS = ("load", "comparison-error", "stable")
ENDS = Fractions("eps")


def _sample() -> Statement:
    """j of the d samples lie in the top set, R = j/d: joined there with chance 0, eps or 1, at most m R, m = max(1, d eps)."""
    domain = {"j": ["j-1", ">="], "d": ["d-j", ">"], "eps": ["eps", ">="], "f": ["1-eps", ">="]}
    return Statement(
        "sign",
        {"variables": ["j", "d", "eps"], "domain": domain},
        stated(
            ("eps", "<=", "j/d", {"assume": {"s": ["1-d*eps", ">="]}}),
            ("eps", "<=", "d*eps*(j/d)", {"assume": {"s": ["d*eps-1", ">="]}}),
            ("1", "<=", "d*eps", {"assume": {"s": ["d*eps-1", ">="]}}),
        ),
    )


def _one_of_n() -> Statement:
    """A = C(n,d), B = n C(n-1,d): B = (n-d) A, so a given server is sampled with chance 1 - C(n-1,d)/C(n,d) = d/n."""
    return Statement(
        "induction",
        {
            "variables": ["n"],
            "domain": {"n": ["n", ">"]},
            "state": ["d", "A", "B"],
            "starts": [{"d": "0", "A": "1", "B": "n"}],
            "steps": {
                "sample": {
                    "set": {"d": "d+1", "A": "A*(n-d)*c", "B": "B*(n-1-d)*c"},
                    "free": ["c"],
                    "guard": {"c": ["c", ">"]},
                }
            },
        },
        stated(("B", "=", "(n-d)*A")),
    )


def _maximum() -> Statement:
    """Drift of the longest queue: the only longest of n servers gains n lam eps d/n and loses 1; tied ones only gain."""
    domain = {"lam": ["lam", ">"], "c": ["lam*c-1", ">="], "n": ["n", ">"], "w": ["w", ">="]}
    return Statement(
        "sign",
        {"variables": ["lam", "c", "n", "w"], "domain": domain},
        stated(
            ("n*lam*(c/n) - 1", ">=", "0"),
            ("n*lam*w", ">=", "0"),
            ("n*lam", ">", "0"),
        ),
    )


def _convex() -> Statement:
    """h(u)/u = (1-eps) u^(d-1) + eps sum_(i<d) (1-u)^i at v = (1-t) u + t, between its values at u and at 1.

    After i steps (d = i+1): X = u^i, V = v^i, A = (1-u)^i, B = (1-v)^i, S and T the sums of the powers of 1-u, 1-v.
    """
    v = "((1-t)*u+t)"
    return Statement(
        "induction",
        {
            "variables": ["u", "t", "eps"],
            "domain": {
                "u": ["u", ">="],
                "r": ["1-u", ">="],
                "t": ["t", ">="],
                "s": ["1-t", ">="],
                "eps": ["eps", ">="],
                "f": ["1-eps", ">="],
            },
            "state": ["X", "V", "A", "B", "S", "T"],
            "starts": [dict.fromkeys(("X", "V", "A", "B", "S", "T"), "1")],
            "steps": {
                "sample": {
                    "set": {
                        "X": "u*X",
                        "V": f"{v}*V",
                        "A": "(1-u)*A",
                        "B": f"(1-{v})*B",
                        "S": "S + (1-u)*A",
                        "T": f"T + (1-{v})*B",
                    }
                }
            },
        },
        stated(
            ("(1-eps)*V + eps*T", "<=", "(1-t)*((1-eps)*X + eps*S) + t"),
        ),
    )


def _geometric() -> Statement:
    """U = u (1 + (1-u) + .. + (1-u)^i) is 1 - (1-u)^(i+1); A = (1-u)^i."""
    return Statement(
        "induction",
        {
            "variables": ["u"],
            "domain": {"u": ["u", ">="]},
            "state": ["A", "U"],
            "starts": [{"A": "1", "U": "u"}],
            "steps": {"sample": {"set": {"A": "(1-u)*A", "U": "U + u*(1-u)*A"}}},
        },
        stated(("U", "=", "1 - (1-u)*A")),
    )


def _shrinks() -> Statement:
    """From u = 0, where h(u)/u is c = d eps > 1, to u = 1/n = t: (1-t) c + t < c."""
    return Statement(
        "sign",
        {"variables": ["c", "t"], "domain": {"c": ["c-1", ">"], "t": ["t", ">"]}},
        stated(("(1-t)*c + t", "<", "c")),
    )


def _three() -> Statement:
    """d = n = 3, eps = 2/5: 3 h(1/3) = 41/45 although d eps = 6/5."""
    h = ENDS.text(ENDS.convert(error_polynomial(3, ENDS["eps"], ENDS.convert(fmpq(1, 3)))))
    return Statement(
        "sign",
        {"variables": ["eps"], "domain": {}},
        stated(
            (f"3*({h})", "=", "41/45", {"set": {"eps": "2/5"}}),
            ("3*eps", ">", "1", {"set": {"eps": "2/5"}}),
        ),
    )


@cache
def _live(load: str, n: int, replacement: bool, rho: str) -> Statement:
    """The live rule: arrivals at every top set are at most rho times its speed, rho = lam max(1, ..)."""
    policy = PowerOfD(load, 2, None, "3/4", replacement)
    return Statement("drift", system(policy, n, ordered=True), {"function": "domination", "rho": rho})


@cache
def _live_unstable(load: str, n: int, replacement: bool) -> Statement:
    """The live rule at its threshold: the longest queue has no negative drift."""
    policy = PowerOfD(load, 2, None, "3/4", replacement)
    longest = ["0"] * (n - 1) + ["1"]
    says = {"function": "linear", "weights": longest, "status": "not positive recurrent"}
    return Statement("drift", system(policy, n, ties=True), says)


UNSTABLE = (
    " From the threshold on the longest queue moves by steps of 1, its drift is nowhere negative and positive at 0, which a"
    " positive recurrent chain forbids."
)

CLAIMS = (
    Claim(
        id="noisy.independent.stability.without-replacement",
        text="n servers, errors at every gap, samples without replacement: positive recurrent iff lam max(1, d eps) < 1, for every"
        " n >= d.",
        latex=r"\text{positive recurrent} \iff \lambda\max(1, d\varepsilon) < 1",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(
            _sample(), _one_of_n(), _maximum(), _live("1/2", 3, False, "3/4"), _live_unstable("2/3", 3, False)
        ),
        assumptions=MODEL + "; n >= d, without replacement",
        argument="In a sample with j of d servers in a top set the job joins it with chance at most max(1, d eps) j/d (part 1);"
        " j/d averages to the share of the set, so rho = lam max(1, d eps) in the generic drift."
        + UNSTABLE
        + " A server that is alone the longest is sampled with chance d/n (part 2) and then joined with chance eps, so it gains"
        " lam d eps >= 1 (part 3). The last parts check both in every cell of the live rule, d = 2, eps = 3/4, n = 3.",
        definitions=DEFINITIONS,
        uses=("noisy.scheme.generic-drift",),
        witness={"j": "1", "d": "2", "eps": "3/4", "n": "3", "lam": "2/3", "c": "3/2", "w": "1"},
    ),
    Claim(
        id="noisy.independent.stability.with-replacement",
        text="The same with replacement: positive recurrent iff lam max(1, n h(1/n)) < 1, and n h(1/n) < d eps if eps > 1/d;"
        " d = n = 3, eps = 2/5 is stable at every load below 1.",
        latex=r"\text{positive recurrent} \iff \lambda\max(1, n\,h(1/n)) < 1",
        source=Source(("P1", "P2"), "corrects"),
        scope=Scope.ALL,
        statement=lambda: together(
            _convex(),
            _geometric(),
            _shrinks(),
            _three(),
            _maximum(),
            _live("1/2", 2, True, "5/8"),
            _live_unstable("4/5", 2, True),
        ),
        assumptions=MODEL + "; with replacement; h(u) = (1-eps) u^d + eps (1 - (1-u)^d)",
        argument="A top set of share u is joined with chance h(u). h(u)/u is a sum of convex powers, so between 1/n and 1 it is at"
        " most max(1, n h(1/n)): parts 1 and 2, inductions over d. Hence rho = lam max(1, n h(1/n)) in the generic drift. From 0, where"
        " it is d eps, the same inequality gives n h(1/n) < d eps (part 3)."
        + UNSTABLE
        + " A server that is alone the longest gains n lam h(1/n) >= 1. The last parts check both in every cell of the live rule,"
        " d = n = 2, eps = 3/4, where n h(1/n) = 5/4.",
        definitions=DEFINITIONS,
        uses=("noisy.scheme.generic-drift",),
        witness={"u": "1/2", "t": "1/2", "eps": "2/5", "c": "5/4", "lam": "4/5", "n": "2", "w": "1"},
    ),
)
