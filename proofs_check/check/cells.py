"""Cells: a partition of all queue-length vectors into images of orthants, by a tree of splits.

A cell is {base + sum_r z_r column_r : z_r = 0, 1, 2, ..}, one row a server.  The root holds all vectors that ascend
inside each pool.  A node splits one coordinate, z_r = 0 or z_r >= 1, or compares two, z_r >= z_s or z_r < z_s; both
halves are again images of orthants, so that the leaves of any tree partition the root.

pools   [[servers, speed], ..]
tree    {"join": [probability a server]} at a leaf; {"zero": r, "then": tree, "else": tree};
        {"order": [r, s], "then": tree, "else": tree}
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational, table, vector

MAX_SERVERS = 40
MAX_DEPTH = 300


@dataclass(frozen=True)
class Cell:
    """The vectors base + sum z_r column_r, z >= 0."""

    base: tuple[int, ...]
    columns: dict[int, tuple[int, ...]]

    def zero(self, r: int) -> tuple["Cell", "Cell"]:
        """Return the parts with z_r = 0 and with z_r >= 1."""
        column = self.columns[r]
        rest = {k: c for k, c in self.columns.items() if k != r}
        return Cell(self.base, rest), Cell(_sum(self.base, column), self.columns)

    def order(self, r: int, s: int) -> tuple["Cell", "Cell"]:
        """Return the parts with z_r >= z_s and with z_r < z_s."""
        both = _sum(self.columns[r], self.columns[s])
        return (
            Cell(self.base, {**self.columns, s: both}),
            Cell(_sum(self.base, self.columns[s]), {**self.columns, r: both}),
        )

    def along(self, row: list[Any], r: int) -> Any:
        """Return the growth of the linear form ``row`` along coordinate r."""
        return sum(x * c for x, c in zip(row, self.columns[r], strict=True) if c)

    def least(self, row: list[Any]) -> Any:
        """Return the linear form ``row`` at the base."""
        return sum(x * b for x, b in zip(row, self.base, strict=True) if b)

    def busy(self, i: int) -> bool:
        """Return whether server i has a job, the same in the whole cell."""
        if self.base[i] == 0 and any(c[i] for c in self.columns.values()):
            raise Rejected(f"server {i} is idle in a part of a cell only")
        return self.base[i] > 0

    def supports(self) -> list[tuple[int, frozenset[int]]]:
        """Return (coordinate, servers that it raises), each by one, the sets shrinking along the list."""
        found = [(r, frozenset(i for i, x in enumerate(c) if x)) for r, c in self.columns.items()]
        found.sort(key=lambda part: (-len(part[1]), part[0]))
        if any(x not in (0, 1) for c in self.columns.values() for x in c):
            raise Rejected("a coordinate raises a server by more than one")
        if any(not a >= b for (_, a), (_, b) in pairwise(found)):
            raise Rejected("the queues of a cell are not ordered")
        return found


@dataclass(frozen=True)
class System:
    """Servers of pools, arrivals at a constant rate, and where they go in each cell."""

    pool: list[int]
    speed: list[Fraction]
    arrivals: Fraction
    cells: list[tuple[Cell, list[Fraction]]]

    def flows(self, cell: Cell, join: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
        """Return arrival and service rate of each server in a cell."""
        served = [s if cell.busy(i) else Fraction(0) for i, s in enumerate(self.speed)]
        return [self.arrivals * p for p in join], served


def system(problem: Any) -> System:
    """Return the system that a problem describes: ``pools``, ``arrivals``, ``cells``."""
    fields(problem, "pools arrivals cells")
    pool, speed = servers(problem["pools"])
    arrivals = rational(problem["arrivals"])
    if arrivals <= 0 or min(speed) <= 0:
        raise Rejected("arrivals and speeds must be positive")
    return System(pool, speed, arrivals, list(leaves(root(pool), problem["cells"])))


def servers(pools: Any) -> tuple[list[int], list[Fraction]]:
    """Return pool and speed of each server."""
    pool: list[int] = []
    speed: list[Fraction] = []
    for j, part in enumerate(items(pools)):
        count, x = items(part, 2)
        pool += [j] * min(integer(count, 1), MAX_SERVERS + 1)
        speed += [rational(x)] * (len(pool) - len(speed))
    if not 0 < len(pool) <= MAX_SERVERS:
        raise Rejected(f"needs 1 to {MAX_SERVERS} servers")
    return pool, speed


def root(pool: list[int]) -> Cell:
    """Return all vectors that ascend inside each pool: coordinate i raises server i and those after it in its pool."""
    n = len(pool)
    columns = {i: tuple(int(k >= i and pool[k] == pool[i]) for k in range(n)) for i in range(n)}
    return Cell((0,) * n, columns)


def leaves(cell: Cell, tree: Any, depth: int = 0) -> Iterator[tuple[Cell, list[Fraction]]]:
    """Yield every cell of a tree with its law of the joined server."""
    if depth > MAX_DEPTH:
        raise Rejected("a tree that is too deep")
    if "join" in table(tree):
        join = vector(fields(tree, "join")["join"], len(cell.base))
        if min(join) < 0 or sum(join) != 1:
            raise Rejected("the law of the joined server is no law")
        yield cell, join
        return
    if "zero" in tree:
        fields(tree, "zero then else")
        parts = cell.zero(_coordinate(cell, tree["zero"]))
    else:
        fields(tree, "order then else")
        r, s = (_coordinate(cell, x) for x in items(tree["order"], 2))
        if r == s:
            raise Rejected("a coordinate is compared with itself")
        parts = cell.order(r, s)
    for part, branch in zip(parts, (tree["then"], tree["else"]), strict=True):
        yield from leaves(part, branch, depth + 1)


def _coordinate(cell: Cell, r: Any) -> int:
    if integer(r) not in cell.columns:
        raise Rejected(f"a cell has no coordinate {r}")
    return integer(r)


def _sum(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))
