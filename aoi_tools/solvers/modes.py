"""The slot-age law of a mode chain, from its two blocks, over every domain and without subtraction."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from aoi_tools.models.law import SlotLaw, working
from aoi_tools.solvers.visits import Visits, law_of
from exactchains.chain import is_zero
from exactchains.domain import Domain
from exactchains.level_chain import LevelChain
from exactchains.truth import DoesNotExist

Rows = list[dict[int, Any]]


class ModeLaw(SlotLaw):
    r"""The law of J for blocks U (``up``) and R (``reset``) over the modes.

    With nu the stationary law of U + R: pi_0 = nu R and pi_{j+1} = pi_j U, hence P(J > j) = nu U^(j+1) 1. With
    N = (I - U)^{-1}: E C(J+r-1, r) = nu U N^r 1.  A row r N is found as the expected visits of the
    chain U that starts by r and restarts after every reset, by state reduction: sums, products and quotients of
    nonnegative numbers only.

    Raises
    ------
    DoesNotExist
        More than one recurrent class of modes, or no reset from the recurrent modes.
    """

    def __init__(self, chain: LevelChain, modes: tuple[str, ...] = ()) -> None:
        self.domain: Domain = chain.domain
        with self.domain.working():
            up, reset = (_rows(block, self.domain) for block in (chain.up, chain.reset))
            self.kept = recurrent(up, reset, modes)
            self.modes = tuple(modes[i] for i in self.kept) if modes else tuple(map(str, self.kept))
            place = {old: new for new, old in enumerate(self.kept)}
            self.up, self.reset = (
                [{place[j]: x for j, x in rows[i].items()} for i in self.kept] for rows in (up, reset)
            )
            self._zero = self.domain.convert(0)
            self._escape = [sum(row.values(), self._zero) for row in self.reset]
            if not any(self.reset):
                raise DoesNotExist(
                    f"no age law exists: from the recurrent modes ({', '.join(self.modes[:4])}) no update ever becomes "
                    "usable, the age grows without bound; give a positive success probability (p < 1)"
                )

    @cached_property
    def mode_law(self) -> list[Any]:
        """Stationary law of the modes."""
        with self.domain.working():
            total: Rows = []
            for up, reset in zip(self.up, self.reset, strict=True):
                row = dict(up)
                for j, x in reset.items():
                    row[j] = row[j] + x if j in row else x
                total.append(row)
            return law_of(total, self.domain)

    @cached_property
    def _powers(self) -> list[list[Any]]:
        return [self.mode_law]

    @cached_property
    def _gaps(self) -> list[list[Any]]:
        start = self.step(self.mode_law, self.reset)
        total = sum(start, self._zero)
        return [[x / total for x in start]]

    @cached_property
    def _resolvent(self) -> Visits:
        return Visits(self.up, self._escape, self.domain)

    @cached_property
    def _visited(self) -> list[list[Any]]:
        """nu U N^r."""
        return [self._power(1)]

    def level(self, j: int) -> list[Any]:
        """Return P(J = j, mode) for every mode: pi_j = nu R U^j."""
        with self.domain.working():
            row = self.step(self.mode_law, self.reset)
            for _ in range(j):
                row = self.step(row, self.up)
            return row

    @working
    def pmf(self, j: int) -> Any:
        return sum(self.level(j), self._zero)

    @working
    def ccdf(self, j: int) -> Any:
        return sum(self._power(j + 1), self._zero)

    @working
    def rising_moment(self, r: int) -> Any:
        while len(self._visited) <= r:
            self._visited.append(self._resolvent.row(self._visited[-1]))
        return sum(self._visited[r], self._zero)

    @working
    def gap_pmf(self, z: int) -> Any:
        while len(self._gaps) < z:
            self._gaps.append(self.step(self._gaps[-1], self.up))
        return sum((x * w for x, w in zip(self._gaps[z - 1], self._escape, strict=True)), self._zero)

    def _power(self, j: int) -> list[Any]:
        """nu U^j."""
        while len(self._powers) <= j:
            self._powers.append(self.step(self._powers[-1], self.up))
        return self._powers[j]

    def step(self, row: list[Any], rows: Rows) -> list[Any]:
        """Return the row times ``rows``."""
        after = [self._zero] * len(row)
        for x, entries in zip(row, rows, strict=True):
            if not is_zero(x, self.domain):
                for j, y in entries.items():
                    after[j] = after[j] + x * y
        return after


def recurrent(up: Rows, reset: Rows, modes: tuple[str, ...] = ()) -> list[int]:
    """Return the modes of the one recurrent class of ``up`` + ``reset``.

    Raises
    ------
    DoesNotExist
        There are several classes, hence no unique law.
    """
    size = len(up)
    pairs = [(i, j) for rows in (up, reset) for i, row in enumerate(rows) for j in row]
    tails, heads = zip(*pairs, strict=True)
    graph = csr_array((np.ones(len(pairs)), (tails, heads)), shape=(size, size))
    count, label = connected_components(graph, directed=True, connection="strong")
    open_classes = {int(label[i]) for i, j in pairs if label[i] != label[j]}
    closed = sorted(set(range(count)) - open_classes)
    if len(closed) > 1:
        shown = " | ".join(
            ", ".join(modes[i] if modes else str(i) for i in range(size) if label[i] == c) for c in closed[:3]
        )
        raise DoesNotExist(f"no unique age law exists: {len(closed)} classes of modes are never left ({shown})")
    return [i for i in range(size) if label[i] == closed[0]]


def _rows(block: Any, domain: Domain) -> Rows:
    return [{j: x for j, x in enumerate(row) if not is_zero(x, domain)} for row in block]
