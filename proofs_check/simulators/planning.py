"""How long a run must be: asymptotic variances of time averages from the chain itself, in floats, for planning."""

import math
from collections.abc import Callable
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


def birth_death_variance(law: Floats, birth: Floats, f: Floats) -> float:
    r"""Return lim T Var(time average of f over time T) of a birth-death process in continuous time.

    .. math:: 2 \sum_k \frac{1}{\lambda_k \pi_k} \Big(\sum_{j \le k} \pi_j (f_j - E f)\Big)^2
    """
    centred = law * (f - law @ f)
    middle = int(np.searchsorted(np.cumsum(law), 0.5))  # sums start at the nearer end: the tail would drown in rounding
    from_above = -np.cumsum(centred[::-1])[::-1][1:]
    partial = np.concatenate([np.cumsum(centred[:middle]), from_above[middle:]])
    flow = law[:-1] * birth[: len(law) - 1]
    alive = flow > 0
    return float(2 * np.sum(partial[alive] ** 2 / flow[alive]))


def generator_variance(Q: csr_matrix, f: Floats) -> float:
    """Return lim T Var(time average of f over time T) of a Markov process with generator ``Q``: 2 E[(f - E f) h]."""
    rate = float(-Q.diagonal().min()) * 1.01
    P = csr_matrix(eye(Q.shape[0]) + diags(np.full(Q.shape[0], 1 / rate)) @ Q)
    law = stationary_floats(P)
    centred = f - law @ f
    step = time_average_variance(P, f)
    return (step + float(law @ (centred * centred))) / rate
