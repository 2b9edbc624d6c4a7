"""Every code point and scheme of the independent reference file, through the catalogue that users see."""

import json
from pathlib import Path

import pytest

from exactchains import Balls
from exactchains.number import parse
from proofs_check.catalogue import find

DATA = json.loads((Path(__file__).parent.parent / "data" / "aoi_values.json").read_text())
DIGITS = 40

SCHEMES = {
    "TU": ("age.actual", {}),
    "DF": ("age.feedback", {}),
    "GI alpha=1/2": ("age.generalised", {"alpha": "1/2"}),
    "GI alpha=9/10": ("age.generalised", {"alpha": "9/10"}),
    **{f"DN q={q}": ("age.periodic", {"q": str(q)}) for q in (1, 2, 5, 20)},
}
NAMES = {
    "slot_mean": "slot_mean",
    "slot_var": "slot_variance",
    "decoding_failure": "failure",
    "inter_success_mean": "gap_mean",
    "inter_success_second_moment": "gap_second_moment",
    "bit_mean_age": "age_mean",
    "bit_var_age": "age_variance",
    "bit_mean_peak_age": "peak_mean",
}


def agrees(result, expected: str, digits: int = DIGITS) -> None:
    """The enclosure has the digits, and the reference (50 digits, rounded) is that close to it."""
    value = parse(expected)
    assert result.enclosure.has_digits(digits)
    slack = abs(value) / 10**digits
    assert result.lower - slack <= value <= result.upper + slack, (result.quantity, result.index)


def words(point: dict, model: str, extra: dict) -> dict[str, str]:
    given = {"code": "rpc", "n": str(point["n"]), "m": str(point["m"]), "eps": point["eps"], **extra}
    return given if model == "age.actual" else given | {"k": str(point["k"])}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("point", DATA["points"], ids=lambda p: p["point"])
def test_scheme_at_code_point(point, scheme):
    name, extra = SCHEMES[scheme]
    model, expected = find(name), point["schemes"][scheme]
    thing = model.make(words(point, name, extra))
    for key, quantity in NAMES.items():
        agrees(model.results(thing, [quantity], [], DIGITS)[0], expected[key])
    for result in model.results(thing, ["slot_pmf"], range(8), DIGITS):
        agrees(result, expected["slot_pmf"][result.index])
    fluid = model.make(words(point, name, extra) | {"sampling": "fluid"})
    agrees(model.results(fluid, ["age_mean"], [], DIGITS)[0], expected["fluid_mean_age"])


@pytest.mark.parametrize("point", DATA["codes"], ids=lambda p: p["point"])
@pytest.mark.parametrize("family", ["rpc", "rlg", "mds"])
def test_failure_probability_of_every_family(point, family):
    model = find("age.actual")
    for bits, key in (("m", "p_m"), ("k", "p_k")):
        given = {"code": family, "n": str(point["n"]), "m": str(point[bits]), "eps": point["eps"]}
        agrees(model.results(model.make(given), ["failure"], [], DIGITS)[0], point[family][key])


@pytest.mark.parametrize("point", DATA["points"], ids=lambda p: p["point"])
def test_both_sides_of_the_failure_probability_in_balls(point):
    scheme = find("age.feedback").make(words(point, "age.feedback", {})).scheme
    for word, key in ((scheme.actual, "m"), (scheme.differential, "k")):
        fate = word.over(Balls(256))
        for ball, expected in ((fate.failure, point[f"p_{key}"]), (fate.success, point[f"one_minus_p_{key}"])):
            value = parse(expected)
            assert abs(ball.mid().fmpq() - value) <= abs(value) / 10**48
            assert ball.rad().fmpq() <= abs(value) / 10**70  # no cancellation: 77 digits were carried
