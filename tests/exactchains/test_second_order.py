"""Transient laws, accumulated rewards, variance constants and relaxation rates against closed forms and mpmath."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.linalg as la
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import FiniteChain, InputError, stationary
from exactchains.domain import rational
from exactchains.solvers import doubling, transient
from exactchains.solvers.arrays import chain_from_arrays
from exactchains.solvers.poisson import variance_constant
from exactchains.solvers.relaxation import relaxation_rate
from exactchains.solvers.transient import accumulated_reward, transient_law
from tests.exactchains.chains import birth_death, chain_of, irreducible, power_of_two

moderate = st.fractions(Fraction(1, 5), 5, max_denominator=20)


def ball_inside(enclosure, ball: arb) -> bool:
    """Whether the enclosure overlaps a much narrower ball that holds the truth."""
    middle, radius = ball.mid().fmpq(), ball.rad().fmpq()
    return bool(enclosure.lower <= middle + radius and middle - radius <= enclosure.upper)


def generator(case):
    size, rates = case
    Q = mpmath.matrix(size, size)
    for (i, j), q in rates.items():
        Q[i, j] += mpmath.mpf(q.numerator) / q.denominator
        Q[i, i] -= mpmath.mpf(q.numerator) / q.denominator
    return Q


@given(irreducible(values=moderate, largest=5), st.fractions(0, 3, max_denominator=7), st.integers(0, 4))
@settings(max_examples=40)
def test_transient_law_against_the_matrix_exponential(case, time, start):
    start %= case[0]
    law = transient_law(chain_of(*case), start, str(time), digits=20)
    with mpmath.workdps(40):
        expected = mpmath.expm(generator(case) * mpmath.mpf(time.numerator) / time.denominator)
        for j, x in enumerate(law):
            low, high = (mpmath.mpf(int(e.p)) / int(e.q) for e in (x.lower, x.upper))
            assert low - mpmath.mpf(10) ** -30 <= expected[start, j] <= high + mpmath.mpf(10) ** -30
            assert high - low <= mpmath.mpf(10) ** -20


@given(irreducible(values=moderate, largest=4), st.fractions(0, 2, max_denominator=7), st.integers(1, 4))
@settings(max_examples=20)
def test_a_law_to_start_from_mixes_its_states(case, time, weight):
    """Laws and rewards are linear in the start; in discrete time exactly."""
    chain, start = chain_of(*case), {0: Fraction(weight, 5), 1: Fraction(5 - weight, 5)}
    reward = list(range(1, chain.size + 1))
    mixed = transient_law(chain, start, str(time), digits=20)
    alone = [transient_law(chain, i, str(time), digits=25) for i in (0, 1)]
    mixed.append(accumulated_reward(chain, start, reward, time=str(time), digits=20))
    for i in (0, 1):
        alone[i].append(accumulated_reward(chain, i, reward, time=str(time), digits=25))
    for x, *ends in zip(mixed, *alone, strict=True):
        low, high = (
            weight * getattr(ends[0], e) / 5 + (5 - weight) * getattr(ends[1], e) / 5 for e in ("lower", "upper")
        )
        assert x.lower <= high and low <= x.upper and x.upper - x.lower <= fmpq(1, 10**20)
    flip = FiniteChain.from_matrix([["1/3", "2/3"], [1, 0]], time="discrete")
    assert transient_law(flip, start, 1)[1].value == rational(start[0]) * fmpq(2, 3)


def test_two_states_in_closed_form():
    """Storm PR 594: a reward until time 1/10 of a chain with rate 6 came out infinite; it is (1 - exp(-0.6))/6."""
    chain = FiniteChain.from_transitions(2, [(0, 1, 6)])
    with ctx.workprec(200):
        spent = (1 - (arb("-0.6")).exp()) / 6
        stays = arb("-0.6").exp()
    found = accumulated_reward(chain, 0, [1, 0], time="1/10", digits=30)
    assert ball_inside(found, spent) and found.has_digits(28)
    law = transient_law(chain, 0, "1/10", digits=30)
    assert ball_inside(law[0], stays) and law[0].has_digits(29)
    assert transient_law(chain, 1, "1/10")[0].is_exact and transient_law(chain, 1, "1/10")[0].lower == 0
    assert accumulated_reward(chain, 0, lambda i: 1, time="1/10").contains("1/10")
    assert [x.lower for x in transient_law(chain, 0, 0)] == [1, 0]


def test_long_times_reach_the_stationary_law():
    chain = birth_death(4, 3, 6)
    for x, pi in zip(transient_law(chain, 3, 40, digits=12), stationary(chain), strict=True):
        assert x.contains(pi) or abs(x.lower - pi) < fmpq(1, 10**12)
    reward = accumulated_reward(chain, 0, lambda s: s, time=400, digits=10)
    assert abs(reward.lower / 400 - rational("11/15")) < fmpq(1, 100)


@pytest.mark.parametrize("time", ["1e6", "1e30"])
def test_times_of_any_length_on_few_states(time):
    """Two states: the time spent in the first is t/2 + (1 - exp(-2t))/4."""
    two = FiniteChain.from_transitions(2, [(0, 1, 1), (1, 0, 1)])
    law, spent = transient_law(two, 0, time), accumulated_reward(two, 0, [1, 0], time=time, digits=12)
    assert all(x.lower <= fmpq(1, 2) <= x.upper and x.upper - x.lower < fmpq(1, 10**15) for x in law)
    assert spent.contains(rational(time) / 2 + fmpq(1, 4)) and spent.upper - spent.lower < fmpq(1, 10**12)


@given(irreducible(values=moderate, largest=5), st.fractions(1, 40, max_denominator=9))
@settings(max_examples=8)
def test_doubling_and_single_jumps_agree(case, time):
    chain, start = chain_of(*case), {0: "1/3", case[0] - 1: "2/3"}
    mean = rational(time) * max(sum(row.values(), fmpq(0)) for row in chain.rows)
    walk = transient._Walk.of(chain, 128)
    for later in (False, True):
        first, second = transient._chances(mean, 128)[later], walk.zeros()
        for weight, p in zip(first, walk.laws({i: rational(x) for i, x in start.items()}, len(first)), strict=True):
            second += np.right_shift(p * weight, 128)
        matrix = doubling.doubled(walk.jump(), mean, 128, lambda m: transient._chances(m, 128))[later]
        for j, x in enumerate(second):
            other = sum(int(matrix[i, j]) * rational(share) for i, share in start.items())
            assert abs(other - x) < 2**64


def test_steps_in_discrete_time_are_exact():
    flip = FiniteChain.from_matrix([["1/3", "2/3"], [1, 0]], time="discrete")
    assert [x.value for x in transient_law(flip, 0, 2)] == [rational("7/9"), rational("2/9")]
    assert [x.value for x in transient_law(flip, 1, 0)] == [0, 1]


def test_transient_refusals():
    chain = birth_death(3, 1, 2)
    for call, message in (
        (lambda: transient_law(chain, 0, -1), "time = -1"),
        (lambda: transient_law(chain, 3, 1), "states are 0 to 2"),
        (lambda: transient_law(birth_death(200, 1, 2), 0, 10**9), "too many"),
        (lambda: accumulated_reward(chain, 0, [1, -1, 0], time=1), "reward 1 = -1 is negative"),
        (lambda: relaxation_rate(birth_death(1000, 1, 2)), "1000 states"),
    ):
        with pytest.raises(InputError, match=message):
            call()
    with pytest.raises(TypeError, match="float"):
        transient_law(chain, 0, 0.5)


@given(irreducible(values=moderate, largest=6), st.lists(st.integers(-5, 5), min_size=6, max_size=6))
@settings(max_examples=50)
def test_variance_constant_against_the_exact_fundamental_matrix(case, reward):
    """sigma^2 = 2 f' diag(pi) Z f with Z = (1 pi - Q)^-1, by exact elimination."""
    size, rates = case
    chain = chain_of(*case)
    law = stationary(chain)
    f = [rational(x) for x in reward[:size]]
    mean = sum((w * x for w, x in zip(law, f, strict=True)), fmpq(0))
    f = [x - mean for x in f]
    rows = [[law[j] for j in range(size)] for _ in range(size)]
    for (i, j), q in rates.items():
        rows[i][j] -= rational(q)
        rows[i][i] += rational(q)
    g = fmpq_mat(rows).solve(fmpq_mat([[x] for x in f]))
    expected = 2 * sum((law[i] * f[i] * g[i, 0] for i in range(size)), fmpq(0))
    found = variance_constant(chain, reward[:size], digits=18)
    assert found.contains(expected) and (found.has_digits(18) or expected == 0)


def test_variance_constant_in_discrete_time():
    """Two states, P = [[1-a, a], [b, 1-b]]: a b (2 - a - b) / (a + b)^3."""
    a, b = Fraction(1, 3), Fraction(1, 4)
    chain = FiniteChain.from_matrix([[str(1 - a), str(a)], [str(b), str(1 - b)]], time="discrete")
    assert variance_constant(chain, [0, 1], digits=25).contains(a * b * (2 - a - b) / (a + b) ** 3)
    assert variance_constant(chain, [7, 7]).value == 0
    with pytest.raises(InputError, match="2 states"):
        variance_constant(chain, [1])


def walk_of(rows, reward):
    """Return the variance constant of a discrete chain by exact elimination: f' diag(pi) (2 Z - 1) f."""
    chain = FiniteChain.from_matrix([[str(x) for x in row] for row in rows], time="discrete")
    law = list(stationary(chain))
    f = [rational(x) - sum((w * rational(y) for w, y in zip(law, reward, strict=True)), fmpq(0)) for x in reward]
    system = [[law[j] - rational(p) + (i == j) for j, p in enumerate(row)] for i, row in enumerate(rows)]
    g = [x[0] for x in fmpq_mat(system).solve(fmpq_mat([[x] for x in f])).tolist()]
    return chain, sum((w * x * (2 * y - x) for w, x, y in zip(law, f, g, strict=True)), fmpq(0))


@given(st.data(), st.integers(2, 5))
@settings(max_examples=60)
def test_variance_constants_that_are_zero_are_exactly_zero(data, size):
    """Few transitions and few rewards, so that r - c is often a difference of potentials along every transition."""
    weights = st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=size, max_size=size)
    rows = []
    for i in range(size):
        row = data.draw(weights)
        row[(i + 1) % size] += 1
        rows.append([Fraction(x, sum(row)) for x in row])
    potential = data.draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    reward = [3 + potential[i] - potential[(i + 1) % size] for i in range(size)]
    if data.draw(st.booleans()):
        reward[0] += 1
    chain, truth = walk_of(rows, reward)
    found = variance_constant(chain, reward, digits=15)
    assert found.is_exact == (truth == 0) and found.contains(truth) and found.has_digits(15)


def test_variance_constant_of_periodic_chains():
    flip = FiniteChain.from_matrix([[0, 1], [1, 0]], time="discrete")
    assert variance_constant(flip, [0, 1], digits=30).value == 0
    entered = FiniteChain.from_matrix([["1/2", "1/2", 0], [0, 0, 1], [0, 1, 0]], time="discrete")
    assert variance_constant(entered, [9, 0, 1], digits=30).value == 0
    lazy = FiniteChain.from_matrix([["1e-30", str(1 - Fraction("1e-30"))], [1, 0]], time="discrete")
    a = 1 - Fraction("1e-30")
    assert variance_constant(lazy, [0, 1], digits=30).contains(a * (1 - a) / (a + 1) ** 3)


def test_variance_constant_of_a_long_cycle_is_zero():
    size = 4_000
    i = np.arange(size)
    cycle = chain_from_arrays(size, i, (i + 1) % size, np.ones(size, int), time="discrete")
    assert variance_constant(cycle, lambda k: k % 7, digits=20).value == 0


def test_variance_of_a_larger_chain():
    chain = power_of_two(3, 8)
    found = variance_constant(chain, [sum(s) for s in chain.labels], digits=12)
    rows = [dict(r) for r in chain.rows]
    n, law = chain.size, np.array([float(x.lower.p) / float(x.lower.q) for x in stationary(chain, digits=20)])
    Q = np.zeros((n, n))
    for i, row in enumerate(rows):
        for j, q in row.items():
            Q[i, j] += int(q.p) / int(q.q)
    Q -= np.diag(Q.sum(1))
    f = np.array([sum(s) for s in chain.labels], float)
    f -= law @ f
    g = np.linalg.solve(np.outer(np.ones(n), law) - Q, f)
    assert abs(float(found.lower.p) / float(found.lower.q) / (2 * law @ (f * g)) - 1) < 1e-9
    assert found.has_digits(12)


@given(irreducible(values=moderate, largest=6))
@settings(max_examples=40)
def test_relaxation_rate_against_the_symmetrised_spectrum(case):
    chain = chain_of(*case)
    found = relaxation_rate(chain, digits=6)
    law = np.array([int(x.p) / int(x.q) for x in stationary(chain)])
    Q = np.array(generator(case).tolist(), dtype=float)
    root = np.sqrt(law)
    scaled = root[:, None] * Q / root
    gap = -la.eigvalsh((scaled + scaled.T) / 2)[-2]
    low, high = (int(x.p) / int(x.q) for x in (found.lower, found.upper))
    assert low * (1 - 1e-9) <= gap <= high * (1 + 1e-9) and found.has_digits(6)


def test_relaxation_rate_of_two_states_is_the_sum_of_the_rates():
    found = relaxation_rate(FiniteChain.from_transitions(2, [(0, 1, "1/3"), (1, 0, "1/7")]), digits=12)
    assert found.contains("10/21") and found.has_digits(12)
