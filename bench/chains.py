"""Chains for the benchmarks, made as integer arrays: (states, sources, targets, rates)."""

from math import comb
from typing import Any

import numpy as np

Transitions = tuple[int, Any, Any, Any]


def power_of_two(servers: int, places: int, *, load: int = 90, error: int = 10) -> Transitions:
    """Sorted queues of ``servers`` servers with ``places`` places each; load and error in percent.

    A job samples two queues and joins the shorter one, with probability ``error`` the longer one.
    """
    queues = _sorted_words(servers, places)
    weight = (places + 1) ** np.arange(servers - 1, -1, -1)
    key = queues @ weight
    pairs = comb(servers, 2)
    scale = 10_000 * pairs
    join = [servers * load * ((100 - error) * (servers - 1 - r) + error * r) for r in range(servers)]
    sources, targets, rates = [], [], []
    for r in range(servers):
        same = queues[:, r : r + 1] == queues
        last = ~same[:, r + 1 :].any(1)  # a job joins the last of equal queues, and leaves the first
        rate = (same[:, : r + 1] * np.array(join[: r + 1])).sum(1)
        i = np.flatnonzero(last & (queues[:, r] < places) & (rate > 0))
        sources.append(i.astype(np.int32))
        targets.append(np.searchsorted(key, key[i] + weight[r]).astype(np.int32))
        rates.append(rate[i])
        i = np.flatnonzero(~same[:, :r].any(1) & (queues[:, r] > 0))
        sources.append(i.astype(np.int32))
        targets.append(np.searchsorted(key, key[i] - weight[r]).astype(np.int32))
        rates.append(same[i].sum(1) * scale)
    return len(queues), *(np.concatenate(part) for part in (sources, targets, rates))


def _sorted_words(length: int, top: int) -> Any:
    words, low = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    for _ in range(length):
        count = top + 1 - low
        again = np.repeat(np.arange(len(low)), count)
        low = low[again] + np.arange(len(again)) - np.repeat(np.cumsum(count) - count, count)
        words = np.hstack([words[again], low[:, None]])
    return words


def birth_death(states: int, *, up: int = 9, down: int = 10) -> Transitions:
    i = np.arange(states - 1)
    rates = np.r_[np.full(states - 1, up), np.full(states - 1, down)]
    return states, np.r_[i, i + 1], np.r_[i + 1, i], rates


def clusters(count: int, size: int, ratio: int, *, seed: int = 1) -> Transitions:
    """A ring of random clusters; rates inside are about ``ratio`` times those between neighbours."""
    g = np.random.default_rng(seed)
    found: dict[tuple[int, int], int] = {}
    for c in range(count):
        for s in range(size):
            for t in {(s + 1) % size, *g.integers(0, size, 4).tolist()} - {s}:
                found[c * size + s, c * size + t] = int(g.integers(1, 10)) * ratio
        a, b = g.integers(0, size, 2).tolist()
        other = (c + 1) % count
        found[c * size + a, other * size + b] = int(g.integers(1, 10))
        found[other * size + b, c * size + a] = int(g.integers(1, 10))
    pairs = np.array(list(found))
    return count * size, pairs[:, 0], pairs[:, 1], np.array(list(found.values()))


def ring(states: int, *, bits: int = 16, seed: int = 1) -> Transitions:
    """A ring with four random jumps a state, integer rates of so many bits."""
    g = np.random.default_rng(seed)
    found = {
        (i, j): int(g.integers(1, 2**bits))
        for i in range(states)
        for j in [(i + 1) % states, *g.integers(0, states, 4).tolist()]
        if i != j
    }
    pairs = np.array(list(found))
    return states, pairs[:, 0], pairs[:, 1], np.array(list(found.values()))
