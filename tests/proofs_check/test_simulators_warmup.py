"""Warm-up: MSER-5 against the sum it minimises, and runs that begin far from where they go on."""

import numpy as np
import pytest

from exactchains import InputError
from proofs_check.simulators.validation import validate
from proofs_check.simulators.warmup import mser5, read_fraction, without_beginning

HALF = {"lam": "1/2", "mu": "1"}


def overloaded_start(jobs: int, waiting: float, seed: int) -> dict[str, np.ndarray]:
    """M/M/1 at load 1/2 that begins with work for ``waiting`` units of time."""
    rng = np.random.default_rng(seed)
    arrive = np.cumsum(rng.exponential(2.0, jobs))
    service = rng.exponential(1.0, jobs)
    start, free = np.empty(jobs), waiting
    for i in range(jobs):
        start[i] = max(arrive[i], free)
        free = start[i] + service[i]
    return {"t_arrive": arrive, "t_start": start, "t_end": start + service}


def test_mser5_minimises_its_sum():
    values = np.concatenate([np.linspace(9, 0, 60), np.random.default_rng(1).normal(size=340)])
    means = values.reshape(-1, 5).mean(axis=1)
    scores = [np.sum((means[d:] - means[d:].mean()) ** 2) / (80 - d) ** 2 for d in range(41)]
    assert mser5(values) == 5 * int(np.argmin(scores))


def test_a_warm_up_is_no_disagreement_and_can_be_left_out():
    data = overloaded_start(60_000, 6_000.0, 3)
    found = validate("mm1", HALF, data, quantities=["mean_wait"], margin="20%").findings[0].judgement
    assert found.verdict.value == "undecided" and "--warmup" in found.reason
    share = found.reason.split("--warmup ")[1]
    again = validate("mm1", HALF, data, quantities=["mean_wait"], margin="20%", warmup=share)
    assert again.verdict.value == "agrees"


def test_a_wrong_run_without_warm_up_still_disagrees():
    data = overloaded_start(60_000, 0.0, 3)
    found = validate("mm1", {"lam": "1/3", "mu": "1"}, data, quantities=["mean_wait"])
    assert found.verdict.value == "disagrees"


def test_leaving_out_goes_by_weight():
    pieces = np.array([[1.0, 1, 1], [1, 2, 4], [2, 3, 5], [4, 4, 4]])
    assert len(without_beginning(pieces, 0.0)) == 4
    assert without_beginning(pieces, 0.25)[:, 1].tolist() == [3, 4]


@pytest.mark.parametrize("word", ["100%", "-0.1", "1", "half"])
def test_fractions_that_make_no_sense(word):
    with pytest.raises(InputError, match="--warmup"):
        read_fraction(word)
