"""Reference simulators: follow packets and jobs one by one, seeded, and write the canonical shapes."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from aoi_tools.simulation import slot_ages
from exactchains.truth import InputError
from proofs_check.catalogue.model import Model
from proofs_check.simulators.knowledge import AgeKnowledge
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.verdict import DEFAULT_MARGIN, PLANNED, Margin

FEWEST, HOPELESS, MOST = 10_000, 100_000, 5_000_000  # rows of a run whose length is not given
ROOM = 1.25  # above the planned length


def simulate(model: Model, thing: Any, *, seed: int, length: int | None = None) -> tuple[list[str], Floats]:
    """Return (column names, rows) of a seeded run.

    Parameters
    ----------
    length
        Slots of an age model.  By default what :func:`validate` needs to agree on the mean at its default margin.
    """
    if not model.name.startswith("age."):
        raise InputError(f"{model.name} cannot be simulated yet; models age.* can")
    slots = length or planned(model, thing)
    ages = slot_ages(thing.scheme, slots=slots, seed=seed)
    return ["slot", "age"], np.column_stack([np.arange(slots), ages])


def planned(model: Model, thing: Any) -> int:
    """Return how many slots decide the mean slot age at the default margin; ``HOPELESS`` when no feasible run does."""
    mean = model.results(thing, ["slot_mean"], [0], 15)[0].enclosure
    constant = AgeKnowledge(thing.scheme).variance_constant("slot_mean", None)
    if constant is None or mean.lower <= 0:
        return FEWEST
    tolerance = float(Margin.read(DEFAULT_MARGIN).around(mean))
    needed = ROOM * constant * (PLANNED / tolerance) ** 2
    return HOPELESS if needed > MOST else max(FEWEST, math.ceil(needed))


def write(path: Path, header: list[str], rows: Floats) -> None:
    """Write rows as CSV; whole numbers without a decimal point, others so that they read back the same."""
    whole = [np.issubdtype(rows.dtype, np.integer) or bool(np.all(column == np.floor(column))) for column in rows.T]
    np.savetxt(
        path, rows, fmt=["%d" if w else "%.17g" for w in whole], delimiter=",", header=",".join(header), comments=""
    )
