"""The law of slot ages as a whole: the null is uniform, the exact law is its centre, equal means do not hide."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from aoi_tools import Actual, Feedback, Periodic, age_law, slot_ages
from exactchains import InputError
from exactchains.domain import Floats
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.simulators import presets
from proofs_check.simulators.knowledge import knowledge
from proofs_check.simulators.laws import _joint_law, law_test
from proofs_check.simulators.queue_laws import changes, queue_law_test
from proofs_check.simulators.validation import Rule, validate


@pytest.mark.parametrize("scheme", [Actual("1/3"), Feedback("1/2", "1/10"), Periodic("1/2", "1/10", 2)])
def test_joint_law_is_the_exact_one(scheme):
    up, reset = (np.array(block, dtype=float) for block in scheme.blocks(Floats()))
    found, law = _joint_law(up, reset).sum(axis=1), age_law(scheme)
    exact = [law.pmf(j) for j in range(8)]
    assert found[:8] == pytest.approx([int(x.p) / int(x.q) for x in exact], rel=1e-9)


@pytest.mark.parametrize("scheme", [Actual("1/3"), Periodic("1/2", "1/10", 2)])
def test_pvalues_of_right_simulators_are_uniform(scheme):
    found = [law_test(scheme, slot_ages(scheme, slots=300, seed=s), runs=39, seed=s).pvalue for s in range(80)]
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    assert np.mean(found) == pytest.approx(0.5, abs=0.12)


def test_tables_of_kolmogorov_would_reject_right_simulators():
    scheme = Actual("19/20")
    ages = [slot_ages(scheme, slots=2000, seed=s) for s in range(8)]
    naive = [stats.kstwo.sf(law_test(scheme, a, runs=99).distance, 2000) for a in ages]
    ours = [law_test(scheme, a, runs=99).pvalue for a in ages]
    assert sum(p < 1e-3 for p in naive) >= 3 and sum(p < 0.05 for p in ours) == 0


def test_equal_means_do_not_hide_another_law():
    right, other = Feedback("1/2", "1/10"), Actual("1/4")
    assert age_law(right).mean() == age_law(other).mean()
    test = law_test(right, slot_ages(other, slots=4000, seed=1))
    assert test.pvalue == 1 / 1000 and "not the model's law" in str(test)


def test_command_line_says_the_law_of_consecutive_slot_ages(tmp_path):
    ages = slot_ages(Feedback("1/2", "1/10"), slots=3000, seed=2)
    words = [
        "validate",
        "age.feedback",
        "p=1/2",
        "d=1/10",
        "--data",
        str(tmp_path / "a.csv"),
        "--quantity",
        "slot_mean",
    ]
    np.savetxt(tmp_path / "a.csv", ages, fmt="%d", header="age", comments="")
    result = CliRunner().invoke(cli, [*words, "--law"])
    assert "law of the slot ages in the first 3000 slots" in result.output and "not the model's" not in result.output
    assert "law of the slot ages" not in CliRunner().invoke(cli, words).output
    thin = np.column_stack([np.arange(0, 3000, 2), ages[::2]])
    np.savetxt(tmp_path / "a.csv", thin, fmt="%d", delimiter=",", header="slot,age", comments="")
    result = CliRunner().invoke(cli, [*words, "--law"])
    assert result.exit_code == 2 and "every slot" in result.output
    (tmp_path / "jobs.csv").write_text("value\n" + "\n".join(map(str, range(200))))
    result = CliRunner().invoke(
        cli,
        [
            "validate",
            "mm1",
            "lam=1/2",
            "mu=1",
            "--data",
            str(tmp_path / "jobs.csv"),
            "--quantity",
            "mean_wait",
            "--law",
        ],
    )
    assert result.exit_code == 2 and "--law" in result.output and "it needs a job trace" in result.output


def test_a_law_without_end_is_refused():
    with pytest.raises(InputError, match="too likely"):
        law_test(Actual("99999/100000"), np.zeros(10))


def queue(servers: int, lam: float, jobs: int, seed: int, law=np.random.Generator.exponential) -> dict[str, np.ndarray]:
    """A first come, first served queue by a plain loop."""
    rng, free = np.random.default_rng(seed), [0.0] * servers
    arrive, work = np.cumsum(rng.exponential(1 / lam, jobs)), law(rng, size=jobs)
    end = np.empty(jobs)
    for i, (time, length) in enumerate(zip(arrive, work, strict=True)):
        first = free.index(min(free))
        end[i] = free[first] = max(time, free[first]) + length
    return {"t_arrive": arrive, "t_end": end}


def queue_pvalue(model: str, words: dict[str, str], data: dict[str, np.ndarray], runs: int, seed: int = 0) -> float:
    seen = knowledge(find(model), find(model).read(words), None)
    levels = presets.read(data, seen.observed).levels()
    return queue_law_test(seen.chain(), *levels, runs=runs, seed=seed).pvalue


def test_pvalues_of_right_queues_are_uniform():
    words = {"lam": "3/2", "mu": "1", "c": "3"}
    found = [queue_pvalue("mmc", words, queue(3, 1.5, 150, s), 39, s) for s in range(80)]
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_another_law_of_service_is_seen_in_the_law_of_the_number():
    constant = queue(1, 0.5, 4000, 1, lambda rng, size: np.ones(size))
    assert queue_pvalue("mm1", {"lam": "1/2", "mu": "1"}, constant, 199) == 1 / 200
    assert queue_pvalue("mm1", {"lam": "1/2", "mu": "1"}, queue(1, 0.5, 4000, 1), 199) > 0.01


def test_changes_join_equal_levels_and_drop_moments():
    durations, levels = changes(np.array([1.0, 0, 2, 3, 4]), np.array([1.0, 2, 1, 1, 2]))
    assert durations.tolist() == [6, 4] and levels.tolist() == [1, 2]


def test_whole_law_of_a_level_path_and_its_refusals():
    data = queue(1, 0.5, 600, 3)
    seen = knowledge(find("mm1"), find("mm1").read({"lam": "1/2", "mu": "1"}), None)
    durations, levels = presets.read(data, seen.observed).levels()
    path = {"t": np.concatenate([[0.0], np.cumsum(durations)]), "level": np.append(levels, 0.0)}
    rule = {"quantities": ["mean_queue"], "rule": Rule(law=True)}
    words = {"lam": "1/2", "mu": "1"}
    one, two = ([n for n in validate("mm1", words, d, **rule).notes if "law of" in n] for d in (data, path))
    assert one == two and "number in the system over the first" in one[0]
    with pytest.raises(InputError, match="Markov queues"):
        validate("md1", words, data, **rule)
