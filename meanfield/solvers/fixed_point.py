"""Certified equilibria of the limit of many servers: one entry function."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar, overload

from flint import fmpq, fmpz

from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double, text, wire
from exactchains.solvers.threads import one_thread
from exactchains.truth import DoesNotExist, PrecisionExhausted, Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.pools import whole
from meanfield.solvers import bounds as sides
from meanfield.solvers.bounds import Bounds, Dyadic
from meanfield.solvers.krawczyk import SampledPoint, sampled_equilibrium
from meanfield.solvers.log_newton import LogBalance, guess
from meanfield.solvers.recursion import recursion

__all__ = ["FixedPoint", "fixed_point"]

BITS = math.log2(10)
MOST_GUARD = 6644  # bits of 1e2000
MOST_GAP, MOST_DIGITS, MOST_LEVELS = 400, 10_050, 1_000_000


@dataclass(frozen=True)
class FixedPoint:
    """The equilibrium of the limit, enclosed: tails x_1..x_K, the mean queue, and the proof of both."""

    uniqueness: ClassVar[str] = "among sequences with finite sum"

    policy: PowerOfD
    tails: list[tuple[fmpq, fmpq]]
    mean_queue: Enclosure
    proof: dict[str, Any]

    @property
    def levels(self) -> int:
        """The number of tails that were certified."""
        return len(self.tails)

    def tail(self, k: int) -> Enclosure:
        """Return the fraction of servers with at least ``k`` jobs."""
        k = whole(k, "index", "levels are counted by", least=0)
        if k <= 1:
            return Enclosure.exact(self.policy.load if k else 1)
        if k > self.levels:
            raise PrecisionExhausted(f"tail {k} lies beyond the {self.levels} levels that were certified")
        return Enclosure(*self.tails[k - 1])

    @cached_property
    def mean_response(self) -> Enclosure:
        """The mean time in system, by Little's law."""
        return Enclosure(self.mean_queue.lower / self.policy.load, self.mean_queue.upper / self.policy.load)

    def certificate(self, *, tails: tuple[int, ...] = ()) -> dict[str, Any]:
        """Return the certificate of the mean queue, and of the tails asked for, as a document to be checked."""
        p, mean = self.policy, self.mean_queue
        conclusion: dict[str, Any] = {"mean_queue": [wire(mean.lower), wire(mean.upper)]}
        if tails:
            found = [(k, self.tail(k)) for k in tails]
            conclusion["tail"] = [[k, wire(t.lower), wire(t.upper)] for k, t in found]
        return {
            "format": 1,
            "kind": "fixed-point",
            "problem": {"load": text(p.load), "eps": text(p.eps), "d": p.d, "g": p.g},
            "conclusion": conclusion,
            "proof": self.proof,
            "found_by": {"tool": "meanfield.solvers.fixed_point", "version": "0.1.0"},
        }


@overload
def fixed_point(policy: PowerOfD, *, digits: int = ..., levels: int = ...) -> FixedPoint: ...


@overload
def fixed_point(policy: Policy, *, digits: int = ..., levels: int = ...) -> FixedPoint | SampledPoint: ...


@one_thread
def fixed_point(policy: Policy, *, digits: int = 30, levels: int = 0) -> FixedPoint | SampledPoint:
    r"""Return the only equilibrium with finite mean of power of d with comparison errors, many servers.

    .. math:: x_0 = 1, \qquad x_{k+1} = \lambda P_k(x), \qquad \sum_k x_k < \infty,

    with :math:`P_k` the probability that the joined server has at least k jobs.  For any other rule that samples few
    servers see :func:`meanfield.solvers.krawczyk.sampled_equilibrium`: existence, and uniqueness in a box only.

    Parameters
    ----------
    policy
        Exact load, d, g, eps.
    digits
        Certain digits of the mean queue and of every tail up to ``levels``.
    levels
        The highest tail that must be certified.

    Guarantee
    ---------
    The equilibrium exists, is unique among sequences with finite sum, and every entry lies between the returned
    bounds.  The certificate proves it with integers alone: sub- and super-solutions of a cooperative flow, or the
    outward rounded recursion where errors occur at every gap.

    Raises
    ------
    DoesNotExist
        The load is at or above the stability limit: no equilibrium has a finite mean.
    Undecided
        The solver does not converge, or not within its limit of terms.

    Source
    ------
    Existence, uniqueness, attraction: ours, extending Vvedenskaya, Dobrushin and Karpelevich (1996).

    Examples
    --------
    >>> fixed_point(PowerOfD("9/10", d=2, g=2, eps="1/2"), digits=15).mean_response.digits(15)
    '3.29058215739068'
    """
    if not isinstance(policy, PowerOfD):
        return sampled_equilibrium(policy, digits=digits, levels=levels)
    digits = whole(digits, "digits", "give", most=MOST_DIGITS)
    levels = whole(levels, "levels", "give", least=0, most=MOST_LEVELS)
    limit = policy.stability_limit(None)
    if policy.load >= limit:
        raise DoesNotExist(
            f"load = {policy.load}: no equilibrium has a finite mean; it has one below the stability limit {limit}"
        )
    visible = policy.g != 0 and policy.d > 1 and policy.eps > 0
    plain = policy if visible else PowerOfD(policy.load, policy.d, None)
    return _by_recursion(policy, plain, digits, levels) or _by_newton(policy, digits, levels)


Found = TypeVar("Found", bound=FixedPoint | None)


def _by_recursion(policy: PowerOfD, plain: PowerOfD, digits: int, levels: int) -> FixedPoint | None:
    idle = 1 - policy.load
    guard = int(idle.q).bit_length() - int(idle.p).bit_length()  # the distance to load 1 grows to order one
    if guard > MOST_GUARD:
        raise Undecided("load: 1 - load is below 1e-2000, too near to 1 for the recursion; take a smaller load")

    def at(bits: int) -> FixedPoint | None:
        found = recursion(plain, bits=bits, digits=digits, levels=levels)
        if found is None:
            return None
        proof = {"bits": bits + 32, "terms": len(found.tails)}
        tails = [(low.fmpq(), high.fmpq()) for low, high in found.tails[: max(levels, 200)]]
        low, high = found.total
        return FixedPoint(policy, tails, _rounded(low.fmpq(), high.fmpq(), bits), proof)

    return _precise(at, digits, levels, int((digits + 2) * BITS) + 40 + guard)


def _by_newton(policy: PowerOfD, digits: int, levels: int) -> FixedPoint:
    gap = policy.g or 0
    if gap > MOST_GAP:
        raise Undecided(
            f"g = {gap}: above {MOST_GAP} the limit is solved for only where fewer than g levels give {digits} digits, "
            "which needs load * d * eps < 1; take a smaller gap, or fewer digits"
        )
    idle = nearest_double(1 - policy.load)
    if idle < 1e-100:
        raise Undecided("load: 1 - load is below 1e-100, too near to 1 for errors at bounded gaps; take a smaller load")
    if policy.load < fmpq(1, 10 ** (12 if levels else 300)):
        raise Undecided("load: below 1e-12 tails are not solved for at bounded gaps (the mean is); take a larger load")
    system = LogBalance(nearest_double(policy.load), idle, nearest_double(policy.eps), policy.d, gap)
    guard = 40 + int(-2 * math.log2(idle))

    def at(bits: int) -> FixedPoint:
        start = guess(system, bits, guard // 2 + 64, levels)
        increments = sides.refined(policy, start, bits)
        box = sides.bounds(policy, start, increments, bits=bits, spread=guard // 2)
        tails = [(_number(low), _number(high)) for low, high in zip(box.lower, box.upper, strict=True)]
        ratio = fmpq(1, 2**box.shift)
        above = _total(box.upper) + tails[-1][1] * ratio / (1 - ratio)
        return FixedPoint(policy, tails, _rounded(_total(box.lower), above, bits), _proof(box))

    return _precise(at, digits, levels, int(digits * BITS) + guard)


def _precise(at: Callable[[int], Found], digits: int, levels: int, bits: int) -> Found:
    """Return the first solution with enough certain digits, raising the precision; None where ``at`` gives up."""
    for _ in range(6):
        try:
            found = at(bits)
        except PrecisionExhausted:
            bits *= 2
            continue
        if found is None or (
            found.mean_queue.has_digits(digits) and all(found.tail(k).has_digits(digits) for k in range(1, levels + 1))
        ):
            return found
        bits += 64 + bits // 4
    raise PrecisionExhausted(f"fixed point: {digits} digits are not reached with {bits} bits; ask for fewer")


def _proof(box: Bounds) -> dict[str, Any]:
    entries = []
    for (low, below), (high, above) in zip(box.lower, box.upper, strict=True):
        e = max(below, above)
        least, most = low << (e - below), high << (e - above)
        entries.append([e, *(f"0v{fmpz(x).str(32)}" for x in (least, most - least))])
    return {"shift": box.shift, "bounds": entries}


def _rounded(lower: fmpq, upper: fmpq, bits: int) -> Enclosure:
    """Return the enclosure with dyadic ends of about ``bits`` bits, rounded outward."""
    small = max(0, int(lower.q).bit_length() - int(lower.p).bit_length())
    unit = fmpq(2) ** (bits + 8 + small)
    return Enclosure(fmpq((lower * unit).floor()) / unit, fmpq((upper * unit).ceil()) / unit)


def _number(x: Dyadic) -> fmpq:
    return fmpq(x[0], 1 << x[1])


def _total(sequence: list[Dyadic]) -> fmpq:
    e = max(own for _, own in sequence)
    return fmpq(sum(m << (e - own) for m, own in sequence), 1 << e)
