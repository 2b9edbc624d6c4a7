"""The response-time distribution of first-come-first-served servers, equal or in pools."""

import math
from collections.abc import Callable
from typing import Any

from flint import arb, fmpq

from exactchains.domain import Balls, ball_ends
from exactchains.enclosure import Enclosure, Result
from exactchains.number import rational
from exactchains.truth import InputError, PrecisionExhausted, Undecided
from meanfield.closed_forms import equilibrium, separate_loads
from meanfield.models.policy import Policy, checked
from meanfield.models.pools import whole
from meanfield.solvers.effort import FEW_DIGITS, MOST_DIGITS, first_effort
from meanfield.solvers.enclosures import best_system, require_stable
from meanfield.solvers.quantities import balancing_quantity, starving

__all__ = ["response_ccdf"]

MOST_LEVELS = 400
ROUNDS = 6


def response_ccdf(policy: Policy, *, at: Any, n: int | None = None, digits: int = 30) -> Result:
    r"""Return P(T > t), T the time in system of a job, at servers that work first come first served.

    A job that joins a server of speed m with j jobs stays an Erlang time of j + 1 stages of rate m, hence

    .. math:: P(T > t) = \sum_{m} \sum_{i \ge 0} e^{-m t} \frac{(m t)^i}{i!} P_{m,i},

    :math:`P_{m,i}` the probability of joining a server of speed m with at least i jobs: by flow balance
    :math:`m / (n \lambda)` times the mean number of servers of speed m with at least i + 1 jobs.

    Parameters
    ----------
    at
        The time t >= 0, in mean service times.

    Guarantee
    ---------
    The probability lies in the enclosure; terms that are left out are bounded by the last one kept.  At n servers the
    sum is one increasing reward of the comparison chains.

    Raises
    ------
    InputError
        A negative time.
    PrecisionExhausted
        The digits are not reached: at late times the probability is too small for the states at hand.
    """
    at, digits = rational(at, "at"), whole(digits, "digits", "at least one digit is needed; give")
    if at < 0:
        raise InputError(f"at = {at}: a time is >= 0")
    if n is not None:
        n = checked(policy, n)
    require_stable(policy, n)
    if at == 0:
        return Result(Enclosure.exact(1), "response_ccdf", method="every service takes time")
    loads = (policy.load,) if n == 1 else separate_loads(policy)
    if loads is not None:
        return Result(_separate(policy, loads, at, digits), "response_ccdf", method="every queue is M/M/1")
    if starving(policy, n):
        raise Undecided(f"{starving(policy, n)} of this distribution; take fallback=speed, or leave out n")
    if n is not None:
        return Result(_of_servers(policy, at, n, digits), "response_ccdf", method="Erlang mixture, comparison chains")
    if len(policy.pools) > 1:
        return Result(_limit(policy, at, digits), "response_ccdf", method="Erlang mixture over pools and queues")

    def joined(i: int) -> Enclosure:
        return balancing_quantity(policy, "joined", index=i, digits=digits + 4).enclosure

    found = _mixed(joined, at, digits)
    return Result(found, "response_ccdf", method="Erlang mixture over the queue that a job joins")


def _mixed(joined: Callable[[int], Enclosure], at: fmpq, digits: int) -> Enclosure:
    balls = Balls(int(3.33 * digits) + 64)
    lower, upper, seen = arb(0), arb(0), arb(0)
    with balls.working():
        weight = (-arb(at)).exp()
        small = arb(10) ** -(digits + 1)
        for i in range(MOST_LEVELS):
            share = joined(i)
            lower += weight * arb(share.lower)
            upper += weight * arb(share.upper)
            seen += weight
            rest = (1 - seen).abs_upper() * arb(share.upper)
            if rest < small * lower:
                return Enclosure(max(ball_ends(lower)[0], fmpq(0)), min(ball_ends(upper + rest)[1], fmpq(1)))
            weight = weight * arb(at) / (i + 1)
    raise PrecisionExhausted(f"response_ccdf: more than {MOST_LEVELS} levels matter at this time; take an earlier one")


def _separate(policy: Policy, loads: tuple[fmpq, ...], at: fmpq, digits: int) -> Enclosure:
    """Sum over the pools: an M/M/1 queue of speed m and load x keeps a job an exponential time of rate m (1 - x)."""
    with Balls(int(3.33 * digits) + 64).working():
        found = arb(0)
        for p, x in zip(policy.pools, loads, strict=True):
            found += arb(p.fraction * p.speed * x / policy.load) * (-arb(p.speed * (1 - x) * at)).exp()
        return Enclosure.of(found)


def _of_servers(policy: Policy, at: fmpq, n: int, digits: int) -> Enclosure:
    zeros, found = _zeros(policy, at, n), Enclosure(fmpq(0), fmpq(1))
    spare = (0 if n > 3 and digits <= FEW_DIGITS else 2) + zeros
    for _ in range(ROUNDS):
        wanted = digits + spare
        if wanted > MOST_DIGITS:
            break
        levels = math.ceil(wanted * math.log(10) / first_effort(policy, n, 1).decay)
        system = best_system(policy, n=n, digits=wanted, levels=levels)
        unit = int(3.33 * wanted) + 16
        sides = [
            _weights(at * v, v / (n * policy.load), system.levels(j), unit) for j, v in enumerate(policy.pools.speeds)
        ]
        found = system.weighted_tails([low for low, _ in sides], [high for _, high in sides], unit=unit)
        found = Enclosure(max(found.lower, fmpq(0)), min(found.upper, fmpq(1)))
        if found.has_digits(digits):
            return found
        if not system.enclosure("mean_queue").has_digits(wanted):
            break  # no more states to take
        spare += _missing(found, digits)
    known = found.certain_digits or 0
    late = f"about {zeros} zeros follow the point: take an earlier time"
    advice = f"ask for fewer, {known} can be had" if known else late
    raise PrecisionExhausted(
        f"response_ccdf: {digits} digits are not reached; it lies in {found.bounds(max(known, 1) + 2)}; {advice}"
    )


def _zeros(policy: Policy, at: fmpq, n: int) -> int:
    """Return about how many zeros follow the point: queues whose tails fall as those of one fast server."""
    decay, steps = first_effort(policy, n, 1).decay, policy.direction or ()
    rate = min(float(arb(v)) * -math.expm1(-decay / step) for v, step in zip(policy.pools.speeds, steps, strict=True))
    return int(min(float(arb(at)) * rate / math.log(10), 1e9))


def _missing(found: Enclosure, digits: int) -> int:
    """Return how many digits more would make the probability certain: at least three."""
    if found.lower <= 0:
        return max(8, math.ceil(-_log10(found.upper)))
    return max(3, math.ceil(_log10(found.upper - found.lower) - _log10(found.lower)) + digits)


def _log10(x: fmpq) -> float:
    return float(arb(x).log() / arb(10).log())


def _weights(mean: fmpq, factor: fmpq, most: int, unit: int) -> tuple[list[int], list[int]]:
    """Return 2^unit * factor * Poisson(mean) weights of levels 1, 2, .., rounded down, up; the last takes the rest."""
    low, high = [], []
    with Balls(unit + 88).working():
        weight, left, scale = (-arb(mean)).exp(), arb(1), arb(factor) * arb(2) ** unit
        for i in range(most):
            ends = ball_ends(weight * scale)
            low.append(max(int(ends[0].floor()), 0))
            high.append(int(ends[1].ceil()))
            left -= weight
            if left < arb(2) ** -(unit + 4):
                break
            weight = weight * arb(mean) / (i + 1)
        high[-1] += int(ball_ends(left.abs_upper() * scale)[1].ceil())
    return low, high


def _limit(policy: Policy, at: fmpq, digits: int) -> Enclosure:
    point = equilibrium(policy, digits=digits + 4)
    lower, upper = fmpq(0), fmpq(0)
    for j, pool in enumerate(policy.pools):

        def joined(i: int, j: int = j, share: fmpq = pool.fraction * pool.speed / policy.load) -> Enclosure:
            tail = point.pool_tail(j, i + 1)
            return Enclosure(share * tail.lower, share * tail.upper)

        if point.pool_tail(j, 1).upper > 0:
            part = _mixed(joined, at * pool.speed, digits + 2)
            lower, upper = lower + part.lower, upper + part.upper
    return Enclosure(lower, min(upper, fmpq(1)))
