"""Mean penalties of the slot age: powers by moments, exponentials by the recurrence of the tail, steps by the tail."""

from typing import Any

from flint import fmpq

from aoi_tools.models.law import SlotLaw
from aoi_tools.solvers.age import EXACT_BITS, age_law, certified, exact_size
from aoi_tools.solvers.orders import recurrence
from exactchains.domain import QQ, Domain
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import DoesNotExist, InputError, Truth


def exponential_penalty(scheme: Any, growth: fmpq, *, digits: int = 30) -> Result:
    r"""Return E z^J with z = ``growth`` >= 0; at 0 it is P(J = 0).

    E z^J = 1 + (z-1) \sum_j z^j P(J > j); the tail repeats P(J > j + L) = r P(J > j) from some j0 on, so the sum is a
    head and (z-1) \sum_{i<L} z^{j0+i} P(J > j0+i) / (1 - z^L r).

    Raises
    ------
    DoesNotExist
        z^L r >= 1: the mean is infinite.
    InputError
        The scheme has no closed form, or growth is negative.
    """
    if growth < 0:
        raise InputError(f"growth = {growth}: a number >= 0 is needed")
    method = "recurrence of the tail"
    if (size := exact_size(scheme, None)) is not None and size <= EXACT_BITS:
        value = _mean(age_law(scheme), growth, QQ)
        return Result(Enclosure.exact(value), "slot_exponential", method=f"{method}, exact rational arithmetic")
    found, prec = certified(lambda domain: _mean(age_law(scheme, domain=domain), growth, domain), digits)
    return Result(found, "slot_exponential", method=f"{method}, ball arithmetic with {prec} bits")


def _mean(law: SlotLaw, growth: fmpq, domain: Domain) -> Any:
    try:
        start, step, ratio = recurrence(law)
    except InputError:
        raise InputError(
            "slot_exponential needs a scheme whose tail repeats, and this one has no such closed form; ask for"
            " slot_moment, or for single tails (slot_ccdf)"
        ) from None
    with domain.working():
        z, one = domain.convert(growth), domain.convert(1)
        if domain.equal(law.ccdf(start), domain.convert(0)) is Truth.TRUE:
            closing = one
        else:
            closing = one - z**step * ratio
            if not domain.less(domain.convert(0), closing):  # unknown raises Undecided: the precision is raised
                raise DoesNotExist(
                    f"E z^J is infinite at growth = {growth}, no number encloses it; give a growth closer to 1"
                )
        head = sum((z**j * law.ccdf(j) for j in range(start)), domain.convert(0))
        tail = sum((z ** (start + i) * law.ccdf(start + i) for i in range(step)), domain.convert(0))
        return one + (z - one) * (head + tail / closing)
