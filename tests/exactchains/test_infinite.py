"""Means of chains on the quarter plane: closed forms, published enclosures, truncated chains, and the checker."""

import copy
import json
from fractions import Fraction

import pytest

from exactchains import CountableChain, FiniteChain, Reward, Undecided, expectation, tail_probability
from exactchains.countable_chain import shortest_queue
from exactchains.solvers.cone_law import square_law
from exactchains.truth import InputError, PrecisionExhausted
from proofs_check.check import infinite
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected
from proofs_check.check.infinite import Side
from tests.spoiling import put

JSQ = shortest_queue(9, (7, 3))
ASYMMETRIC = expectation(JSQ, Reward.total(), digits=8)
COARSE = expectation(JSQ, Reward.total(), digits=3)  # a small certificate to spoil


def accepted(result):
    check(loads(json.dumps(result.certificate)))


def two_servers(loads):
    """Two single servers that know nothing of each other."""

    def rule(x):
        for k in (0, 1):
            step = [0, 0]
            step[k] = 1
            yield (x[0] + step[0], x[1] + step[1]), loads[k]
            if x[k]:
                yield (x[0] - step[0], x[1] - step[1]), 1

    return CountableChain.from_rule(rule)


def idle_first(arrival, speeds):
    """A job joins the fastest idle server, else server k with probability proportional to its speed."""

    def rule(x):
        for k in (0, 1):
            step = (1 - k, k)
            if x[k]:
                yield (x[0] - step[0], x[1] - step[1]), speeds[k]
            share = arrival * speeds[k] / sum(speeds) if all(x) else arrival * (x[k] == 0 and (k == 0 or x[0] > 0))
            yield (x[0] + step[0], x[1] + step[1]), share

    return CountableChain.from_rule(rule)


def test_the_mean_of_the_asymmetric_shortest_queue():
    assert ASYMMETRIC.enclosure.has_digits(8)
    assert ASYMMETRIC.enclosure.contains("10.4674684079474824283825")
    accepted(ASYMMETRIC)
    accepted(COARSE)


def test_fifteen_digits_of_the_asymmetric_shortest_queue():
    result = expectation(JSQ, Reward.total(), digits=15)
    assert result.enclosure.digits(15) == "10.4674684079474"
    assert result.enclosure.contains("10.4674684079474824283825")


def test_independent_servers_have_a_product_form():
    loads = (Fraction(1, 2), Fraction(2, 3))
    chain = two_servers(loads)
    mean = expectation(chain, Reward.total(), digits=10)
    assert mean.enclosure.contains(1 + 2) and mean.enclosure.has_digits(10)
    weighted = expectation(chain, Reward("1/3", "-2", "5/7"), digits=6)
    assert weighted.enclosure.contains(Fraction(1, 3) - 2 + Fraction(10, 7))
    accepted(weighted)


def test_tail_probability_of_independent_servers():
    half, third = Fraction(1, 2), Fraction(1, 3)
    result = tail_probability(two_servers((half, third)), 6, digits=8)
    below = sum((1 - half) * half**i * (1 - third) * third**j for i in range(6) for j in range(6 - i))
    assert result.enclosure.contains(1 - below) and result.enclosure.has_digits(8)
    accepted(result)


def test_join_the_idle_queue_as_published():
    chain = idle_first(Fraction(1), (Fraction(3, 2), Fraction(1, 2)))
    result = expectation(chain, Reward.total(), digits=12)
    assert result.enclosure.digits(12) == "1.52598130233"  # published: 1.525981302333356
    accepted(result)


def test_a_blocked_chain_stays_below():
    """Exact law of a small square of the symmetric system: blocking arrivals lowers the mean."""
    chain, reach = shortest_queue(1, (1, 1)), 7
    states = [(i, j) for i in range(reach + 1) for j in range(reach + 1)]
    place = {x: k for k, x in enumerate(states)}
    moves = [(place[x], place[y], q) for x in states for y, q in chain.transitions(x) if y in place]
    from exactchains.solvers.gth import gth

    law = gth(FiniteChain.from_transitions(len(states), moves))
    blocked = sum(p * sum(x) for p, x in zip(law, states, strict=True))
    result = expectation(chain, Reward.total(), digits=8)
    assert result.lower > blocked and result.upper < blocked + 1
    estimate = square_law(chain, reach)
    assert abs(sum(estimate[x] * sum(x) for x in states) - float(blocked.p) / float(blocked.q)) < 1e-12


def test_more_digits_give_an_enclosure_inside():
    finer = expectation(JSQ, Reward.total(), digits=12)
    assert ASYMMETRIC.lower <= finer.lower <= finer.upper <= ASYMMETRIC.upper


@pytest.mark.parametrize("arrival", [10, 11])
def test_an_unstable_system_gets_no_number(arrival):
    with pytest.raises(Undecided, match="Lyapunov"):
        expectation(shortest_queue(arrival, (7, 3)), Reward.total())


def test_rules_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="jump differently"):
        CountableChain.from_rule(lambda x: [((x[0] + 1, x[1]), 1 + x[0])])
    with pytest.raises(InputError, match="at most one"):
        CountableChain.from_rule(lambda x: [((x[0] + 2, x[1]), 1)], borders=[(1, -1)])
    with pytest.raises(InputError, match="at most 5000 long"):
        CountableChain.from_rule(lambda x: [((x[0] + 5001, x[1]), 1)])
    with pytest.raises(InputError, match="below zero"):
        CountableChain.from_rule(lambda x: [((x[0] - 1, x[1]), 1)])
    with pytest.raises(TypeError, match="float"):
        CountableChain.from_rule(lambda x: [((x[0] + 1, x[1]), 0.5)])
    with pytest.raises(InputError, match="digits"):
        expectation(JSQ, Reward.total(), digits=0)


def more(text):
    return str(Fraction(text) + 1)


REJECTED = {
    "mean above": put("conclusion", "mean", 0, value="1047/100"),
    "mean below": put("conclusion", "mean", 1, value="1046/100"),
    "mean upper below": put("conclusion", "mean", 1, value="104674684/10000000"),
    "mean lower above": put("conclusion", "mean", 0, value="104674685/10000000"),
    "value": put("proof", "upper", "values", 77, value=lambda v: hex(int(v, 0) + 2**70)),
    "lower value": put("proof", "lower", "values", 40, value=lambda v: hex(int(v, 0) - 2**70)),
    "values missing": put("proof", "upper", "values", value=lambda v: v[:-1]),
    "no values": put("proof", "upper", "values", value=[]),
    "theta": put("proof", "upper", "theta", 3, value=more),
    "theta constant": put("proof", "upper", "theta", 0, value="0"),
    "lower theta": put("proof", "lower", "theta", 5, value=more),
    "theta short": put("proof", "upper", "theta", value=["0"]),
    "sides swapped": lambda c: c["proof"].update(upper=c["proof"]["lower"], lower=c["proof"]["upper"]),
    "smaller box": put("proof", "upper", "sides", 0, 2, value=20),
    "no side": put("proof", "upper", "sides", value=[]),
    "unbounded": put("proof", "upper", "sides", value=[[1, -1, 5]]),
    "premise slope": put("proof", "lyapunov", "delta", value="5"),
    "premise zero": put("proof", "lyapunov", "delta", value="0"),
    "premise constant": put("proof", "lyapunov", "theta", value=["0"] * 8),
    "premise linear": put("proof", "lyapunov", "theta", value=["0", "1", "1", "0", "0", "0", "0", "0"]),
    "premise negative": put("proof", "lyapunov", "theta", value=lambda t: [str(-Fraction(x)) for x in t]),
    "arrival": put("problem", "chain", "cells", 0, "jumps", 0, 2, value="5"),
    "jump of two": put("problem", "chain", "cells", 0, "jumps", 0, 0, value=2),
    "jump below": put("problem", "chain", "cells", 0, "jumps", 0, 0, value=-1),
    "cell missing": put("problem", "chain", "cells", value=lambda cells: cells[1:]),
    "cell twice": put("problem", "chain", "cells", value=lambda cells: [*cells, cells[0]]),
    "border": put("problem", "chain", "borders", 0, value=[1, 1]),
    "reward": put("problem", "reward", "linear", 1, value="2"),
    "exception": put("problem", "reward", "exceptions", value=[[0, 0, "1"]]),
    "exception far": put("problem", "reward", "exceptions", value=[[4000, 0, "1"]]),
    "over": put("proof", "upper", "over", value="1"),
}


@pytest.mark.parametrize(("signs", "jump"), [([1, 1, -1], [2, 0]), ([1, 1, 1], [0, 2]), ([1, 1, 1], [-2, 0])])
def test_jumps_that_pass_a_border_are_rejected(signs, jump):
    certificate = copy.deepcopy(COARSE.certificate)
    (cell,) = (cell for cell in certificate["problem"]["chain"]["cells"] if cell["signs"] == signs)
    cell["jumps"][0][:2] = jump
    with pytest.raises(Rejected, match="closer to 0"):
        check(loads(json.dumps(certificate)))


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name):
    certificate = copy.deepcopy(COARSE.certificate)
    REJECTED[name](certificate)
    with pytest.raises(Rejected):
        check(loads(json.dumps(certificate)))


def test_without_the_premise_a_false_statement_would_pass():
    """M/M/1 with load 1/2 beside an empty queue: V(n) = -2^n has Q V + f = 0 for f = 1{n = 0}, yet the mean is 1/2.

    Only V of quadratic growth can be written, and the premise is checked: an upward walk has no certificate.
    """
    certificate = copy.deepcopy(COARSE.certificate)
    for cell in certificate["problem"]["chain"]["cells"]:
        for jump in cell["jumps"]:
            if sum(jump[:2]) > 0:
                jump[2] = str(2 * Fraction(jump[2]))
    with pytest.raises(Rejected, match="every ray"):
        check(loads(json.dumps(certificate)))


def test_near_load_one_the_first_estimate_of_the_mean_is_corrected():
    result = expectation(shortest_queue("97/10", (7, 3)), Reward.total(), digits=4)
    assert result.enclosure.has_digits(4)
    accepted(result)


@pytest.mark.parametrize(
    "sides", [[(1, 1, 9)], [(1, 1, 12), (1, -1, 3), (-1, 1, 2)], [(1, 1, 8), (2, -3, 4), (0, 1, 5)]]
)
def test_the_checker_lists_pairs_as_their_definition_says(sides):
    side = Side.__new__(Side)
    side.sides = [(*s, 1 + k) for k, s in enumerate(sides)]
    inside, shell = [], []
    for x in ((i, j) for i in range(12) for j in range(12)):
        over = [a * x[0] + b * x[1] - bound for a, b, bound, _ in side.sides]
        if max(over) <= 0:
            inside.append(x)
        elif all(v <= s[3] for v, s in zip(over, side.sides, strict=True)):
            shell.append(x)
    assert [p for p in side._pairs()[0] if max(p) < 12] == inside
    assert [p for p in side._pairs()[1] if max(p) < 12] == shell


def batches(arrival, size, other):
    """Jobs come to the first server in batches, and one by one to the second, which is as fast."""

    def rule(x):
        yield (x[0] + size, x[1]), arrival
        yield (x[0], x[1] + 1), other
        for k in (0, 1):
            if x[k]:
                yield (x[0] - (k == 0), x[1] - (k == 1)), 1

    return CountableChain.from_rule(rule)


@pytest.mark.parametrize(("arrival", "size"), [(Fraction(1, 4), 2), (Fraction(1, 8), 5)])
def test_arrivals_in_batches(arrival, size):
    """Batches of b at load r have a mean queue of r (b + 1) / (2 (1 - r)), here beside a queue of its own."""
    load, other = arrival * size, Fraction(1, 3)
    whole = expectation(batches(arrival, size, other), Reward.total(), digits=6)
    assert whole.enclosure.contains(load * (size + 1) / 2 / (1 - load) + other / (1 - other))
    accepted(whole)


def test_batches_that_are_too_long_are_named():
    with pytest.raises(PrecisionExhausted, match="jumps up to 100 far"):
        expectation(batches(Fraction(1, 200), 100, Fraction(1, 3)), Reward.total(), digits=3)


def test_what_a_box_may_cost_is_bounded(monkeypatch):
    accepted(COARSE)
    monkeypatch.setattr(infinite, "MAX_WORK", 1000)
    with pytest.raises(Rejected, match="more than 50 pairs"):  # 1000 / ((1 + 4 jumps) (3 + 1 border))
        accepted(COARSE)


def test_work_for_both_queues_and_a_border_that_batches_leave():
    """Two equal queues: pairs for both, and two at once for the first one where it is not the longer one."""

    def rule(x):
        yield (x[0] + 1, x[1] + 1), Fraction(1, 4)
        yield ((x[0] + 2, x[1]) if x[0] >= x[1] else (x[0] + 1, x[1])), Fraction(1, 8)
        for k in (0, 1):
            if x[k]:
                yield (x[0] - (k == 0), x[1] - (k == 1)), 1

    chain = CountableChain.from_rule(rule, borders=[(1, -1)])
    found = expectation(chain, Reward.total(), digits=5)
    accepted(found)
    side, law = 60, square_law(chain, 60)
    mean = sum((i + j) * law[i, j] for i in range(side + 1) for j in range(side + 1))
    assert float(found.lower.p) / float(found.lower.q) == pytest.approx(mean, rel=1e-4)


def tandem(arrival, speeds, back=Fraction(0)):
    """Jobs pass two single servers one after the other; a share ``back`` of them then starts again."""

    def rule(x):
        yield (x[0] + 1, x[1]), arrival
        if x[0]:
            yield (x[0] - 1, x[1] + 1), speeds[0]
        if x[1]:
            yield (x[0], x[1] - 1), speeds[1] * (1 - back)
            yield (x[0] + 1, x[1] - 1), speeds[1] * back

    return CountableChain.from_rule(rule)


@pytest.mark.parametrize("back", [Fraction(0), Fraction(1, 3)])
def test_networks_of_single_servers_have_the_product_form(back):
    """Jackson: both queues are those of independent single servers with the total arrival rates, also with returns.

    Without returns it is Burke's theorem: the second server sees the arrivals of a Poisson process.
    """
    arrival, speeds = Fraction(1, 3), (Fraction(1), Fraction(3, 2))
    first, second = (arrival / (1 - back) / speed for speed in speeds)
    chain = tandem(arrival, speeds, back)
    whole, later = (expectation(chain, reward, digits=7) for reward in (Reward.total(), Reward(0, 0, 1)))
    assert whole.enclosure.contains(first / (1 - first) + second / (1 - second))
    assert later.enclosure.contains(second / (1 - second))
    k = 5
    below = sum((1 - first) * first**i * (1 - second) * second**j for i in range(k) for j in range(k - i))
    assert tail_probability(chain, k, digits=5).enclosure.contains(1 - below)
    accepted(later)
