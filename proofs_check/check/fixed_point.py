"""Mean-field fixed points of power of d with comparison errors: sub- and super-solutions, or an outward recursion.

Tails x_0 = 1 >= x_1 >= ... with finite sum.  In equilibrium, for k >= 1, with y = x_{k+g}, z = x_{max(k-1-g,0)},
    0 = F_k(x) = lam R_{k-1} - x_k + x_{k+1},
    R_j = x_j^d - x_{j+1}^d - eps [(x_j-y)^d - (x_{j+1}-y)^d] + eps [(z-x_{j+1})^d - (z-x_j)^d].
The flow dx/dt = F is cooperative on ordered sequences (claim noisy.dependent.cooperative), its equilibrium with finite
sum is unique and the limit from 0 (noisy.dependent.fixed-point).  Hence ordered sequences with F(upper) <= 0 and
F(lower) >= 0 enclose it.  Errors at every gap (g null), or none that show (g = 0, eps = 0 or d = 1): the recursion
x_{k+1} = lam h(x_k), h increasing.  At gaps up to g no longer queue is joined than at every gap, and another one only
by an error in a sample with a server of more than g jobs: lam (h(x_k) - eps d x_{g+1}) <= x_{k+1} <= lam h(x_k).

Caps    d <= 1000; exponents up to 2,000,000; 400,000 terms; d-th powers of at most 4,000,000 bits, and a total of work
        that a processor does in seconds
"""

import re
from fractions import Fraction
from math import isqrt
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational, table

Dyadic = tuple[int, int]  # (m, e): m 2^-e
MAX_EXPONENT = 2_000_000
MAX_TERMS = 400_000
MAX_POWER_BITS = 4_000_000
MAX_WORK = 5 * 10**12  # products of bits
MAX_D = 1000

_BASE_32 = re.compile(r"0v[0-9a-v]{1,1000000}", re.ASCII)


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    """Accept enclosures of the mean queue and of tails of one fixed point."""
    data = fields(problem, "load eps d g")
    load, eps, d = rational(data["load"]), rational(data["eps"]), integer(data["d"], 1)
    if not (0 < load < 1 and 0 <= eps <= 1):
        raise Rejected("needs 0 < load < 1 and 0 <= eps <= 1")
    if d > MAX_D:
        raise Rejected(f"d above {MAX_D}")
    gap = None if data["g"] is None else integer(data["g"])
    if gap == 0 or eps == 0 or d == 1:
        gap, eps = None, Fraction(0)
    if gap is None or "terms" in table(proof):
        lower, upper, beyond = _recursion(load, eps, d, gap, proof)
    else:
        lower, upper, beyond = _both_sides(load, eps, d, gap, proof)
    _conclude(conclusion, lower, upper, beyond)


def _conclude(conclusion: Any, lower: list[Dyadic], upper: list[Dyadic], beyond: Fraction) -> None:
    stated = fields(conclusion, "", "mean_queue tail")
    if "mean_queue" not in stated and not stated.get("tail"):
        raise Rejected("an empty conclusion")
    if "mean_queue" in stated:
        low, high = (rational(v) for v in items(stated["mean_queue"], 2))
        if not low <= _total(lower) or not _total(upper) + beyond <= high:
            raise Rejected("the proof does not give these bounds of the mean queue")
    for entry in items(stated.get("tail", [])):
        k, low, high = integer(items(entry, 3)[0]), rational(entry[1]), rational(entry[2])
        if not 1 <= k <= len(upper) or not low <= _value(lower[k - 1]) or not _value(upper[k - 1]) <= high:
            raise Rejected(f"the proof does not give these bounds of tail {k}")


def _both_sides(
    load: Fraction, eps: Fraction, d: int, g: int, proof: Any
) -> tuple[list[Dyadic], list[Dyadic], Fraction]:
    """Read lower and upper sequences, check every sign, and return them with the sum of the upper tail."""
    data = fields(proof, "bounds shift")
    shift, lower, upper = integer(data["shift"], 1), [], []
    for entry in items(data["bounds"]):
        e, low, width = integer(items(entry, 3)[0]), _whole(entry[1]), _whole(entry[2])
        if e > MAX_EXPONENT:
            raise Rejected(f"a term below 2^-{MAX_EXPONENT}")
        lower.append((low, e))
        upper.append((low + width, e))
    if shift > MAX_EXPONENT:
        raise Rejected(f"a tail ratio below 2^-{MAX_EXPONENT}")
    if len(upper) <= g:
        raise Rejected("at least g + 1 levels are needed")
    row = _Row(load, eps, d, g)
    row.signs(upper, shift)
    row.signs(lower, None)
    ratio, earlier = Fraction(1, 2**shift), _value(upper[len(upper) - g - 1])
    if ratio * (1 - ratio) < load * (1 + eps * d) * earlier ** (d - 1):
        raise Rejected("the geometric tail decays too fast to be a super-solution")
    return lower, upper, _value(upper[-1]) * ratio / (1 - ratio)


class _Work:
    """Counts the work of d-th powers and of divisions of their size, and ends it at the cap."""

    def __init__(self, d: int) -> None:
        self.d, self.done = d, 0

    def power(self, bits: int, quotient: int = 0) -> None:
        size = self.d * bits
        self.done += size * (quotient + 60 * isqrt(size))
        if size > MAX_POWER_BITS or self.done > MAX_WORK:
            raise Rejected("powers out of bounds: give fewer bits or fewer terms")


class _Row:
    """The rows F_1..F_K of one system, in integers."""

    def __init__(self, load: Fraction, eps: Fraction, d: int, g: int) -> None:
        self.d, self.g, self.work = d, g, _Work(d)
        self.common = load.denominator * eps.denominator
        self.load, self.noise = load.numerator * eps.denominator, load.numerator * eps.numerator

    def signs(self, x: list[Dyadic], shift: int | None) -> None:
        """Check F_k <= 0 for a super-solution (tail x_K 2^(-shift i)), F_k >= 0 for a sub-solution (None: tail 0)."""
        for k in range(1, len(x) + 1):
            value = self._value(x, k, shift)
            if (value > 0) if shift is not None else (value < 0):
                raise Rejected(f"row {k} of the {'sub' if shift is None else 'super'}-solution has the wrong sign")

    def _value(self, x: list[Dyadic], k: int, shift: int | None) -> int:
        """Return F_k times a positive integer, rounded up on a super-solution, down on a sub-solution.

        One exponent serves the row; only x_{k+1} and y can be inexact there, and F_k is nondecreasing in both.
        """
        j, d, g, K = k - 1, self.d, self.g, len(x)

        def entry(i: int) -> Dyadic:
            if 0 < i <= K:
                return x[i - 1]
            if i == 0:
                return 1, 0
            return (0, 0) if shift is None else (x[-1][0], x[-1][1] + shift * (i - K))

        e = max(entry(j)[1], entry(k)[1], entry(max(j - g, 0))[1]) + 8
        self.work.power(e)
        self.work.power(e)

        def at(i: int) -> int:
            m, own = entry(i)
            if own <= e:
                return m << (e - own)
            return m >> (own - e) if shift is None else -((-m) >> (own - e))

        before, here, after, z = at(j), at(k), at(k + 1), at(max(j - g, 0))
        y = at(j + g + 1) if g else here
        if not (1 << e >= z >= before >= here >= after >= 0 and here >= y >= 0):
            raise Rejected(f"the sequence is not ordered near level {k}")
        joined = self.load * (before**d - here**d)
        errors = (z - here) ** d - (z - before) ** d - (before - y) ** d + (here - y) ** d
        value: int = joined + self.noise * errors - self.common * (here - after) * (1 << (e * (d - 1)))
        return value


def _recursion(
    load: Fraction, eps: Fraction, d: int, gap: int | None, proof: Any
) -> tuple[list[Dyadic], list[Dyadic], Fraction]:
    """Return x_1..x_K rounded down and up by x_{k+1} = load h(x_k), and a bound of the sum beyond K.

    h(u) = (1-eps) u^d + eps (1-(1-u)^d) is increasing on [0, 1], and h(u) <= (d eps + u^(d-1)) u.  With a gap g,
    K <= g + 1 and the lower side loses load eps d x_K >= load eps d x_{g+1} at every level.
    """
    data = fields(proof, "bits terms")
    bits, terms = integer(data["bits"], 8), integer(data["terms"], 1)
    if bits > MAX_EXPONENT or terms > MAX_TERMS:
        raise Rejected(f"more than {MAX_EXPONENT} bits or {MAX_TERMS} terms")
    if gap is not None and terms > gap + 1:
        raise Rejected("at most g + 1 terms: x_K bounds x_{g+1}")
    sides, lost, work = [], Fraction(0), _Work(d)
    for up in (True, False):
        found = [_rounded(load.numerator, load.denominator, 0, bits, up)]
        for _ in range(terms - 1):
            m, e = found[-1]
            work.power(e, bits)
            if not 0 <= m <= 1 << e:
                raise Rejected("the recursion leaves [0, 1]; more bits are needed")
            whole = 1 << (e * d)
            top = (eps.denominator - eps.numerator) * m**d + eps.numerator * (whole - ((1 << e) - m) ** d)
            m, e = _rounded(load.numerator * top, load.denominator * eps.denominator, e * d, bits, up)
            found.append((max(m + (-lost.numerator << e) // lost.denominator, 0), e) if lost else (m, e))
        sides.append(found)
        lost = Fraction(0) if gap is None else load * eps * d * _value(found[-1])
    upper, lower = sides
    work.power(upper[-1][0].bit_length())
    last, (m, e) = _value(upper[-1]), upper[-1]
    extra = max(e * (d - 1) - 4 * bits, 0)  # the power is rounded up to a multiple of 2^(-4 bits) where it is longer
    power = Fraction(-(-(m ** (d - 1)) >> extra), 1 << (e * (d - 1) - extra))
    ratio = load * (d * eps + power)
    if ratio >= 1:
        raise Rejected("no geometric tail after the last term")
    return lower, upper, last * ratio / (1 - ratio)


def _rounded(top: int, bottom: int, e: int, bits: int, up: bool) -> Dyadic:
    """Return top / (bottom 2^e) with about ``bits`` bits, rounded down or up."""
    if top == 0:
        return 0, 0
    own = max(bits + e + bottom.bit_length() - top.bit_length(), 0)
    if own > MAX_EXPONENT:
        raise Rejected(f"a term below 2^-{MAX_EXPONENT}")
    top, below = (top << (own - e), bottom) if own >= e else (top, bottom << (e - own))
    return (-(-top // below) if up else top // below), own


def _whole(text: Any) -> int:
    """Return an integer >= 0, ``0v`` in base 32: a fifth shorter than in hexadecimal."""
    if isinstance(text, str) and _BASE_32.fullmatch(text):
        return int(text[2:], 32)
    value = rational(text)
    if value.denominator != 1 or value < 0:
        raise Rejected("bounds are nonnegative integers with an exponent")
    return value.numerator


def _value(x: Dyadic) -> Fraction:
    return Fraction(x[0], 1 << x[1])


def _total(sequence: list[Dyadic]) -> Fraction:
    e = max(own for _, own in sequence)
    return Fraction(sum(m << (e - own) for m, own in sequence), 1 << e)
