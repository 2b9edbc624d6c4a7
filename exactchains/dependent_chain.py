"""Level chains whose rates grow with the level without end: retrial queues, infinitely many servers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from exactchains.chain import NotAGenerator, nonnegative
from exactchains.domain import QQ
from exactchains.level_chain import Block, converted
from exactchains.truth import InputError

NAMES = ("up", "local", "down")


@dataclass(frozen=True)
class DependentChain:
    """Continuous-time levels 0, 1, 2, ...; from level n the rates are ``constant + n * slope``, entry by entry.

    ``constant`` and ``slope`` map "up", "local" and "down" to square blocks; blocks left out are zero.  The diagonal
    of ``local`` is not given: it follows from the row sums.  Level 0 has no way down.
    """

    constant: Mapping[str, Block]
    slope: Mapping[str, Block]

    @classmethod
    def from_blocks(cls, constant: Mapping[str, Any], slope: Mapping[str, Any]) -> "DependentChain":
        """Build from exact blocks.

        Raises
        ------
        NotAGenerator
            A block has another shape or a negative entry.
        """
        given = [*constant.values(), *slope.values()]
        if not given or (set(constant) | set(slope)) - set(NAMES):
            raise InputError(f"blocks are {', '.join(NAMES)}; give at least one")
        size, parts = len(given[0]), []
        if not size:
            raise InputError("blocks are empty; give at least one phase")
        for what, blocks in (("constant", constant), ("slope", slope)):
            exact = {}
            for name in NAMES:
                rows = converted(blocks.get(name, [["0"] * size] * size), f"{what} {name}", QQ)
                if len(rows) != size or any(len(row) != size for row in rows):
                    raise NotAGenerator(f"{what} {name}: expected {size} x {size} entries; give blocks of one size")
                for i, row in enumerate(rows):
                    for j, x in enumerate(row):
                        if name != "local" or i != j:
                            nonnegative(x, f"{what} {name} ({i}, {j})", QQ)
                exact[name] = rows
            parts.append(exact)
        return cls(*parts)

    @property
    def phases(self) -> int:
        return len(self.constant["up"])

    def block(self, name: str, n: int) -> list[list[fmpq]]:
        """Return the rates of level n without a diagonal; level 0 has no way down."""
        zero = name == "down" and n == 0
        pairs = zip(self.constant[name], self.slope[name], strict=True)
        rows = [[fmpq(0) if zero else x + n * y for x, y in zip(*pair, strict=True)] for pair in pairs]
        if name == "local":
            for i, row in enumerate(rows):
                row[i] = fmpq(0)
        return rows
