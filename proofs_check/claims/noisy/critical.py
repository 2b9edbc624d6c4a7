"""Heavy traffic with errors at every gap at the critical error chance 1/d, d >= 3: a second logarithm from the tail."""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy import growth
from proofs_check.claims.noisy.heavy import LIMIT, RESPONSE

FALL = "(d*u - (d-1)*G - 1 + B)"  # d (u - h(u)) at eps = 1/d, G = u^d, B = (1-u)^d


def _samples(*claims: tuple) -> Statement:
    """Statements for every d >= 3, by induction over d, at eps = 1/d."""
    return growth.samples("u G B", 3, {"u": ["u", ">="], "v": ["1-u", ">="]}, *claims)


def _ratios() -> Statement:
    """x' = (1-delta) (x-r), q = delta + b x: b x - 2 b^2 x^2 <= 1 - q'/q <= b x if b x^2 - b^2 x^3 <= r <= b x^2."""
    later, q = "(delta + b*(1-delta)*(x-r))", "(delta+b*x)"
    domain = {"delta": ["delta", ">"], "lam": ["1-delta", ">"], "b": ["b", ">"], "x": ["x", ">="], "r": ["r", ">="]}
    return Statement(
        "sign",
        {"variables": ["delta", "b", "x", "r"], "domain": domain},
        stated(
            (f"{later}/{q}", ">=", "1-b*x", {"assume": {"most": ["b*x^2-r", ">="]}}),
            (f"{later}/{q}", "<=", "1-b*x+2*b^2*x^2", {"assume": {"least": ["r - b*x^2 + b^2*x^3", ">="]}}),
        ),
    )


def _sums(start: growth.Constraints, guard: growth.Constraints, relation: str, bound: str) -> Statement:
    """S, T and L are the sums of x, x^2 and l = log(q/q') over the levels from x = X on."""
    return growth.levels(
        {"b": ["b", ">"], "X": ["X", ">="], **start},
        {"x": "X", "S": "0", "T": "0", "L": "0"},
        {"x": "x-r", "S": "S+x", "T": "T+x^2", "L": "L+l"},
        {"level": {"r": ["r", ">="], "left": ["x-r", ">="], **guard}},
        ("b*S", relation, bound),
        variables="b X",
        free="r l",
    )


def _at_most() -> Statement:
    """l >= 1 - q'/q, as log s <= s - 1 at s = q'/q."""
    return _sums({}, {"log": ["l - b*x + 2*b^2*x^2", ">="]}, "<=", "L + 2*b^2*T")


def _at_least() -> Statement:
    """From b X <= 1/2 on: l <= q/q' - 1 <= 1/(1 - b x) - 1."""
    return _sums({"half": ["1-2*b*X", ">="]}, {"log": ["1 - (1+l)*(1-b*x)", ">="]}, ">=", "L - 2*b^2*T")


def _squares() -> Statement:
    """x' <= x - r with r >= x^2 (1-x), from X <= 1 - n on: the squares sum to T <= X/n."""
    return growth.levels(
        {"n": ["n", ">"], "X": ["X", ">="], "start": ["1-n-X", ">="]},
        {"x": "X", "T": "0"},
        {"x": "x-r", "T": "T+x^2"},
        {"level": {"left": ["x-r", ">="], "falls": ["r - x^2*(1-x)", ">="]}},
        ("T", "<=", "X/n"),
        ("x", "<=", "X"),
        variables="n X",
        free="r",
    )


def _enters() -> Statement:
    """The first X <= 1/a, a = d - 1, follows a u > 1: X >= lam u/(1 + a u) >= lam/(2 a); delta + a X/2 >= 1/4."""
    return Statement(
        "sign",
        {
            "variables": ["delta", "a", "u", "X"],
            "domain": {
                "delta": ["delta", ">"],
                "lam": ["1-delta", ">"],
                "a": ["a", ">"],
                "q": ["1+a*u", ">"],
                "u": ["a*u-1", ">="],
                "X": ["X*(1+a*u) - (1-delta)*u", ">="],
            },
        },
        stated(("X", ">=", "(1-delta)/(2*a)"), ("delta + a*X/2", ">=", "1/4")),
    )


def _named() -> Statement:
    """n = (d-2)/(2d-3), where 1 - n over n is (d-1)/(d-2), and n = 1/2; b = (d-1)/2."""
    return Statement(
        "sign",
        {
            "variables": ["d", "n", "T", "X"],
            "domain": {
                "d": ["d-2", ">"],
                "n": ["n", ">"],
                "T": ["T", ">="],
                "X": ["X", ">="],
                "small": ["1-(d-1)*X", ">="],
            },
        },
        stated(
            ("(1-n)/n", "=", "(d-1)/(d-2)", {"set": {"n": "(d-2)/(2*d-3)"}}),
            ("2*((d-1)/2)*T", "<=", "(d-1)^2/(d-2)", {"assume": {"T1": ["d-1 - (d-2)*T", ">="]}}),
            ("2*((d-1)/2)*T", "<=", "2", {"assume": {"T2": ["2*X-T", ">="]}}),
            ("(d-1)/(d-2)^2", "<=", "2", {"assume": {"three": ["d-3", ">="]}}),
        ),
    )


def _joined() -> Statement:
    """p = 1/log a, s = 2/a, L = log(1/(1-lam)), K <= p L <= K + 1, c = log 4, E = E T, low = a/(a-1)^2.

    Below: K - 1 levels, then logarithms; or E >= 1 with p L <= 1 and s L <= 2.  Above: K + 1 levels, then the rest.
    """
    domain = {
        "p": ["p", ">"],
        "s": ["s", ">"],
        "one": ["1-s", ">="],
        "floor": ["L*p - K", ">="],
        "ceiling": ["K + 1 - L*p", ">="],
        "c": ["7/5-c", ">="],
        "low": ["2-low", ">="],
        "above": ["1 + (K+1) + s*L + 1 + high - E", ">="],
    }
    below = {"assume": {"below": ["E - (K-1) + low - s*(L-c) + 2", ">="], "C": ["c", ">="]}}
    small = {"assume": {"least": ["E-1", ">="], "none": ["1-p*L", ">="], "log": ["2-s*L", ">="]}}
    return Statement(
        "sign",
        {"variables": ["p", "s", "L", "K", "c", "E", "low", "high"], "domain": domain},
        stated(
            ("E", ">=", "(p+s)*L - 8", below),
            ("E", ">=", "(p+s)*L - 8", small),
            ("E", "<=", "(p+s)*L + 3 + high"),
        ),
    )


CLAIMS = (
    Claim(
        id="noisy.independent.critical-constant",
        text="Errors at every gap, eps = 1/d, d >= 3: at every load in (0,1) the mean response minus (1/log(d-1) + 2/(d-1))"
        " log(1/(1-lam)) lies between -8 and 3 + (d-1)^2/(d-2).",
        latex=r"-8 \le E T - \Big(\frac1{\log(d-1)}+\frac2{d-1}\Big)\log\frac1{1-\lambda} \le 3+\frac{(d-1)^2}{d-2}",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(
            growth.live(3, 4, 5),
            growth.slope(),
            growth.harmonic(),
            _samples((FALL, ">=", "d*u^2*(1-u)")),
            _samples((FALL, "<=", "d*(d-1)/2*u^2"), (FALL, ">=", "0")),
            _samples((FALL, ">=", "d*((d-1)/2*u^2 - ((d-1)/2)^2*u^3)")),
            _samples((f"(d*u - {FALL})*(1+(d-1)*u)", ">=", "d*u")),
            growth.without_load(),
            growth.at_most(
                ("1-y", ">", "1/a", {"assume": {"two": ["a-2", ">="], "before": ["1-delta*a*A", ">="]}}),
            ),
            growth.at_least(),
            _squares(),
            _ratios(),
            _at_most(),
            _at_least(),
            _enters(),
            _named(),
            _joined(),
        ),
        assumptions=LIMIT,
        argument="a = d - 1, b = a/2, delta = 1 - lam, y = 1 - x. Near 1 all is as in noisy.independent.heavy-traffic (parts 1 to 3, 8 to 10)."
        " For every d >= 3, r = u - h(u) is at least u^2 (1-u), between 0 and b u^2, at least b u^2 - b^2 u^3, and h(u) >= u/(1 + a u)"
        " (parts 4 to 7). From level k = K + 2 on, where a^(K+1) delta >= 1, x <= 1 - n = (d-1)/(2d-3), and the squares of x sum to T <="
        " (d-1)/(d-2) (parts 11, 16). With q = delta + b x part 12 gives b x - 2 b^2 x^2 <= 1 - q'/q <= log(q/q') for neighbouring"
        " levels; these logarithms sum to at most log((delta + b)/delta) <= L + b, L = log(1/delta), so b S <= L + b + 2 b^2 T (part 13)."
        " Below: let X be the first x at most 1/a. If a^K delta <= 1, the K - 1 levels before it sum to at least K - 1 - a/(a-1)^2 (part 9)."
        " As X >= lam/(2a), q starts at 1/4 or more (part 15) and tends to delta, x tending to 0; part 12 gives q'/q >= 1 - b x, so log(q/q')"
        " <= 1/(1 - b x) - 1, and part 14 gives b S >= L - log 4 - 2 b^2 T with T <= 2 X (parts 11, 16). If L < log a, E T >= 1 suffices, as log"
        " a <= a - 1. K the integer part of L/log a: part 17. The only facts on logarithms: log s <= s - 1, log 4 < 7/5.",
        definitions=RESPONSE,
        witness={
            "u": "1/2",
            "y": "1/2",
            "eps": "1/3",
            "delta": "1/2",
            "H": "1/2",
            "a": "2",
            "d": "3",
            "b": "1",
            "n": "1/3",
            "X": "1/4",
            "x": "1/2",
            "r": "1/4",
            "T": "0",
            "p": "1",
            "s": "1",
            "L": "1",
            "K": "1",
            "c": "7/5",
            "E": "1",
            "low": "2",
            "high": "4",
        },
    ),
)
