"""OMNeT++ vectors, tables of LINE and JMT, histograms, Parquet and columns of other names."""

import csv
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

from aoi_tools import Feedback, slot_ages
from exactchains import InputError
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.simulators import memory
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.validation import Rule, validate

HALF = {"lam": "1/2", "mu": "1"}
FEEDBACK = {"p": "1/2", "d": "1/10"}
HEADER = ["run", "type", "module", "name", "attrname", "attrvalue", "value", "vectime", "vecvalue"]


@pytest.fixture(scope="module")
def jobs() -> dict[str, np.ndarray]:
    header, table = job_trace("mm1", find("mm1").read(HALF), jobs=60_000, seed=2)
    return dict(zip(header, table.T, strict=True))


def judged(data, quantity: str, model: str = "mm1", parameters=HALF, **options):
    found = validate(model, parameters, data, quantities=[quantity], **options)
    return found.findings[0].judgement, " | ".join(found.notes)


def text(values) -> str:
    return " ".join(f"{x:.12g}" for x in values)


def exported(path, vectors: dict[tuple[str, str], tuple]) -> None:
    """What scavetool writes as CSV-R: attributes of the run, scalars, and one row a vector."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(HEADER)
        rows.writerow(["General-0-1", "runattr", "", "", "network", "Mm1", "", "", ""])
        rows.writerow(["General-0-1", "scalar", "Mm1.sink", "lifeTime:mean", "", "", "1.99", "", ""])
        for (module, name), (time, value) in vectors.items():
            rows.writerow(["General-0-1", "vector", module, name, "", "", "", text(time), text(value)])
            rows.writerow(["General-0-1", "attr", module, name, "unit", "s", "", "", ""])


def steps(times: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((-change, times))  # a job that is served at once is queued and taken up at the same time
    return times[order], np.cumsum(change[order])


@pytest.fixture(scope="module")
def vectors(jobs, tmp_path_factory):
    a, s, e = jobs["t_arrive"], jobs["t_start"], jobs["t_end"]
    up, down = np.ones(len(a)), -np.ones(len(a))
    queue = steps(np.concatenate([a, s]), np.concatenate([up, down]))
    order = np.lexsort((np.concatenate([up, down]), np.concatenate([s, e])))
    times, change = np.concatenate([s, e])[order], np.concatenate([up, down])[order]
    path = tmp_path_factory.mktemp("omnetpp") / "run.csv"
    exported(
        path,
        {
            ("Mm1.sink", "lifeTime:vector"): (e, e - a),
            ("Mm1.queue", "queueingTime:vector"): (s, s - a),
            ("Mm1.queue", "queueLength:vector"): queue,
            ("Mm1.queue", "busy:vector"): (times, np.cumsum(change)),
        },
    )
    return path


@pytest.mark.parametrize("quantity", ["mean_response", "mean_wait", "mean_queue", "tail"])
def test_omnetpp_vectors_say_what_the_job_trace_says(jobs, vectors, quantity):
    ours, _ = judged(vectors, quantity, indices=[1], margin="10%")
    theirs, _ = judged(jobs, quantity, indices=[1])
    assert ours.estimate.value == pytest.approx(theirs.estimate.value, rel=2e-3)
    assert ours.verdict.value == "agrees"


def test_omnetpp_data_frames_are_read(vectors):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(vectors, dtype=str, keep_default_na=False)
    assert judged(frame, "mean_wait")[0].estimate == judged(vectors, "mean_wait")[0].estimate


@pytest.mark.parametrize(
    ("vectors", "quantity", "says"),
    [
        ({("Q", "queueLength:vector"): ([0, 1, 2], [0, 1, 0])}, "mean_queue", "counts waiting jobs only"),
        ({("Q", "other"): ([0, 1, 2], [0, 1, 0])}, "mean_wait", "no vector named queueingTime"),
        ({(m, "lifeTime:vector"): ([0, 1], [1, 1]) for m in "AB"}, "mean_response", "2 vectors named lifeTime"),
        ({("Q", "lifeTime:vector"): ([0, 1], [1])}, "mean_response", "line 4: vectime and vecvalue need equally many"),
        ({("Q", "lifeTime:vector"): ([1, 0], [1, 1])}, "mean_response", "line 4: vectime goes back"),
        ({("Q", "lifeTime:vector"): ([0, 1], [1, np.nan])}, "mean_response", "equally many finite"),
        ({}, "mean_response", "no row of type vector"),
        ({("Q", "lifeTime:vector"): ([0, 1], [1, 1])}, "age_mean", "age_mean cannot be read from vectors"),
    ],
)
def test_omnetpp_files_that_do_not_tell(vectors, quantity, says, tmp_path):
    exported(tmp_path / "run.csv", vectors)
    with pytest.raises(InputError, match=says):
        judged(tmp_path / "run.csv", quantity)


TABLE = (
    "Station,JobClass,QLen,Util,RespT,ResidT,ArvR,Tput\n"
    "Source,Class1,0,0,0,0,0,{tput}\nQueue,Class1,{qlen},0.5,2,2,0.5,{tput}\n"
)


def test_computed_tables_are_compared_without_sampling_error(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE.format(qlen="1.0004", tput="0.5"))
    found, notes = judged(path, "mean_queue", preset="line", margin="0.1%")
    assert found.verdict.value == "agrees" and found.difference == pytest.approx(0.0004) and "Source" in notes
    assert judged(path, "mean_queue", preset="line", margin="0.01%")[0].verdict.value == "disagrees"
    assert judged(path, "mean_response", preset="line")[0].estimate.value == 2
    found, notes = judged(path, "mean_queue")  # it may have been simulated
    assert found.verdict.value == "undecided" and "--format line" in notes
    path.write_text(TABLE.format(qlen="1", tput="0.6"))
    assert "Tput is 0.6" in judged(path, "mean_queue", preset="line")[1]


@pytest.mark.parametrize(
    ("text", "quantity", "says"),
    [
        (TABLE.format(qlen="1", tput="1") + "Queue,Class2,1,1,1,1,1,1\n", "mean_queue", "keep the rows of one class"),
        (TABLE.format(qlen="1", tput="1") + "Q2,Class1,1,1,1,1,1,1\n", "mean_response", "not of a job"),
        (TABLE.format(qlen="-1", tput="1"), "mean_queue", "line 3: .* finite numbers >= 0"),
        (TABLE.format(qlen="1", tput="1"), "age_mean", "age_mean cannot be read"),
    ],
)
def test_tables_that_do_not_tell(text, quantity, says, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(InputError, match=says):
        judged(tmp_path / "table.csv", quantity, preset="line")


@pytest.mark.parametrize("quantity", ["slot_mean", "slot_variance", "slot_pmf", "failure"])
def test_histograms_of_slot_ages_have_the_error_of_the_model(quantity, tmp_path):
    ages = slot_ages(Feedback("1/2", "1/10"), slots=200_000, seed=6)
    value, count = np.unique(ages, return_counts=True)
    path = tmp_path / "h.csv"
    np.savetxt(path, np.column_stack([value, count]), fmt="%d", delimiter=",", header="value,count", comments="")
    found, notes = judged(path, quantity, "age.feedback", FEEDBACK, margin="10%")
    run, _ = judged({"age": ages}, quantity, "age.feedback", FEEDBACK)
    assert found.estimate.value == pytest.approx(run.estimate.value, rel=1e-9)
    assert found.estimate.error == pytest.approx(run.estimate.error, rel=0.35)
    assert found.verdict.value == "agrees" and "lost the order" in notes
    late, _ = judged({"value": value + 1, "count": count}, "slot_mean", "age.feedback", FEEDBACK)
    assert late.verdict.value == "disagrees"


def test_histograms_of_levels_need_times_for_an_error(jobs):
    a, e = jobs["t_arrive"], jobs["t_end"]
    times, level = steps(np.concatenate([a, e]), np.concatenate([np.ones(len(a)), -np.ones(len(a))]))
    held = np.bincount(level[:-1].astype(int), weights=np.diff(times))
    timed = {"value": np.arange(len(held)), "total_time": held}
    found, _ = judged(timed, "mean_queue")
    run, _ = judged(jobs, "mean_queue")
    assert found.estimate.value == pytest.approx(run.estimate.value, rel=1e-3)
    assert found.estimate.error == pytest.approx(run.estimate.error, rel=0.35) and found.verdict.value == "agrees"
    polled, notes = judged({"value": np.arange(3), "count": [500, 250, 250]}, "mean_queue")
    assert polled.verdict.value == "undecided" and "no error can be given" in notes


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"value": [0, 1, 1], "count": [5, 5, 5]}, "a value stands twice"),
        ({"value": [0, 1], "count": [5, -5]}, "a count is at least 0"),
        ({"value": [0, 1.5], "count": [5, 5]}, "are whole"),
        ({"value": [0, 1], "count": [0, 0]}, "all counts are 0"),
    ],
)
def test_broken_histograms(data, says):
    with pytest.raises(InputError, match=says):
        judged(data, "slot_mean", "age.feedback", FEEDBACK)


def test_finished_numbers_have_no_run_to_cut_or_to_batch():
    with pytest.raises(InputError, match="there is no run here"):
        judged({"mean": [1.0], "half_width": [0.1]}, "mean_wait", rule=Rule("spectral"))
    with pytest.raises(InputError, match="there is no run here"):
        judged({"mean": [1.0], "half_width": [0.1]}, "mean_wait", warmup="10%")


def test_parquet_is_read_like_csv(jobs, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(jobs), tmp_path / "jobs.parquet")
    assert judged(tmp_path / "jobs.parquet", "mean_wait")[0].estimate == judged(jobs, "mean_wait")[0].estimate
    (tmp_path / "no.parquet").write_bytes(b"t_arrive,t_end\n1,2\n")
    with pytest.raises(InputError, match="no readable Parquet"):
        judged(tmp_path / "no.parquet", "mean_wait")


def test_parquet_without_its_library_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))
    (tmp_path / "jobs.parquet").touch()
    with pytest.raises(InputError, match=r"pip install 'exaq\[parquet\]'"):
        judged(tmp_path / "jobs.parquet", "mean_wait")


def test_columns_of_other_names_are_mapped(jobs, tmp_path):
    rows = np.column_stack([jobs["t_arrive"], jobs["t_start"], jobs["t_end"]])[:5000]
    path, names = tmp_path / "mine.csv", tmp_path / "names.toml"
    np.savetxt(path, rows, delimiter=",", header="Ankunft,Beginn der Arbeit,Ende", comments="")
    words = [
        "validate",
        "mm1",
        "lam=1/2",
        "mu=1",
        "--data",
        str(path),
        "--quantity",
        "mean_wait",
        "--columns",
        str(names),
    ]
    names.write_text('t_arrive = "Ankunft"\nt_start = "Beginn der Arbeit"\nt_end = "Ende"\n')
    result = CliRunner().invoke(cli, words)
    value = judged({name: jobs[name][:5000] for name in ("t_arrive", "t_start", "t_end")}, "mean_wait")[
        0
    ].estimate.value
    assert f"simulated   {value:.6g} " in result.output
    for wrong, says in (
        ('t_arrive = "Abfahrt"', "no column 'Abfahrt'"),
        ('t_arrive = "Ende"\nt_end = "Ende"', "one column stands for two names"),
        ("t_arrive = 3", "is no such line"),
        ("t_arrive =", "no readable TOML"),
    ):
        names.write_text(wrong)
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 2 and says in result.output, result.output
