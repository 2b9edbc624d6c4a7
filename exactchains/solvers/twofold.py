"""Sums of products in two doubles with a-priori error bounds: the residual of balance equations, vectorised.

A number is ``(h + lo) 2^e`` with doubles ``|lo| <= u h`` and an integer ``e``, so that entries of 1e-5000 are ordinary.
Dekker, Numer. Math. 18 (1971) 224-242; Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988.
"""

from typing import Any

import numpy as np

from exactchains.solvers.flow import Flow

U = 2.0**-53
SPLIT = 134217729.0  # 2^27 + 1
HUB = 48  # columns with more transitions are summed one by one
REACH = 900  # exponent differences are clipped at this many bits


def two_to(exponent: Any) -> Any:
    """Return 2^exponent as doubles for integers from -1022 to 1023: bit patterns, much faster than ``ldexp``."""
    return ((exponent.astype(np.int64, copy=False) + 1023) << 52).view(np.float64)


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s, c with a + b = s + c exactly, s the rounded sum."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_prod(a: Any, b: Any) -> tuple[Any, Any]:
    """Return p, c with a b = p + c exactly (barring underflow), p the rounded product."""
    p = a * b
    t = SPLIT * a
    ah = t - (t - a)
    al = a - ah
    t = SPLIT * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def tree_sum(high: Any, low: Any) -> tuple[float, float]:
    """Return s, c with s + c close to the sum of ``high + low``: pairwise, errors collected in the low word."""
    while len(high) > 1:
        if len(high) % 2:
            high, low = np.append(high, 0.0), np.append(low, 0.0)
        high, c = two_sum(high[0::2], high[1::2])
        low = low[0::2] + low[1::2] + c
    return float(high[0]), float(low[0])


def inflow(flow: Flow, h: Any, lo: Any, e: Any) -> tuple[Any, Any]:
    r"""Return the imbalance :math:`\sum_i x_i q_{ij} - x_j d_j` of every state j and a bound of its error.

    Both in units of ``2^e[j]``.  With m terms whose sizes sum to T the compensated sum errs by less than
    :math:`4u|v| + (4m^2 + 8) u^2 T + m 2^{-600}`: m low-order terms of size at most :math:`3uT` in all but a few are
    added in plain arithmetic, rates held in two doubles err by :math:`u^2` relative, and clipped exponents by the
    last term.  An infinite value means that exponents differ too much.
    """
    v, bound = np.empty(flow.size), np.empty(flow.size)
    for start, stop, _ in flow.parts():
        v[start:stop], bound[start:stop] = _inflow(flow, slice(start, stop), (h, lo, e))
    return v, bound


def _inflow(flow: Flow, part: slice, x: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Return the imbalance of some states and its error bound."""
    own, exits, start = (x[0][part], x[1][part], x[2][part]), flow.exit_high[part], flow.indptr[part]
    a, c = two_prod(-own[0], exits)
    s, size = a, np.abs(a)
    c = c - own[1] * exits
    if flow.exit_low is not None:
        c -= own[0] * flow.exit_low[part]
    degree = flow.degree[part]
    columns = np.argsort(-degree, kind="stable")
    degrees = degree[columns]
    hubs = int(np.searchsorted(-degrees, -HUB, side="left"))
    for j in columns[:hubs].tolist():
        s[j], c[j], size[j] = _hub(flow, part.start + j, x, (s[j], c[j], size[j]))
    widest = int(degrees[hubs]) if hubs < len(columns) else 0
    counts = hubs + np.searchsorted(-degrees[hubs:], -np.arange(widest), side="left")
    for k in range(widest):
        j = columns[hubs : counts[k]]
        p, low = _terms(flow, start[j] + k, own[2][j], x)
        s[j], err = two_sum(s[j], p)
        c[j] += err + low
        size[j] += np.abs(p)
    v, m = s + c, degree + 2.0
    return v, 4 * U * np.abs(v) + (4 * m * m + 8) * U * U * size + m * 2.0**-600


def _terms(flow: Flow, place: Any, exponent: Any, x: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """Return high and low words of the products x_i q_ij stored at ``place``, in units 2^exponent."""
    h, lo, e = x
    i = flow.source[place]
    shift = e[i] - exponent
    if shift.max(initial=0) > REACH:
        return np.full(len(i), np.inf), np.zeros(len(i))
    np.maximum(shift, -REACH, out=shift)
    scale, q = two_to(shift), flow.rate_high[place]
    a, al = h[i] * scale, lo[i] * scale
    p, err = two_prod(a, q)
    low = err + al * q
    return p, low if flow.rate_low is None else low + a * flow.rate_low[place]


def _hub(flow: Flow, j: int, x: tuple[Any, Any, Any], start: tuple[float, float, float]) -> tuple[float, float, float]:
    p, low = _terms(flow, np.arange(flow.indptr[j], flow.indptr[j + 1]), x[2][j], x)
    s, c = tree_sum(np.append(p, start[0]), np.append(low, start[1]))
    return s, c, float(np.abs(p).sum()) + start[2]
