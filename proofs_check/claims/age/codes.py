"""Codes: more bits in the same codeword are lost more often."""

from typing import Any

from aoi_tools.models.codes import Codeword, RandomParityCheck, next_vector
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

CY = Fractions("c", "f", "y")


def _next(chance: str, dependent: Any) -> str:
    """Return the chance that all vectors are independent after one more, from the live recursion of the codes."""
    x = CY[chance]
    return CY.text(next_vector(Codeword(1 - x, x), dependent).success)


def _weights(least: str, steps: tuple[str, ...]) -> Statement:
    """The binomial weights of e erasures and k survivors are positive: build (e, k) one symbol at a time."""
    moves = {
        "erase": {"w": "w*eps*(e+k+1)/(e+1)", "e": "e+1", "k": "k"},
        "keep": {"w": "w*(1-eps)*(e+k+1)/(k+1)", "e": "e", "k": "k+1"},
    }
    return Statement(
        "induction",
        {
            "variables": ["eps"],
            "domain": {"x": ["eps", least], "y": ["1-eps", ">"]},
            "state": ["w", "e", "k"],
            "starts": [{"w": "1", "e": "0", "k": "0"}],
            "steps": {name: {"set": moves[name]} for name in steps},
        },
        stated(("w", ">", "0")),
    )


def _parity_check() -> Statement:
    """c = c(e, r) against f = c(e, r-1), y = 2^(e-r), for e = 0..r; one more bit is one row less."""
    y = CY["y"]
    return Statement(
        "induction",
        {
            "variables": ["z"],
            "domain": {"z": ["z", ">"], "h": ["1-2*z", ">="]},
            "state": ["c", "f", "y"],
            "starts": [{"c": "1", "f": "1", "y": "z"}],
            "steps": {
                "erasure": {
                    "set": {"c": _next("c", y), "f": _next("f", 2 * y), "y": "2*y"},
                    "guard": {"s": ["1-2*y", ">="]},
                }
            },
        },
        stated(("c", ">=", "f")),
    )


def _one_erasure() -> Statement:
    """At one erasure the two chances differ by exactly z = 2^-r > 0."""
    start, y = CY.convert(1), CY["y"]
    one, other = (next_vector(Codeword(0 * start, start), x).success for x in (y, 2 * y))
    return Statement(
        "sign",
        {"variables": ["y"], "domain": {"y": ["y", ">"]}},
        stated((CY.text(one), ">", CY.text(other)), (f"{CY.text(one)} - ({CY.text(other)})", "=", "y")),
    )


def _generator() -> Statement:
    """c = c(m, s) > 0 for m <= s, y = 2^(m-s); one more bit multiplies c by 1 - y."""
    y = CY["y"]
    return Statement(
        "induction",
        {
            "variables": ["z"],
            "domain": {"z": ["z", ">"], "h": ["1-z", ">="]},
            "state": ["c", "y"],
            "starts": [{"c": "1", "y": "z"}],
            "steps": {"bit": {"set": {"c": _next("c", y), "y": "2*y"}, "guard": {"s": ["1-2*y", ">="]}}},
        },
        stated(("c", ">", _next("c", y))),
    )


def _longer() -> Statement:
    """Bernstein coefficients of F(n, m) - F(n+1, m) in degree n + 1, divided by the weights.

    With r = n - m rows, x = 2^-(r+1), E = 2^e and c = c(e-1, r): one row more gives c(e, r+1) = (1-x) c, the shorter
    code, raised in degree, e/(n+1) c + (n+1-e)/(n+1) c (1 - x E).  e = 1..n, from one erasure to the next.
    """
    one_more = "(1-x)*c"
    raised = "e/(n+1)*c + (n+1-e)/(n+1)*c*(1-x*E)"
    return Statement(
        "induction",
        {
            "variables": ["n", "x"],
            "domain": {"n": ["n-1", ">="], "x": ["x", ">"], "h": ["1-2*x", ">="]},
            "state": ["e", "E", "c"],
            "starts": [{"e": "1", "E": "2", "c": "1"}],
            "steps": {
                "erasure": {
                    "set": {"e": "e+1", "E": "2*E", "c": "c*(1-x*E)"},
                    "guard": {"s": ["1-x*E", ">="], "l": ["n-e-1", ">="]},
                }
            },
            "define": {"difference": f"{one_more} - ({raised})"},
        },
        stated(
            ("difference", "=", "c*x*((n+1-e)*E/(n+1) - 1)"),
            ("difference", ">=", "0"),
        ),
    )


def _longer_at_one_erasure() -> Statement:
    """At e = 1 the coefficient is x (n-1)/(n+1): positive from n = 2 on."""
    return Statement(
        "sign",
        {"variables": ["n", "x"], "domain": {"n": ["n-2", ">="], "x": ["x", ">"]}},
        stated(("x*(2*n/(n+1) - 1)", ">", "0")),
    )


def _short_codes() -> Statement:
    """Live failure probabilities: equal for one bit in one or two uses; false without bits."""
    field = Fractions("eps")
    (eps,) = field.gens

    def failure(n: int, bits: int) -> str:
        return field.text(RandomParityCheck(n, bits, eps).over(field).failure)

    return Statement(
        "sign",
        {"variables": ["eps"], "domain": {"x": ["eps", ">"], "y": ["1-eps", ">"]}},
        stated((failure(2, 1), "=", failure(1, 1)), (failure(2, 0), ">", failure(1, 0))),
    )


CLAIMS = (
    Claim(
        id="age.code.longer-fails-less",
        text="Random parity check: a longer codeword with the same bits fails no more often, F(n+1, m) <= F(n, m) for"
        " n >= m >= 1 and 0 < eps < 1, equal iff n = m = 1; false for m = 0.",
        latex=r"F(n+1,m,\varepsilon) \le F(n,m,\varepsilon)\quad\text{for } n\ge m\ge 1",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(_longer(), _longer_at_one_erasure(), _short_codes()),
        assumptions="i.i.d. erasures, random parity check; both failure probabilities written in the Bernstein basis of"
        " degree n + 1 in eps",
        argument="Raising the degree of the shorter code, every Bernstein coefficient of the difference is c(e-1, r) 2^-(r+1)"
        " ((n+1-e) 2^e/(n+1) - 1), nonnegative for e = 1..n by induction over e, zero for e = 0 and, with m >= 1, absent"
        " beyond e = r + 1 <= n; positive at e = 1 iff n >= 2. At n = m = 1 the two functions agree; at m = 0, n = 1 the"
        " longer one fails more often.",
        definitions=("failure-probabilities", "code-rpc"),
        witness={"n": "2", "x": "1/8", "eps": "3/10"},
    ),
    Claim(
        id="age.code.more-bits-fail-more",
        text="For all n >= 1 and 0 <= m < m' <= n, a codeword of n bits fails more often with m' than with m information"
        " bits: random parity check and ideal erasure code for 0 < eps < 1, random generator for 0 <= eps < 1.",
        latex=r"F(n,m,\varepsilon) < F(n,m',\varepsilon) \quad\text{for } 0\le m<m'\le n",
        source=Source(("P5", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(
            _weights(">", ("erase", "keep")), _weights(">=", ("keep",)), _parity_check(), _one_erasure(), _generator()
        ),
        assumptions="i.i.d. erasures; the failure probability is the binomial average over the number of erasures",
        argument="The weights of the numbers of erasures are positive (parts 1, 2). Parity check: the chance to decode e"
        " erasures with r rows is at least that with r-1 rows, by induction over e (part 3), and larger by 2^-r at"
        " e = 1 (part 4). Generator: with s >= m survivors one more bit strictly lowers the chance (part 5), and"
        " s = n has weight (1-eps)^n. Ideal code: the failure probabilities differ by the weight of n-m erasures.",
        definitions=("failure-probabilities", "code-rpc", "code-rlg", "code-mds"),
        witness={"eps": "3/10", "z": "1/8", "y": "1/8"},
    ),
)
