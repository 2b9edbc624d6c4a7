"""Known wrong readings of a classic queue: what each would report instead."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.simulators.birth_death import birth_death
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.service import SERVICES, service_moments, tilted_mean

DIGITS = 12
Value = Callable[[], Enclosure]
FIRST_COME = ("mm1", "md1", "dm1", "mg1", "gm1")


def suspects(model: Model, values: Mapping[str, Any], quantity: str, index: int | None) -> Iterator[Suspect]:
    """Yield what known wrong quantities, estimators and models would give."""
    words = spelled(values)
    for fault, make in (
        *_quantities(model, words, quantity, index),
        *_estimators(model, values, quantity, index),
        *_ages(model, words, quantity),
        *_models(model, words, quantity, index),
    ):
        try:
            yield Suspect(fault, make())
        except (DoesNotExist, InputError, Undecided, ZeroDivisionError):
            continue  # this fault has no stationary value here


def exact(name: str, words: Mapping[str, str], quantity: str, index: int | None = None) -> Enclosure:
    """Return a quantity of a model of the catalogue."""
    model = find(name)
    model.quantity(quantity)
    return model.results(model.make(words), [quantity], [index or 0], DIGITS)[0].enclosure


def _quantities(model: Model, words: dict[str, str], quantity: str, index: int | None) -> Iterator[tuple[str, Value]]:
    def value(name: str, i: int | None = None) -> Enclosure:
        return exact(model.name, words, name, i)

    if quantity == "mean_response":
        yield "waiting time only: the time in service is left out", lambda: value("mean_wait")
        yield "number in the system instead of time in the system", lambda: value("mean_queue")
    if quantity == "mean_wait":
        yield "time in the system: the time in service is counted too", lambda: value("mean_response")
        yield "number in the system instead of waiting time", lambda: value("mean_queue")
    if quantity == "mean_queue":
        yield (
            "waiting jobs only: those in service are left out",
            lambda: ratio(value("mean_queue"), value("mean_wait"), value("mean_response")),
        )
        yield "time in the system instead of number", lambda: value("mean_response")
        if model.name in ("dm1", "gm1"):
            mu = find(model.name).read(words)["mu"]
            yield "number found by arrivals instead of its time average", lambda: scaled(value("mean_wait"), mu)
        if "c" in words:
            yield "per server instead of in total", lambda: scaled(value("mean_queue"), fmpq(1, int(words["c"])))
    if quantity == "tail" and index is not None:
        yield "strictly more than k jobs instead of at least k", lambda: value("tail", index + 1)
        yield "exactly k jobs instead of at least k", lambda: minus(value("tail", index), value("tail", index + 1))


def _estimators(
    model: Model, values: Mapping[str, Any], quantity: str, index: int | None
) -> Iterator[tuple[str, Value]]:
    chain = birth_death(model.name, values)
    if chain is None:
        return
    if quantity == "mean_queue":
        yield (
            "event-weighted: the mean over recorded levels, each counted once however long it held",
            lambda: Enclosure.of(chain.event_mean()),
        )
    if quantity == "mean_wait" and model.name in ("mm1", "mmc"):
        words = spelled(values)
        yield (
            "mean over jobs that had to wait, not over all jobs",
            lambda: ratio(
                Enclosure.exact(1),
                exact(model.name, words, "mean_wait"),
                exact(model.name, words, "tail", chain.servers),
            ),
        )


def _ages(model: Model, words: dict[str, str], quantity: str) -> Iterator[tuple[str, Value]]:
    def value(name: str) -> Enclosure:
        return exact(model.name, words, name)

    if quantity == "age_mean":
        yield "peak age (just before a delivery) instead of age", lambda: value("peak_mean")
        yield (
            "one time unit too much: sampled at whole times and read at the end of the step",
            lambda: plus(value("age_mean"), Enclosure.exact(1)),
        )
        if model.name in FIRST_COME:
            yield (
                "system time (age just after a delivery) instead of age",
                lambda: value("mean_response"),
            )
        if model.name in FIRST_COME and "lam" in words:
            half = fmpq(1, 2) / find(model.name).parameter("lam").read(words["lam"])
            yield (
                "event-weighted: the mean of the mid-points between deliveries, each counted once",
                lambda: plus(value("mean_response"), Enclosure.exact(half)),
            )
        if model.name in SERVICES:
            lam, service = find(model.name).read(words)["lam"], SERVICES[model.name](find(model.name).read(words))
            yield "age counted from the start of service instead of generation", lambda: from_service(lam, service)
            yield "age set to 0 at a delivery instead of the update's own age", lambda: from_delivery(lam, service)
    if quantity in ("age_variance", "peak_variance"):
        mean, other = ("age_mean", "peak") if quantity == "age_variance" else ("peak_mean", "age")
        yield "second moment instead of variance", lambda: plus(value(quantity), square(value(mean)))
        yield "standard deviation instead of variance", lambda: root(value(quantity))
        yield (
            "variance of the peak age instead of the age"
            if other == "peak"
            else "variance of the age instead of the peak age",
            lambda: value(f"{other}_variance"),
        )
    if quantity == "peak_mean":
        yield "mean age instead of peak age", lambda: value("age_mean")
        if model.name in FIRST_COME:
            yield "system time (age just after a delivery) instead of peak age", lambda: value("mean_response")


def _models(model: Model, words: dict[str, str], quantity: str, index: int | None) -> Iterator[tuple[str, Value]]:
    def other(name: str, changed: dict[str, str]) -> Value:
        return lambda: exact(name, changed, quantity, index)

    if set(words) >= {"lam", "mu"}:
        read = find("mm1").parameter("lam").read
        lam, mu = read(words["lam"]), read(words["mu"])
        if lam > 0 and mu > 0:
            yield (
                "lam and mu taken as mean times instead of rates",
                other(model.name, words | {"lam": str(1 / lam), "mu": str(1 / mu)}),
            )
            yield (
                "mu taken as the mean service time, not the rate",
                other(model.name, words | {"mu": str(1 / mu)}),
            )
        if model.name == "mmc":
            c = int(words["c"])
            single = {"lam": str(lam / c), "mu": str(mu)}
            yield "jobs split at random over c separate queues instead of one shared line", other("mm1", single)
            yield "one server of speed c instead of c servers", other("mm1", {"lam": str(lam), "mu": str(c * mu)})
        plain = {name: words[name] for name in ("lam", "mu")}
        for name, fault in DISCIPLINES.items():
            if name != model.name and model.name != "mmc":
                yield fault, other(name, plain)
    if model.name == "mm1k":
        for change, fault in ((1, "one place too many"), (-1, "one place too few (is the job in service counted?)")):
            yield fault, other("mm1k", words | {"k": str(int(words["k"]) + change)})


DISCIPLINES = {
    "mm1": "exponential service, first come first served, unlimited room",
    "md1": "constant service times",
    "dm1": "constant times between arrivals",
    "mm11": "arrivals that find the server busy are lost",
    "lcfs": "last come first served",
    "lcfs-preemptive": "a new update replaces the one in service",
    "mm12-replacement": "a new update replaces the waiting one",
}


def from_service(lam: fmpq, service: Any) -> Enclosure:
    r"""Return the mean age of M/G/1 counted from the start of service.

    lam E[S D + D^2 / 2], D the time from a departure to the next: E[S D] = (E S)^2 + E[S; left empty] / lam, and a job
    leaves an empty queue when nobody comes while it waits and is served:

    .. math:: E[S; empty] = E[S e^{-\lambda S}]\, E[e^{-\lambda W}] = (1 - \rho) E[S e^{-\lambda S}] / E[e^{-\lambda S}]
    """
    mean, tilted = service_moments(service)[0], Enclosure.of(tilted_mean(service, lam))
    left_empty = scaled(tilted, 1 - lam * mean)
    return plus(plus(from_delivery(lam, service), Enclosure.exact(lam * mean**2)), left_empty)


def from_delivery(lam: fmpq, service: Any) -> Enclosure:
    """Return the mean time since the last departure of M/G/1, lam E[D^2] / 2: D is S, and idle time if left empty."""
    mean, second, *_ = service_moments(service)
    idle = 1 - lam * mean
    if idle <= 0:
        raise DoesNotExist("no stationary age: the load is at least 1")
    return Enclosure.exact(lam * second / 2 + idle * mean + idle / lam)


def square(x: Enclosure) -> Enclosure:
    return Enclosure(x.lower**2, x.upper**2, x.rigor)


def root(x: Enclosure) -> Enclosure:
    return Enclosure.of(math.sqrt(float((x.lower + x.upper) / 2)))


def scaled(x: Enclosure, factor: fmpq) -> Enclosure:
    return Enclosure(x.lower * factor, x.upper * factor, x.rigor)


def plus(x: Enclosure, y: Enclosure) -> Enclosure:
    return Enclosure(x.lower + y.lower, x.upper + y.upper, min(x.rigor, y.rigor))


def minus(x: Enclosure, y: Enclosure) -> Enclosure:
    low, high = x.lower - y.upper, x.upper - y.lower
    return Enclosure(low, high, min(x.rigor, y.rigor))


def ratio(x: Enclosure, y: Enclosure, z: Enclosure) -> Enclosure:
    """Return x y / z for nonnegative numbers."""
    return Enclosure(x.lower * y.lower / z.upper, x.upper * y.upper / z.lower, min(x.rigor, y.rigor, z.rigor))
