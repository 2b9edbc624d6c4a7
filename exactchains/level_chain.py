"""Level chains as data: levels 0, 1, 2, ... whose transitions repeat, checked exactly when they are made.

One form holds them all.  A chain has a boundary (level 0, with phases of its own) and repeating levels 1, 2, ... that
go ``up`` one level, stay (``local``), go ``down`` one level, or ``reset`` to the boundary.  Chains with longer jumps
(M/G/1 and GI/M/1 type) and level-dependent chains are merged into this form; ``widths`` and ``stride`` remember how.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exactchains.chain import EXACT_DOUBLES, FiniteChain, NotAGenerator, Time, is_zero, nonnegative, sums_to, table
from exactchains.domain import QQ, Domain
from exactchains.truth import InputError

Block = tuple[tuple[Any, ...], ...]
Rows = tuple[Mapping[int, Any], ...]
BLOCKS = ("up", "local", "down", "reset", "boundary_local", "boundary_up", "boundary_down")


@dataclass(frozen=True)
class LevelChain:
    """Levels 0, 1, 2, ...: from level n >= 1 ``up`` to n + 1, ``local`` in n, ``down`` to n - 1, ``reset`` to level 0.

    The blocks of levels >= 1 are square.  Level 0 has sparse rows of its own: ``boundary_local``, ``boundary_up``
    (to level 1) and ``boundary_down`` (rows of level 1, into level 0, in place of ``down``).  In continuous time
    ``local`` and ``boundary_local`` hold the diagonal and all rows sum to 0; in discrete time they sum to 1.
    Without ``boundary_local`` the chain has R and G but no law.

    ``widths`` lists the phases of each level that is merged into the boundary, ``stride`` counts the levels merged
    into one repeating block (:meth:`jumping`).
    """

    up: Block
    local: Block
    down: Block
    reset: Block | None = None
    time: Time = "continuous"
    domain: Domain = field(default=QQ)
    boundary_local: Rows | None = None
    boundary_up: Rows | None = None
    boundary_down: Rows | None = None
    widths: tuple[int, ...] = ()
    stride: int = 1

    def __post_init__(self) -> None:
        if self.time not in ("continuous", "discrete"):
            raise InputError(f"time = {self.time!r}: give 'continuous' or 'discrete'")
        for name in ("up", "local", "down"):
            _shape(getattr(self, name), name, self.phases, self.phases)
        _check_rows(self, self._repeating(), "level >= 1")
        if self.boundary_local is None:
            return
        width = len(self.boundary_local)
        if self.reset is not None:
            _shape(self.reset, "reset", self.phases, width)
        self._default_boundary(width)
        if not self.widths:
            object.__setattr__(self, "widths", (width,))
        _check_rows(self, {"boundary_local": self.boundary_local, "boundary_up": self.boundary_up}, "level 0")
        if self.boundary_down is not None:
            _check_rows(self, self._repeating() | {"boundary_down": self.boundary_down, "down": None}, "level 1")

    def _repeating(self) -> dict[str, Any]:
        return {"down": self.down, "local": self.local, "up": self.up, "reset": self.reset}

    def _default_boundary(self, width: int) -> None:
        """Fill ``boundary_up`` and ``boundary_down`` from ``up`` and ``down`` where they are left out."""
        shapes = {"boundary_up": ("up", width, self.phases), "boundary_down": ("down", self.phases, width)}
        for name, (usual, height, across) in shapes.items():
            if getattr(self, name) is None:
                if width != self.phases:
                    raise NotAGenerator(
                        f"{name} is missing: level 0 has {width} phases and levels >= 1 have {self.phases}; give {name}"
                    )
                object.__setattr__(self, name, sparse(getattr(self, usual), self.domain))
            rows = getattr(self, name)
            if len(rows) != height or any(not 0 <= j < across for row in rows for j in row):
                raise NotAGenerator(f"{name}: expected {height} rows and {across} columns; give a block of this shape")

    @classmethod
    def from_blocks(cls, blocks: Mapping[str, Any], *, time: Time = "continuous", domain: Domain = QQ) -> "LevelChain":
        """Build from dense blocks by name: ``up``, ``local``, ``down`` and / or ``reset``, ``boundary_*``.

        ``boundary_up`` and ``boundary_down`` default to ``up`` and ``down``.  ``boundary_local`` defaults to
        ``local + reset`` in a chain that only resets; elsewhere a chain without it has no law.

        Raises
        ------
        NotAGenerator
            A block has another shape, an entry is negative or a row does not sum to 0 (1 in discrete time).
        """
        if not isinstance(blocks, Mapping):
            raise InputError(f"blocks is a {type(blocks).__name__}; give a table from names to blocks")
        if foreign := set(blocks) - set(BLOCKS):
            raise InputError(f"unknown block {min(foreign, key=str)!r}; blocks are {', '.join(BLOCKS)}")
        blocks = {name: block for name, block in blocks.items() if block is not None}
        if "up" not in blocks or not ("down" in blocks or "reset" in blocks):
            raise InputError("a level chain needs the block 'up' and one of 'down' and 'reset'")
        dense = {name: converted(block, name, domain) for name, block in blocks.items()}
        if empty := [name for name, block in dense.items() if not block]:
            raise NotAGenerator(f"{empty[0]} has no phases; give every block at least one row")
        zero = tuple((domain.convert(0),) * len(dense["up"]) for _ in dense["up"])
        up, local, down = dense["up"], dense.get("local", zero), dense.get("down", zero)
        reset = dense.get("reset")
        if reset is not None and "down" not in dense and "boundary_local" not in dense:
            _shape(reset, "reset", len(up), len(up))
            dense["boundary_local"] = _plus(local, reset)
        own, rise, fall = (sparse(dense[name], domain) if name in dense else None for name in BLOCKS[4:])
        return cls(up, local, down, reset, time, domain, own, rise, fall)

    @classmethod
    def from_floats(cls, blocks: Mapping[str, Any], *, time: Time = "continuous") -> "LevelChain":
        """Build from doubles: every off-diagonal is the exact double it is, diagonals follow from exact row sums."""
        dense = {name: [list(row) for row in converted(b, name, EXACT_DOUBLES)] for name, b in blocks.items()}
        target = QQ.convert(0 if time == "continuous" else 1)
        for name, others in (("local", ("up", "down", "reset")), ("boundary_local", ("boundary_up",))):
            for i, row in enumerate(dense.get(name, [])):
                present = [dense[other] for other in others if other in dense]
                if name == "boundary_local" and not present:
                    present = [dense["up"]]
                rest = sum((sum(block[i], QQ.convert(0)) for block in present), sum(row, QQ.convert(0)) - row[i])
                row[i] = target - rest
        return cls.from_blocks(dense, time=time)

    @classmethod
    def resetting(cls, up: Sequence[Sequence[Any]], reset: Sequence[Sequence[Any]], *, domain: Domain) -> "LevelChain":
        """Return the slotted chain that goes up one level by ``up`` or to level 0 by ``reset``, from every level."""
        if len(reset) != len(up):
            raise NotAGenerator(f"up has {len(up)} phases, reset has {len(reset)}; give blocks of one size")
        return cls.from_blocks({"up": up, "reset": reset}, time="discrete", domain=domain)

    @classmethod
    def jumping(
        cls,
        jumps: Mapping[int, Any],
        *,
        boundary: Mapping[tuple[int, int], Any],
        time: Time = "continuous",
        domain: Domain = QQ,
    ) -> "LevelChain":
        """Build from jumps of several levels, and from levels that differ at the start.

        Parameters
        ----------
        jumps
            ``jumps[k]`` is the block of transitions from level n to n + k; M/G/1 type has k >= -1, GI/M/1 type k <= 1.
        boundary
            ``boundary[n, m]`` is the block from level n to level m.  Levels with a block (n, n) are the boundary
            levels 0 .. L-1 and have no other transitions; blocks from later levels replace what ``jumps`` says.

        Guarantee
        ---------
        The same chain, levels merged: quantities by level are those of the original levels.
        """
        from exactchains.level_merging import merged

        return merged(jumps, boundary, time, domain)

    @property
    def kind(self) -> str:
        """``"reset"`` when the only way down is a reset to level 0, else ``"qbd"``."""
        empty = all(is_zero(x, self.domain) for row in self.down for x in row)
        return "reset" if self.reset is not None and empty else "qbd"

    @property
    def phases(self) -> int:
        return len(self.up)

    def phase_chain(self) -> FiniteChain:
        """Return the chain of the phase, levels forgotten; resets must keep the phases of the repeating levels."""
        blocks = [self.up, self.local, self.down]
        if self.reset is not None:
            _shape(self.reset, "reset", self.phases, self.phases)
            blocks.append(self.reset)
        total = blocks[0]
        for block in blocks[1:]:
            total = _plus(total, block)
        return FiniteChain.from_matrix(total, time=self.time, domain=self.domain)


def converted(block: Any, name: str, domain: Domain) -> Block:
    """Return a dense block in the numbers of ``domain``; an error names the block and the entry."""
    if hasattr(block, "toarray"):  # scipy sparse
        block = block.toarray()
    table(block, name)
    rows = []
    for i, row in enumerate(block):
        numbers = []
        for j, x in enumerate(row):
            try:
                numbers.append(domain.convert(x))
            except (InputError, TypeError) as error:
                raise type(error)(f"{name} ({i}, {j}): {error}") from None
        rows.append(tuple(numbers))
    return tuple(rows)


def sparse(block: Iterable[Iterable[Any]], domain: Domain) -> Rows:
    """Return the rows of a dense block without their zeros."""
    return tuple({j: x for j, x in enumerate(row) if not is_zero(x, domain)} for row in block)


def _plus(a: Sequence[Sequence[Any]], b: Sequence[Sequence[Any]]) -> Block:
    return tuple(tuple(x + y for x, y in zip(*rows, strict=True)) for rows in zip(a, b, strict=True))


def _shape(block: Block, name: str, height: int, width: int) -> None:
    if len(block) != height:
        raise NotAGenerator(f"{name} has {len(block)} rows, expected {height}; give blocks of matching size")
    for i, row in enumerate(block):
        if len(row) != width:
            raise NotAGenerator(
                f"{name}: row {i} has {len(row)} entries, expected {width}; give blocks of matching size"
            )


def _check_rows(chain: LevelChain, blocks: Mapping[str, Any], level: str) -> None:
    """Check signs and row sums of the blocks that make up the rows of one level."""
    present = {name: block for name, block in blocks.items() if block is not None}
    target, domain = (0 if chain.time == "continuous" else 1), chain.domain
    for i in range(len(next(iter(present.values())))):
        if domain == QQ and _is_row(present, i, target):
            continue
        row = []
        for name, block in present.items():
            entries = block[i].items() if isinstance(block[i], Mapping) else enumerate(block[i])
            for j, x in entries:
                if target or i != j or not name.endswith("local"):
                    nonnegative(x, f"{name} ({i}, {j})", domain)
                row.append(x)
        sums_to(target, row, f"row {i} of {' + '.join(present)} ({level})", domain)


def _is_row(blocks: Mapping[str, Any], i: int, target: int) -> bool:
    """Return whether row i of rational blocks is in order; what is wrong with it, others say."""
    total = QQ.convert(0)
    for name, block in blocks.items():
        given = block[i]
        entries = list(given.values()) if isinstance(given, Mapping) else list(given)
        total += sum(entries, QQ.convert(0))
        if not target and name.endswith("local"):
            entries = (
                [x for j, x in given.items() if j != i]
                if isinstance(given, Mapping)
                else entries[:i] + entries[i + 1 :]
            )
        if min(entries, default=0) < 0:
            return False
    return bool(total == target)
