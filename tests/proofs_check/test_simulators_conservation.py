"""Numbers that jobs found on arrival against the list of jobs: right lists are quiet, lost rows are placed in time."""

import numpy as np
import pytest

from proofs_check.catalogue import find
from proofs_check.simulators.conservation import count_notes
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.validation import validate
from tests.source import ROOT

LOAD = {"lam": "4/5", "mu": "1"}


@pytest.fixture(scope="module")
def trace() -> dict[str, np.ndarray]:
    header, table = job_trace("mm1", find("mm1").read(LOAD), jobs=4000, seed=3)
    data = dict(zip(header, table.T, strict=True))
    arrive, end = data["t_arrive"], data["t_end"]
    data["found"] = np.array([float(np.sum(end[:i] > arrive[i])) for i in range(len(arrive))])
    return data


@pytest.mark.parametrize("itself", [0, 1])
def test_right_lists_are_quiet(trace, itself):
    assert not list(count_notes(trace["t_arrive"], trace["t_end"], trace["found"] + itself, "found"))
    open_end = np.where(trace["t_end"] > trace["t_arrive"][-1], np.nan, trace["t_end"])
    assert not list(count_notes(trace["t_arrive"], open_end, trace["found"] + itself, "found"))


def test_lost_rows_are_placed(trace):
    kept = np.ones(4000, dtype=bool)
    kept[2000:2400:2] = False  # 200 jobs of the sixth tenth are not listed
    rows = {name: column[kept] for name, column in trace.items()}
    found = validate("mm1", LOAD, rows, quantities=["mean_response"])
    note = next(note for note in found.notes if note.startswith("Little's law"))
    start, end = (float(word) for word in note.split("from time ")[1].split(" it has")[0].split(" to "))
    assert start <= trace["t_arrive"][2400] and end >= trace["t_arrive"][2000] and "more on average" in note
    whole = validate("mm1", LOAD, trace, quantities=["mean_response"])
    assert not any("Little" in note for note in whole.notes)


def test_jobs_listed_twice_over_count_fewer(trace):
    other = np.concatenate([trace["t_arrive"], trace["t_arrive"][3600:] + 1e-3])
    end = np.concatenate([trace["t_end"], trace["t_end"][3600:] + 1e-3])
    note = next(count_notes(other, end, np.concatenate([trace["found"], trace["found"][3600:]]), "found"))
    assert "fewer on average" in note


def test_records_of_ciw_are_quiet_until_rows_are_taken_out(tmp_path):
    header, *rows = (ROOT / "tests/data/sim_samples/ciw_mm1_records.csv").read_text().splitlines()
    for kept, expected in ((rows, False), (rows[:300] + rows[330:], True)):
        path = tmp_path / "kept.csv"
        path.write_text("\n".join([header, *kept, ""]))
        found = validate("mm1", LOAD, path, quantities=["mean_wait"])
        assert any(note.startswith("Little's law") for note in found.notes) is expected


def test_a_file_cut_off_at_its_beginning_is_noticed():
    # the first of these 1500 rows found a dozen jobs, which stood in the rows above
    path = ROOT / "tests/data/sim_samples/queueingtool_mm1_queue_data.csv"
    notes = " | ".join(validate("mm1", LOAD, path, quantities=["mean_wait"]).notes)
    assert "in 1 of 10 windows; from time 1795.07" in notes and "more on average" in notes
