"""The response-time distribution of first-come-first-served servers, equal or in pools."""

from collections.abc import Callable

from flint import arb, fmpq

from exactchains.domain import Balls, ball_ends
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import InputError, PrecisionExhausted
from meanfield.closed_forms import equilibrium
from meanfield.models.policy import Policy
from meanfield.models.random import RandomBySpeed
from meanfield.solvers.enclosures import best_system, require_stable
from meanfield.solvers.quantities import balancing_quantity

__all__ = ["response_ccdf"]

MOST_LEVELS = 400
POOL_DIGITS, UNIT = 9, 2**40  # digits for pools at n servers: weights of levels are whole multiples of 1/UNIT


def response_ccdf(policy: Policy, *, at: fmpq, n: int | None = None, digits: int = 30) -> Result:
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
    The probability lies in the enclosure; terms that are left out are bounded by the last one kept.

    Raises
    ------
    InputError
        A negative time, or more than 9 digits with pools at n servers.
    """
    if at < 0:
        raise InputError(f"at = {at}: a time is >= 0")
    if len(policy.pools) > 1:
        require_stable(policy, n)
        return Result(_pooled(policy, at, n, digits), "response_ccdf", method="Erlang mixture over pools and queues")

    def joined(i: int) -> Enclosure:
        return balancing_quantity(policy, "joined", index=i, n=n, digits=digits + 4).enclosure

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
    raise PrecisionExhausted(
        f"response_ccdf: more than {MOST_LEVELS} levels matter at this time; ask for a smaller one"
    )


def _pooled(policy: Policy, at: fmpq, n: int | None, digits: int) -> Enclosure:
    if isinstance(policy, RandomBySpeed):  # every queue is M/M/1 with service rate m and arrival rate m lambda
        with Balls(int(3.33 * digits) + 64).working():
            terms = (arb(p.fraction * p.speed) * (-arb(p.speed * (1 - policy.load) * at)).exp() for p in policy.pools)
            return Enclosure.of(sum(terms, arb(0)))
    if n is None:
        return _limit(policy, at, digits)
    if digits > POOL_DIGITS:
        raise InputError(f"digits = {digits}: response_ccdf with pools at n servers gives at most {POOL_DIGITS} digits")
    for spare in (2, 5):
        system = best_system(policy, n=n, digits=digits + spare)
        sides = [_weights(at * v, v / (n * policy.load), system.levels(j)) for j, v in enumerate(policy.pools.speeds)]
        found = system.weighted_tails([low for low, _ in sides], [high for _, high in sides])
        found = Enclosure(max(found.lower / UNIT, fmpq(0)), min(found.upper / UNIT, fmpq(1)))
        if found.has_digits(digits):
            return found
    raise PrecisionExhausted(f"response_ccdf: {digits} digits are not reached; it lies in {found.bounds(4)}")


def _weights(mean: fmpq, factor: fmpq, most: int) -> tuple[list[int], list[int]]:
    """Return UNIT * factor * Poisson(mean) weights of levels 1, 2, .., rounded down and up; the last takes the rest."""
    low, high = [], []
    with Balls(128).working():
        weight, left = (-arb(mean)).exp(), arb(1)
        for i in range(most):
            ends = ball_ends(weight * arb(factor) * UNIT)
            low.append(max(int(ends[0].floor()), 0))
            high.append(int(ends[1].ceil()))
            left -= weight
            if left < arb(2) ** -44:
                break
            weight = weight * arb(mean) / (i + 1)
        high[-1] += int(ball_ends(left.abs_upper() * arb(factor) * UNIT)[1].ceil())
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
