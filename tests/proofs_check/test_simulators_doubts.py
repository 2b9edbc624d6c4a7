"""Data that speak against any verdict: copies, losses, gaps, marks and left-out events; right runs raise no doubt."""

from xml.etree import ElementTree

import numpy as np
import pytest

from exactchains import InputError
from proofs_check.catalogue import find
from proofs_check.simulators.pages import html_text, junit_text
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.repeats import repeats
from proofs_check.simulators.validation import validate
from proofs_check.simulators.verdict import Verdict
from proofs_check.simulators.wording import lines, plain

HALF = {"lam": "1/2", "mu": "1"}
FEEDBACK = {"p": "1/2", "d": "1/10"}


@pytest.fixture(scope="module")
def jobs() -> dict[str, np.ndarray]:
    header, rows = job_trace("mm1", find("mm1").read(HALF), jobs=60_000, seed=1)
    return dict(zip(header, rows.T, strict=True))


def reason(data, quantity="mean_response", model="mm1", words=HALF):
    """Return why nothing is decided; a decision fails."""
    found = validate(model, words, data, quantities=[quantity], margin="30%")
    assert found.verdict is Verdict.UNDECIDED and found.findings[0].diagnosis is None
    return found.findings[0].judgement.reason


def tiled(part, times):
    """Return a trace in which one part follows itself, its clock going on."""
    span = part["t_arrive"][-1] + 1
    return {name: np.concatenate([x + k * span for k in range(times)]) for name, x in part.items()}


def slot_ages(size, seed=1):
    """Return slot ages: an update fails with 1/10 after a success, with 1/2 after a failure."""
    found = [0]
    for u in np.random.default_rng(seed).random(size - 1):
        found.append(found[-1] + 1 if u < (0.5 if found[-1] else 0.1) else 0)
    return np.array(found)


def path(jobs):
    """Return times and levels at every arrival and departure."""
    times = np.concatenate([jobs["t_arrive"], jobs["t_end"]])
    order = np.argsort(times, kind="stable")
    steps = np.repeat([1, -1], len(jobs["t_arrive"]))[order]
    return {"t": times[order], "level": np.cumsum(steps)}, steps


def test_copies_of_one_stretch_are_no_longer_run(jobs):
    part = {name: jobs[name][:2500] for name in ("t_arrive", "t_start", "t_end")}
    many = tiled(part, 16)
    assert "more than once" in reason(many)
    assert "more than once" in reason({"response": many["t_end"] - many["t_arrive"]})
    assert "more than once" in reason(path(many)[0], "mean_queue")
    times = np.arange(0, part["t_end"][-1], 2)
    seen = [np.searchsorted(np.sort(part[name]), times, side="right") for name in ("t_arrive", "t_end")]
    polled = np.tile(seen[0] - seen[1], 20)
    assert "more than once" in reason({"t": 2.0 * np.arange(len(polled)), "level": polled}, "mean_queue")
    assert "more than once" in reason({"age": np.tile(slot_ages(4000), 20)}, "slot_mean", "age.feedback", FEEDBACK)


def test_a_run_that_repeats_nothing_is_not_taken_for_copies(jobs):
    rng = np.random.default_rng(1)
    stays = jobs["t_end"] - jobs["t_arrive"]
    flips = np.cumsum(rng.random(100_000) < 0.001) % 2  # long equal stretches
    for values in (stays, stays.round(1), rng.integers(0, 2, 50_000), flips, np.ones(5000), np.zeros(5000)):
        assert not repeats(values)
    assert not repeats(slot_ages(50_000)) and not repeats(np.empty(0))


def test_lost_departures_and_rows_leave_everything_undecided(jobs):
    stays = jobs["t_end"] - jobs["t_arrive"]
    lost = jobs | {"t_end": np.where(stays > 6, np.nan, jobs["t_end"])}
    assert "in the middle of the run have no departure" in reason(lost)
    room = validate("mm1k", HALF | {"K": "99"}, lost, quantities=["mean_response"], margin="30%")
    assert room.verdict is not Verdict.UNDECIDED  # there a job may never be served
    found = np.searchsorted(np.sort(jobs["t_end"]), jobs["t_arrive"], side="right")
    listed = jobs | {"found": np.arange(len(found)) - found}
    kept = {name: x[stays < 6] for name, x in listed.items()}
    assert "Little's law" in reason(kept)


def test_slots_left_out_unevenly_are_counted_and_decide_nothing():
    ages = slot_ages(60_000)
    keep = (ages > 0) | (np.arange(len(ages)) % 2 > 0)
    gaps = {"slot": np.flatnonzero(keep), "age": ages[keep]}
    assert "unevenly" in reason(gaps, "slot_mean", "age.feedback", FEEDBACK)
    third = {"slot": np.arange(0, 60_000, 3), "age": ages[::3]}
    thinned = validate("age.feedback", FEEDBACK, third, quantities=["slot_mean"], margin="30%")
    assert thinned.verdict is Verdict.AGREES and any("39998 slots are left out" in note for note in thinned.notes)


def test_marks_and_other_units_within_values_are_told_from_all_in_another_unit(jobs):
    stays = jobs["t_end"] - jobs["t_arrive"]
    some = np.arange(len(stays)) % 100 == 7
    assert "marks of missing values" in reason({"response": np.where(some, 9999, stays)})
    assert "marks of missing values" in reason({"response": np.where(some, 1000 * stays, stays)})
    whole = validate("mm1", HALF, {"response": 1000 * stays}, quantities=["mean_response"])
    assert whole.verdict is Verdict.DISAGREES and "1000 times" in whole.findings[0].diagnosis.matches[0].fault


def test_a_level_written_at_arrivals_only_decides_nothing(jobs):
    levels, steps = path(jobs)
    right = validate("mm1", HALF, levels, quantities=["mean_queue"], margin="30%")
    assert right.verdict is Verdict.AGREES
    assert "by more than one" in reason({name: x[steps > 0] for name, x in levels.items()}, "mean_queue")


def test_two_jobs_in_service_at_once_are_no_trace_of_one_server():
    header, rows = job_trace("mmc", find("mmc").read({"lam": "1/2", "mu": "1", "c": "2"}), jobs=20_000, seed=1)
    data = dict(zip(header, rows.T, strict=True))
    found = validate("mm1", HALF, data, quantities=["mean_response"])
    assert any("begin service before" in note for note in found.notes)
    assert found.verdict is Verdict.DISAGREES and found.findings[0].diagnosis is None
    late = data | {"t_end": data["t_end"] + 2 * (np.arange(20_000) % 2), "t_start": data["t_arrive"]}
    both = {name: late[name] for name in ("t_arrive", "t_end")}
    assert any("not first come" in n for n in validate("mm1", HALF, both, quantities=["mean_response"]).notes)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"value": np.full(5000, 2.0), "weight": np.zeros(5000)}, "all weights are 0"),
        ([[1.0, 2.0], [1.0]], "row 2: .* no row like the first one"),
        ("absent.csv", "No such file"),
        (".", "a directory"),
    ],
)
def test_what_holds_no_data_is_one_line(data, says):
    with pytest.raises(InputError, match=says):
        validate("mm1", HALF, data, quantities=["mean_wait"])


def test_a_comment_above_the_header_is_named(tmp_path):
    (tmp_path / "x.csv").write_text("# my simulator\nt_arrive,t_end\n1,2\n")
    with pytest.raises(InputError, match="the first line is a comment"):
        validate("mm1", HALF, tmp_path / "x.csv", quantities=["mean_response"])


def test_a_quantity_that_these_data_do_not_tell_does_not_stop_the_others(jobs):
    waits = {"wait": jobs["t_start"] - jobs["t_arrive"]}
    found = validate("mm1", HALF, waits, quantities=["mean_response", "mean_wait"], margin="30%")
    assert [f.judgement.quantity for f in found.findings] == ["mean_wait"] and found.verdict is Verdict.UNDECIDED
    assert found.findings[0].judgement.verdict is Verdict.AGREES
    assert "mean_response: no finding" in lines(found)[-1] and plain(found)["refused"]
    suite = ElementTree.fromstring(junit_text(found))
    assert suite.get("errors") == "1" and suite.get("tests") == "2" and "no finding" in html_text(found)
    with pytest.raises(InputError, match="not of mean_response"):
        validate("mm1", HALF, waits, quantities=["mean_response"])
