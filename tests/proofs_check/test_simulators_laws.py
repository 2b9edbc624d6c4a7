"""The law of slot ages as a whole: the null is uniform, the exact law is its centre, equal means do not hide."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from aoi_tools import Actual, Feedback, Periodic, age_law, slot_ages
from exactchains import InputError
from exactchains.domain import Floats
from proofs_check.cli.main import cli
from proofs_check.simulators.laws import _joint_law, law_test


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
    assert result.exit_code == 2 and "--law: slot ages are compared" in result.output


def test_a_law_without_end_is_refused():
    with pytest.raises(InputError, match="too likely"):
        law_test(Actual("99999/100000"), np.zeros(10))
