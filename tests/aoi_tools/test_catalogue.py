"""The age models as users call them: text in, results or one clear line out."""

import pytest
from flint import fmpq

from exactchains import DoesNotExist, InputError
from proofs_check.catalogue import find

CODE = {"code": "rpc", "n": "10", "m": "4", "k": "2", "eps": "1/4"}


def solved(model: str, quantity: str, digits: int = 20, **words: str):
    entry = find(model)
    return entry.results(entry.make(words), [quantity], [0], digits)[0]


def test_text_half_is_one_half():
    result = solved("age.feedback", "slot_mean", p="0.5", d="0.1")
    assert str(result.value) == "1/3" and result.status == "exact" and result.method


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        ("age.feedback", {"p": "1.5", "d": "1/10"}, "p = 1.5"),
        ("age.feedback", {"p": "1/2"}, "missing: d"),
        ("age.feedback", {}, "needs p and d, or code"),
        ("age.feedback", CODE | {"p": "1/2"}, "contradict"),
        ("age.feedback", CODE | {"k": "5"}, "k = 5"),
        ("age.feedback", CODE | {"m": "11"}, "m = 11"),
        ("age.feedback", CODE | {"n": "-3"}, "n = -3"),
        ("age.feedback", CODE | {"q": "1"}, "no parameter 'q'"),
        ("age.feedback", {"code": "rpc", "n": "10"}, "missing: m, k, eps"),
        ("age.actual", CODE | {"k": "9"}, "k = 9"),  # read and checked, though this scheme sends none
        ("age.actual", {"p": "1/2", "d": "3/2"}, "d = 3/2"),
        ("age.actual", {"p": "1/2", "alpha": "1/2"}, "no parameter 'alpha'"),
        ("age.periodic", {"p": "1/2", "d": "1/2"}, "needs q"),
        ("age.periodic", {"p": "1/2", "d": "1/2", "q": "1/2"}, "q = 1/2"),
        ("age.generalised", {"p": "1/2", "d": "1/2", "alpha": "2"}, "alpha = 2"),
        ("age.actual", {"p": "1/2", "sampling": "hourly"}, "sampling"),
    ],
)
def test_one_clear_line(model, words, message):
    with pytest.raises(InputError, match=message) as error:
        find(model).make(words)
    assert "\n" not in str(error.value)


def test_age_needs_a_length_and_unknown_quantities_are_refused():
    with pytest.raises(InputError, match="needs the codeword length n"):
        solved("age.actual", "age_mean", p="1/2")
    with pytest.raises(InputError, match="has no quantity"):
        solved("age.actual", "slot_median", p="1/2")
    assert str(solved("age.actual", "age_mean", p="1/2", n="3").value) == "7"


def test_no_law_at_p_one():
    with pytest.raises(DoesNotExist, match="no age law exists"):
        solved("age.feedback", "slot_mean", p="1", d="1/2")


def test_far_code():
    words = {"code": "rpc", "n": "10000", "m": "7000", "k": "100", "eps": "3/10"}
    assert solved("age.feedback", "slot_mean", 30, **words).enclosure.has_digits(30)
    assert solved("age.periodic", "slot_variance", 30, q="10000", **words).enclosure.has_digits(30)


def test_heavy_erasures_show_a_positive_gain():
    """(40, 30, 20, 7/10): the gain is 5e-12 of the age; 30 digits of both means separate them."""
    words = {"code": "rpc", "n": "40", "m": "30", "eps": "7/10"}
    plain = solved("age.actual", "age_mean", 30, **words)
    fed = solved("age.feedback", "age_mean", 30, k="20", **words)
    assert fed.upper < plain.lower
    near = words | {"eps": "0." + "9" * 30}
    assert solved("age.actual", "age_mean", 30, **near).enclosure.has_digits(30)


@pytest.mark.parametrize("cost", [0, 1, 3, 4, 9])
def test_costed_feedback_pays_exactly_below_the_break_even_cost(cost):
    words = {"p": "1/2", "d": "1/10", "n": "10"}
    costed, actual = find("age.costed"), find("age.actual")
    with_cost = costed.results(costed.make({**words, "cost": str(cost)}), ["age_mean"], [], 20)[0]
    without = actual.results(actual.make({"p": "1/2", "n": "10"}), ["age_mean"], [], 20)[0]
    gain, mean = fmpq(2, 5) / fmpq(3, 5), fmpq(1, 3)  # D/(1-D) and the mean slot age with feedback
    assert (with_cost.value < without.value) == (fmpq(cost, 10) < gain / (fmpq(3, 2) + mean))
    assert with_cost.value == fmpq(10 + cost - 1, 2) + (10 + cost) * (1 + mean)
