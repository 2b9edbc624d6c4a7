"""Slot-by-slot simulation of update schemes: packets, erasures, matrices, and what the receiver knows.

Shares no formula with the models: a random code is simulated by drawing its matrix and eliminating over GF(2), a
scheme by deciding packet by packet what is sent and by keeping the set of states that the receiver knows.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from aoi_tools.gf2 import independent_rows
from aoi_tools.models.channels import SlotChannel
from aoi_tools.models.codes import Codeword, IdealErasure, RandomGenerator, RandomParityCheck
from aoi_tools.models.markov import LastDecoded, Markov
from aoi_tools.models.protocol import OnChannel
from aoi_tools.models.schedules import Schedule, SideInformation
from aoi_tools.models.schemes import Actual, Cyclic, Delayed, Feedback, Generalised, Lossy, Periodic
from exactchains.domain import Floats
from exactchains.truth import InputError

Plan = Callable[[int, list[bool]], int | None]
BURN_IN = 1_000
BLOCK = 4_096  # codewords drawn at a time
SEEN = 64  # bits of a vector that are drawn: see :func:`independent`


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
    plan = planner(scheme.scheme if isinstance(scheme, OnChannel) else scheme, total, rng)
    decoded = transmission(scheme, total, rng)
    known: list[bool] = []
    ages = np.empty(total, dtype=np.int64)
    latest = -1
    for t in range(total):
        reference = plan(t, known)
        readable = reference is None or reference < 0 or known[reference]
        known.append(decoded(t, reference is None) and readable)
        if known[t]:
            latest = t
        ages[t] = t - latest
    return ages[burn_in:]


def latest_known(t: int, known: list[bool]) -> int:
    """Return the last slot before ``t`` whose state the receiver knows; -1 is the known start."""
    return next((s for s in range(t - 1, -1, -1) if known[s]), -1)


@functools.singledispatch
def transmission(scheme: Any, slots: int, rng: Generator) -> Callable[[int, bool], bool]:
    """Return the channel: (slot, whether the actual state is sent) to whether its codeword is decoded."""
    streams = [stream(code, slots, rng) for code in (getattr(scheme, "differential", scheme.actual), scheme.actual)]
    return lambda t, actual: next(streams[actual])


@transmission.register
def _(scheme: Cyclic, slots: int, rng: Generator) -> Callable[[int, bool], bool]:
    return lambda t, actual: arrives(scheme.channel[t % len(scheme.channel)][0 if actual else 1], rng)


@transmission.register
def _(scheme: OnChannel, slots: int, rng: Generator) -> Callable[[int, bool], bool]:
    channel: Any = scheme.channel
    steps = [np.cumsum([Floats().convert(x) for x in row]) for row in channel.matrix]
    state = 0

    def move() -> int:
        return min(int(np.searchsorted(steps[state], rng.random(), side="right")), len(steps) - 1)

    def decoded(t: int, actual: bool) -> bool:
        nonlocal state
        if isinstance(channel, SlotChannel):
            fate = arrives(channel.fates[state][0 if actual else 1], rng)
            state = move()
            return fate
        erasures = 0
        for _ in range(channel.actual.n):
            erasures += rng.random() < Floats().convert(channel.eps[state])
            state = move()
        return decodes(channel.actual if actual else channel.differential, erasures, rng)

    return decoded


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


@planner.register
def _(scheme: Schedule, slots: int, rng: Generator) -> Plan:
    lags = scheme.lags
    return lambda t, known: t - lags[t % len(lags)] if lags[t % len(lags)] else None


@planner.register
def _(scheme: SideInformation, slots: int, rng: Generator) -> Plan:
    def plan(t: int, known: list[bool]) -> int | None:
        held = latest_known(t, known)
        return held if scheme.patience is None or t - 1 - held < scheme.patience else None

    return plan


@planner.register
def _(scheme: Markov, slots: int, rng: Generator) -> Plan:
    small = _small_changes(scheme, slots, rng)
    return lambda t, known: t - 1 if t > 0 and known[t - 1] and small(t - 1, t) else None


@planner.register
def _(scheme: LastDecoded, slots: int, rng: Generator) -> Plan:
    small = _small_changes(scheme, slots, rng)

    def plan(t: int, known: list[bool]) -> int | None:
        held = latest_known(t, known)
        return held if held >= 0 and small(held, t) else None

    return plan


def _small_changes(scheme: Any, slots: int, rng: Generator) -> Callable[[int, int], bool]:
    """Draw a path of the source; return whether the change between two slots is small."""
    source, state, path = scheme.source, 0, []
    for _ in range(slots):
        targets = list(source.rows[state])
        chances = np.cumsum([Floats().convert(x) for x in source.rows[state].values()])
        state = targets[min(int(np.searchsorted(chances, rng.random(), side="right")), len(targets) - 1)]
        path.append(source.values[state])

    def small(old: int, new: int) -> bool:
        weight = scheme.window.weight(path[old], path[new], source.cyclic)
        return bool(weight == 1 or (weight != 0 and rng.random() < Floats().convert(weight)))

    return small


def stream(code: Any, slots: int, rng: Generator) -> Iterator[bool]:
    """Yield the fates of codewords, drawn by the thousand."""
    while True:
        yield from fates(code, min(slots, BLOCK), rng).tolist()


@functools.singledispatch
def fates(code: Any, size: int, rng: Generator) -> NDArray[np.bool_]:
    """Return whether each of ``size`` codewords is decoded: draw their erasures, then their matrices."""
    raise InputError(f"{type(code).__name__} cannot be simulated")


@fates.register
def _(code: Codeword, size: int, rng: Generator) -> NDArray[np.bool_]:
    return rng.random(size) < Floats().convert(code.success)


@fates.register(IdealErasure | RandomParityCheck | RandomGenerator)
def _(code: Any, size: int, rng: Generator) -> NDArray[np.bool_]:
    erasures = rng.binomial(code.n, Floats().convert(code.eps), size)
    if isinstance(code, IdealErasure):
        return np.asarray(erasures <= code.n - code.bits)
    binary(code)
    if isinstance(code, RandomParityCheck):
        counts, lengths = erasures, np.full(size, code.n - code.bits)
    else:
        counts, lengths = np.full(size, code.bits), code.n - erasures
    spared = np.maximum(lengths - SEEN, 0)
    return independent_rows(np.maximum(counts - spared, 0), lengths - spared, rng)


def binary(code: Any) -> None:
    if code.field != 2:
        raise InputError(f"field = {code.field}: only binary codes are simulated")


def arrives(code: Any, rng: Generator) -> bool:
    """Return whether one codeword is decoded."""
    return bool(fates(code, 1, rng)[0])


def decodes(code: Any, erasures: int, rng: Generator) -> bool:
    """Return whether a codeword with so many erasures is decoded: draw the part of the matrix that matters."""
    if isinstance(code, IdealErasure):
        return bool(erasures <= code.n - code.bits)
    binary(code)
    if isinstance(code, RandomParityCheck):
        return independent(erasures, code.n - code.bits, rng)
    return independent(code.bits, code.n - erasures, rng)


def independent(count: int, length: int, rng: Generator) -> bool:
    """Return whether ``count`` uniform binary vectors of ``length`` bits, drawn here, are linearly independent.

    The first length - SEEN vectors are dependent with probability below 2^-SEEN and are taken as independent; modulo
    their span the others are uniform vectors of SEEN bits.
    """
    if count > length:
        return False
    spared = max(length - SEEN, 0)
    count, length = max(count - spared, 0), length - spared
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
