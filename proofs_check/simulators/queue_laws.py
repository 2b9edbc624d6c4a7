"""The whole law of the number in the system against that of the model: a null that the exact chain draws itself."""

import numpy as np

from proofs_check.simulators.birth_death import BirthDeath
from proofs_check.simulators.laws import RUNS, LawTest, distance
from proofs_check.simulators.pieces import Floats

JUMPS = 20_000


def queue_law_test(chain: BirthDeath, durations: Floats, levels: Floats, *, runs: int = RUNS, seed: int = 0) -> LawTest:
    """Compare the share of time at each level with the law of a birth-death process.

    The greatest difference of distribution functions is compared with that of ``runs`` runs of the process, which
    begin at the level at which the data begin and take as many jumps.

    Parameters
    ----------
    durations, levels
        A path from event to event; the first ``JUMPS`` changes of level are used.

    Guarantee
    ---------
    For a path of the process of settled length the p-value is at most x with probability at most x, up to float
    rounding of rates and law.

    Source
    ------
    J. Besag and P. Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
    """
    durations, levels = changes(durations, levels)
    F, top = np.cumsum(chain.law), len(chain.law) - 1
    seen = np.minimum(levels.astype(np.int64), top)
    found = float(distance(np.bincount(seen, durations, top + 1)[None, :], F)[0])
    rng = np.random.default_rng(seed)
    drawn = distance(_times_at_levels(chain, int(seen[0]), len(seen), runs, rng), F)
    of = f"number in the system over the first {len(seen)} changes of it"
    return LawTest(found, (1 + int(np.sum(drawn >= found - 1e-12))) / (runs + 1), len(seen), runs, of)


def changes(durations: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Return the path as one line a change of level, at most ``JUMPS`` of them; moments without duration go."""
    lasting = durations > 0
    durations, levels = durations[lasting], levels[lasting]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(levels) != 0]))
    return np.add.reduceat(durations, starts)[:JUMPS], levels[starts][:JUMPS]


def _times_at_levels(chain: BirthDeath, start: int, jumps: int, runs: int, rng: np.random.Generator) -> Floats:
    """Return the time that each of many runs spends at each level; the runs take their jumps together."""
    rate = chain.birth + chain.death
    up = chain.birth / rate
    level, every = np.full(runs, start), np.arange(runs)
    times = np.zeros((runs, len(rate)))
    for _ in range(jumps):
        times[every, level] += rng.exponential(size=runs) / rate[level]
        level = np.where(rng.random(runs) < up[level], level + 1, level - 1)
    return times
