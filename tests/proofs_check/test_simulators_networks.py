"""Theorems that the reference simulator must show: Burke's on departures, Jackson's on queues in a row."""

from fractions import Fraction

import numpy as np

from proofs_check.simulators.queue_runs import first_come, job_trace


def _departure_scores(model, values, seeds):
    """Return, seed by seed, what a Poisson departure process makes 0 in the mean: excess variance and correlations.

    With gaps between departures in units of their mean, the second is the correlation of neighbouring gaps, the third
    that of a gap with the queue that is left behind at its end.
    """
    found = []
    for seed in seeds:
        _, rows = job_trace(model, values, jobs=40_000, seed=seed)
        rows = rows[2000:]
        gaps = np.diff(rows[:, 3]) * float(values["lam"])
        left = np.searchsorted(rows[:, 1], rows[1:, 3]) - np.arange(1, len(rows))
        pairs = ((gaps - 1) * (gaps - 1) - 1, (gaps[1:] - 1) * (gaps[:-1] - 1), (gaps - 1) * (left - left.mean()))
        found.append([x.mean() for x in pairs])
    found = np.array(found)
    return found.mean(0) / (found.std(0, ddof=1) / np.sqrt(len(found)))


def test_departures_of_a_stationary_queue_are_poisson():
    """Burke's theorem, for the reference simulator: so it is for exponential services, not for constant ones."""
    values = {"lam": Fraction(4, 5), "mu": Fraction(1)}
    assert (np.abs(_departure_scores("mm1", values, range(20))) < 3.6).all()
    assert (np.abs(_departure_scores("md1", values, range(20))) > 10).any()


def test_the_second_queue_of_a_tandem_is_that_of_a_single_server():
    """Its mean sojourn is 1 / (mu - lam), as Burke's theorem says of its arrivals and Jackson's of the network."""
    scores = []
    for seed in range(20):
        _, rows = job_trace("mm1", {"lam": Fraction(1, 2), "mu": Fraction(1)}, jobs=20_000, seed=seed)
        service = np.random.default_rng(1000 + seed).exponential(1 / 0.75, 20_000)
        _, end = first_come(rows[:, 3], service, {})
        scores.append(((end - rows[:, 3])[1000:]).mean() - 1 / (0.75 - 0.5))
    assert abs(np.mean(scores)) < 3.6 * np.std(scores, ddof=1) / np.sqrt(len(scores))
