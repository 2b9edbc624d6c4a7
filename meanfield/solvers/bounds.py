"""Sub- and super-solutions around a guessed fixed point: refinement in balls, then dyadic bounds on both sides."""

import math
from dataclasses import dataclass
from itertools import pairwise

import flint
import numpy as np
from flint import arb, fmpq

from exactchains.number import nearest_double
from exactchains.truth import PrecisionExhausted, Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.divided import divided
from meanfield.solvers.log_newton import Guess

__all__ = ["Bounds", "bounds", "refined"]

Dyadic = tuple[int, int]  # (mantissa, e): mantissa * 2^-e


@dataclass(frozen=True)
class Bounds:
    """``lower[k-1]`` <= x_k <= ``upper[k-1]``, k = 1..K; beyond K the bounds are 0 and x_K 2^(-shift (k-K))."""

    lower: list[Dyadic]
    upper: list[Dyadic]
    shift: int


def refined(
    policy: PowerOfD, start: Guess, bits: int, *, tilt: fmpq | None = None, begin: list[arb] | None = None
) -> list[arb]:
    """Return increments p_0..p_K whose balance residuals are below 2^-bits, relative to each and to what it spares.

    The Jacobian in logarithms is of order one in every entry, so one inverse in doubles serves all precisions.  With a
    ``tilt`` each increment is 1 + tilt times what joins, more by the bits that it can spare, up to a sixteenth of the
    tilt, and x_0 = 1 is kept: a super-solution if the tilt is positive, else a sub-solution.
    """
    slope = fmpq(0) if tilt is None else tilt
    weight = arb(float(np.exp(start.s[1:] + math.log(2) * start.spared[1:]).sum())).fmpq()
    idle = 1 - policy.load - slope * weight  # the rows add up to it
    near = int(idle.q).bit_length() - int(idle.p).bit_length()
    goal = bits - 8 if tilt is None else int(tilt.q).bit_length() + 4
    if begin is None:
        with flint.ctx.workprec(96):
            begin = [arb(0), *(arb(float(v)).exp().mid() for v in start.s[1:])]
    p, spared = list(begin), start.spared[1:]
    inverse = np.linalg.inv(np.ldexp(start.matrix, (spared[None, :] - spared[:, None]).astype(np.int32)))
    units = [arb(2) ** int(more) for more in spared]
    slack = [arb(slope) * (k + 1 != start.pivot) for k in range(len(units))]  # the row of the pivot says x_0 = 1
    reached, stalled, before = 40 if tilt is None else bits, 0, 0
    while True:
        with flint.ctx.workprec(min(bits, reached + near + 110) + 20):
            p[0] = arb(idle).mid()
            rows = zip(_residual(policy, p, start.pivot), units, slack, strict=True)
            residual = [(r / unit - t).mid() for r, unit, t in rows]
            size = max(_log2(r) for r in residual)
            if -size > goal:
                return p
            scale = arb(2) ** -size
            step = inverse @ np.array([-float(r * scale) for r in residual])
            back = arb(2) ** size
            for k, unit in enumerate(units):
                p[k + 1] = (p[k + 1] * (1 + arb(float(step[k])) * unit * back)).mid()
        reached = max(reached, 40 - size)
        stalled = stalled + 1 if size > before - 4 else 0
        before = size
        if stalled > 6:
            raise Undecided(f"refinement of the fixed point stalls at 2^{size}")


def bounds(policy: PowerOfD, start: Guess, p: list[arb], *, bits: int, spread: int) -> Bounds:
    """Return sub- and super-solution near p with tilt 2^(spread - bits), tails of ``bits`` bits less those spared.

    Raises
    ------
    PrecisionExhausted
        A side is not proved by the signs of its rows.
    """
    K, g, sides = len(p) - 1, policy.g or 0, []
    with flint.ctx.workprec(bits + 20):
        for sign in (1, -1):
            q = refined(policy, start, bits, tilt=fmpq(sign, 1 << (bits - spread)), begin=p)
            ends = zip(_tails(q, start.pivot)[1:], start.spared[1:], strict=True)
            sides.append([_dyadic(x, bits - int(less), up=sign > 0) for x, less in ends])
    upper, lower = sides
    mantissa, exponent = upper[K - g - 1]
    length = mantissa.bit_length()
    log_tail = math.log2(mantissa >> max(length - 60, 0)) + max(length - 60, 0) - exponent
    slope = math.log2(nearest_double(policy.load * (1 + policy.eps * policy.d))) + (policy.d - 1) * log_tail
    found = Bounds(lower, upper, min(max(math.floor(-slope - 0.01) - 1, 1), bits + 64))
    with flint.ctx.workprec(bits + 64):
        if not (_solves(policy, found.lower, None) and _solves(policy, found.upper, found.shift)):
            raise PrecisionExhausted("the sides of the fixed point are not proved; raise the precision")
    return found


def _solves(policy: PowerOfD, side: list[Dyadic], shift: int | None) -> bool:
    """Return whether the flow points down on an upper side with tail x_K 2^(-shift i), up on a lower one (None)."""
    K, g = len(side), policy.g or 0
    x = [arb(1), *(arb(m) * arb(2) ** -e for m, e in side)]
    x += [arb(0) if shift is None else x[K] * arb(2) ** (-shift * i) for i in range(1, g + 3)]
    p = [a - b for a, b in pairwise(x)]
    if not all(v >= 0 for v in p):
        return False
    if shift is None:
        return all(_joined(policy, p, x, j) >= p[j + 1] for j in range(K))
    ratio, steepest = arb(2) ** -shift, arb(policy.load * (1 + policy.eps * policy.d)) * x[K - g] ** (policy.d - 1)
    return bool(ratio * (1 - ratio) >= steepest) and all(_joined(policy, p, x, j) <= p[j + 1] for j in range(K))


def _tails(p: list[arb], pivot: int) -> list[arb]:
    """Return x_0..x_K: from 1 downwards to the largest increment, from the tail upwards beyond it."""
    x = [arb(1)] * len(p)
    for k in range(1, pivot + 1):
        x[k] = (x[k - 1] - p[k - 1]).mid()
    total = arb(0)
    for k in range(len(p) - 1, pivot, -1):
        total = (total + p[k]).mid()
        x[k] = total
    return x


def _residual(policy: PowerOfD, p: list[arb], pivot: int) -> list[arb]:
    """Return p_{j+1} / (lam p_j Psi_j) - 1; at the pivot x_0 - 1."""
    K, zero = len(p) - 1, arb(0)
    x = [zero] * (K + 2 + (policy.g or 0))
    for k in range(K, -1, -1):
        x[k] = (x[k + 1] + p[k]).mid()
    found = [(p[j + 1] / _joined(policy, p, x, j) - 1).mid() for j in range(K)]
    found[pivot - 1] = (x[0] - 1).mid()
    return found


def _joined(policy: PowerOfD, p: list[arb], x: list[arb], j: int) -> arb:
    """Return lam R_j = lam p_j Psi_j from increments and tails, as products and differences of tails only."""
    d, g, here, after = policy.d, policy.g or 0, x[j], x[j + 1]
    y, z = x[j + g + 1], x[max(j - g, 0)]
    noise = divided(z - after, z - here, d) - divided(here - y, after - y, d)
    psi: arb = divided(here, after, d) + arb(policy.eps) * noise
    return arb(policy.load) * p[j] * psi


def _log2(x: arb) -> int:
    mantissa, exponent = x.man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa else -(10**9)


def _dyadic(x: arb, bits: int, *, up: bool) -> Dyadic:
    m, e = (int(v) for v in x.man_exp())
    extra = m.bit_length() - bits
    if extra > 0:
        m, e = (-((-m) >> extra) if up else m >> extra), e + extra
    return (m << e, 0) if e >= 0 else (m, -e)
