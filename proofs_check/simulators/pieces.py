"""Data of a run as pieces in time order: weight, integral of the value, integral of its square."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WEIGHT, FIRST, SECOND = range(3)
LIMIT = 1 << 18


class Pieces:
    """Pieces in time order, never more than twice ``LIMIT``: neighbours are added together when there are more.

    A piece is one observation (weight 1, x, x^2), a stretch of a path (its duration d, d x, d x^2), or the time between
    two deliveries (duration, area under the age, area under its square).  Every estimate is a ratio of sums, so that
    merging neighbours changes no estimate, and batches of merged pieces are batches of the originals.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit, self.group, self.count = limit, 1, 0
        self._whole = np.empty((0, 3))
        self._rest = np.empty((0, 3))

    def add(self, weight: Floats, first: Floats, second: Floats) -> None:
        """Append pieces; all three arrays have one entry a piece."""
        for start in range(0, len(weight), self.limit):  # copies of a part, not of everything
            part = slice(start, start + self.limit)
            self._append(np.column_stack([weight[part], first[part], second[part]]))

    def _append(self, new: Floats) -> None:
        self.count += len(new)
        self._rest = np.concatenate([self._rest, new])
        self._absorb()
        while len(self._whole) > 2 * self.limit:
            odd = self._whole[len(self._whole) // 2 * 2 :]
            self._whole = merged(self._whole, 2)
            self.group *= 2
            self._rest = np.concatenate([odd, self._rest])

    def add_values(self, values: Floats) -> None:
        """Append observations of weight one."""
        self.add(np.ones(len(values)), values, values * values)

    def extend(self, other: "Pieces") -> None:
        """Append the pieces of another run of them."""
        self.add(*other.array().T)

    def array(self) -> Floats:
        """Return the pieces as rows (weight, first, second); the last one may hold fewer originals."""
        if not len(self._rest):
            return self._whole
        return np.concatenate([self._whole, self._rest.sum(axis=0, keepdims=True)])

    def _absorb(self) -> None:
        ready = len(self._rest) // self.group * self.group
        self._whole = np.concatenate([self._whole, merged(self._rest, self.group)])
        self._rest = self._rest[ready:]


def merged(pieces: Floats, group: int) -> Floats:
    """Return the sums over consecutive groups of ``group`` pieces; an incomplete last group is left out."""
    whole = len(pieces) // group
    return pieces[: whole * group].reshape(whole, group, pieces.shape[1]).sum(axis=1)
