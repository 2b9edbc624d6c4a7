"""Two servers of different speeds as a chain on pairs: a route of its own, also for rules that starve a queue."""

from dataclasses import replace
from typing import Any

from flint import fmpq

from exactchains.countable_chain import CountableChain, Point, Reward
from exactchains.enclosure import Enclosure, Result
from exactchains.solvers.infinite import expectation
from exactchains.truth import InputError, PrecisionExhausted, Undecided
from meanfield.models.idle import JIQ
from meanfield.models.policy import Policy
from meanfield.models.random import RandomBySpeed
from meanfield.models.shortest import JSQ, SpeedAwareJSQ

__all__ = ["pair_chain", "pair_expectation"]

Sums = dict[Point | None, fmpq]  # weights of probabilities of pairs; None: the constant


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
    """Return a mean of the two-server system with a certificate: ``mean_queue``, ``pool_mean_queue``.

    With an idle-queue rule of uniform fallback also ``tail``, ``joined``, ``busy`` and ``idle``, without one.
    """
    if name == "mean_queue":
        return expectation(pair_chain(policy), Reward(0, fmpq(1, 2), fmpq(1, 2)), digits=digits)
    if name == "pool_mean_queue" and index in (0, 1):
        return expectation(pair_chain(policy), Reward(0, 1 - index, index), digits=digits)
    if not isinstance(policy, JIQ) or policy.fallback != "uniform" or name not in ("tail", "joined", "busy", "idle"):
        raise InputError(f"{name}: a pair chain gives mean_queue and pool_mean_queue of pool 0 or 1")
    law, chain = _balanced(policy, name, index or 0), pair_chain(policy)
    points = {x: law[None] + w for x, w in law.items() if x is not None and w != 0}
    if not points:
        return Result(Enclosure.exact(law[None]), method="flow balance")
    try:
        found = expectation(chain, Reward(law[None], 0, 0, points), digits=digits)
    except Undecided as error:  # weights that grow with the level
        raise PrecisionExhausted(f"{name} {index}: too far out for the pair chain; take a smaller index") from error
    return replace(found, method=f"{found.method}, flow balance", certificate=None)


def _balanced(policy: JIQ, name: str, index: int) -> Sums:
    r"""Return a probability as a constant plus a weighted sum of probabilities of pairs.

    a, b, z: the fast, the slow, both servers are idle; s = 1 if the job then joins the fast one, 0 if either.  Flow
    balance: :math:`\lambda (1 + a - b + s z) = \mu_1 (1 - a)`, :math:`\lambda (1 + b - a - s z) = \mu_2 (1 - b)`, and
    :math:`\mu_j P(x_j > k) = \lambda P(x_j \ge k, \text{the other is busy})` for k >= 1.
    """
    load, (fast, slow) = policy.load, policy.pools.speeds
    det = (fast + load) * (slow + load) - load * load
    moved = load * policy.law(((0,), (0,)))[0, 0] * 2 - load  # s load
    idle: list[Sums] = [
        {None: ((fast - load) * (slow + load) + load * (slow - load)) / det, (0, 0): -moved * slow / det},
        {None: ((slow - load) * (fast + load) + load * (fast - load)) / det, (0, 0): moved * fast / det},
    ]

    def tail(j: int, k: int) -> Sums:
        found = _sum((1, {None: fmpq(1)}), (-1, idle[j])) if k else {None: fmpq(1)}
        for level in range(1, k):
            alone = {(i, 0) if j == 0 else (0, i): fmpq(1) for i in range(level)}
            rest = _sum((1, found), (-1, idle[1 - j]), (1, alone))
            found = _sum((load / policy.pools.speeds[j], rest))
        return found

    if name == "busy":
        return tail(index, 1)
    if name == "idle":
        return _sum((fmpq(1, 2), idle[0]), (fmpq(1, 2), idle[1]))
    if name == "tail":
        return _sum((fmpq(1, 2), tail(0, index)), (fmpq(1, 2), tail(1, index)))
    return _sum((fast / (2 * load), tail(0, index + 1)), (slow / (2 * load), tail(1, index + 1)))


def _sum(*terms: tuple[Any, Sums]) -> Sums:
    found: Sums = {None: fmpq(0)}
    for factor, part in terms:
        for key, x in part.items():
            found[key] = found.get(key, fmpq(0)) + factor * x
    return found
