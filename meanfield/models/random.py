"""Rules without memory of the queues seen before: random by speed, and a threshold on one sampled queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flint import fmpq

from meanfield.models.policy import Policy, Server, load_of, sample_size
from meanfield.models.pools import Pools, whole

__all__ = ["RandomBySpeed", "Threshold"]


@dataclass(frozen=True)
class RandomBySpeed(Policy):
    """Join a server in proportion to its speed: every queue is M/M/1 with the same load."""

    pools: Any
    load: Any
    d: ClassVar[int] = 1
    replacement: ClassVar[bool] = True
    weighting: ClassVar[str] = "speed"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", Pools.of(self.pools))
        object.__setattr__(self, "load", load_of(self.load))

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        return {0: fmpq(1)}

    def stability_limit(self, n: int | None) -> fmpq:
        return fmpq(1)


@dataclass(frozen=True)
class Threshold(Policy):
    """Sample two servers in proportion to speed; join the first if it has below ``threshold`` jobs, else the other."""

    pools: Any
    load: Any
    threshold: int = 1
    replacement: bool = True
    d: ClassVar[int] = 2
    weighting: ClassVar[str] = "speed"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", Pools.of(self.pools))
        object.__setattr__(self, "load", load_of(self.load))
        sample_size(self)
        object.__setattr__(self, "threshold", whole(self.threshold, "threshold", "it is"))

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        return {0 if sample[0].jobs < self.threshold else 1: fmpq(1)}

    @property
    def sight(self) -> tuple[int, int]:
        return (self.threshold, self.threshold)

    def stability_limit(self, n: int | None) -> fmpq | None:
        """Return 1 with replacement: the joined length is stochastically below that of the second server."""
        return fmpq(1) if self.replacement or n is None else None

    @property
    def conventions(self) -> tuple[str, ...]:
        return (*super().conventions, f"a queue is short below {self.threshold} jobs")
