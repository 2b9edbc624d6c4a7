"""Equilibrium of power of d with errors at every gap, or gaps so wide that it is next to that: an outward recursion."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import arb, fmpq

from exactchains.domain import Balls
from exactchains.number import nearest_double
from exactchains.truth import PrecisionExhausted, Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.divided import divided

__all__ = ["Recursion", "recursion"]

Follower = Callable[[arb], arb]
MAX_TERMS = 1_000_000


@dataclass(frozen=True)
class Recursion:
    """Exact ends of x_1..x_K, and of the sum of all tails; the rest after x_K is bounded by a geometric series."""

    tails: list[tuple[arb, arb]]
    total: tuple[arb, arb]


def recursion(policy: PowerOfD, *, bits: int, digits: int, levels: int) -> Recursion | None:
    r"""Return x_1..x_K and their sum until the rest is negligible at ``digits`` digits.

    Errors at every gap: :math:`x_{k+1} = \lambda h(x_k)`, and :math:`h(u) = (1-\varepsilon) u^d + \varepsilon u
    \sum_{i<d} (1-u)^i` is increasing, so that each end follows its own recursion; :math:`h(u) \le (d \varepsilon +
    u^{d-1}) u`, so that the rest after x_K is at most :math:`x_K a/(1-a)`, :math:`a = \lambda (d\varepsilon +
    x_K^{d-1})`.

    Errors at gaps up to g join no longer queue, and another one only by an error in a sample with a server of more than
    g jobs: :math:`\lambda (h(x_k) - \varepsilon d\, x_{g+1}) \le x_{k+1} \le \lambda h(x_k)`, and x_{g+1} <= x_K for
    K <= g + 1.  None: these bounds do not give the digits.
    """
    if policy.g is None:
        _require_short(policy, digits)
    elif policy.load * policy.d * policy.eps >= 1 or levels > policy.g:
        return None
    with Balls(bits).working():
        small, follow = arb(fmpq(10) ** -(digits + 3)), _follower(policy)
        upper, wanted = [arb(policy.load).upper()], levels
        while True:
            rest = _continued(policy, upper, follow, small, wanted)
            if rest is None:
                return None
            lower = _lower(policy, upper, follow)
            below, above = sum(lower, arb(0)).lower(), (sum(upper, arb(0)) + rest).upper()
            found = Recursion(list(zip(lower, upper, strict=True)), (below, above))
            if policy.g is None or all(
                y - x < 100 * small * x for x, y in [*found.tails[max(levels - 1, 0) : levels], found.total]
            ):
                return found
            wanted = len(upper) + len(upper) // 4 + 8


def _continued(policy: PowerOfD, upper: list[arb], follow: Follower, small: arb, levels: int) -> arb | None:
    """Append upper bounds until ``levels`` and until the rest after them is small beside their sum; return it."""
    load, eps, deepest = arb(policy.load), arb(policy.eps), arb(2) ** -3_000_000
    total = sum(upper[:-1], arb(0))
    for _ in range(len(upper), 1 + (MAX_TERMS if policy.g is None else policy.g + 1)):
        total = (total + upper[-1]).upper()
        if upper[-1] < small and len(upper) >= levels:  # the cheap test first
            rest = _rest(upper[-1], load, eps, policy.d)
            if rest is not None and rest < small * total:
                return rest
        upper.append(follow(upper[-1]).upper())
        if upper[-1] < deepest:
            raise Undecided(f"tail {len(upper)} lies below 1e-900000; ask for lower levels")
    if policy.g is not None:
        return None
    raise Undecided(f"the tails decay too slowly: {MAX_TERMS} terms give too few digits; ask for fewer")


def _lower(policy: PowerOfD, upper: list[arb], follow: Follower) -> list[arb]:
    """Return lower bounds of the levels whose upper bounds are known."""
    lost = arb(0) if policy.g is None else arb(policy.load * policy.eps * policy.d) * upper[-1]
    lower = [arb(policy.load).lower()]
    while len(lower) < len(upper):
        following = (follow(lower[-1]) - lost).lower()
        if not following > 0 and policy.g is None:
            raise PrecisionExhausted("the recursion loses all digits; raise the precision")
        lower.append(following if following > 0 else arb(0))
    return lower


def _follower(policy: PowerOfD) -> Follower:
    """Return the function load h(u)."""
    d, kept, erring = policy.d, arb(policy.load * (1 - policy.eps)), arb(policy.load * policy.eps)
    return lambda u: kept * u**d + erring * u * divided(arb(1), 1 - u, d)


def _require_short(policy: PowerOfD, digits: int) -> None:
    """Refuse at once a recursion of far too many terms: in the end each is the load times d eps of the last."""
    ratio = policy.load * policy.d * policy.eps
    if not 1 - ratio < fmpq(1, 1000):
        return
    each = -math.log1p(-nearest_double(1 - ratio)) / math.log(10)  # digits that a term gains
    if (digits + 3) / each > 1.2 * MAX_TERMS:
        most = int(MAX_TERMS * each) - 3
        advice = f"ask for at most {most}" if most > 0 else "no digit is within reach"
        raise Undecided(
            f"the tails decay too slowly: at load * d * eps = 1 - {nearest_double(1 - ratio):.2g}, {digits} digits "
            f"take {(digits + 3) / each:.2g} terms of at most {MAX_TERMS}; {advice}"
        )


def _rest(x: arb, load: arb, eps: arb, d: int) -> arb | None:
    ratio = load * (d * eps + x ** (d - 1))
    return x * ratio / (1 - ratio) if ratio < 1 else None
