"""Sub- and super-solutions around a guessed fixed point: refinement in balls, then dyadic bounds on both sides."""

import math
from dataclasses import dataclass

import flint
import numpy as np
from flint import arb

from exactchains.number import nearest_double
from exactchains.truth import Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.solvers.log_newton import Guess

__all__ = ["Bounds", "bounds", "refined"]

Dyadic = tuple[int, int]  # (mantissa, e): mantissa * 2^-e


@dataclass(frozen=True)
class Bounds:
    """``lower[k-1]`` <= x_k <= ``upper[k-1]``, k = 1..K; beyond K the bounds are 0 and x_K 2^(-shift (k-K))."""

    lower: list[Dyadic]
    upper: list[Dyadic]
    shift: int


def refined(policy: PowerOfD, start: Guess, bits: int) -> list[arb]:
    """Return increments p_0..p_K whose balance residuals are below 2^-bits, relative to each increment.

    The Jacobian in logarithms is of order one in every entry, so one inverse in doubles serves all precisions.
    """
    with flint.ctx.workprec(96):
        p = [arb(1) - arb(policy.load), *(arb(float(v)).exp().mid() for v in start.s[1:])]
    inverse = np.linalg.inv(start.matrix)
    reached, stalled, before = 40, 0, 0
    while True:
        with flint.ctx.workprec(min(bits, reached + 110) + 20):
            p[0] = (1 - arb(policy.load)).mid()
            residual = _residual(policy, p, start.pivot)
            size = max(_log2(r) for r in residual)
            scale = arb(2) ** -size
            step = inverse @ np.array([-float(r * scale) for r in residual])
            back = arb(2) ** size
            for k in range(1, len(p)):
                p[k] = (p[k] * (1 + arb(float(step[k - 1])) * back)).mid()
        reached = max(reached, 40 - size)
        if -size > bits - 8:
            return p
        stalled = stalled + 1 if size > before - 4 else 0
        before = size
        if stalled > 6:
            raise Undecided(f"refinement of the fixed point stalls at 2^{size}")


def bounds(policy: PowerOfD, start: Guess, p: list[arb], *, bits: int, spread: int) -> Bounds:
    r"""Return p (1 -+ eta ds) as tails, eta = 2^(spread - bits), rounded outward to ``bits`` bits.

    The direction solves M ds = 1 - c ds_0 with :math:`ds_0 = -\lambda/(1-\lambda)`: a relative slack of one in every
    row, and x_0 = 1 kept.
    """
    idle, K = float(p[0]), len(p) - 1
    first = -(1 - idle) / idle
    right = np.ones(K) - start.column * first
    right[start.pivot - 1] = -idle * first
    direction = [first, *np.linalg.solve(start.matrix, right)]
    sides = []
    with flint.ctx.workprec(bits + 20):
        eta = arb(2) ** (spread - bits)
        for sign in (1, -1):
            q = [(x * (1 + sign * eta * arb(float(v)))).mid() for x, v in zip(p, direction, strict=True)]
            sides.append([_dyadic(x, bits, up=sign > 0) for x in _tails(q, start.pivot)[1:]])
    upper, lower = sides
    mantissa, exponent = upper[K - policy.g - 1]
    length = mantissa.bit_length()
    log_tail = math.log2(mantissa >> max(length - 60, 0)) + max(length - 60, 0) - exponent
    slope = math.log2(nearest_double(policy.load * (1 + policy.eps * policy.d))) + (policy.d - 1) * log_tail
    return Bounds(lower, upper, max(math.floor(-slope - 0.01) - 1, 1))


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
    load, eps, d, g, K = arb(policy.load), arb(policy.eps), policy.d, policy.g, len(p) - 1
    zero = arb(0)
    x = [zero] * (K + 2)
    for k in range(K, -1, -1):
        x[k] = (x[k + 1] + p[k]).mid()
    found = []
    for j in range(K):
        y = x[j + g + 1] if j + g + 1 <= K else zero
        z = x[max(j - g, 0)]
        noise = _divided(z - x[j + 1], z - x[j], d) - _divided(x[j] - y, x[j + 1] - y, d)
        psi = _divided(x[j], x[j + 1], d) + eps * noise
        found.append((p[j + 1] / (load * p[j] * psi) - 1).mid() if j + 1 != pivot else (x[0] - 1).mid())
    return found


def _divided(a: arb, b: arb, d: int) -> arb:
    value, power = arb(1), arb(1)
    for _ in range(d - 1):
        power = power * b
        value = value * a + power
    return value


def _log2(x: arb) -> int:
    mantissa, exponent = x.man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa else -(10**9)


def _dyadic(x: arb, bits: int, *, up: bool) -> Dyadic:
    m, e = (int(v) for v in x.man_exp())
    extra = m.bit_length() - bits
    if extra > 0:
        m, e = (-((-m) >> extra) if up else m >> extra), e + extra
    return (m << e, 0) if e >= 0 else (m, -e)
