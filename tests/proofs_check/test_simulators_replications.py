"""Replications: how they are given, what they are worth, and an empty start named; its means by other routes."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.linalg import expm
from scipy.sparse import csr_matrix, diags

from exactchains import InputError
from meanfield.models.shortest import JSQ
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.simulators.birth_death import birth_death
from proofs_check.simulators.empty_start import FAULT, Length, first_jobs, queue_suspects, server_suspects, time_average
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.server_runs import server_trace
from proofs_check.simulators.validation import Rule, validate

BUSY = {"lam": "4/5", "mu": "1"}
PAIR = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}


def replicated(make, runs: int) -> dict[str, np.ndarray]:
    tables = [make(seed) for seed in range(runs)]
    header, rows = tables[0][0], np.concatenate([table[1] for table in tables])
    numbers = np.repeat(np.arange(runs), [len(table[1]) for table in tables])
    return dict(zip(header, rows.T, strict=True)) | {"replication": numbers}


@pytest.fixture(scope="module")
def short() -> dict[str, np.ndarray]:
    values = find("mm1").read(BUSY)
    return replicated(lambda seed: job_trace("mm1", values, jobs=60, seed=seed), 400)


def by_exponential(Q: np.ndarray, f: np.ndarray, horizon: float) -> float:
    """The integral of a matrix exponential stands in the corner of a larger one (Van Loan 1978)."""
    size = len(Q)
    whole = np.block([[Q, np.eye(size)], [np.zeros((size, 2 * size))]])
    return float(expm(whole * horizon)[0, size:] @ f / horizon)


@pytest.mark.parametrize("horizon", [0.3, 4.0, 50.0])
def test_time_averages_are_those_of_the_matrix_exponential(horizon):
    birth, death = np.array([2.0, 1.5, 1.0]), np.array([1.0, 2.0, 3.0])
    Q = np.diag(birth, 1) + np.diag(death, -1)
    Q -= np.diag(Q.sum(axis=1))
    f = np.array([0.0, 1.0, 4.0, 9.0])
    found = time_average(csr_matrix(Q), np.eye(4)[0], f, horizon)
    assert found == pytest.approx(by_exponential(Q, f, horizon), rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 7, 400])
def test_first_jobs_follow_from_the_inverse(count):
    chain = birth_death("mm1k", {"lam": 2.0, "mu": 1.0, "k": 4})
    Q = csr_matrix(diags([chain.birth[:-1], -(chain.birth + chain.death), chain.death[1:]], [1, 0, -1]))
    B = csr_matrix(diags([chain.birth[:-1]], [1]))
    inverse = np.linalg.inv((B - Q).toarray())
    law, laws, times = np.eye(5)[1], np.zeros(5), np.zeros(5)
    for k in range(count):
        laws += law
        if k < count - 1:
            times += law @ inverse
            law = law @ inverse @ B.toarray()
    found = first_jobs(Q, B, np.eye(5)[1], count)
    np.testing.assert_allclose(found[0], laws, rtol=1e-9)
    np.testing.assert_allclose(found[1], times, rtol=1e-9, atol=1e-12)
    assert found[0].sum() == pytest.approx(count)


def test_the_second_wait_of_an_empty_queue():
    chain = birth_death("mm1", {"lam": 0.5, "mu": 1.0})
    (found,) = queue_suspects(chain, "mm1", 1.0, "mean_wait", None, Length(0.0, 2, True))
    assert float(found.value.lower) == pytest.approx((0 + 1 / 3) / 2)  # E (S - A)+ = 1 / (1 + lam) lam / mu
    (found,) = queue_suspects(chain, "mm1", 1.0, "mean_queue", None, Length(1e7, 0, False))
    assert float(found.value.lower) == pytest.approx(1.0, rel=1e-6)


def test_servers_start_empty_as_one_queue_does():
    """Two equal servers with room for one job each are an M/M/2/2 queue."""
    policy, runs = JSQ("1:1", "1/2"), Length(3.0, 0, False)
    (found,) = server_suspects(policy, 2, 1, "mean_queue", None, runs)
    Q = np.array([[-1.0, 1, 0], [1, -2, 1], [0, 2, -2]])
    assert float(found.value.lower) == pytest.approx(by_exponential(Q, np.arange(3) / 2, 3.0), rel=1e-9)


@pytest.mark.parametrize("quantity", ["mean_queue", "mean_response", "mean_wait"])
def test_an_empty_start_is_named(short, quantity):
    found = validate("mm1", BUSY, short, quantities=[quantity])
    (finding,) = found.findings
    assert finding.judgement.verdict.value == "disagrees" and found.what == "jobs in 400 replications"
    assert FAULT in [s.fault for s in finding.diagnosis.matches]
    assert finding.judgement.estimate.method == "replications" and finding.judgement.estimate.batches == 400


def test_an_empty_start_of_servers_is_named():
    policy = JSQ(PAIR["pools"], "1/2")
    data = replicated(lambda seed: server_trace(policy, 2, jobs=15, seed=seed), 500)
    (finding,) = validate("jsq", PAIR, data, quantities=["mean_queue"]).findings
    assert finding.judgement.verdict.value == "disagrees"
    assert FAULT in [s.fault for s in finding.diagnosis.matches]


def test_long_replications_without_their_beginning_agree():
    values = find("mm1").read({"lam": "1/2", "mu": "1"})
    data = replicated(lambda seed: job_trace("mm1", values, jobs=2000, seed=seed), 30)
    found = validate("mm1", {"lam": "1/2", "mu": "1"}, data, quantities=["mean_response"], warmup="10%", margin="10%")
    assert found.verdict.value == "agrees" and found.findings[0].judgement.estimate.weight == 30 * 1800


def test_files_and_columns_give_one_estimate(short, tmp_path):
    names = ("t_arrive", "t_start", "t_end")
    for k in range(12):
        rows = np.column_stack([short[name][short["replication"] == k] for name in names])
        np.savetxt(tmp_path / f"{k:02d}.csv", rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    some = {name: column[short["replication"] < 12] for name, column in short.items()}
    np.savetxt(tmp_path / "all.txt", np.column_stack(list(some.values())), delimiter=",", header=",".join(some))
    files = sorted(tmp_path.glob("*.csv"))
    ways = [some, files, tmp_path / "*.csv", tmp_path / "all.txt", list(reversed(files))]
    found = [validate("mm1", BUSY, way, quantities=["mean_queue"]) for way in ways]
    values = [f.findings[0].judgement.estimate.value for f in found]
    assert values == pytest.approx([values[0]] * len(ways), rel=1e-9)
    assert found[1].source.endswith("00.csv and 11 more files")
    words = [word for file in files for word in ("--data", str(file))]
    result = CliRunner().invoke(cli, ["validate", "mm1", "lam=4/5", "mu=1", *words, "--quantity", "mean_queue"])
    assert result.exit_code == 3 and "12 replications, worth" in result.output


def test_one_replication_is_a_run(short):
    one = {name: column[:60] for name, column in short.items()}
    assert validate("mm1", BUSY, one, quantities=["mean_wait"]).what == "jobs"


def test_replications_that_cannot_be(short, tmp_path):
    def refused(data, says, **options):
        with pytest.raises(InputError, match=says):
            validate("mm1", BUSY, data, quantities=["mean_wait"], **options)

    short = {name: column[: 20 * 60] for name, column in short.items()}
    refused({name: column[:300] for name, column in short.items()}, "5 replications; at least 10 are needed")
    copies = {name: np.tile(column[:60], 12) for name, column in short.items()}
    refused(copies | {"replication": np.repeat(np.arange(12), 60)}, "do they start from the same seed")
    refused(short, "replications are independent", rule=Rule("spectral"))
    refused(short, "--law", rule=Rule(law=True))
    refused(short | {"replication": np.where(short["replication"] == 3, np.nan, 1.0)}, "has no number in the column")
    refused(tmp_path / "*.csv", "no such file")
    refused({"mean": [1.0] * 12, "half_width": [0.1] * 12, "rep": np.arange(12)}, "finished numbers are no repl")
    late = short["t_end"].copy()
    late[70] = 0.001
    refused(short | {"t_end": late}, r"\(replication 1\) line 71: departure 0.001 is before")
