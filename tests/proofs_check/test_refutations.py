"""Refuted claims: the smallest counterexample, where the claim fails exactly, and maps of certified cells."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from aoi_tools.models.markov import Markov
from aoi_tools.models.schedules import SideInformation
from aoi_tools.models.schemes import Actual, Cyclic, Periodic
from aoi_tools.models.windows import window
from aoi_tools.solvers.age import age_law
from aoi_tools.solvers.lengths import age_with_lengths, periodic_with_lengths
from exactchains.domain import QQ
from exactchains.truth import InputError
from proofs_check.check import document
from proofs_check.check.exact import Rejected
from proofs_check.claim import Verdict
from proofs_check.claims.age.gain_bound import gain_and_bound, rotation, two_states
from proofs_check.cli.main import cli
from proofs_check.plots import maps as figures
from proofs_check.plots import paths
from proofs_check.refutations.maps import SLICES, Label, by_sign, known, region, slice_of
from proofs_check.refutations.response import worse_than_random
from proofs_check.refutations.smallest import fractions, smallest
from proofs_check.registry import claims
from proofs_check.verify import check_against, stored

REFUTED = [name for name, c in claims().items() if c.expected is Verdict.REFUTED]
inner = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
AT = {
    "age.headline.equal-lengths-needed": ("codewords of 2 and 1, q = 1, p = 0, d = 0", 0, 0),
    "age.headline.iid-needed": ("even slots p = 0, d = 0; odd slots p = 1, d = 0", 2, 0),
    "age.headline.memoryless-decoding-needed": ("n = 2, 2 bits, 1 unknown, eps = 0", 4, 4),
    "age.markov.gain-lower-bound.asymmetric-window": ("matrix [[0, 1], [1, 0]], window {-1,0}, D = 1/2", 3, 0),
    "age.markov.gain-lower-bound.non-reversible": (
        "matrix [[0, 1, 0], [0, 0, 1], [1, 0, 0]], window {-1,0,1}, D = 1/2",
        7,
        0,
    ),
    "noisy.independent.worse-beyond-one-over-d": ("d = 3, eps = 2/5, lam = 1/2", 10, 0),
}


def test_every_refuted_claim_says_where_it_fails_and_has_a_search_a_map_and_a_figure():
    mapped = {asked.claim for place in paths.recipes().values() if (asked := figures.wanted(place))}
    assert set(REFUTED) == set(AT) == set(SLICES) == mapped
    assert all(claims()[name].fails for name in REFUTED)
    assert smallest("age.feedback.gain") is None
    assert slice_of("age.feedback.gain") is None


@pytest.mark.parametrize("name", REFUTED)
def test_nothing_before_the_smallest_counterexample_is_one(name):
    found = smallest(name)
    assert (found.at, found.before, found.lawless) == AT[name]


def test_fractions_are_those_with_small_denominators():
    assert fractions(3) == [0, Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), 1]


def test_simpler_loads_and_errors_are_worse_than_random_by_plain_recursion():
    """x_(k+1) = lam h(x_k) in doubles, far from ties: none but eps = 2/5 beats random with denominators up to 5."""
    better = set()
    for eps, lam in product(fractions(5), repeat=2):
        if 3 * eps > 1 and 0 < lam < 1 and 3 * eps * lam < 1:
            x, total = float(lam), 0.0
            while x > 1e-12:
                total, x = total + x, float(lam) * (float(1 - eps) * x**3 + float(eps) * (1 - (1 - x) ** 3))
            gap = total - float(lam / (1 - lam))
            assert abs(gap) > 1e-4
            assert worse_than_random(3, eps, lam) is (gap > 0)
            better |= {(eps, lam)} if gap < 0 else set()
    assert {eps for eps, _ in better} == {Fraction(2, 5)}
    assert min(lam.numerator + lam.denominator for _, lam in better) == 3  # lam = 1/2


@given(inner, inner, st.fractions(Fraction(-9, 10), Fraction(9, 10), max_denominator=20))
@settings(max_examples=30)
def test_gain_and_bound_are_those_of_the_scheme(a, b, D):
    p, d = (D, 0) if D >= 0 else (Fraction(0), -D)
    for source, small in ((two_states(str(a), str(b), QQ), "-1..0"), (rotation(str(a), QQ), "-1..1")):
        gain, bound = gain_and_bound(source, small, str(D), QQ)
        chosen = window(small)
        markov = age_law(Markov(str(p), str(d), source, chosen), method="chain").mean()
        assert gain == age_law(Actual(str(p))).mean() - markov
        assert (gain < bound) is ((D != 0) if source.size == 2 else fails_turning(a, D, gain < bound))


def fails_turning(u, D, found):
    return (2 * u - 1) ** 2 * (3 + 4 * D) > 1 if D > 0 else found  # the region is stated for D > 0


def direct(name, x, y):
    """Whether the claim fails at one point, by the mode chains of the schemes."""
    x, y = str(x), str(y)
    if name == "age.headline.equal-lengths-needed":
        return periodic_with_lengths(Periodic(x, y, 1), 2, 1).mean < age_with_lengths(Actual(x), [2]).mean
    if name == "age.headline.iid-needed":
        slots = ((0, 0), (x, y))
        return age_law(Cyclic(("actual", "differential"), slots)).mean() < age_law(Cyclic(("actual",), slots)).mean()
    if name == "age.headline.memoryless-decoding-needed":
        return age_law(SideInformation(x, y)).mean() < age_law(Actual(x)).mean()
    if name.startswith("noisy"):
        return not worse_than_random(3, Fraction(y), Fraction(x))
    source = two_states(x, "1/3", QQ) if name.endswith("window") else rotation(x, QQ)
    gain, bound = gain_and_bound(source, "-1..0" if name.endswith("window") else "-1..1", y, QQ)
    return gain < bound


@pytest.mark.parametrize("name", REFUTED)
def test_a_label_holds_inside_its_cell(name):
    found = known(name)
    size = 6
    for i, row in enumerate(found.cells(size, size)):
        for j, label in enumerate(row):
            for share in (Fraction(1, 7), Fraction(5, 6)):
                x = found.across.low + (found.across.high - found.across.low) * (j + share) / size
                y = found.up.low + (found.up.high - found.up.low) * (i + 1 - share) / size
                if label is Label.OUTSIDE:
                    assert 3 * x * y >= 1
                elif label is not Label.UNDECIDED and (not name.startswith("noisy") or 3 * x * y < 1):
                    assert bool(direct(name, x, y)) is (label is Label.FAILS), (x, y)


@given(st.lists(st.integers(-4, 4), min_size=6, max_size=6), inner, inner)
@settings(max_examples=60)
def test_signs_on_cells_are_those_of_the_polynomial(c, u, v):
    text = f"({c[0]}) + ({c[1]})*x + ({c[2]})*y + ({c[3]})*x^2 + ({c[4]})*x*y + ({c[5]})*y^3"
    cell = ((Fraction(0), Fraction(1, 2)), (Fraction(1, 3), Fraction(1)))
    x, y = (low + (high - low) * t for (low, high), t in zip(cell, (u, v), strict=True))
    value = c[0] + c[1] * x + c[2] * y + c[3] * x * x + c[4] * x * y + c[5] * y**3
    label = by_sign(text, "x", "y")(cell)
    assert label is Label.UNDECIDED or (label is Label.FAILS) is (value > 0)


def test_cells_cover_the_box_and_the_undecided_ones_shrink():
    found = known("age.headline.equal-lengths-needed")
    shares = []
    for depth in (2, 4, 6):
        cells = list(found.refined(depth))
        areas = [((x[1] - x[0]) * (y[1] - y[0]), label) for (x, y), label in cells]
        assert sum(area for area, _ in areas) == 1
        shares.append(sum(area for area, label in areas if label is Label.UNDECIDED))
    assert shares[0] > shares[1] > shares[2] > 0
    assert shares[2] < Fraction(1, 40)


def test_the_polynomial_of_a_map_comes_from_the_certificate():
    certificate = document.read(stored("age.headline.iid-needed"))
    assert certificate["conclusion"]["parts"][-1]["statements"][0]["assume"]["e"][0] == "p-d"
    assert region("age.headline.iid-needed") == "p-d"
    with pytest.raises(InputError, match="does not say where it fails"):
        region("age.markov.same-best-threshold")
    with pytest.raises(InputError, match="no map"):
        known("age.feedback.gain")


def test_a_claim_that_expects_a_proof_cannot_rest_on_a_counterexample():
    c = claims()["age.headline.iid-needed"]
    certificate = document.read(stored(c.id))
    check_against(certificate, c)
    with pytest.raises(Rejected, match="a counterexample refutes"):
        check_against(certificate, replace(c, expected=Verdict.PROVED))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('map = "age.feedback.gain"', "line 1: map: age.feedback.gain: no map"),
        ('map = "age.headline.iid"', "line 1: map: no claim is called"),
        ('map = "age.headline.iid-needed"\ndepth = 10', "line 2: depth: an integer from 0 to 9"),
        ('map = "age.headline.iid-needed"\nx = 1', "line 2: x: unknown key"),
    ],
)
def test_a_wrong_map_names_key_and_line(text, says):
    with pytest.raises(InputError, match=says):
        figures.from_text(text)


def test_a_map_follows_the_edge_of_stability():
    depth = 5
    cells = [cell for cell, _ in known("noisy.independent.worse-beyond-one-over-d").refined(depth)]
    crossed = [(x, y) for x, y in cells if 3 * y[0] * x[0] < 1 < 3 * y[1] * x[1]]
    assert crossed
    assert all(x[1] - x[0] == Fraction(1, 2**depth) for x, _ in crossed)


def test_a_map_is_drawn_to_the_same_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    made = figures.drawn(figures.from_text('map = "age.headline.iid-needed"\ndepth = 3'))
    assert made.share(Label.FAILS) == made.share(Label.HOLDS) == 7 / 16
    for name in ("a.svg", "b.svg"):
        figures.draw_map(made, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_explain_shows_the_smallest_the_region_and_the_map_and_long_certificates_shortly():
    text = CliRunner().invoke(cli, ["explain", "age.markov.gain-lower-bound.non-reversible"]).output
    assert "(2u-1)^2 > 1/(3+4D)" in text
    assert "7 instances come before" in text
    rows = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    assert len(rows) == 12
    assert all(row == "|" + row[1:][::-1] and set(row) == set("|#?.") for row in rows)  # u and 1 - u alike
    long = CliRunner().invoke(cli, ["explain", "noisy.independent.where-worse"]).output
    assert "220 fixed-point" in long
    assert len(long.splitlines()) < 30
