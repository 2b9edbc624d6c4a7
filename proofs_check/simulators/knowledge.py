"""What the exact side knows beyond the value: how much a run varies, which wrong values are known, what to check."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from proofs_check.catalogue.model import Model
from proofs_check.simulators import age_suspects, balancing_suspects, classic_suspects
from proofs_check.simulators.birth_death import BirthDeath, birth_death
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.empty_start import Length, queue_suspects, server_suspects
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.planning import age_variance_constant
from proofs_check.simulators.rates import rate_notes
from proofs_check.simulators.slot_ages import OBSERVABLES
from proofs_check.simulators.statistics import VARIANCE


class Knowledge(Protocol):
    """What the validator asks about a model with its parameters."""

    observed: Observed
    digits: int  # of exact values: far beyond any sampling error

    def variance_constant(self, quantity: str, index: int | None, shape: str) -> float | None:
        """Return lim T Var(estimate from weight T) of the exact model for data of a shape, where it is known."""

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        """Yield known wrong values."""

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        """Yield what replications of a length that start empty would give, where it is known."""

    def notes(self, read: Any) -> Iterator[str]:
        """Yield what data of a shape have in common with the model or not, beyond any quantity."""


def knowledge(model: Model, values: Mapping[str, Any], thing: Any) -> Knowledge:
    """Return what is known about a model of the catalogue."""
    if model.name.startswith("age.") and hasattr(thing, "scheme"):
        return AgeKnowledge(thing.scheme, thing.sampling)
    if hasattr(thing, "policy"):
        return BalancingKnowledge(model, values, thing)
    return ClassicKnowledge(model, values)


IN_USES = {"age_mean": "slot_mean", "age_variance": "slot_variance"}  # ages in channel uses from those in slots


class AgeKnowledge:
    """An update scheme, observed slot by slot."""

    digits = 15

    def __init__(self, scheme: Any, sampling: Any = None) -> None:
        self.scheme, self.sampling = scheme, sampling
        self.observed = Observed(slots=True, renews=len(scheme.modes) == 1, sampling=sampling)

    def variance_constant(self, quantity: str, index: int | None, shape: str = "slots") -> float | None:
        if quantity in IN_USES and self.sampling is not None:
            slots = self.variance_constant(IN_USES[quantity], index, shape)
            power = 4 if quantity == "age_variance" else 2
            return None if slots is None else slots * float(self.sampling.n) ** power
        if quantity not in OBSERVABLES:
            return None
        observable, statistic = OBSERVABLES[quantity]
        if statistic is VARIANCE:
            mean = self._mean()
            return age_variance_constant(self.scheme, lambda j: j * j - 2 * mean * j)
        if quantity == "slot_second_moment":
            return age_variance_constant(self.scheme, np.square)
        return age_variance_constant(self.scheme, lambda j: observable(j, index or 0))

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        if quantity not in IN_USES or self.sampling is None:
            yield from age_suspects.suspects(self.scheme, quantity, index)
            return
        yield from age_suspects.in_uses(self.scheme, self.sampling, quantity)

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        yield from ()

    def notes(self, read: Any) -> Iterator[str]:
        yield from ()

    def _mean(self) -> float:
        from aoi_tools.solvers.age import age_quantity

        found = age_quantity(self.scheme, "slot_mean", digits=15).enclosure
        return float((found.lower + found.upper) / 2)


class ClassicKnowledge:
    """A classic queue; its number in the system is a birth-death process where service is exponential."""

    digits = 15

    def __init__(self, model: Model, values: Mapping[str, Any]) -> None:
        self.model, self.values = model, values
        self.observed = Observed(rate=float(values["lam"]) if "lam" in values else None)

    def variance_constant(self, quantity: str, index: int | None, shape: str) -> float | None:
        chain = self.chain()
        if chain is None:
            return None
        if quantity == "mean_wait" and shape in ("Jobs", "JobStream", "Vectors"):  # weights are jobs, not time
            if self.model.name != "mm1":
                return None
            return _daley(float(self.values["lam"] / self.values["mu"])) / float(self.values["mu"]) ** 2
        if shape == "Values":
            return None
        value = _of_level(quantity, index, chain.servers, self.observed.rate)
        return None if value is None else chain.variance_constant(value)

    def chain(self) -> BirthDeath | None:
        """Return the number in the system as a birth-death process, where it is one."""
        return birth_death(self.model.name, self.values)

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        return classic_suspects.suspects(self.model, self.values, quantity, index)

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        chain = self.chain()
        if chain is not None:
            yield from queue_suspects(chain, self.model.name, float(self.values["mu"]), quantity, index, runs)

    def notes(self, read: Any) -> Iterator[str]:
        if not isinstance(read, Jobs) or self.model.name in ("mm1k", "mm11"):  # lost jobs are not in a trace
            return
        rates = {name: float(self.values[name]) for name in ("lam", "mu") if name in self.values}
        served = self.model.name not in ("mm1-ps", "lcfs-preemptive")  # the others work without a break
        lam, mu = ({name: r, f"1/{name}": 1 / r} if (r := rates.get(name)) else {} for name in ("lam", "mu"))
        yield from rate_notes(read, lam, mu if served else {})


class BalancingKnowledge:
    """A dispatching rule on n servers; without n the data of any number of servers are those of one."""

    digits = 5

    def __init__(self, model: Model, values: Mapping[str, Any], system: Any) -> None:
        self.model, self.values, self.system = model, values, system
        servers = system.n or 1
        self.observed = Observed(rate=servers * float(system.policy.load), servers=servers)

    def variance_constant(self, quantity: str, index: int | None, shape: str) -> float | None:
        return None  # the run's own estimate is used

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        return balancing_suspects.suspects(self.model, self.values, quantity, index)

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        if self.system.n is not None:
            yield from server_suspects(self.system.policy, self.system.n, self.system.buffer, quantity, index, runs)

    def notes(self, read: Any) -> Iterator[str]:
        if not isinstance(read, Jobs) or self.system.n is None or self.system.buffer is not None:
            return
        load = float(self.system.policy.load)
        yield from rate_notes(read, {"n lam": self.system.n * load, "lam (per server, not in total)": load}, {})


def _of_level(
    quantity: str, index: int | None, servers: int, rate: float | None
) -> Callable[[np.ndarray], np.ndarray] | None:
    if quantity == "mean_queue":
        return lambda n: n
    if quantity == "tail":
        return lambda n: (n >= (index or 0)).astype(float)
    if quantity == "mean_wait" and rate:
        return lambda n: np.maximum(n - servers, 0) / rate
    return None


def _daley(rho: float) -> float:
    """Return lim n Var(mean of n waits) of M/M/1 with mu = 1 (Daley 1968)."""
    return rho * (2 + 5 * rho - 4 * rho**2 + rho**3) / (1 - rho) ** 4
