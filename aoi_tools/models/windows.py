"""Windows of small differences: which changes of the source fit into a differential update.

A difference is new minus old value; on a cycle of length c it is first reduced to -floor(c/2) .. ceil(c/2) - 1.  A
vector changes by a vector, every coordinate must fit.  A window gives each change a weight from 0 to 1: the chance
that a differential is sent (0 or 1, in between for a randomised threshold).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Protocol

from flint import fmpq

from exactchains.domain import rational
from exactchains.number import parse
from exactchains.truth import InputError

Value = Any  # an exact number, or a tuple of them


class Window(Protocol):
    """What the schemes need of a window."""

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq: ...

    def size(self, dimension: int, bits: int) -> int | None:
        """Number of differences that must be told apart; None: unknown."""


@dataclass(frozen=True)
class Range:
    """Differences ``lower`` .. ``upper``, both included."""

    lower: fmpq
    upper: fmpq

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, rational(getattr(self, name), "window"))
        if self.lower > self.upper:
            raise InputError(f"window = {self.lower}..{self.upper} is empty; write lo..hi with lo <= hi")

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        return _indicator(all(self.lower <= x <= self.upper for x in difference(old, new, cyclic)))

    def size(self, dimension: int, bits: int) -> int | None:
        across = int((self.upper - self.lower).floor()) + 1
        return int(across**dimension)


@dataclass(frozen=True)
class Listed:
    """The listed differences, each with the chance that a differential is sent."""

    weights: tuple[tuple[fmpq, fmpq], ...]

    @classmethod
    def of(cls, weights: Mapping[Any, Any]) -> "Listed":
        """Return the window of ``{difference: chance}``: a randomised threshold."""
        pairs = tuple((rational(x, "window"), rational(w, "window weight")) for x, w in weights.items())
        if any(not 0 <= w <= 1 for _, w in pairs):
            raise InputError("window: every weight is a probability from 0 to 1")
        return cls(pairs)

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        total, listed = fmpq(1), dict(self.weights)
        for x in difference(old, new, cyclic):
            total *= listed.get(x, fmpq(0))
        return total

    def size(self, dimension: int, bits: int) -> int | None:
        return int(len(self.weights) ** dimension)


@dataclass(frozen=True)
class LowBits:
    """Values that differ in their ``count`` lowest bits at most (exclusive or)."""

    count: int

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        return _indicator(_word(old) >> self.count == _word(new) >> self.count)

    def size(self, dimension: int, bits: int) -> int | None:
        return 1 << self.count


@dataclass(frozen=True)
class HammingBall:
    """Values that differ in at most ``radius`` bits, vectors in at most ``radius`` coordinates."""

    radius: int

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        if isinstance(old, tuple):
            return _indicator(sum(x != y for x, y in zip(old, new, strict=True)) <= self.radius)
        return _indicator((_word(old) ^ _word(new)).bit_count() <= self.radius)

    def size(self, dimension: int, bits: int) -> int | None:
        return sum(comb(bits, i) for i in range(self.radius + 1)) if dimension == 1 else None


@dataclass(frozen=True)
class Everything:
    """Every change counts as small."""

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        return fmpq(1)

    def size(self, dimension: int, bits: int) -> int | None:
        return 1 << bits


@dataclass(frozen=True)
class Predicate:
    """A change is small iff ``small(old, new)`` says so; from Python only."""

    small: Callable[[Value, Value], bool]

    def weight(self, old: Value, new: Value, cyclic: int | None) -> fmpq:
        return _indicator(bool(self.small(old, new)))

    def size(self, dimension: int, bits: int) -> int | None:
        return None


_RANGE = re.compile(r"(.+?)\.\.(.+)", re.ASCII)
_COUNTED = re.compile(r"(xor|hamming):([0-9]{1,4})", re.ASCII)


def window(text: str) -> Window:
    """Return the window that ``text`` spells: ``lo..hi``, ``-1,0,1``, ``xor:k``, ``hamming:r`` or ``all``."""
    word = text.strip()
    if word == "all":
        return Everything()
    if match := _COUNTED.fullmatch(word):
        return LowBits(int(match[2])) if match[1] == "xor" else HammingBall(int(match[2]))
    try:
        if match := _RANGE.fullmatch(word):
            return Range(parse(match[1], "window"), parse(match[2], "window"))
        if word:
            return Listed.of({parse(part.strip(), "window"): 1 for part in word.split(",")})
    except InputError as error:
        if "is empty" in str(error):
            raise
    raise InputError(f"window = {text[:60]!r}: write lo..hi, a list such as -1,0,1, xor:k, hamming:r or all")


def difference(old: Value, new: Value, cyclic: int | None) -> list[fmpq]:
    """Return the coordinates of new - old, on a cycle reduced to -floor(c/2) .. ceil(c/2) - 1."""
    pairs = zip(new, old, strict=True) if isinstance(old, tuple) else ((new, old),)
    found = [x - y for x, y in pairs]
    if cyclic is None:
        return found
    half = fmpq(cyclic // 2)
    return [x - cyclic * ((x + half) / cyclic).floor() for x in found]


def matching(window: Window, values: Sequence[Value], cyclic: int | None) -> Window:
    """Return ``window``, refused if it is a set of differences of which none can occur between ``values``."""
    numbers = [x for value in values for x in (value if isinstance(value, tuple) else (value,))]
    if cyclic is None:
        columns = zip(*values, strict=True) if isinstance(values[0], tuple) else (values,)
        high = max(max(column) - min(column) for column in columns)
        low, where = -high, "of this source"
    else:
        low, high, where = fmpq(-(cyclic // 2)), fmpq((cyclic + 1) // 2 - 1), f"on a cycle of length {cyclic}"
    whole = all(x.q == 1 for x in numbers)
    if isinstance(window, Range):
        first, last = max(low, window.lower), min(high, window.upper)
        possible = first.ceil() <= last.floor() if whole else first <= last
        shown = f"{window.lower}..{window.upper}"
    elif isinstance(window, Listed):
        possible = any(low <= x <= high and (x.q == 1 or not whole) for x, weight in window.weights if weight)
        shown = ",".join(str(x) for x, _ in window.weights)
    else:
        return window
    if not possible:
        kind = "integers" if whole else "numbers"
        raise InputError(f"window = {shown[:60]} never matches: differences {where} are {kind} from {low} to {high}")
    return window


def _indicator(yes: bool) -> fmpq:
    return fmpq(1) if yes else fmpq(0)


def _word(x: Value) -> int:
    if isinstance(x, tuple) or x.q != 1 or x < 0:
        raise InputError(f"value {x}: windows of bits need values that are integers >= 0")
    return int(x.p)
