"""The cells of a policy: where the routing law and the set of busy servers are constant, derived from its rule."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, islice, permutations, product
from math import perm
from typing import Any

from flint import fmpq

from exactchains.truth import InputError
from meanfield.models.policy import Policy, Server, checked, routed
from proofs_check.check.cells import Cell, root
from proofs_check.lyapunov.length import lengths, settle, tree

MAX_CELLS = 20_000
MAX_SAMPLES = 5_000
FEW_JOBS, FEW_STATES = 4, 300  # on which a user's rule is tried

Json = dict[str, Any]


def system(policy: Policy, n: int, *, ordered: bool = False, ties: bool = False) -> Json:
    """Return the problem of kind *drift* for n servers: pools, total arrival rate, tree of cells with their laws.

    ``ordered``: in each cell all queues are ordered, as functions such as sums of y^q need it; ``ties``: neighbours in
    the order of a pool are equal in the whole cell or nowhere, as functions of the order need it.

    Guarantee
    ---------
    The law at a leaf is what the live rule answers, averaged over its samples, in every state of the cell.
    """
    n = checked(policy, n)
    sizes = policy.pools.sizes(n)
    if policy.owned and policy.d is None:  # refuses labels, which queue lengths as symbols do not show
        boxes = (combinations_with_replacement(range(FEW_JOBS), size) for size in sizes)
        for loads in islice(product(*boxes), FEW_STATES):
            policy.law(loads)
    pool = [j for j, size in enumerate(sizes) for _ in range(size)]
    weights = draws(policy, pool)
    pairs = [(i, i + 1) for i in range(n - 1) if ties and pool[i] == pool[i + 1]]

    def law(cell: Cell) -> list[Any]:
        queues = lengths(cell)
        settle(queues, ordered=ordered, ties=pairs)
        servers = [Server(j, policy.pools.speeds[j], q) for j, q in zip(pool, queues, strict=True)]
        return averaged(policy, servers, weights)

    return {
        "pools": [[size, str(s)] for size, s in zip(sizes, policy.pools.speeds, strict=True)],
        "arrivals": str(n * policy.load),
        "cells": tree(root(pool), law, most=MAX_CELLS),
    }


def draws(policy: Policy, pool: Sequence[int]) -> list[tuple[tuple[int, ...], fmpq]]:
    """Return the ordered samples that a job may see, with their chances."""
    n, d = len(pool), policy.d
    if d is None:
        return [(tuple(range(n)), fmpq(1))]
    if (n**d if policy.replacement else perm(n, d)) > MAX_SAMPLES:
        raise InputError(f"n = {n}, d = {d}: more than {MAX_SAMPLES} samples; take fewer servers, or leave out n")
    weight = [policy.weight(Server(j, policy.pools.speeds[j], 0)) for j in pool]
    chosen = product(range(n), repeat=d) if policy.replacement else permutations(range(n), d)
    return [(sample, _chance(sample, weight, policy.replacement)) for sample in chosen]


def _chance(sample: Sequence[int], weight: Sequence[fmpq], replacement: bool) -> fmpq:
    left, chance = sum(weight, fmpq(0)), fmpq(1)
    for i in sample:
        chance = chance * weight[i] / left
        if not replacement:
            left = left - weight[i]
    return chance


def averaged(policy: Policy, servers: Sequence[Server], samples: Sequence[tuple[tuple[int, ...], fmpq]]) -> list[Any]:
    """Return the chance of each server to be joined."""
    join = [fmpq(0)] * len(servers)
    for sample, chance in samples:
        for position, share in routed(policy, [servers[i] for i in sample]).items():
            join[sample[position]] += chance * share
    return join


def samples(policy: Policy) -> Iterator[Json]:
    """Yield one problem of kind *sample* for each composition of a sample by pools; what it proves holds for all n.

    The d servers of a sample are drawn without regard to their queues, in any order with equal chance, so that the
    rule is averaged over the orders.
    """
    if policy.d is None:
        raise InputError(f"{type(policy).__name__} sees all servers; give n")
    for pool in combinations_with_replacement(range(len(policy.pools)), policy.d):
        yield _sample(policy, pool)


def _sample(policy: Policy, pool: tuple[int, ...]) -> Json:
    d = len(pool)
    if not policy.symmetric and perm(d, d) > MAX_SAMPLES:
        raise InputError(f"d = {d}: more than {MAX_SAMPLES} orders of a sample; declare the rule symmetric if it is")
    orders = [tuple(range(d))] if policy.symmetric else list(permutations(range(d)))
    weights = [(order, fmpq(1, len(orders))) for order in orders]

    def law(cell: Cell) -> list[Any]:
        queues = lengths(cell)
        settle(queues, ordered=True)
        servers = [Server(j, policy.pools.speeds[j], q) for j, q in zip(pool, queues, strict=True)]
        return averaged(policy, servers, weights)

    counts = [[pool.count(j), str(policy.pools.speeds[j])] for j in sorted(set(pool))]
    return {"pools": counts, "cells": tree(root(list(pool)), law, most=MAX_CELLS)}
