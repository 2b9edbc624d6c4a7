"""Where one scheme is better or worse than another: certified regions of the load, and the crossings between them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.number import Rational, rational
from exactchains.truth import InputError, Undecided
from meanfield.models.noisy import PowerOfD, power_of_d
from meanfield.models.pools import whole
from meanfield.solvers.fixed_point import fixed_point

__all__ = ["Region", "against_random", "crossings", "regions"]

Relation = Literal["less", "greater", "undecided"]
Bounds = tuple[fmpq | None, fmpq | None]  # lower and upper; None: infinity
Mean = Callable[[fmpq], Bounds]
MOST_DIGITS = 100
BOXES = (3_000, 300)  # at most so many, and so many more each time the range is halved down to the tolerance
NEAR = fmpq(1, 1000)  # distance to the stability limit, relative, below which tails are too long to add up


@dataclass(frozen=True)
class Region:
    """For every load strictly between the ends the first mean is ``relation`` the second, by the argument ``why``."""

    lower: fmpq
    upper: fmpq
    relation: Relation
    why: str = "increasing means at the ends of boxes"


def regions(first: Mean, second: Mean, *, lower: Rational, upper: Rational, tolerance: Rational) -> list[Region]:
    """Return regions that cover [lower, upper], undecided ones shorter than ``tolerance``.

    ``first`` and ``second`` bound means that increase with the load; None stands for infinity.  On a box [a, b] the
    first is certainly larger when it is larger at a than the second at b.

    Guarantee
    ---------
    Every region labelled less or greater has that relation at each of its loads.

    Raises
    ------
    Undecided
        The means are so near to each other that thousands of boxes do not tell them apart.
    """
    tiny = rational(tolerance, "tolerance")
    if tiny <= 0:
        raise InputError(f"tolerance = {tiny}: a positive length is needed")
    one, two = cache(first), cache(second)
    found: list[Region] = []
    waiting = [(rational(lower, "lower"), rational(upper, "upper"))]
    if waiting[0][0] > waiting[0][1]:
        raise InputError(f"lower = {lower}, upper = {upper}: lower is at most upper")
    halvings = max(0, int(((waiting[0][1] - waiting[0][0]) / tiny).ceil()).bit_length())
    most = BOXES[0] + BOXES[1] * halvings
    for _ in range(most):
        if not waiting:
            return _merged(found)
        a, b = waiting.pop()
        relation = _relation(one, two, a, b)
        if relation == "undecided" and b - a > tiny:
            middle = _short(a, b)
            waiting += [(middle, b), (a, middle)]
        else:
            found.append(Region(a, b, relation))
    raise Undecided(
        f"regions: {most} boxes do not tell the means apart near load {_shown(a)}; they differ too little: ask for"
        " fewer digits (a larger tolerance) or a shorter range"
    )


def crossings(found: list[Region]) -> list[Enclosure]:
    """Return the loads where the relation changes from less to greater or back, between their neighbours."""
    changes = []
    for k, region in enumerate(found):
        before = found[k - 1].relation if k else None
        after = found[k + 1].relation if k + 1 < len(found) else None
        if region.relation == "undecided" and {before, after} == {"less", "greater"}:
            changes.append(Enclosure(region.lower, region.upper))
    return changes


def against_random(policy: PowerOfD, *, digits: int = 20, upper: Rational | None = None) -> list[Region]:
    r"""Return where the mean response of the limit is less or greater than that of random routing, 1/(1-load).

    Parameters
    ----------
    policy
        d, g and eps; its load is not used.
    digits
        Crossings are located to so many decimals.
    upper
        The last load, by default the stability limit for errors at every gap and 99/100 for bounded gaps.

    Guarantee
    ---------
    Regions cover all loads from 0 to ``upper``.  Below :math:`(1 - 1/(d\varepsilon))/(2d)` the scheme is worse when
    :math:`\varepsilon > 1/d` and g >= 1, because the mean response is at least :math:`1 + d\varepsilon\lambda(1 -
    (2d-1)\lambda)`; everywhere it is at most that of random when :math:`\varepsilon \le 1/d`.  Between, both means
    increase with the load (the equilibrium of a larger load is a super-solution of a smaller one).
    """
    policy = power_of_d(policy, "against_random")
    d, eps, digits = policy.d, policy.eps, whole(digits, "digits", "give", most=MOST_DIGITS)
    stable = policy.stability_limit(None)
    last = rational(upper, "upper") if upper is not None else (stable if policy.g is None else fmpq(99, 100))
    if not 0 < last <= stable:
        raise InputError(f"upper = {last}: loads are compared up to the stability limit {stable}")
    if d * eps <= 1 or policy.g == 0:
        return [Region(fmpq(0), last, "less", "dominated by random routing: eps <= 1/d, or no visible error (<=)")]
    light = min((1 - 1 / (d * eps)) / (2 * d), last)
    head = Region(fmpq(0), light, "greater", "light traffic")
    if light == last:
        return [head]

    def scheme(load: fmpq) -> Bounds:
        mean = fixed_point(PowerOfD(load, d, policy.g, eps), digits=digits + 6).mean_queue
        return mean.lower, mean.upper

    def random(load: fmpq) -> Bounds:
        return load / (1 - load), load / (1 - load)

    cut = min(last, (1 - NEAR) * stable)
    found = [head, *regions(scheme, random, lower=light, upper=cut, tolerance=fmpq(10) ** -(digits + 2))]
    if cut < last:  # towards the stability limit the scheme only gets worse, while random stays finite
        above = last < 1 and _exceeds(scheme(cut)[0], random(last)[1])
        found.append(Region(cut, last, "greater" if above else "undecided", "near the stability limit"))
    return _merged(found)


def _merged(found: list[Region]) -> list[Region]:
    merged = found[:1]
    for region in found[1:]:
        if region.relation == merged[-1].relation:
            merged[-1] = Region(merged[-1].lower, region.upper, region.relation)
        else:
            merged.append(region)
    return merged


def _relation(first: Mean, second: Mean, a: fmpq, b: fmpq) -> Relation:
    if _exceeds(first(a)[0], second(b)[1]):
        return "greater"
    return "less" if _exceeds(second(a)[0], first(b)[1]) else "undecided"


def _exceeds(x: fmpq | None, y: fmpq | None) -> bool:
    return y is not None and (x is None or x > y)


def _shown(load: fmpq) -> str:
    return Enclosure.exact(load).short(12)


def _short(a: fmpq, b: fmpq) -> fmpq:
    """Return a load near the middle with a short binary fraction."""
    unit = fmpq(1)
    while 8 * unit > b - a:
        unit = unit / 2
    return fmpq(((a + b) / (2 * unit)).floor()) * unit
