"""The age models as users call them: text in, results or one clear line out."""

import pytest
from click.testing import CliRunner
from flint import arb, fmpq

from exactchains import Balls, DoesNotExist, InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.design import best_parameter, switching_points
from proofs_check.cli.main import cli

CODE = {"code": "rpc", "n": "10", "m": "4", "k": "2", "eps": "1/4"}

WALK = {"p": "1/2", "d": "1/10", "source": "cyclic-walk:8,1/4,1/4"}


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
        ("age.actual", {"p": "1/2", "level": "1"}, "level = 1: exact number from 0 to below 1"),
        ("age.actual", {"p": "1/2", "level": "2"}, "level = 2: exact number from 0 to below 1"),
        ("age.periodic", {"p": "1/2", "d": "1/2", "q": "100001"}, "q = 100001: integer from 0 to 100000"),
        ("age.feedback", CODE | {"n": "1e20"}, "n = 100000000000000000000: .* from 1 to 100000"),
        ("age.markov", WALK | {"window": "5"}, "window = 5 never matches: .* integers from -4 to 3"),
        ("age.markov", WALK | {"source": "reflected-walk:1000000,1/4,1/4,1/10", "window": "0"}, "at most 5000000"),
        ("age.markov", WALK | {"source": "two-regime:900000,1/4,0,0", "window": "0"}, "at most 5000000"),
        ("mg1", {"lam": "1/9", "service": "erlang:1000000,1"}, "phases = 1000000: an integer from 1 to 1000"),
        ("age.markov", WALK | {"window": "0.5"}, "window = 1/2 never matches"),
        ("age.markov", WALK | {"window": "1e9..2e9"}, "from -4 to 3"),
        ("age.markov", WALK | {"source": "reflected8", "window": "-9,8"}, "of this source .* from -7 to 7"),
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


def test_windows_that_match_are_kept():
    for word in ("0", "-4", "2..1000", "all", "xor:1", "5,0"):
        assert solved("age.markov", "slot_mean", **WALK, window=word).status == "exact"


def test_far_indices_are_answered_or_refused():
    def at(quantity: str, index: int, **words: str):
        model = find("age.feedback")
        return model.results(model.make({"p": "1/2", "d": "1/10"} | words), [quantity], [index], 20)[0]

    far = at("slot_ccdf", 1_000_000)  # (1/6) 2^-1000000
    assert far.enclosure.has_digits(20) and far.enclosure.digits(6).endswith("e-301031")
    assert at("slot_moment", 1000).enclosure.has_digits(20)
    for quantity, index in (("slot_ccdf", 10**9), ("slot_moment", 10**5)):
        with pytest.raises(InputError, match=f"index = {index}"):
            at(quantity, index)
    with pytest.raises(InputError, match="too small or too large"):
        at("slot_ccdf", 900_000, p="1e-30")


def test_estimates_print_as_estimates_and_do_not_underflow():
    """Far from capacity the failure is e^{-z^2/2} / (z sqrt(2 pi)) up to the factor 1 - 1/z^2."""
    words = {"code": "normal", "n": "10000", "m": "1000", "eps": "3/10"}
    found = solved("age.actual", "failure", **words)
    assert found.status == "estimate" and found.lower == found.upper > 0
    run = CliRunner().invoke(
        cli, ["solve", "age.actual", *(f"{k}={v}" for k, v in words.items()), "--quantity", "failure"]
    )
    assert run.exit_code == 0 and "~9.11407364153741e-3726  (estimate)" in run.output
    with Balls(100).working():
        z = 6000 / arb(2100).sqrt()
        rough = (-z * z / 2).exp() / (z * (2 * arb.pi()).sqrt())
        assert abs(arb(found.lower) / rough - 1) < 1 / (z * z)


def test_best_is_bounded_and_names_ends_without_a_law():
    model, words = find("age.actual"), {"code": "rpc", "eps": "1/4", "m": "8"}
    with pytest.raises(InputError, match="at most 10000 candidates"):
        best_parameter(model, words, over=("n", 8, 10**9), minimise="age_mean")
    with pytest.raises(InputError, match="delay = 100000"):
        best_parameter(find("age.delayed"), {"p": "1/2", "d": "0"}, over=("delay", 0, 10**5), minimise="slot_mean")
    with pytest.raises(InputError, match="at most 100 candidates"):
        switching_points(model, {"code": "rpc", "m": "8"}, over=("n", 8, 500), along=("eps", 0, 1), minimise="age_mean")
    given = {"code": "mds", "n": "4", "m": "3"}
    pieces = switching_points(
        find("age.feedback"), given, over=("k", 0, 2), along=("eps", "0", "1"), minimise="slot_mean"
    )
    assert [x for piece in pieces for x in piece.without_law] == [1] == list(pieces[-1].without_law)


def test_a_run_without_a_law_says_so(tmp_path):
    words = [
        "simulate",
        "age.feedback",
        "p=1",
        "d=1/2",
        "--seed",
        "1",
        "--length",
        "50",
        "--out",
        str(tmp_path / "a.csv"),
    ]
    assert "note: no age law exists" in CliRunner().invoke(cli, words).stderr


def test_sources_of_several_classes_name_both_spellings(tmp_path):
    path = tmp_path / "source.toml"
    path.write_text("matrix = [[1, 0], [0, 1]]\n")
    with pytest.raises(DoesNotExist, match=r"class=STATE, in Python with restricted"):
        find("age.markov").make(WALK | {"source": str(path), "window": "0"})
