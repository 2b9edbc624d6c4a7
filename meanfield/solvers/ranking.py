"""Which policy is best for a system: mean responses in order, every comparison certified."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.truth import DoesNotExist, PrecisionExhausted, Truth, Undecided
from meanfield.models.policy import Policy
from meanfield.solvers.quantities import balancing_quantity

__all__ = ["Ranked", "faster", "ranking"]

DIGITS = (6, 10, 16, 24)


@dataclass(frozen=True)
class Ranked:
    """A policy with its mean response; None: the system is unstable."""

    policy: Policy
    mean_response: Enclosure | None


def ranking(policies: Sequence[Policy], *, n: int | None) -> list[Ranked]:
    """Return the policies from the smallest mean response to the largest, unstable ones last.

    Guarantee
    ---------
    Neighbours have disjoint enclosures, or the same exact value.

    Raises
    ------
    Undecided
        Two enclosures overlap at 24 digits.
    """
    for digits in DIGITS:
        found = [Ranked(p, _mean_response(p, n, digits)) for p in policies]
        finite = sorted((r for r in found if r.mean_response is not None), key=_lower)
        if all(_separate(a, b) for a, b in pairwise(finite)):
            return finite + [r for r in found if r.mean_response is None]
    raise Undecided(f"the order is not decided with {DIGITS[-1]} digits: two mean responses may be equal")


def faster(first: Policy, second: Policy, *, n: int | None) -> Truth:
    """Return whether the mean response under ``first`` is certainly less; FALSE includes a proved tie."""
    for digits in DIGITS:
        one, two = (_mean_response(p, n, digits) for p in (first, second))
        if one is None or two is None:
            return Truth.TRUE if one is not None else Truth.FALSE
        if one.upper < two.lower:
            return Truth.TRUE
        if one.lower >= two.upper:
            return Truth.FALSE
    return Truth.UNKNOWN


def _mean_response(policy: Policy, n: int | None, digits: int) -> Enclosure | None:
    try:
        return balancing_quantity(policy, "mean_response", n=n, digits=digits).enclosure
    except DoesNotExist:
        return None
    except PrecisionExhausted as error:
        raise Undecided(str(error)) from error


def _lower(r: Ranked) -> float:
    return nearest_double(r.mean_response.lower) if r.mean_response else 0.0


def _separate(a: Ranked, b: Ranked) -> bool:
    x, y = a.mean_response, b.mean_response
    if x is None or y is None:
        return True
    return bool(x.upper < y.lower or (x.is_exact and y.is_exact and x.lower == y.lower))
