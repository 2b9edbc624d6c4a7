"""Figures: what they show is what the table says; the same bytes every time; no label lost."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from flint import fmpq

from exactchains.domain import Rigor
from exactchains.enclosure import Enclosure
from exactchains.truth import InputError
from meanfield.finite import labelled_chain
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.cli.plot import plotted
from proofs_check.plots import fields, paths
from proofs_check.plots.arrows import draw_fields
from proofs_check.plots.figure import MAX_SERIES, figure
from proofs_check.tables.evaluation import table
from proofs_check.tables.spec import from_text, spec
from proofs_check.tables.table import Cell

TAIL = """
title = "Tail"
[parameters]
p = "1/10"
[rows]
d = ["1/20", "1/5"]
index = "0..30 step 10"
[[columns]]
model = "age.feedback"
quantity = "slot_ccdf"
heading = "tail"
[[columns]]
model = "age.feedback"
quantity = "slot_mean"
heading = "mean"
[plot]
x = "index"
y_scale = "log"
"""


def test_a_figure_shows_the_table():
    asked = from_text(TAIL)
    made = table(asked)
    shown = figure(asked, made)
    assert [panel.label for panel in shown.panels] == ["tail of the slot age", "mean slot age (slots)"]
    tail = shown.panels[0]
    assert [s.label for s in tail.series] == ["tail, d = 0.05", "tail, d = 0.2"]
    for series, d in zip(tail.series, (0.05, 0.2), strict=True):
        for point, j in zip(series.points, (0, 10, 20, 30), strict=True):
            assert point.x == j
            height = math.log10(d) - math.log10(0.9 + d) - j  # P(J > j) = d p^j / (1 - p + d)
            assert point.lower == pytest.approx(height, abs=1e-12) and point.lower == point.upper
            assert point.rigor is Rigor.EXACT


def test_probabilities_below_every_double_have_their_place():
    asked = from_text(TAIL.replace('"0..30 step 10"', '"4000..4001"').replace('heading = "mean"\n', ""))
    points = figure(asked, table(asked)).panels[0].series[0].points
    assert points[0].lower == pytest.approx(math.log10(0.05 / 0.95) - 4000)
    assert points[1].lower - points[0].lower == pytest.approx(-1)


def test_enclosures_keep_their_width_and_gaps_stay_gaps():
    asked = from_text(TAIL.replace('y_scale = "log"', ""))
    made = table(asked)
    wide = Cell.number(Enclosure(fmpq(1, 4), fmpq(1, 2), Rigor.ENCLOSED))
    rows = [list(row) for row in made.rows]
    rows[0][2], rows[1][2] = wide, Cell(note="nothing")
    points = figure(asked, replace(made, rows=tuple(map(tuple, rows)))).panels[0].series[0].points
    assert (points[0].lower, points[0].upper, points[0].rigor) == (0.25, 0.5, Rigor.ENCLOSED)
    assert points[1] is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('x = "index"', 'x = "p"'), "plot.x: allowed are d | index"),
        (('y_scale = "log"', 'y_scale = "square"'), "plot.y_scale: allowed are linear | log"),
        (('y_scale = "log"', "colour = 1"), "plot.colour: unknown key"),
    ],
)
def test_a_wrong_plot_section_names_key_and_line(change, says):
    with pytest.raises(InputError) as error:
        from_text(TAIL.replace(*change))
    assert says in str(error.value) and "line " in str(error.value)


def test_closed_forms_are_no_figure():
    asked = spec("P5.closed-forms")
    with pytest.raises(InputError, match="axis of numbers"):
        figure(asked, table(asked))


def test_too_many_lines_are_refused():
    asked = from_text(TAIL.replace('["1/20", "1/5"]', '"0..1 step 1/10"'))
    with pytest.raises(InputError, match=f"11 lines of .*; at most {MAX_SERIES}"):
        figure(asked, table(asked))


# Drawn


@pytest.fixture
def drawing():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from proofs_check.plots import drawing

    return drawing


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_two_runs_give_the_same_bytes(drawing, ending: str, tmp_path):
    asked = from_text(TAIL)
    shown = figure(asked, table(asked))
    for name in ("a", "b"):
        drawing.draw(shown, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


def test_svg_has_all_labels_inside_the_canvas(drawing, tmp_path, monkeypatch):
    monkeypatch.setitem(drawing.STYLE, "svg.fonttype", "none")  # text as text
    asked = replace(from_text(TAIL), title="A very long title that goes on and on " * 4 + "with $x_1^2 and $y")
    drawing.draw(figure(asked, table(asked)), tmp_path / "f.svg")
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for wanted in ("tail, d = 0.05", "mean slot age (slots)", "j (slots)", "all values exact"):
        assert any(wanted in text for text in texts), (wanted, texts)
    assert any("$x_1^2 and $y" in text for text in texts)
    assert "10⁻²⁰" in texts and not any("step" in text for text in texts)


def test_series_differ_without_colour(drawing):
    assert len(set(map(str, drawing.DASHES))) == len(drawing.DASHES) >= MAX_SERIES
    assert len(set(drawing.MARKS)) >= MAX_SERIES and len(set(drawing.COLOURS)) >= MAX_SERIES


@pytest.mark.parametrize(
    ("k", "e", "text"), [(1, 0, "1"), (2, 3, "2000"), (5, -3, "0.005"), (1, -24, "10⁻²⁴"), (2, 7, "2·10⁷")]
)
def test_powers(drawing, k: int, e: int, text: str):
    assert drawing._power(k, e, plain=abs(e) <= 4) == text


def test_an_axis_spells_all_its_powers_out_or_none(drawing):
    assert drawing._power(1, 3, plain=False) == "10³" and drawing._power(1, 0, plain=False) == "1"


def test_command(drawing, tmp_path):
    listed = CliRunner().invoke(cli, ["plot"])
    assert {line.split()[0] for line in listed.output.splitlines()} == set(plotted()) >= {"P6.slot-age-tail"}
    file = tmp_path / "t.toml"
    file.write_text(TAIL, encoding="utf-8")
    done = CliRunner().invoke(cli, ["plot", str(file), "--out", str(tmp_path / "t.svg")])
    assert done.exit_code == 0 and (tmp_path / "t.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert not re.search(r"<dc:date>", (tmp_path / "t.svg").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["P6.slot-age-tail"], "give --out FILE"),
        (["P6.slot-age-tail", "--out", "x.jpg"], ".svg, .pdf, .png"),
        (["P6.slot-age-tal", "--out", "x.svg"], "did you mean P6.slot-age-tail"),
        (["--all"], "--out DIR"),
    ],
)
def test_command_errors(words: list[str], says: str, drawing):
    result = CliRunner().invoke(cli, ["plot", *words])
    assert result.exit_code == 2 and says in result.output


# Paths

AGES = """
slots = 200
seed = 7
[[paths]]
model = "age.feedback"
parameters = { n = 10, p = "1/2", d = "1/10" }
"""
FLUID = """
until = 60
[[paths]]
model = "pod.load-independent"
parameters = { d = 2, eps = 0, lam = "1/2" }
start = ["1", "1"]
"""


def test_a_path_of_ages_rises_with_time_and_falls_to_one_codeword():
    shown = paths.drawn(paths.from_text(AGES))
    points = shown.panels[0].series[0].points
    assert len(points) == 400 and "seed 7; nothing is proved" in shown.note
    for start, end in zip(points[::2], points[1::2], strict=True):
        assert end.x - start.x == end.lower - start.lower == 10
    for end, start in zip(points[1::2], points[2::2], strict=False):
        assert start.x == end.x and start.lower in (end.lower, 10)
    assert all(p.rigor is Rigor.ESTIMATE for p in points)
    again = paths.drawn(paths.from_text(AGES))
    assert again == shown != paths.drawn(paths.from_text(AGES.replace("seed = 7", "seed = 8")))


def test_a_mean_field_runs_from_its_start_to_the_fixed_point():
    points = paths.drawn(paths.from_text(FLUID)).panels[0].series[0].points
    assert points[0].lower == 2
    fixed = sum(0.5 ** (2**k - 1) for k in range(1, 10))  # tails of two choices: lam^(2^k - 1)
    assert points[-1].lower == pytest.approx(fixed, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (AGES.replace("slots = 200", "slots = 2001"), "line 2: slots: an integer from 0 to 2000"),
        (AGES.replace("slots = 200", ""), "slots: give slots (for ages) or until"),
        (AGES.replace("seed = 7", "sed = 7"), "line 3: sed: unknown key; did you mean seed?"),
        (AGES.replace("age.feedback", "age.feedbak"), "line 5: paths[0].model: model 'age.feedbak' is not known"),
        (AGES.replace('p = "1/2"', 'p = "3/2"'), "line 6: paths[0].parameters: p = 3/2"),
        (FLUID.replace('["1", "1"]', "1"), "line 6: paths[0].start: a list of tails"),
        ("slots = 5\n", "paths: from 1 to 8 [[paths]]"),
    ],
)
def test_a_wrong_picture_of_paths_names_key_and_line(text: str, says: str):
    with pytest.raises(InputError) as error:
        paths.from_text(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (AGES.replace("n = 10, ", ""), "no age in channel uses"),
        (AGES.replace("slots = 200", "until = 5"), "no mean field"),
        (FLUID.replace("until = 60", "slots = 5"), "no age in channel uses"),
        (FLUID.replace('["1", "1"]', '["1/2", "1"]'), "start: tails fall"),
    ],
)
def test_paths_of_the_other_kind_are_refused(text: str, says: str):
    with pytest.raises(InputError, match=says):
        paths.drawn(paths.from_text(text))


@pytest.mark.parametrize("name", [name for name, place in paths.recipes().items() if paths.paths(place)])
def test_shipped_paths_are_drawn_from_the_same_points_each_time(drawing, name: str, tmp_path, monkeypatch):
    out, figures = tmp_path / "p.svg", []

    def kept(made, path):
        figures.append(made)
        drawing.draw(made, path)

    monkeypatch.setattr("proofs_check.cli.plot.draw", kept)
    assert CliRunner().invoke(cli, ["plot", name, "--out", str(out)]).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert figures == [paths.drawn(paths.paths(paths.recipes()[name]))]


# Drift fields

PAIR = """
most = 2
[[fields]]
model = "sed"
parameters = { pools = "1/2:3/2,1/2:1/2", lam = "1/2", n = 2 }
"""


@pytest.mark.parametrize("model", ["jsq", "sa-jsq", "jiq", "sa-jiq", "sed"])
def test_a_drift_is_that_of_the_chain(model: str):
    words = {"pools": "1/2:3/2,1/2:1/2", "lam": "2/5", "n": "2"}
    policy = find(model).make(words).policy
    states, chain = labelled_chain(policy, n=2, buffer=6)
    for i, state in enumerate(states):
        if max(state) < 6:  # at the buffer the chain loses jobs
            moves = [(states[j], rate) for j, rate in chain.rows[i].items() if j != i]
            change = tuple(sum((rate * (to[k] - state[k]) for to, rate in moves), fmpq(0)) for k in range(2))
            assert change == fields.pair_drift(policy, *state), (model, state)


def test_a_drift_field_has_an_arrow_a_state_and_says_what_it_shows(drawing, tmp_path, monkeypatch):
    monkeypatch.setitem(drawing.STYLE, "svg.fonttype", "none")
    made = fields.drawn(fields.from_text(PAIR))
    assert len(made.fields[0].arrows) == 9
    draw_fields(made, tmp_path / "f.svg")
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert "jobs at the server of speed 3/2" in text and "exact drift" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("most = 2", "most = 99"), "line 2: most"),
        (("n = 2", "n = 4"), "n = 2"),
        (('"sed"', '"random"'), "sees both servers"),
        (('"sed"', '"age.actual"'), "fields[0].parameters"),
        (("[[fields]]", "[[fields]]\ncolour = 1"), "line 4: fields[0].colour: unknown key"),
    ],
)
def test_a_wrong_drift_field_names_key_and_line(change: tuple[str, str], says: str):
    with pytest.raises(InputError) as caught:
        fields.from_text(PAIR.replace(*change))
    assert says in str(caught.value)
