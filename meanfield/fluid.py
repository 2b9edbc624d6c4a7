"""Fluid limits with two time scales: rules that see all servers, in the limit of many, in exact arithmetic."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from flint import fmpq

from exactchains.number import rational
from exactchains.truth import InputError
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.policy import Class, Policy
from meanfield.models.shortest import JSQ, SpeedAwareJSQ

__all__ = ["fluid_drift", "joining_rates", "regime_rates"]

Tails = list[list[fmpq]]


def fluid_drift(policy: Policy, tails: Sequence[Sequence[Any]]) -> list[list[fmpq]]:
    r"""Return the derivative of the tails, with ``tails[j]`` = x_{j,0} = 1, x_{j,1}, ..., x_{j,K} and 0 beyond.

    .. math:: \dot x_{j,k} = \sigma_{j,k-1}/\gamma_j - \mu_j (x_{j,k} - x_{j,k+1}),

    :math:`\sigma` as in :func:`joining_rates`.  The right-hand side is discontinuous and is evaluated by its regimes.

    Examples
    --------
    >>> fluid_drift(SpeedAwareJSQ("1/2:3/2,1/2:1/2", "1/2"), [[1, "2/3", 0], [1, 0, 0]])
    [[0, 0], [0, 0]]
    """
    x = _exact(policy, tails)
    joined = joining_rates(policy, x)
    found = []
    for j, pool in enumerate(policy.pools):
        row = [
            joined.get((j, k - 1), fmpq(0)) / pool.fraction - pool.speed * (x[j][k] - x[j][k + 1])
            for k in range(1, len(tails[j]))
        ]
        found.append(row)
    return found


def joining_rates(policy: Policy, tails: Sequence[Sequence[Any]]) -> dict[Class, fmpq]:
    r"""Return class (pool, jobs) -> rate at which jobs join it, per server; the rates sum to the load.

    Classes below the first of positive density hold finitely many servers, refilled by service completions at rate
    :math:`a_c = \gamma_j \mu_j (x_{j,k+1} - x_{j,k+2})`.  On the fast time scale they form a preemptive priority queue
    served by the arrivals, whose prefix sums are M/M/1: :math:`\sigma_c = \min(a_c, \lambda - \sigma_1 - \dots -
    \sigma_{c-1})`, and what is left goes to the classes of positive density.

    Source
    ------
    P3, P4 speak of the invariant law of the fast chain; its emptiness in closed form is ours.
    """
    x = _exact(policy, tails)
    return regime_rates(policy, x, [_lowest(row) for row in x])


def regime_rates(policy: Policy, x: Any, full: Sequence[int], known: Any = None) -> dict[Class, Any]:
    """Return the rates of the regime in which pool j has ``full[j]`` levels that hold all its servers.

    Numbers of any kind: ``known`` has the load, pools and fallback of the policy in the kind of x, None: exact; its
    ``thin`` is a density below which a level that begins to empty is shared by what drains, to which densities tend.
    """
    values, aware = known or policy, isinstance(policy, SpeedAwareJSQ | SpeedAwareJIQ)
    if isinstance(policy, SpeedAwareJSQ) or (isinstance(policy, JSQ) and policy.counts == "jobs"):
        return _by_level(values, x, full, min(full), aware=aware)
    if isinstance(policy, JIQ):
        if min(full) == 0:
            return _by_level(values, x, full, 0, aware=aware)
        return _with_fallback(values, x, aware=aware)
    raise InputError(f"{type(policy).__name__}: a fluid limit is known for JSQ and JIQ, speed-aware or not")


def _by_level(values: Any, x: Any, full: Sequence[int], level: int, *, aware: bool) -> dict[Class, Any]:
    """Serve classes one level down, then (aware) faster pools that are full at this level, then this level."""
    pools = list(values.pools)
    starved = [(j, level - 1) for j in range(len(pools))] if level else []
    here = [j for j in range(len(pools)) if full[j] == level]
    if aware:
        found, left = _served(values, x, [*starved, *((j, level) for j in range(here[0]))])
        found[here[0], level] = left
        return found
    found, left = _shared(values, x, starved)
    density = {j: pools[j].fraction * max(x[j][level] - x[j][level + 1], 0 * left) for j in here}
    if not sum(density.values(), 0 * left) > getattr(values, "thin", 0):  # they begin to empty, as fast as they drain
        density = {j: max(_inflow(values, x, (j, level)), pools[j].fraction * 1e-300) for j in here}
    total = sum(density.values(), 0 * left)
    for j in range(len(pools)):
        found[j, level] = left * density[j] / total if j in density else 0 * left
    return found


def _with_fallback(policy: Any, x: Any, *, aware: bool) -> dict[Class, Any]:
    idle = [(j, 0) for j in range(len(x))]
    found, left = _served(policy, x, idle) if aware else _shared(policy, x, idle)
    for j, pool in enumerate(policy.pools):
        weight = pool.fraction * (pool.speed if policy.fallback == "speed" else 1)
        for k in range(1, len(x[j]) - 1):
            found[j, k] = found.get((j, k), 0 * left) + left * weight * (x[j][k] - x[j][k + 1])
    return found


def _inflow(policy: Any, x: Any, c: Class) -> Any:
    j, k = c
    pool = list(policy.pools)[j]
    return pool.fraction * pool.speed * (x[j][k + 1] - x[j][k + 2])


def _served(policy: Any, x: Any, ranked: list[Class]) -> tuple[dict[Class, Any], Any]:
    """Return the rates of ranked classes, first come first, and the rate that is left."""
    found, left = {}, policy.load
    for c in ranked:
        found[c] = min(_inflow(policy, x, c), left)
        left = left - found[c]
    return found, left


def _shared(policy: Any, x: Any, equal: list[Class]) -> tuple[dict[Class, Any], Any]:
    """Return the rates of classes of one rank: their inflows, or the load in proportion to them when it is less."""
    inflow = {c: _inflow(policy, x, c) for c in equal}
    total = sum(inflow.values(), 0 * policy.load)
    if total <= policy.load:
        return inflow, policy.load - total
    return {c: policy.load * a / total for c, a in inflow.items()}, 0 * total


def _lowest(row: list[fmpq]) -> int:
    """Return the first level of positive density."""
    return next(k for k in range(len(row) - 1) if row[k + 1] < 1)


def _exact(policy: Policy, tails: Sequence[Sequence[Any]]) -> Tails:
    if len(tails) != len(policy.pools):
        raise InputError(f"tails of {len(tails)} pools; the policy has {len(policy.pools)}")
    found = [[*(rational(v, "tail") for v in row), fmpq(0), fmpq(0)] for row in tails]
    for row in found:
        if row[0] != 1 or any(a < b for a, b in pairwise(row)):
            raise InputError("tails of a pool start with 1 and do not increase")
    return found
