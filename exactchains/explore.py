"""Chains out of transition functions (breadth first), and the communicating classes and periods of a chain."""

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

from flint import fmpq

from exactchains.chain import FiniteChain, NotAGenerator, Time, is_zero
from exactchains.number import rational
from exactchains.rows import COMMON_BITS, CompactRows
from exactchains.truth import InputError

Moves = Callable[[Any], Iterable[tuple[Hashable, Any]]]


def reachable_chain(
    start: Hashable, moves: Moves, *, time: Time = "continuous", limit: int = 10_000_000
) -> FiniteChain:
    """Return the chain of all states that can be reached from ``start``, in breadth-first order.

    Parameters
    ----------
    start
        Label of state 0.
    moves
        ``moves(label)`` lists pairs (label of the next state, exact rate or probability).  Pairs with one target are
        added up; a move to the state itself is dropped in continuous time.
    limit
        Largest number of states; a chain that goes on is refused.

    Returns
    -------
    FiniteChain
        With ``labels``; ``chain.index(label)`` finds a state.

    Raises
    ------
    NotAGenerator
        A negative rate, or probabilities of a state that do not sum to 1; the message shows the label.
    InputError
        More than ``limit`` states.

    Examples
    --------
    >>> chain = reachable_chain(0, lambda n: [(n + 1, "9/10")] * (n < 3) + [(n - 1, 1)] * (n > 0))
    >>> chain.size, chain.rows[1]
    (4, {0: 1, 2: 9/10})
    """
    numbers: dict[Hashable, int] = {start: 0}
    labels: list[Hashable] = [start]
    indptr, indices, values = array("q", [0]), array("i"), _Numerators()
    for label in labels:  # grows while it runs
        row: dict[int, fmpq] = {}
        for target, rate in moves(label):
            x = rational(rate, f"rate {label!r} -> {target!r}")
            if x < 0:
                raise NotAGenerator(f"rate {label!r} -> {target!r} = {x} is negative; rates and probabilities are >= 0")
            if x == 0 or (time == "continuous" and target == label):
                continue
            j = numbers.setdefault(target, len(labels))
            if j == len(labels):
                labels.append(target)
                if j >= limit:
                    raise InputError(
                        f"more than limit = {limit} states from {start!r}; bound the states or raise limit"
                    )
            row[j] = row.get(j, fmpq(0)) + x
        if time == "discrete" and (total := sum(row.values(), fmpq(0))) != 1:
            raise NotAGenerator(f"probabilities out of {label!r} sum to {total}, expected 1")
        for j in sorted(row):
            indices.append(j)
            values.append(row[j])
        indptr.append(len(indices))
    return FiniteChain.checked(CompactRows(indptr, indices, *values.finish()), time=time, labels=labels)


class _Numerators:
    """Integers over a common denominator that grows when a new one comes along."""

    def __init__(self) -> None:
        self.below, self.parts = 1, []  # type: int, list[tuple[int, array[int] | list[int]]]
        self.current: Any = array("q")

    def append(self, x: fmpq) -> None:
        top, bottom = int(x.p), int(x.q)
        if self.below % bottom:
            self.parts.append((self.below, self.current))
            self.below, self.current = lcm(self.below, bottom), array("q")
        top *= self.below // bottom
        try:
            self.current.append(top)
        except OverflowError:
            self.current = [*self.current, top]

    def finish(self) -> tuple[Any, int]:
        self.parts.append((self.below, self.current))
        if self.below.bit_length() > COMMON_BITS:
            return tuple(fmpq(int(x), below) for below, part in self.parts for x in part), 1
        scaled = (x * (self.below // below) for below, part in self.parts for x in part)
        if len(self.parts) == 1:
            return (self.current, self.below) if isinstance(self.current, array) else (tuple(self.current), self.below)
        integers = list(scaled)
        fits = all(x < 2**63 for x in integers)
        return (array("q", integers) if fits else tuple(integers)), self.below


@dataclass(frozen=True)
class Classes:
    """Recurrent (closed) communicating classes, each sorted, in order of their first state; the rest is transient."""

    recurrent: tuple[tuple[int, ...], ...]
    transient: tuple[int, ...]


def classes(chain: FiniteChain) -> Classes:
    """Return the recurrent classes and the transient states of a chain over any domain.

    An entry that is not known to be zero counts as a transition.
    """
    edges = [[j for j, x in row.items() if j != i and not is_zero(x, chain.domain)] for i, row in enumerate(chain.rows)]
    component = _components(edges)
    closed = [True] * (max(component) + 1)
    for i, targets in enumerate(edges):
        if any(component[j] != component[i] for j in targets):
            closed[component[i]] = False
    members: dict[int, list[int]] = {}
    for i, c in enumerate(component):
        if closed[c]:
            members.setdefault(c, []).append(i)
    return Classes(
        tuple(tuple(m) for m in members.values()), tuple(i for i, c in enumerate(component) if not closed[c])
    )


def period(chain: FiniteChain, states: Iterable[int]) -> int | None:
    """Return the period of a recurrent class; None in continuous time, which knows none."""
    if chain.time == "continuous":
        return None
    start = next(iter(states))
    depth, order, common = {start: 0}, [start], 0
    for i in order:
        for j, x in chain.rows[i].items():
            if is_zero(x, chain.domain):
                continue
            if j not in depth:
                depth[j] = depth[i] + 1
                order.append(j)
            common = gcd(common, depth[i] + 1 - depth[j])
    return common


def _components(edges: list[list[int]]) -> list[int]:
    """Return the number of the strong component of every vertex (Tarjan, without recursion)."""
    n, count, clock = len(edges), 0, 0
    found, low, component, stack = [-1] * n, [0] * n, [-1] * n, []
    for root in range(n):
        if found[root] >= 0:
            continue
        found[root] = low[root] = clock
        clock += 1
        stack.append(root)
        path = [(root, iter(edges[root]))]
        while path:
            i, targets = path[-1]
            for j in targets:
                if found[j] < 0:
                    found[j] = low[j] = clock
                    clock += 1
                    stack.append(j)
                    path.append((j, iter(edges[j])))
                    break
                if component[j] < 0:
                    low[i] = min(low[i], found[j])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[i])
                if low[i] == found[i]:
                    while component[i] < 0:
                        component[stack.pop()] = count
                    count += 1
    return component
