"""Channels with memory: finite-state across codewords, and burst erasures within them (Gilbert, Elliott)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aoi_tools.models.codes import Codeword, CountingCode, Decoding, probability
from exactchains.chain import FiniteChain
from exactchains.domain import QQ, Domain
from exactchains.truth import InputError

Matrix = list[list[Any]]


@dataclass(frozen=True)
class SlotChannel:
    """The channel state moves once a slot by ``matrix``; in state s codewords have the fates ``fates[s]``.

    ``fates[s]`` is the pair (actual, differential).  Notes: the Gilbert-Elliott channel at slot level.
    """

    matrix: tuple[tuple[Any, ...], ...]
    fates: tuple[tuple[Decoding, Decoding], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _stochastic(self.matrix))
        if len(self.fates) != len(self.matrix):
            raise InputError(f"fates: {len(self.fates)} given for {len(self.matrix)} channel states; give one a state")
        pairs = tuple((Codeword.of(p, "p"), Codeword.of(d, "d")) for p, d in self.fates)
        object.__setattr__(self, "fates", pairs)

    @property
    def states(self) -> tuple[str, ...]:
        return _names(len(self.matrix))

    def matrices(self, kind: str, domain: Domain) -> tuple[Matrix, Matrix]:
        chosen = [pair[0 if kind == "actual" else 1].over(domain) for pair in self.fates]
        moves = [[domain.convert(x) for x in row] for row in self.matrix]
        lost = [[fate.failure * x for x in row] for fate, row in zip(chosen, moves, strict=True)]
        decoded = [[fate.success * x for x in row] for fate, row in zip(chosen, moves, strict=True)]
        return lost, decoded


@dataclass(frozen=True)
class BurstChannel:
    """The state moves at every channel use by ``matrix``; a use in state s is erased with probability ``eps[s]``.

    ``actual`` and ``differential`` are codes that count erasures; both have the same length.  The number of erasures
    of a codeword and the state after it are followed use by use, about n^2 S^2 operations.
    """

    matrix: tuple[tuple[Any, ...], ...]
    eps: tuple[Any, ...]
    actual: CountingCode
    differential: CountingCode

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _stochastic(self.matrix))
        object.__setattr__(self, "eps", tuple(probability(x, "eps") for x in self.eps))
        if len(self.eps) != len(self.matrix):
            raise InputError(f"eps: {len(self.eps)} given for {len(self.matrix)} channel states; give one a state")
        if self.actual.n != self.differential.n:
            raise InputError(f"n = {self.actual.n} and {self.differential.n}: both codes need one length")

    @property
    def states(self) -> tuple[str, ...]:
        return _names(len(self.matrix))

    def matrices(self, kind: str, domain: Domain) -> tuple[Matrix, Matrix]:
        code = self.actual if kind == "actual" else self.differential
        chances = code.chances(domain)
        lost: Matrix = []
        decoded: Matrix = []
        for start in range(len(self.matrix)):
            joint = self.erasures(start, domain)
            for rows, name in ((lost, "failure"), (decoded, "success")):
                row = [domain.convert(0)] * len(self.matrix)
                for chance, weights in zip(chances, joint, strict=True):
                    row = [x + getattr(chance, name) * w for x, w in zip(row, weights, strict=True)]
                rows.append(row)
        return lost, decoded

    def erasures(self, start: int, domain: Domain = QQ) -> list[list[Any]]:
        """Return P(e erasures in one codeword, state after it), from state ``start`` at its first use."""
        size, zero = len(self.matrix), domain.convert(0)
        moves = [[domain.convert(x) for x in row] for row in self.matrix]
        erased, kept = ([domain.convert(x) for x in xs] for xs in (self.eps, [1 - x for x in self.eps]))
        law = [[zero] * size for _ in range(self.actual.n + 1)]
        law[0][start] = domain.convert(1)
        for use in range(self.actual.n):
            after = [[zero] * size for _ in range(self.actual.n + 1)]
            for e in range(use + 1):
                for s, x in enumerate(law[e]):
                    for t, move in enumerate(moves[s]):
                        after[e][t] = after[e][t] + x * kept[s] * move
                        after[e + 1][t] = after[e + 1][t] + x * erased[s] * move
            law = after
        return law


def gilbert_elliott(worsens: Any, recovers: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the matrix of the two-state channel: good to bad with ``worsens``, bad to good with ``recovers``."""
    down, up = probability(worsens, "worsens"), probability(recovers, "recovers")
    return (1 - down, down), (up, 1 - up)


def _stochastic(matrix: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    chain = FiniteChain.from_matrix([list(row) for row in matrix], time="discrete")
    return tuple(tuple(chain.rows[i].get(j, QQ.convert(0)) for j in range(chain.size)) for i in range(chain.size))


def _names(size: int) -> tuple[str, ...]:
    return ("good", "bad") if size == 2 else tuple(f"state {s}" for s in range(size))
