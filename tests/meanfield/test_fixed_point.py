"""Certified fixed points against independent values, the flow itself, and spoiled certificates."""

import copy
import json
import math
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exactchains.domain import QQ, Balls
from exactchains.number import nearest_double
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from meanfield.flow import drift, is_cooperative
from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.solvers.divided import divided, divided_twice
from meanfield.solvers.fixed_point import fixed_point
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected

VALUES = json.loads((Path(__file__).parent.parent / "data" / "noisy_comparison_values.json").read_text())


@pytest.mark.parametrize(
    "row", VALUES["LD"] + VALUES["LI"], ids=lambda r: f"{r['lam']},{r['d']},{r.get('g')},{r['eps']}"
)
def test_independent_values_to_38_digits_and_accepted_by_the_checker(row):
    found = fixed_point(PowerOfD(row["lam"], row["d"], row.get("g"), row["eps"]), digits=42, levels=12)
    published = fmpq(1, 10**38)
    assert abs(found.mean_response.lower - QQ.convert(row["ET"])) < published * QQ.convert(row["ET"])
    assert abs(found.mean_queue.upper - QQ.convert(row["EQ"])) < published * QQ.convert(row["EQ"])
    for k, x in enumerate(row["x"][:12], start=1):
        assert abs(found.tail(k).lower / QQ.convert(x) - 1) < fmpq(1, 10**18)
    if "EQ_lower" in row:
        assert QQ.convert(row["EQ_lower"]) <= found.mean_queue.upper
        assert found.mean_queue.lower <= QQ.convert(row["EQ_upper"])
    check(loads(json.dumps(found.certificate(tails=(2, 5, 12)))))


@given(
    st.fractions("1/20", "19/20", max_denominator=50),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from(["1/7", 1]),
)
@settings(max_examples=15, deadline=None)
def test_the_enclosed_point_is_an_equilibrium_of_the_flow_between_noiseless_and_independent(load, d, g, eps):
    found = fixed_point(PowerOfD(load, d, g, eps), digits=20, levels=8)
    balls = Balls(400)
    with balls.working():
        tails = [balls.convert(1)] + [balls.convert((low + high) / 2) for low, high in found.tails]
        rates = drift(found.policy, [tails], domain=balls)[0]
        assert all(abs(r) < balls.convert("1e-18") for r in rates)
    noiseless = fixed_point(PowerOfD(load, d), digits=20, levels=6)
    for k in range(1, 7):
        assert noiseless.tail(k).lower <= found.tail(k).upper
        assert found.tail(k + 1).upper <= found.policy.load * (1 + found.policy.eps * d) * found.tail(k).upper * (
            found.tail(max(k - g, 0)).upper ** (d - 1)
        )


@pytest.mark.parametrize("zeros", [12, 15, 40])
@pytest.mark.parametrize(("d", "g", "eps"), [(2, 2, 1), (3, 1, "1/10")])
def test_far_nearer_to_saturation_than_doubles_resolve(zeros, d, g, eps):
    found = fixed_point(PowerOfD(f"0.{'9' * zeros}", d, g, eps), digits=20)
    check(loads(json.dumps(found.certificate())))
    nearer = fixed_point(PowerOfD(f"0.{'9' * (zeros + 1)}", d, g, eps), digits=20)
    growth = nearest_double(nearer.mean_response.lower - found.mean_response.lower)
    assert growth == pytest.approx(math.log(10) / math.log(d), rel=0.01)  # the slope 1/log d of heavy traffic


@pytest.mark.parametrize("d", [150, 1000])
def test_many_samples_cost_no_more_than_few(d):
    """x_2 is the load times the chance that all are busy or, by an error, at least one is: gaps hardly reach 5 here."""
    found = fixed_point(PowerOfD("1/3", d, 5, "1/2000"), digits=20, levels=2)
    all_busy, none = fmpq(1, 3) ** d, fmpq(2, 3) ** d
    expected = (1 - fmpq(1, 2000)) * all_busy + fmpq(1, 2000) * (1 - none)
    assert abs(found.tail(2).lower / (fmpq(1, 3) * expected) - 1) < fmpq(1, 1000)
    check(loads(json.dumps(found.certificate(tails=(2,)))))


@pytest.mark.parametrize(
    ("load", "d", "eps", "g"), [("9/10", 2, "1/2", 10_000), ("1/10", 2, "1/2", 40), ("1/2", 5, "1/9", 100)]
)
def test_gaps_beyond_the_queues_are_those_of_errors_at_every_gap(load, d, eps, g):
    wide, every = (fixed_point(PowerOfD(load, d, gap, eps), digits=15, levels=6) for gap in (g, None))
    assert "terms" in wide.proof
    assert wide.mean_queue.lower <= every.mean_queue.upper
    assert every.mean_queue.lower <= wide.mean_queue.upper
    certificate = json.loads(json.dumps(wide.certificate(tails=(6,))))
    check(certificate)
    for change in ({"g": wide.proof["terms"] - 2}, {"load": str(fmpq(99, 100) * wide.policy.load)}):
        with pytest.raises(Rejected):
            check({**certificate, "problem": certificate["problem"] | change})


@given(
    st.lists(st.fractions(0, 1, max_denominator=40), min_size=7, max_size=7),
    st.integers(1, 4),
    st.integers(1, 4),
    st.fractions(0, 1, max_denominator=9),
)
def test_wide_gaps_join_at_most_the_queues_of_every_gap_and_hardly_less(fractions, d, g, eps):
    """h(x_k) - eps d x_{g+1} <= P_k <= h(x_k) for the live law, on any tails."""
    tails = [fmpq(1), *(QQ.convert(x) for x in sorted(fractions, reverse=True)), fmpq(0)]
    policy = PowerOfD("1/2", d, g, eps)
    law = policy.limit_law([tails], QQ)
    for k in range(len(tails)):
        joined = sum((law[0, j] for j in range(k, len(tails))), fmpq(0))
        every = error_polynomial(d, policy.eps, tails[k])
        assert every - policy.eps * d * tails[g + 1] <= joined <= every


def test_a_wide_gap_loses_what_longer_queues_can_change():
    """Few terms: the bounds are wide and still hold the fixed point that the signs of the flow enclose."""
    load, d, g, eps = "3/10", 2, 6, 1
    exact = fixed_point(PowerOfD(load, d, g, eps), digits=20)
    assert "bounds" in exact.proof
    certificate = json.loads(json.dumps(exact.certificate()))
    certificate["proof"] = {"bits": 80, "terms": 7}
    low, high = exact.mean_queue.lower, exact.mean_queue.upper
    for bounds, holds in (
        ((low - fmpq(1, 2), high + fmpq(1, 2)), True),
        ((low, high), False),
        ((low, 2 * high), False),
    ):
        certificate["conclusion"] = {"mean_queue": [str(x) for x in bounds]}
        if holds:
            check(certificate)
        else:
            with pytest.raises(Rejected):
                check(certificate)


@given(
    st.sampled_from(["1/100", "1/2", "99/100", "0.99999999"]),
    st.sampled_from([2, 3, 20, 90]),
    st.sampled_from([1, 3, 9, 25]),
    st.sampled_from([1, "1/3", "999/1000", "1e-9"]),
    st.sampled_from([5, 60, 200]),
)
@example("1/100", 90, 25, "999/1000", 60)
@settings(max_examples=12, deadline=None)
def test_all_over_the_parameters(load, d, g, eps, digits):
    found = fixed_point(PowerOfD(load, d, g, eps), digits=digits)
    assert found.mean_queue.has_digits(digits)
    check(loads(json.dumps(found.certificate())))


@pytest.mark.parametrize(("load", "g"), [("99/100", 401), ("999/1000", 10_000)])
def test_gaps_out_of_reach_are_refused_at_once(load, g):
    with pytest.raises(Undecided, match=f"g = {g}: above 400"):
        fixed_point(PowerOfD(load, 2, g, 1), digits=15)


@pytest.mark.parametrize("eps", [0, "1/10"])
def test_recursions_next_to_load_one(eps):
    found = fixed_point(PowerOfD(f"0.{'9' * 30}", 2, None, eps), digits=30)
    check(loads(json.dumps(found.certificate())))
    nearer = fixed_point(PowerOfD(f"0.{'9' * 60}", 2, None, eps), digits=30)
    growth = nearest_double(nearer.mean_response.lower - found.mean_response.lower)
    assert growth == pytest.approx(30 * math.log(10) / math.log(2 if eps == 0 else 1.8), rel=1e-3)
    with pytest.raises(Undecided, match="below 1e-2000"):
        fixed_point(PowerOfD(f"0.{'9' * 2001}", 2, None, eps))


@given(st.integers(1, 40), st.tuples(*3 * [st.fractions(0, 1, max_denominator=30)]))
def test_divided_differences_are_their_quotients(d, numbers):
    a, b, c = numbers
    assert divided(a, b, d) * (a - b) == a**d - b**d
    assert divided_twice(a, b, c, d) * (a - c) == divided(a, b, d) - divided(b, c, d)


def test_recursion_at_gap_one_is_explicit():
    """d = 2, g = 1: x_{k+1} = lam x_k (x_k + 2 eps p) / (1 + 2 lam eps p), p = x_{k-1} - x_k: another route."""
    load, eps = fmpq(9, 10), fmpq(1)
    found = fixed_point(PowerOfD(load, 2, 1, eps), digits=30, levels=8)
    before, here = fmpq(1), load
    for k in range(2, 9):
        gap = before - here
        before, here = here, load * here * (here + 2 * eps * gap) / (1 + 2 * load * eps * gap)
        assert found.tail(k).contains(here)


def test_deep_tails_keep_their_relative_digits():
    found = fixed_point(PowerOfD("1/2", 2, 1, "1/2"), digits=30, levels=20)
    assert found.tail(20).upper < fmpq(1, 10**2000)
    assert found.tail(20).has_digits(30)
    with pytest.raises(Undecided, match="below 1e-400000"):
        fixed_point(PowerOfD("1/2", 2, 1, "1/2"), digits=30, levels=60)


@pytest.mark.parametrize("load", ["999/1000", "0.999999999"])
@pytest.mark.parametrize(("d", "g", "eps", "digits"), [(2, 20, 1, 1000), (3, 20, "1/2", 50), (10, 2, "1/10", 50)])
def test_near_saturation(load, d, g, eps, digits):
    found = fixed_point(PowerOfD(load, d, g, eps), digits=digits)
    certificate = found.certificate()
    check(loads(json.dumps(certificate)))
    assert len(json.dumps(certificate)) < 100_000
    assert found.mean_queue.has_digits(digits)


@pytest.mark.parametrize(("d", "g"), [(2, 1), (2, 3), (3, 2), (2, None), (4, None)])
def test_flow_is_cooperative(d, g):
    assert is_cooperative(PowerOfD("1/2", d, g))


def test_unstable_is_named_with_the_limit():
    with pytest.raises(DoesNotExist, match="stability limit 5/8"):
        fixed_point(PowerOfD("5/8", 2, None, "4/5"))


def test_levels_beyond_the_certificate_are_refused():
    found = fixed_point(PowerOfD("1/2", 2, 1, 1), digits=10)
    with pytest.raises(PrecisionExhausted, match="beyond"):
        found.tail(500)
    with pytest.raises(InputError):
        found.tail(-1)


def _certificate(g=2):
    return json.loads(json.dumps(fixed_point(PowerOfD("9/10", 2, g, "1/2" if g else "1/4"), digits=20).certificate()))


def _spoiled(change, g=2):
    certificate = copy.deepcopy(_certificate(g))
    change(certificate)
    return certificate


def _raise(certificate, k, by):
    e, low, width = certificate["proof"]["bounds"][k]
    certificate["proof"]["bounds"][k] = [e, f"0x{int(low[2:], 32) + by:x}", width]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["problem"].update(load="89/100"),
        lambda c: c["problem"].update(load="91/100"),
        lambda c: c["problem"].update(load="1"),
        lambda c: c["problem"].update(eps="49/100"),
        lambda c: c["problem"].update(eps="3/2"),
        lambda c: c["problem"].update(d=3),
        lambda c: c["problem"].update(g=1),
        lambda c: c["problem"].update(g=3),
        lambda c: c["problem"].update(g=None),
        lambda c: c["proof"].update(bounds=[]),
        lambda c: c["proof"].update(bounds=c["proof"]["bounds"][:2]),
        lambda c: c["proof"].update(bounds=c["proof"]["bounds"][:6]),
        lambda c: c["proof"].update(shift=c["proof"]["shift"] + 4),
        lambda c: c["proof"].update(shift=0),
        lambda c: c["proof"]["bounds"][3].__setitem__(1, "0x0"),
        lambda c: c["proof"]["bounds"][3].__setitem__(1, "0vw"),
        lambda c: c["proof"]["bounds"][3].__setitem__(2, "0v"),
        lambda c: c["proof"]["bounds"][3].__setitem__(2, "-0x1"),
        lambda c: c["conclusion"].update(mean_queue=c["conclusion"]["mean_queue"][::-1]),
        lambda c: c["conclusion"].update(mean_queue=["0", "2"]),
        lambda c: c["conclusion"].update(mean_queue=["3", "4"]),
        lambda c: c["conclusion"].update(tail=[[2, "0", "1/2"]]),
        lambda c: c["conclusion"].update(tail=[[0, "0", "1"]]),
        lambda c: c["conclusion"].clear(),
        lambda c: c.update(conclusion={"tail": []}),
        lambda c: c["conclusion"].update(extra="1"),
        lambda c: c["proof"].clear(),
    ],
)
def test_spoiled_certificates_are_rejected(change):
    check(_certificate())
    with pytest.raises(Rejected):
        check(_spoiled(change))


@pytest.mark.parametrize("k", range(17))
@pytest.mark.parametrize("by", [-1, 1])
def test_every_entry_matters(k, by):
    """Moving one entry of both bounds by more than their distance spoils a sign."""
    certificate = _certificate()
    width = certificate["proof"]["bounds"][k][2]
    _raise(certificate, k, by * (2 + 64 * int(width[2:], 32)))
    with pytest.raises(Rejected):
        check(certificate)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["proof"].update(terms=3),
        lambda c: c["proof"].update(bits=8),
        lambda c: c["proof"].update(terms=0),
        lambda c: c["problem"].update(eps="13/50"),
        lambda c: c["problem"].update(eps="3/5"),
        lambda c: c["problem"].update(g=1),
        lambda c: c["conclusion"].update(mean_queue=["1", "2"]),
    ],
)
def test_spoiled_recursions_are_rejected(change):
    check(_certificate(None))
    with pytest.raises(Rejected):
        check(_spoiled(change, None))


def test_a_certificate_at_every_gap_is_not_one_at_bounded_gaps():
    certificate = _certificate(None)
    certificate["problem"]["g"] = 0
    with pytest.raises(Rejected):
        check(certificate)
