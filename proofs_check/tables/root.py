"""Algebraic numbers of degree two as text: the larger root of a quadratic, with the enclosure that it lies in."""

from dataclasses import dataclass
from math import isqrt, lcm

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.truth import InputError
from proofs_check.catalogue.balancing import System

SQUARES = 1000  # factors whose square is taken out of the root


@dataclass(frozen=True)
class Root:
    r"""The number :math:`(p + s \sqrt{q}) / r` with integers, r > 0, s > 0, q >= 2 free of small squares."""

    p: int
    s: int
    q: int
    r: int

    @property
    def text(self) -> str:
        radical = f"sqrt({self.q})" if self.s == 1 else f"{self.s}*sqrt({self.q})"
        top = f"{self.p}+{radical}" if self.p else radical
        return top if self.r == 1 else f"({top})/{self.r}" if self.p else f"{top}/{self.r}"

    @property
    def latex(self) -> str:
        radical = rf"\sqrt{{{self.q}}}" if self.s == 1 else rf"{self.s} \sqrt{{{self.q}}}"
        top = f"{self.p}+{radical}" if self.p else radical
        return top if self.r == 1 else rf"\frac{{{top}}}{{{self.r}}}"

    @property
    def exact(self) -> str:
        return self.text

    def lies_in(self, e: Enclosure) -> bool:
        """Return whether the number is between the ends, decided over the rationals."""
        square = fmpq(self.s * self.s * self.q)
        low, high = (x * self.r - self.p for x in (e.lower, e.upper))
        return (low <= 0 or low * low <= square) and high >= 0 and square <= high * high

    def __str__(self) -> str:
        return self.text


def root(a: fmpq, b: fmpq, c: fmpq) -> Root | fmpq:
    r"""Return the larger root of :math:`a x^2 + b x + c`, a > 0, as it is: rational, or with a square root.

    Guarantee
    ---------
    The polynomial vanishes there: checked in integers, rational part and factor of the square root apart.

    Examples
    --------
    >>> print(root(fmpq(2), fmpq(-1, 2), fmpq(-3, 4)))
    3/4
    >>> print(root(fmpq(1), fmpq(-1), fmpq(-1)))
    (1+sqrt(5))/2
    """
    scale = lcm(int(a.q), int(b.q), int(c.q))
    A, B, C = (int((x * scale).p) for x in (a, b, c))
    below = B * B - 4 * A * C
    if A <= 0 or below < 0:
        raise InputError(f"{a} x^2 + {b} x + {c}: a > 0 and a real root are needed")
    if isqrt(below) ** 2 == below:
        return fmpq(isqrt(below) - B, 2 * A)
    p, s, q, r = -B, 1, below, 2 * A
    for k in range(2, SQUARES):
        while q % (k * k) == 0:
            q, s = q // (k * k), s * k
        while p % k == 0 and s % k == 0 and r % k == 0:
            p, s, r = p // k, s // k, r // k
    if A * (p * p + s * s * q) + B * p * r + C * r * r or 2 * A * p + B * r:
        raise AssertionError(f"{(p, s, q, r)} is no root of {A} x^2 + {B} x + {C}")
    return Root(p, s, q, r)


def stability_root(thing: object, found: Enclosure) -> Root | None:
    """Return the closed form of a stability limit that is an irrational root of a quadratic; None where it is not.

    Guarantee
    ---------
    The root lies in ``found``, the enclosure that the policy gives.
    """
    if not isinstance(thing, System) or found.is_exact:
        return None
    equation = getattr(thing.policy, "stability_equation", lambda n: None)(thing.n)
    exact = None if equation is None else root(*equation)
    if not isinstance(exact, Root):
        return None
    if not exact.lies_in(found):
        raise AssertionError(f"{exact} does not lie in {found}")
    return exact
