"""Tables: every written number, read back from every format, encloses what its twin says; errors name their line."""

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from math import isqrt

import mpmath
import pytest
from click.testing import CliRunner
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import proofs_check
from exactchains.domain import Rigor
from exactchains.enclosure import Enclosure, Result
from exactchains.symbolic import Fractions
from exactchains.truth import InputError, PrecisionExhausted
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, Parameter, Quantity
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import constant
from proofs_check.cli.main import cli
from proofs_check.report.mathml import mathml
from proofs_check.store import Store
from proofs_check.tables import evaluation, latex, reader, sheet
from proofs_check.tables import spec as specs
from proofs_check.tables.evaluation import table, with_settings
from proofs_check.tables.formula import formula
from proofs_check.tables.notation import number_text, parameter_text
from proofs_check.tables.root import Root, root
from proofs_check.tables.sheet import FORMATS, written
from proofs_check.tables.spec import from_text, recipes, spec
from proofs_check.tables.table import NOTATIONS, Table
from proofs_check.tables.twin import twin
from tests.source import ROOT

NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:\(([0-9]+)\))?(?:e(-?[0-9]+))?")
SMALL = """
title = "Small"
digits = 9
[parameters]
p = "1/3"
[rows]
d = ["0", "1/7", "1/3", "1"]
[[columns]]
model = "age.feedback"
quantity = "slot_mean"
[[columns]]
model = "age.feedback"
quantity = "slot_mean"
heading = "exactly"
form = "fraction"
[[columns]]
model = "age.feedback"
quantity = "slot_ccdf"
heading = "tail"
index = 40
"""


# Reading numbers back, by notation and by format


def meaning(text: str, notation: str) -> tuple[Fraction, Fraction]:
    """Return the ends that a written number stands for."""
    if text.startswith("["):
        low, high = text.strip("[]").split(", ")
        return Fraction(low), Fraction(high)
    if "sqrt" in text:
        return square_root(text)
    if "/" in text:
        return Fraction(text), Fraction(text)
    match = NUMBER.fullmatch(text)
    assert match, text
    digits, spread, power = match[1], match[2], Fraction(10) ** int(match[3] or 0)
    unit = power / 10 ** len(digits.partition(".")[2])
    middle = Fraction(digits) * power
    if spread is not None:
        return middle - int(spread) * unit, middle + int(spread) * unit
    if notation != "truncated" or not middle:
        return middle, middle
    return (middle, middle + unit) if middle > 0 else (middle - unit, middle)


def square_root(text: str) -> tuple[Fraction, Fraction]:
    """Return ends, 1e-60 apart, of a number such as (3+2*sqrt(5))/4."""
    match = re.fullmatch(r"\(?(?:(-?[0-9]+)\+)?(?:([0-9]+)[* ]?)?sqrt\(([0-9]+)\)\)?(?:/([0-9]+))?", text)
    assert match, text
    p, s, q, r = int(match[1] or 0), int(match[2] or 1), int(match[3]), int(match[4] or 1)
    unit = 10**60
    middle = isqrt(s * s * q * unit**2)
    return Fraction(p * unit + middle, r * unit), Fraction(p * unit + middle + 1, r * unit)


def cells(text: str, form: str) -> list[list[str]]:
    """Return the cells of a written table, read with no code of the writers."""
    if form == "csv":
        return list(csv.reader(io.StringIO(text)))[1:]
    if form == "html":
        return html_cells(text)
    lines = text.splitlines()
    if form == "md":
        rows = [line for line in lines if line.startswith("| ")][2:]
        return [[cell.strip().replace("\\", "") for cell in row.strip("| ").split(" | ")] for row in rows]
    if form == "text":
        rule = next(i for i, line in enumerate(lines) if re.fullmatch(r"[- ]*-{2}[- ]*", line))
        rows = lines[rule + 1 : lines.index("", rule)]
        return [re.split(r"\s{2,}", row.strip()) for row in rows]
    body = "".join(part.split("\\bottomrule")[0] for part in text.split("\\midrule\n")[1:])
    return [[latex_cell(c) for c in re.sub(r" \\\\(\[2ex\])?$", "", row).split(" & ")] for row in body.splitlines()]


def latex_cell(cell: str) -> str:
    bare = cell.strip().removeprefix("{").removesuffix("}").replace("$", "")
    bare = re.sub(r"\\sqrt\{(\d+)\}", r"sqrt(\1)", bare.replace(r"\displaystyle ", ""))
    bare = re.sub(r"\\frac\{([^{}]*)\}\{(\d+)\}", r"(\1)/\2", bare)
    return re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", bare)


def html_cells(text: str) -> list[list[str]]:
    found: list[list[str]] = []

    class Reader(HTMLParser):
        inside = False

        def handle_starttag(self, tag, attrs):
            if tag == "tr":
                found.append([])
            if tag == "td":
                self.inside = True
                found[-1].append("")

        def handle_data(self, data):
            if self.inside:
                found[-1][-1] += data.strip()

        def handle_endtag(self, tag):
            self.inside = self.inside and tag != "td"

    text = re.sub(r"<msqrt><mrow>(.*?)</mrow></msqrt>", r"<mtext>sqrt(\1)</mtext>", text)
    text = re.sub(r"<mfrac><mrow>((?:(?!</mrow>).)*)</mrow><mrow>(<mn>\d+</mn>)</mrow></mfrac>", r"(\1)/\2", text)
    Reader().feed(text)
    return [row for row in found if row]


def assert_certain(made: Table) -> int:
    """Check every number of every format against the twin; return how many were checked."""
    data, count = json.loads(written(made, "json")), 0
    for form in FORMATS.keys() - {"json"}:
        rows = cells(written(made, form), form)
        assert len(rows) == len(data["rows"])
        for row, truth in zip(rows, data["rows"], strict=True):
            assert len(row) == len(truth)
            for text, cell, column in zip(row, truth, data["columns"], strict=True):
                if cell["lower"] is None:
                    continue
                as_is = column["given"] or column["form"] == "integer"
                as_is |= column["form"] in ("fraction", "root") and "." not in text
                low, high = meaning(text, "bracket" if as_is else made.notation)
                lower, upper = Fraction(cell["lower"]), Fraction(cell["upper"])
                inside = lower <= low <= high <= upper if "sqrt" in text else low <= lower <= upper <= high
                assert inside, (form, text, cell)
                assert cell["status"] != "exact" or cell["exact"] is None or lower == upper == Fraction(cell["exact"])
                if not column["given"] and lower:
                    assert high - low <= 3 * abs(lower) / 10 ** (made.digits - 1)
                count += 1
    return count


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_number_of_every_format_lies_in_the_twin(notation: str):
    made = table(with_settings(from_text(SMALL), digits=None, notation=notation))
    assert assert_certain(made) == 4 * 4 * 5


@cache
def sampled(name: str) -> Table:
    """Return a recipe with one or two values of each axis, closed forms whole."""
    asked = spec(name)
    if asked.symbols:
        return table(asked)
    few = {axis: values[:: (len(values) + 1) // 2 or 1] for axis, values in asked.rows.items()}
    slow = {"P2.few-servers": slice(2), "P2.crossings": slice(2, 3)}  # chains and crossings take long
    return table(replace(asked, rows=few, columns=asked.columns[slow.get(name, slice(None))]))


@pytest.mark.parametrize("name", [name for name in recipes() if not spec(name).symbols])
def test_shipped_recipes_are_certain(name: str):
    made = sampled(name)
    assert assert_certain(made) > 0
    assert not made.undecided
    assert made.title and (made.papers or name.startswith("classic."))


def test_shipped_recipes_fit_a_page_of_latex(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    bodies = [written(sampled(name), "latex") + rf"\typeout{{made {name}}}\clearpage" for name in recipes()]
    run = typeset(bodies, tmp_path)
    said = run.stdout.decode(errors="replace")
    assert run.returncode == 0, said[-2000:]
    assert "Overfull" not in said and "Float too large" not in said
    assert said.count("made P") + said.count("made classic") == len(bodies)


def test_the_first_recipe_agrees_with_mpmath():
    made = table(spec("P5.mean-age-eps"))
    with mpmath.workdps(60):
        for row in made.rows:
            eps = mpmath.mpf(int(row[0].enclosure.lower.p)) / int(row[0].enclosure.lower.q)
            p, d = parity_check_failure(100, 70, eps), parity_check_failure(100, 10, eps)
            x = {"actual": p, "feedback": d, "generalised": (p + d) / 2}
            slots = [u / ((1 - p) * (1 - p + u)) for u in x.values()]
            slots.append(periodic(p, d))
            for cell, slot in zip(row[1:], slots, strict=True):
                age = 100 * (1 + slot) + mpmath.mpf(99) / 2
                e = cell.enclosure
                for end in (e.lower, e.upper):
                    assert abs(mpmath.mpf(int(end.p)) / int(end.q) - age) < age * mpmath.mpf(10) ** -11


def parity_check_failure(n: int, m: int, eps: mpmath.mpf) -> mpmath.mpf:
    """Return 1 - sum over e of P(E = e) prod_{i<e} (1 - 2^(i-r)) at 60 digits."""
    r, good, full = n - m, mpmath.mpf(0), mpmath.mpf(1)
    for e in range(r + 1):
        good += mpmath.binomial(n, e) * eps**e * (1 - eps) ** (n - e) * full
        full *= 1 - mpmath.mpf(2) ** (e - r)
    return 1 - good


def periodic(p: mpmath.mpf, d: mpmath.mpf) -> mpmath.mpf:
    """Return the mean slot age for q = 1: u after an actual update, v after the differential one that follows it.

    v = a d 1 + p (v + 2): the first decoded and the second lost, or the first lost and both slots added to the v of
    the period before.  u = p (v + 1).
    """
    v = ((1 - p) * d + 2 * p) / (1 - p)
    return (p * (v + 1) + v) / 2


# Notations


ends = st.fractions(-1000, 1000, max_denominator=10**9)


@given(ends, st.integers(0, 60), st.integers(1, 15), st.sampled_from(list(NOTATIONS)))
def test_any_enclosure_lies_in_what_is_written(low: Fraction, narrow: int, digits: int, notation: str):
    lower = fmpq(low.numerator, low.denominator)
    upper = lower + fmpq(1, 2) ** narrow if narrow < 60 else lower
    e = Enclosure(lower, upper, Rigor.EXACT if lower == upper else Rigor.ENCLOSED)
    text = number_text(e, digits=digits, notation=notation)
    below, above = meaning(text, notation)
    assert below <= low and Fraction(int(upper.p), int(upper.q)) <= above


@pytest.mark.parametrize(
    ("lower", "upper", "truncated", "bracket", "interval"),
    [
        ("1/3", "1/3", "0.3333", "0.3333(1)", "[0.3333, 0.3334]"),
        ("7/2", "7/2", "3.500", "3.500", "3.500"),
        ("0", "0", "0", "0", "0"),
        ("-2/3", "-2/3", "-0.6666", "-0.6667(1)", "[-0.6667, -0.6666]"),
        ("99999/100000", "100001/100000", "1.000(1)", "1.000(1)", "[0.9999, 1.001]"),
        ("-1/10", "1/10", "[-0.100, 0.100]", "[-0.100, 0.100]", "[-0.100, 0.100]"),
        ("123456", "123457", "1.234e5", "1.235e5", "[1.234e5, 1.235e5]"),
    ],
)
def test_notations(lower: str, upper: str, truncated: str, bracket: str, interval: str):
    e = Enclosure.exact(lower) if lower == upper else Enclosure(*(Enclosure.exact(x).lower for x in (lower, upper)))
    found = [number_text(e, digits=4, notation=n) for n in NOTATIONS]
    expected = [truncated, "1.235(1)e5" if lower == "123456" else bracket, interval]
    assert found == expected


@pytest.mark.parametrize(
    ("value", "text"), [("1/20", "0.05"), ("3", "3"), ("1/3", "1/3"), ("-5/2", "-2.5"), ("1/10000000", "1/10000000")]
)
def test_inputs_are_written_as_they_are(value: str, text: str):
    assert parameter_text(Enclosure.exact(value).lower) == text


# What is not there


SHY = Model(
    "shy",
    "a model whose values stay uncertain",
    (Parameter("x", "x", "how shy", kind="integer"),),
    (Quantity("value", "v", "a value", "slots"),),
    lambda values: values["x"],
    lambda x, quantity, index, digits: shy(x, digits),
)


def shy(x: int, digits: int) -> Result:
    if x == 0:
        raise PrecisionExhausted(f"could not certify {digits} digits: 9")
    if x == 1:
        raise InputError("x = 1: nothing is there")
    if x == 2:
        return Result(Enclosure(fmpq(1), fmpq(10001, 10000), Rigor.ENCLOSED), method="balls")
    if x == 3:
        return Result(Enclosure.of(0.25), method="guess")
    return Result(Enclosure.exact(7), method="arithmetic")


@pytest.fixture
def shy_spec(monkeypatch) -> specs.Spec:
    for module in (specs, evaluation, reader):
        monkeypatch.setattr(module, "find", lambda name: SHY)
    return from_text('[rows]\nx = "0..4"\n[[columns]]\nmodel = "shy"\nquantity = "value"\n')


def test_what_is_undecided_or_does_not_exist_is_shown_with_its_reason(shy_spec):
    made = table(shy_spec)
    assert [row[1].status for row in made.rows] == ["undecided", "none", "enclosed", "estimate", "exact"]
    reasons = ("could not certify 12 digits: 9", "x = 1: nothing is there", "could not certify 12 digits: 5")
    for form in FORMATS:
        text = written(made, form)
        for reason in reasons:
            assert reason in text.replace("\\", ""), (form, reason)
        assert "undecided" in text and "~0.25" in text.replace(r"\sim ", "~").replace("$", "").replace("\\", "")
    assert set(made.undecided) == {reasons[0], reasons[2], "could not certify 12 digits: 0"}


def test_a_table_in_which_nothing_exists_is_an_error(shy_spec):
    with pytest.raises(InputError, match="no cell of this table exists: x = 1: nothing is there"):
        table(replace(shy_spec, rows={"x": ("1",)}))


def test_impossible_points_stay_visible():
    made = table(
        from_text(
            '[parameters]\ncode = "mds"\nn = 10\neps = "1/10"\n[rows]\nm = [5, 20]\n'
            '[[columns]]\nmodel = "age.actual"\nquantity = "slot_mean"\n'
        )
    )
    assert [row[1].status for row in made.rows] == ["exact", "none"]
    assert "20" in made.rows[1][1].note and "none [a]" in written(made, "text")


# Specifications


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('title = "Small"', "titel = 'Small'"), "line 2: titel: unknown key; did you mean title?"),
        (("digits = 9", "digits = 0"), "line 3: digits: an integer from 1 to 100000"),
        (("digits = 9", 'notation = "rounded"'), "line 3: notation: allowed are truncated | bracket | interval"),
        (('p = "1/3"', 'p = "3/2"'), "line 5: parameters.p: p = 3/2: exact number from 0 to 1"),
        (('p = "1/3"', "p = [1]"), "line 5: parameters.p: an exact number or text is needed"),
        (('p = "1/3"', 'p = "1/3"\nq = 1'), "line 6: parameters.q: no column takes this parameter"),
        (('p = "1/3"', 'p = "1/3"\nd = 0'), "line 6: parameters.d: given here and as an axis"),
        (('"1/7"', '"1/x"'), "line 7: rows.d: d = '1/x' is no number"),
        (('d = ["0", "1/7", "1/3", "1"]', 'd = "3..1"'), "line 7: rows.d: LO <= HI"),
        (('d = ["0", "1/7", "1/3", "1"]', "d = 5"), "line 7: rows.d: a list of values, or a range"),
        (('d = ["0", "1/7", "1/3", "1"]', 'd = ["0"]\nj = [1]'), "line 8: rows.j: no column takes this parameter"),
        (("slot_ccdf", "slot_cdf"), "line 18: columns[2].quantity: age.feedback has no quantity 'slot_cdf'"),
        (('heading = "tail"', "model = 'x'"), "not valid TOML"),
        (("index = 40", "index = -1"), "line 20: columns[2].index: an integer >= 0 is needed"),
        (('form = "fraction"', 'form = "float"'), "line 15: columns[1].form: allowed are decimal | fraction"),
        (('form = "fraction"', "index = 3"), "line 15: columns[1].index: slot_mean takes no index"),
        (("index = 40", ""), "line 6: rows: slot_ccdf takes an index"),
        (("index = 40", "parameters = { gamma = 1 }"), "line 20: columns[2].parameters: age.feedback has no parameter"),
        (("digits = 9", "digits = 9.0"), "line 3: digits"),
    ],
)
def test_an_error_in_a_specification_names_key_and_line(change: tuple[str, str], message: str):
    old, new = change
    assert SMALL.count(old) >= 1
    with pytest.raises(InputError) as error:
        from_text(SMALL.replace(old, new, 1) if old != "slot_ccdf" else SMALL.replace(old, new))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_floats_of_toml_are_the_decimals_they_spell():
    asked = from_text(SMALL.replace('["0", "1/7", "1/3", "1"]', "[0.1, 0.25]"))
    assert asked.rows["d"] == ("0.1", "0.25")
    assert table(asked).rows[0][0].enclosure == Enclosure.exact("1/10")


@pytest.mark.parametrize(
    ("spelled", "values"),
    [
        ("0..3 step 1", ("0", "1", "2", "3")),
        ("0..1 step 1/4", ("0", "1/4", "1/2", "3/4", "1")),
        ("0.1..0.3 step 0.1", ("1/10", "1/5", "3/10")),
        ("0..1 step 0.4", ("0", "2/5", "4/5")),
        ("7..7", ("7",)),
    ],
)
def test_ranges_are_exact(spelled: str, values: tuple[str, ...]):
    columns = '[[columns]]\nmodel = "mm1"\nquantity = "value"\n'
    text = f'[rows]\nx = "{spelled}"\n{columns}'
    assert reader.Reader("s", "s.toml", text)._rows({"x": spelled}) == {"x": values}


# Twin, stability, escaping


def test_the_twin_is_stable_and_its_hash_is_that_of_the_inputs():
    made, again = table(from_text(SMALL)), table(from_text(SMALL))
    for form in FORMATS:
        assert written(made, form) == written(again, form)
    data = twin(made)
    canonical = json.dumps(data["inputs"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert data["hash"] == hashlib.sha256(canonical.encode()).hexdigest()
    other = table(from_text(SMALL.replace('"1/7"', '"1/8"')))
    assert twin(other)["hash"] != data["hash"]
    assert "seconds" not in written(made, "json") and "python-flint" in data["versions"]


def test_outside_text_is_escaped_in_every_format():
    evil = 'a & <b> | $x$ \\\\input{x} % _ ^ ~ # "q"'
    asked = replace(from_text(SMALL), title=evil, note=evil)
    asked = replace(asked, columns=(replace(asked.columns[0], heading=evil), *asked.columns[1:]))
    made = table(asked)
    assert "<b>" not in written(made, "html") and "<b>" not in written(made, "md").replace(r"\<b\>", "")
    assert assert_certain(made) > 0
    tex = written(made, "latex")
    assert r"\input" not in tex and "$x$" not in tex and r"\textbackslash{}\textbackslash{}input\{x\} \% \_" in tex


def test_formulas_of_spreadsheets_are_inert():
    asked = from_text(SMALL)
    asked = replace(asked, columns=(replace(asked.columns[0], heading="=1+1"), *asked.columns[1:]))
    assert next(csv.reader(io.StringIO(written(table(asked), "csv"))))[1].startswith("'=1+1")


def test_numbers_line_up_at_the_point():
    assert sheet.aligned(["1.5", "12", "none [a]", "3.25", "[1, 2]"]) == ["1.5 ", "12   ", "none [a]", "3.25", "[1, 2]"]


def typeset(bodies: list[str], folder) -> subprocess.CompletedProcess:
    text = (
        r"\documentclass{article}\usepackage{booktabs,graphicx,rotating,siunitx}\begin{document}"
        + "\n".join(bodies)
        + r"\end{document}"
    )
    (folder / "t.tex").write_text(text, encoding="utf-8")
    return subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("notation", NOTATIONS)
def test_latex_compiles(notation: str, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    bodies = [written(table(with_settings(from_text(SMALL), digits=None, notation=notation)), "latex")]
    bodies.append(written(table(replace(from_text(SMALL), title=r"\evil{} $ & % # _ ^ ~ <>|\"")), "latex"))
    run = typeset(bodies, tmp_path)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]


def test_greek_letters_and_signs_compile_and_other_scripts_name_their_compiler(tmp_path):
    greek = written(table(replace(from_text(SMALL), title="".join(latex.SIGNS) + " Erdős–Rényi ß €")), "latex")
    assert latex.FOREIGN not in greek
    assert written(table(replace(from_text(SMALL), title="待ち行列")), "latex").startswith(latex.FOREIGN)
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    run = typeset([greek], tmp_path)
    assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]


def test_markdown_text_is_no_entity_formula_or_link():
    title = "a &lt;b&gt; $x$ [here](https://example.org) ~~gone~~"
    line = written(table(replace(from_text(SMALL), title=title)), "md").splitlines()[0]
    assert line == r"**a \&lt;b\&gt; \$x\$ [here\](https://example.org) \~\~gone\~\~**"


def test_a_table_that_would_be_scaled_too_small_is_turned():
    asked = from_text(SMALL)
    columns = tuple(replace(asked.columns[i % 2], heading=f"column {i}") for i in range(8))
    narrow, wide = (written(table(replace(asked, columns=c, digits=12)), "latex") for c in (asked.columns, columns))
    assert "sideways" not in narrow and "rotating" not in narrow
    assert wide.count(r"\begin{sidewaystable}") == wide.count(r"\end{sidewaystable}") == 1
    assert "rotating" in wide.splitlines()[0] and r"\begin{table}" not in wide


def test_a_long_table_goes_on_in_another():
    asked = replace(from_text(SMALL), rows={"d": tuple(f"{i}/100" for i in range(1, 80))})
    made = table(asked)
    text = written(made, "latex")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == text.count(r"\toprule") == 3
    assert text.count("(continued)") == 2
    assert [row[0] for row in cells(text, "latex")] == [row[0] for row in cells(written(made, "csv"), "csv")]


def test_latex_symbols():
    assert latex.symbol("P(J > j)") == r"$\mathrm{P}(J\,>\,j)$"
    assert latex.heading("eps") == r"$\varepsilon$"


# The command


@pytest.mark.parametrize("out", ["x.pdf", "missing/x.csv"])
def test_command_refuses_what_it_could_not_write_before_it_computes(monkeypatch, out):
    monkeypatch.setattr("proofs_check.cli.table.table", None)
    assert run("P5.mean-age-eps", "--out", out).exit_code == 2


def test_command_says_that_a_file_stands_where_a_folder_is_needed(tmp_path):
    (tmp_path / "all").touch()
    done = run("--all", "--out", str(tmp_path / "all"))
    assert done.exit_code == 2 and done.output.strip().endswith("a folder is needed; give another place")


def run(*words: str):
    return CliRunner().invoke(cli, ["table", *words])


def test_command_prints_lists_and_writes(tmp_path):
    assert "P5.mean-age-eps" in run().output
    file = tmp_path / "spec.toml"
    file.write_text(SMALL, encoding="utf-8")
    assert run(str(file)).output == written(table(spec(str(file))), "text")
    assert run(str(file), "--out", str(tmp_path / "x.tex")).exit_code == 0
    assert (tmp_path / "x.tex").read_text(encoding="utf-8").startswith("%")
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["table"] == "spec"
    assert run(str(file), "--out", str(tmp_path / "all")).exit_code == 0
    assert {path.suffix for path in (tmp_path / "all").iterdir()} == set(FORMATS.values())


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["P5.mean-age-epz"], 2, "did you mean P5.mean-age-eps"),
        (["missing.toml"], 2, "missing.toml"),
        (["--all"], 2, "--out DIR"),
        (["P5.mean-age-eps", "--out", "x.pdf"], 2, "names no format"),
        (["P5.mean-age-eps", "--out", "missing/x.csv"], 2, "no folder 'missing'"),
        (["P5.periodic-q", "--out", "x.csv", "--format", "latex"], 2, "contradicts --out x.csv"),
        (["nope"], 2, "'nope' is not known; `exaq table` lists all"),
        (["P5.mean-age-eps", "--digits", "0"], 2, "0"),
    ],
)
def test_command_errors_are_one_line(words: list[str], code: int, says: str):
    result = run(*words)
    assert result.exit_code == code
    assert says in result.output
    assert "--digits" in words or len(result.output.strip().splitlines()) == 1


def test_undecided_cells_end_in_exit_code_3(shy_spec, monkeypatch, tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[rows]\nx = "0..4"\n[[columns]]\nmodel = "shy"\nquantity = "value"\n', encoding="utf-8")
    result = run(str(file))
    assert result.exit_code == 3
    assert "undecided [a]" in result.output and "could not certify 12 digits: 9" in result.output


# Roots


@given(st.integers(1, 40), st.integers(-40, 40), st.integers(-40, -1))
def test_a_root_is_a_root_and_lies_where_mpmath_finds_it(a: int, b: int, c: int):
    found = root(fmpq(a), fmpq(b, 3), fmpq(c, 7))
    low, high = square_root(str(found)) if isinstance(found, Root) else 2 * (Fraction(str(found)),)
    with mpmath.workdps(50):
        truth = max(mpmath.polyroots([a, mpmath.mpf(b) / 3, mpmath.mpf(c) / 7], maxsteps=200, extraprec=200))
        assert abs(truth - mpmath.mpf(low.numerator) / low.denominator) < mpmath.mpf(10) ** -40
    if isinstance(found, Root):
        assert found.lies_in(Enclosure(fmpq(*low.as_integer_ratio()), fmpq(*high.as_integer_ratio())))
        assert not found.lies_in(Enclosure(fmpq(*high.as_integer_ratio()), fmpq(*(high + 1).as_integer_ratio())))
        assert not found.lies_in(Enclosure(fmpq(*(low - 1).as_integer_ratio()), fmpq(*low.as_integer_ratio())))


def test_the_threshold_of_uniform_fallback_is_the_published_closed_form():
    made = table(spec("P3.stability"))
    exact, digits = ([row[j] for row in made.rows] for j in (6, 7))
    for point, e, number in zip(spec("P3.stability").points(), exact, digits, strict=True):
        speeds = [Fraction(part.split(":")[1]) for part in point["pools"].split(",")]
        with mpmath.workdps(40):
            fast, slow = (mpmath.mpf(x.numerator) / x.denominator for x in speeds)
            value = (slow + mpmath.sqrt(slow**2 + 8 * fast * slow)) / 4
            assert abs(value - mpmath.mpf(number.enclosure.digits(30))) < mpmath.mpf(10) ** -28
        assert e.formula is None or e.formula.lies_in(number.enclosure)
    assert [c.formula is None for c in exact].count(True) == 1


# Closed forms and best integers


CLOSED = [name for name in recipes() if spec(name).symbols]
POINT = {"p": Fraction(2, 7), "d": Fraction(1, 11), "alpha": Fraction(3, 5)}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_are_the_numbers_that_solve_gives(name: str):
    asked = spec(name)
    made, count = table(asked), 0
    for point, row in zip(asked.points(), made.rows, strict=True):
        for request, found in zip(asked.columns, row[len(point) :], strict=True):
            model = find(request.model or point["model"])
            quantity = request.quantity or point["quantity"]
            words = asked.given(request, model, point)
            words |= {n: str(x) for n, x in POINT.items() if n in {p.name for p in model.parameters}}
            (number,) = model.results(model.make(words), [quantity], [0], 12)
            value = expression(str(found.formula), {n: constant(x) for n, x in POINT.items()})
            assert number.enclosure.is_exact
            assert (value - expression(str(number.enclosure.lower), {})).is_zero(), (quantity, found.formula)
            count += 1
    assert count >= 10


@pytest.mark.parametrize("form", ["html", "latex", "md", "csv", "text"])
def test_closed_forms_are_written(form: str):
    made = table(spec("P5.closed-forms"))
    text = written(made, form)
    shown = {"html": "<mfrac><mrow><mi>d</mi>", "latex": r"\frac{d}{(1-p) (1-p+d)}", "md": r"d/((1-p)\*(1-p+d))"}
    assert shown.get(form, "d/((1-p)*(1-p+d))") in text


def test_a_closed_form_that_does_not_exist_says_so():
    made = table(
        from_text(
            'symbols = ["p"]\n[rows]\nmodel = ["age.actual"]\nquantity = ["slot_mean", "slot_quantile"]\n[[columns]]\n'
        )
    )
    assert "not a rational function of p" in made.rows[1][2].note


@pytest.mark.parametrize(
    ("x", "text", "tex"),
    [
        ("0", "0", "0"),
        ("-2/3", "-2/3", r"-\frac{2}{3}"),
        ("-p/3", "-p/3", r"-\frac{p}{3}"),
        ("p-1", "-(1-p)", "-(1-p)"),
        ("2*p^2-2*d", "-2*(d-p^2)", "-2 (d-p^{2})"),
        ("1/(p*d)", "1/(p*d)", r"\frac{1}{p d}"),
        ("(1+p)^3/(2*d)", "(1+p)^3/(2*d)", r"\frac{(1+p)^{3}}{2 d}"),
        ("-1/(1-p)^2", "-1/(1-p)^2", r"-\frac{1}{(1-p)^{2}}"),
    ],
)
def test_formulas_are_printed_as_people_write_them(x: str, text: str, tex: str):
    field = Fractions("p", "d")
    p, d = field.gens
    value = {
        "0": field.convert(0),
        "-2/3": field.convert("-2/3"),
        "-p/3": -p / 3,
        "p-1": p - 1,
        "2*p^2-2*d": 2 * p**2 - 2 * d,
        "1/(p*d)": 1 / (p * d),
        "(1+p)^3/(2*d)": (1 + p) ** 3 / (2 * d),
        "-1/(1-p)^2": -1 / (1 - p) ** 2,
    }[x]
    found = formula(value, field)
    assert (found.text, found.latex) == (text, tex)
    assert mathml(found.latex)


polynomials = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4)


@given(polynomials, polynomials)
def test_any_rational_function_is_printed_without_loss(top, bottom):
    field = Fractions("p", "d")
    p, d = field.gens
    x, y = (sum((c * p**i * d**j for c, i, j in terms), field.convert(0)) for terms in (top, bottom))
    if y:
        assert formula(x / y, field).exact == field.text(x / y)  # the checker has read the factored text


def test_the_best_integer_is_the_least_of_all():
    asked = from_text(
        'digits = 20\n[parameters]\ncode = "rpc"\nm = 20\neps = "1/4"\n[rows]\nn = "20..50"\n'
        '[[columns]]\nmodel = "age.actual"\nquantity = "age_mean"\n'
    )
    values = {row[0].enclosure.lower: row[1].enclosure for row in table(asked).rows}
    least = min(values, key=lambda n: values[n].lower)
    best = from_text(
        '[parameters]\ncode = "rpc"\nm = 20\n[rows]\neps = ["1/4"]\n'
        '[[columns]]\nmodel = "age.actual"\nquantity = "age_mean"\nbest = "n in 20..50"\n'
    )
    assert table(best).rows[0][1].enclosure.lower == least
    assert "best n" in written(table(best), "text")


def test_exact_ties_are_all_shown():
    asked = from_text(
        '[parameters]\np = 0\nd = 0\n[rows]\nat_success = ["n"]\n'
        '[[columns]]\nmodel = "age.periodic"\nquantity = "slot_mean"\nbest = "q in 0..3"\n'
    )
    assert "0, 1, 2, 3" in written(table(asked), "text")


ORDER = (
    '[parameters]\npools = "1/2:3/2,1/2:1/2"\nn = 2\nd = 2\neps = "1/2"\n[rows]\nlam = ["7/10", "4/5"]\n'
    '[[columns]]\nquantity = "mean_response"\norder = ["random", "jiq", "jsq", "pod.load-independent", "sed"]\n'
)


def test_models_are_listed_from_the_least_to_the_greatest():
    """Against chains with room for 24 jobs; two are M/M/1 and tie exactly; from 3/4 on jiq starves its slow server."""
    means = {
        name: find(name).results(
            find(name).make({"pools": "1/2:3/2,1/2:1/2", "lam": "7/10", "n": "2", "buffer": "24"}),
            ["mean_response"], [], 6
        )[0].lower
        for name in ("jiq", "jsq", "sed")
    }  # fmt: skip
    assert means["sed"] < means["jsq"] < 3 < fmpq(10, 3) < means["jiq"]
    made = [row[1].formula for row in table(from_text(ORDER)).rows]
    assert made == [
        "sed, jsq, random = pod.load-independent, jiq",
        "sed, jsq, random = pod.load-independent (none: jiq)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"jiq", ', '"random", ', "columns.0..order: two models or more are needed, each once"),
        ('"jiq", ', '"jiqq", ', "columns.0..order: .*jiqq"),
        ("order =", 'model = "sed"\norder =', "columns.0..order: .* has no model beside it"),
        ("order =", 'best = "n in 2..4"\norder =', "columns.0..order: .* has no best beside it"),
        ("[parameters]", 'symbols = ["eps"]\n[parameters]', "columns.0..order: no order of closed forms"),
        ("mean_response", "mean_age", "columns.0..quantity: .*mean_age"),
    ],
)
def test_orders_of_nothing_are_refused(old, new, words):
    with pytest.raises(InputError, match=words):
        from_text(ORDER.replace(old, new))


# The store


def test_a_second_run_uses_the_store_and_gives_the_same_bytes(tmp_path, monkeypatch):
    asked = from_text(SMALL.replace('"1/3", "1"]', '"1/3", "1"]').replace('p = "1/3"', 'p = "1"'))
    asked = replace(asked, parameters={}, rows={"p": ("1/3", "1"), **asked.rows})
    plain = table(asked)
    with Store(tmp_path / "s.sqlite", write=True) as store:
        first = table(asked, store=store)
        monkeypatch.setattr(Model, "results", None)  # from now on nothing can be computed
        again = table(asked, store=store)
    for form in FORMATS:
        assert written(first, form) == written(again, form) == written(plain, form)
    assert any(cell.status == "none" for row in first.rows for cell in row)


def test_files_are_not_recalled(tmp_path):
    source = tmp_path / "source.json"
    asked = from_text(
        f'[parameters]\np = 0.5\nd = 0.1\nwindow = "0"\nsource = "{source.as_posix()}"\n[rows]\nlevel = ["1/2"]\n'
        '[[columns]]\nmodel = "age.markov"\nquantity = "slot_mean"\n'
    )
    found = []
    with Store(tmp_path / "s.sqlite", write=True) as store:
        for stay in ("1/2", "3/4"):
            rows = [[stay, f"{1 - Fraction(stay)}"], [f"{1 - Fraction(stay)}", stay]]
            source.write_text(json.dumps({"matrix": rows}), encoding="utf-8")
            found.append(table(asked, store=store).rows[0][1].enclosure.lower)
    assert found[0] != found[1]


# In notebooks and data frames


def test_a_table_shows_itself_in_a_notebook():
    made = proofs_check.table("P5.periodic-closed-forms")
    bundle = made._repr_mimebundle_()
    assert bundle["text/plain"] == str(made) == written(made, "text")
    assert bundle["text/html"].startswith("<figure") and "<mfrac>" in bundle["text/html"]
    assert "| --" in bundle["text/markdown"] or "| :--" in bundle["text/markdown"]


def test_a_frame_holds_exact_numbers():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    asked = from_text(SMALL.replace('p = "1/3"', 'p = "1/3"').replace('"1/3", "1"]', '"1/3"]'))
    found = table(asked).to_frame()
    assert isinstance(found, pandas.DataFrame)
    assert list(found["d"]) == [0, Fraction(1, 7), Fraction(1, 3)]
    assert list(found["slot_mean"]) == [0, Fraction(1, 7) / (Fraction(2, 3) * (Fraction(2, 3) + Fraction(1, 7))), 0.5]
    assert all(isinstance(x, Fraction) for x in found["tail"])
    wide = table(spec("P5.mean-age-k")).to_frame()
    assert all(isinstance(x, str) for x in wide["feedback"][1:])


# The schema


def test_the_schema_knows_exactly_the_keys_that_are_read():
    schema = json.loads((ROOT / "proofs_check/tables/spec.schema.json").read_text(encoding="utf-8"))
    columns = schema["properties"]["columns"]["items"]
    plot = schema["properties"]["plot"]
    assert set(schema["properties"]) == reader.KEYS
    assert set(columns["properties"]) == reader.COLUMN_KEYS and set(plot["properties"]) == reader.PLOT
    assert schema["properties"]["notation"]["enum"] == list(NOTATIONS)
    assert columns["properties"]["form"]["enum"] == list(reader.FORMS)
    assert plot["properties"]["x_scale"]["enum"] == plot["properties"]["y_scale"]["enum"] == list(reader.SCALES)


@pytest.mark.parametrize("name", recipes())
def test_recipes_follow_the_schema(name: str):
    schema = json.loads((ROOT / "proofs_check/tables/spec.schema.json").read_text(encoding="utf-8"))
    data = tomllib.loads(recipes()[name].read_text(encoding="utf-8"))
    assert not list(violations(data, schema, schema["$defs"]))
    assert list(violations(data | {"colour": 1}, schema, schema["$defs"]))
    assert list(violations(data | {"digits": 0}, schema, schema["$defs"]))
    assert list(violations(data | {"rows": {}}, schema, schema["$defs"]))


TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}


def violations(data, schema, defs, path="."):
    """Yield where data leaves a schema; the few keywords that ours uses."""
    if "$ref" in schema:
        yield from violations(data, defs[schema["$ref"].rpartition("/")[2]], defs, path)
    kinds = schema.get("type", [])
    if kinds and not any(isinstance(data, TYPES[k]) for k in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{path}: not {kinds}"
        return
    if "enum" in schema and data not in schema["enum"]:
        yield f"{path}: {data!r}"
    if "anyOf" in schema and all(list(violations(data, s, defs, path)) for s in schema["anyOf"]):
        yield f"{path}: none of several"
    if isinstance(data, str) and not re.search(schema.get("pattern", ""), data):
        yield f"{path}: {data!r}"
    if isinstance(data, int) and not schema.get("minimum", data) <= data <= schema.get("maximum", data):
        yield f"{path}: {data}"
    if isinstance(data, list):
        if len(data) < schema.get("minItems", 0):
            yield f"{path}: too short"
        for i, x in enumerate(data):
            yield from violations(x, schema.get("items", {}), defs, f"{path}[{i}]")
    if isinstance(data, dict):
        if len(data) < schema.get("minProperties", 0) or set(schema.get("required", [])) - set(data):
            yield f"{path}: something is missing"
        more = schema.get("additionalProperties", {})
        for key, x in data.items():
            if key in schema.get("properties", {}):
                yield from violations(x, schema["properties"][key], defs, f"{path}.{key}")
            elif more is False:
                yield f"{path}.{key}: unknown"
            else:
                yield from violations(x, more, defs, f"{path}.{key}")


def test_a_column_without_an_axis_is_the_limit():
    asked = from_text(
        '[parameters]\nd = 2\nlam = "1/2"\neps = "1/5"\n[rows]\nn = "2..2"\n'
        '[[columns]]\nmodel = "pod.load-independent"\nquantity = "mean_response"\n'
        '[[columns]]\nmodel = "pod.load-independent"\nquantity = "mean_response"\nwithout = ["n"]\n'
    )
    few, limit = table(asked).rows[0][1:]
    alone = find("pod.load-independent")
    (expected,) = alone.results(alone.make({"d": "2", "lam": "1/2", "eps": "1/5"}), ["mean_response"], [0], 12)
    assert limit.enclosure == expected.enclosure and not few.enclosure.overlaps(limit.enclosure)
    with pytest.raises(InputError, match=r"columns\[0\].without: .* has no parameter 'm'"):
        from_text('[rows]\nlam = [0.5]\n[[columns]]\nmodel = "mm1"\nquantity = "age_mean"\nwithout = ["m"]\n')
