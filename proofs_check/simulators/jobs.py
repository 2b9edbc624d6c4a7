"""Job traces: when each job came, was taken up and left; what they tell of queues and of ages."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.job_checks import check
from proofs_check.simulators.pieces import Floats, Pieces
from proofs_check.simulators.statistics import BATCHES, MEAN, VARIANCE, Statistic

MANY_LOST = 10


@dataclass(frozen=True)
class Jobs:
    """A job trace: times of arrival (or generation), start of service and departure (or delivery); NaN: not yet.

    ``start`` and ``server`` may be None; queue lengths are averaged over ``servers``.
    ``remarks`` are what reading found out.
    """

    source: str
    arrive: Floats
    end: Floats
    start: Floats | None = None
    server: Floats | None = None
    first_line: int = 2
    remarks: list[str] = field(default_factory=list)
    servers: int = 1

    what = "jobs"

    @property
    def path(self) -> str:
        return self.source

    def __post_init__(self) -> None:
        if not len(self.arrive):
            raise InputError(f"{self.source}: a header and no data")
        check(self)

    @property
    def count(self) -> int:
        return len(self.arrive)

    def unit(self, quantity: str) -> str:
        """Return the unit of the weight of a run: jobs, or time where a time average is taken."""
        return "jobs" if quantity in ("mean_wait", "mean_response", "peak_mean") else "units of time"

    @property
    def totals(self) -> tuple[float, float, float, float]:
        """Return numbers of times between arrivals and of services, each with the sum of these times."""
        span, served, work = float(self.arrive.max() - self.arrive.min()), 0.0, 0.0
        if self.start is not None:
            known = np.isfinite(self.end) & np.isfinite(self.start)
            times = self.end[known] - self.start[known]
            served, work = float(len(times)), float(times.sum())
        return self.count - 1, span, served, work

    @property
    def finished(self) -> np.ndarray:
        return np.isfinite(self.end)

    @property
    def quantities(self) -> tuple[str, ...]:
        waits = ("mean_wait",) if self.start is not None else ()
        return (*waits, "mean_response", "mean_queue", "tail", *AGE_STATISTICS)

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the pieces from which a quantity is estimated, and how."""
        found = Pieces()
        if quantity == "mean_wait" and self.start is not None:
            served = np.isfinite(self.start)
            found.add_values(np.maximum(self.start[served] - self.arrive[served], 0.0))
        elif quantity == "mean_response":
            done = self.finished
            found.add_values(self.end[done] - self.arrive[done])
        elif quantity in ("mean_queue", "tail"):
            durations, total = self.levels() if quantity == "mean_queue" else self.busy_servers(index or 0)
            value = total / self.servers
            found.add(durations, durations * value, durations * value * value)
        elif quantity in AGE_STATISTICS:
            peaks = quantity.startswith("peak")
            found = _peaks(*self.deliveries()) if peaks else _age_areas(*self.deliveries())
            return found, AGE_STATISTICS[quantity]
        else:
            raise InputError(
                f"{quantity} cannot be estimated from this job trace; these can: {', '.join(self.quantities)}"
            )
        return found, MEAN

    def notes(self) -> Iterator[str]:
        """Yield what a user should know about the trace."""
        yield from self.remarks
        open_jobs, early = int((~self.finished).sum()), self.early
        if early > MANY_LOST:
            yield (
                f"without departure: {open_jobs} jobs, {early} of them in the first half of the run: lost or replaced? "
                "mean_response is that of the others"
            )
        elif open_jobs:
            yield f"not left at the end: {open_jobs}; such jobs count as present, and not in mean_response"

    def levels(self) -> tuple[Floats, Floats]:
        """Return durations and numbers of jobs in the system, from the first arrival to the last.

        Jobs still there at the end count as present; after the last arrival that was written nothing is known.
        """
        self._refuse_lost()
        times = np.concatenate([self.arrive, self.end[self._left()]])
        order = np.argsort(times, kind="stable")
        steps = np.where(order < self.count, np.int8(1), np.int8(-1))
        return np.diff(times[order]), np.maximum(np.cumsum(steps, dtype=float)[:-1], 0)

    def busy_servers(self, least: int) -> tuple[Floats, Floats]:
        """Return durations and numbers of servers with at least ``least`` jobs, from the first arrival to the last."""
        if self.servers == 1:
            durations, levels = self.levels()
            return durations, (levels >= least).astype(float)
        if self.server is None:
            raise InputError(f"{self.source}: tail needs to know the server of each job; add a column server")
        if least == 0:
            return np.ones(2 * BATCHES[-1]), np.full(2 * BATCHES[-1], float(self.servers))
        times, steps, where = self._events()
        order = np.lexsort((times, where))
        times, steps, where = times[order], steps[order], where[order]
        level = np.cumsum(steps)
        first = np.searchsorted(where, where)  # the events of each server stand together; each starts empty
        level -= np.where(first > 0, level[first - 1], 0)
        crossing = np.where(steps > 0, level == least, level == least - 1) * steps
        by_time = np.argsort(times, kind="stable")
        return np.diff(times[by_time]), np.cumsum(crossing[by_time])[:-1]

    @property
    def early(self) -> int:
        """Return how many jobs of the first half of the run have no departure."""
        return len(self._early())

    def _refuse_lost(self) -> None:
        """Refuse to count jobs without departure as present when they came long before jobs that left."""
        lost = self._early()
        if len(lost) > MANY_LOST:
            raise InputError(
                f"{self.source} line {self.first_line + lost[0]}: {len(lost)} jobs of the first half never left; if "
                "they were lost, leave their rows out to estimate queue lengths"
            )

    def _left(self) -> np.ndarray:
        """Return which jobs left before the last arrival."""
        return np.where(self.finished, self.end, np.inf) < self.arrive.max()

    def _early(self) -> np.ndarray:
        """Return which jobs of the first half of the run have no departure."""
        return np.flatnonzero(~self.finished & (self.arrive <= np.median(self.arrive)))

    def _events(self) -> tuple[Floats, Floats, Floats]:
        """Return times, steps (+1 arrival, -1 departure) and servers, up to the last arrival."""
        left = self._left()
        server = np.zeros(self.count) if self.server is None else self.server
        times = np.concatenate([self.arrive, self.end[left]])
        steps = np.concatenate([np.ones(self.count), -np.ones(int(left.sum()))])
        return times, steps, np.concatenate([server, server[left]])

    def deliveries(self) -> tuple[Floats, Floats]:
        """Return times of deliveries that lower the age, and the generation times of what they deliver."""
        done = np.flatnonzero(self.finished)
        order = done[np.lexsort((self.arrive[done], self.end[done]))]
        time, generated = self.end[order], self.arrive[order]
        freshest = np.maximum.accumulate(generated)
        fresh = np.concatenate([[True], generated[1:] > freshest[:-1]])
        if int(fresh.sum()) < 2:
            raise InputError(f"{self.source}: fewer than two updates were delivered; no age can be formed")
        return time[fresh], generated[fresh]


AGE_STATISTICS: dict[str, Statistic] = {
    "age_mean": MEAN,
    "age_variance": VARIANCE,
    "peak_mean": MEAN,
    "peak_variance": VARIANCE,
}


def _age_areas(time: Floats, generated: Floats) -> Pieces:
    """Return, for the time between deliveries, its length and the areas under age and squared age."""
    gap, low = np.diff(time), (time - generated)[:-1]
    high = low + gap
    found = Pieces()
    found.add(gap, gap * (low + high) / 2, (high**3 - low**3) / 3)
    return found


def _peaks(time: Floats, generated: Floats) -> Pieces:
    found = Pieces()
    found.add_values(time[1:] - generated[:-1])
    return found
