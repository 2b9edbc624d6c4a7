"""The response-time distribution of equal first-come-first-served servers."""

from collections.abc import Callable

from flint import arb, fmpq

from exactchains.domain import Balls, ball_ends
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import InputError, PrecisionExhausted
from meanfield.models.policy import Policy
from meanfield.solvers.quantities import balancing_quantity

__all__ = ["response_ccdf"]

MOST_LEVELS = 400


def response_ccdf(policy: Policy, *, at: fmpq, n: int | None = None, digits: int = 30) -> Result:
    r"""Return P(T > t), T the time in system of a job, at equal servers that work first come first served.

    A job that joins a server with j jobs stays an Erlang time of j + 1 unit stages, hence

    .. math:: P(T > t) = \sum_{i \ge 0} e^{-t} \frac{t^i}{i!} P(\text{joined server has at least } i \text{ jobs}).

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
        Servers of different speeds, or a negative time.
    """
    if len(policy.pools) > 1:
        raise InputError("response_ccdf needs servers of one speed: give one pool, pools=1:1")
    if at < 0:
        raise InputError(f"at = {at}: a time is >= 0")

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
