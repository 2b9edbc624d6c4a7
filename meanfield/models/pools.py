"""Pools of servers: fractions and speeds, fastest pool first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

from flint import fmpq

from exactchains.number import parse, rational
from exactchains.truth import InputError

__all__ = ["EQUAL", "Pool", "Pools", "whole"]


@dataclass(frozen=True)
class Pool:
    """Servers of one speed: ``fraction`` of all servers, each working at ``speed`` (1 on average over all)."""

    fraction: fmpq
    speed: fmpq


@dataclass(frozen=True)
class Pools:
    r"""Pools with fractions :math:`\gamma_j > 0`, :math:`\sum \gamma_j = 1`, speeds :math:`\mu_1 > \mu_2 > \dots > 0`.

    The mean speed :math:`\sum \gamma_j \mu_j` is 1, so that the load is the arrival rate per server.

    Raises
    ------
    InputError
        Fractions that do not sum to 1, speeds not decreasing, mean speed not 1 (the message offers the rescaling).

    Examples
    --------
    >>> pools = Pools.read("1/2:3/2,1/2:1/2")
    >>> pools.speeds
    (3/2, 1/2)
    >>> pools.sizes(4)
    (2, 2)
    """

    pools: tuple[Pool, ...]

    def __post_init__(self) -> None:
        if not self.pools:
            raise InputError("pools is empty; give fraction:speed for each pool, such as 1/2:3/2,1/2:1/2")
        for p in self.pools:
            if p.fraction <= 0 or p.speed <= 0:
                raise InputError(f"pools: {p.fraction}:{p.speed}: fractions and speeds are positive")
        total = sum(self.fractions, fmpq(0))
        if total != 1:
            raise InputError(f"pools: fractions sum to {total}; they must sum to 1")
        for fast, slow in zip(self.speeds, self.speeds[1:], strict=False):
            if fast <= slow:
                raise InputError(f"pools: speed {slow} after {fast}; give different speeds, fastest pool first")
        mean = sum((p.fraction * p.speed for p in self.pools), fmpq(0))
        if mean != 1:
            scaled = ",".join(f"{p.fraction}:{p.speed / mean}" for p in self.pools)
            raise InputError(f"pools: the mean speed is {mean}, it must be 1; rescaled: pools={scaled}")

    @classmethod
    def of(cls, pools: Any) -> "Pools":
        """Return pools from ``Pools``, text, or pairs (fraction, speed)."""
        if isinstance(pools, Pools):
            return pools
        if isinstance(pools, str):
            return cls.read(pools)
        try:
            pairs = [(f, s) for f, s in pools]
        except (TypeError, ValueError):
            raise InputError(
                f"pools = {pools!r}: give text such as '1/2:3/2,1/2:1/2' or pairs (fraction, speed)"
            ) from None
        return cls(tuple(Pool(rational(f, "pools fraction"), rational(s, "pools speed")) for f, s in pairs))

    @classmethod
    def read(cls, text: str) -> "Pools":
        """Read ``fraction:speed,fraction:speed``."""
        found = []
        for word in text.split(","):
            fraction, mark, speed = word.strip().partition(":")
            if not mark:
                raise InputError(f"pools = {text[:60]!r}: {word[:30]!r} is no fraction:speed, such as 1/2:3/2")
            found.append(Pool(parse(fraction, "pools fraction"), parse(speed, "pools speed")))
        return cls(tuple(found))

    @classmethod
    def of_servers(cls, speeds: Sequence[Any]) -> "Pools":
        """Return the pools of single servers with these speeds (equal speeds share a pool)."""
        exact = sorted((rational(s, "speed") for s in speeds), reverse=True)
        distinct = list(dict.fromkeys(exact))
        return cls(tuple(Pool(fmpq(exact.count(s), len(exact)), s) for s in distinct))

    @property
    def fractions(self) -> tuple[fmpq, ...]:
        return tuple(p.fraction for p in self.pools)

    @property
    def speeds(self) -> tuple[fmpq, ...]:
        return tuple(p.speed for p in self.pools)

    def sizes(self, n: int) -> tuple[int, ...]:
        """Return the number of servers in each pool of a system of ``n`` servers.

        Raises
        ------
        InputError
            ``n`` times a fraction is no integer; the message offers the smallest good ``n``.
        """
        sizes = [whole(n, "n", "at least one server is needed; give") * f for f in self.fractions]
        if any(s.q != 1 for s in sizes):
            least = lcm(*(int(f.q) for f in self.fractions))
            bad = next(f for f, s in zip(self.fractions, sizes, strict=True) if s.q != 1)
            raise InputError(f"n = {n}: n times the fraction {bad} is no integer; n must be a multiple of {least}")
        return tuple(int(s.p) for s in sizes)

    def __iter__(self) -> Iterator[Pool]:
        return iter(self.pools)

    def __len__(self) -> int:
        return len(self.pools)

    def __str__(self) -> str:
        return ",".join(f"{p.fraction}:{p.speed}" for p in self.pools)


def whole(x: Any, name: str, words: str, *, least: int = 1, most: int | None = None) -> int:
    """Return ``x`` as an integer in a range; the message says ``words`` before "an integer"."""
    if isinstance(x, bool) or not hasattr(x, "__index__") or int(x) < least:
        raise InputError(f"{name} = {_said(x)}: {words} an integer >= {least}")
    if most is not None and int(x) > most:
        raise InputError(f"{name} = {_said(x)}: {words} an integer of at most {most}")
    return int(x)


def _said(x: Any) -> str:
    try:
        return repr(x)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return "an integer of thousands of digits"


EQUAL = Pools((Pool(fmpq(1), fmpq(1)),))
