"""Equilibrium of power of d with errors at every gap: the recursion x_{k+1} = lam h(x_k), rounded outward."""

import math
from dataclasses import dataclass

from flint import arb, fmpq

from exactchains.domain import Balls
from exactchains.number import nearest_double
from exactchains.truth import PrecisionExhausted, Undecided
from meanfield.models.noisy import PowerOfD

__all__ = ["Recursion", "recursion"]

MAX_TERMS = 1_000_000


@dataclass(frozen=True)
class Recursion:
    """Exact ends of x_1..x_K, and of the sum of all tails; the rest after x_K is bounded by a geometric series."""

    tails: list[tuple[arb, arb]]
    total: tuple[arb, arb]


def recursion(policy: PowerOfD, *, bits: int, digits: int, levels: int) -> Recursion:
    r"""Return x_1..x_K and their sum until the rest is negligible at ``digits`` digits.

    :math:`h(u) = (1-\varepsilon) u^d + \varepsilon u \sum_{i<d} (1-u)^i` is increasing, so that each end follows its
    own recursion; :math:`h(u) \le (d \varepsilon + u^{d-1}) u`, so that the rest after x_K is at most
    :math:`x_K a/(1-a)`, :math:`a = \lambda (d\varepsilon + x_K^{d-1})`.
    """
    _require_short(policy, digits)
    d, found = policy.d, []
    with Balls(bits).working():
        load, eps = arb(policy.load), arb(policy.eps)
        kept = load * (1 - eps)
        erring = load * eps
        deepest = arb(2) ** -3_000_000
        small = arb(fmpq(10) ** -(digits + 3))

        def following(u: arb) -> arb:
            v, series = 1 - u, arb(1)
            for _ in range(d - 1):
                series = series * v + 1
            return kept * u**d + erring * u * series

        low, high = load.lower(), load.upper()
        below, above = arb(0), arb(0)
        for _ in range(MAX_TERMS):
            found.append((low, high))
            below, above = (below + low).lower(), (above + high).upper()
            if high < small and len(found) >= levels:  # the cheap test first
                rest = _rest(high, load, eps, d)
                if rest is not None and rest < small * below:
                    return Recursion(found, (below, (above + rest).upper()))
            low, high = following(low).lower(), following(high).upper()
            if low < deepest:
                raise Undecided(f"tail {len(found) + 1} lies below 1e-900000; ask for lower levels")
            if not low > 0:
                raise PrecisionExhausted("the recursion loses all digits; raise the precision")
    raise Undecided(f"the tails decay too slowly: {MAX_TERMS} terms do not reach {digits} digits; ask for fewer")


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
            f"the tails decay too slowly: at load * d * eps = {nearest_double(ratio):.9g} {digits} digits take "
            f"{(digits + 3) / each:.2g} terms of at most {MAX_TERMS}; {advice}"
        )


def _rest(x: arb, load: arb, eps: arb, d: int) -> arb | None:
    ratio = load * (d * eps + x ** (d - 1))
    return x * ratio / (1 - ratio) if ratio < 1 else None
