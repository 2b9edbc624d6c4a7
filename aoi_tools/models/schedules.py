"""Schemes beyond the papers': reference schedules without feedback, decoders with side information."""

from dataclasses import dataclass
from itertools import product

from aoi_tools.models.codes import Decoding
from aoi_tools.models.protocol import Packet, Packets, read_fates, read_integer
from aoi_tools.models.schemes import Choices
from exactchains.truth import InputError

MAX_LAG = 12


@dataclass(frozen=True)
class Schedule(Packets):
    """No feedback: slot t sends an actual update where ``lags[t % L]`` is 0, else the difference to ``lag`` slots back.

    A differential is usable iff it is decoded and the receiver knows the state it refers to.  The chain of
    :class:`Periodic` is (0, 1, 1, ..), the star around the last actual update (0, 1, 2, ..), leapfrog (0, 0, 2, 2, ..).
    A mode is the position and, for the last R slots (R the largest lag), whether their states are known, oldest first
    ("k" known, "u" unknown).
    """

    actual: Decoding
    differential: Decoding
    lags: tuple[int, ...]

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        if not self.lags:
            raise InputError("lags: at least one slot is needed, 0 for an actual update")
        for lag in self.lags:
            read_integer(lag, "lag", 0)
        if max(self.lags) > MAX_LAG:
            raise InputError(f"lag = {max(self.lags)}: at most {MAX_LAG} slots back (2^lag modes)")

    @classmethod
    def star(cls, actual: Decoding, differential: Decoding, q: int) -> "Schedule":
        """Return the schedule of one actual update and ``q`` differences to it."""
        return cls(actual, differential, tuple(range(q + 1)))

    @classmethod
    def leapfrog(cls, actual: Decoding, differential: Decoding, *, stride: int, q: int) -> "Schedule":
        """Return ``stride`` interleaved chains, each one actual update and ``q`` differences ``stride`` slots back."""
        return cls(actual, differential, (0,) * stride + (stride,) * (stride * q))

    @property
    def memory(self) -> int:
        return max(self.lags)

    @property
    def modes(self) -> tuple[str, ...]:
        words = ["".join(word) for word in product("ku", repeat=self.memory)]
        return tuple(f"{i} {word}".strip() for i in range(len(self.lags)) for word in words)

    def packets(self) -> Choices:
        words = ["".join(word) for word in product("ku", repeat=self.memory)]
        place = {word: i for i, word in enumerate(words)}
        choices = []
        for i, lag in enumerate(self.lags):
            after = (i + 1) % len(self.lags) * len(words)
            for word in words:
                usable = lag == 0 or word[-lag] == "k"
                known, unknown = (after + place[(word + letter)[1:] if self.memory else ""] for letter in "ku")
                kind = "actual" if lag == 0 else "differential"
                choices.append((Packet(1, kind, known if usable else unknown, unknown, usable),))
        return tuple(choices)


@dataclass(frozen=True)
class SideInformation(Packets):
    """Only actual updates with a fresh random generator; the decoder subtracts its last decoded state.

    When differences lie in a subspace of k bits, a codeword is lost with probability d while the decoder holds a
    reference, else p.  It drops the reference after ``patience`` failures in a row (1: the law of feedback without
    any feedback); None: never, as sums of differences stay in a fixed subspace.
    """

    actual: Decoding
    differential: Decoding
    patience: int | None = None

    def __post_init__(self) -> None:
        read_fates(self, actual="p", differential="d")
        if self.patience is not None:
            read_integer(self.patience, "patience", 0)

    @property
    def modes(self) -> tuple[str, ...]:
        return ("holds",) if self.patience is None else tuple(f"{i} failures" for i in range(self.patience + 1))

    def packets(self) -> Choices:
        if self.patience is None:
            return ((Packet(1, "differential", 0, 0),),)
        held = [(Packet(1, "differential", 0, i + 1),) for i in range(self.patience)]
        return (*held, (Packet(1, "actual", 0, self.patience),))
