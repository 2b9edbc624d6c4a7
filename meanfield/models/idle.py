"""Join an idle queue, oblivious or aware of speed, with a fallback when no server is idle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, ClassVar

from flint import arb, fmpq

from exactchains.domain import Balls
from exactchains.enclosure import Enclosure
from exactchains.truth import InputError
from meanfield.models.policy import Law, Loads, Policy, Server, evenly, load_of
from meanfield.models.pools import Pools

__all__ = ["JIQ", "SpeedAwareJIQ"]


@dataclass(frozen=True)
class JIQ(Policy):
    """Join an idle server, any with equal probability; when none is idle, the ``fallback``.

    ``fallback = "uniform"``: any server; ``"speed"``: a server in proportion to its speed.

    Source: P3; PULL of A. Stolyar has the uniform fallback.
    """

    pools: Any
    load: Any
    fallback: str = "uniform"
    homogeneous: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    _name: ClassVar[str] = "jiq"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", Pools.of(self.pools))
        object.__setattr__(self, "load", load_of(self.load))
        if self.fallback not in ("uniform", "speed"):
            raise InputError(f"fallback = {self.fallback!r}: allowed are uniform | speed")

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        idle = [i for i, s in enumerate(sample) if s.jobs == 0]
        if idle:
            return evenly(self.preferred(sample, idle))
        if self.fallback == "uniform":
            return evenly(range(len(sample)))
        total = sum((s.speed for s in sample), fmpq(0))
        return {i: s.speed / total for i, s in enumerate(sample)}

    def preferred(self, sample: Sequence[Server], idle: list[int]) -> list[int]:
        """Return the idle servers among which the job chooses."""
        return idle

    def law(self, loads: Loads) -> Law:
        idle = [queue.count(0) for queue in loads]
        if any(idle):
            chosen = self._preferred_counts(idle)
            return {(j, 0): fmpq(c, sum(chosen)) for j, c in enumerate(chosen) if c}
        weight = self.pools.speeds if self.fallback == "speed" else [fmpq(1)] * len(loads)
        total = sum((w * len(queue) for w, queue in zip(weight, loads, strict=True)), fmpq(0))
        return {(j, q): weight[j] * queue.count(q) / total for j, queue in enumerate(loads) for q in set(queue)}

    def _preferred_counts(self, idle: list[int]) -> list[int]:
        return idle

    @property
    def rule(self) -> dict[str, Any]:
        return {"rule": self._name, "fallback": self.fallback}

    def stability_limit(self, n: int | None) -> fmpq | Enclosure | None:
        r"""Return 1 with fallback by speed, with equal speeds, and in the limit.

        Uniform fallback, one fast server and n - 1 slow ones of speed m: the root of
        :math:`n \lambda^2 = m (\mu_1 + (n-1) \lambda)`.  Otherwise None: only loads below the least speed are known
        to be stable.
        """
        if self.fallback == "speed" or len(self.pools) == 1 or n is None:
            return fmpq(1)
        equation = self.stability_equation(n)
        if equation is None:
            return None
        a, b, c = equation
        below = b * b - 4 * a * c
        root = _square_root(below)
        if root is not None:
            return (root - b) / (2 * a)
        with Balls(400).working():
            return Enclosure.of((arb(below).sqrt() - arb(b)) / (2 * arb(a)))

    def stability_equation(self, n: int | None) -> tuple[fmpq, fmpq, fmpq] | None:
        r"""Return a, b, c with :math:`a > 0 > c` and :math:`a \lambda^2 + b \lambda + c = 0` at the stability limit.

        None where the limit is no root of a quadratic, or not known.
        """
        if self.fallback == "speed" or len(self.pools) != 2 or n is None or self.pools.sizes(n)[0] != 1:
            return None
        fast, slow = self.pools.speeds
        return fmpq(n), -(n - 1) * slow, -slow * fast

    @property
    def conventions(self) -> tuple[str, ...]:
        rule = "any server with equal probability" if self.fallback == "uniform" else "a server in proportion to speed"
        return (*super().conventions, self._choice(), f"when no server is idle: {rule}")

    def _choice(self) -> str:
        return "among idle servers at random"


@dataclass(frozen=True)
class SpeedAwareJIQ(JIQ):
    """Join an idle server of the fastest pool that has one; when none is idle, the ``fallback``.  Source: P3."""

    _name: ClassVar[str] = "sa-jiq"

    def preferred(self, sample: Sequence[Server], idle: list[int]) -> list[int]:
        fastest = min(sample[i].pool for i in idle)
        return [i for i in idle if sample[i].pool == fastest]

    def _preferred_counts(self, idle: list[int]) -> list[int]:
        first = next(j for j, c in enumerate(idle) if c)
        return [c if j == first else 0 for j, c in enumerate(idle)]

    def _choice(self) -> str:
        return "among idle servers one of the fastest pool, inside a pool at random"


def _square_root(x: fmpq) -> fmpq | None:
    """Return the rational square root, None when it is irrational."""
    top, bottom = (int(part) for part in (x.p, x.q))
    p, q = isqrt(top), isqrt(bottom)
    return fmpq(p, q) if p * p == top and q * q == bottom else None
