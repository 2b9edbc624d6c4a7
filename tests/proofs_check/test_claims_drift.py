"""Claims on drifts, tails, stability and monotony against brute force on the live rules."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from flint import fmpq

from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.models.policy import Policy
from proofs_check import verify
from proofs_check.claims.noisy.routing import ranks, states
from proofs_check.report.summary import summary
from proofs_check.verify import Status

OURS = [
    "pools.exponential-drift",
    "noisy.dependent.exponential-tail",
    "noisy.dependent.tail",
    "noisy.routing.formula",
    "noisy.finite.monotone",
    "noisy.independent.stability",
]


@pytest.mark.parametrize("name", OURS)
def test_claims_are_proved(name):
    assert {v.status for v in verify(name)} == {Status.PROVED}


def test_the_summary_names_the_drift():
    assert any("exponential drift" in text and "rate 3/40" in text for text in summary(OURS[0]).sentences)


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
