"""Cyclic reduction of a quasi-birth-death process without subtraction: doubles with entrywise relative accuracy.

Blocks are nonnegative: ``up``, ``local`` (its diagonal is never used) and ``down``; ``kill`` is the rate out of a
phase that leaves the levels altogether (a reset).  Diagonals follow from row sums and are never formed by subtraction:
the M-matrix diag(w + N 1) - N is held as the pair (N, w).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BASE = 24  # below this size one pivot at a time, above it products of halves
STEPS = 1100  # the drift of a chain over doubles cannot be smaller than 2^-1074
EPS = 2.0**-56
TINY = 1e-290


@dataclass(frozen=True)
class Approximation:
    """Doubles near G and what its refinement needs: ``excess`` are the row sums of -(local + up G)."""

    G: Array
    excess: Array
    steps: int


def triplet_solve(N: Array, w: Array, B: Array) -> Array:
    """Return M^-1 B for M = diag(w + N 1) - N and B >= 0, each entry to relative accuracy (recursive 2 x 2 blocks)."""
    m = len(w)
    if m <= BASE:
        return _eliminate(N, w, B)
    h = m // 2
    k = m - h
    N12, N21 = N[:h, h:], N[h:, :h]
    first = triplet_solve(N[:h, :h], w[:h] + N12.sum(1), np.hstack([N12, w[:h, None], B[:h]]))
    X12, xw, XB = first[:, :k], first[:, k], first[:, k + 1 :]
    second = triplet_solve(N[h:, h:] + N21 @ X12, w[h:] + N21 @ xw, B[h:] + N21 @ XB)
    return np.vstack([XB + X12 @ second, second])


def _eliminate(N: Array, w: Array, B: Array) -> Array:
    m = len(w)
    A = np.hstack([N, w[:, None], B])  # one rank-one update serves N, w and B
    pivot = np.empty(m)
    for k in range(m - 1):
        pivot[k] = A[k, k + 1 : m + 1].sum()
        A[k + 1 :, k + 1 :] += (A[k + 1 :, k] / pivot[k])[:, None] * A[k, k + 1 :]
    pivot[m - 1] = A[m - 1, m]
    X = A[:, m + 1 :]
    for k in range(m - 1, -1, -1):
        if k < m - 1:
            X[k] += A[k, k + 1 : m] @ X[k + 1 :]
        X[k] /= pivot[k]
    return X


def reduction(up: Array, local: Array, down: Array, kill: Array) -> Approximation:
    r"""Return G by cyclic reduction in triplets.

    With :math:`M = \mathrm{diag}(w + N 1) - N`, :math:`K_d = M^{-1} d`, :math:`K_u = M^{-1} u` a step is
    :math:`N \mathrel{+}= u K_d + d K_u,\ \hat N \mathrel{+}= u K_d,\ d = d K_d,\ u = u K_u`; levels double.

    Source
    ------
    Bini and Meini, Numerical Algorithms 51 (2009); triplets after Alfa, Xue and Ye, Math. Comp. 71 (2002).
    """
    m = len(up)
    N = local.copy()
    np.fill_diagonal(N, 0)
    hat, d, u, k, hat_kill = N.copy(), down, up, kill, kill
    steps = 0
    while steps < STEPS:
        steps += 1
        K = triplet_solve(N, (d + u).sum(1) + k, np.hstack([d, u, k[:, None]]))
        Kd, Ku, Kk = K[:, :m], K[:, m : 2 * m], K[:, 2 * m]
        gain = u @ Kd
        hat = hat + gain
        N = N + gain + d @ Ku
        hat_kill, k = hat_kill + u @ Kk, k + u @ Kk + d @ Kk
        d, u = d @ Kd, u @ Ku
        np.fill_diagonal(N, 0)
        if _settled(gain, hat, u, down, hat_kill) or d.max(initial=0) < TINY:
            break
    excess = down.sum(1) + u.sum(1) + hat_kill
    return Approximation(triplet_solve(hat, excess, down), excess, steps)


def _settled(gain: Array, hat: Array, u: Array, down: Array, kill: Array) -> bool:
    """Return whether another step changes neither the reduced block nor the mass that escapes upwards."""
    if u.max(initial=0) == 0:
        return True
    floor = hat.copy()
    np.fill_diagonal(floor, hat.max(1, initial=0))
    enough = EPS * (down.sum(1) + hat.sum(1) + kill)
    return bool((gain <= EPS * floor).all() and (u.sum(1) <= enough).all())


def shifted(up: Array, local: Array, down: Array) -> Approximation | None:
    """Return G of a recurrent chain by logarithmic reduction with the eigenvalue 1 shifted away, or None.

    Fast, with absolute accuracy only: a start for exact refinement, never a result.
    """
    m = len(up)
    ones, weights = np.ones((m, 1)), np.full((1, m), 1.0 / m)
    A = local.copy()
    np.fill_diagonal(A, 0)
    A -= np.diag((A + up + down).sum(1))
    down1, A1 = down - down.sum(1, keepdims=True) @ weights, A + up.sum(1, keepdims=True) @ weights
    steps = 0
    with np.errstate(all="ignore"):
        try:
            both = np.linalg.solve(-A1, np.hstack([up, down1]))
            H, L = both[:, :m], both[:, m:]
            G, T = L.copy(), H.copy()
            for steps in range(1, 60):  # noqa: B007
                both = np.linalg.solve(np.eye(m) - H @ L - L @ H, np.hstack([H @ H, L @ L]))
                H, L = both[:, :m], both[:, m:]
                gain = T @ L
                G, T = G + gain, T @ H
                if np.abs(gain).max() < 1e-9:  # squared in every step: the next one would change nothing
                    break
        except np.linalg.LinAlgError:
            return None
    G = G + ones @ weights
    if not np.isfinite(G).all() or G.min() < -1e-12:
        return None
    return Approximation(np.maximum(G, 0), down.sum(1), steps)


def sylvester_sum(left: Array, W: Array, right: Array, tolerance: float = 1e-4 * EPS) -> Any:
    """Return sum_i left^i W right^i by squaring; all nonnegative, or contracting."""
    V, P, Q = W, left, right
    with np.errstate(under="ignore"):
        for _ in range(STEPS):
            change = P @ V @ Q
            V = V + change
            size = np.abs(change).max()
            if not size > tolerance * np.abs(V).max():
                break
            P, Q = P @ P, Q @ Q
    return V
