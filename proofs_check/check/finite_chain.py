"""Finite chains out of certificates: exact rates, checked to form a chain.

Caps    16 states a listed transition and 1000 more; a common denominator of the rates of 100,000 bits
"""

from fractions import Fraction
from math import lcm
from typing import Any

from proofs_check.check.exact import Rejected, integer, items, rationals

MAX_COMMON_BITS = 100_000
STATES_A_TRANSITION, FREE_STATES = 16, 1000
Edges = list[list[tuple[int, int]]]


def chain(problem: Any) -> tuple[Edges, Edges]:
    """Return integer rates by target and by source, self-loops left out, after checking that they form a chain."""
    size, discrete = integer(problem["states"], 1), problem["time"] == "discrete"
    if not discrete and problem["time"] != "continuous":
        raise Rejected("time is neither discrete nor continuous")
    triples = [items(t, 3) for t in items(problem["transitions"])]
    if size > STATES_A_TRANSITION * len(triples) + FREE_STATES:
        raise Rejected(f"{size} states with {len(triples)} transitions: most states are alone")
    rates = rationals([t[2] for t in triples])
    listed = [(integer(t[0]), integer(t[1]), q) for t, q in zip(triples, rates, strict=True)]
    if len({(i, j) for i, j, _ in listed}) != len(listed):
        raise Rejected("a transition is listed twice")
    below, total = 1, [Fraction(0)] * size
    for i, j, q in listed:
        if i >= size or j >= size or q < 0 or (i == j and not discrete):
            raise Rejected(f"transition {i} -> {j} is out of range, negative or a loop in continuous time")
        below = lcm(below, q.denominator)
        if below.bit_length() > MAX_COMMON_BITS:
            raise Rejected("the rates have no common denominator of moderate size")
        if discrete:
            total[i] += q
    if discrete and any(x != 1 for x in total):
        raise Rejected("probabilities of a state do not sum to 1")
    into: Edges = [[] for _ in range(size)]
    out: Edges = [[] for _ in range(size)]
    for i, j, q in listed:
        if i != j and q:
            rate = q.numerator * (below // q.denominator)
            into[j].append((i, rate))
            out[i].append((j, rate))
    return into, out


def leading_to(r: int, into: Edges) -> set[int]:
    """Return the states from which state r can be reached."""
    reached, queue = {r}, [r]
    for j in queue:
        for i, _ in into[j]:
            if i not in reached:
                reached.add(i)
                queue.append(i)
    return reached
