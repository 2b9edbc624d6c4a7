"""What the data say against any verdict from them, however short its interval."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from proofs_check.simulators.job_checks import ROUNDING
from proofs_check.simulators.job_stream import JobStream
from proofs_check.simulators.jobs import MANY_LOST, Jobs
from proofs_check.simulators.knowledge import Knowledge
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.repeats import repeats
from proofs_check.simulators.replications import Replications
from proofs_check.simulators.slot_ages import SlotAges
from proofs_check.simulators.values import Values

LEAP = 0.01  # share of the changes of a level that may be larger than one: events at one rounded time
ONE_SERVER = ("mm1", "md1", "dm1", "mg1", "gm1", "mm1k", "mm11", "mm12-replacement", "lcfs")
IN_ORDER = ("mm1", "md1", "dm1", "mg1", "gm1", "mm1k", "mm11")
COUNTED = ("mean_wait", "mean_response")
UNLIKELY = 1e-9  # that the model gives any such value in a run of FARTHEST values
FARTHEST = 1e9
TWICE = 2  # values from here on, in the farthest that the model gives, are none of a model that is slightly wrong
USUAL = 4  # halvings below: most values are so small, unless all are in another unit of time
FEW = 0.1  # strange values for one usual one; more are no exceptions


def doubts(read: Any, known: Knowledge, quantity: str) -> Iterator[str]:
    """Yield why no verdict on a quantity follows from data that were read, the weightiest first."""
    run = read.runs[0] if isinstance(read, Replications) else read
    if isinstance(run, Jobs):
        yield from _of_jobs(run, known, quantity)
    elif isinstance(run, JobStream) and run.lost > MANY_LOST and quantity in COUNTED and not known.observed.loses:
        yield _lost(run.lost)
    elif isinstance(run, Levels) and run.leaps > LEAP * run.changes:
        yield (
            f"{run.leaps} of {run.changes} changes of the level are by more than one, where jobs come and leave one by "
            "one: events are left out (is it written at arrivals only?); write it at every event"
        )
    elif isinstance(run, SlotAges) and run.uneven:
        yield (
            f"{run.missing} slots are left out, unevenly: the ages of the others are no fair sample if it depends on "
            "the age which; write every slot"
        )
    elif isinstance(run, Values):
        yield from _of_values(run, known.farthest(quantity))
    if isinstance(read, Jobs | JobStream | Levels | SlotAges | Values) and _repeated(read):
        yield "the same stretch of the run stands there more than once: copies are no longer run; give it once"


def _repeated(read: Any) -> bool:
    if not isinstance(read, Jobs):
        return bool(read.repeats.found())
    stays = (read.end - read.arrive)[read.finished]
    return repeats(stays)


def overlaps(read: Any, model: str) -> int:
    """Return how many jobs of a model with one server begin service before the one before has left."""
    if not isinstance(read, Jobs) or read.start is None or model not in ONE_SERVER:
        return 0
    known = np.isfinite(read.start) & np.isfinite(read.end)
    start, end = read.start[known], read.end[known]
    order = np.lexsort((end, start))
    return int((start[order][1:] < end[order][:-1] - _slack(end)).sum())


def causality_notes(read: Any, model: str) -> Iterator[str]:
    """Yield what a job trace shows that one server, first come first served, cannot do."""
    if not isinstance(read, Jobs):
        return
    if (both := overlaps(read, model)) > MANY_LOST:
        yield (
            f"{both} jobs begin service before the job before them has left, where {model} has one server: more "
            "servers, sharing, or wrong times of start"
        )
    elif model in IN_ORDER:
        end = read.end[np.lexsort((read.end, read.arrive))]
        end = end[np.isfinite(end)]
        if (early := int((end < np.maximum.accumulate(end) - _slack(end)).sum())) > MANY_LOST:
            yield f"{early} jobs leave before others that came earlier: not first come first served, as {model} is"


def _slack(end: np.ndarray) -> float:
    return ROUNDING * max(1.0, float(end.max(initial=0.0)))


def _of_jobs(run: Jobs, known: Knowledge, quantity: str) -> Iterator[str]:
    if any(remark.startswith("Little's law") for remark in run.remarks):
        yield "by Little's law rows are missing, or times and counts are of different systems; see the note"
    if quantity in COUNTED and not known.observed.loses and run.early > MANY_LOST:
        yield _lost(run.early)


def _lost(count: int) -> str:
    return (
        f"{count} jobs in the middle of the run have no departure, where every job leaves: the others are no fair "
        "sample, as long stays are lost more often; write all departures"
    )


def _of_values(run: Values, farthest: float) -> Iterator[str]:
    if not math.isfinite(farthest):
        return
    edge = math.ceil(math.log2(TWICE * farthest))
    low = 2.0**edge
    strange = sum(count for octave, count in run.octaves.items() if octave > edge)
    usual = sum(count for octave, count in run.octaves.items() if octave <= edge - USUAL)
    if 0 < strange < FEW * usual:
        yield (
            f"{strange} of {run.count} values are {low:.4g} or more, which the model gives with a chance below "
            f"{UNLIKELY:g}: marks of missing values, or another unit of time?"
        )
