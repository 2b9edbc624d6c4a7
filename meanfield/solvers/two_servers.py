"""Two servers of different speeds as a chain on pairs: a route of its own, also for rules that starve a queue."""

from flint import fmpq

from exactchains.countable_chain import CountableChain, Point, Reward
from exactchains.enclosure import Result
from exactchains.solvers.infinite import expectation
from exactchains.truth import InputError
from meanfield.models.idle import JIQ
from meanfield.models.policy import Policy
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, SpeedAwareJSQ

__all__ = ["pair_chain", "pair_expectation"]


def pair_chain(policy: Policy) -> CountableChain:
    """Return the chain of (jobs at the fast server, jobs at the slow one) of a policy on two pools of one server.

    Raises
    ------
    InputError
        The pools are not two servers, or the rule looks at more than the order of the queues and who is idle.
    """
    if policy.pools.sizes(2) != (1, 1):
        raise InputError(f"pools = {policy.pools}: a pair chain needs two servers of different speeds")
    shortest = isinstance(policy, SpeedAwareJSQ) or (isinstance(policy, JSQ) and policy.counts == "jobs")
    if not (shortest or isinstance(policy, JIQ | RandomBySpeed)):
        raise InputError(f"{type(policy).__name__}: a pair chain needs JSQ, JIQ or random routing")
    speeds = policy.pools.speeds

    def rule(x: Point) -> list[tuple[Point, fmpq]]:
        moves = [((x[0] - (j == 0), x[1] - (j == 1)), speeds[j]) for j in (0, 1) if x[j]]
        for (pool, _), chance in policy.law(((x[0],), (x[1],))).items():
            moves.append(((x[0] + (pool == 0), x[1] + (pool == 1)), 2 * policy.load * chance))
        return moves

    return CountableChain.from_rule(rule, borders=[(1, -1)] if shortest else [])


def pair_expectation(policy: Policy, name: str, index: int | None, *, digits: int) -> Result:
    """Return a mean of the two-server system with a certificate: ``mean_queue``, ``busy`` and ``pool_mean_queue``."""
    if name == "mean_queue":
        wanted = Reward(0, fmpq(1, 2), fmpq(1, 2))
    elif name == "pool_mean_queue" and index in (0, 1):
        wanted = Reward(0, 1 - index, index)
    else:
        raise InputError(f"{name}: a pair chain gives mean_queue and pool_mean_queue of pool 0 or 1")
    return expectation(pair_chain(policy), wanted, digits=digits)
