"""Exponential tails for every number of servers, and double exponential ones in the limit (errors at gaps up to g)."""

from functools import cache

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.dependent import DEFINITIONS, joined
from proofs_check.claims.noisy.dependent import MODEL as LIMIT

INSTANCES = [(2, 1), (2, 2), (3, 1), (3, 2)]  # (d, g) of the check against the live flow


def _sample() -> Statement:
    """One sample: shortest z^m = u, longest z^M = u + p, mean of z^q at least u + r p, r = 1/d; Z = z^-g.

    An error is possible only if u + p <= u/Z.  a = 1 for eps <= r, else 1 + (eps/r - 1)(1 - Z).
    """
    domain = {
        "u": ["u", ">"],
        "p": ["p", ">="],
        "r": ["r", ">"],
        "d": ["1-r", ">="],
        "eps": ["eps", ">="],
        "Z": ["Z", ">"],
        "z": ["1-Z", ">="],
    }
    gap = {"g": ["u*(1-Z) - Z*p", ">="]}
    few, many = {"s": ["r-eps", ">="]}, {"s": ["eps-r", ">="]}
    ratio = "(1 + (eps/r-1)*(1-Z))"
    return Statement(
        "sign",
        {"variables": ["u", "p", "r", "eps", "Z"], "domain": domain},
        stated(
            ("u + eps*p", "<=", "u + r*p", {"assume": few}),
            ("u + eps*p", "<=", f"{ratio}*(u + r*p)", {"assume": {**gap, **many}}),
            ("u", "<=", f"{ratio}*(u + r*p)", {"assume": many}),
        ),
    )


def _stationary() -> Statement:
    """X = E z^q, J = E z^joined <= a X; the drift of sum z^q, per server, with busy fraction lam, is at least 0."""
    domain = {
        "lam": ["lam", ">"],
        "z": ["z-1", ">"],
        "X": ["X", ">="],
        "policy": ["a*X - J", ">="],
        "drift": ["z*lam*J - X + 1 - lam", ">="],
        "tail": ["1 - z*lam*a", ">"],
    }
    return Statement(
        "sign",
        {"variables": ["lam", "z", "a", "X", "J"], "domain": domain},
        stated(
            ("lam*(z-1)*J - (1-1/z)*(X - (1-lam))", "=", "(z-1)/z*(z*lam*J - X + 1 - lam)"),
            ("X", "<=", "(1-lam)/(1-z*lam*a)"),
        ),
    )


def _some_base() -> Statement:
    """1 - z^-g <= g (z-1): by induction over g, Z = z^-g; so z lam a < 1 for z near 1."""
    return Statement(
        "induction",
        {
            "variables": ["z"],
            "domain": {"z": ["z-1", ">="]},
            "state": ["g", "Z"],
            "starts": [{"g": "0", "Z": "1"}],
            "steps": {"gap": {"set": {"g": "g+1", "Z": "Z/z"}}},
        },
        stated(("1 - Z", "<=", "g*(z-1)")),
    )


def _union() -> Statement:
    """All j samples at level >= k - g (chance b each), one at level >= k (chance x <= b): b^j - (b-x)^j <= j x b^(j-1).

    F = b^(j-1), C = (b-x)^j, E = x^j.
    """
    return Statement(
        "induction",
        {
            "variables": ["x", "b", "eps"],
            "domain": {"x": ["x", ">="], "b": ["b-x", ">="], "eps": ["eps", ">="]},
            "state": ["j", "F", "C", "E"],
            "starts": [{"j": "1", "F": "1", "C": "b-x", "E": "x"}],
            "steps": {"sample": {"set": {"j": "j+1", "F": "b*F", "C": "(b-x)*C", "E": "x*E"}}},
        },
        stated(
            ("b*F - C", "<=", "j*x*F"),
            ("E", "<=", "x*F"),
            ("E + eps*(b*F - C)", "<=", "(1+eps*j)*x*F"),
        ),
    )


@cache
def _flow(d: int, g: int, k: int) -> Statement:
    """P_k <= x_k^d + eps (b^d - (b-x_k)^d), b = x_(k-g) or x_0, from the live flow on ordered tails."""
    depth = k + 2 * g + 1
    field, whole = joined(d, g, k, depth, ends=True)
    ordered = {f"p{i}": [f"x{i}-x{i + 1}", ">="] for i in range(depth - 1)} | {"x": [f"x{depth - 1}", ">="]}
    domain = {"eps": ["eps", ">="], "f": ["1-eps", ">="], **ordered}
    b = f"x{max(k - g, 0)}"
    bound = f"x{k}^{d} + eps*({b}^{d} - ({b}-x{k})^{d})"
    return Statement(
        "sign", {"variables": list(field.names), "domain": domain}, stated((field.text(whole), "<=", bound))
    )


CLAIMS = (
    Claim(
        id="noisy.dependent.exponential-tail",
        text="n servers, errors at gaps up to g: with z > 1, a = 1 + (d eps - 1)^+ (1 - z^-g) and z lam a < 1,"
        " E z^Q <= (1-lam)/(1 - z lam a) for every n; such a z exists and depends on d, g, eps, lam only.",
        latex=r"E z^Q \le \frac{1-\lambda}{1-z\lambda a},\qquad a = 1+(d\varepsilon-1)^+(1-z^{-g})",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_sample(), _stationary(), _some_base()),
        assumptions="n >= d unit-rate servers (n >= 1 with replacement), 0 < lam < 1, finite g, both sampling rules",
        argument="In each sample the mean of z^joined is at most a times the mean of z^q over the sample (part 1); the sample"
        " means average to the mean over all servers. The stationary drift of sum z^q is at least 0, the chain being positive"
        " recurrent, and the busy fraction is lam (part 2). As 1 - z^-g <= g (z-1), z lam a < 1 for z near 1 (part 3).",
        definitions=("load", "comparison-error", "queue-length"),
        uses=("noisy.dependent.queue-bound",),
        witness={
            "u": "1",
            "p": "0",
            "r": "1/2",
            "eps": "1/2",
            "Z": "1/2",
            "lam": "1/2",
            "z": "5/4",
            "a": "1",
            "X": "1",
            "J": "1",
        },
    ),
    Claim(
        id="noisy.dependent.tail",
        text="Fixed point of the limit, errors at gaps up to g: x_(k+1) <= lam (1 + eps d) x_k x_((k-g)^+)^(d-1) for every k,"
        " so the tail is double exponential.",
        latex=r"x_{k+1} \le \lambda(1+\varepsilon d)\, x_k\, x_{(k-g)^+}^{d-1}",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(_union(), *(_flow(d, g, k) for d, g in INSTANCES for k in (1, g, g + 1, g + 2))),
        assumptions=LIMIT + "; ordered tails 1 = x_0 >= x_1 >= .., x_(k+1) = lam P_k",
        argument="A job joins level k or above only if all d samples are there, or by an error, which needs one sample at level k"
        " or above and all at level k - g or above: P_k <= x_k^d + eps (b^d - (b-x_k)^d), b = x_((k-g)^+). By induction over d"
        " this is at most (1 + eps d) x_k b^(d-1). The other parts check the first inequality in the live flow for d = 2, 3 and"
        " g = 1, 2.",
        definitions=DEFINITIONS,
        witness={"lam": "1/2", "x": "1/4", "b": "1/2", "eps": "1/2", **{f"x{i}": f"1/{2**i}" for i in range(12)}},
    ),
)
