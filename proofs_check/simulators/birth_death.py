"""Numbers in the system of queues with exponential service, in floats: run lengths and event-weighted means."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.planning import TAIL, birth_death_variance

MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class BirthDeath:
    """A birth-death process cut where less than ``TAIL`` probability is left."""

    law: Floats
    birth: Floats
    death: Floats
    servers: int

    def variance_constant(self, value: Callable[[Floats], Floats]) -> float:
        """Return lim T Var(time average of value(level) over time T)."""
        return birth_death_variance(self.law, self.birth, value(self._levels()))

    def job_variance(self, value: Callable[[Floats], Floats]) -> float:
        r"""Return lim n Var(mean over n jobs) of the time that each spends in ``value``, in any order of service.

        The times of n jobs add up to the integral of ``value`` over the time in which n jobs come, up to an error that
        does not grow (Little's law for paths); with ``gaps`` the times between arrivals are added.
        """
        f = value(self._levels())
        rate = float(self.law @ self.birth)
        return birth_death_variance(self.law, self.birth, f, -float(self.law @ f) / rate) / rate

    def _levels(self) -> Floats:
        return np.arange(len(self.law), dtype=float)

    def event_mean(self) -> float:
        """Return the mean level over events, each counted once whatever its duration."""
        visits = self.law * (self.birth + self.death)
        return float(np.arange(len(self.law)) @ visits / visits.sum())

    def mean(self) -> float:
        return float(np.arange(len(self.law)) @ self.law)


def birth_death(name: str, values: Mapping[str, Any]) -> BirthDeath | None:
    """Return the number in the system of a classic model; None where it is no birth-death process."""
    if name not in ("mm1", "mmc", "mm1k", "mm11", "mm1-ps", "lcfs"):
        return None
    lam, mu = float(values["lam"]), float(values["mu"])
    servers = int(values.get("c", 1))
    places = {"mm1k": int(values.get("k", 0)), "mm11": 1}.get(name)
    load = lam / (servers * mu)
    levels = places if places is not None else servers + int(math.log(TAIL) / math.log(load)) + 1
    if levels > MOST_LEVELS:
        return None
    birth = np.full(levels + 1, lam)
    birth[-1] = 0.0
    death = mu * np.minimum(np.arange(levels + 1), servers)
    logs = np.concatenate([[0.0], np.cumsum(np.log(birth[:-1] / death[1:]))])
    law = np.exp(logs - logs.max())
    return BirthDeath(law / law.sum(), birth, death, servers)
