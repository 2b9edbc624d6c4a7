"""Reference simulators: follow packets and jobs one by one, seeded, and write the canonical shapes."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aoi_tools.simulation import slot_ages
from exactchains.enclosure import Result
from exactchains.truth import InputError
from proofs_check.catalogue.model import Model
from proofs_check.simulators import presets
from proofs_check.simulators.knowledge import Knowledge, knowledge
from proofs_check.simulators.memory import table_of
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.server_runs import server_trace
from proofs_check.simulators.statistics import LONG, estimate
from proofs_check.simulators.verdict import DEFAULT_MARGIN, PLANNED, Margin, upper_variance

FEWEST, HOPELESS, MOST = 10_000, 100_000, 5_000_000  # rows of a run whose length is not given
PILOTS = (50_000, 500_000)  # rows of a run that finds a variance; the second when the first is not worth LONG
ROOM = 1.25  # above the planned length
RAREST = 1e-100  # no feasible run sees a mean within less
Run = tuple[list[str], Floats]


def simulate(model: Model, values: Mapping[str, Any], *, seed: int, length: int | None = None) -> Run:
    """Return (column names, rows) of a seeded run.

    Parameters
    ----------
    values
        The model's parameters, read.
    length
        Slots of an age model, jobs of a queue.  By default what :func:`validate` needs to agree at its default margin.
    """
    thing = model.build(values)
    size = length or planned(model, values, thing)
    if hasattr(thing, "scheme"):
        ages = slot_ages(thing.scheme, slots=size, seed=seed)
        return ["slot", "age"], np.column_stack([np.arange(size), ages])
    if hasattr(thing, "policy"):
        if thing.n is None:
            raise InputError(f"{model.name}: the limit of many servers has no jobs to simulate; give n")
        return server_trace(thing.policy, thing.n, jobs=size, seed=seed, buffer=thing.buffer)
    return job_trace(model.name, values, jobs=size, seed=seed)


def planned(model: Model, values: Mapping[str, Any], thing: Any) -> int:
    """Return how many slots or jobs decide the model's means at the default margin; ``HOPELESS`` if no feasible run."""
    known = knowledge(model, values, thing)
    names = [q.name for q in model.quantities if q.name in ("slot_mean", "mean_queue", "mean_wait")]
    lengths = [_length(model, thing, known, name) for name in names]
    found = [length for length in lengths if length is not None]
    if not found:
        return HOPELESS
    return HOPELESS if max(found) > MOST else max(FEWEST, math.ceil(max(found)))


def reference_variance(
    model: Model, values: Mapping[str, Any], thing: Any, known: Knowledge, result: Result, unit: str
) -> float | None:
    """Return lim T Var(estimate over weight T in ``unit``) from a reference run, at its upper end.

    None: the model is not simulated, weighs its runs otherwise, or its memory is too long for the pilot run.
    """
    for size in PILOTS:
        try:
            header, rows = simulate(model, values, seed=0, length=size)
            read = presets.shaped(table_of(dict(zip(header, rows.T, strict=True))), known.observed, None)
            if read.unit(result.quantity) != unit:
                return None
            pieces, statistic = read.pieces(result.quantity, result.index)
        except InputError:
            return None
        found = estimate(pieces.array(), statistic)
        if found.effective >= LONG and not found.constant:
            return upper_variance(found)
    return None


def _length(model: Model, thing: Any, known: Knowledge, quantity: str) -> float | None:
    """Return the number of slots or jobs after which one mean is decided, where the model's variance is known."""
    constant = known.variance_constant(quantity, None, "Levels")
    if constant is None:
        return None
    mean = model.results(thing, [quantity], [0], known.digits)[0].enclosure
    if mean.lower <= 0:
        return None
    tolerance = float(Margin.read(DEFAULT_MARGIN).around(mean))
    if tolerance < RAREST:
        return math.inf
    return ROOM * constant * (PLANNED / tolerance) ** 2 * (known.observed.rate or 1.0)


def write(path: Path, header: list[str], rows: Floats) -> None:
    """Write rows as CSV; whole numbers without a decimal point, others so that they read back the same."""
    whole = [np.issubdtype(rows.dtype, np.integer) or bool(np.all(column == np.floor(column))) for column in rows.T]
    np.savetxt(
        path, rows, fmt=["%d" if w else "%.17g" for w in whole], delimiter=",", header=",".join(header), comments=""
    )
