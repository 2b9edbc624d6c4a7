"""The drift engine against brute force: cells, constants, verdicts, and what its checkers refuse."""

import copy
import json
from fractions import Fraction
from itertools import permutations, product

import pytest
from click.testing import CliRunner
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from exactchains.truth import InputError
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy, Server
from meanfield.models.pools import Pools
from meanfield.models.random import RandomBySpeed, Threshold
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from proofs_check import drift
from proofs_check.check import document
from proofs_check.check.cells import leaves, root
from proofs_check.check.cells import system as checked
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import variable
from proofs_check.cli.main import cli
from proofs_check.lyapunov.cells import system
from proofs_check.lyapunov.instability import instability
from proofs_check.lyapunov.program import best_push, best_rate
from proofs_check.search.bernstein import at

TWO = "1/2:3/2,1/2:1/2"


class LongestIfBusy(Policy):
    """Join the shorter of two; the longer one with chance 1/10, but only if both are busy."""

    d = 2

    def route(self, sample):
        first, second = sample
        if first.jobs == second.jobs:
            return {0: "1/2", 1: "1/2"}
        longer = 0 if first.jobs > second.jobs else 1
        if first.jobs > 0 and second.jobs > 0:
            return {longer: "1/10", 1 - longer: "9/10"}
        return {1 - longer: 1}


class Longest(Policy):
    d = 2

    def route(self, sample):
        return {0 if sample[0].jobs > sample[1].jobs else 1: 1}


POLICIES = [
    (SpeedAwareJSQ(TWO, "1/2"), 2),
    (JSQ(TWO, "2/3"), 4),
    (JSQ(TWO, "2/3", counts="waiting"), 2),
    (JIQ(TWO, "1/3", fallback="speed"), 4),
    (SpeedAwareJIQ(TWO, "1/3"), 2),
    (SpeedAwareJIQ("1/3:2,2/3:1/2", "1/3"), 3),
    (SED(TWO, "1/2"), 2),
    (SED("1/3:2,2/3:1/2", "3/4"), 3),
    (SED("1/3:3/2,1/3:1,1/3:1/2", "9/10"), 3),
    (PowerOfD("4/5", 2, 1, "2/3"), 3),
    (PowerOfD("1/2", 2, None, "2/3", replacement=True), 3),
    (PowerOfD("1/2", 3, 2, "1/4"), 3),
    (PoolPowerOfD(TWO, "1/3"), 4),
    (Threshold(TWO, "1/2", 3), 2),
    (RandomBySpeed(TWO, "1/2"), 2),
    (LongestIfBusy("9/10"), 3),
]
NAMES = [f"{type(p).__name__}-{n}" for p, n in POLICIES]


def loads_of(policy, n, state):
    found, at = [], 0
    for size in policy.pools.sizes(n):
        found.append(state[at : at + size])
        at += size
    return tuple(found)


def ascending(policy, n, most):
    for state in product(range(most + 1), repeat=n):
        if all(list(part) == sorted(part) for part in loads_of(policy, n, state)):
            yield state


def members(cell, most):
    """Yield the states of a cell with at most ``most`` jobs at each server."""
    columns = list(cell.columns.values())
    for z in product(range(most + 1), repeat=len(columns)):
        state = tuple(b + sum(x * c[i] for x, c in zip(z, columns, strict=True)) for i, b in enumerate(cell.base))
        if max(state) <= most:
            yield state


def generator(policy, n, state, f):
    """Apply the generator of the live policy to a function of the state, by its law of classes."""
    loads, total = loads_of(policy, n, state), fmpq(0)
    speed = [s for s, size in zip(policy.pools.speeds, policy.pools.sizes(n), strict=True) for _ in range(size)]
    pool = [j for j, size in enumerate(policy.pools.sizes(n)) for _ in range(size)]

    def moved(i, step):
        return tuple(q + step * (k == i) for k, q in enumerate(state))

    for (j, jobs), chance in policy.enumerated_law(loads).items():
        i = next(i for i in range(n) if pool[i] == j and state[i] == jobs)
        total += n * policy.load * chance * (f(moved(i, 1)) - f(state))
    for i in range(n):
        if state[i]:
            total += speed[i] * (f(moved(i, -1)) - f(state))
    return total


@pytest.mark.parametrize(("policy", "n"), POLICIES, ids=NAMES)
@pytest.mark.parametrize("ordered", [False, True])
def test_cells_partition_the_states_and_carry_the_law(policy, n, ordered):
    most = 6 if n == 2 else 4
    seen = {}
    for cell, join in checked(system(policy, n, ordered=ordered)).cells:
        for state in members(cell, most):
            assert state not in seen
            seen[state] = join
    assert set(seen) == set(ascending(policy, n, most))
    for state in list(seen)[:: max(1, len(seen) // 40)]:
        loads, law = loads_of(policy, n, state), {}
        for j, part in enumerate(loads):
            for q in part:
                law[j, q] = fmpq(0)
        servers = [(j, q) for j, part in enumerate(loads) for q in part]
        for key, chance in zip(servers, seen[state], strict=True):
            law[key] += fmpq(chance.numerator, chance.denominator)
        assert {k: x for k, x in law.items() if x != 0} == policy.enumerated_law(loads)


@pytest.mark.parametrize(("policy", "n"), POLICIES[:7] + POLICIES[9:13], ids=NAMES[:7] + NAMES[9:13])
def test_quadratic_bounds_are_the_supremum(policy, n):
    found = drift(policy, n=n, lyapunov="quadratic").findings[-1]
    assert found.holds
    says = found.certificate["conclusion"]
    eps, bound = fmpq(*map(int, (Fraction(says["eps"]).as_integer_ratio()))), Fraction(says["bound"])
    pool = [j for j, size in enumerate(policy.pools.sizes(n)) for _ in range(size)]
    c = [fmpq(*Fraction(x).as_integer_ratio()) for x in says["squares"]]
    x = [[fmpq(*Fraction(v).as_integer_ratio()) for v in row] for row in says["cross"]]

    def V(q):
        pairs = sum((x[pool[i]][pool[k]] * q[i] * q[k] for i in range(n) for k in range(i)), fmpq(0))
        return sum((c[pool[i]] * q[i] ** 2 for i in range(n)), pairs)

    speed = [policy.pools.speeds[j] for j in pool]
    states = list(ascending(policy, n, 6 if n == 2 else 3))
    values = [generator(policy, n, q, V) + eps * sum(s * k for s, k in zip(speed, q, strict=True)) for q in states]
    assert str(max(values)) == str(bound)


@pytest.mark.parametrize("y", ["5/4", "3/2"])
@pytest.mark.parametrize("which", [0, 1, 3])
def test_exponential_rate_is_the_formula_and_its_bound_the_supremum(which, y):
    policy, n = POLICIES[which]
    found = drift(policy, n=n, lyapunov="exponential", base=y).findings[0]
    y, slow, load = Fraction(y), Fraction(1, 2), Fraction(str(policy.load))
    if load * y >= 1:
        assert not found.holds
        return
    shared = (1 - 1 / y) * (1 - load * y) * slow if which == 3 else (1 - 1 / y) * min(slow, 1 - load * y)
    assert Fraction(found.constants["kappa*"]) == shared
    assert Fraction(found.constants["bound"]) == n * (load * (y - 1) + shared)
    base, kappa = fmpq(*y.as_integer_ratio()), fmpq(*shared.as_integer_ratio())

    def V(q):
        return sum((base**k for k in q), fmpq(0))

    values = {q: generator(policy, n, q, V) + kappa * V(q) for q in ascending(policy, n, 5 if n == 2 else 3)}
    assert str(max(values.values())) == found.constants["bound"]
    assert values[(0,) * n] == max(values.values())
    more = kappa * fmpq(101, 100)
    growing = [generator(policy, n, q, V) + more * V(q) for q in ((t,) * n for t in range(1, 60))]
    if which != 3 and shared == (1 - 1 / y) * (1 - load * y):
        assert growing[-1] > growing[-2] > 0


def test_an_uneven_exponential_is_found_where_the_plain_one_fails():
    policy = JIQ("1/2:8/5,1/2:2/5", "3/8")  # uniform fallback: rho = 15/16, but equal weights fail at base 1.05
    found = drift(policy, n=2, lyapunov="exponential", base="21/20").findings
    assert found[-1].holds
    document.check(dict(found[-1].certificate))


@pytest.mark.parametrize("policy", [JSQ, SpeedAwareJSQ, JIQ, SpeedAwareJIQ])
@pytest.mark.parametrize("n", [2, 4, None])
def test_domination_is_the_load_for_every_n(policy, n):
    extra = {"fallback": "speed"} if issubclass(policy, JIQ) else {}
    found = drift(policy(TWO, "7/10", **extra), n=n, lyapunov="domination").findings[0]
    assert found.holds
    assert found.constants["rho"] == "7/10"
    assert any("s_k <= (7/10)^k" in line for line in found.follows)


@pytest.mark.parametrize("policy", [JIQ, SpeedAwareJIQ])
@pytest.mark.parametrize("n", [2, 4, None])
def test_uniform_fallback_is_not_dominated_and_the_cell_is_named(policy, n):
    found = drift(policy(TWO, "7/10"), n=n, lyapunov="domination").findings[0]
    assert not found.holds
    assert found.constants["rho"] == "7/5"
    assert "cell" in found.ray
    assert drift(policy(TWO, "2/5"), n=n, lyapunov="domination").findings[0].constants["rho"] == "4/5"


def test_uniform_fallback_below_at_and_above_its_threshold():
    at = {load: drift(SpeedAwareJIQ(TWO, load), n=2) for load in ("3/5", "3/4", "19/25")}
    names = [f.function for f in at["3/5"].findings]
    assert names == ["domination", "quadratic", "separable quadratic", "quadratic with cross terms"]
    assert at["3/5"].findings[2].certificate["kind"] == "no-drift"
    assert at["3/5"].verdict == "stable"
    assert at["3/4"].verdict == "not positive recurrent"
    assert at["19/25"].verdict == "transient"
    for found in at.values():
        for certificate in found.certificates:
            document.check(json.loads(json.dumps(certificate)))


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(Fraction(21, 20), Fraction(39, 20), max_denominator=30),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40),
)
def test_two_servers_are_stable_exactly_below_the_threshold(fast, load):
    policy = JIQ(Pools.of_servers([fast, 2 - fast]), load)
    below = 2 * load**2 < (2 - fast) * (fast + load)
    assert (drift(policy, n=2).verdict == "stable") == below


@pytest.mark.parametrize(
    ("n", "load", "verdict"), [(3, "1/2", "stable"), (3, "2/3", "not positive recurrent"), (4, "7/10", "transient")]
)
def test_errors_at_every_gap_are_unstable_from_their_threshold_on(n, load, verdict):
    assert drift(PowerOfD(load, 2, None, "3/4"), n=n).verdict == verdict


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("g", [0, 1, 3])
@pytest.mark.parametrize("eps", ["0", "1/4", "2/3", "1"])
def test_noisy_power_of_d_has_the_queue_bound_for_every_n(d, g, eps):
    load = Fraction(4, 5)
    found = drift(PowerOfD("4/5", d, g, eps), lyapunov="quadratic").findings[0]
    excess = g * max(Fraction(0), Fraction(eps) - Fraction(1, d))
    assert Fraction(found.constants["excess"]) == excess
    assert f"(1/n) E sum mu_i q_i <= {load * (1 + excess) / (1 - load)} for every n" in found.follows


@pytest.mark.parametrize(("d", "g", "eps"), [(2, 1, "1"), (3, 2, "1/2"), (2, 3, "3/4")])
def test_exponential_tails_for_every_n_bracket_the_base(d, g, eps):
    found = drift(PowerOfD("4/5", d, g, eps), lyapunov="exponential").findings[0]
    low, high = (Fraction(found.constants[k]) for k in ("base reached", "base too large"))
    for z, works in ((low, True), (high, False)):
        ratio = max(  # samples with all but one at 0, the others at 0: brute force over small samples
            sum(x * z**q for q, x in law(d, g, Fraction(eps), sample)) * d / sum(z**q for q in sample)
            for sample in product(range(g + 3), repeat=d)
        )
        assert (z * Fraction(4, 5) * ratio < 1) == works


def law(d, g, eps, sample):
    low, high = min(sample), max(sample)
    return [(low, 1 - eps), (high, eps)] if high - low <= g else [(low, Fraction(1))]


def test_a_users_policy_gets_its_certificate_or_its_ray():
    assert drift(LongestIfBusy("9/10"), n=3).verdict == "stable"
    everywhere = drift(LongestIfBusy("9/10"))
    assert all(f.holds for f in everywhere.findings)
    worse = drift(Longest("9/10"), n=3)
    assert worse.verdict == "transient"
    assert "t = 0, 1, 2, .." in worse.findings[1].ray


class Odd(Policy):
    d = 2  # its order is drawn, so that a rule may use it

    def route(self, sample):
        return {self.choice([s.jobs for s in sample]): 1}


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (lambda q: int(q[0]) % 2, "as a number"),
        (lambda q: len({*q}) - 1, "set or table"),
        (lambda q: int(q[0] * q[1] > 3), "multiplies"),
        (lambda q: int(q[0] < 0.5), "is a float"),
        (lambda q: int(q[0] >= 10**6), "too large"),
    ],
)
def test_rules_that_do_more_than_compare_are_refused(choice, says):
    policy = Odd("1/2")
    policy.choice = choice
    with pytest.raises((InputError, TypeError), match=says):
        drift(policy, n=2)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(lambda p: st.lists(st.tuples(*[st.integers(-4, 3)] * p), min_size=1, max_size=9)),
    st.data(),
)
def test_best_rate_is_the_optimum_with_multipliers(rows, data):
    scales = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    best, count = best_rate(rows, scales), len(rows[0])
    other = linprog(
        [0] * count + [-1],
        A_ub=[[*r, s] for r, s in zip(rows, scales, strict=True)],
        b_ub=[0] * len(rows),
        A_eq=[[1] * count + [0]],
        b_eq=[1],
        bounds=[(0, None)] * count + [(None, None)],
    )
    assert abs(float(best.value) + other.fun) < 1e-8
    assert sum(best.weights) == 1
    assert min(best.weights) >= 0
    assert all(
        sum(a * c for a, c in zip(r, best.weights, strict=True)) + best.value * s <= 0
        for r, s in zip(rows, scales, strict=True)
    )
    assert all(sum(x * r[j] for x, r in zip(best.multipliers, rows, strict=True)) >= -best.value for j in range(count))


def test_best_push_meets_its_rows():
    best = best_push([[1, -1], [-1, 2], [1, 0]], [1, 0])
    assert best.value == Fraction(1, 3)
    assert best.weights == [1, Fraction(2, 3)]


# what the checkers refuse


def certificate(function):
    if function == "linear":
        return copy.deepcopy(dict(instability(system(SpeedAwareJIQ(TWO, "19/25"), 2, ties=True)).certificate))
    return copy.deepcopy(drift(POLICIES[0][0], n=2, lyapunov=function, base="5/4").certificates[0])


@pytest.mark.parametrize(
    ("function", "change"),
    [
        ("domination", {"rho": "49/100"}),
        ("quadratic", {"eps": "101/100"}),
        ("quadratic", {"bound": "299/100"}),
        ("quadratic", {"eps": "0"}),
        ("quadratic", {"squares": ["1", "-1"]}),
        ("quadratic", {"squares": ["1"]}),
        ("quadratic", {"cross": [["0", "1"], ["0", "0"]]}),
        ("exponential", {"rate": "3/39"}),
        ("exponential", {"bound": "39/100"}),
        ("exponential", {"base": "1"}),
        ("exponential", {"rate": "0"}),
        ("exponential", {"weights": ["1", "0"]}),
        ("linear", {"weights": ["1", "1"]}),
        ("linear", {"weights": ["-1", "0"]}),
        ("linear", {"status": "stable"}),
        ("linear", {"function": "cubic"}),
    ],
)
def test_stronger_conclusions_are_rejected(function, change):
    good = certificate(function)
    document.check(good)
    good["conclusion"] |= change
    with pytest.raises(Rejected):
        document.check(good)


def test_transience_is_not_recurrence_at_the_threshold():
    good = copy.deepcopy(drift(SpeedAwareJIQ(TWO, "3/4"), n=2).certificates[-1])
    assert good["conclusion"]["status"] == "not positive recurrent"
    good["conclusion"]["status"] = "transient"
    with pytest.raises(Rejected, match="vanishes"):
        document.check(good)


LEAF = {"join": ["1", "0"]}


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        (LEAF, "part of a cell"),
        ({"join": ["1/2", "1/3"]}, "no law"),
        ({"join": ["3/2", "-1/2"]}, "no law"),
        ({"join": ["1"]}, "1 where 2"),
        ({"zero": 7, "then": LEAF, "else": LEAF}, "no coordinate"),
        ({"zero": 0, "then": LEAF}, "missing"),
        ({"order": [0, 0], "then": LEAF, "else": LEAF}, "itself"),
        ({"order": [0], "then": LEAF, "else": LEAF}, "1 where 2"),
        ({}, "missing"),
    ],
)
def test_wrong_trees_are_rejected(tree, says):
    good = certificate("quadratic")
    good["problem"]["cells"] = tree
    with pytest.raises(Rejected, match=says):
        document.check(good)


def test_a_very_deep_tree_is_rejected():
    tree = LEAF
    for _ in range(310):
        tree = {"zero": 0, "then": LEAF, "else": tree}
    with pytest.raises(Rejected, match="deep"):
        list(leaves(root([0, 1]), tree))


@pytest.mark.parametrize(
    "change", [{"arrivals": "0"}, {"pools": [[1, "3/2"], [1, "0"]]}, {"pools": [[100, "1"]]}, {"pools": []}]
)
def test_wrong_systems_are_rejected(change):
    good = certificate("quadratic")
    good["problem"] |= change
    with pytest.raises(Rejected):
        document.check(good)


def test_queues_without_an_order_are_rejected_where_the_order_counts():
    good = certificate("domination")
    good["problem"] = system(SED(TWO, "1/2"), 2)
    good["conclusion"]["rho"] = "100"
    with pytest.raises(Rejected, match=r"more than one|not ordered"):
        document.check(good)


def test_farkas_vectors_that_prove_nothing_are_rejected():
    good = copy.deepcopy(drift(SpeedAwareJIQ(TWO, "3/5"), n=2).findings[2].certificate)
    for multipliers in ([], [[0, 0, "1"]], good["proof"]["multipliers"][:1]):
        with pytest.raises(Rejected):
            document.check(good | {"proof": {"multipliers": multipliers}})
    for x in ("-1", "0"):
        line = [*good["proof"]["multipliers"][1][:2], x]
        with pytest.raises(Rejected):
            document.check(good | {"proof": {"multipliers": [good["proof"]["multipliers"][0], line]}})
    with pytest.raises(Rejected):  # cross terms do work here
        document.check(good | {"conclusion": {"class": "quadratic"}})
    with pytest.raises(Rejected):
        document.check(good | {"conclusion": {"class": "cubic"}})


@pytest.mark.parametrize(
    ("function", "change"),
    [("quadratic", {"excess": "32/100"}), ("exponential", {"ratio": "1"}), ("exponential", {"base": "1"})],
)
def test_stronger_bounds_on_samples_are_rejected(function, change):
    good = copy.deepcopy(drift(PowerOfD("1/2", 3, 1, "2/3"), lyapunov=function).certificates[0])
    document.check(good)
    good["conclusion"] |= change
    with pytest.raises(Rejected):
        document.check(good)


@pytest.mark.parametrize("change", [{"rho": "69/100"}, {"rho": "1", "more": "1"}])
def test_stronger_domination_for_every_n_is_rejected(change):
    good = copy.deepcopy(drift(JIQ(TWO, "7/10", fallback="speed")).certificates[0])
    good["conclusion"] |= change
    with pytest.raises(Rejected):
        document.check(good)
    good["conclusion"] = {"rho": "7/10"}
    for policy in ({"rule": "sed"}, {"rule": "jiq", "fallback": "uniform"}, {"rule": "jiq"}):
        with pytest.raises(Rejected):
            document.check(good | {"problem": good["problem"] | {"policy": policy}})


# command line


def run(*words):
    return CliRunner().invoke(cli, ["drift", *words])


def test_command_prints_json_with_accepted_certificates(tmp_path):
    path = tmp_path / "drift.json"
    done = run("sa-jiq", f"pools={TWO}", "lam=3/5", "n=2", "--json", "--certificate", str(path))
    assert done.exit_code == 0, done.output
    data = json.loads(done.output)
    assert (data["policy"], data["n"], data["verdict"]) == ("sa-jiq", 2, "stable")
    assert [f["holds"] for f in data["findings"]] == [False, False, False, True]
    for f in data["findings"]:
        if f["certificate"]:
            document.check(f["certificate"])
    assert document.read(path)["kind"] == "all"
    document.check(document.read(path))


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (
            ("sa-jsq", f"pools={TWO}", "lam=1/2", "n=2", "--lyapunov", "exponential", "--base", "5/4"),
            0,
            "kappa* = 3/40",
        ),
        (("jiq", f"pools={TWO}", "lam=3/4"), 3, "undecided"),
        (("age.actual", "p=1/2"), 2, "no dispatching policy"),
        (("sed", f"pools={TWO}", "lam=1/2"), 0, "(1/n) E sum q_i <= 1 for every n"),
        (("sed", f"pools={TWO}", "lam=1/2", "--lyapunov", "exponential"), 2, "only --lyapunov quadratic"),
        (("sed", f"pools={TWO}", "lam=1/2", "n=2", "--lyapunov", "exponential"), 2, "quadratic"),
        (("jsq", f"pools={TWO}", "lam=1/2", "n=2", "--base", "1"), 2, "above 1"),
        (("jsq", f"pools={TWO}", "lam=1/2", "n=2", "buffer=3"), 2, "buffer"),
        (("pod.load-dependent", "d=2", "g=400", "eps=1", "lam=1/2"), 2, "too large"),
    ],
)
def test_command_line(words, code, says):
    done = run(*words)
    assert done.exit_code == code, done.output
    assert says in done.output


def test_expected_delay_with_three_speeds_is_stable_with_weights_one_over_speed():
    found = drift(SED("1/3:3/2,1/3:1,1/3:1/2", "9/10"), n=3).findings[-1]
    assert found.certificate["conclusion"]["squares"] == ["1", "3/2", "3"]


@pytest.mark.parametrize("policy", [PowerOfD("1/2", 3, 1, "1/3"), PoolPowerOfD(TWO, "1/2", d=3, ties="fastest")])
def test_rules_declared_symmetric_are(policy):
    assert policy.symmetric
    speeds = policy.pools.speeds
    for jobs in product(range(3), repeat=3):
        servers = [Server(i % len(speeds), speeds[i % len(speeds)], q) for i, q in enumerate(jobs)]
        answer = policy.route(servers)
        for order in permutations(range(3)):
            turned = policy.route([servers[i] for i in order])
            assert {order[k]: x for k, x in turned.items() if x != 0} == {k: x for k, x in answer.items() if x != 0}


@pytest.mark.parametrize(
    ("policy", "n", "text"),
    [
        (SpeedAwareJIQ(TWO, "3/5"), 2, "q2^2/2 + 2/7*q1*q2 + q1^2"),
        (JSQ(TWO, "1/2"), 2, "q1^3 + q2^3 + 5*q1^2 + 5*q2^2"),
        (JSQ(TWO, "1/2"), 4, "q1^2 + q2^2 + 2*q3^2 + 2*q4^2"),
    ],
)
def test_a_given_function_has_its_bound_in_every_state(policy, n, text):
    (found,) = drift(policy, n=n, function=text).findings
    assert found.holds
    says = found.certificate["conclusion"]
    eps, bound = (fmpq(*Fraction(says[name]).as_integer_ratio()) for name in ("eps", "bound"))
    meaning = {f"q{i + 1}": variable(f"q{i + 1}") for i in range(n)}
    p = expression(text, meaning).top

    def V(q):
        return fmpq(*at(p, {f"q{i + 1}": Fraction(x) for i, x in enumerate(q)}).as_integer_ratio())

    speed = [s for s, size in zip(policy.pools.speeds, policy.pools.sizes(n), strict=True) for _ in range(size)]
    states = list(ascending(policy, n, 6 if n == 2 else 2))
    values = [generator(policy, n, q, V) + eps * sum(s * k for s, k in zip(speed, q, strict=True)) for q in states]
    assert max(values) == bound
    for change in (
        {"eps": str(eps * fmpq(101, 100))},
        {"bound": str(bound - fmpq(1, 100))},
        {"eps": "0"},
        {"of": "q1-q2"},
    ):
        with pytest.raises(Rejected):
            document.check(found.certificate | {"conclusion": says | change})


@pytest.mark.parametrize(
    ("policy", "n", "text", "says"),
    [
        (JSQ(TWO, "1/2"), 4, "q1^2", "exchanged"),
        (JSQ(TWO, "1/2"), 2, "q1 - q2", "coefficients"),
        (JSQ(TWO, "1/2"), 2, "q1/q2", "coefficients"),
        (JSQ(TWO, "1/2"), 2, "q1^999999", "exponent"),
        (JSQ(TWO, "1/2"), None, "q1^2", "needs n"),
    ],
)
def test_given_functions_that_are_refused(policy, n, text, says):
    with pytest.raises(InputError, match=says):
        drift(policy, n=n, function=text)


def test_a_given_function_that_fails_names_the_ray():
    (found,) = drift(SpeedAwareJIQ(TWO, "3/5"), n=2, function="q1^2 + q2^2").findings
    assert not found.holds
    assert found.ray == "q = (1, 1+t), t = 0, 1, 2, .."


@pytest.mark.parametrize("ties", ["fastest", "random"])
@pytest.mark.parametrize("load", ["1/2", "19/20"])
def test_expected_delay_has_its_drift_bound_in_every_state_of_a_box(ties, load):
    """L V <= 2 load n - 2 (1 - load) sum q, V = sum q (q+1)/mu, by running the rule; three servers of two speeds."""
    policy, load = SED("1/3:3/2,2/3:3/4", load, ties), Fraction(load)
    speeds = [Fraction(3, 2), Fraction(3, 4)]
    worst = None
    for q, a, b in product(range(6), range(6), range(6)):
        if a > b:
            continue
        loads = ((q,), (a, b))
        grows = (
            3 * load * sum(Fraction(str(x)) * 2 * (jobs + 1) / speeds[j] for (j, jobs), x in policy.law(loads).items())
        )
        excess = grows - 2 * (q + a + b) - (6 * load - 2 * (1 - load) * (q + a + b))
        worst = excess if worst is None else max(worst, excess)
    assert worst <= 0
    found = drift(policy).findings[0]
    assert found.constants["mean queue"] == str(load / (1 - load))
    good = found.certificate
    document.check(copy.deepcopy(dict(good)))
    for change in (
        {"conclusion": {"mean_queue": str(load / (1 - load) - Fraction(1, 100))}},
        {"conclusion": {"rho": str(load)}},
        {"problem": {**good["problem"], "policy": {"rule": "jsq"}}},
        {"problem": {**good["problem"], "policy": {"rule": "sed", "fallback": "speed"}}},
        {"problem": {**good["problem"], "load": "1"}},
        {"problem": {**good["problem"], "speeds": ["0"]}},
    ):
        with pytest.raises(Rejected):
            document.check(copy.deepcopy({**good, **change}))


def test_a_rule_of_a_user_that_sees_all_servers_says_why_only_this_n():
    class Shortest(Policy):
        """Join the shortest, the first of them."""

        def route(self, sample):
            return {min(range(len(sample)), key=lambda i: sample[i].jobs): 1}

    with pytest.raises(InputError, match="each n has its own cells"):
        drift(Shortest(load="1/2"))
