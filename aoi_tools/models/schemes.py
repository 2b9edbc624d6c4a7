"""Update schemes as mode chains: in each slot the age grows by one (``up``) or starts again (``reset``).

A scheme lists two blocks over named modes; row and column i belong to ``modes[i]``.  ``up[i][j]`` is the probability
that a slot begun in mode i brings no usable update and ends in mode j; ``reset[i][j]`` that it brings one.  The
slot age J is the number of slots since the last usable update, seen at slot ends, 0 at a usable update.

Actual updates carry the whole state, differential ones the difference to the state one slot earlier; the latter are
usable only if the receiver knows that state.  Failures are detected, and lost codewords are not combined.
"""

from dataclasses import dataclass
from itertools import product
from math import lcm
from typing import Any

from flint import arb, fmpq

from aoi_tools.models.codes import Codeword, Decoding, is_symbol, probability
from aoi_tools.models.protocol import Blocks, Packet, Packets, Scheme, cycle, read_fates, read_integer
from exactchains.domain import Domain
from exactchains.truth import InputError

Choices = tuple[tuple[Packet, ...], ...]

__all__ = [
    "Actual",
    "Cyclic",
    "Delayed",
    "Feedback",
    "Generalised",
    "Lossy",
    "Periodic",
    "Scheme",
    "exact_bits",
    "mixture",
    "position_rules",
]


@dataclass(frozen=True)
class Actual(Packets):
    """Every slot the actual state: usable iff decoded.  Notes: TU."""

    actual: Decoding

    def __post_init__(self) -> None:
        read_fates(self, actual="p")

    @property
    def modes(self) -> tuple[str, ...]:
        return ("any",)

    def packets(self) -> Choices:
        return ((Packet(1, "actual", 0, 0),),)


class _LastOutcome(Packets):
    """Modes: the last outcome.  After a failure always the actual state."""

    @property
    def modes(self) -> tuple[str, ...]:
        return ("success", "failure")

    def packets(self) -> Choices:
        return self._after_success(), (Packet(1, "actual", 0, 1),)

    def _after_success(self) -> tuple[Packet, ...]:
        raise NotImplementedError


@dataclass(frozen=True)
class Feedback(_LastOutcome):
    """Differential after a success, actual after a failure; perfect feedback before the next slot.  Notes: DF."""

    actual: Decoding
    differential: Decoding

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")

    def _after_success(self) -> tuple[Packet, ...]:
        return (Packet(1, "differential", 0, 1),)


@dataclass(frozen=True)
class Generalised(_LastOutcome):
    """Feedback, and a differential only when the difference is small: probability ``alpha`` in every state.

    After a success the codeword is lost with probability alpha d + (1 - alpha) p.  Notes: GI.
    """

    actual: Decoding
    differential: Decoding
    alpha: Any

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        object.__setattr__(self, "alpha", probability(self.alpha, "alpha"))

    def _after_success(self) -> tuple[Packet, ...]:
        return Packet(self.alpha, "differential", 0, 1), Packet(1 - self.alpha, "actual", 0, 1)

    def after_success(self, domain: Domain) -> Codeword:
        """Return the fate of the codeword that follows a success."""
        return mixture(self.differential, self.actual, self.alpha, domain)


@dataclass(frozen=True)
class Lossy(_LastOutcome):
    """Feedback that is lost with probability ``loss``; the source then sends the actual state."""

    actual: Decoding
    differential: Decoding
    loss: Any

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        object.__setattr__(self, "loss", probability(self.loss, "loss"))

    def _after_success(self) -> tuple[Packet, ...]:
        return Packet(self.loss, "actual", 0, 1), Packet(1 - self.loss, "differential", 0, 1)

    def after_success(self, domain: Domain) -> Codeword:
        """Return the fate of the codeword that follows a success."""
        return mixture(self.actual, self.differential, self.loss, domain)


@dataclass(frozen=True)
class Delayed(Packets):
    """Feedback known ``delay`` slots late: differential to the state delay + 1 slots back iff that slot succeeded.

    The outcomes of slots t, t + C, t + 2C, ... with C = delay + 1 form one feedback chain; C of them interleave.
    A mode is the word of the last C outcomes, oldest first ("s" success, "f" failure).
    """

    actual: Decoding
    differential: Decoding
    delay: int

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        read_integer(self.delay, "delay", 0)

    @property
    def lag(self) -> int:
        return self.delay + 1

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple("".join(word) for word in product("sf", repeat=self.lag))

    def packets(self) -> Choices:
        place = {mode: i for i, mode in enumerate(self.modes)}
        kinds = {"s": "differential", "f": "actual"}
        return tuple((Packet(1, kinds[m[0]], place[m[1:] + "s"], place[m[1:] + "f"]),) for m in place)


@dataclass(frozen=True)
class Periodic:
    """No feedback: one actual update, then ``q`` chained differentials, again and again.  Notes: DN.

    Assembled from two rules over the phases (alive, dead): whether the receiver knows the previous state.
    Mode "i alive" stands before position i of the period of q + 1 slots.
    """

    actual: Decoding
    differential: Decoding
    q: int

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        read_integer(self.q, "q", 0)

    @property
    def period(self) -> int:
        return self.q + 1

    @property
    def modes(self) -> tuple[str, ...]:
        return _positions(self.period)

    def rules(self, domain: Domain) -> dict[str, Blocks]:
        """Return the two position rules, each as 2 x 2 blocks (up, reset) on (alive, dead)."""
        return position_rules(self.actual.over(domain), self.differential.over(domain), domain)

    def blocks(self, domain: Domain) -> Blocks:
        rules = self.rules(domain)
        return cycle([rules["first"], *[rules["following"]] * self.q], domain)


@dataclass(frozen=True)
class Cyclic:
    """A fixed schedule of actual and differential updates on a channel that repeats, both in step.

    Slot t sends ``schedule[t % len(schedule)]`` ("actual" or "differential") and meets the channel phase
    ``channel[t % len(channel)]``, a pair (fate of an actual codeword, fate of a differential one).
    """

    schedule: tuple[str, ...]
    channel: tuple[tuple[Decoding, Decoding], ...]

    def __post_init__(self) -> None:
        if not self.schedule or not set(self.schedule) <= {"actual", "differential"}:
            raise InputError(f"schedule = {self.schedule!r}: a nonempty tuple of 'actual' and 'differential' is needed")
        if not self.channel:
            raise InputError("channel: at least one phase (actual, differential) is needed")
        phases = tuple((Codeword.of(p, "p"), Codeword.of(d, "d")) for p, d in self.channel)
        object.__setattr__(self, "channel", phases)

    @property
    def period(self) -> int:
        return lcm(len(self.schedule), len(self.channel))

    @property
    def modes(self) -> tuple[str, ...]:
        return _positions(self.period)

    def blocks(self, domain: Domain) -> Blocks:
        positions = []
        for t in range(self.period):
            actual, differential = self.channel[t % len(self.channel)]
            rules = position_rules(actual.over(domain), differential.over(domain), domain)
            positions.append(rules["first" if self.schedule[t % len(self.schedule)] == "actual" else "following"])
        return cycle(positions, domain)


def position_rules(actual: Codeword, differential: Codeword, domain: Domain) -> dict[str, Blocks]:
    """Return the rules of an actual update ("first") and of a chained differential ("following") on (alive, dead)."""
    zero, one = domain.convert(0), domain.convert(1)
    p, a, d, b = actual.failure, actual.success, differential.failure, differential.success
    return {
        "first": (((zero, p), (zero, p)), ((a, zero), (a, zero))),
        "following": (((zero, d), (zero, one)), ((b, zero), (zero, zero))),
    }


def mixture(first: Decoding, second: Decoding, weight: Any, domain: Domain) -> Codeword:
    """Return the fate of a codeword that is ``first`` with probability ``weight``, else ``second``."""
    with domain.working():
        x, y = first.over(domain), second.over(domain)
        on, off = domain.convert(weight), domain.convert(1 - weight)
        return Codeword(on * x.failure + off * y.failure, on * x.success + off * y.success)


def exact_bits(scheme: Any) -> int | None:
    """Return the joint size in bits of the exact parameters of ``scheme``; None when one is a ball or a symbol."""
    total = 0
    for name in scheme.__dataclass_fields__:
        size = _size(getattr(scheme, name))
        if size is None:
            return None
        total += size
    return total


def _size(value: Any) -> int | None:
    if hasattr(value, "exact_bits"):
        return value.exact_bits  # type: ignore[no-any-return]
    if isinstance(value, fmpq):
        return int(value.q).bit_length() - 1
    if isinstance(value, arb) or is_symbol(value):
        return None
    if isinstance(value, tuple):
        sizes = [_size(x) for x in value]
        return None if None in sizes else sum(s for s in sizes if s)
    if hasattr(value, "__dataclass_fields__"):
        return exact_bits(value)
    return 0


def _positions(period: int) -> tuple[str, ...]:
    return tuple(f"{i} {phase}" for i in range(period) for phase in ("alive", "dead"))
