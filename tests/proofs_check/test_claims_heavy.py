"""The claims on heavy traffic and on the tail, against the models: steps of the written proofs and the final bounds."""

import math
import random
from itertools import pairwise

import pytest
from flint import fmpq

from exactchains.domain import QQ
from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.solvers.expansions import heavy_traffic_offset
from meanfield.solvers.fixed_point import fixed_point

LOADS = ["1/100", "1/2", "0.9", "0.999", "0.99999999"]
NEAR = 10.0**-8


def chance(policy, x, k):
    """P(joined load >= k) of the live rule at the tails x."""
    law = policy.limit_law([x], QQ)
    return sum((law.get((0, j), fmpq(0)) for j in range(k, len(x))), fmpq(0))


def late(x, i):
    return x[i] if i < len(x) else fmpq(0)


def tails(seed, length):
    """Return ordered tails 1 = x_0 >= x_1 >= .., some of them equal, and 0 at the end."""
    draw = random.Random(seed)
    inner = sorted((fmpq(draw.randint(0, 20), 20) for _ in range(length)), reverse=True)
    return [fmpq(1), *inner, fmpq(0)]


@pytest.mark.parametrize(("d", "g"), [(2, 1), (2, 3), (3, 3), (4, 1), (5, 2), (5, 4)])
@pytest.mark.parametrize("eps", ["1/3", "1"])
def test_where_a_noisy_job_goes_lies_between_the_bounds_of_the_proofs(d, g, eps):
    policy = PowerOfD("1/2", d, g, eps)
    for seed in range(3):
        x = tails(seed, 8)
        for k in range(1, len(x) - g):
            below = x[max(k - g, 0)]
            reached = chance(policy, x, k)
            terms = (
                (x[i] - late(x, i + g + 1)) ** d - (x[i + 1] - late(x, i + g + 1)) ** d for i in range(max(k - g, 0), k)
            )
            assert reached == x[k] ** d + policy.eps * (sum(terms, -((below - x[k]) ** d)))
            assert x[k] ** d <= reached <= x[k] ** d + policy.eps * (below - x[k + g]) ** d
            if k >= g:
                step = [x[i] - x[i + 1] for i in (k, k - g)]
                assert reached >= policy.eps * d * step[0] * step[1] ** (d - 1)


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("delta", [0.5, NEAR])
def test_levels_near_one_and_the_rest_at_every_gap(d, part, delta):
    eps = part / d
    a, y = d * (1 - eps), 0.0
    levels = int(math.log(1 / delta) / math.log(a))
    for k in range(1, levels + 3):
        y = delta + (1 - delta) * (1 - error_polynomial(d, eps, 1 - y))
        assert y <= delta * (a**k - 1) / (a - 1) * (1 + 1e-6)
    n = (a - 1) / (a + d - 2)
    assert y >= n * (1 - 1e-6)
    x, rest = 1 - y, 0.0
    while x > 1e-9:
        x, rest = (1 - delta) * error_polynomial(d, eps, x), rest + x
    assert rest <= d * (d - 1) / (2 * (1 - d * eps) * (a - 1))


@pytest.mark.parametrize("d", [3, 4, 9])
def test_logarithms_of_the_critical_tail(d):
    delta, b, x = 1e-3, (d - 1) / 2, 1 / (d - 1)
    total = squares = logs = 0.0
    while x > 1e-9:
        h = error_polynomial(d, 1 / d, x)
        assert x**2 * (1 - x) - 1e-15 <= x - h <= b * x**2 + 1e-15
        later = (1 - delta) * h
        total, squares = total + x, squares + x**2
        logs += math.log((delta + b * x) / (delta + b * later))
        x = later
    assert abs(b * total - logs) <= 2 * b**2 * squares
    assert squares <= 2 / (d - 1)


@pytest.mark.parametrize("lam", LOADS)
@pytest.mark.parametrize(("d", "g", "eps"), [(2, 0, "0"), (2, 1, "1"), (2, 4, "1/2"), (3, 2, "1"), (6, 1, "1/4")])
def test_mean_response_with_bounded_gaps_is_as_close_to_the_logarithm_as_claimed(d, g, eps, lam):
    offset = heavy_traffic_offset(PowerOfD(lam, d, g, eps), digits=5)
    assert offset.lower >= -1 - fmpq(d, (d - 1) ** 2)
    assert offset.upper <= 2 + 2 * g + (1 + 2 * g) * (d + fmpq(4 * (d + 1) ** (2 * g), d))


@pytest.mark.parametrize("lam", LOADS)
@pytest.mark.parametrize(("d", "eps"), [(2, "0"), (2, "1/4"), (2, "9/20"), (3, "1/6"), (6, "1/7")])
def test_mean_response_at_every_gap_is_as_close_to_the_logarithm_as_claimed(d, eps, lam):
    policy = PowerOfD(lam, d, None, eps)
    a = d * (1 - policy.eps)
    offset = heavy_traffic_offset(policy, digits=5)
    assert offset.lower >= -1 - a / (a - 1) ** 2
    assert offset.upper <= 2 + d * (d - 1) / (2 * (1 - d * policy.eps) * (a - 1))


@pytest.mark.parametrize("lam", [*LOADS, "0.999999999999"])
@pytest.mark.parametrize("d", [3, 4, 10])
def test_mean_response_at_the_critical_error_chance_is_as_close_to_both_logarithms_as_claimed(d, lam):
    offset = heavy_traffic_offset(PowerOfD(lam, d, None, fmpq(1, d)), digits=4)
    assert offset.lower >= -8
    assert offset.upper <= 3 + fmpq((d - 1) ** 2, d - 2)


@pytest.mark.parametrize(("d", "g"), [(2, 1), (2, 2), (3, 1), (4, 3)])
def test_exponents_of_the_tail_grow_by_the_root(d, g):
    low, high = 1.0, float(d)
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if middle**g * (middle - 1) < d - 1 else (low, middle)
    solved = fixed_point(PowerOfD("7/10", d, g, "1/2"), digits=5, levels=18)
    exponents = [_log(solved.tail(k)) for k in range(13, 18)]
    for earlier, later in pairwise(exponents):
        assert later / earlier == pytest.approx(low, abs=2e-2)


def _log(tail):
    """Return -log of a tail, which may be far below the range of doubles."""
    p, q = int(tail.lower.p), int(tail.lower.q)
    shift = q.bit_length() - p.bit_length()
    return shift * math.log(2) - math.log(p / 2 ** (p.bit_length() - 1)) + math.log(q / 2 ** (q.bit_length() - 1))
