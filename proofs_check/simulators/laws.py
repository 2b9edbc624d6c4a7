"""The whole law of slot ages against that of the model: a Monte Carlo null that the exact chain draws itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from exactchains.domain import Floats as FloatDomain
from exactchains.truth import DoesNotExist, InputError
from proofs_check.simulators.pieces import Floats

SLOTS, RUNS = 20_000, 999
TAIL = 1e-12  # probability above the highest age that is drawn at the start
MOST_AGES = 100_000
STRANGE = 0.001


@dataclass(frozen=True)
class LawTest:
    r"""The greatest difference of distribution functions, :math:`\max_j |\hat F(j) - F(j)|`, and its p-value."""

    distance: float
    pvalue: float
    slots: int
    runs: int
    of: str = ""

    def __str__(self) -> str:
        of = self.of or f"slot ages in the first {self.slots} slots"
        known = f"law of the {of}: greatest difference {self.distance:.3g}"
        share = f"p = {self.pvalue:.3g} from {self.runs} runs of the exact chain of that length"
        return f"{known}, {share}" + ("; this is not the model's law" if self.pvalue <= STRANGE else "")


def law_test(scheme: Any, ages: Floats, *, runs: int = RUNS, seed: int = 0) -> LawTest:
    """Compare the law of slot ages with that of an update scheme.

    Slot ages depend on each other, so that the tables of Kolmogorov and Smirnov do not hold.  The distance is compared
    with that of ``runs`` stationary runs of the scheme's own chain, of the same length.

    Parameters
    ----------
    scheme
        An update scheme of aoi_tools, whose mode chain is run.
    ages
        Ages of consecutive slots; the first ``SLOTS`` are used.

    Guarantee
    ---------
    For a stationary run of the scheme the p-value is at most x with probability at most x, up to float rounding of
    the chain's probabilities.

    Source
    ------
    G. A. Barnard (1963); J. Besag and P. Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
    """
    seen = np.asarray(ages[:SLOTS], dtype=np.int64)
    try:
        up, reset = (np.array(block, dtype=float) for block in scheme.blocks(FloatDomain()))
    except (DoesNotExist, TypeError) as error:
        raise InputError(f"--law: this scheme has no chain of modes with numbers: {error}") from None
    law = _joint_law(up, reset)
    F = np.cumsum(law.sum(axis=1))
    rng = np.random.default_rng(seed)
    drawn = _distances(up, reset, law, (len(seen), runs, rng))
    found = distance(np.bincount(np.minimum(seen, len(F) - 1), minlength=len(F))[None, :], F)[0]
    exceed = int(np.sum(drawn >= found - 1e-12))
    return LawTest(float(found), (1 + exceed) / (runs + 1), len(seen), runs)


def _joint_law(up: Floats, reset: Floats) -> Floats:
    """Return P(age = j, mode) as rows, up to the age above which less than ``TAIL`` is left."""
    modes = len(up)
    balance = np.vstack([(up + reset).T - np.eye(modes), np.ones(modes)])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(modes), 1.0), rcond=None)[0]
    rows = [stationary @ reset]
    while sum(rows[-1]) > TAIL:
        if len(rows) == MOST_AGES:
            raise InputError(f"--law: ages above {MOST_AGES} slots are too likely; compare means only")
        rows.append(rows[-1] @ up)
    law = np.maximum(np.array(rows), 0.0)
    return law / law.sum()


def _distances(up: Floats, reset: Floats, law: Floats, size: tuple[int, int, np.random.Generator]) -> Floats:
    """Return the distance of each of many runs, which take their steps together."""
    slots, runs, rng = size
    modes, top = len(up), len(law) - 1
    steps = np.cumsum(np.hstack([up, reset]), axis=1)
    steps[:, -1] = 1.0
    start = np.minimum(np.searchsorted(np.cumsum(law.ravel()), rng.random(runs), side="right"), law.size - 1)
    age, mode = start // modes, start % modes
    counts = np.zeros((runs, top + 1))
    every = np.arange(runs)
    for _ in range(slots):
        counts[every, np.minimum(age, top)] += 1
        outcome = (rng.random(runs)[:, None] >= steps[mode]).sum(axis=1)
        age = np.where(outcome >= modes, 0, age + 1)
        mode = outcome % modes
    return distance(counts, np.cumsum(law.sum(axis=1)))


def distance(counts: Floats, F: Floats) -> Floats:
    """Return the greatest difference of distribution functions of each row of counts, or times, from F."""
    return np.abs(np.cumsum(counts, axis=1) / counts.sum(axis=1, keepdims=True) - F).max(axis=1)
