r"""The left-vector certificate: a proved relative error for every entry of an approximate law.

S = diag(d) - (q_ij) without a reference state r.  A vector u >= 0 with u_r = 0 and (uS)_j >= s_j > 0 for all j proves
that S is a nonsingular M-matrix, hence that every state leads to r and the law is unique, and
:math:`|x_i - \tilde x_i| \le \delta u_i` with :math:`\delta = \max_j |(\tilde x S - q_r)_j| / s_j`, when the
approximation agrees with the law at r.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from exactchains.solvers.flow import Flow
from exactchains.solvers.scaled import Scaled
from exactchains.solvers.twofold import U, inflow, tree_sum, two_prod, two_sum


@dataclass(frozen=True, eq=False)
class Certified:
    """An approximate law (h + lo) 2^e, its certificate vector u, and ``error``: relative bound after normalisation."""

    flow: Flow
    reference: int
    h: Any
    lo: Any
    e: Any
    u: tuple[Any, Any]
    error: Any
    method: str
    system: Any  # Scaled, None as long as nothing is certified
    applied: int = 0

    def contracts(self) -> bool:
        """Return whether corrections by the floating-point system gain digits: its condition is within doubles."""
        return bool(np.isfinite(self.error.max())) and float((self.u[0] / self.h).max()) < 1e15


def jumps(flow: Flow, system: Scaled, h: Any, e: Any, reference: int) -> tuple[Any, Any]:
    """Return u = x v in two doubles, (I - W) v = 1: v_i is a mean number of jumps of the reversed chain from i to r.

    One digit is enough as long as (I - W) v > 0; large v (nearly decomposable chains) needs its low word too.
    """
    one = np.ones(flow.size)
    one[reference] = 0
    for tolerance in (0.03, 1e-3, 1e-5, 1e-8):
        v = np.maximum(system.solve(one, tolerance), 0)
        v[reference] = 0
        high, low = h * v, np.zeros(flow.size)
        rest = system.apply(v)
        rest[reference] = 1
        if rest.min() > 0.1 and v.max() < 1e10:
            break
        if tolerance > 1e-8 and rest.min() <= 0.1 and hasattr(system, "both"):
            continue
        for _ in range(3):
            value, _ = inflow(flow, high, low, e)
            gap = one + value / (h * flow.exit_high)
            gap[reference] = 0
            if not np.isfinite(gap).all() or gap.max() < 0.5:
                break
            step = h * system.solve(gap, 1e-3)
            step[reference] = 0
            high, low = renormalised(high, low, step)
        break
    return high, low


def renormalised(high: Any, low: Any, step: Any) -> tuple[Any, Any]:
    """Return high + low + step as two doubles."""
    s, c = two_sum(high, step)
    s, c = two_sum(s, c + low)
    return s, c


def certify(flow: Flow, x: tuple[Any, Any, Any], u: tuple[Any, Any], reference: int) -> tuple[float, Any]:
    """Return delta and the relative error bound of every entry of the normalised law; infinite where nothing is proved.

    Guarantee
    ---------
    Rounding is accounted for (:func:`exactchains.solvers.twofold.inflow`): the bounds are proved, not estimated.
    """
    h, lo, e = x
    high, low = u
    keep = np.arange(flow.size) != reference
    nothing = np.inf, np.full(flow.size, np.inf)
    shaped = (np.abs(low) <= high * U * 1.001).all() and (np.abs(lo) <= h * U * 1.001).all()
    if not (shaped and high[reference] == 0 and (high >= 0).all() and (h > 0).all()):
        return nothing
    value, error = inflow(flow, h, lo, e)
    residual = np.abs(value) + error
    value, error = inflow(flow, high, low, e)
    gain = -value - error
    if not (np.isfinite(residual).all() and np.isfinite(gain).all() and (gain[keep] > 0).all()):
        return nothing
    delta = float((residual[keep] / gain[keep]).max()) * (1 + 4 * U)
    relative = delta * (high / h) * (1 + 32 * U)
    weight = np.ldexp(h, np.maximum(e - flow.shift - (e - flow.shift).max(), -1000))
    mean = float((relative * weight).sum() / weight.sum()) * (1 + 8 * flow.size * U) + 2.0**-600
    if not mean < 0.5:
        return nothing
    return delta, (relative + mean) / (1 - mean) * (1 + 16 * U)


def normalising_error(size: int) -> float:
    """Return a bound of the relative error of dividing by the sum: a pairwise sum and a quotient in two doubles."""
    return float((8 * (np.log2(size) + 4) ** 2 + 64) * U * U)


def normalised(flow: Flow, x: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Return h, lo, e of the law with sum 1."""
    h, lo, e = x[0], x[1], x[2] - flow.shift
    top = int(e.max())
    down = np.maximum(e - top, -1000)
    total, rest = tree_sum(np.ldexp(h, down), np.ldexp(lo, down))
    inverse = 1.0 / total
    p, c = two_prod(inverse, total)
    low = inverse * (((1.0 - p) - c) - inverse * rest)
    a, c = two_prod(h, inverse)
    a, c = two_sum(a, c + (lo * inverse + h * low))
    a, k = np.frexp(a)
    return a, np.ldexp(c, -k), e - top + k
