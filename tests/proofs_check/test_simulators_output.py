"""What users build on: the assertion for test suites, JUnit, HTML, data in memory, and verdicts of bare values."""

import gzip
import json
import os
import tempfile
import threading
from collections import namedtuple
from fractions import Fraction
from pathlib import Path
from unittest import SkipTest
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from exactchains import InputError
from exactchains.number import NotExact
from meanfield.models.shortest import JSQ
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.simulators.assertion import assert_agrees
from proofs_check.simulators.pages import html_text, junit_text
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.rates import Rates
from proofs_check.simulators.server_runs import server_trace
from proofs_check.simulators.validation import Rule, validate
from proofs_check.simulators.verdict import Verdict
from proofs_check.simulators.wording import lines, plain, properties

HALF = {"lam": "1/2", "mu": "1"}
PAIR = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}


@pytest.fixture(scope="module")
def jobs() -> dict[str, np.ndarray]:
    header, rows = job_trace("mm1", find("mm1").read(HALF), jobs=60_000, seed=1)
    return dict(zip(header, rows.T, strict=True))


def test_assertion_passes_fails_and_skips(jobs):
    assert assert_agrees(jobs, "mm1", HALF, quantity="age_mean").verdict.value == "agrees"
    with pytest.raises(AssertionError, match=r"age_mean: disagrees"):
        assert_agrees(jobs | {"t_arrive": jobs["t_start"]}, "mm1", HALF, quantity="age_mean")
    short = {name: column[:300] for name, column in jobs.items()}
    with pytest.raises(AssertionError, match=r"needed +about"):
        assert_agrees(short, "mm1", HALF, quantity="age_mean")
    cut = assert_agrees(jobs, "mm1", HALF, quantity="mean_response", rule=Rule("overlapping"), warmup="10%")
    assert cut.findings[0].judgement.estimate.method == "overlapping"
    assert cut.findings[0].judgement.estimate.weight == 54_000
    with pytest.raises(SkipTest):
        assert_agrees(short, "mm1", HALF, quantity="age_mean", undecided="skip")


def test_data_in_memory_of_every_kind_give_one_estimate(jobs):
    Record = namedtuple("Record", jobs)
    rows = list(zip(*(column[:4000].tolist() for column in jobs.values()), strict=True))
    kinds = [
        {name: column[:4000] for name, column in jobs.items()},
        [dict(zip(jobs, row, strict=True)) for row in rows],
        [Record(*row) for row in rows],
        np.array(rows, dtype=[(name, float) for name in jobs]),
    ]
    pandas = pytest.importorskip("pandas")
    kinds.append(pandas.DataFrame(kinds[0]))
    values = {
        validate("mm1", HALF, data, quantities=["mean_wait"]).findings[0].judgement.estimate.value for data in kinds
    }
    assert len(values) == 1


@pytest.mark.parametrize(("shift", "failures", "code"), [(0.0, 0, 0), (1.0, 1, 1)])
def test_junit_and_html(jobs, shift, failures, code, tmp_path):
    path = tmp_path / "<run> & more.csv"
    age = (jobs["t_end"] - jobs["t_arrive"])[:60_000]
    path.write_text("value\n" + "\n".join(f"{x:.9g}" for x in age + shift) + "\n")
    words = ["--data", str(path), "--quantity", "mean_response", "--junit", str(tmp_path / "j.xml")]
    words += ["--html", str(tmp_path / "h.html"), "--margin", "8%"]
    result = CliRunner().invoke(cli, ["validate", "mm1", "lam=1/2", "mu=1", *words])
    assert result.exit_code == code, result.output
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert suite.get("tests") == "1" and suite.get("failures") == str(failures)
    page = (tmp_path / "h.html").read_text()
    assert "mean_response" in page and "&lt;run&gt; &amp; more" in page and "<run>" not in page


def test_a_reported_mean_is_taken_at_its_word(tmp_path):
    for text, verdict in (
        ("mean,half_width\n2.01,0.02\n", "agrees"),
        ("mean,half_width\n2.4,0.02\n", "disagrees"),
        ("mean,half_width\n2.0,0.5\n", "undecided"),
        ("mean\n2.0\n", "undecided"),
    ):
        (tmp_path / "s.csv").write_text(text)
        found = validate("mm1", HALF, tmp_path / "s.csv", quantities=["mean_response"])
        assert found.verdict.value == verdict, text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t_arrive,t_end\n1,0.5\n", "line 2: departure 0.5 is before the job's own arrival"),
        ("t_arrive,t_start,t_end\n1,0.5,3\n", "line 2: start 0.5 is before the job's own arrival"),
        ("t_arrive,t_start,t_end\n1,2,1.5\n", "line 2: departure 1.5 is before the job's own start"),
        ("t_arrive,t_end\n-1,2\n", "line 2: arrival -1 is negative"),
        ("t_arrive,t_end\n,2\n", "line 2: arrival nan is missing"),
        ("t_arrive,t_end\n1,2\n3,4\n1,2.5\n", "two runs in one file"),
        ("t_arrive,t_end\n1,2\n1,2\n3,4\n", "stands twice"),
        ("t_arrive,t_end\n1,2\n3,five\n", "line 3, column t_end: 'five' is no number"),
        ("t_arrive,t_end\n", "no data"),
        ("t,level\n0,1\n1,-1\n", "line 3: level -1 is negative"),
        ("t,level\n0,1\n1,1.5\n", "line 3: level 1.5 is no whole number"),
        ("t,level\n3,1\n1,1\n", "line 3: time 1 is before the line above"),
        ("t,level\n3,1\nnan,1\n", "line 3: time nan is missing"),
        ("who,what\n3,1\n", "fit none of the formats"),
        ("t_arrive|t_end\n3|4\n", "fit none of the formats"),
        ("mean,half_width\n1,0\n", "half width > 0"),
        ("mean,half_width\n-1,2\n", "a summary is one line"),
        ("value\n1\n-0.5\n", "line 3: value -0.5 is negative"),
        ("value\n1\n1e200\n", "line 3: value 1e+200 is too large"),
        ("t,level\n0,1\n1e300,1\n", "line 3: time 1e+300 is too large"),
        ("t,level\n0,1\n1,1e300\n", "line 3: level 1e+300 is too large"),
        ("t_arrive;t_end\n0,5;1,5\n", "write decimal points"),
        ('t_arrive,t_end\n"1,234.5","1,235.5"\n', "no marks for thousands"),
        ("t_arrive t_end\n3 4\n", "columns are separated by comma, semicolon or tab"),
        ("1,2,3\n4,5,6\n", "is the header line missing?"),
        ("t_arrive,t_end\n1,2\n3,1e308\n", "line 3: departure 1e+308 is too large to tell times apart"),
        ("t_arrive,t_end\n" + "".join(f"{i},{i + 1e18:.0f}\n" for i in range(50)), "too large to tell times apart"),
        ("t_arrive,t_end\n" + "".join(f"{i},{1000 * (i + 1)}\n" for i in range(50)), "different clocks"),
        (
            "t_arrive,t_end\n"
            + "".join(f"{i * u},{i * u + u / 2}\n" for i in range(50) for u in (1 if i < 25 else 1e3,)),
            "does the clock change its unit",
        ),
        ("mean,half_width\n1,-2\n", "half width > 0"),
        ("value\n1\nx\n", "'x' is no number"),
        ("value\n1\ninf\n", "finite values are needed"),
    ],
)
def test_broken_files_end_in_one_clear_line(text, says, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        validate("mm1", HALF, path, quantities=["mean_queue" if "level" in text else "mean_response"])
    assert says in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (gzip.compress(b"t_arrive,t_end\n1,2\n", mtime=0), "compressed with gzip; unpack it first"),
        ("t_arrive,t_end\n1,2\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
        (b"PAR1\xff", "Parquet; name it .parquet"),
        (b"\x93NUMPY\x01\x00", "an array of numpy"),
        (b"PK\x03\x04\xff", "a spreadsheet"),
        (b"t_arrive,t_end\n1,2\n3,\xff\n", "line 3: bytes that are no UTF-8 text"),
        (b"t_arrive,\0t_end\n1,2\n", "line 1: bytes that are no UTF-8 text"),
        (b"c," * 60_000, "the header line has more than 100000 characters"),
    ],
    ids=("gzip", "utf-16", "parquet", "numpy", "zip", "no-utf-8", "nul", "long-header"),
)
def test_files_that_are_no_text_table_are_named(content, says, tmp_path):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(InputError, match=says):
        validate("mm1", HALF, tmp_path / "x.csv", quantities=["mean_response"])


def test_text_tables_as_programs_write_them_are_read_alike(jobs, tmp_path):
    rows = np.column_stack([jobs["t_arrive"], jobs["t_start"], jobs["t_end"]])[:2000]
    header, path = "t_arrive,t_start,t_end", tmp_path / "x.csv"
    lines = [header, *(",".join(f"{x:.6f}" for x in row) for row in rows), ""]
    quoted = ['"' + line.replace(",", '","') + '"' for line in lines[:-1]]
    texts = {
        "plain": "\n".join(lines),
        "byte order mark": "\ufeff" + "\n".join(lines),
        "carriage returns": "\r\n".join(lines),
        "quoted": "\n".join(quoted),
        "semicolons": "\n".join(lines).replace(",", ";"),
        "tabs": "\n".join(lines).replace(",", "\t"),
        "numpy.savetxt": "# " + "\n".join(lines),
    }
    values = set()
    for text in texts.values():
        path.write_bytes(text.encode())
        values.add(validate("mm1", HALF, path, quantities=["mean_wait"]).findings[0].judgement.estimate.value)
    assert len(values) == 1


def scaled(jobs, factor):
    return jobs | {name: factor * jobs[name] for name in ("t_arrive", "t_start", "t_end")}


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (1000, "1000 times those of the model (milliseconds for seconds?)"),
        (1 / 60, "1/60 of those of the model (minutes for seconds?)"),
        (3600, "3600 times those of the model (seconds for hours?)"),
        (100, "100 times those of the model"),
        (7, " times those of the model"),
    ],
)
def test_a_trace_in_another_unit_of_time_is_a_named_fault(factor, says, jobs):
    for name, power in (("mean_response", 1), ("mean_wait", 1), ("age_mean", 1), ("age_variance", 2)):
        found = validate("mm1", HALF, scaled(jobs, factor), quantities=[name])
        assert any(note.startswith("unit of time: jobs arrive and are served") and says in note for note in found.notes)
        (finding,) = found.findings
        right = validate("mm1", HALF, jobs, quantities=[name]).findings[0].judgement.estimate.value
        assert finding.judgement.estimate.value == pytest.approx(right * factor**power, rel=1e-6)
        assert finding.judgement.verdict is Verdict.DISAGREES and not finding.judgement.estimate.modelled
        first = finding.diagnosis.matches[0]
        assert first.fault.startswith("unit of time: ") and says in first.fault


def test_numbers_of_jobs_do_not_depend_on_the_unit_of_time(jobs):
    right, other = (validate("mm1", HALF, data, quantities=["mean_queue"]) for data in (jobs, scaled(jobs, 1000)))
    a, b = (found.findings[0].judgement.estimate.value for found in (right, other))
    assert a == pytest.approx(b, rel=1e-9) and not right.notes and "unit of time" in other.notes[0]


def test_the_unit_is_named_of_few_jobs_replications_streams_servers_and_bare_values(jobs, tmp_path, monkeypatch):
    def notes(data, model="mm1", words=HALF, quantity="mean_response"):
        return " | ".join(validate(model, words, data, quantities=[quantity]).notes)

    pd = pytest.importorskip("pandas")
    slow = scaled(jobs, 60)
    few = {name: x[:60] for name, x in slow.items()}
    found = validate("mm1", HALF, few, quantities=["mean_response"])
    assert "60 times those of the model (seconds for minutes?)" in found.notes[-1]
    assert found.verdict is Verdict.UNDECIDED and not any(line.startswith("  needed") for line in lines(found))
    assert "unit of time" in notes([pd.DataFrame(slow)[k * 3000 : (k + 1) * 3000] for k in range(12)])
    header, rows = server_trace(JSQ(PAIR["pools"], "1/2"), 2, jobs=5_000, seed=1)
    apart = scaled(dict(zip(header, rows.T, strict=True)), 1000)
    assert "unit of time: jobs arrive as if" in notes(apart, "jsq", PAIR, "mean_queue")
    bare = validate("mm1", HALF, {"value": slow["t_end"] - slow["t_arrive"]}, quantities=["mean_response"])
    assert "(seconds for minutes?)" in bare.findings[0].diagnosis.matches[0].fault
    path = tmp_path / "slow.csv"
    pd.DataFrame(slow).to_csv(path, index=False)
    monkeypatch.setattr("proofs_check.simulators.job_stream.LARGE", 1)
    assert "unit of time" in notes(path)


def test_no_unit_is_named_where_the_rates_are_right_or_another_fault_explains_them(jobs):
    stay = jobs["t_end"] - jobs["t_start"]  # services 60 times as long in a file whose arrivals are right
    for data, words in ((jobs | {"t_end": jobs["t_start"] + 60 * stay}, HALF), (jobs, {"lam": "2", "mu": "5"})):
        try:
            found = validate("mm1", words, data, quantities=["mean_response"])
        except InputError:
            continue  # departures far beyond arrivals are another clock
        assert not any("unit of time" in note for note in found.notes)
    ten = {"n lam": 5.0, "lam (per server, not in total)": 0.5}  # arrivals per server: a tenth, and no unit
    assert "per server, not in total" in next(Rates((0.5, 60_000), None).notes(ten, {}))
    assert "unit of time" in next(Rates((0.05, 60_000), None).notes(ten, {}))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("x.json", '[{"t_arrive": 1, "t_end": 2}, 5]', "row 2: '5' is no row like the first one"),
        ("x.json", '{"t": [1], "t": [2]}', "twice"),
        ("x.json", "[NaN]", "no JSON number"),
        ("x.json", "[" * 10_000, "no readable JSON"),
        ("x.jsonl", '{"t_arrive": 1}\n{', "no readable JSON"),
        ("x.json", "[]", "empty"),
        ("x.json", "5", "holds no rows"),
        ("x.json", '{"t_arrive": 5}', "holds no rows"),
    ],
)
def test_broken_json_ends_in_one_clear_line(name, text, says, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        validate("mm1", HALF, tmp_path / name, quantities=["mean_response"])


def test_a_large_trace_is_streamed_with_the_same_result(jobs, tmp_path, monkeypatch):
    path = tmp_path / "large.csv"
    np.savetxt(path, np.column_stack(list(jobs.values())), delimiter=",", header=",".join(jobs), comments="")
    whole = validate("mm1", HALF, path, quantities=["mean_wait"]).findings[0].judgement.estimate
    monkeypatch.setattr("proofs_check.simulators.job_stream.LARGE", 1)
    monkeypatch.setattr("proofs_check.simulators.table.BLOCK", 7_001)
    streamed = validate("mm1", HALF, path, quantities=["mean_wait"])
    assert streamed.findings[0].judgement.estimate.value == pytest.approx(whole.value, rel=1e-9)
    assert streamed.findings[0].judgement.estimate.error == pytest.approx(whole.error, rel=1e-6)
    assert streamed.observations == 60_000 and "block by block" in streamed.notes[0]
    with pytest.raises(InputError, match="block by block, from which mean_queue"):
        validate("mm1", HALF, path, quantities=["mean_queue"])
    with path.open("a") as file:
        file.write("60000,1,2,3\n")
    with pytest.raises(InputError, match="line 60002: departure 3 is before the arrival of a job listed above"):
        validate("mm1", HALF, path, quantities=["mean_wait"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"lam": "1/2", "mu": "1"}, None),
        ({"lam": "2", "mu": "5"}, "1/lam = 0.5"),
        ({"lam": "1/2", "mu": "2"}, "jobs are served at rate"),
    ],
)
def test_rates_that_are_not_the_models_are_noted(words, says, jobs):
    notes = " | ".join(validate("mm1", words, jobs, quantities=["mean_response"]).notes)
    assert (says in notes) if says else not notes


def test_load_per_server_against_total_is_noted(jobs):
    pools = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}
    notes = validate("jsq", pools, jobs, quantities=["mean_queue"]).notes
    assert any("per server, not in total" in note for note in notes)


def test_lost_jobs_in_a_trace_are_not_taken_for_present_ones(jobs):
    end = jobs["t_end"].copy()
    end[::50] = np.nan
    with pytest.raises(InputError, match="never left; if they"):
        validate("mm1", HALF, jobs | {"t_end": end}, quantities=["mean_queue"])


def test_queues_by_number_agree_with_the_path(jobs):
    time = np.concatenate([jobs["t_arrive"], jobs["t_end"]])
    order = np.argsort(time)
    level = np.cumsum(np.repeat([1, -1], 60_000)[order])
    path = validate("mm1", HALF, {"t": time[order], "level": level}, quantities=["mean_queue", "tail"], indices=[2])
    trace = validate("mm1", HALF, jobs, quantities=["mean_queue", "tail"], indices=[2])
    for a, b in zip(path.findings, trace.findings, strict=True):
        assert a.judgement.estimate.value == pytest.approx(b.judgement.estimate.value, rel=1e-3)


@pytest.mark.parametrize("name", ["-", "pipe"])
def test_a_pipe_is_read_whole(name, jobs, tmp_path):
    rows = "\n".join(",".join(map(repr, row)) for row in zip(*(x[:5000].tolist() for x in jobs.values()), strict=True))
    text, path = f"{','.join(jobs)}\n{rows}\n", Path(name)
    words = ["validate", "mm1", "lam=1/2", "mu=1", "--quantity", "mean_response", "--json", "--data"]
    if name == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
        threading.Thread(target=path.write_text, args=(text,)).start()
    found = json.loads(CliRunner().invoke(cli, [*words, str(path)], input=text).stdout)
    whole = validate("mm1", HALF, {x: jobs[x][:5000] for x in jobs}, quantities=["mean_response"])
    assert found["observations"] == 5000
    assert found["quantities"][0]["estimate"] == whole.findings[0].judgement.estimate.value
    assert not [*Path(tempfile.gettempdir()).glob("exaq-*")]


def test_bare_values_are_read_from_the_column_of_their_quantity(jobs):
    data = {"wait": jobs["t_start"] - jobs["t_arrive"], "response": jobs["t_end"] - jobs["t_arrive"]}
    for quantity, name in (("mean_wait", "wait"), ("mean_response", "response")):
        found = validate("mm1", HALF, data, quantities=[quantity]).findings[0].judgement.estimate
        assert found.value == pytest.approx(data[name].mean(), rel=1e-12)
    with pytest.raises(InputError, match="the column wait holds values of mean_wait, not of mean_queue"):
        validate("mm1", HALF, data, quantities=["mean_queue"])
    bare = validate("mm1", HALF, {"x": data["wait"]}, quantities=["mean_wait"])
    assert bare.findings[0].judgement.estimate.value == pytest.approx(data["wait"].mean())
    assert json.dumps(plain(bare))


def test_json_holds_no_infinity(jobs, tmp_path):
    path = tmp_path / "h.csv"
    path.write_text("value,count\n0,50\n1,30\n2,20\n")
    run = CliRunner().invoke(
        cli, ["validate", "mm1", "lam=1/2", "mu=1", "--data", str(path), "--quantity", "mean_response", "--json"]
    )
    found = json.loads(run.stdout, parse_constant=lambda word: pytest.fail(word))
    assert found["quantities"][0]["standard_error"] is None and found["quantities"][0]["needed"] is None


def test_marks_and_jumps_that_hold_most_of_a_run_decide_nothing(jobs):
    stays = jobs["t_end"] - jobs["t_arrive"]
    marked = validate("mm1", HALF, {"value": np.append(stays[:59_990], [999_999.0] * 30)}, quantities=["mean_response"])
    assert marked.verdict is Verdict.UNDECIDED  # the last values belong to the last batch
    time = np.concatenate([jobs["t_arrive"], jobs["t_end"]])
    order = np.argsort(time)
    path = {"t": np.append(time[order], 1e9), "level": np.append(np.cumsum(np.repeat([1, -1], 60_000)[order]), 0)}
    assert validate("mm1", HALF, path, quantities=["mean_queue"]).verdict is Verdict.UNDECIDED


def test_levels_in_another_unit_of_time_are_told_so_and_waiting_ones_are_not(jobs):
    time = np.concatenate([jobs["t_arrive"], jobs["t_end"]])
    order = np.argsort(time)
    level = np.cumsum(np.repeat([1, -1], 60_000)[order])
    for factor, said in ((1, False), (1000, True)):
        found = validate("mm1", HALF, {"t": factor * time[order], "level": level}, quantities=["mean_queue"])
        assert any("milliseconds for seconds" in note for note in found.notes) is said
        assert found.findings[0].judgement.estimate.modelled is not said
    waiting = {"t": 1000 * time[order], "requesters_length": np.maximum(level - 1, 0)}
    assert not any("unit of time" in note for note in validate("mm1", HALF, waiting, quantities=["mean_wait"]).notes)


def test_rounded_times_and_jobs_that_never_left_are_noted(jobs):
    down = {"response": np.floor(jobs["t_end"] - jobs["t_arrive"])}
    assert "half a unit short" in validate("mm1", HALF, down, quantities=["mean_response"]).notes[0]
    assert not validate("mm1", HALF, {"value": down["response"]}, quantities=["mean_queue"]).notes
    end = jobs["t_end"].copy()
    end[::50] = np.nan
    notes = validate("mm1", HALF, jobs | {"t_end": end}, quantities=["mean_response"]).notes
    assert notes == (
        "without departure: 1200 jobs, 600 of them in the first half of the run: lost or replaced? mean_response is "
        "that of the others",
    )


def test_junit_and_html_say_what_was_read_and_every_note(jobs):
    found = validate("mm1", HALF, scaled({name: x[:3000] for name, x in jobs.items()}, 1000), quantities=["mean_wait"])
    suite = ElementTree.fromstring(junit_text(found))
    of_case = {item.get("name"): item.get("value") for item in suite.iterfind("testcase/properties/property")}
    assert of_case["exaq.mean_wait.exact"] == "1 (exact)"
    said = {item.get("name"): item.get("value") for item in suite.iterfind("properties/property")}
    assert said == {
        "exaq.parameters": "lam=1/2 mu=1",
        "exaq.data": "data in memory (dict), 3000 jobs",
        "exaq.note": found.notes[-1],  # of properties of one name a dict keeps the last
    }
    assert [item.get("value") for item in suite.iterfind("properties/property")][2:] == list(found.notes)
    assert properties(found)["exaq.note.1"] == found.notes[0] and len(found.notes) == 2
    assert all(note in html_text(found) for note in found.notes) and "<ul></ul>" not in html_text(
        validate("mm1", HALF, jobs, quantities=["mean_wait"])
    )


def test_what_never_varies_in_the_model_agrees_when_it_does_not_in_the_data(jobs):
    found = validate("mm1", HALF, jobs, quantities=["tail"], indices=[0, 1])
    assert [finding.judgement.verdict for finding in found.findings] == [Verdict.AGREES, Verdict.AGREES]
    empty = {"t": np.arange(100.0) ** 1.1, "level": np.zeros(100)}
    assert validate("mm1", HALF, empty, quantities=["tail"], indices=[1]).verdict is Verdict.UNDECIDED
    header, rows = server_trace(JSQ(PAIR["pools"], "1/2"), 2, jobs=2_000, seed=1)
    data = dict(zip(header, rows.T, strict=True))
    assert validate("jsq", PAIR, data, quantities=["tail"], indices=[0]).verdict is Verdict.AGREES


def test_shuffled_values_are_told_from_those_in_order(jobs):
    stays = jobs["t_end"] - jobs["t_arrive"]
    mixed = np.random.default_rng(1).permutation(stays)
    for values, said in ((stays, False), (mixed, True), (mixed[:2000], True)):
        found = validate("mm1", HALF, {"value": values}, quantities=["mean_response"])
        assert ("shuffled?" in found.findings[0].judgement.reason) is said
        assert (found.verdict is Verdict.UNDECIDED) is said
    apart = {"replication": np.arange(4000), "value": np.random.default_rng(2).permutation(stays)[:4000]}
    assert validate("mm1", HALF, apart, quantities=["mean_response"]).verdict is Verdict.AGREES
    turns = {"value": np.tile([0.0, 2.0], 10_000)}
    assert validate("mm1", HALF, turns, quantities=["mean_wait"]).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda jobs: None, "NoneType is no data"),
        (lambda jobs: b"abc", "bytes is no data"),
        (lambda jobs: np.column_stack(list(jobs.values())), "an array of shape"),
        (lambda jobs: {"value": np.ones(100) * 1j}, "no list of numbers"),
        (lambda jobs: [jobs["t_end"], "x.csv"], "different lengths"),
        (lambda jobs: {"value": np.ma.masked_greater(jobs["t_end"] - jobs["t_arrive"], 5)}, "finite values are needed"),
        (lambda jobs: scaled(jobs, 1e200), "too large for a time"),
        (lambda jobs: {"value": ["1.5", "2.5"]}, "'1.5' is text; numbers are needed"),
    ],
)
def test_what_is_no_data_is_refused_in_one_line(make, says, jobs):
    with pytest.raises(InputError, match=says):
        validate("mm1", HALF, make(jobs), quantities=["mean_response"])


def test_odd_calls_end_clearly(jobs):
    few = {name: x[:3000] for name, x in jobs.items()}
    with pytest.raises(InputError, match="no quantity is asked for; mm1 has mean_queue"):
        assert_agrees(few, "mm1", HALF, quantity=[])
    with pytest.raises(NotExact, match=r"lam = 0\.5 is a float; write '1/2'"):
        validate("mm1", {"lam": 0.5, "mu": 1}, few, quantities=["mean_response"])
    assert validate("mm1", {"lam": Fraction(1, 2), "mu": 1}, few, quantities=["mean_response"]).parameters == HALF
    for factor in (1e-200, 1e-310):
        assert validate("mm1", HALF, scaled(few, factor), quantities=["mean_response"]).verdict is not Verdict.AGREES
    found = validate("mm1", HALF, few, quantities=["mean_response"], margin="abs:1e-300").findings[0].judgement
    assert found.verdict is Verdict.UNDECIDED and found.needed == float("inf")
