"""Heavy traffic with errors at every gap, eps < 1/d: the mean response up to an explicit constant, at every load."""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy import growth
from proofs_check.claims.noisy.independent import DEFINITIONS, MODEL

RESPONSE = (*DEFINITIONS, "mean-response")
LIMIT = MODEL + "; limit of many servers, x_0 = 1, x_(k+1) = lam h(x_k), E T = h(x_0) + h(x_1) + .. by Little's law"


def contraction() -> Statement:
    """u - h(u) >= 2 (1/d - eps) u (1-u) while d eps <= 1: by induction over d, G = u^d, B = (1-u)^d."""
    domain = {"u": ["u", ">="], "v": ["1-u", ">="], **growth.ERRORS}
    return growth.samples("u G B", 2, domain, ("u - ((1-eps)*G + eps*(1-B))", ">=", "2*(1/d-eps)*u*(1-u)", growth.FEW))


def rest() -> Statement:
    """From X <= 1 - n on, x_(k+1) <= x_k - r with r >= 2 e x (1-x): the x that follow sum to S <= (1-n)/(2 e n)."""
    return growth.levels(
        {"e": ["e", ">"], "n": ["n", ">"], "X": ["X", ">="], "start": ["1-n-X", ">="]},
        {"x": "X", "S": "0"},
        {"x": "x-r", "S": "S+x"},
        {"level": {"left": ["x-r", ">="], "falls": ["r - 2*e*x*(1-x)", ">="]}},
        ("S", "<=", "(1-n)/(2*e*n)"),
        variables="e n X",
        free="r",
    )


def _rest_named() -> Statement:
    """The same with e = 1/d - eps and n = (a-1)/(a+d-2), a = d (1-eps)."""
    a, n = "(d*(1-eps))", "(d*(1-eps)-1)/(d*(1-eps)+d-2)"
    return Statement(
        "sign",
        {
            "variables": ["d", "eps", "n"],
            "domain": {"d": ["d-2", ">="], "eps": ["eps", ">="], "e": ["1-d*eps", ">"], "n": ["n", ">"]},
        },
        stated(
            (a, ">", "1"),
            ("(1-n)/(2*(1/d-eps)*n)", "=", f"d*(d-1)/(2*(1-d*eps)*({a}-1))", {"set": {"n": n}}),
        ),
    )


def joined() -> Statement:
    """E T = 1 + F + R, l = log a, L = log(1/(1-lam)), K <= L/l <= K + 1: F sums the levels 1 to K + 1, R the later ones.

    low and high are the constants of the two bounds.
    """
    domain = {
        "l": ["l", ">"],
        "floor": ["L - K*l", ">="],
        "ceiling": ["(K+1)*l - L", ">="],
        "below": ["1 + F + R - K + low", ">="],
        "first": ["K + 1 - F", ">="],
        "rest": ["high - R", ">="],
    }
    return Statement(
        "sign",
        {"variables": ["l", "L", "K", "F", "R", "low", "high"], "domain": domain},
        stated(("1 + F + R", ">=", "L/l - 1 - low"), ("1 + F + R", "<=", "L/l + 2 + high")),
    )


CLAIMS = (
    Claim(
        id="noisy.independent.heavy-traffic",
        text="Errors at every gap, eps < 1/d, a = d (1-eps): at every load in (0,1) the mean response minus log(1/(1-lam))/log a"
        " lies between -1 - a/(a-1)^2 and 2 + d (d-1)/(2 (1 - d eps) (a-1)); so it is log(1/(1-lam))/log(d (1-eps)) + O(1).",
        latex=r"-1-\frac a{(a-1)^2} \le E T - \frac{\log\frac1{1-\lambda}}{\log a}"
        r" \le 2+\frac{d(d-1)}{2(1-d\varepsilon)(a-1)},\qquad a=d(1-\varepsilon)",
        source=Source(("P1",), "sharpens"),
        scope=Scope.ALL,
        statement=lambda: together(
            growth.live(2, 3, 4, 5),
            growth.slope(),
            growth.harmonic(),
            contraction(),
            growth.without_load(),
            growth.at_most(),
            growth.at_least(),
            rest(),
            _rest_named(),
            joined(),
        ),
        assumptions=LIMIT,
        argument="Write y = 1 - x, delta = 1 - lam, H(y) = 1 - h(1-y), so y_(k+1) = delta + lam H(y_k) lies between H(y_k) and delta +"
        " H(y_k) (part 5), y_0 = 0, y_1 = delta; part 1 compares h with the live model. By induction over d, H(y) <= a y (part 2),"
        " H(y) >= a y/(1 + (d-1) y) (part 3) and u - h(u) >= 2 (1/d - eps) u (1-u) (part 4)."
        " Below: y_k <= delta (a^k - 1)/(a-1), so x_1 + .. + x_K >= K - a/(a-1)^2 for every K with a^K delta <= 1 (part 6), and E T is"
        " at least that sum. Above: y_k >= (a-1)/(a+d-2) at level k = K + 2 and later, if a^(K+1) delta >= 1 (part 7), h(x) <= x; the"
        " x from there on sum to at most d (d-1)/(2 (1 - d eps) (a-1)) (parts 8, 9), the K + 1 before to at most K + 1."
        " With K the integer part of log(1/delta)/log a, both powers are as needed, and the bounds follow (part 10).",
        definitions=RESPONSE,
        witness={
            "u": "1/2",
            "y": "1/2",
            "eps": "1/8",
            "delta": "1/2",
            "H": "1/2",
            "a": "2",
            "d": "2",
            "e": "1/4",
            "n": "1/2",
            "X": "1/2",
            "l": "1",
            "L": "1",
            "K": "1",
            "F": "1",
            "R": "1",
            "low": "1",
            "high": "1",
        },
    ),
)
