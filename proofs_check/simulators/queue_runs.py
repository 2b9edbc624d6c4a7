"""Classic queues simulated job by job: draw arrivals and services, follow every job, write when it came and left.

Shares no formula with the exact code: of a model only its name, rates and laws are used.
"""

import functools
import heapq
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from aoi_tools.models.queues import Deterministic, Erlang, Mixture, law
from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats

Times = tuple[Floats, Floats]  # start of service and departure of every job, NaN where there is none
NEVER = float("nan")
BLOCKING = ("mm1k", "mm11")


def job_trace(name: str, values: Mapping[str, Any], *, jobs: int, seed: int) -> tuple[list[str], Floats]:
    """Return (column names, rows) of a job trace that begins with an empty system.

    Rows stand in order of arrival.  Jobs that find no room are left out; a replaced update has no departure.
    """
    if name not in RUNS:
        raise InputError(f"{name} cannot be simulated; these can: {', '.join(sorted(RUNS))}")
    between, within = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    arrive = np.cumsum(drawn(_arrivals(name, values), jobs, between))
    service = drawn(_service(name, values), jobs, within)
    start, end = RUNS[name](arrive, service, values)
    rows = np.column_stack([np.arange(jobs), arrive, start, end])
    return ["job", "t_arrive", "t_start", "t_end"], rows[np.isfinite(start)] if name in BLOCKING else rows


def _arrivals(name: str, values: Mapping[str, Any]) -> Any:
    if name == "gm1":
        return law(values["arrivals"])
    return Deterministic(1 / values["lam"]) if name == "dm1" else Erlang(values["lam"])


def _service(name: str, values: Mapping[str, Any]) -> Any:
    if name == "mg1":
        return law(values["service"])
    return Deterministic(1 / values["mu"]) if name == "md1" else Erlang(values["mu"])


@functools.singledispatch
def drawn(of: Any, size: int, rng: Generator) -> Floats:
    """Return ``size`` independent draws from a law of service or interarrival times."""
    raise InputError(f"{type(of).__name__} cannot be drawn from")


@drawn.register
def _(of: Erlang, size: int, rng: Generator) -> Floats:
    return (
        rng.gamma(of.phases, float(1 / of.rate), size) if of.phases > 1 else rng.exponential(1 / float(of.rate), size)
    )


@drawn.register
def _(of: Deterministic, size: int, rng: Generator) -> Floats:
    return np.full(size, float(of.time))


@drawn.register
def _(of: Mixture, size: int, rng: Generator) -> Floats:
    weights = np.array([float(weight) for weight, _ in of.parts])
    which = rng.choice(len(weights), size=size, p=weights / weights.sum())
    draws = np.stack([drawn(part, size, rng) for _, part in of.parts])
    return np.asarray(draws[which, np.arange(size)])


def first_come(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """One server, first come first served: Lindley's recursion, all at once.

    The wait is the work that came since the lowest point of (work brought) minus (time gone).
    """
    net = np.concatenate([[0.0], np.cumsum(service[:-1] - np.diff(arrive))])
    start = arrive + net - np.minimum.accumulate(net)
    return start, start + service


def several_servers(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """c servers, one line: a job starts when the first of them is free."""
    free = [0.0] * int(values["c"])
    start = np.empty(len(arrive))
    for i, (time, length) in enumerate(zip(arrive.tolist(), service.tolist(), strict=True)):
        start[i] = max(time, free[0])
        heapq.heapreplace(free, start[i] + length)
    return start, start + service


def limited_room(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """One server and k places in all: a job that finds them taken is lost."""
    places = int(values.get("k", 1))
    present: list[float] = []  # departures of the jobs in the system, in order
    start, end = np.full(len(arrive), NEVER), np.full(len(arrive), NEVER)
    for i, time in enumerate(arrive.tolist()):
        while present and present[0] <= time:
            present.pop(0)
        if len(present) < places:
            start[i] = max(time, present[-1] if present else time)
            end[i] = start[i] + service[i]
            present.append(float(end[i]))
    return start, end


def last_come(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """One server that takes the newest job when it is free, without preemption."""
    return _newest_first(arrive, service, keep=None)


def replacement(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """One server and one place to wait, which a new job takes from the job that waits there."""
    return _newest_first(arrive, service, keep=1)


def _newest_first(arrive: Floats, service: Floats, *, keep: int | None) -> Times:
    """Serve the newest waiting job; of those that wait only the ``keep`` newest stay."""
    start, end = np.full(len(arrive), NEVER), np.full(len(arrive), NEVER)
    waiting: list[int] = []
    free = 0.0
    for i, time in enumerate([*arrive.tolist(), np.inf]):
        while waiting and free <= time:
            job = waiting.pop()
            start[job] = max(free, arrive[job])
            end[job] = free = start[job] + service[job]
        if i == len(arrive):
            break
        waiting.append(i)
        if free <= time:
            waiting.pop()
            start[i], end[i] = time, time + service[i]
            free = time + service[i]
        elif keep is not None:
            del waiting[:-keep]
    return start, end


def preemptive(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """A new job takes the server at once; the job there is discarded."""
    end = arrive + service
    end[:-1][end[:-1] > arrive[1:]] = NEVER
    return arrive.copy(), end


def sharing(arrive: Floats, service: Floats, values: Mapping[str, Any]) -> Times:
    """Processor sharing: each of n jobs is served at rate 1/n, so that all gain the same in a common virtual time."""
    end = np.full(len(arrive), NEVER)
    present: list[tuple[float, int]] = []  # (virtual time at which the job is done, job)
    now = virtual = 0.0
    for i, time in enumerate([*arrive.tolist(), np.inf]):
        while present:
            done = now + (present[0][0] - virtual) * len(present)
            if done > time:
                virtual += (time - now) / len(present)
                break
            virtual, job = heapq.heappop(present)
            end[job] = now = done
        now = time
        if i < len(arrive):
            heapq.heappush(present, (virtual + service[i], i))
    return arrive.copy(), end


RUNS: dict[str, Callable[[Floats, Floats, Mapping[str, Any]], Times]] = {
    **dict.fromkeys(("mm1", "md1", "dm1", "mg1", "gm1"), first_come),
    "mmc": several_servers,
    "mm1k": limited_room,
    "mm11": limited_room,
    "lcfs": last_come,
    "lcfs-preemptive": preemptive,
    "mm12-replacement": replacement,
    "mm1-ps": sharing,
}
