"""Known wrong readings and rules of load balancing: what each would report instead."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.number import rational
from exactchains.truth import DoesNotExist, InputError, Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Law, Loads, Policy, Server, evenly, load_of
from meanfield.models.pools import EQUAL
from meanfield.models.shortest import SpeedAwareJSQ
from meanfield.solvers.quantities import balancing_quantity
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.simulators.diagnosis import Suspect

DIGITS = 4
Value = Callable[[], Enclosure]
SPEED_AWARE = {"jsq": "sa-jsq", "sa-jsq": "jsq", "jiq": "sa-jiq", "sa-jiq": "jiq"}


@dataclass(frozen=True)
class RandomError(Policy):
    """Power of d whose errors go to a random one of the sampled servers instead of the longest."""

    load: Any
    d: int | None = None
    g: int | None = None
    eps: Any = 0
    replacement: bool = False
    pools: Any = EQUAL
    homogeneous: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "load", load_of(self.load))
        object.__setattr__(self, "eps", rational(self.eps, "eps"))

    @property
    def monotone(self) -> bool:
        """A mixture of two monotone rules, when errors do not depend on the gap."""
        return self.g is None

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        jobs = [s.jobs for s in sample]
        least, eps = min(jobs), self.eps if self.g is None or max(jobs) - min(jobs) <= self.g else fmpq(0)
        share = {i: eps / len(sample) for i in range(len(sample))}
        for i, chance in evenly(i for i, q in enumerate(jobs) if q == least).items():
            share[i] += (1 - eps) * chance
        return share


class SlowTies(SpeedAwareJSQ):
    """Join a server with the fewest jobs; ties to the slowest pool: a fixed preference, so that it is monotone too."""

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        best = min((s.jobs, -s.pool) for s in sample)
        return evenly(i for i, s in enumerate(sample) if (s.jobs, -s.pool) == best)

    def law(self, loads: Loads) -> Law:
        jobs, pool = min((queue[0], -j) for j, queue in enumerate(loads))
        return {(-pool, jobs): fmpq(1)}


def suspects(model: Model, values: Mapping[str, Any], quantity: str, index: int | None) -> Iterator[Suspect]:
    """Yield what known wrong quantities, conventions and rules would give."""
    words = spelled(values)
    for fault, make in (*_readings(model, words, quantity, index), *_rules(model, words, values, quantity, index)):
        try:
            yield Suspect(fault, make())
        except (DoesNotExist, InputError, Undecided):
            continue  # this fault has no stationary value here


def exact(name: str, words: Mapping[str, str], quantity: str, index: int | None = None) -> Enclosure:
    """Return a quantity of a model of the catalogue to a few digits."""
    model = find(name)
    return model.results(model.make(words), [quantity], [index or 0], DIGITS)[0].enclosure


def _readings(model: Model, words: dict[str, str], quantity: str, index: int | None) -> Iterator[tuple[str, Value]]:
    def value(name: str, i: int | None = None) -> Enclosure:
        return exact(model.name, words, name, i)

    if quantity == "mean_queue":
        if "n" in words:
            yield (
                "total over all servers instead of jobs per server",
                lambda: _scaled(value("mean_queue"), int(words["n"])),
            )
            yield (
                "divided by the number of servers twice",
                lambda: _scaled(value("mean_queue"), fmpq(1, int(words["n"]))),
            )
        yield "waiting jobs only: those in service are left out", lambda: _minus(value("mean_queue"), value("tail", 1))
        yield "response time instead of queue length", lambda: value("mean_response")
    if quantity == "mean_response":
        yield "queue length per server instead of response time", lambda: value("mean_queue")
        yield (
            "waiting time: the time in service is left out",
            lambda: _scaled(_minus(value("mean_queue"), value("tail", 1)), 1 / find(model.name).read(words)["lam"]),
        )
    if quantity == "tail" and index is not None and "n" in words:
        yield "number of servers instead of their fraction", lambda: _scaled(value("tail", index), int(words["n"]))
    if quantity == "tail" and index is not None:
        yield "strictly more than k jobs instead of at least k", lambda: value("tail", index + 1)
        yield "exactly k jobs instead of at least k", lambda: _minus(value("tail", index), value("tail", index + 1))


def _rules(
    model: Model, words: dict[str, str], values: Mapping[str, Any], quantity: str, index: int | None
) -> Iterator[tuple[str, Value]]:
    def other(name: str, **changed: str) -> Value:
        return lambda: exact(name, words | changed, quantity, index)

    if model.name == "jsq" and words["counts"] == "jobs":
        yield "the rule compares waiting jobs only and ignores those in service", other("jsq", counts="waiting")
    if model.name in SPEED_AWARE:
        aware = SPEED_AWARE[model.name].startswith("sa-")
        ties = "ties go to the fastest pool, not at random" if aware else "ties at random, not to the fastest pool"
        kept = {name: x for name, x in words.items() if name != "counts"}
        yield ties, lambda: exact(SPEED_AWARE[model.name], kept, quantity, index)
    if model.name in ("jsq", "sa-jsq") and "n" in words and words.get("pools", "").count(","):
        yield "ties go to the slowest pool", lambda: _slow_ties(values, quantity, index)
    if "fallback" in words:
        fallback = "speed" if words["fallback"] == "uniform" else "uniform"
        yield f"when no server is idle the job goes by fallback={fallback}", other(model.name, fallback=fallback)
    if "ties" in words:
        ties = "random" if words["ties"] == "fastest" else "fastest"
        yield f"ties={ties}", other(model.name, ties=ties)
    if "replacement" in words:
        replacement = "no" if words["replacement"] == "yes" else "yes"
        yield f"servers are sampled with replacement={replacement}", other(model.name, replacement=replacement)
        yield (
            "errors go to a random sampled server instead of the longest",
            lambda: _random_error(values, quantity, index),
        )
        yield "eps is ignored: no comparison errs", other(model.name, eps="0")
        yield "eps and 1 - eps swapped", other(model.name, eps=str(1 - values["eps"]))
    if "d" in words:
        yield "one server more is sampled", other(model.name, d=str(int(words["d"]) + 1))
        fewer = {name: x for name, x in words.items() if name != "n" or words["d"] != "2"}  # d = 1: queues apart
        yield (
            "one server fewer is sampled",
            lambda: exact(model.name, fewer | {"d": str(int(words["d"]) - 1)}, quantity, index),
        )
    if words.get("pools", "").count(",") and model.name != "random":
        yield "speeds and pools in swapped orientation", other(model.name, pools=_swapped(words["pools"]))
    if "n" in words:
        limit = {name: x for name, x in words.items() if name not in ("n", "buffer")}
        yield "the limit of many servers instead of n servers", lambda: exact(model.name, limit, quantity, index)
    if "pools" in words and model.name != "random":
        kept = {name: x for name, x in words.items() if name in ("pools", "lam", "n", "buffer")}
        yield "jobs go at random in proportion to speed", lambda: exact("random", kept, quantity, index)


def _slow_ties(values: Mapping[str, Any], quantity: str, index: int | None) -> Enclosure:
    policy, n, buffer = SlowTies(values["pools"], values["lam"]), values["n"], values.get("buffer")
    return balancing_quantity(policy, quantity, index=index, n=n, buffer=buffer, digits=DIGITS).enclosure


def _random_error(values: Mapping[str, Any], quantity: str, index: int | None) -> Enclosure:
    """Solve the rule; of two servers a random one is the longest half of the time, so that there eps is halved."""
    if values["d"] == 2:
        policy: Policy = PowerOfD(values["lam"], 2, values.get("g"), values["eps"] / 2, values["replacement"] == "yes")
    else:
        policy = RandomError(values["lam"], values["d"], values.get("g"), values["eps"], values["replacement"] == "yes")
    n, buffer = values.get("n"), values.get("buffer")
    return balancing_quantity(policy, quantity, index=index, n=n, buffer=buffer, digits=DIGITS).enclosure


def _swapped(pools: str) -> str:
    """Return pools whose fractions are given to the speeds in reverse order, rescaled to mean speed 1."""
    from meanfield.models.pools import Pools

    read = Pools.read(pools)
    fractions = read.fractions[::-1]
    mean = sum((f * s for f, s in zip(fractions, read.speeds, strict=True)), fmpq(0))
    return ",".join(f"{f}:{s / mean}" for f, s in zip(fractions, read.speeds, strict=True))


def _scaled(x: Enclosure, factor: int | fmpq) -> Enclosure:
    return Enclosure(x.lower * factor, x.upper * factor, x.rigor)


def _minus(x: Enclosure, y: Enclosure) -> Enclosure:
    return Enclosure(x.lower - y.upper, x.upper - y.lower, min(x.rigor, y.rigor))
