"""What replications that start empty report: exact transient means of the chain, in floats, over their length."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags, eye
from scipy.sparse.linalg import splu
from scipy.special import pdtrc

from exactchains.domain import Floats as FloatDomain
from exactchains.enclosure import Enclosure
from meanfield.finite import exact_chain, jobs, reward
from meanfield.models.policy import Policy
from proofs_check.simulators.birth_death import BirthDeath
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.pieces import Floats

FIRST_COME = ("mm1", "mmc", "mm1k", "mm11")
FAULT = "every replication starts empty, and its beginning counts"
SETTLED = 1e-13  # a step that changes the law by less changes it no more
MOST_STATES, LEAST_BUFFER, CUT_OFF = 2_000, 6, 1e-3
MOST_STEPS = 400_000


def time_average(Q: csr_matrix, start: Floats, f: Floats, horizon: float) -> float:
    r"""Return the expected average of f over [0, T] of a Markov process with generator Q, by uniformisation.

    .. math:: \frac{1}{T} \int_0^T E f(X_t)\,dt = \frac{1}{\Lambda T} \sum_{k \ge 0} P(N > k)\, E f(Y_k),

    N Poisson with mean :math:`\Lambda T`, Y the chain with transitions I + Q / :math:`\Lambda`; once its law no longer
    changes, the rest of the weights goes to the last one.

    Source
    ------
    A. Jensen, Markoff chains as an aid in the study of Markoff processes, Skand. Aktuarietidskr. 36 (1953).
    """
    rate = float(-Q.diagonal().min()) * 1.01
    step = csr_matrix((eye(Q.shape[0]) + diags(np.full(Q.shape[0], 1 / rate)) @ Q).T)
    mean, law, values = rate * horizon, start, []
    steps = int(min(mean + 8 * math.sqrt(mean) + 20, MOST_STEPS))
    for _ in range(steps):
        values.append(float(f @ law))
        after = step @ law
        if float(np.abs(after - law).sum()) < SETTLED:
            break
        law = after
    weights = pdtrc(np.arange(len(values)), mean) / mean  # P(N > k)
    return float(weights @ values + (1 - weights.sum()) * values[-1])


def first_jobs(Q: csr_matrix, B: csr_matrix, first: Floats, count: int) -> tuple[Floats, Floats]:
    r"""Return, for the first jobs let in, the sums of laws just after arrivals and of times spent in between.

    From the law x just after an arrival the expected times in each state until the next one are
    :math:`y = x (B - Q)^{-1}`, and the law just after that one is y B.

    Parameters
    ----------
    Q, B
        The generator, and the part of its rates that belongs to arrivals that are let in.
    first
        The law just after the first arrival.
    """
    solve = splu((B - Q).T.tocsc()).solve
    law, laws, times, left = first, np.zeros(len(first)), np.zeros(len(first)), count
    while left > 1:
        between = solve(law)
        after = B.T @ between
        settled = float(np.abs(after - law).sum()) < SETTLED or count - left > MOST_STEPS
        steps = left - 1 if settled else 1
        laws, times, law, left = laws + steps * law, times + steps * between, after, left - steps
    return laws + left * law, times


def level_average(Q: csr_matrix, B: csr_matrix, f: Floats, runs: "Length") -> float:
    """Return the expected average of f(state) as replications of that length see it; state 0 is the empty one."""
    empty = np.zeros(len(f))
    empty[0] = 1.0
    if not runs.jobs:
        return time_average(Q, empty, f, runs.time)
    arrived = B.T @ empty
    if runs.fixed:
        _, times = first_jobs(Q, B, arrived / arrived.sum(), round(runs.jobs))
        return float(times @ f / times.sum())
    gap = 1 / float(arrived.sum())  # a horizon: the time before the first arrival and after the last is not observed
    return time_average(Q, empty, f, runs.time + gap) * (1 + gap / runs.time)


def queue_suspects(
    chain: BirthDeath, name: str, mu: float, quantity: str, index: int | None, runs: "Length"
) -> Iterator[Suspect]:
    """Yield the fault for a classic queue, where it would be seen."""
    n, servers = np.arange(len(chain.law), dtype=float), chain.servers
    Q = csr_matrix(diags([chain.birth[:-1], -(chain.birth + chain.death), chain.death[1:]], [1, 0, -1]))
    B = csr_matrix(diags([chain.birth[:-1]], [1]))
    if quantity in ("mean_queue", "tail"):
        f = n if quantity == "mean_queue" else (n >= (index or 0)).astype(float)
        yield _suspect(level_average(Q, B, f, runs))
    elif quantity in ("mean_wait", "mean_response") and name in FIRST_COME and runs.jobs:
        wait = np.maximum(n - servers, 0.0) / (servers * mu)  # n counts the job itself
        laws, _ = first_jobs(Q, B, np.eye(1, len(n), 1)[0], round(runs.jobs))
        yield _suspect(float(laws @ wait / laws.sum()) + (1 / mu if quantity == "mean_response" else 0.0))


def server_suspects(
    policy: Policy, n: int, buffer: int | None, quantity: str, index: int | None, runs: "Length"
) -> Iterator[Suspect]:
    """Yield the fault for a dispatching rule on few servers, where its chain is small."""
    places = buffer or int(MOST_STATES ** (1 / n)) - 1
    if quantity not in ("mean_queue", "tail") or (buffer is None and places < LEAST_BUFFER):
        return
    if (places + 1) ** n > MOST_STATES:
        return
    chain = exact_chain(policy, n=n, buffer=places, domain=FloatDomain())
    moves = [(i, j, float(x)) for i, row in enumerate(chain.chain.rows) for j, x in row.items() if i != j]
    at, to, rate = (np.array(x) for x in zip(*moves, strict=True))
    size, total = len(chain.states), np.array([jobs(s) for s in chain.states])
    everything = csr_matrix((rate, (at, to)), shape=(size, size))
    Q = csr_matrix(everything - diags(np.asarray(everything.sum(axis=1)).ravel()))
    up = total[to] > total[at]
    B = csr_matrix((rate[up], (at[up], to[up])), shape=(size, size))
    full = np.array([float(b) > 0 for b in chain.blocked], dtype=float)
    if buffer is None and level_average(Q, B, full, runs) > CUT_OFF:
        return  # the cut would be seen
    per_state = reward(policy, n, quantity, index)
    yield _suspect(level_average(Q, B, np.array([float(per_state(s)) for s in chain.states]), runs))


@dataclass(frozen=True)
class Length:
    """How long replications are on average: the time observed, and the jobs (0: levels are recorded, not jobs).

    ``fixed``: each has the same number of jobs; otherwise each runs up to a time.  Jobs are observed from the first
    arrival to the last, levels from time 0.
    """

    time: float
    jobs: float
    fixed: bool


def _suspect(value: float) -> Suspect:
    return Suspect(FAULT, Enclosure.of(value))
