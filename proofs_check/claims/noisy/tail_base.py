"""How fast the double exponential tail falls with errors at gaps up to g: the base of its exponent."""

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy import windows
from proofs_check.claims.noisy.dependent import DEFINITIONS, MODEL


def _coefficient() -> Statement:
    return Statement(
        "sign",
        {
            "variables": ["lam", "eps", "d"],
            "domain": {
                "lam": ["lam", ">"],
                "l": ["1-lam", ">="],
                "eps": ["eps", ">="],
                "f": ["1-eps", ">="],
                "d": ["d", ">"],
            },
        },
        stated(("lam*(1+eps*d)", "<=", "1+d")),
    )


def _half() -> Statement:
    """y = x_(k+1) <= c x_k B, c <= 1 + d, B = x_(k-g)^(d-1) <= b = x_(k-g): p_k = x - y >= x/2 once b <= 1/(2 (1+d))."""
    return Statement(
        "sign",
        {
            "variables": ["d", "c", "x", "y", "b", "B"],
            "domain": {
                "d": ["d", ">"],
                "c": ["1+d-c", ">="],
                "x": ["x", ">="],
                "B": ["B", ">="],
                "power": ["b-B", ">="],
                "deep": ["1 - 2*(1+d)*b", ">="],
                "tail": ["c*x*B - y", ">="],
            },
        },
        stated(("x - y", ">=", "x/2")),
    )


def _shift() -> Statement:
    """M = L - s, s = c/(d-1), turns L_(k+1) = L_k + (d-1) L_(k-g) - c into M_(k+1) = M_k + (d-1) M_(k-g)."""
    return Statement(
        "sign",
        {"variables": ["L", "N", "c", "d"], "domain": {"d": ["d-1", ">"]}},
        stated(("L + (d-1)*N - c - c/(d-1)", "=", "(L - c/(d-1)) + (d-1)*(N - c/(d-1))")),
    )


def _recurrence() -> Statement:
    """One step of M_k >= m beta^k and of M_k <= n beta^k: U = beta^k and V = beta^(k-g), where (beta-1) U = (d-1) V.

    U = (d-1) w and V = (beta-1) w with w > 0; M, N, O are M_k, M_(k-g), M_(k+1).
    """
    domain = {"beta": ["beta-1", ">"], "d": ["d-1", ">"], "w": ["w", ">"], "m": ["m", ">"]}
    u, v = "(d-1)*w", "(beta-1)*w"
    low = {
        "M": [f"M - m*{u}", ">="],
        "N": [f"N - m*{v}", ">="],
        "O": ["O - M - (d-1)*N", ">="],
    }
    high = {
        "M": [f"m*{u} - M", ">="],
        "N": [f"m*{v} - N", ">="],
        "O": ["M + (d-1)*N - O", ">="],
    }
    return Statement(
        "sign",
        {"variables": ["beta", "d", "w", "m", "M", "N", "O"], "domain": domain},
        stated(
            (f"beta*({u})", "=", f"{u} + (d-1)*{v}"),
            ("O", ">=", f"m*(beta*{u})", {"assume": low}),
            ("O", "<=", f"m*(beta*{u})", {"assume": high}),
        ),
    )


def _root() -> Statement:
    """beta^g (beta-1) increases in beta > 1: P = beta^g and Q = (beta+h)^g, by induction over g."""
    return Statement(
        "induction",
        {
            "variables": ["beta", "h"],
            "domain": {"b": ["beta-1", ">"], "h": ["h", ">"]},
            "state": ["P", "Q"],
            "starts": [{"P": "1", "Q": "1"}],
            "steps": {"gap": {"set": {"P": "beta*P", "Q": "(beta+h)*Q"}}},
        },
        stated(("P*(beta-1)", "<", "Q*(beta+h-1)"), ("P", ">=", "1")),
    )


CLAIMS = (
    Claim(
        id="noisy.dependent.tail-base",
        text="Errors at gaps up to g with eps > 0: (1/k) log(-log x_k) tends to log beta, where beta > 1 is the only root of"
        " beta^(g+1) = beta^g + d - 1; -log x_k lies between two multiples of beta^k up to constants.",
        latex=r"\tfrac1k\log(-\log x_k)\to\log\beta,\qquad \beta^{g+1}=\beta^g+d-1",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(
            *windows.tail_forms(),
            windows.differences(),
            _coefficient(),
            _half(),
            _shift(),
            _root(),
            _recurrence(),
        ),
        assumptions=MODEL + "; d >= 2, finite g, eps > 0; the ordered tail of finite sum at rest, x_(k+1) = lam P_k",
        argument=windows.ARGUMENT
        + ", by d p_k p_(k-g)^(d-1) at least at i = k - g, if x_k takes the place of x_(k+1), p_j = x_j - x_(j+1); with x_k for every c_i"
        " the sum is (b - x_k)^d. So P_k >= eps d p_k p_(k-g)^(d-1) for k >= g >= 1: a sample of one server with k jobs and d - 1 with k - g"
        " errs. As x_k tends to 0, p_k >= x_k/2 and p_(k-g) >= x_(k-g)/2 from some level on, by noisy.dependent.tail (parts 18, 19). So L_k ="
        " -log x_k satisfies L_(k+1) <= L_k + (d-1) L_(k-g) + log(2^d/(lam eps d)), and by noisy.dependent.tail L_(k+1) >= L_k + (d-1)"
        " L_(k-g) - log(lam (1 + eps d)); for g = 0 there are no errors and L_(k+1) = d L_k - log lam is both. A shift of L removes the"
        " constant (part 20). beta > 1 exists and is unique: beta^g (beta-1) increases without bound from 0 at 1 (part 21). L_k tends to"
        " infinity, so there are m, n > 0 with m beta^k <= shifted L_k <= n beta^k on g + 1 neighbouring levels; by strong induction over k"
        " it holds on all later ones, each step being part 22. Taking logarithms, dividing by k: the limit.",
        definitions=DEFINITIONS,
        uses=("noisy.dependent.tail", "noisy.routing.formula"),
        witness={
            **{f"x{i}": f"1/{2**i}" for i in range(12)},
            "lam": "1/2",
            "eps": "1/2",
            "d": "2",
            "c": "1",
            "p": "1",
            "s": "1",
            "x": "1/100",
            "y": "0",
            "b": "1/6",
            "B": "0",
            "L": "1",
            "N": "1",
            "M": "1",
            "O": "1",
            "beta": "2",
            "h": "1",
            "w": "1",
            "m": "1",
        },
    ),
)
