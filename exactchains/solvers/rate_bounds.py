r"""Bounds of G and R around refined fixed point numbers, proved in doubles with every rounding counted.

Let F(X) = down + local X + up X^2, M(X) = -(local + up X), L(X, D) = M(X) D - up D X, and D >= 0 positive where G is.

* :math:`F(X \pm D) = F(X) \mp L(X, D) + up\,D^2`.  If :math:`L(X + D, D) \ge |F(X)|` then F(X + D) <= 0 <= F(X - D):
  a super- and a sub-solution.  L(X + D, D) > 0 also says that the only solution below X + D is the minimal one.
* M(X + D) t > 0 with t > 0 makes M(G) an M-matrix.  Then |R - X_R| <= B M(G)^-1 with
  B = |up - X_R M(X)| + X_R up D, and W M(X + D) >= B gives |R - X_R| <= W.

Residuals are exact integers; L and W M are sums of products of nonnegative doubles, whose relative error is counted.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpz_mat

from exactchains.solvers.cyclic_reduction import Array
from exactchains.solvers.level_integers import LevelIntegers, fixed, values
from exactchains.solvers.rate_refinement import Refined, Refinement
from exactchains.truth import Undecided

TRIES = 4
UNIT = 2.0**-53
UP = 1 + 2.0**-48
DOUBLE_DIGITS = 14  # below, the remainder of R may be taken in doubles
LEAST = 1e-90  # products of three numbers above this do not underflow
Matrix = Array


@dataclass(frozen=True)
class Bounds:
    """lower / 2^bits <= matrix <= upper / 2^bits, entry by entry."""

    lower: fmpz_mat
    upper: fmpz_mat
    bits: int

    @cached_property
    def digits(self) -> int:
        """Significant digits that are certain in every entry that is not zero."""
        pairs = zip(values(self.lower), values(self.upper), strict=True)
        ratios = [low.bit_length() - (high - low).bit_length() if low > 0 else 0 for low, high in pairs if high > low]
        return max(0, math.floor((min(ratios, default=10**7) - 1) * math.log10(2)) + 1)


@dataclass(frozen=True)
class Around:
    """The same as middle -+ width; the widths are whole numbers held as doubles."""

    whole: fmpz_mat | tuple[Matrix, Matrix]  # the middle, or two matrices of multiples of 2^-bits that sum to it
    width: Matrix
    bits: int
    doubles: Matrix  # middle / 2^bits, to a relative 2^-49

    @cached_property
    def middle(self) -> fmpz_mat:
        if isinstance(self.whole, fmpz_mat):
            return self.whole
        return fixed(self.whole[0], self.bits) + fixed(self.whole[1], self.bits)

    @cached_property
    def lower(self) -> fmpz_mat:
        return self.middle - fixed(self.width, 0)

    @cached_property
    def upper(self) -> fmpz_mat:
        return self.middle + fixed(self.width, 0)

    @cached_property
    def digits(self) -> int:
        """Significant digits that are certain in every entry that is not zero."""
        live = self.width > 0
        if not live.any():
            return 10**7
        worst = math.log2(float((self.width[live] / self.doubles[live]).max())) + 1 - self.bits
        if worst > -1:  # the lower end may be negative
            return 0
        return max(0, math.floor(-(worst + 1e-9 - math.log2(1 - 2.0**worst)) * math.log10(2)) + 1)


class Enclosing:
    """Bounds of G and R around one refined number."""

    def __init__(self, work: Refinement, near: Refined) -> None:
        self.work, self.near, self.bits = work, near, near.bits
        self.up, self.local, _, _ = work.blocks.doubles
        self.error = relative_error(len(self.up))
        positive = [self.up, self.local, work.start.G, work.profile]
        if work.blocks.wide or min(float(x[x > 0].min(initial=1.0)) for x in positive) < LEAST:
            raise Undecided("entries too far apart for doubles")

    def first(self) -> Around:
        """Return bounds of G.

        Raises
        ------
        Undecided
            The inequalities do not hold with the roundings counted.
        """
        G, near, work = self.work.start.G, self.near, self.work
        live, X = G > 0, near.doubles
        error = np.ldexp(_most(near.error), near.exponent + self.bits)  # in units of 2^-bits
        delta = 2 * (error[live] / (work.blocks.diagonal[:, None] * G)[live]).max(initial=0.0)
        delta = max(delta, 4 / work.smallest)  # so that rounding the widths to whole numbers does not count
        for _ in range(TRIES):
            width = np.where(live, np.ceil(delta * work.profile), 0)
            above = (X + np.ldexp(width, -self.bits)) * UP
            if (self._slack(above, width)[live] >= error[live]).all():
                return Around(near.X, width, self.bits, X)
            delta *= 4
        raise Undecided("no sub- and super-solution at this precision")

    def _slack(self, above: Matrix, width: Matrix) -> Matrix:
        """Return a lower bound of L(above, width)."""
        gain = self.local @ width + self.up @ (above @ width) + (self.up @ width) @ above
        found = self.work.blocks.diagonal[:, None] * width * (1 - self.error) - gain * (1 + self.error)
        return np.asarray(found)

    def rate(self, first: Around, digits: int) -> Around:
        """Return bounds of R, from those of G.

        Raises
        ------
        Undecided
            The inequalities do not hold with the roundings counted.
        """
        inverse = self.work.inverse[1]
        bounds = RateBounds(self.work.blocks, inverse, first)
        start = self.up @ inverse
        if digits < DOUBLE_DIGITS:
            quick = self._quick(start, bounds, first)
            if quick is not None and quick.digits >= digits:
                return quick
        cost = start @ (self.up @ first.width) @ inverse  # of the width of G, over 2^bits
        enough = math.frexp(float(cost[start > 0].min(initial=1.0)))[1] - self.bits - 3
        middle, remainder, exponent = self.work.divided(fixed(start, self.bits), self.near, enough)
        error = np.ldexp(_most(remainder), exponent + self.bits)
        return bounds.around(middle, _doubles(middle, self.bits), error)

    def _quick(self, start: Matrix, bounds: "RateBounds", first: Around) -> Around | None:
        """Return bounds of R from a remainder in doubles, all of whose roundings count as error."""
        R = np.ldexp(np.rint(np.ldexp(start, self.bits)), -self.bits)  # a multiple of 2^-bits, exactly
        below = self.local + self.up @ first.doubles
        paid, diagonal = R @ below, R * self.work.blocks.diagonal
        error = np.abs(self.up + paid - diagonal) + (3 * len(R) + 96) * UNIT * (self.up + paid + diagonal)
        try:
            return bounds.around((R, np.zeros_like(R)), R, np.ldexp(error, self.bits))
        except Undecided:
            return None


class RateBounds:
    """What ties bounds of R to those of G: M(X + D) is an M-matrix, shown by the vector t = M^-1 diag.

    Raises
    ------
    Undecided
        The inequality does not hold with the roundings counted.
    """

    def __init__(self, blocks: LevelIntegers, inverse: Matrix, first: Around) -> None:
        up, local, _, _ = blocks.doubles
        self.diagonal, self.inverse, self.bits = blocks.diagonal, inverse, first.bits
        self.error = relative_error(len(up))
        self.inner = local + up @ ((first.doubles + np.ldexp(first.width, -first.bits)) * UP)
        self.lift, self.entered = up @ first.width, up > 0
        t = inverse @ self.diagonal
        if not ((t > 0) & (self.diagonal * t * (1 - self.error) > self.inner @ t * (1 + self.error))).all():
            raise Undecided("no M-matrix vector at this precision")

    def around(self, whole: fmpz_mat | tuple[Matrix, Matrix], R: Matrix, remainder: Matrix) -> Around:
        """Return R -+ W with W M(X + D) >= remainder + R up D; ``remainder`` bounds |up - R M(X)| in units of 2^-bits.

        Zeros of R are right where up is zero and no transition leads in from an entry that is not zero.

        Raises
        ------
        Undecided
            No such W was found with the roundings counted.
        """
        diagonal, inverse, inner, live = self.diagonal, self.inverse, self.inner, R > 0
        if ((self.entered | (live.astype(float) @ (inner > 0) > 0)) & ~live).any():
            raise Undecided("an entry of R is too small for doubles")
        spread = np.where(live, (remainder + R @ self.lift) * (1 + self.error), 0)
        rounding = 2 * float(inner.sum(0).max(initial=0.0))  # what whole widths may cost
        base = np.where(live, spread + rounding, 0)
        base = base + 16 * self.error * (base @ inverse) * diagonal  # a column far below the others
        wide, scale = base @ inverse, 1.0 + 2.0**-10
        for _ in range(TRIES):
            width = np.where(live, np.ceil(scale * wide) + 1, 0)
            slack = width * diagonal * (1 - self.error) - width @ inner * (1 + self.error)
            if (slack[live] >= spread[live]).all():
                return Around(whole, width, self.bits, R)
            scale *= 4
        raise Undecided("no bounds of R at this precision")


def relative_error(size: int) -> float:
    """Return a bound of the relative error of the sums of products of up to three matrices that are formed here."""
    return (8 * size + 128) * UNIT


def _most(error: Matrix) -> Matrix:
    """Return an upper bound of the exact sizes that :func:`floats` rounded, the largest of which is below 1."""
    return np.asarray(np.abs(error) * (1 + 2.0**-50) + 2.0**-58)


def _doubles(X: fmpz_mat, bits: int) -> Matrix:
    """Return X / 2^bits, each entry rounded correctly."""
    entries = values(X)
    if max(entries, default=0).bit_length() > 1000:
        spare = [max(0, x.bit_length() - 64) for x in entries]
        array = np.array([math.ldexp(x >> e, e - bits) for x, e in zip(entries, spare, strict=True)])
    else:
        array = np.ldexp(np.array(list(map(float, entries))), -bits)
    return np.asarray(array.reshape(X.nrows(), X.ncols()))
