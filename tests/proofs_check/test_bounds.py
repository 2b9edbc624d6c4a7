"""Small certificate files that ask for huge work are refused at once, and deep but honest ones still pass."""

import json

import pytest
from flint import fmpq

from exactchains import LevelChain
from exactchains.solvers.level_law import level_law
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.fixed_point import fixed_point
from proofs_check.check import level_law as levels
from proofs_check.check import replacement
from proofs_check.check.document import check, loads
from proofs_check.check.dyadic import at_least, at_most
from proofs_check.check.exact import Rejected, rational, rationals


def checked(kind, problem, conclusion, proof):
    data = {"format": 1, "kind": kind, "problem": problem, "conclusion": conclusion, "proof": proof}
    check(loads(json.dumps(data)))


def finite(states, transitions=(), **more):
    return {"time": "continuous", "states": states, "transitions": [list(t) for t in transitions], **more}


LINE = [(0, 1, "1"), (1, 0, "1"), (1, 2, "1"), (2, 1, "1")]
STAR = [(i, 0, "1") for i in range(1, 40)] + [(0, i, "1") for i in range(1, 40)]
FIXED = {"load": "1/2", "eps": "1/3", "d": 1000, "g": None}
TAIL = {"tail": [[1, "0", "1"]]}
JSQ = {"policy": {"rule": "jsq"}, "load": "1/2", "pools": [["1", "1"]], "n": 2}
MEAN = {"quantity": "mean_queue", "index": None, "bounds": ["0", "1"]}
CELLS = [
    {"signs": [0, 0], "jumps": []},
    {"signs": [1, 0], "jumps": [[-1, 0, "1"]]},
    {"signs": [0, 1], "jumps": [[0, -1, "1"]]},
    {"signs": [1, 1], "jumps": [[-1, 0, "1"], [0, -1, "1"]]},
]
WALK = {"chain": {"borders": [], "cells": CELLS}, "reward": {"linear": ["0", "1", "1"], "exceptions": []}}


def shapes(jobs):
    return {"shapes": [[[0, 0]], *([[0, j]] for j in jobs)], "top": 1, "bits": 1, "lower": {}, "upper": {}}


def sides(listed):
    side = {"sides": listed, "theta": ["0"] * 6, "over": "1", "values": []}
    return {"lyapunov": {"theta": ["0", "0", "0", "1", "0", "1"], "delta": "1/10"}, "lower": side, "upper": side}


def exponents(law):
    return {"reference": 0, "law": [["0x1", e] for e in law], "vector": ["0"] + ["0x7"] * (len(law) - 1)}


def nested(depth):
    leaf = {"join": ["1", "0"]}
    tree = leaf
    for k in range(depth):
        tree = {"order": [k % 2, 1 - k % 2], "then": tree, "else": leaf}
    idle = {"zero": 1, "then": leaf, "else": leaf}
    cells = {"zero": 0, "then": idle, "else": {"zero": 1, "then": leaf, "else": tree}}
    return {"pools": [[1, "1"], [1, "1"]], "arrivals": "1/2", "cells": cells}


def growth(base):
    return {"function": "exponential", "base": base, "weights": ["1", "1"], "rate": "1/100", "bound": "1000"}


HUGE = {
    "states of a mean": ("alone", "mean", finite(10**9, reward=[]), {"mean": ["0", "1"]}, {"law": []}),
    "states of a law": ("alone", "stationary", finite(10**8), {"entries": []}, {"reference": 0, "law": []}),
    "blocks": ("block", "lumping", finite(1), {"block": [10**9], "transitions": []}, {"permutations": []}),
    "exponents": ("exponents", "stationary", finite(3, LINE), {"entries": []}, exponents([0, 10**8, -(10**8)])),
    "neighbours": ("neighb", "stationary", finite(40, STAR), {"entries": []}, exponents([-900_000] + [0] * 39)),
    "rewards": (
        "power of two",
        "mean",
        finite(40, STAR, reward=["1*2^16000000"] * 40),
        {"mean": ["0", "1"]},
        {"law": ["1/40"] * 40},
    ),
    "rewards together": (
        "together",
        "mean",
        finite(40, STAR, reward=["1*2^399999"] * 40),
        {"mean": ["0", "1"]},
        {"law": ["1/40"] * 40},
    ),
    "rates together": (
        "together",
        "lumping",
        finite(40, [(i, j, "1*2^-399999") for i, j, _ in STAR]),
        {"block": [0] * 40, "transitions": []},
        {"permutations": []},
    ),
    "bits": ("bits", "fixed-point", FIXED, TAIL, {"bits": 3_000_000, "terms": 5}),
    "bits in powers": ("powers", "fixed-point", FIXED, TAIL, {"bits": 100_000, "terms": 5}),
    "terms": ("terms", "fixed-point", FIXED | {"eps": "0", "d": 1}, TAIL, {"bits": 8, "terms": 10**8}),
    "exponent of a bound": (
        "below",
        "fixed-point",
        FIXED | {"g": 1},
        TAIL,
        {"shift": 1, "bounds": [[4_000_000, "1", "0"]] * 2},
    ),
    "powers of a bound": (
        "powers",
        "fixed-point",
        FIXED | {"g": 1},
        TAIL,
        {"shift": 1, "bounds": [[1_900_000, "1", "0"]] * 2},
    ),
    "jobs": ("jobs", "comparison", JSQ, MEAN, shapes([10**17])),
    "many sides": ("sides", "poisson", WALK, {"mean": ["0", "0"]}, sides([[1, 1, 5000]] * 3000)),
    "many pairs": ("pairs", "poisson", WALK, {"mean": ["0", "0"]}, sides([[1, 1, 5000]])),
    "far cells": ("far out", "drift", nested(100), growth("3/2"), {}),
    "long base": ("bits", "drift", nested(0), growth("0x1" + "0" * 9000), {}),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_work_is_refused(name):
    reason, *certificate = HUGE[name]
    with pytest.raises(Rejected, match=reason):
        checked(*certificate)


def test_shapes_that_take_many_replacements_are_refused(monkeypatch):
    monkeypatch.setattr(replacement, "FREE_STEPS", 1000)
    with pytest.raises(Rejected, match="too sparse"):
        checked("comparison", JSQ, MEAN, shapes([9000]))


def test_bounds_with_long_powers_of_two_are_never_multiplied_out():
    entries = [[0, "0x1*2^-99999999", "1"]] * 3000
    checked("stationary", finite(1), {"entries": entries}, {"reference": 0, "law": [["1", 0]], "vector": ["0"]})


@pytest.mark.parametrize("shift", [-3, 0, 5])
def test_comparison_of_lengths_agrees_with_fractions(shift):
    for text in ("-0x3*2^4", "-1/5", "0", "0x1*2^-7", "3/8", "0x3*2^-3", "0x9*2^1", "96"):
        for top in (-12, -1, 0, 3, 11):
            value = rational("1/8") * top * rational(f"1*2^{shift}")
            assert at_most(text, top, 8, shift) == (rational(text) <= value)
            assert at_least(text, top, 8, shift) == (rational(text) >= value)


def test_powers_of_two_within_the_caps_are_read():
    assert rational("0x3*2^-152000") * 2**152000 == 3
    with pytest.raises(Rejected, match="2\\^400000"):
        rational("1*2^400001")
    assert len(rationals(["1*2^-1999"] * 5000)) == 5000


def test_entries_of_1e_minus_45758_still_pass():
    last = 1520
    steps = [(k, k + 1, "1") for k in range(last)] + [(k + 1, k, "0x1" + "0" * 25) for k in range(last)]
    law = {"reference": 0, "law": [["0x1", -100 * k] for k in range(last + 1)]}
    good = [last, "0x1*2^-152001", "0x1*2^-152000"]
    checked("stationary", finite(last + 1, steps), {"entries": [good], "unique": True}, law)
    with pytest.raises(Rejected, match="tighter"):
        checked("stationary", finite(last + 1, steps), {"entries": [[last, "0", "0x1*2^-152001"]]}, law)


@pytest.mark.parametrize(
    "policy", [PowerOfD("999999999/1000000000", 2), PowerOfD("1/2", 50), PowerOfD("1/2", 2, 1, "1/2")]
)
def test_fixed_points_of_a_thousand_digits_still_pass(policy):
    check(loads(json.dumps(fixed_point(policy, digits=1000).certificate())))


def one_server(load):
    blocks = {"up": [[load]], "local": [[-1 - load]], "down": [[1]], "boundary_local": [[-load]]}
    return LevelChain.from_blocks(blocks)


def test_a_queue_that_is_hardly_ever_used_has_a_certificate():
    certificate = level_law(one_server(fmpq(1, 10**300)), digits=15).certificate
    low, high = (rational(x) for x in certificate["conclusion"]["mean_level"])
    mean = 1 / (rational(f"0x{10**300:x}") - 1)
    assert low <= mean <= high and (high - low) * 10**14 <= mean
    check(loads(json.dumps(certificate)))


def test_nearly_decoupled_phases_have_a_certificate():
    rare, half = fmpq(1, 10**30), fmpq(1, 2)
    blocks = {
        "up": [[half, 0], [0, half / 2]],
        "local": [[-1 - half - rare, rare], [rare, -1 - half / 2 - rare]],
        "down": [[1, 0], [0, 1]],
        "boundary_local": [[-half - rare, rare], [rare, -half / 2 - rare]],
    }
    certificate = level_law(LevelChain.from_blocks(blocks), digits=15).certificate
    low, high = (rational(x) for x in certificate["conclusion"]["levels"][0][0])
    assert low < high and abs(low - rational("1/4")) * 10**25 < 1  # each phase has half of the mass, half of it idle
    check(loads(json.dumps(certificate)))


def test_levels_whose_numbers_grow_too_long_are_refused(monkeypatch):
    certificate = level_law(one_server(fmpq(1, 3)), digits=15).certificate
    check(loads(json.dumps(certificate)))
    monkeypatch.setattr(levels, "MAX_WORK", 4)
    with pytest.raises(Rejected, match="too far out"):
        check(loads(json.dumps(certificate)))
