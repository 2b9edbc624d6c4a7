"""Outputs of real simulators, shortened, read as they are: estimates against plain loops, verdicts, traps in words."""

import csv
import json
from itertools import pairwise

import pytest

from exactchains import InputError
from proofs_check.simulators.validation import validate
from tests.source import ROOT

SAMPLES = ROOT / "tests/data/sim_samples"
MM1 = {"lam": "0.8", "mu": "1"}
POOLS = {"pools": "1/3:3/2,1/3:1,1/3:1/2", "n": "3", "lam": "2/3"}


def rows(name: str) -> list[dict[str, str]]:
    with (SAMPLES / name).open(newline="") as file:
        return list(csv.DictReader(file))


def judged(name: str, quantity: str, model: str = "mm1", parameters=MM1, **options):
    found = validate(model, parameters, SAMPLES / name, quantities=[quantity], **options)
    return found.findings[0].judgement, " | ".join(found.notes)


def time_average(events: list[tuple[float, int]], until: float) -> float:
    """Average of a level that starts at 0 and changes at events, from the first of them on."""
    events = sorted(e for e in events if e[0] <= until)
    level, last, area = 0, events[0][0], 0.0
    for time, step in events:
        area += level * (time - last)
        level, last = level + step, time
    return (area + level * (until - last)) / (until - events[0][0])


def test_ciw_records():
    listed = rows("ciw_mm1_records.csv")
    waits = [float(r["service_start_date"]) - float(r["arrival_date"]) for r in listed]
    j, notes = judged("ciw_mm1_records.csv", "mean_wait")
    assert j.estimate.value == pytest.approx(sum(waits) / len(waits), rel=1e-12)
    assert j.verdict.value == "undecided"  # 900 strongly correlated jobs: no fault, and no proof
    assert j.needed > 100_000
    assert "unfinished jobs are missing" in notes


def test_ciw_shortest_queue_counts_waiting_customers_only():
    listed = [r for r in rows("ciw_jsq_hetero_records.csv") if r["node"] != "1"]
    j, notes = judged("ciw_jsq_hetero_records.csv", "mean_queue", "jsq", POOLS)
    arrivals = [float(r["arrival_date"]) for r in listed]
    events = [(t, 1) for t in arrivals] + [(float(r["exit_date"]), -1) for r in listed]
    assert j.estimate.value == pytest.approx(time_average(events, max(arrivals)) / 3, rel=1e-9)
    assert float(j.exact.lower) == pytest.approx(3.5474 / 3, rel=1e-4)
    assert j.verdict.value == "undecided"
    assert "waiting customers only" in notes and "dispatcher" in notes and "count jobs twice" in notes


def test_simpy_job_trace():
    listed = rows("simpy_mm1_jobs.csv")
    stays = [float(r["t_depart"]) - float(r["t_arrive"]) for r in listed]
    j, notes = judged("simpy_mm1_jobs.csv", "mean_response")
    assert j.estimate.value == pytest.approx(sum(stays) / len(stays), rel=1e-12)
    assert j.verdict.value == "undecided" and "lacks its unfinished jobs" in notes


def test_simpy_polled_levels_add_waiting_and_in_service():
    listed = rows("simpy_mm1_polled.csv")
    j, notes = judged("simpy_mm1_polled.csv", "mean_queue")
    assert j.estimate.value == pytest.approx(
        sum(int(r["queue_len"]) + int(r["busy"]) for r in listed) / len(listed), rel=1e-12
    )
    assert j.verdict.value == "undecided" and "polled" in notes


def test_salabim_levels_are_weighted_by_time():
    listed = [(float(r["t"]), int(r["requesters_length"])) for r in rows("salabim_mm1_level_monitor.csv")]
    area = sum(level * (after - time) for (time, level), (after, _) in pairwise(listed))
    weighted = area / (listed[-1][0] - listed[0][0])
    plain = sum(level for _, level in listed) / len(listed)
    j, notes = judged("salabim_mm1_level_monitor.csv", "mean_wait")
    assert j.estimate.value == pytest.approx(weighted / 0.8, rel=1e-12)  # Little's law
    assert "waiting jobs only" in notes and "event weighting" in notes
    assert f"ends with a change at {listed[-1][0]:.6g}" in notes
    assert f"{weighted:.4g}" in notes and f"{plain:.4g}" in notes
    with pytest.raises(InputError, match="counts waiting jobs only; mean_queue cannot"):
        judged("salabim_mm1_level_monitor.csv", "mean_queue")


def test_queueing_tool_departure_zero_is_no_time():
    listed = [(float(r["arrival"]), float(r["departure"])) for r in rows("queueingtool_mm1_queue_data.csv")]
    stays = [d - a for a, d in listed if d > 0]
    naive = sum(d - a for a, d in listed) / len(listed)
    j, notes = judged("queueingtool_mm1_queue_data.csv", "mean_response")
    assert len(stays) == len(listed) - 1
    assert j.estimate.value == pytest.approx(sum(stays) / len(stays), rel=1e-9)
    assert j.verdict.value == "undecided"
    assert "departure 0" in notes and f"{naive:.4g}" in notes


def test_aoi_simulator_deliveries():
    data = sorted(json.loads((SAMPLES / "aoi_simulator_mm1_data.json").read_text()).values(), key=lambda row: row[2])
    delivered = [(generated, delivery) for generated, _, delivery in data if delivery > 0]
    area = sum((y - g) ** 2 - (x - g) ** 2 for (g, x), (_, y) in pairwise(delivered)) / 2
    j, notes = judged("aoi_simulator_mm1_data.json", "age_mean", "mm1", {"lam": "0.5", "mu": "1"})
    assert j.estimate.value == pytest.approx(area / (delivered[-1][1] - delivered[0][1]), rel=1e-9)
    assert float(j.exact.lower) == 3.5
    assert "had not left (3)" in notes and "preempted" in notes


@pytest.mark.parametrize("preset", ["ciw", "salabim", "nonsense"])
def test_a_preset_that_does_not_fit_is_refused(preset):
    with pytest.raises(InputError, match=r"are not those of|allowed are"):
        judged("simpy_mm1_jobs.csv", "mean_response", preset=preset)


def test_results_of_the_aoi_simulator_decide_nothing(tmp_path):
    results = {"mean": {"0": {"MeanAoI": 3.41, "RMSE": 0.039}}, "peak": {"0": {"MeanPeakAoI": 3.89, "RMSE": 0.03}}}
    path, half = tmp_path / "result.json", {"lam": "1/2", "mu": "1"}

    def read(found, quantity="age_mean"):
        path.write_text(json.dumps(found))
        return validate("mm1", half, path, quantities=[quantity], preset="aoi-simulator")

    for quantity, value in (("age_mean", 3.41), ("peak_mean", 3.89)):
        found = read(results, quantity)
        (judgement,) = (finding.judgement for finding in found.findings)
        assert judgement.estimate.value == value and judgement.verdict.value == "undecided"
        assert "no error is given" in judgement.reason and "RMSE of the aoi-simulator" in found.notes[0]
    with pytest.raises(InputError, match="age_variance is not among these results"):
        read(results, "age_variance")
    with pytest.raises(InputError, match="2 sources"):
        read({"mean": {"0": {"MeanAoI": 3.4}, "1": {"MeanAoI": 3.5}}})
    for broken in ({"mean": {"a": 5}}, {"mean": {"a": {"MeanAoI": "x"}}}, {"mean": {}}, {"peak": [1]}, {"mean": None}):
        with pytest.raises(InputError):
            read(broken)
