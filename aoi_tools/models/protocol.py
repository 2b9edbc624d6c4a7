"""Protocols: what is sent in each mode and what its two outcomes lead to; blocks and channels follow from that.

A scheme that lists its :class:`Packet` choices mode by mode gets its blocks (T_up, T_reset) from :func:`assemble`
for independent slots, and from :class:`OnChannel` for a channel with memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aoi_tools.models.codes import Codeword, Decoding
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
class Packet:
    """With probability ``weight`` a codeword of this ``kind`` ("actual" or "differential") is sent.

    ``decoded`` and ``lost`` are the modes that follow; a decoded packet that is not ``usable`` does not reset the age.
    """

    weight: Any
    kind: str
    decoded: int
    lost: int
    usable: bool = True


class Packets:
    """A scheme given by its packets: ``actual`` and ``differential`` are the fates of the two kinds of codeword."""

    actual: Decoding
    differential: Decoding

    @property
    def modes(self) -> tuple[str, ...]:
        raise NotImplementedError

    def packets(self) -> Sequence[Sequence[Packet]]:
        """Return the packets of every mode; their weights sum to 1."""
        raise NotImplementedError

    def blocks(self, domain: Domain) -> Blocks:
        kinds = {packet.kind for choices in self.packets() for packet in choices}
        with domain.working():
            fates = {kind: getattr(self, kind).over(domain) for kind in kinds}
            return assemble(self.packets(), fates, domain)


class Channel(Protocol):
    """A channel with memory: its state at slot starts, and what becomes of a codeword sent from each state."""

    @property
    def states(self) -> tuple[str, ...]: ...

    def matrices(self, kind: str, domain: Domain) -> tuple[Sequence[Sequence[Any]], Sequence[Sequence[Any]]]:
        """Return (lost, decoded): entry [s][s'] is the chance of that fate and of state s' at the next slot start."""
        ...


@dataclass(frozen=True)
class OnChannel:
    """A scheme on a channel with memory; the channel replaces the scheme's own failure probabilities.

    Mode (i, s): protocol mode i, channel state s at the slot start.
    """

    scheme: Packets
    channel: Channel

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(f"{mode}, {state}" for mode in self.scheme.modes for state in self.channel.states)

    def blocks(self, domain: Domain) -> Blocks:
        with domain.working():
            packets, width = self.scheme.packets(), len(self.channel.states)
            matrices = {kind: self.channel.matrices(kind, domain) for kind in ("actual", "differential")}
            up, reset = (_zeros(len(packets) * width, domain) for _ in range(2))
            for i, choices in enumerate(packets):
                for packet in choices:
                    weight = domain.convert(packet.weight)
                    lost, decoded = matrices[packet.kind]
                    _spread(up, i, packet.lost, weight, lost)
                    _spread(reset if packet.usable else up, i, packet.decoded, weight, decoded)
            return _frozen(up), _frozen(reset)


def assemble(packets: Sequence[Sequence[Packet]], fates: Mapping[str, Codeword], domain: Domain) -> Blocks:
    """Return (up, reset) of a protocol in independent slots."""
    up, reset = (_zeros(len(packets), domain) for _ in range(2))
    for i, choices in enumerate(packets):
        for packet in choices:
            weight, fate = domain.convert(packet.weight), fates[packet.kind]
            up[i][packet.lost] = up[i][packet.lost] + weight * fate.failure
            target = reset if packet.usable else up
            target[i][packet.decoded] = target[i][packet.decoded] + weight * fate.success
    return _frozen(up), _frozen(reset)


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


def read_fates(scheme: Any, **symbols: str) -> None:
    """Replace numbers given for codewords by :class:`Codeword`; codes are kept.  For ``__post_init__``."""
    for field, symbol in symbols.items():
        object.__setattr__(scheme, field, Codeword.of(getattr(scheme, field), symbol))


def read_integer(x: Any, name: str, least: int) -> None:
    if not isinstance(x, int) or isinstance(x, bool) or x < least:
        raise InputError(f"{name} = {x}: an integer >= {least} is needed")


def _spread(whole: list[list[Any]], i: int, j: int, weight: Any, part: Sequence[Sequence[Any]]) -> None:
    width = len(part)
    for s in range(width):
        for t in range(width):
            old = whole[i * width + s][j * width + t]
            whole[i * width + s][j * width + t] = old + weight * part[s][t]


def _zeros(size: int, domain: Domain) -> list[list[Any]]:
    return [[domain.convert(0)] * size for _ in range(size)]


def _frozen(block: list[list[Any]]) -> Block:
    return tuple(map(tuple, block))
