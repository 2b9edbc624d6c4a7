"""Update schemes as mode chains: in each slot the age grows by one (``up``) or starts again (``reset``).

A scheme lists two blocks over named modes; row and column i belong to ``modes[i]``.  ``up[i][j]`` is the probability
that a slot begun in mode i brings no usable update and ends in mode j; ``reset[i][j]`` that it brings one.  The
slot age J is the number of slots since the last usable update, seen at slot ends, 0 at a usable update.

Actual updates carry the whole state, differential ones the difference to the state one slot earlier; the latter are
usable only if the receiver knows that state.  Failures are detected, and lost codewords are not combined.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm
from typing import Any, Protocol

from flint import arb, fmpq

from aoi_tools.models.codes import Codeword, Decoding, is_symbol, probability
from exactchains.domain import Domain
from exactchains.truth import InputError

Block = tuple[tuple[Any, ...], ...]
Blocks = tuple[Block, Block]


class Scheme(Protocol):
    """What the solvers need of a scheme; a user's own scheme is one small class with these two."""

    @property
    def modes(self) -> tuple[str, ...]: ...
    def blocks(self, domain: Domain) -> Blocks: ...


@dataclass(frozen=True)
class Actual:
    """Every slot the actual state: usable iff decoded.  Notes: TU."""

    actual: Decoding

    def __post_init__(self) -> None:
        _read(self, actual="p")

    @property
    def modes(self) -> tuple[str, ...]:
        return ("any",)

    def blocks(self, domain: Domain) -> Blocks:
        word = self.actual.over(domain)
        return ((word.failure,),), ((word.success,),)


@dataclass(frozen=True)
class Feedback:
    """Differential after a success, actual after a failure; perfect feedback before the next slot.  Notes: DF."""

    actual: Decoding
    differential: Decoding

    def __post_init__(self) -> None:
        _read(self, actual="p", differential="d")

    @property
    def modes(self) -> tuple[str, ...]:
        return ("success", "failure")

    def blocks(self, domain: Domain) -> Blocks:
        return _last_outcome(self.differential.over(domain), self.actual.over(domain), domain)


@dataclass(frozen=True)
class Generalised:
    """Feedback, and a differential only when the difference is small: probability ``alpha`` in every state.

    After a success the codeword is lost with probability alpha d + (1 - alpha) p.  Notes: GI.
    """

    actual: Decoding
    differential: Decoding
    alpha: Any

    def __post_init__(self) -> None:
        _read(self, actual="p", differential="d")
        object.__setattr__(self, "alpha", probability(self.alpha, "alpha"))

    @property
    def modes(self) -> tuple[str, ...]:
        return ("success", "failure")

    def blocks(self, domain: Domain) -> Blocks:
        return _last_outcome(self.after_success(domain), self.actual.over(domain), domain)

    def after_success(self, domain: Domain) -> Codeword:
        """Return the fate of the codeword that follows a success."""
        return mixture(self.differential, self.actual, self.alpha, domain)


@dataclass(frozen=True)
class Lossy:
    """Feedback that is lost with probability ``loss``; the source then sends the actual state."""

    actual: Decoding
    differential: Decoding
    loss: Any

    def __post_init__(self) -> None:
        _read(self, actual="p", differential="d")
        object.__setattr__(self, "loss", probability(self.loss, "loss"))

    @property
    def modes(self) -> tuple[str, ...]:
        return ("success", "failure")

    def blocks(self, domain: Domain) -> Blocks:
        return _last_outcome(self.after_success(domain), self.actual.over(domain), domain)

    def after_success(self, domain: Domain) -> Codeword:
        """Return the fate of the codeword that follows a success."""
        return mixture(self.actual, self.differential, self.loss, domain)


@dataclass(frozen=True)
class Delayed:
    """Feedback known ``delay`` slots late: differential to the state delay + 1 slots back iff that slot succeeded.

    The outcomes of slots t, t + C, t + 2C, ... with C = delay + 1 form one feedback chain; C of them interleave.
    A mode is the word of the last C outcomes, oldest first ("s" success, "f" failure).
    """

    actual: Decoding
    differential: Decoding
    delay: int

    def __post_init__(self) -> None:
        _read(self, actual="p", differential="d")
        _integer(self.delay, "delay", 0)

    @property
    def lag(self) -> int:
        return self.delay + 1

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple("".join(word) for word in product("sf", repeat=self.lag))

    def blocks(self, domain: Domain) -> Blocks:
        words = {"s": self.differential.over(domain), "f": self.actual.over(domain)}
        place = {mode: i for i, mode in enumerate(self.modes)}
        up, reset = (_zeros(len(place), domain) for _ in range(2))
        for mode, i in place.items():
            word = words[mode[0]]
            up[i][place[mode[1:] + "f"]] = word.failure
            reset[i][place[mode[1:] + "s"]] = word.success
        return _frozen(up), _frozen(reset)


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
        _read(self, actual="p", differential="d")
        _integer(self.q, "q", 0)

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


def cycle(positions: Sequence[Blocks], domain: Domain) -> Blocks:
    """Return the blocks of a scheme that runs through ``positions`` in turn; mode (i, phase) precedes position i."""
    period, phases = len(positions), len(positions[0][0])
    up, reset = (_zeros(period * phases, domain) for _ in range(2))
    for i, rule in enumerate(positions):
        after = (i + 1) % period
        for whole, part in zip((up, reset), rule, strict=True):
            for s in range(phases):
                whole[i * phases + s][after * phases : (after + 1) * phases] = part[s]
    return _frozen(up), _frozen(reset)


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
        value = getattr(scheme, name)
        if hasattr(value, "exact_bits"):
            size = value.exact_bits
        elif isinstance(value, fmpq):
            size = int(value.q).bit_length() - 1
        elif isinstance(value, arb) or is_symbol(value):
            size = None
        else:
            size = 0
        if size is None:
            return None
        total += size
    return total


def _last_outcome(success: Codeword, failure: Codeword, domain: Domain) -> Blocks:
    zero = domain.convert(0)
    up = ((zero, success.failure), (zero, failure.failure))
    return up, ((success.success, zero), (failure.success, zero))


def _positions(period: int) -> tuple[str, ...]:
    return tuple(f"{i} {phase}" for i in range(period) for phase in ("alive", "dead"))


def _read(scheme: Any, **names: str) -> None:
    for field, symbol in names.items():
        object.__setattr__(scheme, field, Codeword.of(getattr(scheme, field), symbol))


def _integer(x: Any, name: str, least: int) -> None:
    if not isinstance(x, int) or isinstance(x, bool) or x < least:
        raise InputError(f"{name} = {x}: an integer >= {least} is needed")


def _zeros(size: int, domain: Domain) -> list[list[Any]]:
    return [[domain.convert(0)] * size for _ in range(size)]


def _frozen(block: list[list[Any]]) -> Block:
    return tuple(map(tuple, block))
