"""Exact numbers out of text, by one small ASCII grammar, and back into text without loss.

``7/10``, ``0.7``, ``-3``, ``1e-30``: exactly the rational number they spell.  The grammar is ours because
``Fraction(text)`` and ``int(text)`` accept underscores, foreign digits and exponents that never end, and stop at
4300 digits.
"""

import re
from fractions import Fraction
from numbers import Integral
from typing import Any

from flint import fmpq, fmpz

from exactchains.truth import InputError

MAX_LENGTH = 200_000
MAX_EXPONENT = 100_000

_DECIMAL = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,9}))?", re.ASCII)
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]+)", re.ASCII)
_DYADIC = re.compile(r"([+-]?)0x([0-9a-f]+)\*2\^(-?[0-9]{1,12})", re.ASCII)

Rational = int | str | Fraction | fmpq


class NotExact(InputError, TypeError):
    """A float, truth value, date or another object where an exact number is needed."""


def parse(text: str, name: str = "number") -> fmpq:
    """Return the exact rational number that ``text`` spells.

    Raises
    ------
    InputError
        The text is no number of the grammar, too long, or has an exponent beyond 100 000.
    """
    shown = text if len(text) <= 40 else f"{text[:30]}... ({len(text)} characters)"
    if len(text) > MAX_LENGTH:
        raise InputError(f"{name} = {shown!r}: at most {MAX_LENGTH} characters are read")
    if match := _FRACTION.fullmatch(text):
        below = fmpz(match[2])
        if below == 0:
            raise InputError(f"{name} = {shown!r}: division by zero; write a fraction p/q with q > 0")
        return fmpq(_integer(match[1]), below)
    match = _DECIMAL.fullmatch(text)
    if not match or not (match[2] or match[3]):
        raise InputError(f"{name} = {shown!r} is no number; write an integer, 7/10, 0.7 or 1e-30 in plain digits")
    whole, part, exponent = match[2], match[3] or "", int(match[4] or 0)
    if abs(exponent) > MAX_EXPONENT:
        raise InputError(f"{name} = {shown!r}: exponents are read from -{MAX_EXPONENT} to {MAX_EXPONENT}")
    digits, shift = _integer(match[1] + whole + part), exponent - len(part)
    power = fmpz(10) ** abs(shift)
    return fmpq(digits * power) if shift >= 0 else fmpq(digits, power)


def rational(x: Any, name: str = "number") -> fmpq:
    """Return ``x`` as an exact fraction; a float is refused, 0.1 is not one tenth."""
    if isinstance(x, fmpq):
        return x
    if isinstance(x, bool):
        raise NotExact(f"{name} = {x!r} is a truth value, not a number; write 0 or 1")
    if isinstance(x, float):
        x = float(x)  # a numpy double spells its type
        raise NotExact(f"{name} = {x!r} is a float; write '{_spelling(x)}' (text) or Fraction('{_spelling(x)}')")
    if isinstance(x, int | fmpz):
        return fmpq(x)
    if isinstance(x, Integral):  # a numpy integer
        return fmpq(int(x))
    if isinstance(x, str):
        return parse(x, name)
    if isinstance(x, Fraction):
        return fmpq(x.numerator, x.denominator)
    numerator, denominator = getattr(x, "numerator", None), getattr(x, "denominator", None)
    if getattr(x, "is_Rational", False) and numerator is not None and denominator is not None:  # a sympy number
        return fmpq(int(numerator), int(denominator))
    raise NotExact(f"{name} = {x!r} is a {type(x).__name__}; write an integer, text such as '7/10', or a Fraction")


def nearest_double(x: fmpq) -> float:
    """Return the double next to ``x``, ties to even, also where a part of the fraction exceeds a double.

    Raises
    ------
    OverflowError
        ``x`` rounds beyond the largest double.
    """
    return int(x.p) / int(x.q)  # Python rounds a quotient of integers once


def text(x: fmpq) -> str:
    """Return ``p/q`` or ``p``, all digits."""
    return str(x)


def wire(x: fmpq) -> str:
    """Return ``x`` as lossless text: a dyadic as ``0x1f*2^-300``, everything else as ``p/q``."""
    below = int(x.q)
    if below.bit_length() <= 64 or below & (below - 1):
        return str(x)
    return f"{'-' if x < 0 else ''}0x{abs(int(x.p)):x}*2^{1 - below.bit_length()}"


def unwire(word: str) -> fmpq:
    """Read what :func:`wire` wrote."""
    if match := _DYADIC.fullmatch(word):
        mantissa, exponent = fmpz(int(match[1] + match[2], 16)), int(match[3])
        two = fmpz(2) ** abs(exponent)
        return fmpq(mantissa, two) if exponent < 0 else fmpq(mantissa * two)
    return parse(word)


def _integer(digits: str) -> fmpz:
    return fmpz(digits.removeprefix("+"))


def _spelling(x: float) -> str:
    spelled = repr(x)
    return str(Fraction(spelled)) if len(spelled) <= 12 and "n" not in spelled else spelled
