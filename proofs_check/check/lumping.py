"""Lumpings of finite chains: the blocks form a chain, and perhaps come from symmetries.

Caps    a block number is less than the number of states, which are listed one by one; :mod:`exact` bounds powers of two
"""

from collections import Counter
from fractions import Fraction
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rationals

Rates = dict[tuple[int, int], Fraction]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    """Check that for every state x and block C (other than its own, in continuous time) the rate x -> C is coarse.

    Problem: ``time``, ``states``, ``transitions`` [i, j, rate].  Conclusion: ``block`` of every state, coarse
    ``transitions``; optional ``symmetric`` (true: the blocks are the orbits of a group of symmetries).  Proof:
    ``permutations`` that generate the group, each checked on every transition.
    """
    fields(problem, "time states transitions")
    fields(conclusion, "block transitions", "symmetric")
    fields(proof, "permutations")
    size, discrete = integer(problem["states"], 1), problem["time"] == "discrete"
    if not discrete and problem["time"] != "continuous":
        raise Rejected("time is neither discrete nor continuous")
    block = [integer(b) for b in items(conclusion["block"], size)]
    count = max(block) + 1
    if count > size:
        raise Rejected(f"block {count - 1} of {size} states")
    if set(block) != set(range(count)):
        raise Rejected("some block is empty")
    fine = rates(problem["transitions"], size, discrete)
    coarse = rates(conclusion["transitions"], count, discrete)
    _lumpable(fine, coarse, block, discrete)
    if not isinstance(conclusion.get("symmetric", False), bool):
        raise Rejected("symmetric is neither true nor false")
    if conclusion.get("symmetric", False):
        _orbits(fine, block, [[integer(k) for k in items(p, size)] for p in items(proof["permutations"])])


def rates(transitions: Any, size: int, discrete: bool) -> Rates:
    """Return the positive rates, after checking that they form a chain."""
    found: Rates = {}
    total = [Fraction(0)] * size
    triples = [items(t, 3) for t in items(transitions)]
    for (i, j, _), rate in zip(triples, rationals([t[2] for t in triples]), strict=True):
        pair = integer(i), integer(j)
        if max(pair) >= size or rate < 0 or (i == j and not discrete) or pair in found:
            raise Rejected(f"transition {i} -> {j} is out of range, negative, repeated or a loop in continuous time")
        found[pair] = rate
        total[i] += rate
    if discrete and any(x != 1 for x in total):
        raise Rejected("probabilities of a state do not sum to 1")
    return {pair: rate for pair, rate in found.items() if rate}


def _lumpable(fine: Rates, coarse: Rates, block: list[int], discrete: bool) -> None:
    sums: Rates = {}
    for (i, j), q in fine.items():
        if discrete or block[i] != block[j]:
            sums[i, block[j]] = sums.get((i, block[j]), Fraction(0)) + q
    for (i, c), q in sums.items():
        if coarse.get((block[i], c)) != q:
            raise Rejected(f"state {i} enters block {c} at rate {q}, unlike the coarse chain")
    entered = Counter((block[i], c) for i, c in sums)
    members = Counter(block)
    for b, c in coarse:
        if entered[b, c] != members[b]:
            raise Rejected(f"some state of block {b} does not enter block {c}")


def _orbits(fine: Rates, block: list[int], permutations: list[list[int]]) -> None:
    parent = list(range(len(block)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for p in permutations:
        if sorted(p) != list(range(len(block))):
            raise Rejected("a symmetry is no permutation")
        for (i, j), q in fine.items():
            if fine.get((p[i], p[j])) != q:
                raise Rejected(f"a permutation changes the rate {i} -> {j}")
        for i, k in enumerate(p):
            parent[root(i)] = root(k)
    if len({(root(i), b) for i, b in enumerate(block)}) != len(set(block)) or len(
        {root(i) for i in range(len(block))}
    ) != len(set(block)):
        raise Rejected("the blocks are not the orbits")
