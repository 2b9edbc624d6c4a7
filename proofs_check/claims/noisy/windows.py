"""Where a job goes when errors occur at gaps up to g only: the tail form of the routing law, bounded for every d and g.

P_k = x_k^d + eps (sum of (x_i - c_i)^d - (x_(i+1) - c_i)^d over (k-g)^+ <= i < k, minus (b - x_k)^d), where c_i =
x_(i+g+1) and b = x_((k-g)^+).  As x_(k+g) <= c_i <= x_k, a bound on each difference and telescoping bound P_k.
"""

from functools import cache

from proofs_check.claim import Statement
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.dependent import joined

INSTANCES = [(2, 1), (2, 2), (3, 1), (3, 2)]  # (d, g) at which the tail form is compared with the live flow
ARGUMENT = (
    "Summed over levels, the law of noisy.routing.formula is P_k = x_k^d + eps (sum of (x_i - c_i)^d - (x_(i+1) - c_i)^d over"
    " (k-g)^+ <= i < k, minus (b - x_k)^d), c_i = x_(i+g+1), b = x_((k-g)^+); the first 16 parts compare it with the live flow."
    " Each difference falls as c_i rises, for every d (part 17)"
)


@cache
def tail_form(d: int, g: int, k: int) -> Statement:
    """The tail form at (d, g, k) is the live flow's chance to join level k or above; x_0 stands for 1."""
    depth = k + 2 * g + 1
    field, whole = joined(d, g, k, depth, ends=True)
    x = [f"x{i}" for i in range(depth)] + ["0"] * (g + 1)
    b = max(k - g, 0)
    terms = [f"(({x[i]}-{x[i + g + 1]})^{d} - ({x[i + 1]}-{x[i + g + 1]})^{d})" for i in range(b, k)]
    return Statement(
        "identity",
        {"variables": list(field.names), "domain": {}},
        stated((field.text(whole), "=", f"{x[k]}^{d} + eps*({' + '.join(terms)} - ({x[b]}-{x[k]})^{d})")),
    )


def tail_forms() -> list[Statement]:
    """Return the comparisons with the live flow; rows beyond g + 1 are shifts of row g + 1."""
    return [tail_form(d, g, k) for d, g in INSTANCES for k in (1, g, g + 1, g + 2)]


def differences() -> Statement:
    """u = v + p, v = c + s: from c to c - h the difference (u-c)^d - (v-c)^d rises, by d h p^(d-1) at least.

    A = (u-c)^d, B = (v-c)^d, M and N the same with c - h, P = p^(d-1): by induction over d.
    """
    return Statement(
        "induction",
        {
            "variables": ["p", "s", "h"],
            "domain": {"p": ["p", ">="], "s": ["s", ">="], "h": ["h", ">="]},
            "state": ["d", "A", "B", "M", "N", "P"],
            "starts": [{"d": "2", "A": "(p+s)^2", "B": "s^2", "M": "(p+s+h)^2", "N": "(s+h)^2", "P": "p"}],
            "steps": {
                "sample": {
                    "set": {"d": "d+1", "A": "(p+s)*A", "B": "s*B", "M": "(p+s+h)*M", "N": "(s+h)*N", "P": "p*P"}
                }
            },
        },
        stated(("M - N", ">=", "A - B"), ("M - N", ">=", "A - B + d*h*P")),
    )
