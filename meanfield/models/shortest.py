"""Join the shortest queue: oblivious to speed, aware of speed, or counting only the jobs that wait."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flint import fmpq

from exactchains.domain import QQ, Domain
from exactchains.truth import InputError
from meanfield.models.policy import Class, Law, Loads, Policy, Server, class_shares, evenly, load_of, sample_size
from meanfield.models.pools import Pools

__all__ = ["JSQ", "PoolPowerOfD", "SpeedAwareJSQ"]


@dataclass(frozen=True)
class JSQ(Policy):
    """Join a server with the fewest jobs; ties at random.

    ``counts = "waiting"``: the job compares waiting jobs only, so that an idle server and one with a single job tie;
    a convention found in the wild, by accident and on purpose.

    Source: P3, P4.
    """

    pools: Any
    load: Any
    counts: str = "jobs"
    homogeneous: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _common(self)
        if self.counts not in ("jobs", "waiting"):
            raise InputError(f"counts = {self.counts!r}: allowed are jobs | waiting")

    def length(self, jobs: int) -> int:
        """Return the length that the rule compares."""
        return max(jobs - 1, 0) if self.counts == "waiting" else jobs

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        least = min(self.length(s.jobs) for s in sample)
        return evenly(i for i, s in enumerate(sample) if self.length(s.jobs) == least)

    def law(self, loads: Loads) -> Law:
        least = min(self.length(q) for pool in loads for q in pool)
        tied = [(j, q) for j, pool in enumerate(loads) for q in pool if self.length(q) == least]
        return {c: fmpq(tied.count(c), len(tied)) for c in dict.fromkeys(tied)}

    @property
    def rule(self) -> dict[str, Any]:
        return {"rule": "jsq" if self.counts == "jobs" else "jsq-waiting"}

    def stability_limit(self, n: int | None) -> fmpq:
        """Return 1: the quadratic drift is negative far out for every load below 1, every n and all speeds."""
        return fmpq(1)

    @property
    def conventions(self) -> tuple[str, ...]:
        what = "only waiting jobs" if self.counts == "waiting" else "the job in service"
        return ("the job sees all servers", f"a queue length counts {what}", "ties at random among all tied servers")


@dataclass(frozen=True)
class SpeedAwareJSQ(Policy):
    """Join a server with the fewest jobs; ties to the fastest pool, inside the pool at random.  Source: P4."""

    pools: Any
    load: Any
    homogeneous: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _common(self)

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        best = min((s.jobs, s.pool) for s in sample)
        return evenly(i for i, s in enumerate(sample) if (s.jobs, s.pool) == best)

    def law(self, loads: Loads) -> Law:
        jobs, pool = min((queue[0], j) for j, queue in enumerate(loads))
        return {(pool, jobs): fmpq(1)}

    @property
    def rule(self) -> dict[str, Any]:
        return {"rule": "sa-jsq"}

    def stability_limit(self, n: int | None) -> fmpq:
        """Return 1 for every n: the joined length is stochastically below a pick in proportion to speed."""
        return fmpq(1)

    @property
    def conventions(self) -> tuple[str, ...]:
        return (*super().conventions, "ties to the fastest pool, inside a pool at random")


@dataclass(frozen=True)
class PoolPowerOfD(Policy):
    """Sample d servers from pools of different speeds, join the shortest; ``ties`` at ``random`` or to the ``fastest``.

    ``weighting``: servers are sampled uniformly or in proportion to speed.
    """

    pools: Any
    load: Any
    d: int = 2
    weighting: str = "uniform"
    ties: str = "random"
    replacement: bool = False
    homogeneous: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _common(self)
        object.__setattr__(self, "d", sample_size(self))
        if self.ties not in ("random", "fastest"):
            raise InputError(f"ties = {self.ties!r}: allowed are random | fastest")

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        best = min(self._rank(s) for s in sample)
        return evenly(i for i, s in enumerate(sample) if self._rank(s) == best)

    def law(self, loads: Loads) -> Law:
        if self.weighting == "speed" and not self.replacement:
            return self.enumerated_law(loads)  # successive draws in proportion to speed have no short formula
        speed = self.pools.speeds if self.weighting == "speed" else [fmpq(1)] * len(loads)
        n = sum(map(len, loads))
        mass = {(j, q): fmpq(queue.count(q)) * speed[j] for j, queue in enumerate(loads) for q in set(queue)}

        def inside(a: fmpq) -> fmpq:
            return (a / n) ** self.d if self.replacement else _falling(a, n, self.d)

        return {c: x for c, x in self._spread(mass, inside).items() if x != 0}

    def limit_law(self, tails: Sequence[Sequence[Any]], domain: Domain = QQ) -> Law:
        with domain.working():
            return self._spread(class_shares(self, tails, domain), lambda a: a**self.d)

    def _spread(self, mass: Mapping[Class, Any], inside: Callable[[Any], Any]) -> Law:
        """Return the law from the mass of each class: best ranks first, a rank shared in proportion to mass."""
        ranks: dict[tuple[int, int], list[Class]] = {}
        for pool, jobs in mass:
            ranks.setdefault((jobs, pool if self.ties == "fastest" else 0), []).append((pool, jobs))
        found: Law = {}
        left: Any = sum(mass.values())
        for _, classes in sorted(ranks.items()):
            here: Any = sum(mass[c] for c in classes)
            chance = inside(left) - inside(left - here)
            for c in classes:
                found[c] = chance if len(classes) == 1 else chance * mass[c] / here if here != 0 else 0 * chance
            left = left - here
        return found

    @property
    def sight(self) -> tuple[int, int]:
        return (0, 1)

    def _rank(self, server: Server) -> tuple[int, int]:
        return (server.jobs, server.pool if self.ties == "fastest" else 0)

    def stability_limit(self, n: int | None) -> fmpq | None:
        """Return the load at which the slowest servers saturate: min over m of (their speed)/(n P(all sampled there)).

        None when servers are sampled in proportion to speed without replacement.
        """
        if self.weighting == "speed":
            return fmpq(1) if n is None or self.replacement else None
        worst, speed, share = fmpq(1), fmpq(0), fmpq(0)
        for pool in reversed(list(self.pools)):
            for _ in range(self.pools.sizes(n)[list(self.pools).index(pool)] if n else 1):
                part = fmpq(1, n) if n else pool.fraction
                speed, share = speed + part * pool.speed, share + part
                all_there = share**self.d if self.replacement or not n else _falling(share * n, n, self.d)
                if all_there > 0:
                    worst = min(worst, speed / all_there)
        return worst

    @property
    def conventions(self) -> tuple[str, ...]:
        return (*super().conventions, "ties at random" if self.ties == "random" else "ties to the fastest pool")


def _falling(a: fmpq, n: int, d: int) -> fmpq:
    chance = fmpq(1)
    for i in range(d):
        chance = chance * max(a - i, fmpq(0)) / (n - i) if n > i else fmpq(0)
    return chance


def _common(policy: Any) -> None:
    object.__setattr__(policy, "pools", Pools.of(policy.pools))
    object.__setattr__(policy, "load", load_of(policy.load))
