r"""G and R of a level chain: refined in fixed point, then enclosed by a sub- and a super-solution over integers.

With :math:`F(X) = down + local\,X + up\,X^2`:

* ``upper`` U >= 0 with F(U) <= 0 gives G <= U;
* ``lower`` 0 <= Y <= U with F(Y) >= 0 gives Y <= G when no other solution lies below U: there are gamma, u > 0 with
  U u <= gamma u (recurrent without resets: gamma = 1, u = 1, because G 1 <= 1), and v > 0 with
  (gamma up + local + up U) v < 0; or a matrix V, positive where U is, with (local + up U) V + up V U < 0 there;
* R: with M(X) = -(local + up X) and t > 0, M(U) t > 0: X M(U) >= up gives R <= X, Y M(G lower) <= up gives Y <= R.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat

from exactchains.solvers.cyclic_reduction import Approximation, Array, sylvester_sum, triplet_solve
from exactchains.solvers.level_integers import LevelIntegers, column, fixed, floats, values
from exactchains.truth import Undecided

GAMMA_BITS = 60
MARGIN_BITS = 62  # the margin of v is the distance of the load from 1: it needs the bits of a double


@dataclass(frozen=True)
class Bounds:
    """lower / 2^bits <= matrix <= upper / 2^bits, entry by entry."""

    lower: fmpz_mat
    upper: fmpz_mat
    bits: int
    inner: tuple[fmpz_mat, fmpz_mat] | None = None  # local + up X at the two ends


@dataclass(frozen=True)
class Refined:
    """A fixed point number near G: ``inner`` = local + up X and the error F(X) = error * 2^exponent."""

    X: fmpz_mat
    bits: int
    inner: fmpz_mat
    error: Array
    exponent: int


@dataclass(frozen=True)
class RateProof:
    """What a checker needs beside the bounds: t and either gamma, u, v or V, as in the module's text."""

    t: list[int]
    gamma: int = 0  # over 2^GAMMA_BITS
    u: list[int] = field(default_factory=list)
    v: list[int] = field(default_factory=list)
    V: fmpz_mat | None = None


@dataclass
class Refinement:
    """One chain, doubles near its G, and the operators that correct them."""

    blocks: LevelIntegers
    start: Approximation
    conservative: bool  # G 1 = 1 is known

    @cached_property
    def inverse(self) -> tuple[Array, Array]:
        """Return (M^-1 up, M^-1) for M = -(local + up G), in doubles."""
        up, local, _, _ = self.blocks.doubles
        solved = triplet_solve(local + up @ self.start.G, self.start.excess, np.hstack([up, np.eye(len(up))]))
        return solved[:, : len(up)], solved[:, len(up) :]

    @cached_property
    def profile(self) -> Array:
        """Return V >= 0 with M V - up V G = diag * G: the direction in which G is bounded; V / G counts moves."""
        step, inverse = self.inverse
        G = self.start.G
        return np.asarray(sylvester_sum(step, inverse @ (self.blocks.diagonal[:, None] * G), G))

    @cached_property
    def growth(self) -> float:
        """Return the largest V / G: what a unit relative residual costs in relative width."""
        G = self.start.G
        return float((self.profile[G > 0] / G[G > 0]).max(initial=1.0))

    @cached_property
    def smallest(self) -> float:
        """Return the least positive entry of G."""
        return float(self.start.G[self.start.G > 0].min(initial=1.0))

    @cached_property
    def smallest_rate(self) -> float:
        """Return the least positive entry of R, at most 1."""
        R = self.blocks.doubles[0] @ self.inverse[1]
        return float(R[R > 0].min(initial=1.0))

    def refined(self, bits: int) -> Refined:
        """Return G in fixed point of ``bits`` bits, residuals exact, corrections in doubles.

        Raises
        ------
        Undecided
            A correction does not reduce the residual: the doubles are too poor a start.
        """
        G, (step, inverse) = self.start.G, self.inverse
        at = min(bits, 64 - math.frexp(self.smallest)[1])
        now, last = self._measured(fixed(G, at), at), math.inf
        right = G - np.outer(np.ones(len(G)), G.mean(0)) if self.conservative else G
        while True:
            stuck = now.exponent >= last - 2
            if now.bits == bits and (now.exponent <= 3 - bits or (stuck and now.exponent <= 8 - bits)):
                return now
            if stuck:
                raise Undecided("refinement of G does not converge")
            last = now.exponent
            change = sylvester_sum(step, inverse @ now.error, right)
            size = now.exponent + int(np.frexp(np.abs(change).max())[1])
            finer = max(now.bits, min(bits, 46 - size))
            X = now.X * (fmpz(1) << (finer - now.bits)) + fixed(change, finer + now.exponent)
            now = self._measured(X, finer)

    def _measured(self, X: fmpz_mat, bits: int) -> Refined:
        """Return X, its rows made to sum to 1 where G's do, with F(X) in the unit of the doubles."""
        X = self._conserved(X, bits)
        inner = self.blocks.inner(X, bits)
        error, exponent = floats(self.blocks.residual(X, inner, bits), -2 * bits - self._shift)
        return Refined(X, bits, inner, error, exponent)

    @cached_property
    def _shift(self) -> int:
        unit = self.blocks.unit * int(self.blocks.scale)  # a power of two
        return int(unit.p).bit_length() - int(unit.q).bit_length()

    def _conserved(self, X: fmpz_mat, bits: int) -> fmpz_mat:
        """Make the rows sum to 1 where they do in truth, by a change of the largest entry."""
        if not self.conservative:
            return X
        m, largest = self.blocks.size, self.start.G.argmax(1)
        sums, one = X * column([1] * m), fmpz(1) << bits
        for i, j in enumerate(largest.tolist()):
            X[i, j] += one - sums[i, 0]
        return X

    def bounds(self, near: Refined) -> Bounds:
        """Return a sub- and a super-solution around a refined G, checked in integers; the zeros of G stay zero."""
        G, diagonal, bits = self.start.G, self.blocks.diagonal, near.bits
        prof = diagonal[:, None] * G
        live = G > 0
        error = np.abs(np.ldexp(near.error, min(near.exponent + bits, 900))) + 2.0**-40 * diagonal.max()
        delta = 2 * (error[live] / prof[live]).max(initial=0.0)
        delta = max(delta, 16 * diagonal.max() / prof[live].min(initial=1.0))
        step = fixed(np.where(live, np.ceil(delta * self.profile), 0), 0)
        upper, lower = near.X + step, _clipped(near.X - step)
        inner = (self.blocks.inner(lower, bits), self.blocks.inner(upper, bits))
        if not _nonpositive(self.blocks.residual(upper, inner[1], bits)):
            raise Undecided("no super-solution at this precision")
        if not _nonpositive(-1 * self.blocks.residual(lower, inner[0], bits)):
            raise Undecided("no sub-solution at this precision")
        return Bounds(lower, upper, bits, inner)

    def proof(self, bounds: Bounds, recurrent: bool) -> RateProof:
        """Return what ties the sub-solution to the minimal solution, checked in integers."""
        assert bounds.inner is not None
        inner = bounds.inner[1]
        t = _integers(self.inverse[1] @ self.blocks.diagonal, 30)
        if max(values(inner * column(t))) >= 0:
            raise Undecided("no M-matrix vector at this precision")
        try:
            return RateProof(t, *self._vectors(bounds, inner, recurrent))
        except Undecided:
            return RateProof(t, V=self._matrix(bounds, inner))

    def _vectors(self, bounds: Bounds, inner: fmpz_mat, recurrent: bool) -> tuple[int, list[int], list[int]]:
        """Return gamma, u and v."""
        blocks, m = self.blocks, self.blocks.size
        up, local, _, _ = blocks.doubles
        gamma, u = (1 << GAMMA_BITS, [1] * m) if recurrent else self._contraction(bounds)
        M = -(gamma / 2.0**GAMMA_BITS * up + local + up @ self.start.G)
        np.fill_diagonal(M, M.diagonal() + blocks.diagonal + local.diagonal())
        v = _integers(_solved(M, blocks.diagonal), MARGIN_BITS)
        one, wide = fmpz(1) << bounds.bits, fmpz(1) << GAMMA_BITS
        if max(values((blocks.up * (one * gamma) + inner * wide) * column(v))) >= 0:
            raise Undecided("no vector ties the sub-solution to the minimal solution at this precision")
        return gamma, u, v

    def _matrix(self, bounds: Bounds, inner: fmpz_mat) -> fmpz_mat:
        """Return V, for chains whose classes drift in different directions."""
        live = self.start.G > 0
        V = fixed(self.profile, MARGIN_BITS - int(np.frexp(self.profile[live].min(initial=1.0))[1]))
        total = inner * V + self.blocks.up * V * bounds.upper
        if any(x >= 0 for x, inside in zip(total.entries(), live.ravel().tolist(), strict=True) if inside):
            raise Undecided("the sub-solution is not tied to the minimal solution at this precision")
        return V

    def _contraction(self, bounds: Bounds) -> tuple[int, list[int]]:
        """Return gamma < 1 and u > 0 with U u <= gamma u, for a chain that need not come back."""
        G, m = self.start.G, self.blocks.size
        radius = float(np.abs(np.linalg.eigvals(G)).max())
        gamma = (1 + radius) / 2
        u = _integers(_solved(np.eye(m) - G / gamma, np.ones(m)), MARGIN_BITS)
        whole = math.ceil(gamma * 2.0**GAMMA_BITS)
        left, one = bounds.upper * column(u) * (fmpz(1) << GAMMA_BITS), fmpz(1) << bounds.bits
        if max(values(left - column(u) * (one * whole))) > 0:
            raise Undecided("no contraction vector at this precision")
        return whole, u

    def rates(self, near: Refined, bounds: Bounds) -> Bounds:
        """Return R between a lower and an upper bound, from those of G, checked in integers."""
        blocks, bits = self.blocks, bounds.bits
        right, inverse = blocks.up * (fmpz(1) << 2 * bits), self.inverse[1]
        R = blocks.doubles[0] @ inverse
        X = self._divided(fixed(R, bits), -1 * near.inner, right, bits)
        live, gap = R > 0, floats(bounds.upper - bounds.lower, 0)
        width = np.ldexp(gap[0], gap[1]) + 1
        spread = (R @ (blocks.doubles[0] @ width) + 8 * live * blocks.diagonal.max()) @ inverse
        step = fixed(np.where(live, np.ceil(spread), 0), 0)
        upper, lower = X + step, _clipped(X - step)
        assert bounds.inner is not None
        below, above = bounds.inner
        if not _nonpositive(right + upper * above) or not _nonpositive(-1 * (lower * below) - right):
            raise Undecided("no bounds of R at this precision")
        return Bounds(lower, upper, bits)

    def _divided(self, X: fmpz_mat, M: fmpz_mat, right: fmpz_mat, bits: int) -> fmpz_mat:
        """Return X with X M = right, refined until the correction is below the last bits.

        A correction has few bits, so that the exact residual follows from a short product.
        """
        remainder = right - X * M
        for _ in range(20 + bits // 20):
            error, exponent = floats(remainder, -2 * bits - self._shift)
            change = error @ self.inverse[1]
            size = exponent + int(np.frexp(np.abs(change).max(initial=0.0))[1])
            skip = max(0, bits + size - 60)  # low bits that this correction leaves alone
            short, scale = fixed(change, bits + exponent - skip), fmpz(1) << skip
            X, remainder = X + short * scale, remainder - short * M * scale
            if size <= 40 - bits or not error.any():
                return X
        raise Undecided("refinement of R does not converge")


def _solved(A: Array, b: Array) -> Any:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        raise Undecided("a matrix is singular in doubles") from None


def _clipped(X: fmpz_mat) -> fmpz_mat:
    entries = values(X)
    if min(entries, default=0) >= 0:
        return X
    return fmpz_mat(X.nrows(), X.ncols(), [max(x, 0) for x in entries])


def _nonpositive(X: fmpz_mat) -> bool:
    return all(x <= 0 for x in X.entries())


def _integers(x: Any, bits: int) -> list[int]:
    """Return a positive vector scaled to integers of about ``bits`` bits at its smallest entry."""
    if not np.isfinite(x).all() or x.min() <= 0:
        raise Undecided("a vector that must be positive is not, at this precision")
    return values(fixed((x / x.min())[:, None], bits))
