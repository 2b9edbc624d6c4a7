"""Regeneration cycles: where a run starts afresh, and what each cycle adds to a quantity."""

from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.slot_ages import SlotAges
from proofs_check.simulators.statistics import MEAN, Statistic


def cycles(read: Any, seen: Observed, quantity: str, index: int | None) -> tuple[Floats, Statistic]:
    """Return one row (weight, first, second) a whole cycle, and the statistic that estimates the quantity.

    A queue with independent interarrival times starts afresh when a job finds it empty, an update scheme with one mode
    at every usable update.  What comes before the first start and after the last is left out.

    Raises
    ------
    InputError
        The data do not show where the run starts afresh.
    """
    if isinstance(read, Jobs) and quantity in ("mean_wait", "mean_response", "mean_queue", "tail"):
        per_job = quantity in ("mean_wait", "mean_response")
        return (_of_jobs(read, quantity) if per_job else _of_time(read, quantity, index or 0)), MEAN
    if isinstance(read, Levels) and read.is_path and not read.waiting and quantity in read.quantities:
        parts = list(read.blocks())
        duration, level = (np.concatenate(part) for part in zip(*parts, strict=True))
        read.pieces(quantity, index)  # leaves the means that the notes compare
        value = (level >= (index or 0)).astype(float) if quantity == "tail" else level / read.seen.servers
        return grouped(duration, value, _empty_before(level)), MEAN
    if isinstance(read, SlotAges) and seen.renews and quantity in read.quantities:
        return _of_ages(read, quantity, index)
    raise InputError(
        f"--interval regenerative: {read.path}: these data do not show where the run starts afresh for {quantity}; "
        "a job trace or level path of a queue does for waits, responses and queue lengths, slot ages of a scheme with "
        "one mode do; use batch, overlapping or spectral"
    )


def grouped(weight: Floats, value: Floats, begins: np.ndarray) -> Floats:
    """Return the sums of (weight, weight value, weight value^2) from each beginning to the next."""
    starts = np.flatnonzero(begins)
    if len(starts) < 2:
        return np.empty((0, 3))
    rows = np.column_stack([weight, weight * value, weight * value * value])[: starts[-1]]
    return np.add.reduceat(rows, starts[:-1], axis=0)


def _of_jobs(jobs: Jobs, quantity: str) -> Floats:
    order = np.argsort(jobs.arrive, kind="stable")
    arrive, end = jobs.arrive[order], np.where(jobs.finished, jobs.end, np.inf)[order]
    begins = np.concatenate([[True], arrive[1:] >= np.maximum.accumulate(end)[:-1]])
    if quantity == "mean_wait" and jobs.start is None:
        raise InputError(f"{jobs.source}: mean_wait needs a column t_start")
    until = end if quantity == "mean_response" else np.maximum(jobs.start[order], arrive)  # type: ignore[index]
    whole = np.flatnonzero(begins)[-1]  # the cycles before hold finished jobs only
    return grouped(np.ones(whole + 1), np.append((until - arrive)[:whole], 0.0), begins[: whole + 1])


def _of_time(jobs: Jobs, quantity: str, least: int) -> Floats:
    durations, level = jobs.levels()
    value = level
    if quantity == "tail":
        value = jobs.busy_servers(least)[1] if least else np.full(len(level), float(jobs.servers))
    return grouped(durations, value / jobs.servers, _empty_before(level))


def _of_ages(ages: SlotAges, quantity: str, index: int | None) -> tuple[Floats, Statistic]:
    if quantity in ages.gaps:
        pieces, statistic = ages.pieces(quantity, index)
        return pieces.array(), statistic  # every gap is a cycle
    ages.pieces(quantity, index)  # checks the file from its beginning
    skipped, age = ages.skipped, np.concatenate(list(ages.rewound()))
    if skipped:
        raise InputError(f"{ages.path}: slots are left out; cycles need the age of every slot")
    observable, statistic = ages.observables[quantity]
    return grouped(np.ones(len(age)), observable(age, index or 0), age == 0), statistic


def _empty_before(level: Floats) -> np.ndarray:
    return (level > 0) & (np.concatenate([[0.0], level[:-1]]) == 0)
