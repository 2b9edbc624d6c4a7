"""Chains to test with, and their laws by the plainest exact elimination."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from exactchains import FiniteChain
from exactchains.solvers.arrays import chain_from_arrays


def brute_law(size: int, rates: dict[tuple[int, int], Fraction]) -> list[Fraction]:
    """Solve the balance equations of an irreducible chain by Gauss-Jordan elimination over fractions."""
    rows = [[Fraction(0)] * (size + 1) for _ in range(size)]
    for (i, j), q in rates.items():
        if i != j:
            rows[j][i] += Fraction(q)
            rows[i][i] -= Fraction(q)
    rows[-1] = [Fraction(1)] * (size + 1)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def chain_of(size: int, rates: dict[tuple[int, int], Fraction]) -> FiniteChain:
    return FiniteChain.from_transitions(size, ((i, j, str(q)) for (i, j), q in rates.items()))


def birth_death(size: int, up: int, down: int) -> FiniteChain:
    i = np.arange(size - 1)
    rates = np.r_[np.full(size - 1, up), np.full(size - 1, down)]
    return chain_from_arrays(size, np.r_[i, i + 1], np.r_[i + 1, i], rates)


def clusters(count: int, size: int, ratio: int, seed: int = 1) -> FiniteChain:
    """A ring of ``count`` random clusters; rates inside are about ``ratio`` times those between neighbours."""
    g, rates = np.random.default_rng(seed), {}
    for c in range(count):
        for s in range(size):
            for t in {(s + 1) % size, *g.integers(0, size, 4).tolist()} - {s}:
                rates[c * size + s, c * size + t] = int(g.integers(1, 10)) * ratio
        a, b = g.integers(0, size, 2).tolist()
        other = (c + 1) % count
        rates[c * size + a, other * size + b] = int(g.integers(1, 10))
        rates[other * size + b, c * size + a] = int(g.integers(1, 10))
    pairs = np.array(list(rates))
    return chain_from_arrays(count * size, pairs[:, 0], pairs[:, 1], np.array(list(rates.values())))


def power_of_two(servers: int, places: int, load: str = "9/10", error: str = "1/10") -> FiniteChain:
    """Sorted queues; a job joins the shorter of two sampled queues, the longer one with probability ``error``."""
    from exactchains import reachable_chain

    load_, error_ = Fraction(load), Fraction(error)

    def moves(queues: tuple[int, ...]):
        for a in range(servers):
            if queues[a] < places:
                shorter, longer = servers - 1 - a, a
                rate = load_ * servers * ((1 - error_) * shorter + error_ * longer) * 2 / (servers * (servers - 1))
                yield tuple(sorted((*queues[:a], queues[a] + 1, *queues[a + 1 :]))), rate
            if queues[a] > 0:
                yield tuple(sorted((*queues[:a], queues[a] - 1, *queues[a + 1 :]))), 1

    return reachable_chain((0,) * servers, moves)


rates = st.fractions(Fraction(1, 50), 50, max_denominator=50)
wild_rates = st.tuples(st.integers(1, 999), st.integers(-300, 300)).map(lambda x: x[0] * Fraction(10) ** x[1])
weak_rates = st.sampled_from([Fraction(1), Fraction(3), Fraction(7, 3), Fraction(1, 10**9), Fraction(1, 10**13)])


@st.composite
def irreducible(draw, values=rates, largest: int = 7):
    """A random irreducible chain: a cycle through all states and random further transitions."""
    size = draw(st.integers(2, largest))
    order = draw(st.permutations(range(size)))
    pairs = {(order[k], order[(k + 1) % size]) for k in range(size)}
    more = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda p: p[0] != p[1])
    pairs |= draw(st.sets(more, max_size=3 * size))
    return size, {pair: draw(values) for pair in sorted(pairs)}
