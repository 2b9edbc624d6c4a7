"""G and R of a level chain refined in fixed point: residuals exact in integers, corrections in doubles."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpz, fmpz_mat

from exactchains.solvers.cyclic_reduction import Approximation, Array, sylvester_sum, triplet_solve
from exactchains.solvers.level_integers import LevelIntegers, column, fixed, floats
from exactchains.truth import Undecided


@dataclass(frozen=True)
class Refined:
    """A fixed point number near G: ``inner`` = local + up X and the error F(X) = error * 2^exponent.

    ``doubles`` are X / 2^bits to a relative 2^-49.
    """

    X: fmpz_mat
    doubles: Array
    bits: int
    inner: fmpz_mat
    error: Array
    exponent: int


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
        now, last = self._measured(fmpz_mat(len(G), len(G)), np.zeros_like(G), (np.rint(np.ldexp(G, at)), at)), math.inf
        floor = 2 + math.frexp(float(self.blocks.diagonal.max()) * self.blocks.size)[1]  # what rounding X leaves
        right = G - np.outer(np.ones(len(G)), G.mean(0)) if self.conservative else G
        while True:
            stuck = now.exponent >= last - 2
            if now.bits == bits and now.exponent <= floor - bits:
                return now
            if stuck:
                raise Undecided("refinement of G does not converge")
            last = now.exponent
            change = sylvester_sum(step, inverse @ now.error, right)
            size = now.exponent + int(np.frexp(np.abs(change).max())[1])
            finer = max(now.bits, min(bits, 46 - size))
            steps = np.where(G > 0, np.rint(np.ldexp(change, finer + now.exponent)), 0.0)  # zeros of G stay
            now = self._measured(now.X * (fmpz(1) << (finer - now.bits)), now.doubles, (steps, finer))

    def _measured(self, X: fmpz_mat, doubles: Array, move: tuple[Array, int]) -> Refined:
        """Return X moved by whole steps of 2^-bits, its rows made to sum to 1 where G's do, and F of it."""
        steps, bits = move
        X, doubles = self._conserved(X + fixed(steps, 0), doubles + np.ldexp(steps, -bits), bits)
        inner = self.blocks.inner(X, bits)
        error, exponent = floats(self.blocks.residual(X, inner, bits), -2 * bits - self._shift)
        return Refined(X, doubles, bits, inner, error, exponent)

    @cached_property
    def _shift(self) -> int:
        unit = self.blocks.unit * int(self.blocks.scale)  # a power of two
        return int(unit.p).bit_length() - int(unit.q).bit_length()

    def _conserved(self, X: fmpz_mat, doubles: Array, bits: int) -> tuple[fmpz_mat, Array]:
        """Make the rows of X sum to 1 where they do in truth, by a change of the largest entry."""
        if not self.conservative:
            return X, doubles
        m, largest, one = self.blocks.size, self.start.G.argmax(1), 1 << bits
        missing = [one - int(x) for x in (X * column([1] * m)).entries()]
        for i, j in enumerate(largest.tolist()):
            X[i, j] += missing[i]
        doubles[np.arange(m), largest] += [math.ldexp(x, -bits) for x in missing]
        return X, doubles

    def divided(self, X: fmpz_mat, near: Refined, enough: int) -> tuple[fmpz_mat, Array, int]:
        """Return X near up M^-1, for M = -(local + up G) of a refined G, and the exact remainder up - X M.

        The next correction would be below 2^enough.  A correction has few bits, so that the exact remainder follows
        from a short product; it is returned in the unit of the doubles, as an array times a power of two.
        """
        bits, M = near.bits, -1 * near.inner
        remainder = self.blocks.up * (fmpz(1) << 2 * bits) - X * M
        for _ in range(20 + bits // 20):
            error, exponent = floats(remainder, -2 * bits - self._shift)
            change = error @ self.inverse[1]
            size = exponent + int(np.frexp(np.abs(change).max(initial=0.0))[1])
            if size <= max(1 - bits, enough) or not error.any():
                return X, error, exponent
            skip = max(0, bits + size - 60)  # low bits that this correction leaves alone
            short, scale = fixed(change, bits + exponent - skip), fmpz(1) << skip
            X, remainder = X + short * scale, remainder - short * M * scale
        raise Undecided("refinement of R does not converge")
