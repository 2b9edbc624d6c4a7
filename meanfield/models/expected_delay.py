"""Shortest expected delay: join the server where one more job would be done soonest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any, ClassVar

from flint import fmpq

from exactchains.truth import InputError
from meanfield.models.policy import Law, Loads, Policy, Server, evenly, load_of
from meanfield.models.pools import Pools

__all__ = ["SED"]


@dataclass(frozen=True)
class SED(Policy):
    r"""Join a server with the least :math:`(q+1)/\mu`; ``ties`` to the ``fastest`` pool or at ``random``."""

    pools: Any
    load: Any
    ties: str = "fastest"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", Pools.of(self.pools))
        object.__setattr__(self, "load", load_of(self.load))
        if self.ties not in ("fastest", "random"):
            raise InputError(f"ties = {self.ties!r}: allowed are fastest | random")

    def _rank(self, jobs: int, speed: fmpq, pool: int) -> tuple[fmpq, int]:
        return ((jobs + 1) / speed, pool if self.ties == "fastest" else 0)

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        best = min(self._rank(s.jobs, s.speed, s.pool) for s in sample)
        return evenly(i for i, s in enumerate(sample) if self._rank(s.jobs, s.speed, s.pool) == best)

    def law(self, loads: Loads) -> Law:
        speeds = self.pools.speeds
        rank = {(j, q): self._rank(q, speeds[j], j) for j, queue in enumerate(loads) for q in {queue[0]}}
        best = min(rank.values())
        tied = {c: loads[c[0]].count(c[1]) for c, r in rank.items() if r == best}
        return {c: fmpq(count, sum(tied.values())) for c, count in tied.items()}

    @property
    def direction(self) -> tuple[int, ...]:
        """The speeds as coprime integers: q + direction delays every server by the same time."""
        speeds = self.pools.speeds
        common = lcm(*(int(s.q) for s in speeds))
        whole = [int((s * common).p) for s in speeds]
        return tuple(s // gcd(*whole) for s in whole)

    @property
    def rule(self) -> dict[str, Any] | None:
        return {"rule": "sed"} if self.ties == "fastest" else None

    def stability_limit(self, n: int | None) -> fmpq:
        r"""Return 1: with :math:`V = \sum q_i^2/\mu_i` the drift is negative far out for every load below 1."""
        return fmpq(1)

    @property
    def conventions(self) -> tuple[str, ...]:
        ties = "ties to the fastest pool" if self.ties == "fastest" else "ties at random"
        return (*super().conventions, ties)
