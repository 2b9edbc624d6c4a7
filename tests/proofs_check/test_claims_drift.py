"""Claims on drifts, tails, stability and monotony against brute force on the live rules."""

from fractions import Fraction
from itertools import accumulate, combinations, combinations_with_replacement, product

import pytest
from flint import fmpq, fmpq_mat

from meanfield.finite import exact_chain
from meanfield.fluid import fluid_drift
from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.models.policy import Policy
from meanfield.models.pools import Pools
from meanfield.models.shortest import SpeedAwareJSQ
from proofs_check import verify
from proofs_check.claims.noisy import majorisation
from proofs_check.claims.noisy.loads import CRITICAL, intervals, undecided
from proofs_check.claims.noisy.routing import ranks, states
from proofs_check.claims.pools.finite import joined
from proofs_check.claims.pools.fluid import LOADS, POOLS, RULES, equilibrium
from proofs_check.report.summary import summary
from proofs_check.verify import Status

OURS = [
    "pools.exponential-drift",
    "noisy.dependent.exponential-tail",
    "noisy.dependent.tail",
    "noisy.routing.formula",
    "noisy.finite.monotone",
    "noisy.finite.majorisation",
    "noisy.independent.stability",
    "noisy.independent.where-worse",
    "noisy.dependent.fixed-point",
    "pools.first-order",
    "pools.truncation.one-gate",
    "pools.fluid.fast-chain",
    "pools.fixed-point",
    "pools.fixed-point.not-attracting-all",
]


@pytest.mark.parametrize("name", OURS)
def test_claims_are_proved(name):
    assert {v.status for v in verify(name) if not v.claim.missing} == {Status.PROVED}


def test_the_summary_names_the_drift():
    assert any("exponential drift" in text and "rate 3/40" in text for text in summary(OURS[0]).sentences)


def test_the_bound_on_eps_is_sharp_in_the_argument():
    """Hall's condition fails just above eps = 1/2 for H, L equal and C one job longer, and only there."""
    before, after, samples = (5, 5, 6), (6, 4, 6), [(0, 2), (1, 2)]
    for eps, holds in (("1/2", True), ("51/100", False)):
        pairs = majorisation._hall(majorisation._gains(eps, before, samples), majorisation._gains(eps, after, samples))
        assert all(Fraction(a) <= Fraction(b) for a, _, b in pairs) is holds


def test_services_by_rank_keep_weak_majorisation():
    """All pairs of loads up to 4 at three servers: the served server of each rank, the last of equal queues loses."""
    states = [tuple(sorted(q, reverse=True)) for q in combinations_with_replacement(range(5), 3)]

    def served(queue, rank):
        last = max(i for i, q in enumerate(queue) if q == queue[rank])
        return tuple(q - (i == last and q > 0) for i, q in enumerate(queue))

    def below(low, high):
        return all(a <= b for a, b in zip(accumulate(low), accumulate(high), strict=True))

    for low in states:
        for high in states:
            if below(low, high):
                assert all(below(served(low, r), served(high, r)) for r in range(3))


def chance_to_exceed(gains, threshold, queue):
    """Chance that the queue after an arrival, sorted, is at least ``threshold`` coordinatewise."""
    total = fmpq(0)
    for i, p in enumerate(gains):
        after = sorted(q + (k == i) for k, q in enumerate(queue))
        total += p if all(a >= b for a, b in zip(after, threshold, strict=True)) else 0
    return total


@pytest.mark.parametrize(("d", "g", "replacement"), [(2, 1, False), (2, 2, True), (3, 1, False), (2, None, False)])
@pytest.mark.parametrize("eps", ["0", "1/3", "1"])
def test_arrivals_keep_the_order_of_all_principal_up_sets(d, g, replacement, eps):
    policy, n = PowerOfD("1/2", d, g, eps, replacement), 3
    queues = list(states(n, 3))
    for small, large in product(queues, repeat=2):
        if not all(a <= b for a, b in zip(small, large, strict=True)):
            continue
        low, high = ranks(policy, small), ranks(policy, large)
        for up in queues[:: max(1, len(queues) // 8)]:
            assert chance_to_exceed(low, up, small) <= chance_to_exceed(high, up, large)


class FarAway(Policy):
    """The shorter queue, but the longer one when the gap is at least 2."""

    d = 2

    def route(self, sample):
        shorter = 0 if sample[0].jobs < sample[1].jobs else 1
        return {1 - shorter if abs(sample[0].jobs - sample[1].jobs) >= 2 else shorter: 1}


def test_the_criterion_of_monotony_can_fail():
    policy = FarAway("1/2")
    assert ranks(policy, (0, 1))[0] > ranks(policy, (0, 2))[0]


@pytest.mark.parametrize("eps", ["1/10", "2/5", "3/4", "1"])
@pytest.mark.parametrize(("n", "d"), [(3, 2), (4, 3), (5, 4)])
def test_top_sets_are_joined_at_most_as_claimed(n, d, eps):
    for replacement in (False, True):
        policy = PowerOfD("1/100", d, None, eps, replacement)
        h = error_polynomial(d, policy.eps, fmpq(1, n))
        most = max(fmpq(1), n * h if replacement else d * policy.eps)
        for a in range(1, n + 1):
            law = policy.law((tuple([0] * (n - a) + [1] * a),))
            assert law.get((0, 1), fmpq(0)) <= most * fmpq(a, n)
        alone = policy.law((tuple([0] * (n - 1) + [1]),)).get((0, 1), fmpq(0))
        assert n * alone == (n * h if replacement else d * policy.eps)
        if d * policy.eps > 1:
            assert n * h < d * policy.eps


@pytest.mark.parametrize(("d", "g", "eps"), [(2, 1, "1"), (3, 2, "1/2"), (2, 3, "1/10")])
def test_the_exponential_ratio_holds_in_every_sample(d, g, eps):
    z, e = Fraction(6, 5), Fraction(eps)
    a = 1 + max(Fraction(0), d * e - 1) * (1 - z**-g)
    for sample in product(range(g + 3), repeat=d):
        low, high = min(sample), max(sample)
        joined = (1 - e) * z**low + e * z**high if high - low <= g else z**low
        assert joined <= a * sum(z**q for q in sample) / d


@pytest.mark.parametrize(("d", "g"), [(2, 1), (3, 2), (4, 1)])
def test_the_tail_bound_holds_in_the_live_flow(d, g):
    x = [fmpq(1), fmpq(2, 3), fmpq(3, 5), fmpq(1, 2), fmpq(1, 10), fmpq(1, 50), fmpq(0)]
    for eps in ("0", "1/4", "1"):
        policy = PowerOfD("1/2", d, g, eps)
        law = policy.limit_law([x])
        for k in range(1, 6):
            joined = sum((law[0, j] for j in range(k, len(x))), fmpq(0))
            assert joined <= (1 + policy.eps * d) * x[k] * x[max(k - g, 0)] ** (d - 1)


def test_without_replacement_a_server_is_sampled_with_chance_d_over_n():
    for n, d in ((4, 2), (5, 3), (6, 6)):
        listed = list(combinations(range(n), d))
        assert Fraction(sum(0 in s for s in listed), len(listed)) == Fraction(d, n)


def mean_response(load):
    """The recursion in doubles: no proof, another route."""
    x = total = load
    while x > 1e-14:
        x = load * (0.6 * x**3 + 0.4 * (1 - (1 - x) ** 3))
        total += x
    return total / load


def test_the_intervals_cover_the_stable_loads_and_agree_with_the_recursion():
    listed = intervals()
    assert listed[0][0] < Fraction(1, 36)
    assert listed[-1][1] == CRITICAL
    assert sum(b - a for a, b in undecided()) < Fraction(3, 50)
    for low, high, worse in listed[::7]:
        load = float(low + high) / 2
        assert (mean_response(load) > 1 / (1 - load)) == worse


@pytest.mark.parametrize("rule", RULES)
def test_the_fluid_rests_only_at_the_claimed_point(rule):
    for load in LOADS:
        point = equilibrium(load)
        assert all(x == 0 for row in fluid_drift(rule(POOLS, load), point) for x in row)
        busy = sum(
            p.fraction * p.speed * fmpq(*row[1].as_integer_ratio())
            for p, row in zip(Pools.of(POOLS), point, strict=True)
        )
        assert str(busy) == str(load)
        moved = [list(row) for row in point]
        moved[0][1] -= Fraction(1, 8)
        assert any(x != 0 for row in fluid_drift(rule(POOLS, load), moved) for x in row)


def test_the_one_gate_bound_holds_between_boxes():
    policy = SpeedAwareJSQ("1/2:3/2,1/2:1/2", "3/5")
    small, large = (exact_chain(policy, n=2, buffer=k) for k in (2, 9))
    laws = {k: exact_law(box) for k, box in ((2, small), (9, large))}
    p, z = laws[2][(2,), (2,)], laws[2][(0,), (0,)]
    above = sum(x for loads, x in laws[9].items() if max(q for pool in loads for q in pool) > 2)
    assert above <= p * (1 - z) / (z * (1 - p))
    assert above > p * (1 - z) / (z * (1 - p)) / 50  # the bound says something


def exact_law(box):
    """Solve the balance equations of a small box over the rationals."""
    n = len(box.states)
    rows = [[fmpq(0)] * n for _ in range(n)]
    for i, row in enumerate(box.chain.rows):
        for j, rate in row.items():
            if i != j:
                rows[j][i] += rate
                rows[i][i] -= rate
    rows[-1] = [fmpq(1)] * n
    law = fmpq_mat(rows).solve(fmpq_mat([[fmpq(int(i == n - 1))] for i in range(n)]))
    return {loads: law[i, 0] for i, loads in enumerate(box.states)}


def test_joined_servers_share_their_class():
    policy = SpeedAwareJSQ("1/3:2,2/3:1/2", "1/2")
    assert joined(policy, 3, (1, 0, 0)) == [0, fmpq(1, 2), fmpq(1, 2)]
    assert joined(policy, 3, (1, 2, 1)) == [1, 0, 0]
