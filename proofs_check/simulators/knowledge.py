"""What the exact side knows beyond the value: how much a run varies, which wrong values are known, what to check."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from proofs_check.catalogue.model import Model
from proofs_check.simulators import age_suspects, balancing_suspects, classic_suspects
from proofs_check.simulators.birth_death import BirthDeath, birth_death
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.empty_start import Length, queue_suspects, server_suspects
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.planning import age_variance_constant, poisson_jobs_variance
from proofs_check.simulators.rates import Known
from proofs_check.simulators.service import SERVICES, service_moments
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

    def farthest(self, quantity: str) -> float:
        """Return a value of one job that the model as good as never exceeds; inf where no bound is known."""

    def rates(self) -> tuple[Known, Known]:
        """Return the rates of arrivals and services that a job trace shows, and those that a known mix-up gives."""


def knowledge(model: Model, values: Mapping[str, Any], thing: Any) -> Knowledge:
    """Return what is known about a model of the catalogue."""
    if model.name.startswith("age.") and hasattr(thing, "scheme"):
        return AgeKnowledge(thing.scheme, thing.sampling)
    if hasattr(thing, "policy"):
        return BalancingKnowledge(model, values, thing)
    return ClassicKnowledge(model, values)


LOSING = ("mm1k", "mm11", "mm12-replacement", "lcfs-preemptive")
JOB_SHAPES = ("Jobs", "JobStream", "Vectors")
PER_JOB = ("mean_wait", "mean_response", "peak_mean")
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

    def farthest(self, quantity: str) -> float:
        return math.inf

    def rates(self) -> tuple[Known, Known]:
        return {}, {}

    def _mean(self) -> float:
        from aoi_tools.solvers.age import age_quantity

        found = age_quantity(self.scheme, "slot_mean", digits=15).enclosure
        return float((found.lower + found.upper) / 2)


class ClassicKnowledge:
    """A classic queue; its number in the system is a birth-death process where service is exponential."""

    digits = 15

    def __init__(self, model: Model, values: Mapping[str, Any]) -> None:
        self.model, self.values = model, values
        self.observed = Observed(float(values["lam"]) if "lam" in values else None, loses=model.name in LOSING)

    def variance_constant(self, quantity: str, index: int | None, shape: str) -> float | None:
        if shape == "Values":
            return None
        per_job = shape in JOB_SHAPES and quantity in PER_JOB  # the weight of such data is jobs, not time
        service = SERVICES.get(self.model.name)
        if service is not None and quantity != "tail":
            return self._of_service(service(self.values), quantity, per_job)
        chain = self.chain()
        if chain is None:
            return None
        if quantity == "mean_wait" and per_job:
            return chain.job_variance(lambda n: np.maximum(n - chain.servers, 0))
        if quantity == "mean_response" and per_job:
            return chain.job_variance(lambda n: n)
        value = _of_level(quantity, index, chain.servers, self.observed.rate)
        return None if value is None else chain.variance_constant(value)

    def _of_service(self, service: Any, quantity: str, per_job: bool) -> float | None:
        """Return the constant for Poisson arrivals and a law of service, first come first served."""
        lam, times = float(self.values["lam"]), [float(x) for x in service_moments(service)]
        wait = lam * times[1] / (2 * (1 - lam * times[0]))
        counted = {"mean_wait": wait, "mean_response": wait + times[0], "peak_mean": wait + times[0] + 1 / lam}
        if per_job:
            return poisson_jobs_variance(lam, times, served=quantity != "mean_wait", counted=counted[quantity])
        if quantity == "mean_queue":
            return lam * poisson_jobs_variance(lam, times, served=True, counted=0.0)
        return poisson_jobs_variance(lam, times, served=False, counted=0.0) / lam if quantity == "mean_wait" else None

    def chain(self) -> BirthDeath | None:
        """Return the number in the system as a birth-death process, where it is one."""
        return birth_death(self.model.name, self.values)

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        return classic_suspects.suspects(self.model, self.values, quantity, index)

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        chain = self.chain()
        if chain is not None:
            yield from queue_suspects(chain, self.model.name, float(self.values["mu"]), quantity, index, runs)

    def farthest(self, quantity: str) -> float:
        """Return 51/r, where the tails are below (1 + r x)^2 exp(-r x) (Kingman): less than 1e-18."""
        if self.model.name not in ("mm1", "md1", "dm1", "mmc") or quantity not in PER_JOB:
            return math.inf
        lam, mu = float(self.values["lam"]), float(self.values["mu"])
        rates = [float(self.values.get("c", 1)) * mu - lam, mu, lam][: 1 + PER_JOB.index(quantity)]
        return 51 / min(rates)

    def rates(self) -> tuple[Known, Known]:
        if self.model.name in ("mm1k", "mm11"):  # lost jobs are not in a trace
            return {}, {}
        rates = {name: float(self.values[name]) for name in ("lam", "mu") if name in self.values}
        served = self.model.name not in ("mm1-ps", "lcfs-preemptive")  # the others work without a break
        lam, mu = ({name: r, f"1/{name}": 1 / r} if (r := rates.get(name)) else {} for name in ("lam", "mu"))
        return lam, mu if served else {}


class BalancingKnowledge:
    """A dispatching rule on n servers; without n the data of any number of servers are those of one."""

    digits = 5

    def __init__(self, model: Model, values: Mapping[str, Any], system: Any) -> None:
        self.model, self.values, self.system = model, values, system
        servers = system.n or 1
        self.observed = Observed(servers * float(system.policy.load), servers, loses=system.buffer is not None)

    def variance_constant(self, quantity: str, index: int | None, shape: str) -> float | None:
        return 0.0 if quantity == "tail" and index == 0 else None  # else the run's own estimate is used

    def suspects(self, quantity: str, index: int | None) -> Iterator[Suspect]:
        return balancing_suspects.suspects(self.model, self.values, quantity, index)

    def empty_start(self, quantity: str, index: int | None, runs: Length) -> Iterator[Suspect]:
        if self.system.n is not None:
            yield from server_suspects(self.system.policy, self.system.n, self.system.buffer, quantity, index, runs)

    def farthest(self, quantity: str) -> float:
        return math.inf

    def rates(self) -> tuple[Known, Known]:
        if self.system.n is None or self.system.buffer is not None:
            return {}, {}
        load = float(self.system.policy.load)
        return {"n lam": self.system.n * load, "lam (per server, not in total)": load}, {}


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
