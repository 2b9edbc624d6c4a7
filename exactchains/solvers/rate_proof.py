"""The vectors that tie bounds of G and R to the minimal solutions, checked in integers as a checker will.

``t``: M(U) t > 0 for M = -(local + up U).  Either ``gamma``, ``u``, ``v`` with U u <= gamma u (gamma = 1, u = 1 when
recurrent, because G 1 <= 1) and (gamma up + local + up U) v < 0; or a matrix ``V``, positive where U is, with
(local + up U) V + up V U < 0 there, for chains whose classes drift in different directions.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat

from exactchains.solvers.cyclic_reduction import Array
from exactchains.solvers.level_integers import column, fixed, values
from exactchains.solvers.rate_bounds import Around
from exactchains.solvers.rate_refinement import Refinement
from exactchains.truth import Undecided

GAMMA_BITS = 60
MARGIN_BITS = 62  # the margin of v is the distance of the load from 1: it needs the bits of a double


@dataclass(frozen=True)
class RateProof:
    """Integers; gamma over 2^GAMMA_BITS, vectors and V up to a factor."""

    t: list[int]
    gamma: int = 0
    u: list[int] = field(default_factory=list)
    v: list[int] = field(default_factory=list)
    V: fmpz_mat | None = None


def rate_proof(work: Refinement, first: Around) -> RateProof:
    """Return the proof that belongs to bounds of G.

    Raises
    ------
    Undecided
        A vector that must satisfy a strict inequality does not.
    """
    blocks, above = work.blocks, first.upper
    inner = blocks.inner(above, first.bits)
    t = _integers(work.inverse[1] @ blocks.diagonal, 30)
    if max(values(inner * column(t))) >= 0:
        raise Undecided("no M-matrix vector at this precision")
    try:
        return RateProof(t, *_vectors(work, first, inner))
    except Undecided:
        V = fixed(first.width, 0)
        total = inner * V + blocks.up * V * above
        live = (first.width > 0).ravel().tolist()
        if any(x >= 0 for x, inside in zip(total.entries(), live, strict=True) if inside):
            raise Undecided("the sub-solution is not tied to the minimal solution at this precision") from None
        return RateProof(t, V=V)


def _vectors(work: Refinement, first: Around, inner: fmpz_mat) -> tuple[int, list[int], list[int]]:
    """Return gamma, u and v."""
    blocks, m, G = work.blocks, work.blocks.size, work.start.G
    up, local, _, _ = blocks.doubles
    gamma, u = (1 << GAMMA_BITS, [1] * m) if work.conservative else _contraction(G, first)
    M = -(gamma / 2.0**GAMMA_BITS * up + local + up @ G)
    np.fill_diagonal(M, M.diagonal() + blocks.diagonal)
    v = _integers(_solved(M, blocks.diagonal), MARGIN_BITS)
    one, wide = fmpz(1) << first.bits, fmpz(1) << GAMMA_BITS
    if max(values((blocks.up * (one * gamma) + inner * wide) * column(v))) >= 0:
        raise Undecided("no vector ties the sub-solution to the minimal solution at this precision")
    return gamma, u, v


def _contraction(G: Array, first: Around) -> tuple[int, list[int]]:
    """Return gamma < 1 and u > 0 with U u <= gamma u, for a chain that need not come back."""
    m = len(G)
    gamma = (1 + float(np.abs(np.linalg.eigvals(G)).max())) / 2
    u = _integers(_solved(np.eye(m) - G / gamma, np.ones(m)), MARGIN_BITS)
    whole, one = math.ceil(gamma * 2.0**GAMMA_BITS), fmpz(1) << first.bits
    left = first.upper * column(u) * (fmpz(1) << GAMMA_BITS)
    if max(values(left - column(u) * (one * whole))) > 0:
        raise Undecided("no contraction vector at this precision")
    return whole, u


def _solved(A: Array, b: Array) -> Any:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise Undecided("a matrix is singular in doubles") from None


def _integers(x: Array, bits: int) -> list[int]:
    """Return a positive vector scaled to integers of about ``bits`` bits at its smallest entry."""
    if not np.isfinite(x).all() or x.min() <= 0:
        raise Undecided("a vector that must be positive is not, at this precision")
    return values(fixed((x / x.min())[:, None], bits))
