"""What no job trace can hold: times out of order, runs that are mixed, clocks that differ, rows that stand twice."""

from typing import TYPE_CHECKING

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats

if TYPE_CHECKING:
    from proofs_check.simulators.jobs import Jobs

LARGEST = 1e100  # its square is still a number
ROUNDING = 1e-7  # relative slack of causality: traces are often printed with eight digits
COARSE = 0.01  # times may be rounded to this part of the median time between arrivals
CLOCK = 20.0  # a stable queue's departures last hardly longer than its arrivals; units differ by 60 or more
ENOUGH = 40  # jobs from which on spans of time tell


def check(jobs: "Jobs") -> None:
    """Refuse a broken trace with the line, the value and the reason."""
    _check_times(jobs)
    _check_clocks(jobs)
    _check_runs(jobs)


def _check_times(jobs: "Jobs") -> None:
    _refuse(jobs, ~np.isfinite(jobs.arrive), jobs.arrive, "arrival", "is missing; every job has an arrival time")
    _refuse(jobs, jobs.arrive > LARGEST, jobs.arrive, "arrival", "is too large for a time")
    _refuse(jobs, jobs.arrive < 0, jobs.arrive, "arrival", "is negative; count time from the start of the run")
    scale = ROUNDING * max(1.0, float(np.nanmax(np.abs(jobs.arrive))))
    with np.errstate(invalid="ignore", over="ignore"):
        _refuse(jobs, jobs.end < jobs.arrive - scale, jobs.end, "departure", "is before the job's own arrival")
        if jobs.start is not None:
            _refuse(jobs, jobs.start < jobs.arrive - scale, jobs.start, "start", "is before the job's own arrival")
            _refuse(jobs, jobs.end < jobs.start - scale, jobs.end, "departure", "is before the job's own start")
    gaps = np.diff(np.sort(jobs.arrive))
    gap = float(np.median(gaps)) if len(gaps) else 0.0
    if gap > 0:
        for what, times in (("departure", jobs.end), ("start", jobs.start), ("arrival", jobs.arrive)):
            if times is not None:
                coarse = np.isfinite(times) & (np.spacing(np.where(np.isfinite(times), times, 0.0)) > COARSE * gap)
                why = f"is too large to tell times apart that lie {gap:.3g} apart; count time from the start of the run"
                _refuse(jobs, coarse, times, what, why)


def _check_clocks(jobs: "Jobs") -> None:
    """Refuse departures on another clock than arrivals, and a clock that changes its unit."""
    done = jobs.finished
    if int(done.sum()) < ENOUGH:
        return
    came, left = (float(np.subtract(*np.quantile(x[done], (0.9, 0.1)))) for x in (jobs.arrive, jobs.end))
    if came > 0 and left > CLOCK * came:
        raise InputError(
            f"{jobs.source}: departures are spread over {left / came:.3g} times as long as arrivals; are they on "
            "different clocks (seconds and milliseconds), or is the queue overloaded many times over?"
        )
    gaps = np.diff(np.sort(jobs.arrive))
    early, late = (float(np.median(part)) for part in np.array_split(gaps, 2))
    if min(early, late) > 0 and max(early, late) > CLOCK * min(early, late):
        raise InputError(
            f"{jobs.source}: jobs arrive {early:.3g} apart in the first half and {late:.3g} apart in the second; does "
            "the clock change its unit, or are these two runs in one file?"
        )


def _check_runs(jobs: "Jobs") -> None:
    """Refuse two runs in one file: a job that left before a job listed above it came, in any sorted file impossible."""
    latest = np.maximum.accumulate(jobs.arrive)
    with np.errstate(invalid="ignore"):
        bad = jobs.end[1:] < latest[:-1]
    _refuse(
        jobs,
        np.concatenate([[False], bad]),
        jobs.end,
        "departure",
        "is before the arrival of a job listed above; are these two runs in one file, or unsorted rows?",
    )
    both = np.column_stack([jobs.arrive, jobs.end])[jobs.finished]
    order = np.lexsort((both[:, 1], both[:, 0]))
    same = np.all(np.diff(both[order], axis=0) == 0, axis=1) & (np.diff(both[order], axis=1)[1:, 0] > 0)
    if same.any():
        time = both[order][1:][same][0]
        raise InputError(
            f"{jobs.source}: a job with arrival {time[0]:.9g} and departure {time[1]:.9g} stands twice; "
            "remove doubled rows, or write times with more digits if they are rounded"
        )


def _refuse(jobs: "Jobs", bad: np.ndarray, values: Floats, what: str, why: str) -> None:
    if bad.any():
        i = int(np.argmax(bad))
        more = f" ({int(bad.sum())} such rows)" if bad.sum() > 1 else ""
        raise InputError(f"{jobs.source} line {jobs.first_line + i}: {what} {values[i]:.9g} {why}{more}")
