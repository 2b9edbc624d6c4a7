"""Heavy traffic, the levels near 1: what y = 1 - x_k does while it is small, for every number d of samples.

``samples`` and ``levels`` state what inductions over d and over levels show, here and in the claims on heavy traffic.

E = y^d and F = (1-y)^d throughout; H = (1-eps) (1-F) + eps E is 1 - h(1-y), with h the chance to join at or above a level
of share u = 1 - y when errors occur at every gap.
"""

from collections.abc import Mapping, Sequence

from exactchains.symbolic import Fractions
from meanfield.models.noisy import error_polynomial
from proofs_check.claim import Statement
from proofs_check.claims.age.domains import stated

LIVE = Fractions("eps", "u")
UNIT = {"y": ["y", ">="], "x": ["1-y", ">="]}
ERRORS = {"eps": ["eps", ">="], "f": ["1-eps", ">="]}
FEW = {"assume": {"few": ["1-d*eps", ">="]}}
H = "((1-eps)*(1-F) + eps*E)"
Constraints = Mapping[str, Sequence[str]]


def samples(names: str, first: int, domain: Constraints, *claims: tuple) -> Statement:
    """Claims for every d >= first, by induction over d; names are those of u, of u^d and of (1-u)^d."""
    u, both, none = names.split()
    return Statement(
        "induction",
        {
            "variables": [u, *(["eps"] if "eps" in domain else [])],
            "domain": domain,
            "state": ["d", both, none],
            "starts": [{"d": f"{first}", both: f"{u}^{first}", none: f"(1-{u})^{first}"}],
            "steps": {"sample": {"set": {"d": "d+1", both: f"{u}*{both}", none: f"(1-{u})*{none}"}}},
        },
        stated(*claims),
    )


def levels(
    domain: Constraints,
    start: Mapping[str, str],
    after: Mapping[str, str],
    steps: Mapping[str, Constraints],
    *claims: tuple,
    variables: str,
    free: str = "t",
) -> Statement:
    """Claims at every level, by induction: a step sets what comes after, for any ``free`` numbers that its guard lets by."""
    return Statement(
        "induction",
        {
            "variables": variables.split(),
            "domain": domain,
            "state": list(start),
            "starts": [start],
            "steps": {name: {"set": after, "free": free.split(), "guard": guard} for name, guard in steps.items()},
        },
        stated(*claims),
    )


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
    return samples("y E F", 2, UNIT | ERRORS, (H, "<=", "d*(1-eps)*y", FEW), (H, "<=", "1"), (H, ">=", "0"))


def harmonic() -> Statement:
    """H >= d (1-eps) y/(1 + (d-1) y), so that 1/H exceeds 1/(d (1-eps) y) by (d-1)/(d (1-eps)) at most."""
    return samples(
        "y E F",
        2,
        UNIT | ERRORS,
        (f"{H}*(1+(d-1)*y)", ">=", "d*(1-eps)*y"),
        ("(1-F)*(1+(d-1)*y)", ">=", "d*y"),
        ("1-F", "<=", "d*y"),
    )


def at_most(*more: tuple) -> Statement:
    """y_(k+1) <= delta + a y_k from y_0 = 0: y_k <= delta (a^k - 1)/(a-1); S is x_1 + .. + x_k, A = a^k."""
    return levels(
        {"delta": ["delta", ">"], "a": ["a-1", ">"]},
        {"k": "0", "y": "0", "A": "1", "S": "0"},
        {"k": "k+1", "y": "delta+t", "A": "a*A", "S": "S + 1 - (delta+t)"},
        {"level": {"t": ["t", ">="], "growth": ["a*y-t", ">="]}},
        ("(a-1)*y", "<=", "delta*(A-1)"),
        ("S", ">=", "k - a/(a-1)^2", {"assume": {"early": ["1-delta*A", ">="]}}),
        *more,
        variables="delta a",
    )


def at_least() -> Statement:
    """y_(k+1) >= a y_k/(1 + (d-1) y_k) from y_1 = delta: with m = delta a^(k-1) >= 1 y_k has reached (a-1)/(a+d-2)."""
    return levels(
        {"delta": ["delta", ">"], "a": ["a-1", ">"], "d": ["d-1", ">"]},
        {"y": "delta", "m": "delta"},
        {"y": "t", "m": "a*m"},
        {"level": {"growth": ["t*(1+(d-1)*y) - a*y", ">="]}},
        ("y*((d-1)*m + a-1)", ">=", "(a-1)*m"),
        ("y", ">=", "(a-1)/(a+d-2)", {"assume": {"late": ["m-1", ">="]}}),
        variables="delta a d",
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
