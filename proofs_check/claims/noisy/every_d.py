"""Errors at gaps up to g only: order of the flow, its coupling of levels, and its bounds, for every d and g.

All three rest on the tail form of the routing law and on differences of powers; see :mod:`.windows`.
"""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy import windows
from proofs_check.claims.noisy.dependent import DEFINITIONS, MODEL
from proofs_check.claims.noisy.limit import levels_in_order

WITNESS = {"p": "1/2", "s": "1/4", "h": "1/8", "lam": "1/2", "eps": "1/2"} | {f"x{i}": f"1/{2**i}" for i in range(12)}


def _slopes() -> Statement:
    """Off the diagonal: x_j^m - eps (x_j - z)^m + eps (b - x_j)^m, and two differences of powers m = d - 1.

    b >= x_j >= x >= z stand for x_((j-g)^+), x_j, x_(j+1), x_(j+g+1); o, p, n are the gaps b - x_j, x_j - x, x - z.
    A = x_j^m, B = (x_j - z)^m, C = (b - x_j)^m, D = (b - x)^m, E = (x - z)^m: by induction over m.
    """
    return Statement(
        "induction",
        {
            "variables": ["eps", "z", "n", "p", "o"],
            "domain": {v: [v, ">="] for v in ("eps", "z", "n", "p", "o")} | {"f": ["1-eps", ">="]},
            "state": ["m", "A", "B", "C", "D", "E"],
            "starts": [{"m": "1", "A": "z+n+p", "B": "n+p", "C": "o", "D": "o+p", "E": "n"}],
            "steps": {
                "sample": {
                    "set": {"m": "m+1", "A": "(z+n+p)*A", "B": "(n+p)*B", "C": "o*C", "D": "(o+p)*D", "E": "n*E"}
                }
            },
        },
        stated(("A - eps*B + eps*C", ">=", "0"), ("B - E", ">=", "0"), ("D - C", ">=", "0")),
    )


def _strict() -> Statement:
    """A difference of powers gains d h p^(d-1) at least when c falls by h; that is positive where p > 0 and h > 0."""
    return Statement(
        "induction",
        {
            "variables": ["h", "p"],
            "domain": {"h": ["h", ">"], "p": ["p", ">"]},
            "state": ["d", "P"],
            "starts": [{"d": "2", "P": "p"}],
            "steps": {"sample": {"set": {"d": "d+1", "P": "p*P"}}},
        },
        stated(("d*h*P", ">", "0")),
    )


def _telescoped() -> Statement:
    """U_i - U_(i+1) - V_i + V_(i+1) summed over levels is U_first - U_last - V_first + V_last, whatever the levels."""
    return Statement(
        "induction",
        {
            "variables": ["first", "other"],
            "domain": {},
            "state": ["U", "V", "S"],
            "starts": [{"U": "first", "V": "other", "S": "0"}],
            "steps": {"level": {"set": {"U": "u", "V": "v", "S": "S + U - u - V + v"}, "free": ["u", "v"]}},
        },
        stated(("S", "=", "first - U - other + V")),
    )


FORM = "; the tail form of the routing law, compared with the live flow for d = 2, 3 and g = 1, 2"

CLAIMS = (
    Claim(
        id="noisy.dependent.no-recursion",
        text="g >= 2 and eps > 0: P_k strictly decreases in x_(k+g), so level k + 1 is not determined by the levels before;"
        " for every d, g and k.",
        latex=r"\frac{\partial P_k}{\partial x_{k+g}} < 0 \quad\text{where } x_{k-1} > x_k",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(*windows.tail_forms(), windows.differences(), _strict()),
        assumptions=MODEL + "; ordered tails with x_(k-1) > x_k" + FORM,
        argument=windows.ARGUMENT
        + ". Level x_(k+g) stands in one of them only, as c_(k-1): where it falls by h, P_k gains at"
        " least eps d h p^(d-1), p = x_(k-1) - x_k (part 17), which is positive (part 18).",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="noisy.dependent.cooperative",
        text="The flow is cooperative on ordered tails: no coordinate slows another one down; for every d, g >= 1, eps and lam.",
        latex=r"\frac{\partial \dot x_k}{\partial x_i} \ge 0 \quad (i \ne k)",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(*windows.tail_forms(), _slopes()),
        assumptions=MODEL + "; ordered tails" + FORM + "; the derivative of u^d is d u^(d-1)",
        argument="The tail form P_k, compared with the live flow in the first 16 parts, gives the chance R_j = P_j - P_(j+1)"
        " to join level j: x_j^d - x_(j+1)^d - eps [(x_j - z)^d - (x_(j+1) - z)^d] + eps [(b - x_(j+1))^d - (b - x_j)^d], z ="
        " x_(j+g+1), b = x_((j-g)^+). Row j + 1 of the flow is lam R_j - x_(j+1) + x_(j+2). Its derivatives off the diagonal are"
        " 1 and lam d times those of part 17: in x_j, x_j^m - eps (x_j - z)^m + eps (b - x_j)^m with m = d - 1; in z and in b,"
        " eps times a difference of powers. All are nonnegative, by induction over m.",
        definitions=DEFINITIONS,
        witness={**WITNESS, "z": "1/8", "n": "1/8", "o": "1/8"},
    ),
    Claim(
        id="noisy.dependent.sandwich",
        text="Fixed points at one load, d and eps: noiseless <= load-dependent <= load-independent in every coordinate; for"
        " every d and g.",
        latex=r"\nu_k \le \pi_k \le \eta_k",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(*windows.tail_forms(), windows.differences(), _telescoped(), levels_in_order()),
        assumptions=MODEL + "; ordered tails; u^d and h increase in u" + FORM,
        argument=windows.ARGUMENT
        + ". At c_i = x_k the differences telescope (part 18) to (b - x_k)^d, so x_k^d <= P_k. At c_i"
        " = 0 they telescope to b^d - x_k^d, and b^d - (b - x_k)^d <= 1 - (1 - x_k)^d by part 17 once more (c from x_k to 0), so"
        " P_k <= h(x_k). Then compare level by level with the recursions lam u^d and lam h(u), whose maps increase (part 19).",
        definitions=DEFINITIONS,
        witness={**WITNESS, "first": "1", "other": "1/2"},
    ),
)
