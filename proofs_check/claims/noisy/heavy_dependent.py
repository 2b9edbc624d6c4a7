"""Heavy traffic with errors at gaps up to g: the mean response up to a constant that depends on d and g only."""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy import growth, windows
from proofs_check.claims.noisy.dependent import MODEL
from proofs_check.claims.noisy.heavy import RESPONSE
from proofs_check.claims.noisy.heavy import joined as constants


def _powers() -> Statement:
    """Z = D^d <= D^2 <= D and F = (1-y)^d <= (1-y)^2 in [0,1]: by induction over d >= 2."""
    return Statement(
        "induction",
        {
            "variables": ["y", "D"],
            "domain": {**growth.UNIT, "D": ["D", ">="], "one": ["1-D", ">="]},
            "state": ["F", "Z"],
            "starts": [{"F": "(1-y)^2", "Z": "D^2"}],
            "steps": {"sample": {"set": {"F": "(1-y)*F", "Z": "D*Z"}}},
        },
        stated(("Z", "<=", "D^2"), ("Z", "<=", "D"), ("(1-y) - F", ">=", "y*(1-y)")),
    )


def _window() -> Statement:
    """From y = Y >= delta on, y_(k+1) <= delta + d y_k <= (d+1) y_k: after g levels at most W Y, W = (d+1)^g."""
    return growth.levels(
        {"delta": ["delta", ">"], "d": ["d-1", ">"], "Y": ["Y-delta", ">="]},
        {"y": "Y", "W": "1"},
        {"y": "t", "W": "(d+1)*W"},
        {"level": {"rises": ["t-y", ">="], "growth": ["delta + d*y - t", ">="]}},
        ("y", "<=", "W*Y"),
        variables="delta d Y",
    )


def _small() -> Statement:
    """C = d - 1 + 4 N/d, N = (d+1)^(2g), y <= 1/C: d y/(1 + (d-1) y) - N y^2 >= d y/(1 + C y)."""
    c = "(d-1+4*N/d)"
    return Statement(
        "sign",
        {
            "variables": ["d", "N", "y"],
            "domain": {
                "d": ["d", ">"],
                "m": ["d-2", ">="],
                "N": ["N", ">"],
                "y": ["y", ">="],
                "C": ["d - (d*(d-1)+4*N)*y", ">="],
            },
        },
        stated(("d*y/(1+(d-1)*y) - N*y^2", ">=", f"d*y/(1+{c}*y)")),
    )


def _at_least() -> Statement:
    """y_(k+1) >= d y_k/(1 + C y_k) while y_k <= 1/C and y_(k+1) >= y_k after: m = delta d^(k-1) >= 1 gives y_k >= 1/(C+1)."""
    return growth.levels(
        {"delta": ["delta", ">"], "d": ["d-2", ">="], "C": ["C", ">"]},
        {"y": "delta", "m": "delta"},
        {"y": "t", "m": "d*m"},
        {
            "early": {"small": ["1-C*y", ">="], "growth": ["t*(1+C*y) - d*y", ">="]},
            "late": {"large": ["C*y-1", ">="], "rises": ["t-y", ">="]},
        },
        ("y*(C*m+1)", ">=", "m"),
        ("y", ">=", "1/(C+1)", {"assume": {"reached": ["m-1", ">="]}}),
        variables="delta d C",
    )


def _rest() -> Statement:
    """From X <= 1 - n on, x_(k+1) <= x_k - x_k (1-x_k) + D_k: the sums S of x and V of D satisfy n S <= X + V."""
    return growth.levels(
        {"n": ["n", ">"], "X": ["X", ">="], "start": ["1-n-X", ">="]},
        {"x": "X", "S": "0", "V": "0"},
        {"x": "x-r", "S": "S+x", "V": "V+D"},
        {
            "level": {
                "D": ["D", ">="],
                "r": ["r", ">="],
                "left": ["x-r", ">="],
                "falls": ["r + D - x*(1-x)", ">="],
            }
        },
        ("S", "<=", "(1+V)/n"),
        variables="n X",
        free="r D",
    )


def _total() -> Statement:
    """n = 1/(C+1), V <= 2 g: the levels after the first cost S + V <= (1 + 2 g) (C+1) + 2 g."""
    return Statement(
        "sign",
        {
            "variables": ["C", "g", "S", "V"],
            "domain": {"C": ["C", ">"], "g": ["g", ">="], "V": ["2*g-V", ">="], "S": ["(1+V)*(C+1) - S", ">="]},
        },
        stated(("S + V", "<=", "(1+2*g)*(C+1) + 2*g")),
    )


CLAIMS = (
    Claim(
        id="noisy.dependent.heavy-traffic",
        text="Errors at gaps up to g: for every d >= 2, finite g, eps in [0,1] and load in (0,1) the mean response minus"
        " log(1/(1-lam))/log d lies between -1 - d/(d-1)^2 and 2 + 2 g + (1 + 2 g) (d + 4 (d+1)^(2g)/d); so it is"
        " log(1/(1-lam))/log d + O(1), uniformly in eps.",
        latex=r"-1-\frac d{(d-1)^2} \le E T - \frac{\log\frac1{1-\lambda}}{\log d}"
        r" \le 2+2g+(1+2g)\Big(d+\frac{4(d+1)^{2g}}d\Big)",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(
            *windows.tail_forms(),
            windows.differences(),
            _powers(),
            growth.harmonic(),
            growth.at_most(),
            _window(),
            _small(),
            _at_least(),
            _rest(),
            _total(),
            constants(),
        ),
        assumptions=MODEL + "; 1 = x_0 >= x_1 >= .. >= 0, x_(k+1) = lam P_k, E T = P_0 + P_1 + .. by Little's law",
        argument=windows.ARGUMENT
        + "; with x_k for every c_i the sum is (b - x_k)^d, so P_k >= x_k^d, and with x_(k+g) it gives P_k <= x_k^d + D_k^d, D_k = b -"
        " x_(k+g): a job joins level k or above by an error only if its whole sample is in [k-g, k+g-1]."
        " Write y = 1 - x, delta = 1 - lam = y_1; the facts on powers hold for every d (parts 18, 19)."
        " Below: y_(k+1) <= delta + d y_k, so x_1 + .. + x_K >= K - d/(d-1)^2 for every K with d^K delta <= 1 (part 20), and E T is at"
        " least that sum. Above: D_k <= y_(k+g) <= (d+1)^g y_k (part 21), and D_k^d <= D_k^2, so y_(k+1) >= 1 - x_k^d - D_k^d >="
        " d y_k/(1 + C y_k) while y_k <= 1/C, C = d - 1 + 4 (d+1)^(2g)/d (part 22); hence x <= C/(C+1) from level K + 2 on if d^(K+1)"
        " delta >= 1 (part 23). There x_(k+1) <= x_k - x_k (1-x_k) + D_k. The D_k sum to at most 2 g: each is 2 g neighbouring drops of x,"
        " and for each of the 2 g offsets the drops sum to at most 1. So the x sum to at most (1 + 2 g) (C+1) (part 24), the P_k <= x_k + D_k"
        " to 2 g more (part 25), and the K + 1 levels before to at most K + 1. K is the integer part of log(1/delta)/log d (part 26).",
        definitions=RESPONSE,
        uses=("noisy.routing.formula",),
        witness={
            **{f"x{i}": f"1/{2**i}" for i in range(12)},
            "lam": "1/2",
            "eps": "1/2",
            "p": "1",
            "s": "1",
            "h": "1",
            "y": "1/100",
            "D": "1/2",
            "delta": "1/2",
            "a": "2",
            "d": "2",
            "Y": "1/2",
            "N": "9",
            "C": "19",
            "n": "1/20",
            "X": "1/2",
            "g": "1",
            "S": "1",
            "V": "1",
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
