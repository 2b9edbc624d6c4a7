"""Lumping a chain exactly: by the coarsest refinement of a partition, or by symmetries."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.truth import InputError


@dataclass(frozen=True)
class Lumping:
    r"""A partition of the states whose blocks form a chain: :math:`Q V = V \hat Q` with the block indicators V.

    ``block[i]`` is the block of state i; blocks are numbered by their first state.  ``permutations`` are the
    symmetries when the partition came from them: then states of one block have equal probability in every
    symmetric law.
    """

    chain: FiniteChain
    coarse: FiniteChain
    block: tuple[int, ...]
    permutations: tuple[tuple[int, ...], ...] = ()

    @property
    def certificate(self) -> dict[str, Any]:
        """The certificate that ``python -m proofs_check.check`` accepts, kind ``lumping``."""
        conclusion: dict[str, Any] = {"block": list(self.block), "transitions": _listed(self.coarse)}
        if self.permutations:
            conclusion["symmetric"] = True
        problem = {"time": self.chain.time, "states": self.chain.size, "transitions": _listed(self.chain)}
        return {
            "format": 1,
            "kind": "lumping",
            "problem": problem,
            "conclusion": conclusion,
            "proof": {"permutations": [list(p) for p in self.permutations]},
            "found_by": {"tool": "exactchains.lumping", "version": "1"},
        }


def coarsest_lumping(chain: FiniteChain, labels: Sequence[Hashable] | None = None) -> Lumping:
    """Return the coarsest lumping in which states of one block have one label.

    Parameters
    ----------
    labels
        What must stay distinguishable, one label a state.  Without it nothing must, and a continuous-time chain
        lumps to one block: give the reward or the observation.

    Guarantee
    ---------
    The lumping is exact, and every other lumping that respects the labels refines it.  The result depends on the
    chain and the labels only.

    Source
    ------
    Valmari and Franceschinis, TACAS 2010, LNCS 6015, 38-52.
    """
    size = chain.size
    if labels is not None and len(labels) != size:
        raise InputError(f"labels: {len(labels)} given for {size} states; give one a state")
    into = _by_target(chain)
    numbers: dict[Hashable, int] = {}
    block = [numbers.setdefault(label, len(numbers)) for label in (labels or [None] * size)]
    members: list[list[int]] = [[] for _ in numbers]
    for i, b in enumerate(block):
        members[b].append(i)
    waiting, queued = list(range(len(members))), [True] * len(members)
    while waiting:
        splitter = waiting.pop()
        queued[splitter] = False
        weight: dict[int, fmpq] = {}
        for j in members[splitter]:
            for i, q in into[j]:
                weight[i] = weight.get(i, fmpq(0)) + q
        for b in sorted({block[i] for i in weight}):
            _split(b, weight, (block, members, waiting, queued))
    return _lumping(chain, block)


def proposed_lumping(chain: FiniteChain, labels: Sequence[Hashable]) -> Lumping:
    """Return the lumping whose blocks are the classes of equal labels.

    Raises
    ------
    InputError
        The partition is no lumping; the message names two states of one block and the block they enter differently.
    """
    if len(labels) != chain.size:
        raise InputError(f"labels: {len(labels)} given for {chain.size} states; give one a state")
    numbers: dict[Hashable, int] = {}
    return _lumping(chain, [numbers.setdefault(label, len(numbers)) for label in labels])


def symmetric_lumping(chain: FiniteChain, permutations: Sequence[Sequence[int]]) -> Lumping:
    """Return the lumping by the orbits of the group that ``permutations`` generate.

    Raises
    ------
    InputError
        One of them is no permutation, or changes the rate of a transition that the message names.
    """
    rows, parent = list(chain.rows), list(range(chain.size))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for number, moved in enumerate(permutations):
        if sorted(moved) != list(range(chain.size)):
            raise InputError(f"permutation {number} is no permutation of 0 to {chain.size - 1}")
        for i, row in enumerate(rows):
            for j, q in row.items():
                if rows[moved[i]].get(moved[j]) != q:
                    raise InputError(f"permutation {number} changes the rate of {i} -> {j}; it is no symmetry")
            a, b = root(i), root(moved[i])
            parent[max(a, b)] = min(a, b)
    found = proposed_lumping(chain, [root(i) for i in range(chain.size)])
    return Lumping(found.chain, found.coarse, found.block, tuple(tuple(p) for p in permutations))


def _by_target(chain: FiniteChain) -> list[list[tuple[int, fmpq]]]:
    """Return the entries of the generator (diagonal included) by column."""
    into: list[list[tuple[int, fmpq]]] = [[] for _ in range(chain.size)]
    for i, row in enumerate(chain.rows):
        for j, q in row.items():
            into[j].append((i, q))
        if chain.time == "continuous":
            into[i].append((i, -sum(row.values(), fmpq(0))))
    return into


def _split(b: int, weight: Mapping[int, fmpq], state: tuple[list[int], list[list[int]], list[int], list[bool]]) -> None:
    """Split block b by the total rate into the splitter; all parts but a largest become splitters."""
    block, members, waiting, queued = state
    parts: dict[fmpq, list[int]] = {}
    zero = fmpq(0)
    for i in members[b]:
        parts.setdefault(weight.get(i, zero), []).append(i)
    if len(parts) == 1:
        return
    groups = sorted(parts.values(), key=lambda g: (-len(g), g[0]))
    members[b] = groups[0]
    for group in groups[1:]:
        for i in group:
            block[i] = len(members)
        if not queued[b]:
            waiting.append(len(members))
        members.append(group)
        queued.append(not queued[b])
    if queued[b]:
        new = range(len(members) - len(groups) + 1, len(members))
        waiting.extend(new)
        for c in new:
            queued[c] = True


def _lumping(chain: FiniteChain, block: Sequence[int]) -> Lumping:
    """Number the blocks by first states, form the coarse rates and check every state against them."""
    numbers: dict[int, int] = {}
    renamed = tuple(numbers.setdefault(b, len(numbers)) for b in block)
    coarse: list[dict[int, fmpq] | None] = [None] * len(numbers)
    first = [0] * len(numbers)
    for i, row in enumerate(chain.rows):
        sums: dict[int, fmpq] = {}
        for j, q in row.items():
            if chain.time == "discrete" or renamed[j] != renamed[i]:
                sums[renamed[j]] = sums.get(renamed[j], fmpq(0)) + q
        known = coarse[renamed[i]]
        if known is None:
            coarse[renamed[i]], first[renamed[i]] = sums, i
        elif known != sums:
            other = min(c for c in set(known) | set(sums) if known.get(c) != sums.get(c))
            raise InputError(
                f"no lumping: states {first[renamed[i]]} and {i} of one block enter block {other} at rates"
                f" {known.get(other, 0)} and {sums.get(other, 0)}"
            )
    return Lumping(chain, FiniteChain(tuple(r or {} for r in coarse), chain.time), renamed)


def _listed(chain: FiniteChain) -> list[list[Any]]:
    return [[i, j, str(q)] for i, row in enumerate(chain.rows) for j, q in sorted(row.items())]
