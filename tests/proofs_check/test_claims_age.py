"""The problems that age claims derive from the live models, run as recursions, give what the mode chains give."""

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import assume, given
from hypothesis import strategies as st

from aoi_tools.closed_forms import periodic_mean_age
from aoi_tools.models.codes import RandomGenerator, RandomParityCheck, erasure_law
from aoi_tools.models.markov import Markov
from aoi_tools.models.schemes import Actual, Delayed, Periodic
from aoi_tools.models.sources import Source as MarkovSource
from aoi_tools.models.windows import window
from aoi_tools.solvers.age import age_law
from aoi_tools.solvers.lengths import periodic_with_lengths
from exactchains.domain import QQ
from exactchains.level_chain import LevelChain
from exactchains.solvers.stationary import removed_equation
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import constant
from proofs_check.registry import claims
from proofs_check.verify import _meets

CLAIMS = claims()
chances = st.fractions(0, Fraction(9, 10), max_denominator=20)


def part(name, index):
    return CLAIMS[name].statement().problem["parts"][index]["problem"]


def value(text, point):
    f = expression(text, {name: constant(x) for name, x in point.items()})
    assert not f.bottom
    return Fraction(f.top.terms.get((), 0))


def run(problem, point, moves, start=0):
    """Return the state after moves, as numbers."""
    state = {name: value(text, point) for name, text in problem["starts"][start].items()}
    for move in moves:
        state = {n: value(text, point | state) for n, text in problem["steps"][move]["set"].items()}
    return point | state


def defined(problem, point):
    for name, text in problem.get("define", {}).items():
        point = point | {name: value(text, point)}
    return point


@given(chances, st.fractions(0, 1, max_denominator=20), st.integers(0, 6))
def test_the_moment_system_is_the_periodic_chain(p, d, q):
    problem = part("age.schemes.law", 2)
    at = defined(problem, run(problem, {"p": p, "d": d}, ["next"] * q))
    law = age_law(Periodic(p, d, q), domain=QQ, method="chain")
    found = [fmpq(x.numerator, x.denominator) for x in (at["mean"], at["second"], at["failure"])]
    assert found == [law.mean(), law.second_moment(), law.failure()]


@given(chances, st.fractions(0, 1, max_denominator=20), st.integers(0, 3))
def test_the_late_system_is_the_delayed_chain(p, d, delay):
    assume(p > 0 or d < 1)  # else no unique law, as the claim says
    problem = part("age.feedback.late-is-better", 1)
    mean = defined(problem, run(problem, {"p": p, "d": d}, ["later"] * delay))["mean"]
    assert fmpq(mean.numerator, mean.denominator) == age_law(Delayed(p, d, delay), method="chain").mean()


@given(chances, st.fractions(0, 1, max_denominator=20), st.integers(0, 3), st.integers(1, 9))
def test_the_tail_systems_average_to_the_periodic_law(p, d, q, level):
    order, tails = part("age.order.actual-periodic", 0), part("age.schemes.law", 1)
    point, period = {"p": p, "d": d}, q + 1
    total = Fraction(0)
    for end in range(period):
        begin = (end - level) % period
        kinds = ["first" if (begin + 1 + i) % period == 0 else "following" for i in range(level)]
        at = run(order, point, ["following"] * begin + ["level_zero", *kinds])
        c = run(order, point, ["following"] * begin)["alive"]
        same = run(tails, point | {"c": c}, kinds[1:], start=0 if kinds[0] == "following" else 1)
        assert at["x_alive"] + at["x_dead"] == same["alive"] + same["dead"] == same["theta"] * same["kappa"]
        total += at["x_alive"] + at["x_dead"]
    average = total / period
    assert fmpq(average.numerator, average.denominator) == age_law(Periodic(p, d, q), method="chain").ccdf(level - 1)


def test_the_code_systems_are_the_codes():
    check, generator = part("age.code.more-bits-fail-more", 2), part("age.code.more-bits-fail-more", 4)
    n, m = 9, 4
    fewer, more = (RandomParityCheck(n, bits, "1/3").chances() for bits in (m, m + 1))
    for e in range(n - m + 1):
        at = run(check, {"z": Fraction(1, 2 ** (n - m))}, ["erasure"] * e)
        assert [str(at["c"]), str(at["f"])] == [str(fewer[e].success), str(more[e].success)]
    for bits in range(n + 1):
        at = run(generator, {"z": Fraction(1, 2**n)}, ["bit"] * bits)
        assert str(at["c"]) == str(RandomGenerator(n, bits, "1/3").chances()[0].success)


def test_the_weight_system_is_the_binomial_law():
    problem = part("age.code.more-bits-fail-more", 0)
    for e in range(5):
        at = run(problem, {"eps": Fraction(1, 3)}, ["keep"] * (4 - e) + ["erase"] * e)
        assert str(at["w"]) == str(erasure_law(4, fmpq(1, 3), QQ)[e])


@pytest.mark.parametrize("name", CLAIMS)
def test_assumptions_can_be_met(name):
    _meets(CLAIMS[name], CLAIMS[name].statement())


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_tells_a_referee_what_it_says(name):
    c = CLAIMS[name]
    assert c.text and c.latex and c.assumptions and c.argument and c.definitions


MATRICES = [
    ([["1/2", "1/2"], ["1/3", "2/3"]], "0..0"),
    ([["0", "1", "0"], ["0", "0", "1"], ["1", "0", "0"]], "-1..1"),
    ([["1/6", "5/6", "0"], ["1/2", "0", "1/2"], ["1/5", "1/5", "3/5"]], "-1..0"),
]


@pytest.mark.parametrize(("matrix", "small"), MATRICES)
def test_the_words_of_the_markov_law_are_the_blocks_of_the_model(matrix, small):
    """Evaluate the letters at a live source: every given element is zero there, and so is the conclusion."""
    p, d = fmpq(1, 3), fmpq(1, 7)
    source = MarkovSource.of(matrix)
    n, scheme = source.size, Markov(p, d, source, window(small))
    up, reset = scheme.blocks(QQ)
    modes = LevelChain.resetting(up, reset, domain=QQ).phase_chain()
    law = dict(enumerate(removed_equation(modes)))
    whole = fmpq_mat([[source.rows[i].get(j, fmpq(0)) for j in range(n)] for i in range(n)])
    near = fmpq_mat([[source.split(window(small))[0][i].get(j, fmpq(0)) for j in range(n)] for i in range(n)])
    x = fmpq_mat([[law[i] for i in range(n)]])
    nu = fmpq_mat([[law[i] + law[n + i] for i in range(n)]])
    beyond = fmpq_mat([[law[n + i] for i in range(n)]])
    failing = fmpq_mat([list(row[n:]) for row in up[n:]])  # from failure to failure: the age goes up
    values = {"x": x, "nu": nu, "P": whole, "K": near, "e": fmpq_mat([[1]] * n), "y": beyond, "z": beyond * failing}
    problem, conclusion = (getattr(CLAIMS["age.markov.law"].statement(), part) for part in ("problem", "conclusion"))
    for element in [*problem["given"], *conclusion["zero"]]:
        total = None
        for scalar, letters in element:
            product = values[letters[0]]
            for letter in letters[1:]:
                product = product * values[letter]
            weight = value(scalar, {"p": Fraction(1, 3), "d": Fraction(1, 7)})
            term = fmpq(weight.numerator, weight.denominator) * product
            total = term if total is None else total + term
        assert not any(total.entries())


def test_gain_of_a_markov_source_is_the_series_and_respects_the_bound():
    source = MarkovSource.of([["1/2", "1/2"], ["1/3", "2/3"]])  # reversible; the window 0..0 is symmetric
    p, d = fmpq(1, 2), fmpq(1, 10)
    gain = age_law(Actual(p)).mean() - age_law(Markov(p, d, source, window("0..0"))).mean()
    near = [[fmpq(1, 2), fmpq(0)], [fmpq(0), fmpq(2, 3)]]
    nu, term, total = [fmpq(2, 5), fmpq(3, 5)], fmpq(1), fmpq(0)
    row = nu
    for _ in range(200):
        row = [sum((row[i] * near[i][j] for i in range(2)), fmpq(0)) for j in range(2)]
        term *= p - d
        total += term * sum(row, fmpq(0))
    alpha = nu[0] * near[0][0] + nu[1] * near[1][1]
    assert 0 < gain - total < fmpq(1, 10**60)
    assert gain >= alpha * (p - d) / (1 - alpha * (p - d))


@pytest.mark.parametrize(("m", "k", "q"), [(2, 1, 0), (2, 1, 1), (5, 1, 2), (3, 7, 1), (4, 4, 1)])
def test_mean_age_of_lossless_codewords_is_the_age_counted_use_by_use(m, k, q):
    ages, known, lengths = [], 0, [m] + [k] * q  # known: age at the end of the codeword before
    for length in lengths * 3:
        ages.append([known + use for use in range(length)])
        known = length
    period = [age for block in ages[len(lengths) : 2 * len(lengths)] for age in block]
    assert periodic_mean_age(0, 0, q, actual=m, differential=k) == fmpq(sum(period), len(period))


@given(chances, st.fractions(0, 1, max_denominator=20), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5))
def test_mean_age_with_two_lengths_is_that_of_the_mode_chain(p, d, q, m, k):
    found = periodic_mean_age(p, d, q, actual=m, differential=k)
    assert found == periodic_with_lengths(Periodic(p, d, q), m, k).mean
