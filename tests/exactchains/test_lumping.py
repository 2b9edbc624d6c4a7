"""Lumpings: the coarsest one by brute force, proposed and symmetric ones, and their certificates."""

import itertools

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from exactchains import FiniteChain, InputError, stationary
from exactchains.explore import reachable_chain
from exactchains.lumping import coarsest_lumping, proposed_lumping, symmetric_lumping
from proofs_check.check import lumping as checker
from proofs_check.check.exact import Rejected


def cube(dimension: int) -> FiniteChain:
    """Independent two-state machines: fail at rate 1, repaired at rate 3."""
    return reachable_chain(
        (0,) * dimension,
        lambda s: [((*s[:k], 1 - s[k], *s[k + 1 :]), 3 if s[k] else 1) for k in range(dimension)],
    )


def is_lumping(chain, block) -> bool:
    def sums(i):
        found: dict[int, fmpq] = {}
        for j, q in chain.rows[i].items():
            if chain.time == "discrete" or block[j] != block[i]:
                found[block[j]] = found.get(block[j], 0) + q
        return found

    return all(sums(i) == sums(j) for i, j in itertools.combinations(range(chain.size), 2) if block[i] == block[j])


def partitions(size: int):
    """All partitions, as restricted growth words."""

    def grow(word, top):
        if len(word) == size:
            yield tuple(word)
            return
        for b in range(top + 1):
            yield from grow([*word, b], max(top, b + 1))

    yield from grow([], 0)


@st.composite
def few_rates(draw):
    size = draw(st.integers(1, 6))
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    return FiniteChain.from_transitions(size, [(i, j, draw(st.sampled_from([0, 0, 1, 1, 2]))) for i, j in pairs]), [
        draw(st.sampled_from("aab")) for _ in range(size)
    ]


@given(few_rates())
def test_coarsest_lumping_is_that_of_brute_force(case):
    chain, labels = case
    found = coarsest_lumping(chain, labels)
    checker.check(*(found.certificate[k] for k in ("problem", "conclusion", "proof")))
    good = [
        word
        for word in partitions(chain.size)
        if all(labels[i] == labels[j] or word[i] != word[j] for i in range(chain.size) for j in range(i))
        and is_lumping(chain, word)
    ]
    assert found.block in good
    assert len(set(found.block)) == min(len(set(word)) for word in good)
    assert coarsest_lumping(chain, labels).block == found.block


def test_cube_lumps_to_a_birth_death_chain():
    chain = cube(5)
    up = [sum(s) for s in chain.labels]
    found = coarsest_lumping(chain, up)
    assert found.coarse.size == 6 and found.block == proposed_lumping(chain, up).block
    assert found.coarse.rows[2] == {1: 6, 3: 3}
    fine, coarse = stationary(chain), stationary(found.coarse)
    assert [sum((x for x, b in zip(fine, found.block, strict=True) if b == c), fmpq(0)) for c in range(6)] == coarse
    assert coarsest_lumping(chain).coarse.size == 1


def test_symmetric_lumping():
    chain = cube(4)
    swap, turn = (
        [chain.index(f(s)) for s in chain.labels] for f in (lambda s: (s[1], s[0], *s[2:]), lambda s: s[1:] + s[:1])
    )
    found = symmetric_lumping(chain, [swap, turn])
    assert found.coarse.size == 5
    checker.check(*(found.certificate[k] for k in ("problem", "conclusion", "proof")))
    with pytest.raises(InputError, match="changes the rate"):
        symmetric_lumping(chain, [[1, 0, *range(2, 16)]])
    with pytest.raises(InputError, match="no permutation"):
        symmetric_lumping(chain, [[0] * 16])


def test_no_lumping_is_refused():
    chain = FiniteChain.from_transitions(3, [(0, 1, 1), (0, 2, 2), (1, 0, 3), (2, 0, 4)])
    with pytest.raises(InputError, match="states 1 and 2 of one block enter block 0 at rates 3 and 4"):
        proposed_lumping(chain, ["a", "b", "b"])
    with pytest.raises(InputError, match="labels: 2 given for 3 states"):
        coarsest_lumping(chain, "ab")


def spoiled_certificates():
    chain = cube(3)
    turn = [chain.index(s[1:] + s[:1]) for s in chain.labels]
    document = symmetric_lumping(chain, [turn]).certificate
    problem, conclusion, proof = (document[k] for k in ("problem", "conclusion", "proof"))
    first = conclusion["transitions"][0]
    swapped = list(range(8))
    swapped[1], swapped[4] = 4, 1
    yield problem, conclusion | {"transitions": [[*first[:2], "7"], *conclusion["transitions"][1:]]}, proof
    yield problem, conclusion | {"transitions": conclusion["transitions"][1:]}, proof
    yield problem, conclusion | {"transitions": [*conclusion["transitions"], [0, 3, "1"]]}, proof
    yield problem, conclusion | {"block": [*conclusion["block"][:-1], 2]}, proof
    yield problem, conclusion | {"block": [*conclusion["block"][:-1], 7]}, proof
    yield problem, conclusion | {"block": conclusion["block"][1:]}, proof
    yield problem, conclusion | {"symmetric": "no"}, proof
    yield problem, conclusion, {"permutations": []}
    yield problem, conclusion, {"permutations": [swapped]}
    yield problem, conclusion, {"permutations": [[0] * 8]}
    yield problem, conclusion, {}
    yield problem | {"time": "never"}, conclusion, proof
    yield problem | {"transitions": [*problem["transitions"], problem["transitions"][0]]}, conclusion, proof
    yield problem | {"transitions": [[0, 1, "-1"], *problem["transitions"][1:]]}, conclusion, proof


@pytest.mark.parametrize("case", range(14))
def test_spoiled_certificates_are_rejected(case):
    with pytest.raises(Rejected):
        checker.check(*list(spoiled_certificates())[case])


def test_orbits_that_are_too_coarse_are_rejected():
    """A lumping of the cube that is no orbit partition of the turn alone: blocks {1 up} and {2 up} merged by hand."""
    chain = cube(2)
    found = proposed_lumping(chain, [sum(s) for s in chain.labels])
    document = found.certificate
    identity = {"permutations": [list(range(4))]}
    checker.check(document["problem"], document["conclusion"], identity)
    with pytest.raises(Rejected, match="orbits"):
        checker.check(document["problem"], document["conclusion"] | {"symmetric": True}, identity)
