"""How long a run must be: asymptotic variances of time averages from the chain itself, in floats, for planning."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags, eye, lil_matrix
from scipy.sparse.linalg import splu

from exactchains.domain import Floats as FloatDomain
from exactchains.truth import DoesNotExist, InputError
from proofs_check.simulators.pieces import Floats

TAIL = 1e-12  # probability left out at the top level
MOST_STATES = 20_000


def age_variance_constant(scheme: Any, value: Callable[[Floats], Floats]) -> float | None:
    """Return lim T Var(average of value(J) over T slots) for an update scheme; None when its chain is too large.

    The levels of the slot-age chain are cut where less than ``TAIL`` probability is left.
    """
    modes = len(scheme.modes)
    try:
        up, reset = (np.array(block, dtype=float) for block in scheme.blocks(FloatDomain()))
    except (InputError, DoesNotExist, TypeError):
        return None
    decay = float(max(abs(np.linalg.eigvals(up))))
    if decay >= 1:
        return None
    levels = 2 if decay == 0 else int(math.log(TAIL) / math.log(decay)) + 2 + modes
    if levels * modes > MOST_STATES:
        return None
    P = lil_matrix((levels * modes, levels * modes))
    for j in range(levels):
        here, above = slice(j * modes, (j + 1) * modes), min(j + 1, levels - 1) * modes
        P[here, above : above + modes] = up
        P[here, :modes] = P[here, :modes].toarray() + reset
    return time_average_variance(csr_matrix(P), value(np.repeat(np.arange(levels, dtype=float), modes)))


def time_average_variance(P: csr_matrix, f: Floats) -> float:
    r"""Return lim T Var(average of f over T steps) of a chain with one recurrent class.

    With h from the Poisson equation (I - P) h = f - E f it is 2 E[(f - E f) h] - Var f.
    """
    size = P.shape[0]
    law = stationary_floats(P)
    centred = f - law @ f
    A = (eye(size) - P).tolil()
    A[0, :] = 0
    A[0, 0] = 1  # h is fixed up to a constant; state 0 is recurrent in every chain here
    right = centred.copy()
    right[0] = 0
    h = splu(A.tocsc()).solve(right)
    return float(2 * law @ (centred * h) - law @ (centred * centred))


def stationary_floats(P: csr_matrix) -> Floats:
    """Return the stationary law of a chain in which state 0 is recurrent, in floating point."""
    size = P.shape[0]
    A = (eye(size) - P).T.tolil()
    A[0, :] = 1
    right = np.zeros(size)
    right[0] = 1
    return np.asarray(splu(A.tocsc()).solve(right))


def birth_death_variance(law: Floats, birth: Floats, f: Floats, jump: float = 0.0) -> float:
    r"""Return lim Var / T of the integral of f over time T, plus ``jump`` at every birth, of a birth-death process.

    With the sums :math:`S_k = \sum_{j \le k} \pi_j (f_j + r \lambda_j - m)`, r the jump and m the mean of f + r birth,

    .. math:: \sum_k \lambda_k \pi_k \big((d_k + r)^2 + d_k^2\big), \qquad d_k = - S_k / (\lambda_k \pi_k).
    """
    reward = f[: len(law)] + jump * birth[: len(law)]
    centred = law * (reward - law @ reward)
    middle = int(np.searchsorted(np.cumsum(law), 0.5))  # sums start at the nearer end: the tail would drown in rounding
    from_above = -np.cumsum(centred[::-1])[::-1][1:]
    partial = np.concatenate([np.cumsum(centred[:middle]), from_above[middle:]])
    flow = law[:-1] * birth[: len(law) - 1]
    alive = flow > 0
    step = -partial[alive] / flow[alive]
    return float(np.sum(flow[alive] * ((step + jump) ** 2 + step**2)))


def poisson_jobs_variance(lam: float, moments: Sequence[float], *, served: bool, counted: float) -> float:
    r"""Return lim Var / n of a sum over n jobs of M/G/1, first come first served.

    A job that meets the work x and brings S adds x (+ S when ``served``), less ``counted`` for being there.  The work
    has the Poisson solution :math:`h(x) = \kappa x^2`, :math:`\kappa = \lambda / (2 (1 - \rho))`, whence

    .. math:: E \big(x + S - c + \kappa (2 x S + S^2)\big)^2

    with x stationary (Pollaczek and Khinchin).  Counting ``counted`` = the mean gives waits or responses per job; 0
    gives, times lam, the time integral of the number of jobs.

    Parameters
    ----------
    moments
        E S, .., E S^4.
    """
    s1, s2, s3, s4 = moments
    idle = 1 - lam * s1
    x1 = lam * s2 / (2 * idle)
    x2 = 2 * x1**2 + lam * s3 / (3 * idle)
    k, e, c = lam / (2 * idle), float(served), -counted
    squares = c * c + x2 + e * s2 + 4 * k * k * x2 * s2 + k * k * s4
    mixed = c * x1 + c * e * s1 + 2 * c * k * x1 * s1 + c * k * s2 + e * x1 * s1 + 2 * k * x2 * s1
    return squares + 2 * (mixed + k * x1 * s2 + 2 * e * k * x1 * s2 + e * k * s3 + 2 * k * k * x1 * s3)


def generator_variance(Q: csr_matrix, f: Floats) -> float:
    """Return lim T Var(time average of f over time T) of a Markov process with generator ``Q``: 2 E[(f - E f) h]."""
    rate = float(-Q.diagonal().min()) * 1.01
    P = csr_matrix(eye(Q.shape[0]) + diags(np.full(Q.shape[0], 1 / rate)) @ Q)
    law = stationary_floats(P)
    centred = f - law @ f
    step = time_average_variance(P, f)
    return (step + float(law @ (centred * centred))) / rate
