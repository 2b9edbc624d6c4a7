"""Which queues of a cell are the longest: top sets, and the drift of queues in ascending order."""

from fractions import Fraction

from proofs_check.check.cells import Cell, System
from proofs_check.check.exact import Rejected


def tops(cell: Cell) -> list[frozenset[int]]:
    """Return the sets {i: q_i >= k}, k >= 1, that occur in a cell with ordered queues."""
    chain = cell.supports()
    everywhere = list(range(len(cell.base)))
    free = [i for i in everywhere if not cell.busy(i)]
    levels = {
        (sum(i in support for _, support in chain), cell.base[i]): frozenset(
            k for k in everywhere if _above(chain, cell.base, k, i)
        )
        for i in everywhere
        if i not in free
    }
    return list(set(levels.values()))


def _above(chain: list[tuple[int, frozenset[int]]], base: tuple[int, ...], k: int, i: int) -> bool:
    """Return whether q_k >= q_i in the whole cell; the queues must be comparable there."""
    rise = sum(k in support for _, support in chain) - sum(i in support for _, support in chain)
    gap = base[k] - base[i]
    if rise * gap < 0:
        raise Rejected("two queues of a cell are not ordered")
    return rise > 0 or gap > 0 or (rise == 0 and gap == 0)


def ranked(s: System, cell: Cell, join: list[Fraction]) -> list[Fraction]:
    """Return the drift of each queue in ascending order of its pool: an arrival raises the last of equal queues, a
    departure lowers the first of them."""
    come, go = s.flows(cell, join)
    drift, n = [Fraction(0)] * len(come), len(come)
    for i in range(n):
        equal = [k for k in range(n) if s.pool[k] == s.pool[i] and _gap(cell, i, k) == 0]
        drift[max(equal)] += come[i]
        drift[min(equal)] -= go[i]
    return drift


def _gap(cell: Cell, i: int, k: int) -> int:
    """Return 0 if two queues of a pool are equal in the whole cell, else a number that shows that they never are."""
    rise = [c[max(i, k)] - c[min(i, k)] for c in cell.columns.values()]
    gap = cell.base[max(i, k)] - cell.base[min(i, k)]
    if gap < 0 or min(rise, default=0) < 0 or (gap == 0 and any(rise)):
        raise Rejected("two queues of a pool are equal in a part of a cell only")
    return gap
