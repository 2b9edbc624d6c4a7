"""Design problems and stochastic orders: certified integers, exact ties, isolated switching points."""

import pytest
from flint import fmpq

from aoi_tools import (
    Actual,
    Code,
    Cyclic,
    Delayed,
    Design,
    Feedback,
    Generalised,
    Markov,
    Periodic,
    RandomParityCheck,
    Sampling,
    age_law,
    best,
    best_along,
    break_even_cost,
    difference,
    named_source,
    stochastic_order,
    window,
)
from exactchains import DoesNotExist, InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.design import best_parameter, compare, order, switching_points


def test_best_length_is_the_exact_minimum():
    def make(n: int) -> Design:
        return Design(Actual(Code("rpc", n, 4, "1/3").actual), Sampling(n))

    exact = {n: age_law(make(n).scheme).age_mean(Sampling(n)) for n in range(4, 20)}
    found = best(make, range(4, 20))
    assert found.arguments == (min(exact, key=exact.get),)
    assert all(found.values[n].contains(x) for n, x in exact.items())


def test_ties_are_decided_exactly():
    """Parity check at (1,1) and (2,1) has one failure probability; q = 0 is actual: every alpha ties when d = p."""
    found = best(lambda n: Design(Actual(RandomParityCheck(n, 1, "1/3"))), range(1, 3), quantity="slot_mean")
    assert found.arguments == (1, 2)
    code = RandomParityCheck(60, 40, "1/3")
    tie = best(lambda k: Design(Generalised(code, code, fmpq(k, 4))), range(5), quantity="slot_variance")
    assert tie.arguments == (0, 1, 2, 3, 4)


def test_candidates_without_a_law_are_set_aside():
    found = best(lambda k: Design(Actual(fmpq(k, 3))), [3, 2, 1], quantity="slot_mean")
    assert found.arguments == (1,) and found.absent == (3,)
    with pytest.raises(DoesNotExist, match="for any of the 1 candidates"):
        best(lambda k: Design(Actual(1)), [1], quantity="slot_mean")


THRESHOLDS = [
    ("cyclic8", "rpc", 10, "2/5", (1,)),
    ("cyclic8", "rpc", 4, "1/2", (0,)),
    ("cyclic8", "mds", 10, "2/5", (2,)),
    ("cyclic8", "mds", 4, "1/2", (1,)),
    ("regime8", "rpc", 10, "2/5", (0,)),
    ("regime8", "rlg", 10, "2/5", (0,)),
    ("regime8", "mds", 10, "2/5", (2,)),
]


@pytest.mark.parametrize(("source", "code", "n", "eps", "expected"), THRESHOLDS)
def test_best_thresholds_of_the_corrections(source, code, n, eps, expected):
    words = {"code": code, "n": str(n), "m": "3", "eps": eps, "source": source, "window": "threshold"}
    found = best_parameter(find("age.markov"), words, over=("k", 0, 3), minimise="age_mean")
    assert found.arguments == expected


def test_switching_point_is_isolated_and_right_on_both_sides():
    words = {"code": "rpc", "n": "6", "m": "3", "source": "cyclic8", "window": "threshold"}
    model = find("age.markov")
    pieces = switching_points(model, words, over=("k", 0, 3), along=("eps", "1/100", "99/100"), minimise="age_mean")
    assert [p.arguments for p in pieces] == [(1,), (0,)]
    switch = pieces[0].upper
    assert switch.has_digits(15) and switch == pieces[1].lower
    for eps, expected in ((switch.lower - fmpq(1, 10**9), (1,)), (switch.upper + fmpq(1, 10**9), (0,))):
        near = best_parameter(model, words | {"eps": str(eps)}, over=("k", 0, 3), minimise="age_mean")
        assert near.arguments == expected


def test_no_switch_and_equal_curves():
    pieces = best_along(lambda k, x: Design(Feedback(x, 0)), [0, 1], interval=("1/4", "1/2"), quantity="slot_mean")
    assert [p.arguments for p in pieces] == [(0, 1)]
    with pytest.raises(InputError, match="interval"):
        best_along(lambda k, x: Design(Actual(x)), [0], interval=("1/2", "1/4"))


@pytest.mark.parametrize(
    ("n", "m", "k", "eps", "delivery", "digits"),
    [
        (100, 70, 10, "3/10", "after", "0.92"),
        (20, 10, 9, "1/2", "after", "0.054"),
        (40, 30, 20, "7/10", "after", "5.1e-12"),
        (100, 70, 10, "3/10", "before", "2.7"),
    ],
)
def test_break_even_costs(n, m, k, eps, delivery, digits):
    code = Code("rpc", n, m, eps, k)
    scheme = Feedback(code.actual, code.differential)
    found = break_even_cost(scheme, delivery=delivery)
    assert found.digits(len(digits.replace("0.0", "").replace("0.", "").replace(".", "").split("e")[0])) == digits
    # at the cost itself both means agree: n (s + E J_actual) = (n + f)(s + E J)
    if found.status == "exact":
        start = fmpq(3, 2) if delivery == "after" else fmpq(1, 2)
        share, fed, plain = found.lower, age_law(scheme).mean(), age_law(Actual(code.actual)).mean()
        assert (1 + share) * (start + fed) == start + plain


def test_gain_under_heavy_erasures_is_positive_with_digits():
    code = Code("rpc", 40, 30, "7/10", 20)
    plain, fed = (
        Design(Actual(code.actual), Sampling(40)),
        Design(Feedback(code.actual, code.differential), Sampling(40)),
    )
    gain = difference(plain, fed, digits=20)
    assert gain.lower > 0 and gain.enclosure.has_digits(20)
    near = Code("rpc", 40, 30, 1 - fmpq(1, 10**30), 20)
    far = difference(
        Design(Actual(near.actual)), Design(Feedback(near.actual, near.differential)), quantity="slot_mean"
    )
    assert far.lower > 0


ORDERS = [
    (Feedback("1/2", "1/10"), Actual("1/2"), True),
    (Actual("1/2"), Feedback("1/2", "1/10"), False),
    (Feedback("1/2", "3/4"), Actual("1/2"), False),
    (Actual("1/2"), Periodic("1/2", "1/10", 3), True),
    (Actual("1/2"), Periodic("1/2", 0, 7), True),
    (Periodic("1/2", "1/10", 2), Periodic("1/2", "1/10", 3), True),
    (Periodic("1/2", "1/10", 3), Periodic("1/2", "1/10", 2), False),
    (Delayed("1/2", "1/10", 2), Feedback("1/2", "1/10"), True),
    (Feedback("1/2", "1/10"), Delayed("1/2", "1/10", 2), False),
    (Generalised("1/2", "1/10", "1/3"), Actual("1/2"), True),
    (Actual(0), Actual("1/2"), True),
    (Actual("1/2"), Feedback("3/5", 0), False),  # feedback with d = 0 never fails
    (Feedback("2/3", "1/100"), Actual("1/2"), False),  # only the far tail is larger
    (Feedback("1/2", "1/2"), Actual("1/2"), True),
]


@pytest.mark.parametrize(("first", "second", "smaller"), ORDERS)
def test_stochastic_orders_agree_with_many_levels(first, second, smaller):
    found = stochastic_order(first, second)
    assert found.smaller is smaller
    one, two = age_law(first), age_law(second)
    assert all(one.ccdf(j) <= two.ccdf(j) for j in range(60)) is smaller
    if found.level is not None:
        assert one.ccdf(found.level) > two.ccdf(found.level)


def test_order_of_coded_schemes_in_balls():
    code = Code("rpc", 1000, 700, "3/10", 500)
    assert stochastic_order(Feedback(code.actual, code.differential), Actual(code.actual)).smaller
    model = find("age.feedback")
    words = {"code": "rpc", "n": "10", "m": "6", "k": "2", "eps": "1/4"}
    fed = model.make(words)
    plain = find("age.actual").make({x: w for x, w in words.items() if x != "k"})
    assert order(fed, plain).smaller
    assert compare(plain, fed, quantity="age_mean").lower > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: best_parameter(m, {"p": "1/2", "d": "0", "q": "1"}, over=("q", 0, 3), minimise="slot_mean"), "both"),
        (lambda m: best_parameter(m, {"d": "0", "q": "1"}, over=("p", 0, 1), minimise="slot_mean"), "no integer"),
        (lambda m: best_parameter(m, {"p": "1/2", "d": "0"}, over=("q", 3, 1), minimise="slot_mean"), "lower one"),
        (lambda m: best_parameter(m, {"p": "1/2", "d": "0"}, over=("q", 0, 1), minimise="slot_pmf"), "cannot be"),
        (lambda m: switching_points(m, {}, over=("q", 0, 1), along=("n", 1, 2), minimise="slot_mean"), "no real"),
        (lambda m: stochastic_order(Cyclic(("actual",), ((0, 0),)), Actual(0)), "closed form"),
        (lambda m: break_even_cost(Feedback(0, 0), delivery="never"), "delivery"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call(find("age.periodic"))


def test_markov_thresholds_share_their_best_for_every_metric():
    source = named_source("reflected8")

    def make(k: int) -> Design:
        code = Code("rpc", 10, 3, "2/5", k)
        word = ["0", "-1..0", "-2..1", "all"][k]
        return Design(Markov(code.actual, code.differential, source, window(word)), Sampling(10))

    found = {
        q: best(make, range(4), quantity=q).arguments for q in ("age_mean", "age_variance", "peak_mean", "failure")
    }
    assert len(set(found.values())) == 1
