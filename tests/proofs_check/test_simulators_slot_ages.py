"""The validator on slot ages: verdicts with exit codes, faults named, broken files refused line by line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from aoi_tools import Feedback, Periodic
from exactchains import InputError
from proofs_check.cli.main import cli
from proofs_check.simulators.slot_ages import SlotAges
from proofs_check.simulators.table import Table
from proofs_check.simulators.validation import validate

MODEL = ("age.feedback", "p=1/2", "d=1/10")
PARAMETERS = {"p": "1/2", "d": "1/10"}


def exaq(*words: str):
    return CliRunner().invoke(cli, list(words))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of the reference simulator, of the length it chooses itself."""
    path = tmp_path_factory.mktemp("run") / "ages.csv"
    result = exaq("simulate", *MODEL, "--seed", "1", "--out", str(path))
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def ages(run):
    return np.loadtxt(run, delimiter=",", skiprows=1, usecols=1, max_rows=120_000)


def written(path, ages, slots=None):
    slots = np.arange(len(ages)) if slots is None else slots
    np.savetxt(path, np.column_stack([slots, ages]), fmt="%d", delimiter=",", header="slot,age", comments="")
    return path


def test_own_simulator_agrees(run):
    result = exaq("validate", *MODEL, "--data", str(run), "--quantity", "slot_mean,failure")
    assert result.exit_code == 0, result.output
    assert "slot_mean: agrees" in result.output and "5 % of the exact value" in result.output


def test_ages_read_one_slot_late_disagree_and_are_named(ages, tmp_path):
    late = written(tmp_path / "late.csv", ages + 1)
    result = exaq("validate", *MODEL, "--data", str(late), "--quantity", "slot_mean")
    assert result.exit_code == 1
    assert "slot_mean: disagrees" in result.output and "one slot late" in result.output


def test_two_hundred_slots_are_undecided(ages, tmp_path):
    short = written(tmp_path / "short.csv", ages[:200])
    result = exaq("validate", *MODEL, "--data", str(short), "--quantity", "slot_mean")
    assert result.exit_code == 3
    assert "slot_mean: undecided" in result.output and "needed" in result.output


def test_same_seed_gives_the_same_file(tmp_path):
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, seed in zip(files, ("5", "5", "6"), strict=True):
        exaq("simulate", *MODEL, "--seed", seed, "--slots", "500", "--out", str(path))
    a, b, c = (path.read_text() for path in files)
    assert a == b != c and len(a.splitlines()) == 501


def test_json_names_every_figure(run):
    result = exaq("validate", *MODEL, "--data", str(run), "--quantity", "slot_pmf", "--index", "0..2", "--json")
    found = json.loads(result.output)
    assert found["verdict"] == "agrees" and [q["index"] for q in found["quantities"]] == [0, 1, 2]
    first = found["quantities"][0]
    assert first["interval"][0] < first["estimate"] < first["interval"][1]
    assert first["confidence"] == pytest.approx(1 - 0.05 / 3)  # three verdicts hold at once
    assert first["total_error"] == pytest.approx((first["interval"][1] - first["interval"][0]) / 2)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Feedback("1/10", "1/2"), "swapped"),
        (Feedback("1/2", "1/2"), "actual updates in every slot"),
        (Periodic("1/2", "1/10", 1), "no feedback"),
    ],
)
def test_another_scheme_is_named(other, words, tmp_path):
    from aoi_tools import slot_ages

    path = written(tmp_path / "other.csv", slot_ages(other, slots=60_000, seed=3))
    found = validate("age.feedback", PARAMETERS, path, quantities=["slot_mean"])
    finding = found.findings[0]
    assert found.verdict.value == "disagrees"
    assert any(words in suspect.fault for suspect in finding.diagnosis.matches)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("slot,age\n", "no data"),
        ("slot,size\n1,2\n", "no column of ages"),
        ("age,age\n1,2\n", "twice in the header"),
        ("age,J\n1,2\n", "more than one column of ages"),
        ("slot,age\n1,0\n2,x\n", "line 3, column age: 'x' is no number"),
        ("slot,age\n1,0\n2,\n", "line 3: age nan is missing"),
        ("slot,age\n1,0\n2\n", "line 3: 1 cells where the header has 2"),
        ("slot,age\n1,0\n2,1,5\n", "line 3: 3 cells where the header has 2"),
        ("slot,age\n1 0\n2 1\n", "line 2: 1 cells where the header has 2"),
        ("slot,age\n1,0\n2,-1\n", "line 3: age -1 is negative"),
        ("slot,age\n1,0\n2,1.5\n", "line 3: age 1.5 is no whole number"),
        ("slot,age\n1,0\n2,inf\n", "line 3: age inf is missing or not finite"),
        ("slot,age\n1,0\n1,0\n", "line 3: slot 1 is a slot that stands twice"),
        ("slot,age\n1,0\n2,1\n1,0\n", "two runs in one file"),
        ("slot,age\n1,0\n2,0.5e\n", "'0.5e' is no number"),
        ("slot,age\n1,0\n2,1\n3,2\n4,1\n", "line 5: age 1 does not follow"),
        ("slot,age\n1,0\n2,2\n", "line 3: age 2 does not follow"),
        ("slot,age\n1,0\n2,1e300\n", "too large"),
        ("slot,age\n1,0\n2,1_0\n", "'1_0' is no number"),
        ("slot,age\n1,0\n2,1\n3,0\n", "3 observations of slot_mean; at least 20"),
    ],
)
def test_broken_files_end_in_one_clear_line(text, says, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    result = exaq("validate", *MODEL, "--data", str(path), "--quantity", "slot_mean")
    assert result.exit_code == 2, result.output
    line = result.output.strip()
    assert "\n" not in line and says in line and "broken.csv" in line


def test_binary_and_missing_files_are_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00\x01" * 10)
    for name, says in (("x.csv", "UTF-8"), ("absent.csv", "No such file")):
        result = exaq("validate", *MODEL, "--data", str(tmp_path / name), "--quantity", "slot_mean")
        assert result.exit_code == 2 and says in result.output


def test_one_value_throughout_is_undecided(tmp_path):
    path = written(tmp_path / "zeros.csv", np.zeros(5000))
    result = exaq("validate", *MODEL, "--data", str(path), "--quantity", "slot_mean")
    assert result.exit_code == 3 and "all values are equal" in result.output
    assert "matches" not in result.output


def test_left_out_slots_need_their_numbers(ages, tmp_path):
    kept = np.arange(0, 60_000, 7)
    path = written(tmp_path / "thin.csv", ages[kept], kept)
    found = validate("age.feedback", PARAMETERS, path, quantities=["slot_mean"], margin="20%")
    assert found.verdict.value == "agrees"
    np.savetxt(tmp_path / "bare.csv", ages[kept], fmt="%d")
    with pytest.raises(InputError, match="left-out slots need a slot column"):
        list(SlotAges(Table(tmp_path / "bare.csv")).blocks())


@pytest.mark.parametrize("margin", ["0", "-1%", "200%", "abs:1%", "five", "abs:-1"])
def test_margin_must_make_sense(margin, run):
    result = exaq("validate", *MODEL, "--data", str(run), "--quantity", "slot_mean", "--margin", margin)
    assert result.exit_code == 2 and "--margin" in result.output


def test_what_slot_ages_do_not_tell_is_refused(run):
    words = ("--data", str(run), "--quantity", "age_pmf", "--index", "5")
    result = exaq("validate", *MODEL, "n=4", *words)
    assert result.exit_code == 2 and "cannot be estimated from slot ages" in result.output


@pytest.mark.parametrize(("convention", "offset", "at_success"), [("bit", [0, 1, 2, 3], "0"), ("slot", [0], "n")])
def test_ages_in_channel_uses_follow_from_slot_ages(convention, offset, at_success, ages, tmp_path):
    path, given = written(tmp_path / "ages.csv", ages), {"n": "4", "sampling": convention, "at_success": at_success}
    quantities = ["age_mean", "age_variance", "peak_mean", "peak_variance"]
    found = validate("age.feedback", PARAMETERS | given, path, quantities=quantities, margin="20%")
    read = np.concatenate([(4 if at_success == "n" else 0) + 4 * ages + v for v in offset])  # use by use
    ends = np.flatnonzero(ages[1:] == 0)
    peaks = (4 if at_success == "n" else 0) + 4 * ages[ends] + max(offset) + (0 if convention == "bit" else 4)
    right = [read.mean(), read.var(), peaks.mean(), peaks.var()]
    assert [f.judgement.estimate.value for f in found.findings] == pytest.approx(right, rel=1e-9)
    assert found.verdict.value == "agrees"


def test_another_convention_of_the_age_is_named(ages, tmp_path):
    path, given = written(tmp_path / "ages.csv", ages), PARAMETERS | {"n": "4"}
    late = written(tmp_path / "late.csv", ages + 1)
    finding = validate("age.feedback", given, late, quantities=["age_mean"]).findings[0]
    assert finding.judgement.verdict.value == "disagrees"
    faults = " | ".join(suspect.fault for suspect in finding.diagnosis.matches)
    assert "one slot late" in faults
    finding = validate("age.feedback", given | {"at_success": "0"}, late, quantities=["age_mean"]).findings[0]
    assert any("at_success=n" in suspect.fault for suspect in finding.diagnosis.matches)
    planned = validate("age.feedback", given, path, quantities=["age_mean", "slot_mean"], margin="abs:1/50").findings
    assert planned[0].judgement.needed == pytest.approx(16 * planned[1].judgement.needed, rel=1e-9)


def test_gaps_are_counted_between_restarts(ages, tmp_path):
    restarts = np.flatnonzero(ages == 0)
    path = written(tmp_path / "all.csv", ages)
    found = validate("age.feedback", PARAMETERS, path, quantities=["gap_mean", "gap_pmf"], indices=[1, 2])
    mean, one, two = (finding.judgement.estimate.value for finding in found.findings)
    gaps = np.diff(restarts)
    assert mean == pytest.approx(gaps.mean(), rel=1e-3)
    assert one == pytest.approx((gaps == 1).mean(), rel=1e-3) and two == pytest.approx((gaps == 2).mean(), rel=1e-2)
    assert [f.judgement.verdict.value for f in found.findings] == ["agrees"] * 3
    thin = written(tmp_path / "thin.csv", ages[::2], np.arange(0, len(ages), 2))
    with pytest.raises(InputError, match="needs the age of every slot"):
        validate("age.feedback", PARAMETERS, thin, quantities=["gap_mean"])


def test_semicolons_tabs_and_a_bare_column_are_read(ages, tmp_path):
    for name, mark in (("semicolon", ";"), ("tab", "\t")):
        lines = [f"slot{mark}age", *(f"{i}{mark}{int(a)}" for i, a in enumerate(ages[:3000]))]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        assert np.array_equal(np.concatenate(list(SlotAges(Table(tmp_path / name)).blocks())), ages[:3000])
    np.savetxt(tmp_path / "bare", ages[:3000], fmt="%d")
    assert np.array_equal(np.concatenate(list(SlotAges(Table(tmp_path / "bare")).blocks())), ages[:3000])
