"""Slot-by-slot simulation of update schemes: packets, erasures, matrices, and what the receiver knows.

Shares no formula with the models: a random code is simulated by drawing its matrix and eliminating over GF(2), a
scheme by deciding packet by packet what is sent and by keeping the set of states that the receiver knows.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from aoi_tools.models.codes import Codeword, IdealErasure, RandomGenerator, RandomParityCheck
from aoi_tools.models.schemes import Actual, Cyclic, Delayed, Feedback, Generalised, Lossy, Periodic
from exactchains.domain import Floats
from exactchains.truth import InputError

Plan = Callable[[int, list[bool]], int | None]
BURN_IN = 1_000


def slot_ages(scheme: Any, *, slots: int, seed: int, burn_in: int = BURN_IN) -> NDArray[np.int64]:
    """Return the slot age J at the ends of ``slots`` consecutive slots, after ``burn_in`` slots from a known state.

    Guarantee
    ---------
    None beyond that of a simulation; the same seed gives the same ages.
    """
    if slots < 1 or burn_in < 0:
        raise InputError(f"slots = {slots}: an integer >= 1 is needed (burn_in >= 0)")
    rng = np.random.default_rng(seed)
    total = slots + burn_in
    plan = planner(scheme, total, rng)
    known: list[bool] = []
    ages = np.empty(total, dtype=np.int64)
    latest = -1
    for t in range(total):
        reference = plan(t, known)
        fate = fates(scheme, t)[0 if reference is None else 1]
        holds_reference = reference is None or (known[reference] if reference >= 0 else True)
        usable = arrives(fate, rng) and holds_reference
        known.append(usable)
        if usable:
            latest = t
        ages[t] = t - latest
    return ages[burn_in:]


def fates(scheme: Any, t: int) -> tuple[Any, Any]:
    """Return the codes of an actual and of a differential update in slot ``t``."""
    if isinstance(scheme, Cyclic):
        return scheme.channel[t % len(scheme.channel)]
    return scheme.actual, getattr(scheme, "differential", scheme.actual)


@functools.singledispatch
def planner(scheme: Any, slots: int, rng: Generator) -> Plan:
    """Return the transmitter: (slot, outcomes so far) to the slot that the update refers to, or None for actual."""
    raise InputError(f"{type(scheme).__name__} cannot be simulated")


@planner.register
def _(scheme: Actual, slots: int, rng: Generator) -> Plan:
    return lambda t, known: None


@planner.register
def _(scheme: Feedback, slots: int, rng: Generator) -> Plan:
    return lambda t, known: t - 1 if t == 0 or known[t - 1] else None


@planner.register
def _(scheme: Generalised, slots: int, rng: Generator) -> Plan:
    small = rng.random(slots) < Floats().convert(scheme.alpha)
    return lambda t, known: t - 1 if small[t] and (t == 0 or known[t - 1]) else None


@planner.register
def _(scheme: Lossy, slots: int, rng: Generator) -> Plan:
    heard = rng.random(slots) >= Floats().convert(scheme.loss)
    return lambda t, known: t - 1 if heard[t] and (t == 0 or known[t - 1]) else None


@planner.register
def _(scheme: Delayed, slots: int, rng: Generator) -> Plan:
    return lambda t, known: t - scheme.lag if t < scheme.lag or known[t - scheme.lag] else None


@planner.register
def _(scheme: Periodic, slots: int, rng: Generator) -> Plan:
    return lambda t, known: t - 1 if t % (scheme.q + 1) else None


@planner.register
def _(scheme: Cyclic, slots: int, rng: Generator) -> Plan:
    return lambda t, known: None if scheme.schedule[t % len(scheme.schedule)] == "actual" else t - 1


@functools.singledispatch
def arrives(code: Any, rng: Generator) -> bool:
    """Return whether one codeword is decoded: draw its erasures, then its matrix."""
    raise InputError(f"{type(code).__name__} cannot be simulated")


@arrives.register
def _(code: Codeword, rng: Generator) -> bool:
    return bool(rng.random() < Floats().convert(code.success))


@arrives.register
def _(code: IdealErasure, rng: Generator) -> bool:
    return _erasures(code, rng) <= code.n - code.bits


@arrives.register
def _(code: RandomParityCheck, rng: Generator) -> bool:
    return independent(_erasures(code, rng), code.n - code.bits, rng)


@arrives.register
def _(code: RandomGenerator, rng: Generator) -> bool:
    return independent(code.bits, code.n - _erasures(code, rng), rng)


def independent(count: int, length: int, rng: Generator) -> bool:
    """Return whether ``count`` uniform binary vectors of ``length`` bits, drawn here, are linearly independent."""
    if count > length:
        return False
    size = (length + 7) // 8
    pivots: dict[int, int] = {}
    drawn = rng.bytes(size * count)
    for i in range(count):
        vector = int.from_bytes(drawn[i * size : (i + 1) * size], "little") & ((1 << length) - 1)
        while vector:
            lead = vector.bit_length()
            if lead not in pivots:
                pivots[lead] = vector
                break
            vector ^= pivots[lead]
        else:
            return False
    return True


def _erasures(code: Any, rng: Generator) -> int:
    if getattr(code, "field", 2) != 2:
        raise InputError(f"field = {code.field}: only binary codes are simulated")
    return int(rng.binomial(code.n, Floats().convert(code.eps)))
