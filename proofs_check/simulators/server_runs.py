"""Load balancing simulated job by job on n servers: of a policy only its rule ``route(sample)`` is used.

Shares with the exact code the rule that defines the policy, and none of its chains, laws or closed forms.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from exactchains.truth import InputError
from meanfield.models.policy import Policy, Server, checked, routed
from meanfield.models.pools import whole
from proofs_check.simulators.pieces import Floats

BLOCK = 4_096  # jobs whose random numbers are drawn at a time
MOST_JOBS, MOST_SERVERS = 100_000_000, 100_000


def simulate_policy(
    policy: Policy, *, n: int, jobs: int, seed: int, buffer: int | None = None
) -> dict[str, NDArray[Any]]:
    """Return the job trace of any policy, a user's too, on ``n`` servers that start empty, as ``validate`` reads it.

    Columns ``job``, ``t_arrive``, ``t_start``, ``t_end``, ``server``.  Of the policy only ``load``, ``pools``, the way
    of sampling and ``route`` are used.  Jobs lost at a full ``buffer`` are left out.  The same seed gives the same
    trace.

    Raises
    ------
    InputError
        The policy, n, jobs, seed or buffer cannot be simulated, or ``route`` returns no probability law.

    Examples
    --------
    >>> from meanfield import JSQ
    >>> trace = simulate_policy(JSQ("1:1", "1/2"), n=2, jobs=4, seed=1)
    >>> list(trace), trace["job"].tolist()
    (['job', 't_arrive', 't_start', 't_end', 'server'], [0, 1, 2, 3])
    """
    n, jobs = checked(policy, n), whole(jobs, "jobs", "at least one job comes; give", most=MOST_JOBS)
    seed = whole(seed, "seed", "it is", least=0)
    if n > MOST_SERVERS:
        raise InputError(f"n = {n}: at most {MOST_SERVERS} servers are simulated")
    if buffer is not None:
        buffer = whole(buffer, "buffer", "at least one job must fit; give")
    names, rows = server_trace(policy, n, jobs=jobs, seed=seed, buffer=buffer)
    counted = ("job", "server")
    return {c: x.astype(int) if c in counted else x for c, x in zip(names, rows.T, strict=True)}


def server_trace(
    policy: Policy, n: int, *, jobs: int, seed: int, buffer: int | None = None
) -> tuple[list[str], Floats]:
    """Return (column names, rows) of a job trace on ``n`` servers that start empty; lost jobs are left out.

    Jobs come at rate n * load; each server works first come first served at its pool's speed.
    """
    policy.check(n)
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)]
    arrive = np.cumsum(streams[0].exponential(1 / (n * float(policy.load)), jobs))
    work = streams[1].exponential(1.0, jobs)
    pool = [j for j, size in enumerate(policy.pools.sizes(n)) for _ in range(size)]
    speed = [float(policy.pools.speeds[j]) for j in pool]
    present, free = [0] * n, [0.0] * n
    leaving: list[tuple[float, int]] = []
    choose = _chooser(policy, pool, streams[2])
    rows = np.empty((jobs, 5))
    kept = 0
    for i, (time, length) in enumerate(zip(arrive.tolist(), work.tolist(), strict=True)):
        while leaving and leaving[0][0] <= time:
            present[heapq.heappop(leaving)[1]] -= 1
        server = choose(present)
        if buffer is not None and present[server] >= buffer:
            continue
        start = max(time, free[server])
        free[server] = start + length / speed[server]
        heapq.heappush(leaving, (free[server], server))
        present[server] += 1
        rows[kept] = i, time, start, free[server], server
        kept += 1
    return ["job", "t_arrive", "t_start", "t_end", "server"], rows[:kept]


def _chooser(policy: Policy, pool: list[int], rng: Generator) -> Callable[[list[int]], int]:
    """Return the draw of a server for a job, given the numbers of jobs present at each."""
    samples, uniform = _samples(policy, pool, rng), _in_blocks(lambda: rng.random(BLOCK))
    known: dict[tuple[tuple[int, int], ...], tuple[list[int], list[float]]] = {}

    def choose(present: list[int]) -> int:
        seen = next(samples)
        state = tuple([(pool[s], present[s]) for s in seen])
        if state not in known:
            if len(known) > 200_000:
                known.clear()
            known[state] = _routed(policy, state)
        positions, sums = known[state]
        u = next(uniform)
        return seen[next((p for p, high in zip(positions, sums, strict=True) if u < high), positions[-1])]

    return choose


def _routed(policy: Policy, state: tuple[tuple[int, int], ...]) -> tuple[list[int], list[float]]:
    shares = routed(policy, [Server(j, policy.pools.speeds[j], jobs) for j, jobs in state])
    return list(shares), list(accumulate(float(x) for x in shares.values()))


def _samples(policy: Policy, pool: list[int], rng: Generator) -> Iterator[list[int]]:
    """Yield the servers that each job sees, in the order in which it sees them."""
    n, d = len(pool), policy.d
    if d is None:
        return itertools.repeat(list(range(n)))
    if not policy.replacement and d > n:
        raise InputError(f"d = {d}: at most n = {n} servers are sampled without replacement")
    if policy.weighting == "uniform":
        if policy.replacement:
            return _in_blocks(lambda: rng.integers(n, size=(BLOCK, d)))
        return _in_blocks(lambda: _distinct(n, d, rng))
    weights = np.array([float(policy.weight(Server(j, policy.pools.speeds[j], 0))) for j in pool])
    if policy.replacement:
        return _in_blocks(lambda: rng.choice(n, size=(BLOCK, d), p=weights / weights.sum()))
    race = lambda: rng.exponential(size=(BLOCK, n)) / weights  # noqa: E731  # who comes first is drawn by weight
    return _in_blocks(lambda: np.argsort(race(), axis=1)[:, :d])


def _distinct(n: int, d: int, rng: Generator) -> Any:
    """Return rows of ``d`` distinct servers in random order: the k-th is drawn among those not yet taken."""
    seen = np.empty((BLOCK, 0), dtype=np.int64)
    for k in range(d):
        new = rng.integers(n - k, size=BLOCK)
        for taken in np.sort(seen, axis=1).T:
            new += new >= taken
        seen = np.column_stack([seen, new])
    return seen


def _in_blocks(draw: Callable[[], Any]) -> Iterator[Any]:
    """Yield the rows of one block of draws after the other."""
    while True:
        yield from draw().tolist()
