r"""G and R of recurrent chains in two doubles: a residual in two words, corrections in one, bounds of rank one.

With v > 0, :math:`(-(local + up\,G) - up)\,v = diag` and g the stationary law of G, :math:`D = \delta\,v g^T` has
:math:`L(G, D) = \delta\,diag\,g^T` in the notation of :mod:`exactchains.solvers.rate_bounds`, whose conditions are
checked here with every rounding counted.  What this route cannot do is left to integers.
"""

import math
from functools import cached_property
from typing import Any

import numpy as np

from exactchains.solvers.cyclic_reduction import Approximation, Array, shifted, sylvester_sum
from exactchains.solvers.level_integers import LevelIntegers
from exactchains.solvers.rate_bounds import LEAST, TRIES, UP, Around, RateBounds, relative_error
from exactchains.solvers.rate_refinement import Refinement
from exactchains.solvers.split_product import Slices, multiplied, sliced
from exactchains.solvers.twofold import U, two_prod, two_sum
from exactchains.truth import Undecided

SQUARED = 2 * U * U
SMALL = 1e-9  # the shifted reduction is a good start when no entry of G is smaller
SPARE = 15.5  # bits beside those of digits and condition
CUTS = (2, 3)  # slices of the exact products: enough for about 13 and 20 digits


def in_doubles(blocks: LevelIntegers, digits: int) -> tuple[Around, Around, Refinement] | None:
    """Return bounds of G and R of a recurrent chain that is never reset, or None where this route does not suffice."""
    up, local, down, _ = blocks.doubles
    reach, columns = blocks.reach, blocks.reach.any(0)
    start = shifted(up, local, down)
    if start is None or not ((start.G > SMALL) == reach).all() or not (reach == columns).all():
        return None
    start = Approximation(np.where(reach, start.G, 0.0), start.excess, start.steps)
    work = Refinement(blocks, start, True)
    for cuts in CUTS:
        try:
            near = TwoWords(work, digits, cuts)
            first = near.first()
            rate = near.rate(first)
        except (Undecided, np.linalg.LinAlgError):
            return None
        if min(first.digits, rate.digits) >= digits:
            return first, rate, work
    return None


class TwoWords:
    """A matrix X = head + tail near G, both multiples of 2^-bits, and what is left of F(X)."""

    def __init__(self, work: Refinement, digits: int, cuts: int) -> None:
        self.blocks, self.cuts = work.blocks, cuts
        self.up, self.local, self.down, _ = work.blocks.doubles
        self.diagonal, self.size = work.blocks.diagonal, work.blocks.size
        self.relative, self.live = relative_error(self.size), work.blocks.reach
        G = work.start.G
        M = np.diag(self.diagonal) - self.local - self.up @ G
        self.inverse: Any = np.linalg.inv(M)
        self.slow: Any = np.linalg.inv(M - self.up)
        self.v, self.g = self.slow @ self.diagonal, self._law(G)
        R, smallest = self.up @ self.inverse, float(G[self.live].min(initial=1.0))
        if not (self.inverse.min() > 0 and self.v.min() > 0 and (self.g[self.live[0]] > 0).all()):
            raise Undecided("a positive vector is not, in doubles")
        if self.blocks.wide or min(_least(x) for x in (self.up, self.local, self.down, G, self.g)) < LEAST:
            raise Undecided("entries too far apart for doubles")
        growth = float((np.outer(self.v, self.g)[self.live] / G[self.live]).max(initial=1.0))
        loss = max(math.log2(growth / smallest), 4 - math.log2(_least(R)))
        if not loss < 200:
            raise Undecided("too many digits are lost in doubles")
        self.bits = math.ceil(3.3220 * (digits - 1) + loss + SPARE)
        self.start, self.head, self.R = work.start, _rounded(G, self.bits), _rounded(R, self.bits)
        self.tail, self.rest = self._corrected()

    def _law(self, G: Array) -> Array:
        """Return the stationary law of G, zero where G cannot lead."""
        A, j = G.T - np.eye(self.size), int(G.sum(0).argmax())
        A[j] = 1.0
        g = np.linalg.solve(A, np.eye(self.size)[j])
        return np.maximum(np.where(self.live[0], g, 0.0), 0.0) @ G

    @cached_property
    def _columns(self) -> Slices:
        return sliced(self.head, self.size, self.cuts, rows=False)

    @cached_property
    def inner(self) -> tuple[Array, Array, Array, Array]:
        """Return local + up head, without the diagonal, in two words; it errs by far_left far_right + (m + 64) u^2."""
        P = multiplied(sliced(self.up, self.size, self.cuts, rows=True), self._columns)
        _, local_low, _, _ = self.blocks.lows
        high, error = two_sum(self.local, P.high)
        high, low = two_sum(high, error + P.low + (local_low + self.blocks.lows[0] @ self.head))
        return high, low, P.far * P.left, P.right

    def _residual(self) -> tuple[Array, Array]:
        """Return F(head) and a bound of its error."""
        high, low, far_left, far_right = self.inner
        T = multiplied(sliced(high, self.size, self.cuts, rows=True), self._columns)
        p, c = two_prod(self.diagonal[:, None], self.head)
        s, e = two_sum(T.high, -p)
        s, d = two_sum(s, self.down)
        rest = T.low + low @ self.head - c - self.blocks.diagonal_low[:, None] * self.head + self.blocks.lows[2]
        F = s + (e + d + rest)
        error = (2 * self.size + 300) * SQUARED * (T.high + p + self.down) + 2 * U * np.abs(F)
        error += np.outer(far_left, far_right @ self.head) + np.outer(T.far * T.left, T.right)
        return F, error

    def _corrected(self) -> tuple[Array, Array]:
        """Return the tail, and a bound of |F(head + tail)|."""
        F, slack = self._residual()
        step, tail, rest = self.inverse @ self.up, np.zeros_like(F), F
        right = self.head - self.g
        for _ in range(3):
            along = rest.sum(1)
            across = sylvester_sum(step, self.inverse @ (rest - np.outer(along, self.g)), right, U)
            tail = _rounded(tail + across + np.outer(self.slow @ along, self.g), self.bits)
            tail[~self.live] = 0.0
            rest, error = self._left(F, tail)
            found = np.abs(rest) * (1 + 4 * U) + slack + error
            if not np.abs(rest).max() > (slack + error).max() + np.ldexp(self.diagonal.max(), 2 - self.bits):
                break
        if not np.isfinite(found).all():
            raise Undecided("no correction in doubles")
        return tail, found

    def _left(self, F: Array, C: Array) -> tuple[Array, Array]:
        """Return F(head + C) = F - L(C) + up C^2 from F(head), and a bound of the error of this step."""
        X, up = self.head, self.up
        rest = F - self.diagonal[:, None] * C + self.local @ C + up @ (X @ C) + (up @ C) @ (X + C)
        high, wide = np.abs(C).max(0), np.abs(C).max(1)
        rates = self.diagonal + self.local.sum(1) + up @ X.sum(1)
        error = np.outer(rates, high) + np.outer(up @ wide, X.sum(0) + high * self.size)
        return rest, self.relative * error + 4 * U * np.abs(F)

    def first(self) -> Around:
        """Return bounds of G.

        Raises
        ------
        Undecided
            The inequalities do not hold with the roundings counted.
        """
        X, up, local, more = self.head + self.tail, self.up, self.local, 1 + self.relative
        unit, live, g = 2.0**-self.bits, self.live, self.g
        whole = (local.sum(1) + 2 * (up @ X.sum(1)))[:, None] + np.outer(2 * up.sum(1), X.sum(0))
        need = (self.rest + unit * more * whole)[live]  # widths are rounded up to whole numbers
        delta = 2 * float((need / np.outer(self.diagonal, g)[live]).max(initial=0.0))
        for _ in range(TRIES):  # ``relative`` is several times what the sums below need: the outer products are in it
            width = np.where(live, np.ceil(delta / unit * (1 + 8 * U) * np.outer(self.v, g)), 0.0)
            above = (X + width * unit) * UP
            lost = (local @ self.v + up @ (above @ self.v)) * more
            kept = self.diagonal * self.v * (1 - self.relative) - lost
            slack = np.outer(kept, g) - np.outer((up @ self.v) * more, (g @ above) * more)
            if (delta * slack[live] * (1 - 8 * U) > need).all():
                return Around((self.head, self.tail), width, self.bits, X)
            delta *= 4
        raise Undecided("no sub- and super-solution in doubles")

    def rate(self, first: Around) -> Around:
        """Return bounds of R, from those of G."""
        high, low, far_left, far_right = self.inner
        low = low + self.up @ self.tail
        R, d = self.R, self.diagonal[None, :]
        Q = multiplied(sliced(R, self.size, self.cuts, rows=True), sliced(high, self.size, self.cuts, rows=False))
        p, c = two_prod(R, d)
        s, e = two_sum(Q.high, -p)
        s, f = two_sum(s, self.up)
        rest = Q.low + R @ low - c - R * self.blocks.diagonal_low + self.blocks.lows[0]
        rest = s + (e + f + rest)
        error = (2 * self.size + 300) * SQUARED * (Q.high + p + self.up) + 2 * U * np.abs(rest)
        error += np.outer(Q.far * Q.left, Q.right) + np.outer(R @ far_left, far_right)
        error += self.relative * np.outer(R @ self.up.sum(1), np.abs(self.tail).max(0))
        if not ((R > 0) == (self.up.max(1) > 0)[:, None]).all():
            raise Undecided("an entry of R is too small for doubles")
        C = np.where(R > 0, _rounded(rest @ self.inverse, self.bits), 0.0)
        left = rest - C * d + C @ (high + low)
        size = np.abs(C).max(1)
        error += np.abs(left) * (1 + 4 * U) + 4 * U * np.abs(rest)
        error += self.relative * np.outer(size, 2 * self.diagonal + 2 * high.sum(0))
        bounds = RateBounds(self.blocks, self.inverse, first)
        return bounds.around((R, C), R + C, np.ldexp(error, self.bits))


def _least(x: Array) -> float:
    """Return the least positive entry, at most 1."""
    return float(x[x > 0].min(initial=1.0))


def _rounded(x: Array, bits: int) -> Array:
    """Return x rounded to multiples of 2^-bits, exactly."""
    scale = 2.0**bits
    return np.asarray(np.rint(x * scale) / scale)
