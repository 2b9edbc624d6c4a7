"""G and R of level chains against closed forms, mpmath, peers' cases and the checker."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import Balls, DoesNotExist, LevelChain, rational
from exactchains.solvers.ball_reduction import ball_bounds
from exactchains.solvers.cyclic_reduction import Approximation, shifted
from exactchains.solvers.level_drift import Drift, drift
from exactchains.solvers.level_integers import level_integers
from exactchains.solvers.matrix_geometric import _refined, _rows, _starts, rate_matrix
from exactchains.solvers.rate_certificate import drift_certificate
from exactchains.solvers.rate_doubles import in_doubles
from exactchains.solvers.split_product import multiplied, sliced
from exactchains.truth import InputError, PrecisionExhausted
from proofs_check.check.document import check, loads

from .level_chains import generator, logarithmic_reduction, single_server, spread_chains

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "data" / "peer_cases.json").read_text())["cases"]
}
LOADS = ["1/2", "9/10", "999/1000", "999999/1000000", "999999999/1000000000"]


def exact_text(block):
    return [[str(x) for x in row] for row in block]


def accepted(certificate):
    check(loads(json.dumps(certificate)))


def routes(chain, digits):
    """Return G and R by every route, whatever the entry function would choose."""
    blocks = level_integers(chain)
    sign = drift(blocks)
    if sign.drift is Drift.RECURRENT and not blocks.patterns[3].any() and not blocks.wide:
        found = in_doubles(blocks, digits)
        if found is not None:
            yield _rows(found[0]), _rows(found[1])
    for start in () if blocks.wide else _starts(blocks, sign):
        found = _refined(blocks, sign, start, digits)
        if found is not None:
            yield _rows(found[0]), _rows(found[1])
    certain = sign.drift is not Drift.TRANSIENT and not blocks.patterns[3].any()
    yield tuple(map(_rows, ball_bounds(blocks, certain, digits)))


def test_peer_case_with_rank_one_blocks_is_exact():
    case = CASES["butools-qbd-1"]
    blocks = {"up": case["F"], "local": case["L"], "down": case["B"], "boundary_local": case["L0"]}
    rates = rate_matrix(LevelChain.from_blocks({name: exact_text(block) for name, block in blocks.items()}))
    for mine, theirs in ((rates.G, case["G_exact"]), (rates.R, case["R_exact"])):
        assert [[x.value for x in row] for row in mine] == [[rational(x) for x in row] for row in theirs]
    for mine, published in zip(rates.U, case["U"], strict=True):
        assert all(abs(int(x.value.p) / int(x.value.q) - y) < 1e-8 for x, y in zip(mine, published, strict=True))
    assert rates.status == "recurrent" and rates.certain_digits is None
    accepted(rates.certificate)


@pytest.mark.parametrize("load", LOADS)
def test_every_route_encloses_the_exact_matrices_up_to_load_one(load):
    chain = generator([["0", load], [load, "0"]], [["0", "1/7"], ["1/3", "0"]], [["1/3", "2/3"], ["1/3", "2/3"]])
    exact = rate_matrix(chain)
    assert exact.exact is not None
    for asked in (15, 25):
        for G, R in routes(chain, asked):
            for bounds, truth in ((G, exact.G), (R, exact.R)):
                for row, want in zip(bounds, truth, strict=True):
                    assert all(x.contains(y.value) and x.has_digits(asked) for x, y in zip(row, want, strict=True))


@pytest.mark.parametrize("load", ["3/2", "1000001/1000000", "1000000001/1000000000", "100"])
def test_transient_single_server(load):
    rates = rate_matrix(single_server(load))
    assert rates.status == "transient"
    assert rates.G[0][0].contains(1 / Fraction(load)) and rates.R[0][0].contains(1)
    assert rates.certain_digits >= 15
    accepted(rates.certificate)


def test_null_recurrent_is_named_and_enclosed():
    blocks = [["1", "0"], ["0", "1"]], [["0", "2"], ["1", "0"]], [["1", "0"], ["0", "1"]]
    rates = rate_matrix(generator(*blocks), digits=12)
    assert rates.status == "null recurrent" and rates.certain_digits >= 12
    x = (5 - mpmath.sqrt(21)) / 2  # up = down = 1: G is a function of the phase generator, with eigenvalues 1 and x
    for i, row in enumerate([[(1 + 2 * x) / 3, 2 * (1 - x) / 3], [(1 - x) / 3, (2 + x) / 3]]):
        for j, value in enumerate(row):
            assert abs(float(rates.G[i][j].lower.p) / float(rates.G[i][j].lower.q) - value) < 1e-11
    accepted(rates.drift_certificate)
    accepted(rates.certificate)
    assert rates.method == "cyclic reduction in balls" and min(x.digits for x in rates.in_integers[:2]) >= 12


def test_null_recurrent_in_closed_form_is_certified():
    """No vector ties G where the drift is zero; G 1 = 1 does."""
    for blocks in (
        {"up": [["1"]], "local": [["-2"]], "down": [["1"]]},
        {"up": [["1", "1"], ["0", "1"]], "local": [["-5", "1"], ["2", "-4"]], "down": [["1", "1"], ["1/2", "1/2"]]},
    ):
        rates = rate_matrix(LevelChain.from_blocks(blocks))
        assert rates.status == "null recurrent" and all(sum(x.value for x in row) == 1 for row in rates.G)
        accepted(rates.certificate)


def test_reset_chain_has_no_level_below_and_a_closed_form():
    blocks = {"up": [["1/2", "0"], ["1/4", "1/4"]], "reset": [["1/4", "1/4"], ["1/2", "0"]]}
    rates = rate_matrix(LevelChain.from_blocks(blocks, time="discrete"))
    assert all(x.value == 0 for row in rates.G for x in row)
    assert [[x.value for x in row] for row in rates.R] == [[rational(x) for x in row] for row in blocks["up"]]
    accepted(rates.certificate)


def test_levels_that_are_no_chain_are_refused():
    with pytest.raises(DoesNotExist, match="never leave their level"):
        rate_matrix(generator([["1", "0"], ["0", "0"]], [["0", "1"], ["0", "0"]], [["2", "0"], ["0", "0"]]))
    with pytest.raises(DoesNotExist, match="within bounds"):
        rate_matrix(generator([["0", "1"], ["0", "0"]], [["0", "0"], ["0", "0"]], [["0", "0"], ["1", "0"]]))


def test_some_closed_class_that_drifts_up_makes_the_chain_transient():
    rates = rate_matrix(generator([["1", "0"], ["0", "3"]], [["0", "0"], ["0", "0"]], [["2", "0"], ["0", "2"]]))
    assert rates.status == "transient" and rates.drift.members == [1]
    assert rates.G[0][0].contains(1) and rates.G[1][1].contains("2/3") and rates.G[0][1].value == 0
    accepted(rates.certificate)


def test_resets_too_rare_for_doubles_bring_every_level_back():
    leaving = -(10**300 + 10**299 + Fraction(1, 10**300))
    blocks = {"up": [["1e300"]], "local": [[str(leaving)]], "down": [["1e299"]], "reset": [["1e-300"]]}
    rates = rate_matrix(LevelChain.from_blocks(blocks), digits=12)
    assert rates.status == "recurrent" and rates.G[0][0].contains(Fraction(1, 10))  # less 1e-600
    accepted(rates.drift_certificate)
    accepted(rates.certificate)


def test_structural_zeros_are_exact():
    rates = rate_matrix(generator([["1", "0"], ["0", "1"]], [["0", "1"], ["0", "0"]], [["0", "3"], ["0", "2"]]))
    assert [[x.value == 0 for x in row] for row in rates.G] == [[True, False], [True, False]]


def test_nearly_decoupled_halves_keep_every_digit():
    tiny = "1e-12"
    blocks = (
        [["1", "0", "0"], ["0", "1", tiny], ["0", "0", "1/2"]],
        [["0", "1", tiny], ["1", "0", "0"], [tiny, "0", "0"]],
        [["2", "1", "0"], ["1", "1", "0"], ["0", "0", "1"]],
    )
    chain = generator(*blocks)
    rates, G = rate_matrix(chain), logarithmic_reduction(chain, 40)
    assert rates.certain_digits >= 15
    with mpmath.workdps(60):
        for i, row in enumerate(rates.G):
            for j, x in enumerate(row):
                assert x.contains(Fraction(mpmath.nstr(G[i, j], 50)))
    accepted(rates.certificate)


@pytest.mark.parametrize("rate", ["1e-300", "1e300"])
def test_rates_beyond_the_range_of_doubles(rate):
    chain = generator([["1", "0"], ["0", rate]], [["0", "1"], [rate, "0"]], [["1", "1"], ["0", "1e301"]])
    rates = rate_matrix(chain)
    assert rates.certain_digits >= 15 and rates.status == "recurrent"
    iterate = [[Fraction(0)] * 2 for _ in range(2)]
    for _ in range(4):  # the natural iteration stays below G
        iterate = below(chain, iterate)
    assert all(
        rational(x) <= y.upper
        for row, mine in zip(iterate, rates.G, strict=True)
        for x, y in zip(row, mine, strict=True)
    )
    accepted(rates.certificate)


@settings(max_examples=25, deadline=None)
@given(spread_chains(80), st.sampled_from([5, 30]))
def test_what_is_found_in_balls_is_proved_in_integers(chain, digits):
    try:
        rates = rate_matrix(chain, digits=digits)
    except (DoesNotExist, PrecisionExhausted):
        return
    if rates.certificate is None:  # too far apart
        return
    accepted(rates.certificate)
    if rates.exact is None and rates.work is None:
        for bounds, found in zip(rates.in_integers, (rates.G, rates.R), strict=False):
            assert bounds.digits >= digits
            for row, mine in zip(_rows(bounds), found, strict=True):
                assert all(x.lower <= y.upper and y.lower <= x.upper for x, y in zip(row, mine, strict=True))


def below(chain, X):
    """Return the next natural iterate (-diagonal)^-1 (down + offdiagonal X + up X^2) in fractions."""
    m = len(X)
    blocks = [[[Fraction(int(x.p), int(x.q)) for x in row] for row in b] for b in (chain.up, chain.local, chain.down)]
    square = [[sum(X[i][k] * X[k][j] for k in range(m)) for j in range(m)] for i in range(m)]
    found = []
    for i in range(m):
        rest = [sum(blocks[1][i][k] * X[k][j] for k in range(m) if k != i) for j in range(m)]
        high = [sum(blocks[0][i][k] * square[k][j] for k in range(m)) for j in range(m)]
        found.append([(blocks[2][i][j] + rest[j] + high[j]) / -blocks[1][i][i] for j in range(m)])
    return found


scales = st.sampled_from(["0", "0", "1", "1/3", "7", "1e-6", "1e-12", "250"])


@st.composite
def random_chains(draw):
    m = draw(st.integers(1, 3))
    block = st.lists(st.lists(scales, min_size=m, max_size=m), min_size=m, max_size=m)
    return generator(draw(block), draw(block), draw(block))


@settings(max_examples=50, deadline=None)
@given(random_chains())
def test_random_chains_are_enclosed_or_refused_by_name(chain):
    try:
        rates = rate_matrix(chain, digits=20)
    except DoesNotExist:
        return
    accepted(drift_certificate(rates))
    if rates.certificate is not None:
        accepted(rates.certificate)
    if rates.status == "null recurrent":
        return
    try:
        G = logarithmic_reduction(chain, 60)
    except (ZeroDivisionError, AssertionError):
        return
    with mpmath.workdps(100):
        for i, row in enumerate(rates.G):
            for j, x in enumerate(row):
                error = abs(G[i, j]) * mpmath.mpf(10) ** -40 + mpmath.mpf(10) ** -90
                low, high = (mpmath.mpf(int(end.p)) / int(end.q) for end in (x.lower, x.upper))
                assert low - error <= G[i, j] <= high + error


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 9), st.sampled_from([1, -1]), st.integers(1, 9))
def test_near_critical_chains_know_their_side(exponent, side, rate):
    load = 1 + side * Fraction(1, 10**exponent)
    rates = rate_matrix(
        generator([[load * rate, "0"], ["1", load]], [["0", "1"], ["2", "0"]], [[rate, "0"], ["0", "2"]])
    )
    assert rates.status == ("transient" if 2 * (load - 1) * rate + load - 1 > 0 else "recurrent")
    accepted(rates.certificate)


def dense(m, load, seed):
    """Doubles over three decades whose drift ratio is ``load``, as exact numbers."""
    rng = np.random.default_rng(seed)
    up, local, down = (10.0 ** (-3 * rng.random((m, m))) for _ in range(3))
    np.fill_diagonal(local, 0)
    for _ in range(60):
        Q = up + local + down
        Q = Q - np.diag(Q.sum(1))
        Q[:, 0] = 1
        law = np.linalg.solve(Q.T, np.eye(m)[0])
        up = up * (load * (law @ down).sum() / (law @ up).sum())
    return LevelChain.from_floats({"up": up.tolist(), "local": local.tolist(), "down": down.tolist()})


@pytest.mark.parametrize(("m", "gap"), [(10, 1e-3), (30, 1e-6), (30, 1e-9), (24, -1e-6)])
def test_dense_chains_near_load_one_have_every_digit(m, gap):
    """Peers report 9 digits, nan or an exception at these sizes and loads."""
    rates = rate_matrix(dense(m, 1 - gap, seed=m), digits=15)
    assert rates.status == ("recurrent" if gap > 0 else "transient") and rates.certain_digits >= 15
    if gap > 0:
        for row in rates.G:
            assert sum(x.lower for x in row) <= 1 <= sum(x.upper for x in row)
    accepted(rates.certificate)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 20), st.sampled_from([2, 3]), st.sampled_from([0, 10, 60]), st.integers(0, 10**6))
def test_products_of_slices_are_as_close_as_they_say(inner, count, decades, seed):
    rng = np.random.default_rng(seed)
    A, B = (10.0 ** (-decades * rng.random((inner, inner))) * rng.random((inner, inner)) for _ in range(2))
    found = multiplied(sliced(A, inner, count, rows=True), sliced(B, inner, count, rows=False))
    exact = fmpq_mat(fractions(A)) * fmpq_mat(fractions(B))
    near = fmpq_mat(fractions(found.high)) + fmpq_mat(fractions(found.low))
    allowed = found.far * np.outer(found.left, found.right) + 2.0**-102 * found.high
    error = np.array([abs(int(x.p) / int(x.q)) for x in (near - exact).entries()]).reshape(inner, inner)
    assert (error <= allowed).all()
    assert (allowed <= 2.0**-60 * A.max(1)[:, None] * B.max(0) * inner**2).all()


def fractions(A):
    return [[rational(Fraction(x)) for x in row] for row in A.tolist()]


@pytest.mark.parametrize("gap", [0.3, 1e-4, 1e-9])
@pytest.mark.parametrize("spoil", [0, 1e-13, 1e-7, 1e-2])
def test_bounds_in_doubles_hold_however_bad_the_start(gap, spoil, monkeypatch):
    chain = dense(7, 1 - gap, seed=11)
    truth, blocks = rate_matrix(chain, digits=40), level_integers(chain)
    rng = np.random.default_rng(3)

    def worse(*given):
        start = shifted(*given)
        return Approximation(start.G * (1 + spoil * rng.standard_normal(start.G.shape)), start.excess, start.steps)

    monkeypatch.setattr("exactchains.solvers.rate_doubles.shifted", worse)
    found = in_doubles(blocks, 12)
    assert found is not None or spoil > 0
    if found is not None:
        for bounds, exact in zip(found, (truth.G, truth.R), strict=False):
            for row, finer in zip(_rows(bounds), exact, strict=True):
                assert all(x.lower <= y.lower and y.upper <= x.upper for x, y in zip(row, finer, strict=True))


def test_many_digits_nest():
    chain = dense(6, 0.99, seed=5)
    few, many = rate_matrix(chain, digits=15), rate_matrix(chain, digits=300)
    assert many.certain_digits >= 300
    for one, two in ((few.G, many.G), (few.R, many.R)):
        for row, finer in zip(one, two, strict=True):
            assert all(x.lower <= y.lower <= y.upper <= x.upper for x, y in zip(row, finer, strict=True))
    accepted(many.certificate)


@pytest.mark.parametrize("time", ["continuous", "discrete"])
def test_the_watched_level_keeps_its_rows(time):
    """U 1 = local 1 + up 1 when every level is left downwards."""
    chain = dense(4, 0.9, seed=2)
    blocks = {name: getattr(chain, name) for name in ("up", "local", "down")}
    if time == "discrete":
        scale = 2 * max(-row[i] for i, row in enumerate(chain.local))
        blocks = {name: [[x / scale for x in row] for row in block] for name, block in blocks.items()}
        blocks["local"] = [[x + (i == j) for j, x in enumerate(row)] for i, row in enumerate(blocks["local"])]
    chain = LevelChain.from_blocks(blocks, time=time)
    for i, row in enumerate(rate_matrix(chain).U):
        total = sum(chain.local[i]) + sum(chain.up[i])
        assert sum(x.lower for x in row) <= total <= sum(x.upper for x in row)
        assert all(x.lower >= 0 for j, x in enumerate(row) if i != j or time == "discrete")


def test_only_exact_rates_are_solved():
    with pytest.raises(InputError, match="exact rates"):
        rate_matrix(LevelChain.from_blocks({"up": [["1"]], "local": [["-3"]], "down": [["2"]]}, domain=Balls(64)))
    with pytest.raises(InputError, match="digits = 0"):
        rate_matrix(single_server("1/2"), digits=0)


def test_the_scalar_peer_case():
    case = CASES["qbd-scalar"]
    rates = rate_matrix(single_server("3/5"))
    assert case["R_exact"] == "rho" and rates.R[0][0].value == rational("3/5") and rates.G[0][0].value == 1


wild = st.sampled_from(["0", "1", "1/3", "7", "1e-300", "1e300", "1e-18", "1e9"])


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 3))
def test_rates_from_minus_to_plus_three_hundred_are_contained(data, m):
    """With ``down`` of rank one G and R are known exactly; the other routes must enclose them, or give up."""
    block = st.lists(st.lists(wild, min_size=m, max_size=m), min_size=m, max_size=m)
    up, local = data.draw(block), data.draw(block)
    falls, entry = (data.draw(st.lists(wild, min_size=m, max_size=m)) for _ in range(2))
    down = [[str(Fraction(a) * Fraction(b)) for b in entry] for a in falls]
    chain = generator(up, local, down)
    try:
        exact = rate_matrix(chain)
    except DoesNotExist:
        return
    accepted(drift_certificate(exact))
    if exact.exact is None or exact.status == "null recurrent":
        return
    accepted(exact.certificate)
    try:
        for G, R in routes(chain, 12):
            for bounds, truth in ((G, exact.G), (R, exact.R)):
                for row, want in zip(bounds, truth, strict=True):
                    assert all(x.contains(y.value) for x, y in zip(row, want, strict=True))
    except PrecisionExhausted:
        return


@settings(max_examples=40, deadline=None)
@given(spread_chains(40), st.sampled_from([1, 12, 60, 400]))
def test_certificates_over_eighty_decades_are_accepted(chain, digits):
    try:
        rates = rate_matrix(chain, digits=digits)
    except (DoesNotExist, PrecisionExhausted):
        return
    if rates.certificate is not None:
        accepted(rates.certificate)
    assert [[x.upper > 0 for x in row] for row in rates.G] == level_integers(chain).reach.tolist()


def test_the_remainder_of_rates_counts_however_many_digits():
    """Beyond 1000 bits it lies below the least double."""
    chain = generator(
        [["3.38e-18", "0", "0"], ["0", "0", "0"], ["0", "0", "4.75e-16"]],
        [["0", "5.62e-19", "4.14e-12"], ["0", "0", "0"], ["7.75e19", "0", "0"]],
        [["7.48e-15", "5.83e11", "6.6e11"], ["0", "76.4", "0"], ["8.45e-23", "9.19", "5.88"]],
    )
    rates = rate_matrix(chain, digits=384)
    assert rates.method == "cyclic reduction" and rates.certain_digits >= 384
    accepted(rates.certificate)


def test_zeros_of_the_first_passage_stay_exact_at_wide_rates():
    """Phase 0 is entered from phase 0 only."""
    chain = generator(
        [["470000", "0", "0"], ["0", "3.71e-8", "0"], ["0", "0", "6.95e-4"]],
        [["0", "7.75e-7", "0"], ["0", "0", "0"], ["0", "5.16e8", "0"]],
        [["8500", "0", "0"], ["0", "0", "7.32e-8"], ["0", "9.13e-4", "7.42e-7"]],
    )
    rates = rate_matrix(chain, digits=1)
    assert rates.method == "cyclic reduction" and all(rates.G[i][0].value == rates.R[i][0].value == 0 for i in (1, 2))
    accepted(rates.certificate)


def test_no_certificate_is_written_that_the_checker_would_refuse():
    chain = generator([["1", "0"], ["0", "1/2"]], [["0", "1"], ["2", "0"]], [["3", "0"], ["0", "2"]])
    rates = rate_matrix(chain, digits=20)
    accepted(rates.certificate)
    for name in ("first", "rate"):
        bounds = getattr(rates, name)
        for width in (bounds.width * 2**-40, -bounds.width):
            spoiled = replace(rates, **{name: replace(bounds, width=np.rint(width))})
            assert spoiled.certificate is None


def test_a_transient_phase_beside_a_recurrent_one_is_enclosed_at_wide_rates():
    rates = rate_matrix(
        generator([["1e-18", "0"], ["0", "1e24"]], [["0", "0"], ["0", "0"]], [["1e28", "0"], ["0", "1e-37"]])
    )
    assert rates.status == "transient" and rates.method == "cyclic reduction in balls"
    assert rates.G[0][0].contains(1) and rates.G[1][1].contains(Fraction("1e-61")) and rates.G[1][1].has_digits(15)
