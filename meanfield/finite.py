"""The exact chain of a policy on n servers, lumped over exchangeable servers, with a buffer at every server."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.domain import QQ, Domain
from exactchains.truth import InputError
from meanfield.models.policy import Loads, Policy, Server, checked, routed
from meanfield.models.pools import whole

__all__ = ["ServerChain", "exact_chain", "labelled_chain", "reward"]

MAX_STATES = 1_000_000  # of an exact chain in memory

Reward = Callable[[Loads], fmpq]


@dataclass(frozen=True)
class ServerChain:
    """A finite chain of n servers; ``states[i]``: loads by pool, each ascending; ``blocked[i]``: the rate lost."""

    policy: Policy
    n: int
    buffer: int
    states: tuple[Loads, ...]
    chain: FiniteChain
    blocked: tuple[Any, ...]

    def mean(self, law: Any, reward: Reward) -> Any:
        """Return the expectation of ``reward`` under ``law``: native numbers, or a law with a mean of its own."""
        if hasattr(law, "mean"):
            return law.mean([reward(s) for s in self.states])
        domain = self.chain.domain
        with domain.working():
            terms = (x * domain.convert(reward(s)) for x, s in zip(law, self.states, strict=True))
            return sum(terms, domain.convert(0))

    def quantity(self, law: Any, name: str, index: int | None = None) -> Any:
        """Return the expectation of a named reward; see :func:`reward`."""
        return self.mean(law, reward(self.policy, self.n, name, index))

    def blocking(self, law: Any) -> Any:
        """Return the probability that an arriving job finds the buffer of its server full and is lost."""
        share = {s: b / (self.n * self.policy.load) for s, b in zip(self.states, self.blocked, strict=True)}
        return self.mean(law, share.__getitem__)


def reward(policy: Policy, n: int, name: str, index: int | None = None) -> Reward:
    """Return the state function whose mean is the quantity ``name``.

    ``mean_queue``: jobs per server; ``tail`` k: share of servers with at least k jobs; ``idle``: share of idle
    servers; ``busy`` j and ``pool_mean_queue`` j: busy share and jobs per server of pool j (0-based); ``work_tail`` k:
    speed per server of those with at least k jobs.
    """
    if name in ("busy", "pool_mean_queue"):
        if index is None or not 0 <= index < len(policy.pools):
            raise InputError(f"{name}: index {index}; pools are 0 to {len(policy.pools) - 1}, fastest first")
        pool = index
        if name == "busy":
            return lambda s: fmpq(sum(q > 0 for q in s[pool]), len(s[pool]))
        return lambda s: fmpq(sum(s[pool]), len(s[pool]))
    if name in ("tail", "work_tail"):
        if index is None or index < 0:
            raise InputError(f"{name}: index {index}; levels are 0, 1, 2, ...")
        level, speeds = index, policy.pools.speeds
        if name == "work_tail":
            return lambda s: sum((v * sum(q >= level for q in x) for v, x in zip(speeds, s, strict=True)), fmpq(0)) / n
        return lambda s: fmpq(sum(q >= level for queue in s for q in queue), n)
    if name == "idle":
        return lambda s: fmpq(sum(q == 0 for queue in s for q in queue), n)
    if name == "mean_queue":
        return lambda s: fmpq(jobs(s), n)
    raise InputError(f"quantity {name!r}: allowed are mean_queue, tail, idle, busy, pool_mean_queue, work_tail")


def jobs(loads: Loads) -> int:
    """Return the total number of jobs."""
    return sum(map(sum, loads))


def exact_chain(policy: Policy, *, n: int, buffer: int, domain: Domain = QQ) -> ServerChain:
    r"""Return the chain of ``n`` servers with at most ``buffer`` jobs each; a job sent to a full server is lost.

    Servers of one pool are exchangeable, so that the sorted loads of each pool are Markov: from loads q, rate
    :math:`n \lambda P(\text{class}\mid q)` to one more job at a server of that class, rate (number of servers of the
    class) times speed to one less.

    Raises
    ------
    InputError
        ``n`` does not fit the pools or the sample size, ``buffer`` is below 1, or there are too many states.
    """
    n, buffer = checked(policy, n), whole(buffer, "buffer", "at least one job must fit; give")
    if prod(comb(m + buffer, min(m, buffer, 40)) for m in policy.pools.sizes(n)) > MAX_STATES:  # 40: no huge numbers
        raise InputError(
            f"n = {n}, buffer = {buffer}: more than {MAX_STATES} states; give fewer servers or less buffer"
        )
    queues = [list(combinations_with_replacement(range(buffer + 1), size)) for size in policy.pools.sizes(n)]
    states = sorted(product(*queues), key=lambda s: (jobs(s), s))
    place = {s: i for i, s in enumerate(states)}
    arrival = n * policy.load
    rows: list[dict[int, Any]] = []
    blocked = []
    with domain.working():
        for loads in states:
            row: dict[int, Any] = {}
            lost = domain.convert(0)
            for (pool, k), chance in policy.law(loads).items():
                rate = domain.convert(arrival * chance)
                if k == buffer:
                    lost = lost + rate
                else:
                    _add(row, place[moved(loads, pool, k, 1)], rate)
            for target, rate in services(policy, loads):
                _add(row, place[target], domain.convert(rate))
            rows.append(row)
            blocked.append(lost)
    return ServerChain(policy, n, buffer, tuple(states), FiniteChain(tuple(rows), domain=domain), tuple(blocked))


def moved(loads: Loads, pool: int, k: int, step: int) -> Loads:
    """Return the loads after a server of ``pool`` with ``k`` jobs gains (step 1) or loses (step -1) a job."""
    queue = list(loads[pool])
    i = len(queue) - 1 - queue[::-1].index(k) if step > 0 else queue.index(k)
    queue[i] += step
    return (*loads[:pool], tuple(queue), *loads[pool + 1 :])


def services(policy: Policy, loads: Loads) -> Iterator[tuple[Loads, fmpq]]:
    """Yield (loads after, rate) for every class of busy servers."""
    for j, (queue, speed) in enumerate(zip(loads, policy.pools.speeds, strict=True)):
        for k in sorted(set(queue) - {0}):
            yield moved(loads, j, k, -1), queue.count(k) * speed


def labelled_chain(policy: Policy, *, n: int, buffer: int) -> tuple[list[tuple[int, ...]], FiniteChain]:
    """Return the chain of labelled servers, made from :meth:`Policy.route` alone, without lumping or closed forms.

    It is the definition that the lumped chain is tested against, for small systems.
    """
    n, buffer = checked(policy, n), whole(buffer, "buffer", "at least one job must fit; give")
    if n > 20 or (buffer + 1) ** n > MAX_STATES:
        raise InputError(f"n = {n}, buffer = {buffer}: more than {MAX_STATES} labelled states; give fewer servers")
    pool_of = [j for j, size in enumerate(policy.pools.sizes(n)) for _ in range(size)]
    states = sorted(product(range(buffer + 1), repeat=n), key=lambda q: (sum(q), q))
    place = {q: i for i, q in enumerate(states)}
    rows = []
    for q in states:
        row: dict[int, Any] = {}
        servers = [Server(j, policy.pools.speeds[j], k) for j, k in zip(pool_of, q, strict=True)]
        for chosen, chance in _labelled_samples(policy, servers):
            for position, share in routed(policy, [servers[i] for i in chosen]).items():
                i = chosen[position]
                if q[i] < buffer and share * chance != 0:
                    _add(row, place[*q[:i], q[i] + 1, *q[i + 1 :]], n * policy.load * chance * share)
        for i, server in enumerate(servers):
            if q[i]:
                _add(row, place[*q[:i], q[i] - 1, *q[i + 1 :]], server.speed)
        rows.append(row)
    return states, FiniteChain(tuple(rows))


def _labelled_samples(policy: Policy, servers: list[Server]) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    if policy.d is None:
        yield tuple(range(len(servers))), fmpq(1)
        return
    for chosen in product(range(len(servers)), repeat=policy.d):
        if not policy.replacement and len(set(chosen)) < policy.d:
            continue
        chance, left = fmpq(1), sum((policy.weight(s) for s in servers), fmpq(0))
        for i in chosen:
            chance = chance * policy.weight(servers[i]) / left
            if not policy.replacement:
                left -= policy.weight(servers[i])
        yield chosen, chance


def _add(row: dict[int, Any], target: int, rate: Any) -> None:
    row[target] = row[target] + rate if target in row else rate
