"""Level chains out of certificate text: integer blocks, matrices between bounds, exact products.

A chain goes ``up`` one level, stays (``local``, with its diagonal), goes ``down`` one level or is ``reset`` to level 0.
Diagonals are recomputed from the other entries and compared with the ones given.  A discrete chain P is read as the
generator P - 1, which has the same G, R and law.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, matrix, whole, wholes, word

Integers = list[list[int]]
MAX_FIELD = 2048  # bits
REPEATING = "time up local down"
BOUNDARY = "boundary_local boundary_up boundary_down"


@dataclass(frozen=True)
class LevelBlocks:
    """The blocks times ``scale``; ``local`` has minus the row sums on its diagonal, ``kill`` is the rate of resets."""

    up: Integers
    local: Integers
    down: Integers
    kill: list[int]
    scale: int
    reset: list[list[Fraction]] | None
    shift: int  # 1 for a discrete chain: its generator is P - 1

    @property
    def size(self) -> int:
        return len(self.up)


@dataclass(frozen=True)
class Bounds:
    """lower / over <= matrix <= upper / over."""

    lower: Integers
    upper: Integers
    over: int


def level_blocks(problem: Any) -> LevelBlocks:
    """Return the repeating blocks of a problem, signs and row sums checked."""
    fields(problem, REPEATING, f"reset {BOUNDARY}")
    if word(problem["time"]) not in ("continuous", "discrete"):
        raise Rejected("time is continuous or discrete")
    shift = 1 if problem["time"] == "discrete" else 0
    size = len(items(problem["up"]))
    up, local, down = (matrix(problem[name], size, size) for name in ("up", "local", "down"))
    reset = matrix(problem["reset"], size) if "reset" in problem else None
    if not size:
        raise Rejected("a chain has at least one phase")
    kill = [sum(row, Fraction(0)) for row in reset] if reset else [Fraction(0)] * size
    for i in range(size):
        parts = [up[i], down[i], reset[i] if reset else [], [x for j, x in enumerate(local[i]) if j != i]]
        leaving = _leaving(parts, f"phase {i}")
        if local[i][i] != shift - leaving or (shift and local[i][i] < 0):
            raise Rejected(f"phase {i}: the row does not sum to {shift}")
        local[i][i] = -leaving
    scale = lcm(*(x.denominator for block in (up, local, down, [kill]) for row in block for x in row))
    whole = [integers(block, scale) for block in (up, local, down)]
    return LevelBlocks(whole[0], whole[1], whole[2], integers([kill], scale)[0], scale, reset, shift)


def _leaving(parts: list[list[Fraction]], where: str) -> Fraction:
    """Return the total of a row's entries off the diagonal, none of them negative."""
    if any(x < 0 for part in parts for x in part):
        raise Rejected(f"{where}: a negative entry")
    return sum((x for part in parts for x in part), Fraction(0))


def boundary(problem: Any, blocks: LevelBlocks) -> tuple[list[list[Fraction]], ...]:
    """Return boundary_local (as a generator), boundary_up and boundary_down, checked."""
    fields(problem, f"{REPEATING} {BOUNDARY}", "reset")
    size, width = blocks.size, len(items(problem["boundary_local"]))
    own = matrix(problem["boundary_local"], width, width)
    rise, fall = matrix(problem["boundary_up"], width, size), matrix(problem["boundary_down"], size, width)
    if blocks.reset is not None and any(len(row) != width for row in blocks.reset):
        raise Rejected("reset must lead to the phases of level 0")
    for i in range(width):
        leaving = _leaving([rise[i], [x for j, x in enumerate(own[i]) if j != i]], f"level 0, phase {i}")
        if own[i][i] != blocks.shift - leaving or (blocks.shift and own[i][i] < 0):
            raise Rejected(f"level 0, phase {i}: the row does not sum to {blocks.shift}")
        own[i][i] = -leaving
    for i in range(size):
        if _leaving([fall[i]], f"level 1, phase {i}") * blocks.scale != sum(blocks.down[i]):
            raise Rejected(f"level 1, phase {i}: boundary_down does not take the place of down")
    return own, rise, fall


def integers(block: Sequence[Sequence[Fraction]], scale: int) -> Integers:
    return [[x.numerator * (scale // x.denominator) for x in row] for row in block]


def bounds(data: Any, size: int) -> Bounds:
    """Return the matrix that ``{"over", "lower", "upper"}`` encloses; the entries are integers over ``over``."""
    fields(data, "over lower upper")
    over = whole(data["over"])
    if over <= 0:
        raise Rejected("a denominator must be positive")
    lower, upper = ([wholes(row, size) for row in items(data[end], size)] for end in ("lower", "upper"))
    for low, high in zip(lower, upper, strict=True):
        if any(x < 0 or x > y for x, y in zip(low, high, strict=True)):
            raise Rejected("bounds must satisfy 0 <= lower <= upper")
    return Bounds(lower, upper, over)


def positive(data: Any, size: int) -> list[int]:
    """Return a list of positive integers."""
    found = wholes(data, size)
    if min(found) <= 0:
        raise Rejected("a vector must be positive")
    return found


def product(A: Integers, B: Integers) -> Integers:
    """Return A B.  Unless numbers are long, a row of B is one integer with a field for each entry: fewer products."""
    bits = longest(A) + longest(B) + len(B).bit_length() + 2
    if bits > MAX_FIELD:
        columns = list(zip(*B, strict=True))
        return [[sum(map(mul, row, column)) for column in columns] for row in A]
    size, width = -(-bits // 8), len(B[0])
    half = 1 << (8 * size - 1)  # entries of A B lie between -half and half
    zero = int.from_bytes(half.to_bytes(size, "little") * width, "little")
    joined = (b"".join((x + half).to_bytes(size, "little") for x in row) for row in B)
    rows = [int.from_bytes(row, "little") - zero for row in joined]
    found = ((sum(map(mul, row, rows)) + zero).to_bytes(size * width, "little") for row in A)
    places = range(0, size * width, size)
    return [[int.from_bytes(row[k : k + size], "little") - half for k in places] for row in found]


def longest(A: Integers) -> int:
    """Return the bits of the longest entry."""
    return max((x.bit_length() for row in A for x in row), default=0)


def applied(A: Integers, x: Sequence[int]) -> list[int]:
    return [sum(map(mul, row, x)) for row in A]


def plus(A: Integers, a: int, B: Integers, b: int) -> Integers:
    """Return a A + b B."""
    return [[a * x + b * y for x, y in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]
