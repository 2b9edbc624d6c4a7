"""Level chains with answers known from elsewhere, for the tests of several files."""

from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from exactchains import LevelChain


def generator(up: Any, local: Any, down: Any, **more: Any) -> LevelChain:
    """Return the chain with diagonals set so that rows sum to zero; ``local`` lists off-diagonals."""
    rows = [[Fraction(x) for x in row] for row in local]
    for i, row in enumerate(rows):
        leaving = sum(map(Fraction, [*up[i], *down[i]])) + sum(x for j, x in enumerate(row) if j != i)
        row[i] = -leaving
    return LevelChain.from_blocks({"up": text(up), "local": text(rows), "down": text(down)} | more)


def text(block: Any) -> list[list[str]]:
    return [[str(Fraction(x)) for x in row] for row in block]


def single_server(arrival: Any, service: Any = 1) -> LevelChain:
    lam, mu = Fraction(arrival), Fraction(service)
    blocks = {"up": [[lam]], "local": [[-lam - mu]], "down": [[mu]], "boundary_local": [[-lam]]}
    return LevelChain.from_blocks({name: text(block) for name, block in blocks.items()})


def phase_service(load: Fraction, alpha: list[Fraction], rates: list[list[Fraction]]) -> LevelChain:
    """Return M/PH/1: level 0 has one phase, levels >= 1 the phase of the service; ``rates`` is the subgenerator."""
    size = len(alpha)
    exits = [-sum(row) for row in rates]
    mean = service_moments(alpha, rates)[0]
    lam = load / mean
    blocks = {
        "up": [[lam * (i == j) for j in range(size)] for i in range(size)],
        "local": [[x - lam * (i == j) for j, x in enumerate(row)] for i, row in enumerate(rates)],
        "down": [[x * a for a in alpha] for x in exits],
        "boundary_local": [[-lam]],
        "boundary_up": [[lam * a for a in alpha]],
        "boundary_down": [[x] for x in exits],
    }
    return LevelChain.from_blocks({name: text(block) for name, block in blocks.items()})


def service_moments(alpha: list[Fraction], rates: list[list[Fraction]]) -> tuple[Fraction, Fraction]:
    """Return the first two moments of a phase-type time with an upper triangular subgenerator."""
    size, vector, moments = len(alpha), [Fraction(1)] * len(alpha), []
    for k in (1, 2):
        solved = [Fraction(0)] * size
        for i in reversed(range(size)):
            rest = sum(rates[i][j] * solved[j] for j in range(i + 1, size))
            solved[i] = (-vector[i] - rest) / rates[i][i]
        vector = solved
        moments.append((1 if k == 1 else 2) * sum(a * x for a, x in zip(alpha, vector, strict=True)))
    return moments[0], moments[1]


def pollaczek(load: Fraction, first: Fraction, second: Fraction) -> Fraction:
    """Return the mean number in M/G/1."""
    lam = load / first
    return load + lam * lam * second / (2 * (1 - load))


def logarithmic_reduction(chain: LevelChain, digits: int) -> Any:
    """Return G by the classical reduction in mpmath: a second witness that shares no code and no formula."""
    with mpmath.workdps(3 * digits + 60):
        up, local, down = (
            mpmath.matrix([[mpmath.mpf(int(x.p)) / int(x.q) for x in row] for row in block])
            for block in (chain.up, chain.local, chain.down)
        )
        one = mpmath.eye(len(up))
        inner = (one - local if chain.time == "discrete" else -local) ** -1
        high, low = inner * up, inner * down
        G, climb = low.copy(), high.copy()
        for _ in range(200):
            middle = (one - high * low - low * high) ** -1
            high, low = middle * high * high, middle * low * low
            change = climb * low
            G, climb = G + change, climb * high
            if max(abs(x) for x in change) < mpmath.mpf(10) ** (-2 * digits - 20):
                return G
        raise AssertionError("no convergence")


@st.composite
def spread_chains(draw: Any, decades: int, most: int = 3) -> LevelChain:
    """Return a chain with up to ``most`` phases whose rates are 0 or reach from 1e-decades to 1e+decades."""
    m = draw(st.integers(1, most))
    rate = st.builds(lambda a, e: f"{a}e{e}", st.integers(1, 999), st.integers(-decades, decades))
    block = st.lists(st.lists(st.one_of(st.just("0"), rate), min_size=m, max_size=m), min_size=m, max_size=m)
    up, local, down = draw(block), draw(block), draw(block)
    edge = [[Fraction(x) + Fraction(y) for x, y in zip(*rows, strict=True)] for rows in zip(local, down, strict=True)]
    for i, row in enumerate(edge):
        row[i] = -sum(map(Fraction, up[i])) - sum(x for j, x in enumerate(row) if j != i)
    return generator(up, local, down, boundary_local=text(edge))
