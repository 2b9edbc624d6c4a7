"""Certificates of infinite n-server systems: accepted as found, rejected when anything in them is changed."""

import copy
import json
from itertools import accumulate, combinations_with_replacement

import pytest
from flint import fmpq

from exactchains.enclosure import Enclosure
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from meanfield.solvers.enclosures import server_system
from meanfield.solvers.replacement import filled, split, transferred
from meanfield.solvers.shapes import ShapeSet
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected
from proofs_check.check.replacement import Replacement
from proofs_check.check.routing import System

TWO = "1/2:3/2,1/2:1/2"


def _document(policy, n, digits, name="mean_queue", index=None):
    return loads(json.dumps(server_system(policy, n=n, digits=digits).certificate(name, index)))


@pytest.mark.parametrize(
    ("policy", "n"),
    [
        (PowerOfD("9/10", 2, 1, "1/2"), 2),
        (PowerOfD("1/2", 2, None, "3/4", True), 2),
        (PowerOfD("1/2", 3, 2, 1), 3),
        (SpeedAwareJSQ(TWO, "1/2"), 4),
        (JSQ(TWO, "1/2"), 2),
        (JSQ(TWO, "1/2", counts="waiting"), 2),
        (SED(TWO, "4/5"), 2),
        (JIQ(TWO, "1/2", fallback="speed"), 2),
        (SpeedAwareJIQ(TWO, "1/2", fallback="speed"), 2),
    ],
    ids=repr,
)
def test_the_checker_accepts_what_was_found(policy, n):
    found = server_system(policy, n=n, digits=5)
    for name, index in (("mean_queue", None), ("tail", 2)):
        document = loads(json.dumps(found.certificate(name, index)))
        check(document)
        low, high = (fmpq(*map(int, _fraction(x))) for x in document["conclusion"]["bounds"])
        assert Enclosure(low, high) == found.enclosure(name, index)


def _fraction(word):
    from proofs_check.check.exact import rational

    value = rational(word)
    return value.numerator, value.denominator


@pytest.mark.parametrize(
    "policy",
    [
        PowerOfD("1/2", 2, 1, "1/3"),
        PowerOfD("1/2", 3, None, "1/3", True),
        SpeedAwareJSQ(TWO, "1/2"),
        JSQ(TWO, "1/2", counts="waiting"),
        JIQ(TWO, "1/2"),
        SpeedAwareJIQ(TWO, "1/2", fallback="speed"),
        SED(TWO, "1/2"),
    ],
    ids=repr,
)
def test_the_checkers_own_rules_are_the_enumerated_ones(policy):
    pools = [[str(p.fraction), str(p.speed)] for p in policy.pools]
    system = System({"policy": policy.rule, "load": "1/2", "pools": pools, "n": 4})
    sizes = policy.pools.sizes(4)
    for a, b, c, d in [(0, 0, 0, 0), (0, 1, 0, 2), (1, 2, 1, 1), (0, 3, 1, 1), (2, 2, 2, 5), (1, 4, 3, 3)]:
        flat = (a, b, c, d) if len(sizes) == 2 else tuple(sorted((a, b, c, d)))
        state = (flat[:2], flat[2:]) if len(sizes) == 2 else (flat,)
        ours = {c: (int(x.p), int(x.q)) for c, x in policy.enumerated_law(state).items()}
        theirs = {c: (x.numerator, x.denominator) for c, x in system.law(state).items() if x}
        assert ours == theirs


def _change(path, value):
    def apply(document):
        target = document
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value(target[path[-1]]) if callable(value) else value

    return apply


def _more(by):
    return lambda text: _hex(int(text, 16) + by)


def _hex(x):
    return f"{'-' if x < 0 else ''}0x{abs(x):x}"


def _zero(side):
    def apply(document):
        for row in document["proof"][side]["values"]:
            row[:] = ["0"] * len(row)

    return apply


SPOILS = [
    _change(["problem", "load"], "91/100"),
    _change(["problem", "load"], "89/100"),
    _change(["problem", "load"], "1"),
    _change(["problem", "n"], 3),
    _change(["problem", "pools"], [["1", "2"]]),
    _change(["problem", "policy", "eps"], "2/3"),
    _change(["problem", "policy", "eps"], "-1/2"),
    _change(["problem", "policy", "g"], 2),
    _change(["problem", "policy", "d"], 3),
    _change(["problem", "policy", "rule"], "jsq"),
    _change(["conclusion", "bounds"], lambda b: [b[0], b[0]]),
    _change(["conclusion", "bounds"], lambda b: [b[1], b[1]]),
    _change(["conclusion", "bounds"], ["0", "3"]),
    _change(["conclusion", "quantity"], "mean_response"),
    _change(["conclusion", "index"], 1),
    _change(["proof", "shapes"], []),
    _change(["proof", "shapes"], lambda s: s[1:]),
    _change(["proof", "shapes"], lambda s: [s[0], s[0], *s[2:]]),
    _change(["proof", "shapes", 1], [[1, 1]]),
    _change(["proof", "top"], lambda t: t - 1),
    _change(["proof", "bits"], lambda b: b + 1),
    _change(["proof", "upper", "alpha"], "0"),
    _change(["proof", "upper", "alpha"], _more(-(2**40))),
    _change(["proof", "lower", "alpha"], _more(2**40)),
    _change(["proof", "upper", "values", 3, 2], _more(2**50)),
    _change(["proof", "lower", "values", 3, 2], _more(-(2**50))),
    _change(["proof", "upper", "constant", 1], _more(2**55)),
    _change(["proof", "lower", "linear", 1], _more(-(2**50))),
    _change(["proof", "upper", "values"], lambda v: v[:-1]),
    _change(["proof", "upper", "values", 0], lambda v: v[:-1]),
    _change(["proof", "upper", "values", 0, 0], "1/2"),
    _zero("upper"),
    _zero("lower"),
]


@pytest.fixture(scope="module")
def accepted():
    document = _document(PowerOfD("9/10", 2, 1, "1/2"), 2, 9)
    check(document)
    return document


@pytest.mark.parametrize("spoil", SPOILS)
def test_spoiled_certificates_are_rejected(accepted, spoil):
    document = copy.deepcopy(accepted)
    spoil(document)
    with pytest.raises(Rejected):
        check(document)


@pytest.fixture(scope="module")
def majorised():
    document = _document(PowerOfD("9/10", 2, 1, "1/2"), 3, 4)
    assert document["proof"]["order"] == "majorisation"
    check(document)
    return document


def _reorder(order):
    def apply(document):
        document["proof"]["order"] = order

    return apply


@pytest.mark.parametrize(
    "spoil",
    [
        _reorder("coordinate"),
        _reorder("convex"),
        _change(["proof"], lambda p: {k: v for k, v in p.items() if k != "order"}),
        _change(["problem", "policy", "eps"], "51/100"),
        _change(["problem", "policy", "g"], 2),
        _change(["problem", "policy", "d"], 3),
    ],
)
def test_weak_majorisation_is_stated_and_only_for_its_rules(majorised, spoil):
    """The V of a chain that moves jobs between queues proves nothing for a chain that adds or removes them."""
    document = copy.deepcopy(majorised)
    spoil(document)
    with pytest.raises(Rejected):
        check(document)


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_replacements_are_ordered_and_keep_the_number_of_jobs(side):
    """Against brute force over all loads with as many jobs: above (below) in every sum of the longest queues."""
    inside = {((0, 0, 1, 4),): 0, ((0, 1, 1, 3),): 0, ((0, 0, 0, 5),): 0, ((0, 1, 2, 2),): 0, ((0, 0, 3, 3),): 0}
    for queue in combinations_with_replacement(range(5), 4):
        found = transferred((queue,), inside, side)
        if found is None:
            continue
        low, high = (queue, found[0]) if side == "upper" else (found[0], queue)
        sums = [list(accumulate(sorted(q, reverse=True))) for q in (low, high)]
        assert all(a <= b for a, b in zip(*sums, strict=True))
        assert sums[0][-1] == sums[1][-1]
        assert split(found, (1,))[1] in inside


@pytest.mark.parametrize("order", ["coordinate", "majorisation"])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_added_or_removed_jobs_are_ordered_and_as_few_as_a_transfer_allows(side, order):
    """In weak majorisation a transfer after the last job saves jobs; never is the result on the wrong side."""
    inside = {((0, 0, 0, 0),): 0, ((0, 0, 1, 3),): 0, ((0, 0, 2, 2),): 0, ((0, 0, 0, 5),): 0, ((0, 1, 1, 2),): 0}
    for queue in combinations_with_replacement(range(5), 4):
        found = filled((queue,), inside, (1,), side, order)
        low, high = (queue, found[0]) if side == "upper" else (found[0], queue)
        sums = [list(accumulate(sorted(q, reverse=True))) for q in (low, high)]
        assert all(a <= b for a, b in zip(*sums, strict=True))
        assert split(found, (1,))[1] in inside
        if order == "majorisation":
            plain = filled((queue,), inside, (1,), side, "coordinate")
            assert abs(sum(found[0]) - sum(queue)) <= abs(sum(plain[0]) - sum(queue))


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_replaced_departures_are_ordered_add_at_most_the_job_that_left_and_are_the_checkers(side):
    """In the upper chain a service is lost only where the job that left cannot be put back at a better place."""
    policy = PowerOfD("9/10", 2, 1, "1/2")
    found = ShapeSet(policy, 4)
    for shape in [(0, 0, 0, 2), (0, 0, 1, 3), (0, 1, 1, 1), (0, 2, 2, 3), (0, 0, 4, 5), (0, 3, 3, 3)]:
        found.add((shape,))
    system = System({"policy": policy.rule, "load": "9/10", "pools": [["1", "1"]], "n": 4})
    theirs = Replacement(system, found.place, side == "upper", "majorisation")
    added = set()
    for queue in combinations_with_replacement(range(5), 4):
        target = split((queue,), (1,))[1]
        instead = found.replaced(target, False, side, "majorisation")
        assert instead == theirs(target, False)
        if instead is None:
            assert side == "upper"
            continue
        low, high = (target, instead) if side == "upper" else (instead, target)
        sums = [list(accumulate(sorted(q[0], reverse=True))) for q in (low, high)]
        assert all(a <= b for a, b in zip(*sums, strict=True))
        assert split(instead, (1,))[1] in found.place
        added.add(sums[1][-1] - sums[0][-1])
    assert {0, 1} <= added
    assert side == "lower" or max(added) == 1


@pytest.mark.parametrize("rule", ["sed", "sa-jsq", "jsq"])
@pytest.mark.parametrize("pools", [[["1/2", "1/2"], ["1/2", "3/2"]], [["1/2", "1"], ["1/2", "1"]]])
def test_the_fastest_pool_comes_first(rule, pools):
    """With the slow pool first sa-jsq, and sed in its ties, would prefer the slow server: another rule."""
    problem = {"policy": {"rule": rule}, "load": "1/2", "pools": pools, "n": 2}
    with pytest.raises(Rejected, match="the fastest pool comes first"):
        System(problem)
    assert System({**problem, "pools": [["1/2", "3/2"], ["1/2", "1/2"]]}).sizes == [1, 1]


def test_a_tail_needs_moments():
    document = _document(SpeedAwareJSQ(TWO, "1/2"), 2, 8, "tail", 2)
    check(document)
    del document["proof"]["moments"]
    with pytest.raises(Rejected):
        check(document)


def test_rules_without_a_checker_have_no_certificate():
    assert server_system(SED(TWO, "1/2", ties="random"), n=2, digits=4).certificate("mean_queue") is None
    assert Policy("1/2").rule is None
