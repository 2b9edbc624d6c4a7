"""Rates in a job trace against those of the model: mean times given as rates, totals given per server."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from proofs_check.simulators.jobs import Jobs

FAR, STRANGE = 0.1, 5.0  # relative difference and standard errors from which a rate is worth a note
LIKE = 0.05  # a rate within this of another known one is taken for it


def rate_notes(jobs: Jobs, arrival: Mapping[str, float], service: Mapping[str, float]) -> Iterator[str]:
    """Yield a note for a rate in the data that is not the model's.

    Parameters
    ----------
    arrival, service
        Words to rates, the model's own first; the others are those that a known mix-up would give.
    """
    found = []
    span = float(jobs.arrive.max() - jobs.arrive.min())
    if arrival and span > 0:
        found.append(("jobs arrive at", (jobs.count - 1) / span, jobs.count, arrival))
    if service and jobs.start is not None:
        times = (jobs.end - jobs.start)[np.isfinite(jobs.end) & np.isfinite(jobs.start)]
        if len(times) and times.mean() > 0:
            found.append(("jobs are served at", 1 / float(times.mean()), len(times), service))
    notes = [note for rate in found for note in _note(*rate)]
    factors = [rate / next(iter(known.values())) for _, rate, _, known in found]
    if len(notes) == 2 and abs(factors[0] / factors[1] - 1) <= LIKE:
        slower = min(factors) < 1
        times_as = 1 / factors[0] if slower else factors[0]
        yield (
            f"jobs arrive and are served {times_as:.4g} times as {'slowly' if slower else 'fast'} as in the model: "
            "is time counted in another unit?"
        )
        return
    yield from notes


def _note(what: str, found: float, count: int, known: Mapping[str, float]) -> Iterator[str]:
    (name, right), *others = known.items()
    off = abs(found / right - 1)
    if off <= FAR or off * math.sqrt(count) <= STRANGE:
        return
    like = next((word for word, rate in others if abs(found / rate - 1) <= LIKE), None)
    yield f"{what} rate {found:.4g} in the data, where the model has {name} = {right:.4g}" + (
        f"; the data have {like} = {known[like]:.4g}" if like else ""
    )
