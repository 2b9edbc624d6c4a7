"""Stochastic orders between slot ages: all levels at once, by finitely many levels and a recurrence."""

from dataclasses import dataclass
from math import lcm
from typing import Any

from aoi_tools.closed_forms import LaggedLaw, ModifiedGeometric, PeriodicLaw
from aoi_tools.models.law import SlotLaw
from aoi_tools.solvers.age import EXACT_BITS, age_law, exact_size
from exactchains.domain import QQ, Balls, Domain
from exactchains.truth import InputError, Truth, Undecided


@dataclass(frozen=True)
class Order:
    """``smaller``: P(J > j) of the first is at most that of the second for every j; else ``level`` is a violation.

    ``level`` is the first violated level among those checked, or None when only the far tail is larger.
    """

    smaller: bool
    level: int | None = None


def recurrence(law: SlotLaw) -> tuple[int, int, Any]:
    """Return (start, step, ratio): P(J > j + step) = ratio P(J > j) for all j >= start."""
    if isinstance(law, ModifiedGeometric):
        return 0, 1, law.after_failure.failure
    if isinstance(law, PeriodicLaw):
        return law.period, law.period, law.actual.failure
    if isinstance(law, LaggedLaw):
        return law.lag, 1, law.after_failure.failure
    raise InputError(
        "a stochastic order over all levels needs a closed form, and one of the schemes has none; compare means or"
        " variances, or single tails (slot_ccdf)"
    )


def stochastic_order(first: Any, second: Any) -> Order:
    """Return whether the slot age of ``first`` is stochastically at most that of ``second``, for every level.

    Guarantee
    ---------
    A proof: levels up to a common period beyond both starts are compared, and the ratios of the recurrences.

    Raises
    ------
    Undecided
        Two tails agree as far as the precision sees, and are too large to compare exactly.
    """
    sizes = [exact_size(scheme, None) for scheme in (first, second)]
    alike = getattr(first, "actual", None) == getattr(second, "actual", 0)
    if all(size is not None and size <= EXACT_BITS for size in sizes):
        return _ordered(age_law(first), age_law(second), QQ, alike)
    prec = 128
    while True:
        domain = Balls(prec)
        try:
            with domain.working():
                return _ordered(age_law(first, domain=domain), age_law(second, domain=domain), domain, alike)
        except Undecided:
            prec *= 4
            if prec > 1 << 14:
                raise


def _ordered(one: SlotLaw, two: SlotLaw, domain: Domain, alike: bool) -> Order:
    """``alike``: both ratios are powers of one p < 1, the failure of the same codeword."""
    (start, step, ratio), (begin, stride, quotient) = recurrence(one), recurrence(two)
    common = lcm(step, stride)
    top = max(start, begin) + common
    for j in range(top):
        if _less(two.ccdf(j), one.ccdf(j), domain):
            return Order(False, j)
    if domain.equal(one.ccdf(top), domain.convert(0)) is Truth.TRUE:
        return Order(True)
    if alike:
        return Order(common // stride <= common // step)
    return Order(not _less(quotient ** (common // stride), ratio ** (common // step), domain))


def _less(x: Any, y: Any, domain: Domain) -> bool:
    return bool(domain.less(x, y))  # unknown raises Undecided
