"""Update schemes for the validator: what data say about them, how long a run must be, which faults are known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators import age_suspects
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.planning import age_variance_constant
from proofs_check.simulators.slot_ages import OBSERVABLES, SlotAges
from proofs_check.simulators.statistics import VARIANCE, Statistic


class AgeData:
    """Slot ages of an update scheme."""

    unit = "slots"

    def __init__(self, problem: Any, path: Path) -> None:
        self.scheme = problem.scheme
        self.data = SlotAges(path)

    @property
    def quantities(self) -> tuple[str, ...]:
        return tuple(OBSERVABLES)

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        if quantity not in OBSERVABLES:
            raise InputError(f"{quantity} cannot be estimated from slot ages; these can: {', '.join(OBSERVABLES)}")
        return self.data.pieces(quantity, index)

    def notes(self) -> Iterator[str]:
        """Yield what the data say about themselves, beyond any estimate."""
        if self.data.least > 0:
            yield f"no age is below {self.data.least:.0f}; a slot age is 0 at a usable update"

    def variance_constant(self, quantity: str, index: int | None) -> float | None:
        return variance_constant(self.scheme, quantity, index)

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        return age_suspects.suspects(self.scheme, quantity, index)


def variance_constant(scheme: Any, quantity: str, index: int | None) -> float | None:
    """Return lim T Var(estimate of the quantity from T slots) of the exact model, where it is known."""
    observable, statistic = OBSERVABLES[quantity]
    if statistic is VARIANCE:
        mean = _mean(scheme)
        return None if mean is None else age_variance_constant(scheme, lambda j: j * j - 2 * mean * j)
    if quantity == "slot_second_moment":
        return age_variance_constant(scheme, np.square)
    return age_variance_constant(scheme, lambda j: observable(j, index or 0))


def _mean(scheme: Any) -> float | None:
    from aoi_tools.solvers.age import age_quantity

    found = age_quantity(scheme, "slot_mean", digits=15).enclosure
    return float((found.lower + found.upper) / 2)
