"""Codes: brute force over matrices and erasure patterns, balls against fractions, far parameters, refusals."""

from itertools import combinations, product

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from aoi_tools import Code, Codeword, IdealErasure, RandomGenerator, RandomParityCheck
from exactchains import QQ, Balls, Fractions, InputError
from exactchains.domain import encloses

ENSEMBLES = (RandomParityCheck, RandomGenerator, IdealErasure)


def rank(vectors: list[int]) -> int:
    basis: list[int] = []
    for v in vectors:
        for b in basis:
            v = min(v, v ^ b)
        if v:
            basis.append(v)
    return len(basis)


def brute_failure(kind: str, n: int, bits: int, eps: fmpq) -> fmpq:
    """Average over all matrices and all erasure patterns; columns of the parity check, rows of the generator."""
    rows = n - bits if kind == "rpc" else bits
    total = fmpq(0)
    for size in range(n + 1):
        weight = eps**size * (1 - eps) ** (n - size)
        for erased in combinations(range(n), size):
            lost = 0
            for matrix in product(range(2**n), repeat=rows):
                kept = [c for c in range(n) if (c in erased) == (kind == "rpc")]
                columns = [sum(((row >> c) & 1) << i for i, row in enumerate(matrix)) for c in kept]
                lost += rank(columns) < (size if kind == "rpc" else bits)
            total += weight * fmpq(lost, 2 ** (n * rows))
    return total


@pytest.mark.parametrize(("n", "bits"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (3, 3)])
@pytest.mark.parametrize("ensemble", [RandomParityCheck, RandomGenerator])
def test_brute_force_over_matrices_and_patterns(ensemble, n, bits):
    eps = fmpq(2, 7)
    assert ensemble(n, bits, eps).over(QQ).failure == brute_failure(ensemble.family, n, bits, eps)


@pytest.mark.parametrize("field", [2, 3, 4])
def test_rank_counts_over_larger_fields(field):
    """Independent columns are counted by prod (q^r - q^i): the textbook count, apart from the recursion."""
    code = RandomParityCheck(6, 2, "1/3", field)
    for e, chance in enumerate(code.chances()):
        count = 1
        for i in range(e):
            count *= field**code.redundancy - field**i
        assert chance.success == fmpq(max(count, 0), field ** (code.redundancy * e))
        assert chance.failure + chance.success == 1


probabilities = st.integers(0, 12).map(lambda i: fmpq(i, 12))


@given(st.sampled_from(ENSEMBLES), st.integers(1, 12), st.data(), probabilities)
def test_balls_hold_the_fraction(ensemble, n, data, eps):
    code = ensemble(n, data.draw(st.integers(0, n)), eps)
    exact, ball = code.over(QQ), code.over(Balls(80))
    assert exact.failure + exact.success == 1
    assert encloses(ball.failure, exact.failure) and encloses(ball.success, exact.success)
    for x in (ball.failure, ball.success):
        assert x.rad().fmpq() <= x.mid().fmpq() / 2**60


def test_symbolic_erasure_probability_is_the_polynomial():
    F = Fractions("eps")
    failure = RandomParityCheck(4, 2, F["eps"]).over(F).failure
    for i in range(5):
        assert F.at(failure, {"eps": fmpq(i, 4)}) == RandomParityCheck(4, 2, fmpq(i, 4)).over(QQ).failure


def test_more_bits_fail_more_and_parity_check_is_never_below_ideal():
    for ensemble in ENSEMBLES:
        failures = [ensemble(7, m, "1/5").over(QQ).failure for m in range(8)]
        assert failures == sorted(failures)
    for m in range(8):
        assert RandomParityCheck(7, m, "1/5").over(QQ).failure >= IdealErasure(7, m, "1/5").over(QQ).failure


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_ten_thousand_channel_uses_keep_both_sides(ensemble):
    fate = ensemble(10_000, 7_000, "3/10").over(Balls(160))
    rare = ensemble(10_000, 100, "3/10").over(Balls(160)).failure
    sure = ensemble(10_000, 9_990, "3/10").over(Balls(160)).success
    for x in (fate.failure, fate.success, rare, sure):
        assert x > 0 and x.rel_accuracy_bits() > 130
    assert rare < 1e-300 and sure < 1e-300


def test_erasures_within_1e_30_of_certain():
    code = RandomParityCheck(20, 3, 1 - fmpq(1, 10**30))
    success = code.over(Balls(128)).success
    assert 0 < success < 1e-80 and success.rel_accuracy_bits() > 100


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: RandomParityCheck(4, 5, "1/2"), "bits = 5"),
        (lambda: RandomParityCheck(0, 0, "1/2"), "n = 0"),
        (lambda: RandomParityCheck(4, -1, "1/2"), "bits = -1"),
        (lambda: IdealErasure(4, 2, "3/2"), "eps = 3/2"),
        (lambda: RandomGenerator(4, 2, "1/2", 6), "field = 6"),
        (lambda: Code("ldpc", 4, 2, "1/2"), "code = 'ldpc'"),
        (lambda: Code("rpc", 4, 5, "1/2"), "m = 5"),
        (lambda: Code("rpc", 4, 3, "1/2", 4), "k = 4"),
        (lambda: Code("rpc", -4, 3, "1/2", 2), "n = -4"),
        (lambda: Codeword.of("5/4"), "from 0 to 1"),
        (lambda: Codeword(fmpq(1, 2), fmpq(1, 3)), "sum to 1"),
    ],
)
def test_bad_codes_are_refused(make, word):
    with pytest.raises(InputError, match=word):
        make()


def test_float_is_refused_with_the_exact_spelling():
    with pytest.raises(TypeError, match="3/10"):
        RandomParityCheck(4, 2, 0.3)
