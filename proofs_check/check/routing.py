"""Routing laws and transitions of n servers in pools, fastest first, for the kinds that speak about load balancing."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, lcm
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational, table

Loads = tuple[tuple[int, ...], ...]  # jobs at the servers of each pool, ascending
Law = dict[tuple[int, int], Fraction]  # (pool, jobs) -> probability that a job joins such a server
MAX_SERVERS = 100


class System:
    """Pools of servers, a load, and a rule that is monotone: more jobs somewhere never lead to fewer elsewhere."""

    def __init__(self, problem: Any) -> None:
        data = fields(problem, "policy load pools n")
        self.load, self.n = rational(data["load"]), integer(data["n"], 1)
        pools = [tuple(map(rational, items(pool, 2))) for pool in items(data["pools"])]
        self.speeds = [speed for _, speed in pools]
        sizes = [self.n * fraction for fraction, _ in pools]
        if not 0 < self.load < 1 or self.n > MAX_SERVERS:
            raise Rejected(f"needs 0 < load < 1 and at most {MAX_SERVERS} servers")
        if any(s.denominator != 1 or s <= 0 for s in sizes) or sum(sizes) != self.n or min(self.speeds) <= 0:
            raise Rejected("the pools do not divide the servers")
        if any(fast <= slow for fast, slow in pairwise(self.speeds)):  # rules prefer the pool that is named first
            raise Rejected("the speeds do not decrease: the fastest pool comes first, equal speeds are one pool")
        if sum(f * s for f, s in pools) != 1:
            raise Rejected("the mean speed is not 1")
        self.sizes = [s.numerator for s in sizes]
        self.majorised = False  # monotone in weak majorisation too
        self.law, self.direction = self._rule(table(data["policy"]))

    def _rule(self, policy: Any) -> tuple[Callable[[Loads], Law], tuple[int, ...]]:
        """Return the law, and the jobs per server that leave it as it is when all servers are busy."""
        level, name = (1,) * len(self.sizes), policy.get("rule")
        if name == "power-of-d":
            return self._power_of_d(policy), level
        if name in ("jsq", "jsq-waiting", "sa-jsq"):
            fields(policy, "rule")
            return lambda loads: self._shortest(loads, name), level
        if name in ("jiq", "sa-jiq"):
            by_speed = fields(policy, "rule fallback")["fallback"] == "speed"
            if not by_speed and policy["fallback"] != "uniform":
                raise Rejected("the fallback is uniform or speed")
            return lambda loads: self._idle(loads, name == "sa-jiq", by_speed), level
        if name == "sed":
            fields(policy, "rule")
            common = lcm(*(s.denominator for s in self.speeds))
            whole = [(s * common).numerator for s in self.speeds]
            return self._expected_delay, tuple(w // gcd(*whole) for w in whole)
        raise Rejected(f"unknown rule {str(name)[:40]!r}")

    def _power_of_d(self, policy: Any) -> Callable[[Loads], Law]:
        data = fields(policy, "rule d g eps replacement")
        d, eps, n = integer(data["d"], 1), rational(data["eps"]), self.n
        gap = None if data["g"] is None else integer(data["g"])
        if len(self.sizes) != 1 or not 0 <= eps <= 1 or d > MAX_SERVERS or not isinstance(data["replacement"], bool):
            raise Rejected("power of d needs equal servers, 0 <= eps <= 1 and a small d")
        if not data["replacement"] and d > n:
            raise Rejected("d above n without replacement")
        self.majorised = gap in (None, 0) or eps == 0 or d == 1 or (d == 2 and gap == 1 and eps <= Fraction(1, 2))

        def inside(a: int) -> Fraction:  # all sampled servers lie in a given set of a servers
            return Fraction(a, n) ** d if data["replacement"] else Fraction(comb(a, d), comb(n, d))

        def law(loads: Loads) -> Law:
            queue, found = loads[0], {}
            for j in sorted(set(queue)):
                at, after = (sum(q >= k for q in queue) for k in (j, j + 1))
                above = 0 if gap is None else sum(q > j + gap for q in queue)
                below = n if gap is None else sum(q >= j - gap for q in queue)
                errors = inside(below - after) - inside(below - at) - inside(at - above) + inside(after - above)
                found[0, j] = inside(at) - inside(after) + eps * errors
            return found

        return law

    def _shortest(self, loads: Loads, name: str) -> Law:
        def length(q: int) -> int:
            return max(q - 1, 0) if name == "jsq-waiting" else q

        least = min(length(queue[0]) for queue in loads)
        tied = [(j, q) for j, queue in enumerate(loads) for q in queue if length(q) == least]
        if name == "sa-jsq":
            tied = tied[:1]
        return {c: Fraction(tied.count(c), len(tied)) for c in dict.fromkeys(tied)}

    def _idle(self, loads: Loads, fastest: bool, by_speed: bool) -> Law:
        idle = [(j, 0) for j, queue in enumerate(loads) for q in queue if q == 0]
        if idle:
            chosen = idle[:1] if fastest else idle
            return {c: Fraction(chosen.count(c), len(chosen)) for c in dict.fromkeys(chosen)}
        weights = [s if by_speed else Fraction(1) for s in self.speeds]
        total = sum(w * size for w, size in zip(weights, self.sizes, strict=True))
        found: Law = {}
        for j, queue in enumerate(loads):
            for q in queue:
                found[j, q] = found.get((j, q), Fraction(0)) + weights[j] / total
        return found

    def _expected_delay(self, loads: Loads) -> Law:
        _, pool = min(((queue[0] + 1) / self.speeds[j], j) for j, queue in enumerate(loads))
        return {(pool, loads[pool][0]): Fraction(1)}

    def transitions(self, loads: Loads) -> Iterator[tuple[Loads, Fraction, bool]]:
        """Yield (loads after, rate, whether a job arrived)."""
        for (pool, q), chance in self.law(loads).items():
            if chance < 0:
                raise Rejected("a negative routing probability")
            yield moved(loads, pool, q, 1), self.n * self.load * chance, True
        for j, queue in enumerate(loads):
            for q in sorted(set(queue) - {0}):
                yield moved(loads, j, q, -1), queue.count(q) * self.speeds[j], False

    def split(self, loads: Loads) -> tuple[int, Loads]:
        """Return the largest level with loads >= level * direction, and what is above it."""
        level = min(queue[0] // v for queue, v in zip(loads, self.direction, strict=True))
        return level, self.lifted(loads, -level)

    def lifted(self, loads: Loads, by: int) -> Loads:
        return tuple(tuple(q + by * v for q in queue) for queue, v in zip(loads, self.direction, strict=True))


def moved(loads: Loads, pool: int, q: int, step: int) -> Loads:
    """Return the loads after a server of ``pool`` with ``q`` jobs gains or loses one."""
    queue = list(loads[pool])
    queue.remove(q)
    return (*loads[:pool], tuple(sorted([*queue, q + step])), *loads[pool + 1 :])
