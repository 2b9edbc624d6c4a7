"""Job traces too large for memory, block by block: waits and responses, which need no job but their own."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.repeats import Repeats
from proofs_check.simulators.statistics import Statistic

LARGE = 1_000_000_000  # bytes of a file from which on it is streamed


class JobStream:
    """A large job trace; ``columns`` names arrival, start (or None) and departure."""

    what = "jobs"
    quantities = ("mean_wait", "mean_response")

    def __init__(self, table: Any, columns: tuple[str, str | None, str]) -> None:
        self.path, self._table, self._columns = table.path, table, columns
        self.count = self.unfinished = self.lost = 0  # lost: those that had not left by the last block
        self.repeats = Repeats()
        self._span, self._services = [np.inf, -np.inf], np.zeros(2)

    @property
    def totals(self) -> tuple[float, float, float, float]:
        """Return numbers of times between arrivals and of services read, each with the sum of these times."""
        first, last = self._span
        return max(self.count - 1, 0), max(last - first, 0.0), *self._services.tolist()

    def unit(self, quantity: str) -> str:
        return "jobs"

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the observations of waits or responses, and how the mean is estimated."""
        if quantity not in self.quantities:
            raise InputError(
                f"{self.path}: a file of this size is read block by block, from which {quantity} cannot be estimated; "
                f"{' and '.join(self.quantities)} can"
            )
        found, self.count, self.unfinished, self.repeats = Pieces(), 0, 0, Repeats()
        self._span, self._services = [np.inf, -np.inf], np.zeros(2)
        for jobs in self.blocks():
            self.count += jobs.count
            self.lost = self.unfinished
            self.unfinished += int((~jobs.finished).sum())
            self.repeats.add((jobs.end - jobs.arrive)[jobs.finished])
            self._span = [min(self._span[0], jobs.arrive.min()), max(self._span[1], jobs.arrive.max())]
            self._services += jobs.totals[2:]
            part, statistic = jobs.pieces(quantity, index)
            found.extend(part)
        return found, statistic

    def blocks(self) -> Iterator[Jobs]:
        """Yield checked blocks of jobs; also across blocks no job leaves before one listed above it came."""
        start = self._columns[1]
        latest = -np.inf
        for line, rows in self._table.blocks([name for name in self._columns if name]):
            leave = np.where((rows[:, -1] <= 0) & (rows[:, 0] > 0), np.nan, rows[:, -1])
            early = leave < latest
            if early.any():
                raise InputError(
                    f"{self.path} line {line + int(np.argmax(early))}: departure {leave[early][0]:.9g} is before the "
                    "arrival of a job listed above; are these two runs in one file, or unsorted rows?"
                )
            yield Jobs(str(self.path), rows[:, 0], leave, rows[:, 1] if start else None, None, line)
            latest = max(latest, float(rows[:, 0].max()))

    def notes(self) -> Iterator[str]:
        yield "the file is large and was read block by block"
        if self.unfinished:
            yield f"{self.unfinished} jobs had not left at the end; they are not in mean_response"
