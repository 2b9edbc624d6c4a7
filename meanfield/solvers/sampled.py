"""The rule of a policy that samples few servers, as a finite table: what one more server of the sample changes.

A sampled server has class (pool, jobs) with probability p; the job joins class c with probability p_c Psi_c(p), and
Psi is a polynomial with nonnegative coefficients, read off the table.  See :attr:`Policy.sight`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from exactchains.number import nearest_double
from exactchains.truth import InputError
from meanfield.models.policy import Policy, Server, routed

__all__ = ["Rule", "Shares", "rule_of"]

MOST, MOST_WORK = 60_000, 500_000  # kinds of samples that are listed, and the pairs in all of them
FURTHER = (1, 2, 3, 5, 8, 13)  # jobs beyond the declared sight at which a rule is tried

Array = NDArray[Any]


@dataclass(frozen=True)
class Rule:
    r"""``kinds[b][j, r]``: pairs (coefficient, the other d - 1 servers) of a server of pool j, r above the least load.

    b = min(least load, base); the others are codes i (reach + 1) + r of pool and jobs above the least, ``reach`` for
    all from there on.  A coefficient sums the chance to join the server over all orders of the sample.
    """

    d: int
    pools: int
    base: int
    reach: int
    kinds: tuple[dict[tuple[int, int], list[tuple[fmpq, tuple[int, ...]]]], ...]


@dataclass(frozen=True)
class Shares:
    """Psi on levels 0..K and how it changes: ``value[j, k]``, ``slope[j, k, i, m]`` = dPsi/dlog p_{i,m}.

    ``beyond[j, k]``: the change when all levels above K go from 0 to their bound.  ``far[j]``: the part of Psi that
    every level above K has, from samples whose least load is below K - reach.
    """

    value: Array
    slope: Array
    beyond: Array
    far: Array


def rule_of(policy: Policy) -> Rule:
    """Return the table of a policy, by running :meth:`Policy.route` on every kind of sample.

    Raises
    ------
    InputError
        The policy sees all servers, declares no sight, breaks the sight it declares up to 13 jobs further, or has
        too many kinds of samples.  Beyond that the sight is the policy's word.
    """
    name = type(policy).__name__
    if policy.d is None or policy.sight is None:
        why = "sees all servers" if policy.d is None else "declares no sight"
        raise InputError(f"{name} {why}: a general fixed point needs d and sight = (base, reach); see Policy.sight")
    pair = policy.sight
    if not (isinstance(pair, tuple) and [type(v) for v in pair] == [int, int] and pair[0] >= 0 and pair[1] >= 1):
        raise InputError(f"{name}.sight = {pair!r}: two integers (base, reach), base >= 0 and reach >= 1")
    base, reach = pair
    pools = len(policy.pools)
    size = pools * (reach + 1)
    if size > MOST:
        raise InputError(
            f"{name}.sight: base, reach and pools give more than {MOST} kinds of servers; take a smaller reach"
        )
    count = comb(size + policy.d - 1, policy.d) if policy.symmetric else size**policy.d
    if count * (base + 1) > MOST or count * (base + 1) * policy.d**2 > MOST_WORK:
        raise InputError(
            f"{name}: too many kinds of samples of {policy.d} servers to list; take a smaller d, sight or fewer pools"
        )
    codes = [(j, r) for j in range(pools) for r in range(reach + 1)]
    kinds = tuple(_kind(policy, codes, b) for b in range(base + 1))
    return Rule(policy.d, pools, base, reach, kinds)


def _kind(policy: Policy, codes: list[tuple[int, int]], least: int) -> dict[tuple[int, int], list[Any]]:
    d, reach = policy.d or 1, codes[-1][1]
    found: dict[tuple[int, int], dict[tuple[int, ...], fmpq]] = {}
    every = range(len(codes))
    for sample in combinations_with_replacement(every, d) if policy.symmetric else product(every, repeat=d):
        orders = factorial(d) // prod(factorial(sample.count(c)) for c in set(sample)) if policy.symmetric else 1
        kind = [codes[c] for c in sample]
        if min(r for _, r in kind) != 0:
            continue
        answer = _answer(policy, kind, least)
        _kept(policy, kind, least, reach, answer)
        for i, share in answer.items():
            others = tuple(sorted(sample[:i] + sample[i + 1 :]))
            terms = found.setdefault(kind[i], {})
            terms[others] = terms.get(others, fmpq(0)) + orders * share
    return {c: [(share, others) for others, share in terms.items() if share] for c, terms in found.items()}


def _answer(policy: Policy, kind: Sequence[tuple[int, int]], least: int) -> dict[int, Any]:
    speeds = policy.pools.speeds
    return {i: x for i, x in routed(policy, [Server(j, speeds[j], least + r) for j, r in kind]).items() if x != 0}


def _kept(policy: Policy, kind: list[tuple[int, int]], least: int, reach: int, answer: dict[int, Any]) -> None:
    """Refuse a declared sight that fails a few jobs further: more jobs at a cut load, or at every server."""
    tries = []
    for more in FURTHER:
        further = [
            [(j, r + more * (r == reach and at == i)) for at, (j, r) in enumerate(kind)] for i in range(len(kind))
        ]
        tries += [(moved, least) for moved in further if moved != kind]
        if least == (policy.sight or (0, 0))[0]:
            tries.append((kind, least + more))
    for moved, at in tries:
        if _answer(policy, moved, at) != answer:
            raise InputError(
                f"{type(policy).__name__}.sight = {policy.sight}: loads {[least + r for _, r in kind]} and "
                f"{[at + r for _, r in moved]} get different answers; raise base or reach"
            )


def shares(rule: Rule, p: Array, beyond: Array, *, slopes: bool = True) -> Shares:
    r"""Return Psi from ``p[i, m]``, levels 0..K, and ``beyond[i, m]`` = bounds of the mass at K + 1 + m and above.

    Of floats (beyond is 0) or of balls, where level K + 1 + m holds a number in [0, beyond[i, m]].  Without ``slopes``
    the derivatives are 0.
    """
    pools, top = p.shape[0], p.shape[1] - 1
    reach, width = rule.reach, rule.reach + 1
    zero = 0 * p[0, 0]
    mass = np.concatenate([np.add.accumulate(p[:, ::-1], axis=1)[:, ::-1], np.full((pools, width), zero)], axis=1)
    exact = np.concatenate([p, np.full((pools, width), zero)], axis=1)
    outside = _between(beyond)
    mass = mass + np.concatenate([np.repeat(outside[:, :1], top + 1, axis=1), outside[:, :width]], axis=1)
    exact[:, top + 1 :] = exact[:, top + 1 :] + outside[:, :width]
    level = np.arange(top + 1)
    factor = np.stack(
        [(exact if r < reach else mass)[i, level + r] for i in range(pools) for r in range(width)], axis=1
    )
    unknown = np.concatenate([np.repeat(beyond[:, :1], top + 1, axis=1), beyond[:, :width]], axis=1)
    rest = np.stack(
        [
            unknown[i, level + r] if r == reach else np.where(level + r > top, unknown[i, level + r], zero)
            for i in range(pools)
            for r in range(width)
        ],
        axis=1,
    )
    value = np.full((pools, top + 1), zero)
    slope = np.full((pools, top + 1, pools, top + 1), zero)
    change = np.full((pools, top + 1), zero)
    far = np.full(pools, zero)
    for j in range(pools):
        for r in range(min(width, top + 1)):
            here, by = _evaluated(rule, (j, r), factor, slopes=slopes)
            moved = (by * rest).sum(axis=1)
            by_level = _by_level(by, p, reach) if slopes else None
            for k in range(r, top + 1):
                if r < reach:
                    value[j, k] = value[j, k] + here[k - r]
                    change[j, k] = change[j, k] + moved[k - r]
                    if by_level is not None:
                        slope[j, k] = slope[j, k] + by_level[k - r]
            if r == reach:
                value[j, r:] = value[j, r:] + np.add.accumulate(here)[: top + 1 - r]
                change[j, r:] = change[j, r:] + np.add.accumulate(moved)[: top + 1 - r]
                far[j] = here[: max(top - reach, 0)].sum() + zero
                if by_level is not None:
                    slope[j, r:] = slope[j, r:] + np.add.accumulate(by_level, axis=0)[: top + 1 - r]
    return Shares(value, slope, change, far)


def _between(beyond: Array) -> Array:
    """Return balls [0, bound] for bounds in balls; floats are 0 and stay."""
    return beyond if beyond.dtype != object else np.vectorize(lambda b: (0 * b).union(b), otypes=[object])(beyond)


def _evaluated(rule: Rule, kind: tuple[int, int], factor: Array, *, slopes: bool) -> tuple[Array, Array]:
    """Return the polynomial of a kind at every least load, and its derivatives by the factors."""
    levels = len(factor)
    value, by = 0 * factor[:, 0], 0 * factor
    for b in range(rule.base + 1):
        rows = slice(b, levels if b == rule.base else min(b + 1, levels))
        terms = rule.kinds[b].get(kind, [])
        if not terms or b >= levels:
            continue
        number = nearest_double if factor.dtype != object else type(factor[0, 0])
        coefficients = np.array([number(c) for c, _ in terms], dtype=factor.dtype)
        others = np.array([o for _, o in terms], dtype=int).reshape(len(terms), rule.d - 1)
        picked = factor[rows][:, others]
        one = picked.prod(axis=2) * coefficients if rule.d > 1 else np.tile(coefficients, (len(factor[rows]), 1))
        value[rows] = value[rows] + one.sum(axis=1)
        for a in range(rule.d - 1 if slopes else 0):
            left = np.delete(picked, a, axis=2).prod(axis=2) * coefficients
            for t, code in enumerate(others[:, a]):
                by[rows, code] = by[rows, code] + left[:, t]
    return value, by


def _by_level(by: Array, p: Array, reach: int) -> Array:
    """Return [least load, i, m]: derivatives by log p_{i,m} from derivatives by the factors."""
    levels, (pools, width) = len(by), p.shape
    found = np.full((levels, pools, width), 0 * p[0, 0])
    for least in range(levels):
        for i in range(pools):
            for r in range(reach):
                if least + r < width:
                    found[least, i, least + r] = by[least, i * (reach + 1) + r]
            found[least, i, least + reach :] = by[least, i * (reach + 1) + reach]
    return found * p[None, :, :]
