"""Equilibria of pools in the limit of many servers, in closed form or as a certified root; the optimal response."""

from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from exactchains.domain import Balls
from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist, InputError, Undecided
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy, load_of
from meanfield.models.pools import Pools, whole
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, SpeedAwareJSQ

__all__ = ["FluidPoint", "OptimalResponse", "equilibrium", "optimal_response", "separate_loads"]

MOST_DIGITS = 10_050  # 10,000, and those that callers spare


@dataclass(frozen=True)
class FluidPoint:
    """The equilibrium of finite mass: ``levels[j][k-1]`` encloses the fraction of pool j with at least k jobs.

    ``ratio`` is the factor from level to level beyond the list: 0, or the load for random routing.  ``boundary``: the
    load equals the capacity of the fastest pools, where the gap at n servers is of order n^(-1/2) instead of 1/n.
    """

    pools: Pools
    load: fmpq
    levels: tuple[tuple[Enclosure, ...], ...]
    ratio: fmpq
    boundary: bool

    def pool_tail(self, pool: int, k: int) -> Enclosure:
        """Return the fraction of servers of ``pool`` (0-based) with at least ``k`` jobs."""
        if not 0 <= pool < len(self.pools):
            raise InputError(f"index {pool}: pools are 0 to {len(self.pools) - 1}, fastest first")
        if k <= 0:
            return Enclosure.exact(1)
        if k <= len(self.levels[pool]):
            return self.levels[pool][k - 1]
        return _scaled(self.levels[pool][-1], self.ratio ** (k - len(self.levels[pool])))

    def tail(self, k: int) -> Enclosure:
        """Return the fraction of all servers with at least ``k`` jobs."""
        return _sum(_scaled(self.pool_tail(j, k), p.fraction) for j, p in enumerate(self.pools))

    def pool_mean_queue(self, pool: int) -> Enclosure:
        """Return the mean number of jobs at one server of ``pool`` (0-based)."""
        self.pool_tail(pool, 0)
        listed = _sum(self.levels[pool])
        return _sum((listed, _scaled(self.levels[pool][-1], self.ratio / (1 - self.ratio))))

    @property
    def mean_queue(self) -> Enclosure:
        """The mean number of jobs at one server."""
        return _sum(_scaled(self.pool_mean_queue(j), p.fraction) for j, p in enumerate(self.pools))

    @property
    def mean_response(self) -> Enclosure:
        """The mean time in system, by Little's law."""
        return _scaled(self.mean_queue, 1 / self.load)


@dataclass(frozen=True)
class OptimalResponse:
    r"""The least mean response time over all policies, with the multiplier that proves it.

    Primal: busy fractions x; dual: :math:`\theta \lambda - \sum_j \gamma_j \max(0, \theta\mu_j - 1)` is a lower bound
    of the mean number of busy servers for every :math:`\theta \ge 0`, and equal to it at ``multiplier``.
    """

    value: fmpq
    busy: tuple[fmpq, ...]
    multiplier: fmpq


def optimal_response(pools: Pools, load: fmpq) -> OptimalResponse:
    r"""Return :math:`\frac1\lambda \min\{\sum \gamma_j x_j : \sum \gamma_j \mu_j x_j = \lambda, 0 \le x \le 1\}`.

    No policy, idling, clairvoyant or migrating, has a smaller mean response time, at any number of servers: the work
    rate is the load and the number of jobs is at least the number of busy servers.  Fill the fastest pools first.
    """
    load = load_of(load)
    left, busy, multiplier = load, [], fmpq(0)
    for pool in pools:
        share = min(left / (pool.fraction * pool.speed), fmpq(1))
        busy.append(share)
        if share > 0:
            multiplier = 1 / pool.speed
        left -= share * pool.fraction * pool.speed
    used = sum((x * p.fraction for x, p in zip(busy, pools, strict=True)), fmpq(0))
    return OptimalResponse(used / load, tuple(busy), multiplier)


def equilibrium(policy: Policy, *, digits: int = 30) -> FluidPoint:
    r"""Return the only equilibrium with finite mass of a policy on pools, in the limit of many servers.

    * Speed-aware JSQ and JIQ (any fallback): fastest pools busy with one job each, the next one partly.
    * JSQ and JIQ: :math:`x_j = r/(\mu_j + r)` with r the positive root of :math:`\sum \gamma_j\mu_j r/(\mu_j+r) =
      \lambda`; JSQ on waiting jobs: servers hold up to two jobs, weights 1, s, s^2 with s = r/mu_j.
    * SED: pool j faster than the partly busy pool j* holds the largest number c with c/mu_j <= 1/mu_{j*}.
    * Random by speed: every queue geometric.

    Guarantee
    ---------
    Rational equilibria are exact; r lies between two dyadic numbers at which the exact rational function has both
    signs.  Mass balance forces an idle fraction below load 1, hence no arrivals above the least level, hence
    uniqueness.  Attraction from every start is not claimed.

    Source
    ------
    P3, P4; SED and waiting jobs: ours.
    """
    pools, load, digits = policy.pools, policy.load, whole(digits, "digits", "give", most=MOST_DIGITS)
    best = optimal_response(pools, load)
    capacity, boundary = fmpq(0), False
    for pool in pools:
        capacity += pool.fraction * pool.speed
        boundary = boundary or (capacity == load)
    zero = fmpq(0)
    if isinstance(policy, RandomBySpeed):
        return FluidPoint(pools, load, tuple((Enclosure.exact(load),) for _ in pools), load, False)
    if isinstance(policy, SpeedAwareJSQ | SpeedAwareJIQ):
        levels = tuple((Enclosure.exact(x),) for x in best.busy)
        return FluidPoint(pools, load, levels, zero, boundary)
    if isinstance(policy, SED):
        if boundary and len(pools) > 1:
            raise DoesNotExist(
                f"load = {load} is the capacity of the fastest pools: SED then has more than one equilibrium; take"
                " another load"
            )
        return FluidPoint(pools, load, _expected_delay(policy, best), zero, boundary)
    if isinstance(policy, JSQ | JIQ):
        top = 2 if isinstance(policy, JSQ) and policy.counts == "waiting" else 1
        return FluidPoint(pools, load, _oblivious(pools, load, top, digits), zero, False)
    raise InputError(f"{type(policy).__name__}: no closed form of the limit is known; allowed: JSQ, JIQ, SED, random")


def separate_loads(policy: Policy) -> tuple[fmpq, ...] | None:
    r"""Return the load of the queues of each pool where every one is M/M/1, at n servers and in the limit; else None.

    Jobs that see one server, sampled uniformly or by speed, and equal servers under power of two with errors at every
    gap of chance 1/2, which joins the longer of two queues as often as the shorter.

    Raises
    ------
    DoesNotExist
        The slowest pool gets more than it can serve.
    """
    fair = isinstance(policy, PowerOfD) and policy.d == 2 and policy.g is None and 2 * policy.eps == 1
    if policy.d != 1 and not fair:
        return None
    by_speed = policy.weighting == "speed"
    loads = tuple(policy.load if by_speed else policy.load / speed for speed in policy.pools.speeds)
    if max(loads) >= 1:
        raise DoesNotExist(f"load = {policy.load}: the slowest pool gets {max(loads)} times what it can serve")
    return loads


def _expected_delay(policy: SED, best: OptimalResponse) -> tuple[tuple[Enclosure, ...], ...]:
    last = max(j for j, x in enumerate(best.busy) if x > 0)
    slowest = policy.pools.speeds[last]
    found = []
    for j, (x, speed) in enumerate(zip(best.busy, policy.pools.speeds, strict=True)):
        ratio = speed / slowest
        if j < last and ratio.q == 1 and policy.ties == "random":
            raise Undecided(
                "SED with ties at random: speeds with an integer ratio tie in the limit; use ties = fastest"
            )
        found.append(
            tuple(Enclosure.exact(1) for _ in range(int(ratio.floor()))) if j < last else (Enclosure.exact(x),)
        )
    return tuple(found)


def _oblivious(pools: Pools, load: fmpq, top: int, digits: int) -> tuple[tuple[Enclosure, ...], ...]:
    """Return tails of servers that are chosen at one rate r whenever they hold fewer than ``top`` jobs."""
    if len(pools) == 1 and top == 1:
        return ((Enclosure.exact(load),),)
    low, high = _rate(pools, load, top, (digits + 2) * 10 // 3 + 21)
    found = []
    for speed in pools.speeds:
        ends = [[_at_least(r / speed, k, top) for r in (low, high)] for k in range(1, top + 1)]
        found.append(tuple(Enclosure(a, b) for a, b in ends))
    return tuple(found)


def _at_least(s: fmpq, k: int, top: int) -> fmpq:
    """Return (s^k + ... + s^top)/(1 + s + ... + s^top), increasing in s."""
    powers = [s**i for i in range(top + 1)]
    return sum(powers[k:], fmpq(0)) / sum(powers, fmpq(0))


def _rate(pools: Pools, load: fmpq, top: int, bits: int) -> tuple[fmpq, fmpq]:
    """Return dyadic ends of the r at which the busy speed equals the load; both signs are checked exactly."""

    def excess(r: fmpq) -> fmpq:
        return sum((p.fraction * p.speed * _at_least(r / p.speed, 1, top) for p in pools), fmpq(0)) - load

    def busy_speed(r: arb) -> arb:
        total = arb(0)
        for p in pools:
            s = r / arb(p.speed)
            weights = [s**i for i in range(top + 1)]
            total += arb(p.fraction * p.speed) * (1 - 1 / sum(weights, arb(0)))
        return total

    with Balls(2 * bits + 64).working():
        low, high = fmpq(0), 1 / (1 - load)
        while excess(high) < 0:
            high = 2 * high
        a, b = arb(low), arb(high)
        for _ in range(4 * bits + 64):  # bisection finds, the exact signs below prove
            middle = ((a + b) / 2).mid()
            a, b = (middle, b) if busy_speed(middle) < arb(load) else (a, middle)
            if (b - a) * (arb(2) ** bits) < a:
                break
        low, high = a.fmpq(), b.fmpq()
    for _ in range(64):
        width = high - low
        if excess(low) <= 0 <= excess(high):
            return low, high
        low, high = low - width, high + width
    raise Undecided("the rate of the oblivious rule is not enclosed; ask for fewer digits")


def _scaled(x: Enclosure, factor: fmpq) -> Enclosure:
    if factor == 0:
        return Enclosure.exact(0)
    return Enclosure(x.lower * factor, x.upper * factor, x.rigor)


def _sum(parts: Any) -> Enclosure:
    found = list(parts)
    lower = sum((x.lower for x in found), fmpq(0))
    upper = sum((x.upper for x in found), fmpq(0))
    return Enclosure(lower, upper, min(x.rigor for x in found))
