"""Block elimination by levels in long floating-point numbers: nearly decomposable chains beyond two doubles."""

from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.structure import distances

Entries = list[tuple[int, int, arb]]


class LongBlock:
    """The levels around a reference state; :meth:`law_and_vector` eliminates them from the farthest to the nearest."""

    def __init__(self, chain: Arrays, reference: int, guess: tuple[Any, Any]) -> None:
        level = distances(chain.graph(), reference)
        self.chain, self.guess = chain, guess
        self.order = np.argsort(level, kind="stable")
        start = np.searchsorted(level[self.order], np.arange(int(level.max()) + 2))
        self.widths = np.diff(start).tolist()
        place = np.empty(chain.size, np.int64)
        place[self.order] = np.arange(chain.size)
        self.level, self.place = level, place - start[level]

    def law_and_vector(self) -> tuple[list[arb], list[arb]]:
        """Return x with x_0 = 1 and u with u S close to the guessed law times exit rates, in the order ``order``.

        Estimates, at flint's working precision.  u is carried along as one more column of each level's system.
        """
        blocks, right = self._blocks(), self._right()
        widths = self.widths
        steps: list[Any] = [None] * len(widths)
        alone: list[Any] = [None] * len(widths)
        gain: Any = None
        carried: Any = None
        for k in range(len(widths) - 1, 0, -1):
            system = self._system(blocks, k)
            column = right[k] if carried is None else right[k] + carried
            if gain is not None:
                system -= gain
            up = _dense(blocks[k - 1, k], widths[k], widths[k - 1])
            found = system.solve(_beside(up, column), algorithm="approx")
            steps[k], alone[k] = _split(found, widths[k - 1])
            down = _dense(blocks[k, k - 1], widths[k - 1], widths[k])
            gain, carried = down * steps[k], down * alone[k]
        law, x = [arb(1)], arb_mat([[arb(1)]])  # type: list[arb], Any
        vector, u = [arb(0)], arb_mat([[arb(0)]])  # type: list[arb], Any
        for step, own in zip(steps[1:], alone[1:], strict=True):
            x, u = step * x, step * u + own
            law += [x[i, 0].mid() for i in range(x.nrows())]
            vector += [u[i, 0].mid() for i in range(u.nrows())]
        return law, vector

    def _blocks(self) -> dict[tuple[int, int], Entries]:
        """Return transitions by pair of levels, as (target, source, rate): transposed."""
        chain, found = self.chain, {}  # type: Any, dict[tuple[int, int], Entries]
        self.exits = [arb(0)] * chain.size
        for i, j, q in zip(chain.sources().tolist(), chain.targets.tolist(), chain.rates, strict=True):
            rate = arb(q if isinstance(q, fmpq) else int(q)).mid()
            self.exits[i] = (self.exits[i] + rate).mid()
            key = (int(self.level[i]), int(self.level[j]))
            found.setdefault(key, []).append((int(self.place[j]), int(self.place[i]), rate))
        return found

    def _right(self) -> list[Any]:
        h, e = self.guess
        columns: list[list[list[arb]]] = [[] for _ in self.widths]
        for i in self.order.tolist():
            columns[int(self.level[i])].append([arb(float(h[i])) * arb(2) ** int(e[i]) * self.exits[i]])
        return [arb_mat(column) for column in columns]

    def _system(self, blocks: dict[tuple[int, int], Entries], k: int) -> Any:
        rows = [[arb(0)] * self.widths[k] for _ in range(self.widths[k])]
        for j, i, q in blocks.get((k, k), []):
            rows[j][i] = -q
        for i in np.flatnonzero(self.level == k).tolist():
            rows[int(self.place[i])][int(self.place[i])] = self.exits[i]
        return arb_mat(rows)


def _dense(entries: Entries, height: int, width: int) -> Any:
    rows = [[arb(0)] * width for _ in range(height)]
    for j, i, q in entries:
        rows[j][i] = q
    return arb_mat(rows)


def _beside(left: Any, column: Any) -> Any:
    rows = left.table()
    return arb_mat([[*row, column[i, 0].mid()] for i, row in enumerate(rows)])


def _split(found: Any, width: int) -> tuple[Any, Any]:
    rows = found.table()
    return arb_mat([row[:width] for row in rows]), arb_mat([[row[width]] for row in rows])
