"""Heavy traffic, the levels near 1: what y = 1 - x_k does while it is small, for every number d of samples.

E = y^d and F = (1-y)^d throughout; H = (1-eps) (1-F) + eps E is 1 - h(1-y), with h the chance to join at or above a level
of share u = 1 - y when errors occur at every gap.
"""

from exactchains.symbolic import Fractions
from meanfield.models.noisy import error_polynomial
from proofs_check.claim import Statement
from proofs_check.claims.age.domains import stated

LIVE = Fractions("eps", "u")
UNIT = {"y": ["y", ">="], "x": ["1-y", ">="]}
ERRORS = {"eps": ["eps", ">="], "f": ["1-eps", ">="]}
FEW = {"assume": {"few": ["1-d*eps", ">="]}}
H = "((1-eps)*(1-F) + eps*E)"


def live(*numbers: int) -> Statement:
    """The polynomial of the live model is (1-eps) u^d + eps (1 - (1-u)^d)."""
    polynomials = [(d, LIVE.text(LIVE.convert(error_polynomial(d, LIVE["eps"], LIVE["u"])))) for d in numbers]
    return Statement(
        "identity",
        {"variables": ["eps", "u"], "domain": {}},
        stated(*((text, "=", f"(1-eps)*u^{d} + eps*(1-(1-u)^{d})") for d, text in polynomials)),
    )


def slope() -> Statement:
    """H <= d (1-eps) y while d eps <= 1, and 0 <= H <= 1: by induction over d."""
    return Statement(
        "induction",
        {
            "variables": ["y", "eps"],
            "domain": UNIT | ERRORS,
            "state": ["d", "E", "F"],
            "starts": [{"d": "2", "E": "y^2", "F": "(1-y)^2"}],
            "steps": {"sample": {"set": {"d": "d+1", "E": "y*E", "F": "(1-y)*F"}}},
        },
        stated((H, "<=", "d*(1-eps)*y", FEW), (H, "<=", "1"), (H, ">=", "0")),
    )


def harmonic() -> Statement:
    """H >= d (1-eps) y/(1 + (d-1) y), so that 1/H exceeds 1/(d (1-eps) y) by (d-1)/(d (1-eps)) at most."""
    return Statement(
        "induction",
        {
            "variables": ["y", "eps"],
            "domain": UNIT | ERRORS,
            "state": ["d", "E", "F"],
            "starts": [{"d": "2", "E": "y^2", "F": "(1-y)^2"}],
            "steps": {"sample": {"set": {"d": "d+1", "E": "y*E", "F": "(1-y)*F"}}},
        },
        stated((f"{H}*(1+(d-1)*y)", ">=", "d*(1-eps)*y"), ("(1-F)*(1+(d-1)*y)", ">=", "d*y"), ("1-F", "<=", "d*y")),
    )


def at_most(*more: tuple) -> Statement:
    """y_(k+1) <= delta + a y_k from y_0 = 0: y_k <= delta (a^k - 1)/(a-1); S is x_1 + .. + x_k, A = a^k."""
    return Statement(
        "induction",
        {
            "variables": ["delta", "a"],
            "domain": {"delta": ["delta", ">"], "a": ["a-1", ">"]},
            "state": ["k", "y", "A", "S"],
            "starts": [{"k": "0", "y": "0", "A": "1", "S": "0"}],
            "steps": {
                "level": {
                    "set": {"k": "k+1", "y": "delta+t", "A": "a*A", "S": "S + 1 - (delta+t)"},
                    "free": ["t"],
                    "guard": {"t": ["t", ">="], "growth": ["a*y-t", ">="]},
                }
            },
        },
        stated(
            ("(a-1)*y", "<=", "delta*(A-1)"),
            ("S", ">=", "k - a/(a-1)^2", {"assume": {"early": ["1-delta*A", ">="]}}),
            *more,
        ),
    )


def at_least() -> Statement:
    """y_(k+1) >= a y_k/(1 + (d-1) y_k) from y_1 = delta: with m = delta a^(k-1) >= 1 y_k has reached (a-1)/(a+d-2)."""
    return Statement(
        "induction",
        {
            "variables": ["delta", "a", "d"],
            "domain": {"delta": ["delta", ">"], "a": ["a-1", ">"], "d": ["d-1", ">"]},
            "state": ["y", "m"],
            "starts": [{"y": "delta", "m": "delta"}],
            "steps": {
                "level": {
                    "set": {"y": "t", "m": "a*m"},
                    "free": ["t"],
                    "guard": {"growth": ["t*(1+(d-1)*y) - a*y", ">="]},
                }
            },
        },
        stated(
            ("y*((d-1)*m + a-1)", ">=", "(a-1)*m"),
            ("y", ">=", "(a-1)/(a+d-2)", {"assume": {"late": ["m-1", ">="]}}),
        ),
    )


def without_load() -> Statement:
    """y_(k+1) = delta + (1-delta) H lies between H and delta + H; x_(k+1) = (1-delta) h at most h."""
    return Statement(
        "sign",
        {
            "variables": ["delta", "H"],
            "domain": {"delta": ["delta", ">"], "lam": ["1-delta", ">"], "H": ["H", ">="], "h": ["1-H", ">="]},
        },
        stated(
            ("delta + (1-delta)*H", ">=", "H"),
            ("delta + (1-delta)*H", "<=", "delta + H"),
        ),
    )
