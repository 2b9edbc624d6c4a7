"""Jobs recorded as present against jobs listed as present, window by window: where they differ, rows are missing."""

from collections.abc import Iterator

import numpy as np

from proofs_check.simulators.pieces import Floats

WINDOWS = 10
NOTICED = 0.01  # jobs, relative to one more than the mean number present


def count_notes(arrive: Floats, end: Floats, recorded: Floats, column: str) -> Iterator[str]:
    r"""Yield a note when the numbers of jobs that arrivals recorded do not follow from the list of jobs.

    Job i finds :math:`\#\{j : a_j < a_i\} - \#\{j : e_j \le a_i\}` jobs.  A column that counts the job itself lies one
    above throughout; the median difference is taken for such a convention.  Little's law for every window follows from
    this balance, and holds for no other list of jobs.

    Parameters
    ----------
    arrive, end
        Times of arrival and departure, NaN for jobs that have not left.
    recorded
        The number in the system that each job recorded on arrival.
    """
    order = np.lexsort((recorded, arrive))  # of jobs that come together, the one that found fewer came first
    arrive, recorded = arrive[order], recorded[order]
    left = np.sort(end[np.isfinite(end)])
    present = np.arange(len(arrive)) - np.searchsorted(left, arrive, side="right")
    excess = recorded - present
    excess = excess - np.round(np.nanmedian(excess))
    windows = [w for w in np.array_split(np.arange(len(arrive)), WINDOWS) if len(w)]
    means = [float(np.nanmean(excess[w])) if np.isfinite(excess[w]).any() else 0.0 for w in windows]
    bad = [k for k, w in enumerate(windows) if abs(means[k]) > NOTICED * (1 + max(float(present[w].mean()), 0.0))]
    if not bad:
        return
    first = windows[bad[0]]
    more = "more" if means[bad[0]] > 0 else "fewer"
    yield (
        f"Little's law: {column} counts other jobs than the list in {len(bad)} of {len(windows)} windows; from time "
        f"{arrive[first[0]]:.6g} to {arrive[first[-1]]:.6g} it has {abs(means[bad[0]]):.3g} {more} on average: "
        "rows are missing, or times and counts are of different systems"
    )
