"""Markov chains as data: finite chains and level chains over any domain, checked exactly when they are made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from exactchains.domain import QQ, Domain
from exactchains.truth import InputError, Truth

Time = Literal["continuous", "discrete"]
Block = tuple[tuple[Any, ...], ...]


class NotAGenerator(InputError):
    """The rates or probabilities do not form a Markov chain; the message names the row, the entry and the defect."""


@dataclass(frozen=True)
class FiniteChain:
    """A finite chain: ``rows[i]`` maps j to the rate (continuous time) or probability (discrete time) of i -> j.

    Continuous time holds off-diagonal rates only, discrete time all probabilities.  Numbers are native to ``domain``.
    """

    rows: tuple[Mapping[int, Any], ...]
    time: Time = "continuous"
    domain: Domain = field(default=QQ)

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            for j, x in row.items():
                _nonnegative(x, f"entry ({i}, {j})", self.domain)
                if not 0 <= j < len(self.rows):
                    raise NotAGenerator(f"entry ({i}, {j}): states are 0 to {len(self.rows) - 1}")
                if i == j and self.time == "continuous":
                    raise NotAGenerator(f"entry ({i}, {i}): a rate from a state to itself; leave it out")
            if self.time == "discrete":
                _sums_to(1, row.values(), f"row {i}", self.domain)

    @classmethod
    def from_transitions(
        cls, size: int, transitions: Iterable[tuple[int, int, Any]], *, time: Time = "continuous", domain: Domain = QQ
    ) -> "FiniteChain":
        """Build from triples (i, j, rate), 0-based; a pair that occurs twice is refused."""
        rows: list[dict[int, Any]] = [{} for _ in range(size)]
        for i, j, rate in transitions:
            if not (0 <= i < size and 0 <= j < size):
                raise NotAGenerator(f"entry ({i}, {j}): states are 0 to {size - 1}")
            if j in rows[i]:
                raise NotAGenerator(f"entry ({i}, {j}) is given twice; give each pair once")
            rows[i][j] = domain.convert(rate)
        return cls(tuple(rows), time, domain)

    @classmethod
    def from_matrix(
        cls, matrix: Sequence[Sequence[Any]], *, time: Time = "continuous", domain: Domain = QQ
    ) -> "FiniteChain":
        """Build from a square matrix: a generator with its diagonal, or a stochastic matrix."""
        _square(matrix, "matrix")
        converted = [[domain.convert(x) for x in row] for row in matrix]
        if time == "continuous":
            for i, row in enumerate(converted):
                _sums_to(0, row, f"row {i}", domain)
        rows = tuple(
            {j: x for j, x in enumerate(row) if not is_zero(x, domain) and (time == "discrete" or i != j)}
            for i, row in enumerate(converted)
        )
        return cls(rows, time, domain)

    @property
    def size(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class LevelChain:
    """Levels 0, 1, 2, ... with the same phases: up one level, stay, and down one level or reset to level 0.

    ``kind = "qbd"`` goes down one level by ``down``; ``kind = "reset"`` goes from any level to level 0 by ``reset``,
    held in the same field.  Level 0 has blocks of its own where they differ.
    """

    up: Block
    local: Block
    down: Block
    kind: Literal["qbd", "reset"] = "qbd"
    time: Time = "continuous"
    domain: Domain = field(default=QQ)
    boundary_local: Block | None = None
    boundary_up: Block | None = None
    boundary_down: Block | None = None

    @classmethod
    def resetting(cls, up: Sequence[Sequence[Any]], reset: Sequence[Sequence[Any]], *, domain: Domain) -> "LevelChain":
        """Return the slotted chain that goes up one level by ``up`` or to level 0 by ``reset``, from every level."""
        size = _square(up, "up")
        if _square(reset, "reset") != size:
            raise NotAGenerator(f"up has {size} phases, reset has {len(reset)}; give blocks of one size")
        blocks = [tuple(tuple(domain.convert(x) for x in row) for row in block) for block in (up, reset)]
        for i in range(size):
            for name, block in zip(("up", "reset"), blocks, strict=True):
                for j, x in enumerate(block[i]):
                    _nonnegative(x, f"{name} ({i}, {j})", domain)
            _sums_to(1, [*blocks[0][i], *blocks[1][i]], f"row {i} of up + reset", domain)
        zero = tuple(tuple(domain.convert(0) for _ in range(size)) for _ in range(size))
        return cls(blocks[0], zero, blocks[1], "reset", "discrete", domain)

    @property
    def reset(self) -> Block:
        if self.kind != "reset":
            raise AttributeError("a QBD has no reset block; use down")
        return self.down

    @property
    def phases(self) -> int:
        return len(self.up)

    def phase_chain(self) -> FiniteChain:
        """Return the chain of the phase of a resetting chain, levels forgotten."""
        total = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(self.up, self.reset, strict=True)]
        return FiniteChain.from_matrix(total, time="discrete", domain=self.domain)


def is_zero(x: Any, domain: Domain) -> bool:
    """Return whether ``x`` is known to be zero; an undecided entry counts as present."""
    return domain.equal(x, domain.convert(0)) is Truth.TRUE


def _square(matrix: Sequence[Sequence[Any]], name: str) -> int:
    size = len(matrix)
    for i, row in enumerate(matrix):
        if len(row) != size:
            raise NotAGenerator(f"{name}: row {i} has {len(row)} entries, expected {size}; give a square block")
    return size


def _nonnegative(x: Any, where: str, domain: Domain) -> None:
    if domain.less(x, domain.convert(0)) is Truth.TRUE:
        raise NotAGenerator(f"{where} = {x} is negative; rates and probabilities are >= 0")


def _sums_to(target: int, row: Iterable[Any], where: str, domain: Domain) -> None:
    total = sum(row, domain.convert(0))
    if domain.rigor == 0:  # doubles: sums are rounded, they prove nothing either way
        if abs(total - target) <= 1e-9:
            return
    elif domain.equal(total, domain.convert(target)) is not Truth.FALSE:
        return
    raise NotAGenerator(f"{where} sums to {total}, expected {target}; give exact numbers that sum to {target}")
