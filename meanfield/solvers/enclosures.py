"""Quantities of n servers with unlimited queues, enclosed on both sides: one entry function."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from exactchains.enclosure import Enclosure
from exactchains.number import text, wire
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from meanfield.finite import reward
from meanfield.models.policy import Policy, checked
from meanfield.models.pools import whole
from meanfield.solvers.effort import FEW_DIGITS, Effort, first_effort, states_for, swept_levels
from meanfield.solvers.poisson import FEW, Certificate, LevelReward, poisson
from meanfield.solvers.replacement import Order, Side
from meanfield.solvers.shapes import ShapeSet, comparison, grown, lifted, swept_law

__all__ = ["ServerSystem", "best_system", "require_stable", "server_system"]

Weights = Sequence[Sequence[int]]  # by pool and level from 1
ROUNDS = 6
LEAST_SHAPES = 30  # for which levels asked for leave room
MOST_SERVERS = 1000


def require_stable(policy: Policy, n: int | None) -> None:
    """Refuse a system that is known not to be positive recurrent.

    Where no limit is known nothing is refused: the Poisson function of the upper comparison chain decides.

    Raises
    ------
    DoesNotExist
        The load is at or above the stability limit, which the message names.
    Undecided
        The load lies inside the enclosure of the limit.
    """
    limit = policy.stability_limit(n)
    where = "the limit of many servers" if n is None else f"n = {n}"
    if limit is None:
        return
    ends = (limit.lower, limit.upper) if isinstance(limit, Enclosure) else (limit, limit)
    if policy.load >= ends[1]:
        shown = limit.digits(30) if isinstance(limit, Enclosure) else limit
        raise DoesNotExist(f"load = {policy.load}: unstable at {where}; stable for loads below the limit {shown}")
    if policy.load > ends[0]:
        raise Undecided(f"load = {policy.load}: too close to the stability limit {limit} to decide")


@dataclass
class ServerSystem:
    """Comparison chains of one system, from which every increasing quantity is enclosed."""

    policy: Policy
    n: int
    found: ShapeSet
    law: NDArray[np.float64]
    top: int
    bits: int
    proofs: dict[tuple[str, int | None, str], Certificate] = field(default_factory=dict)

    def enclosure(self, name: str, index: int | None = None) -> Enclosure:
        """Return a quantity of the infinite system.

        ``mean_queue``, ``tail`` k, ``busy`` j, ``pool_mean_queue`` j, ``work_tail`` k,
        ``idle``; see :func:`meanfield.finite.reward`.
        """
        if name == "idle":
            busy = self.enclosure("tail", 1)
            return Enclosure(1 - busy.upper, 1 - busy.lower)
        if name == "tail" and index == 0:
            return Enclosure.exact(1)
        if name not in ("mean_queue", "pool_mean_queue"):
            self._bound("mean_queue", None, "upper")  # moments that a lower bound on infinitely many states needs
        low, high = (self._bound(name, index, side) for side in ("lower", "upper"))
        scale = self._scale(name, index)
        return Enclosure(low / scale, high / scale)

    def weighted_tails(self, low: Weights, high: Weights, *, unit: int) -> Enclosure:
        """Return bounds of the sum of w_jk >= 0 times the mean number of servers of pool j with k jobs or more.

        ``low[j][k-1]`` <= 2^unit w_jk <= ``high[j][k-1]``, integers; at most :meth:`levels` of them for pool j.
        """
        self._bound("mean_queue", None, "upper")  # moments that a lower bound on infinitely many states needs
        ends = self._weighted(low, "lower", unit), self._weighted(high, "upper", unit)
        return Enclosure(ends[0] / (1 << unit), ends[1] / (1 << unit))

    def levels(self, pool: int) -> int:
        """Return how many levels k of a pool :meth:`weighted_tails` can count."""
        return (self.top + 1) * self.found.direction[pool]

    def _weighted(self, weights: Weights, side: Side, unit: int) -> fmpq:
        gains = [[0, *accumulate(w)] for w in weights]
        kind = np.int64 if self.n * max(g[-1] for g in gains) < 1 << FEW else object
        steady = max(-(-len(w) // v) for w, v in zip(weights, self.found.direction, strict=True))
        low = [
            np.array(
                [
                    sum(g[min(q, len(g) - 1)] for g, queue in zip(gains, loads, strict=True) for q in queue)
                    for loads in (lifted(s, self.found.direction, level) for s in self.found.shapes)
                ],
                dtype=kind,
            )
            for level in range(steady + 1)
        ]
        chain, bits, steps = comparison(self.found, side), max(self.bits - unit, 16), 4 + unit // 40
        found = poisson(chain, LevelReward(low, 0), top=self.top, law=self.law, bits=bits, steps=steps)
        if found is None or steady > self.top + 1:
            raise PrecisionExhausted(f"no {side} bound at this effort; ask for more digits")
        return fmpq(found.bound.numerator, found.bound.denominator)

    def certificate(self, name: str, index: int | None = None) -> dict[str, Any] | None:
        """Return the certificate of ``mean_queue`` or of ``tail`` k >= 1; None: no checker kind covers it."""
        rule = self.policy.rule
        if rule is None or name not in ("mean_queue", "tail") or (name == "tail" and not index):
            return None
        found = self.enclosure(name, index)
        proof = {
            "shapes": [[list(queue) for queue in shape] for shape in self.found.shapes],
            "top": self.top,
            "bits": self.bits,
            "lower": _listed(self.proofs[name, index, "lower"]),
            "upper": _listed(self.proofs[name, index, "upper"]),
        }
        if self._order("mean_queue") != "coordinate":
            proof["order"] = self._order("mean_queue")
        if name == "tail":
            proof["moments"] = _listed(self.proofs["mean_queue", None, "upper"])
        pools = [[text(p.fraction), text(p.speed)] for p in self.policy.pools]
        return {
            "format": 1,
            "kind": "comparison",
            "problem": {"policy": rule, "load": text(self.policy.load), "pools": pools, "n": self.n},
            "conclusion": {"quantity": name, "index": index, "bounds": [wire(found.lower), wire(found.upper)]},
            "proof": proof,
            "found_by": {"tool": "meanfield.solvers.enclosures", "version": "0.1.0"},
        }

    def _bound(self, name: str, index: int | None, side: Any) -> fmpq:
        key = (name, index, side)
        if key not in self.proofs:
            chain = comparison(self.found, side, self._order(name))
            found = poisson(chain, self._reward(name, index), top=self.top, law=self.law, bits=self.bits)
            if found is None:
                raise PrecisionExhausted(f"{name}: no {side} bound at this effort; ask for more digits or another n")
            self.proofs[key] = found
        bound = self.proofs[key].bound
        return fmpq(bound.numerator, bound.denominator)

    def _order(self, name: str) -> Order:
        """Return the finest order known for the rule in which the reward increases."""
        equal = len(self.policy.pools) == 1
        return "majorisation" if self.policy.majorised and equal and name == "mean_queue" else "coordinate"

    def _scale(self, name: str, index: int | None) -> int:
        """Return a number that makes the reward an integer at every state."""
        if name in ("busy", "pool_mean_queue"):
            return self.policy.pools.sizes(self.n)[index or 0]
        return self.n * (math.lcm(*(int(s.q) for s in self.policy.pools.speeds)) if name == "work_tail" else 1)

    def _reward(self, name: str, index: int | None) -> LevelReward:
        """Return the scaled reward by level and shape, linear from some level on."""
        index = index if index is None else whole(index, "index", "it is", least=0)
        value = reward(self.policy, self.n, name, index)
        sizes, direction = self.policy.pools.sizes(self.n), self.found.direction
        scale = self._scale(name, index)
        steady = max(index or 0, 1) if name in ("tail", "work_tail") else 1
        if steady > self.top + 1:
            raise PrecisionExhausted(
                f"{name} {index} lies beyond the {self.top} levels there are; ask for more digits or a smaller index"
            )
        slope = 0
        if name == "mean_queue":
            slope = sum(size * v for size, v in zip(sizes, direction, strict=True))
        elif name == "pool_mean_queue":
            slope = sizes[index or 0] * direction[index or 0]
        low = [
            np.array([int((scale * value(lifted(s, direction, level))).p) for s in self.found.shapes])
            for level in range(steady + 1)
        ]
        return LevelReward(low, slope)


def server_system(policy: Policy, *, n: int, digits: int, most: int | None = None) -> ServerSystem:
    r"""Return comparison chains that enclose the mean queue of n servers to ``digits`` digits.

    Targets of transitions outside a finite set of shapes are replaced by larger (upper) or smaller (lower) loads; the
    rule is monotone, so that the long-run means of increasing rewards are ordered.  A Poisson function with
    :math:`QV + f \le c` on every state of the upper chain (:math:`\ge c` on the lower) proves each side.

    Parameters
    ----------
    most
        Shapes times levels up to which the search goes; by default what takes about a minute.

    Guarantee
    ---------
    The system is positive recurrent and its stationary means lie in the enclosures, provided that the rule is
    monotone and depends on differences only when all servers are busy (proved for the shipped families by coupling).

    Raises
    ------
    DoesNotExist
        The system is unstable; the message names the threshold.
    PrecisionExhausted
        The digits are not reached with ``most`` states.

    Source
    ------
    Comparison theorem and form of V: ours.
    """
    system = best_system(policy, n=n, digits=digits, most=most)
    mean = system.enclosure("mean_queue")
    if not mean.has_digits(digits):
        known = mean.certain_digits or 0
        advice = f"ask for fewer, {known} can be had" if known else "take fewer servers or a lower load"
        raise PrecisionExhausted(
            f"n = {n}: {digits} digits of the mean queue are not reached; it lies in {mean.bounds(max(known, 1) + 2)}; "
            + advice
        )
    return system


def best_system(policy: Policy, *, n: int, digits: int, levels: int = 0, most: int | None = None) -> ServerSystem:
    """Return what :func:`server_system` does, or the system of the most digits that ``most`` states can give.

    ``levels``: of the free ones there are at least so many, if that leaves room for shapes.
    """
    n, digits = checked(policy, n), whole(digits, "digits", "at least one digit is needed; give")
    if n > MOST_SERVERS:
        raise InputError(f"n = {n}: at most {MOST_SERVERS} servers are enclosed; leave out n for the limit of many")
    require_stable(policy, n)
    states, best = most or states_for(n, digits), None
    effort = first_effort(policy, n, digits)
    effort = replace(effort, top=max(effort.top, min(levels, states // LEAST_SHAPES)))
    for _ in range(ROUNDS):
        try:
            system = _system(policy, n, effort, states)
        except PrecisionExhausted:
            break
        try:
            mean = system.enclosure("mean_queue")
        except PrecisionExhausted:
            effort = replace(effort, threshold=effort.threshold / 10, top=effort.top + max(2, effort.top // 4))
            continue
        best = system
        if mean.has_digits(digits):
            return system
        effort = effort.raised(mean, policy.load, system.found.leaving(system.law))
    best = best or _largest(policy, n, digits, most)
    try:
        best.enclosure("mean_queue")
    except PrecisionExhausted as error:
        known = policy.stability_limit(n) is not None
        more = "" if known else ", nor is it known whether this system is stable"
        raise PrecisionExhausted(
            f"n = {n}: no digit of the mean queue is reached with {states} states{more}; "
            "take fewer servers, a lower load or a buffer, or leave out n for the limit of many"
        ) from error
    return best


def _listed(proof: Certificate) -> dict[str, Any]:
    return {
        "values": [[_spelled(v) for v in row] for row in proof.values],
        "alpha": _spelled(proof.alpha),
        "linear": [_spelled(v) for v in proof.linear],
        "constant": [_spelled(v) for v in proof.constant],
    }


def _spelled(x: Any) -> str:
    whole = int(x)
    return f"{'-' if whole < 0 else ''}0x{abs(whole):x}"


def _system(policy: Policy, n: int, effort: Effort, states: int) -> ServerSystem:
    found, law = grown(
        ShapeSet(policy, n),
        threshold=effort.threshold,
        levels=swept_levels(n, effort),
        most=states // (effort.top + 1),
    )
    return _extended(found, law, effort)


def _largest(policy: Policy, n: int, digits: int, most: int | None) -> ServerSystem:
    """Return the system for as many digits as fit: shapes by falling inflow until the states are used up."""
    found, effort = ShapeSet(policy, n), first_effort(policy, n, 1)
    for fewer in range(1, digits + 1):
        tried = first_effort(policy, n, fewer)
        states = most or states_for(n, fewer)
        room = (states // 6 if n <= 3 else states) // (tried.top + 1)  # sparse factors fill in
        if room < len(found.shapes):
            break
        effort = tried
        try:
            grown(found, threshold=effort.threshold, levels=swept_levels(n, effort), most=room)
        except PrecisionExhausted:
            break
    return _extended(found, swept_law(found, swept_levels(n, effort)), effort)


def _extended(found: ShapeSet, law: NDArray[np.float64], effort: Effort) -> ServerSystem:
    """Return the system with the law continued from the levels that were swept to all of them."""
    beyond = [law[-1] * math.exp(-effort.decay * (k + 1)) for k in range(effort.top + 1 - len(law))]
    bits = int(effort.digits * 3.33) + (45 if effort.digits > FEW_DIGITS else 22)
    return ServerSystem(found.policy, found.n, found, np.vstack([law, *beyond]), effort.top, bits)
