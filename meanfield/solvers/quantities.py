"""Any quantity of any policy, at n servers or in the limit, by the method that fits: one entry function."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from flint import fmpq

from exactchains.enclosure import Enclosure, Result
from exactchains.solvers.poisson import variance_constant
from exactchains.solvers.stationary import stationary
from exactchains.truth import InputError, PrecisionExhausted, Undecided
from meanfield.closed_forms import FluidPoint, equilibrium, optimal_response, separate_loads
from meanfield.finite import exact_chain, reward
from meanfield.models.idle import JIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy, checked
from meanfield.models.pools import whole
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from meanfield.solvers.critical import beyond_recursion, critical_response
from meanfield.solvers.effort import MOST_DIGITS, zeros
from meanfield.solvers.enclosures import ServerSystem, best_system, require_stable
from meanfield.solvers.fixed_point import FixedPoint, fixed_point
from meanfield.solvers.krawczyk import SampledPoint, sampled_equilibrium
from meanfield.solvers.one_gate import Gate, one_gate

__all__ = ["QUANTITIES", "balancing_quantity", "starving"]

QUANTITIES = (
    "mean_queue",
    "mean_response",
    "speedup",
    "tail",
    "joined",
    "busy",
    "idle",
    "pool_mean_queue",
    "blocking",
    "time_average_variance",
    "stability_limit",
    "optimal_response",
)
MOST_BITS = 1_000_000  # of exact powers
LISTED = 100_000  # states of a comparison chain up to which its Poisson function is listed in a certificate
FAR = 1010  # digits at n servers: 1000, and those that callers spare
SPARE = (2, 6, 14, 30)  # digits asked for beyond those wanted, until every quantity has them

System = FixedPoint | FluidPoint | Gate | ServerSystem


def balancing_quantity(
    policy: Policy,
    name: str,
    *,
    index: int | None = None,
    n: int | None = None,
    buffer: int | None = None,
    digits: int = 30,
) -> Result:
    """Return one quantity, certain to ``digits`` digits.

    ``n = None``: the limit of many servers.  ``buffer``: at most so many jobs at each of n servers, a job sent to a
    full server is lost; without it queues are unlimited, and stability is decided first.

    Raises
    ------
    DoesNotExist
        The system is unstable; the message names the threshold.
    Undecided
        Stability, or the number of digits, could not be decided.
    InputError
        The quantity, index or n does not fit the policy.
    """
    if name not in QUANTITIES:
        raise InputError(f"quantity {name!r}: allowed are {', '.join(QUANTITIES)}")
    digits = whole(digits, "digits", "at least one digit is needed; give")
    if n is not None:
        n = checked(policy, n)
    if index is not None:
        index = whole(index, "index", "it is", least=0)
    if name in ("busy", "pool_mean_queue") and not 0 <= (index or 0) < len(policy.pools):
        raise InputError(f"{name}: index {index}; pools are 0 to {len(policy.pools) - 1}, fastest first")
    if name == "stability_limit":
        return _stability(policy, n)
    if name == "optimal_response":
        best = optimal_response(policy.pools, policy.load)
        return Result(Enclosure.exact(best.value), name, method="knapsack, dual multiplier " + str(best.multiplier))
    if buffer is not None:
        return _buffered(policy, name, index, (_needed(n, buffer), buffer, digits))
    if name in ("blocking", "time_average_variance"):
        raise InputError(f"{name} needs buffer, the number of jobs that fit at a server, and n")
    require_stable(policy, n)
    if name == "speedup":
        found = balancing_quantity(policy, "mean_response", n=n, digits=digits + 1)
        ends = [1 / ((1 - policy.load) * x) for x in (found.upper, found.lower)]
        return replace(
            found, enclosure=Enclosure(ends[0], ends[1], found.enclosure.rigor), quantity=name, certificate=None
        )
    if name == "mean_response":
        for more in (0, 1):
            mean = balancing_quantity(policy, "mean_queue", n=n, digits=digits + more)
            found = mean.enclosure
            little = Enclosure(found.lower / policy.load, found.upper / policy.load, found.rigor)
            if little.has_digits(digits):
                break
        return replace(mean, enclosure=little, quantity=name)
    if name == "mean_queue" and n is None and isinstance(policy, PowerOfD) and beyond_recursion(policy):
        mean = critical_response(policy, digits=digits + 2)
        little = Enclosure(mean.lower * policy.load, mean.upper * policy.load)
        return Result(little, name, index, "outward rounded recursion, the rest by integrals")
    return _known(policy, name, index, n) or _solved(policy, name, index, (n, digits))


def _known(policy: Policy, name: str, index: int | None, n: int | None) -> Result | None:
    """Return what flow balance or a geometric law gives exactly."""
    load, one_pool = policy.load, len(policy.pools) == 1
    loads = (load,) if n == 1 else separate_loads(policy)
    if loads is not None:
        return Result(_separate(policy, loads, name, index or 0), name, index, "every queue is M/M/1")
    if name in ("tail", "joined") and index == 0:
        return Result(Enclosure.exact(1), name, index, "every server has at least 0 jobs")
    single = one_pool and (name == "busy" or (name == "tail" and index == 1))
    if single or (one_pool and name == "idle"):
        return Result(Enclosure.exact(1 - load if name == "idle" else load), name, index, "flow balance")
    return None


def _separate(policy: Policy, loads: tuple[fmpq, ...], name: str, index: int) -> Enclosure:
    """Return a quantity of M/M/1 queues with these loads, one a pool."""
    if name in ("tail", "joined") and index * int(policy.load.q).bit_length() > MOST_BITS:
        raise PrecisionExhausted(f"{name} {index}: an exact power of more than {MOST_BITS} bits; take a smaller index")
    if name in ("busy", "pool_mean_queue"):
        x = loads[index]
        return Enclosure.exact(x if name == "busy" else x / (1 - x))
    value = fmpq(0)
    for pool, x in zip(policy.pools, loads, strict=True):
        here = {"tail": x**index, "joined": x**index, "idle": 1 - x}.get(name, x / (1 - x))
        value += pool.fraction * here * (pool.speed * x / policy.load if name == "joined" else 1)
    return Enclosure.exact(value)


def _solved(policy: Policy, name: str, index: int | None, target: tuple[int | None, int]) -> Result:
    n, digits = target
    if n is not None and digits > FAR:
        raise InputError(
            f"digits = {digits}: at n servers with unlimited queues at most 1000 are found; take fewer, or set buffer"
        )
    few = n is not None and n > 3  # where more digits cost minutes
    for spare in ((0,) if few else (0, *SPARE)) if name == "mean_queue" else SPARE:
        if (
            n is not None
            and isinstance(policy, JIQ)
            and policy.pools.sizes(n) == (1, 1)
            and (name.endswith("mean_queue") or starving(policy, n))
        ):
            from meanfield.solvers.two_servers import pair_expectation  # imports scipy.optimize, which takes time

            return pair_expectation(policy, name, index, digits=digits)
        levels = (index or 0) + (name == "joined") if name in ("tail", "joined") else 0
        wanted = digits + spare + (zeros(policy, n, levels) if n is not None and levels > 1 else 0)
        if n is not None and levels > 1 and wanted > MOST_DIGITS:
            raise PrecisionExhausted(f"{name} {index}: too rare, about {wanted - digits} zeros; take a smaller index")
        system, method = _system(policy, n, wanted, levels)
        found = _read(system, name, index)
        if found.has_digits(digits) and (spare or few or "(" not in found.digits(digits)):
            return Result(found, name, index, method, certificate=_certificate(system, name, index))
        if isinstance(system, ServerSystem) and not system.enclosure("mean_queue").has_digits(wanted):
            break  # no more states to take
    if found.has_digits(digits):
        return Result(found, name, index, method, certificate=_certificate(system, name, index))
    known = found.certain_digits or 0
    advice = f"ask for fewer, {known} can be had" if known else "take fewer servers or a lower load"
    raise PrecisionExhausted(
        f"{name}: {digits} digits are not reached; it lies in {found.bounds(max(known, 1) + 2)}; {advice}"
    )


def starving(policy: Policy, n: int | None) -> str:
    """Return why no comparison chain of n servers is stable although the system may be; empty where one is."""
    if n is None or not isinstance(policy, JIQ) or policy.fallback != "uniform":
        return ""
    if policy.load < min(policy.pools.speeds):
        return ""
    name = type(policy).__name__
    return (
        f"{name}, n = {n}: the uniform fallback starves servers slower than the load, and no two-sided bound is known"
    )


@lru_cache(maxsize=32)
def _system(policy: Policy, n: int | None, digits: int, levels: int) -> tuple[System, str]:
    if n is None:
        if isinstance(policy, PowerOfD):
            found = fixed_point(policy, digits=digits, levels=levels)
            how = "outward rounded recursion" if "terms" in found.proof else "sub- and super-solution"
            return found, f"{how}, {found.levels} levels"
        if policy.d is not None:
            point = sampled_equilibrium(policy, digits=digits, levels=levels)
            return point, f"Krawczyk operator, {len(point.levels[0])} levels; unique in its box"
        return equilibrium(policy, digits=digits), "equilibrium of the fluid limit"
    if starving(policy, n):
        raise Undecided(
            f"{starving(policy, n)}; `exaq drift` bounds the mean from above; else set buffer, or fallback=speed"
        )
    system = best_system(policy, n=n, digits=digits, levels=levels)
    if isinstance(policy, SpeedAwareJSQ | JSQ) and not system.enclosure("mean_queue").has_digits(digits):
        try:
            gate = one_gate(policy, n=n, digits=digits)
        except PrecisionExhausted:
            pass  # the chains are what there is
        else:
            return gate, f"one-gate bound, box of {len(gate.box.states)} states"
    return system, f"comparison chains, {len(system.found.shapes)} shapes, {system.top + 1} levels"


def _read(system: System, name: str, index: int | None) -> Enclosure:
    if name == "joined":  # flow balance: s_{k+1} = load P(joined server has at least k jobs)
        return _joined(system, (index or 0) + 1)
    if isinstance(system, Gate | ServerSystem):
        return system.enclosure(name, index)
    if name == "mean_queue":
        return system.mean_queue
    if name == "tail":
        return system.tail(index or 0)
    if isinstance(system, FixedPoint):
        return system.mean_queue  # pool_mean_queue of the only pool
    if name == "busy":
        return system.pool_tail(index or 0, 1)
    if name == "pool_mean_queue":
        return system.pool_mean_queue(index or 0)
    busy = system.tail(1)
    return Enclosure(1 - busy.upper, 1 - busy.lower, busy.rigor)


def _joined(system: System, level: int) -> Enclosure:
    if isinstance(system, FixedPoint):
        busy, load = system.tail(level), system.policy.load
    elif isinstance(system, FluidPoint):
        load, parts = system.load, [(p.fraction * p.speed, j) for j, p in enumerate(system.pools)]
        tails = [(w, system.pool_tail(j, level)) for w, j in parts]
        low, high = (sum((w * x for w, x in side), fmpq(0)) for side in zip(*_ends(tails), strict=True))
        busy = Enclosure(low, high, min(t.rigor for _, t in tails))
    else:
        busy, load = system.enclosure("work_tail", level), _policy(system).load
    return Enclosure(busy.lower / load, min(busy.upper / load, fmpq(1)), busy.rigor)


def _ends(weighted: list[tuple[fmpq, Enclosure]]) -> list[tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]]:
    return [((w, x.lower), (w, x.upper)) for w, x in weighted]


def _policy(system: Gate | ServerSystem) -> Policy:
    return system.policy if isinstance(system, ServerSystem) else system.box.policy


def _certificate(system: System, name: str, index: int | None) -> dict[str, Any] | None:
    if isinstance(system, ServerSystem):
        small = len(system.found.shapes) * system.top <= LISTED
        return system.certificate(name, index) if small else None
    if isinstance(system, FixedPoint):
        return system.certificate(tails=(index,) if name == "tail" and index and index > 1 else ())
    if isinstance(system, SampledPoint) and (name == "mean_queue" or (name == "tail" and index)):
        return system.certificate(tails=(index,) if name == "tail" and index else ())
    return None


def _stability(policy: Policy, n: int | None) -> Result:
    limit = policy.stability_limit(n)
    if limit is None:
        raise Undecided(f"stability_limit: not known for {type(policy).__name__} at n = {n} with these pools")
    found = limit if isinstance(limit, Enclosure) else Enclosure.exact(limit)
    return Result(found, "stability_limit", method="closed form")


def _needed(n: int | None, buffer: int) -> int:
    if n is None:
        raise InputError(f"buffer = {buffer}: a buffer needs n, the number of servers")
    return n


def _buffered(policy: Policy, name: str, index: int | None, size: tuple[int, int, int]) -> Result:
    n, buffer, digits = size
    if name == "time_average_variance":
        return _time_average_variance(policy, n, buffer, digits)
    law, chain = _buffered_law(policy, n, buffer, digits)
    method = f"exact chain of {len(chain.states)} states, buffer {buffer}: {law.method}"
    if name == "blocking":
        return Result(chain.blocking(law), name, index, method)
    if name == "joined":
        work, lost = chain.quantity(law, "work_tail", (index or 0) + 1), chain.blocking(law)
        low, high = work.lower / (1 - lost.lower), work.upper / (1 - lost.upper)
        return Result(Enclosure(low / policy.load, high / policy.load, work.rigor), name, index, method)
    if name == "speedup":
        raise InputError("speedup compares with random routing without loss; leave out buffer")
    if name == "mean_response":  # Little's law for the jobs that are let in
        mean, lost = chain.quantity(law, "mean_queue"), chain.blocking(law)
        low, high = mean.lower / (1 - lost.lower), mean.upper / (1 - lost.upper)
        return Result(Enclosure(low / policy.load, high / policy.load, mean.rigor), name, index, method)
    return Result(chain.quantity(law, name, index), name, index, method)


def _time_average_variance(policy: Policy, n: int, buffer: int, digits: int) -> Result:
    chain = exact_chain(policy, n=n, buffer=buffer)
    found = variance_constant(chain.chain, list(map(reward(policy, n, "mean_queue"), chain.states)), digits=digits)
    method = f"Poisson equation of the exact chain of {len(chain.states)} states, buffer {buffer}"
    return Result(found, "time_average_variance", method=method)


@lru_cache(maxsize=8)
def _buffered_law(policy: Policy, n: int, buffer: int, digits: int) -> tuple[Any, Any]:
    chain = exact_chain(policy, n=n, buffer=buffer)
    return stationary(chain.chain, digits=digits + 3), chain
