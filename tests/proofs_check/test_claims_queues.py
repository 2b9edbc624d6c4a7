"""What the claims on load balancing take from the models holds in the models, state by state."""

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from flint import fmpq

from exactchains.domain import QQ
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import constant
from proofs_check.claims.noisy.dependent import joined
from proofs_check.claims.pools.idle_queue import CELLS, arrivals, linear_drift, quadratic_drift

POOLS = "1/2:3/2,1/2:1/2"
DOMINATED = [
    JSQ(POOLS, "1/2"),
    SpeedAwareJSQ(POOLS, "1/2"),
    JIQ(POOLS, "1/2", fallback="speed"),
    SpeedAwareJIQ(POOLS, "1/2", fallback="speed"),
]


def states(servers, most):
    """Yield loads of two pools of that many servers each."""
    pools = list(combinations_with_replacement(range(most + 1), servers))
    return [(fast, slow) for fast in pools for slow in pools]


def exceeds(policy, loads, k):
    """P(joined >= k) minus the share of speed at servers with at least k jobs."""
    chance = sum((x for (_, jobs), x in policy.law(loads).items() if jobs >= k), fmpq(0))
    n = sum(map(len, loads))
    share = (
        sum((s * sum(q >= k for q in pool) for s, pool in zip(policy.pools.speeds, loads, strict=True)), fmpq(0)) / n
    )
    return chance - share


@pytest.mark.parametrize("policy", DOMINATED, ids=lambda p: type(p).__name__)
def test_joined_length_is_below_a_pick_by_speed(policy):
    for loads in states(2, 3):
        assert all(exceeds(policy, loads, k) <= 0 for k in range(5))


@pytest.mark.parametrize("policy", [JIQ(POOLS, "1/2"), SpeedAwareJIQ(POOLS, "1/2")], ids=lambda p: type(p).__name__)
def test_uniform_fallback_is_not_dominated(policy):
    assert any(exceeds(policy, loads, k) > 0 for loads in states(2, 2) for k in range(1, 3))


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("eps", ["1/2", "3/4", "1"])
def test_top_set_identity_of_power_of_two(replacement, eps):
    policy, n = PowerOfD("1/4", 2, None, eps, replacement), 5
    for a in range(n + 1):
        loads = (tuple([0] * (n - a) + [3] * a),)
        chance = sum((x for (_, jobs), x in policy.law(loads).items() if jobs >= 3), fmpq(0))
        square = n * n if replacement else n * (n - 1)
        assert chance == fmpq(a, n) + (2 * policy.eps - 1) * a * (n - a) / square


def test_the_flow_of_load_independent_errors_is_h():
    eps, x = QQ.convert("2/5"), [fmpq(1), fmpq(3, 4), fmpq(1, 2), fmpq(1, 8), fmpq(0)]
    law = PowerOfD("1/2", 3, None, eps).limit_law([x])
    for k in range(4):
        assert sum((law[0, j] for j in range(k, 5)), fmpq(0)) == error_polynomial(3, eps, x[k])


def value(text, point):
    f = expression(text, {name: constant(x) for name, x in point.items()})
    return Fraction(f.top.terms.get((), 0))


def test_joined_is_the_tail_of_the_live_flow():
    field, whole = joined(2, 1, 2, 6)
    point = {"lam": Fraction(1, 2), "eps": Fraction(1, 3), **{f"x{i}": Fraction(6 - i, 6) for i in range(7)}}
    x = [fmpq(6 - i, 6) for i in range(7)]
    law = PowerOfD("1/2", 2, 1, "1/3").limit_law([x])
    expected = sum((law[0, j] for j in range(2, 6)), fmpq(0))
    assert str(value(field.text(whole), point)) == str(expected)


@pytest.mark.parametrize("policy", [JIQ, SpeedAwareJIQ])
@pytest.mark.parametrize("cell", CELLS.values())
def test_cell_drifts_are_the_generator(policy, cell):
    """Apply the generator of the live policy to the test functions at states of the cell."""
    lam, a, C = Fraction(4, 5), Fraction(1, 3), Fraction(7, 4)
    m, k = Fraction(3, 2), Fraction(1, 2)
    point = {"lam": lam, "m": m, "k": k, "a": a, "C": C}
    for extra in range(3):
        q = tuple(c * (1 + extra) for c in cell)
        law = policy(POOLS, "4/5").law(((q[0],), (q[1],)))
        chances = [Fraction(str(law.get((pool, q[pool]), 0))) for pool in (0, 1)]
        assert chances == [Fraction(x) for x in arrivals(policy, cell)]

        def generator(f, q=q, chances=chances):
            up = [(q[0] + 1, q[1]), (q[0], q[1] + 1)]
            down = [(q[0] - 1, q[1]), (q[0], q[1] - 1)]
            arrive = sum(2 * lam * c * (f(*y) - f(*q)) for c, y in zip(chances, up, strict=True))
            return arrive + sum(s * (f(*y) - f(*q)) for s, y, jobs in zip((m, k), down, q, strict=True) if jobs)

        assert generator(lambda x, y: a * x + y) == value(linear_drift(policy, cell, "a", "1"), point)
        first, second, rest = (value(text, point) for text in quadratic_drift(policy, cell, "a", "C"))
        drift = generator(lambda x, y: Fraction(y * y, 2) + a * x * y + C * x * x)
        assert drift == first * q[0] + second * q[1] + rest


@pytest.mark.parametrize(("d", "g", "k"), [(2, 1, 3), (3, 3, 2), (4, 1, 1), (4, 2, 4), (5, 1, 2), (5, 3, 1)])
def test_the_flow_has_the_derivatives_that_are_proved_nonnegative(d, g, k):
    """At other d and g than those of the certificates; derivatives of R_(k-1) off the diagonal, one by one."""
    depth = k + 2 * g + 1
    field, above = joined(d, g, k - 1, depth)
    _, whole = joined(d, g, k, depth)
    x, eps, j = [field[f"x{i}"] for i in range(depth + 1)], field["eps"], k - 1
    low, z = max(j - g, 0), x[j + g + 1]
    slopes = {j + g + 1: eps * ((x[j] - z) ** (d - 1) - (x[j + 1] - z) ** (d - 1))}
    slopes[j] = x[j] ** (d - 1) - eps * (x[j] - z) ** (d - 1)
    if low > 0:  # a coordinate, not the constant x_0
        slopes[j] += eps * (x[low] - x[j]) ** (d - 1)
        slopes[low] = eps * ((x[low] - x[j + 1]) ** (d - 1) - (x[low] - x[j]) ** (d - 1))
    elif j > 0:
        slopes[j] += eps * (x[0] - x[j]) ** (d - 1)
    for i in range(1, k + g + 1):
        if i != k:
            assert (above - whole).diff(x[i]) == d * slopes.get(i, field.convert(0))


@pytest.mark.parametrize(("d", "g", "k"), [(3, 3, 2), (4, 1, 1), (4, 2, 4), (5, 2, 2)])
def test_the_chance_to_join_lies_between_the_noiseless_and_the_independent_one(d, g, k):
    depth = k + g + 2
    for eps in ("0", "1/3", "1"):
        for parts in ([5, 1, 1, 3, 0, 2, 0, 1, 1, 1, 2, 1], [1, 0, 0, 9, 4, 0, 7, 1, 0, 0, 0, 1], [1] * 12):
            x = [fmpq(sum(parts[i:]), sum(parts)) for i in range(depth)]
            law = PowerOfD("1/2", d, g, eps).limit_law([[*x, fmpq(0)]], QQ)
            chance, e = sum((law[0, j] for j in range(k, depth)), fmpq(0)), fmpq(*map(int, f"{eps}/1".split("/")[:2]))
            assert x[k] ** d <= chance <= (1 - e) * x[k] ** d + e * (1 - (1 - x[k]) ** d)
