"""Integers with powers of two that are never multiplied out: entries of 1e-5000 cost no more than others."""

from fractions import Fraction
from typing import Any

from proofs_check.check.exact import Rejected, integer, items, rational

MAX_SHIFT = 200_000_000  # bits


def at_most(text: Any, top: Fraction, bottom: Fraction, shift: int) -> bool:
    """Return whether ``text`` <= top 2^shift / bottom."""
    p, q, k = _number(text)
    return _compare(p * bottom.numerator * top.denominator, top.numerator * bottom.denominator * q, k - shift) <= 0


def at_least(text: Any, top: Fraction, bottom: Fraction, shift: int) -> bool:
    """Return whether ``text`` >= top 2^shift / bottom."""
    p, q, k = _number(text)
    return _compare(p * bottom.numerator * top.denominator, top.numerator * bottom.denominator * q, k - shift) >= 0


def _compare(a: int, b: int, shift: int) -> int:
    """Return the sign of a 2^shift - b."""
    if abs(shift) > MAX_SHIFT:
        raise Rejected("a power of two out of bounds")
    gap = (a << shift) - b if shift >= 0 else a - (b << -shift)
    return (gap > 0) - (gap < 0)


def _number(text: Any) -> tuple[int, int, int]:
    """Return p, q, k with text = p/q 2^k; long powers of two are not multiplied out."""
    mantissa, mark, power = text.partition("*2^") if isinstance(text, str) else (text, "", "")
    value = rational(mantissa)
    if not mark:
        return value.numerator, value.denominator, 0
    if not power.removeprefix("-").isdecimal() or not power.isascii() or len(power) > 9:
        raise Rejected("a power of two out of bounds")
    return value.numerator, value.denominator, int(power)


def dyadics(pairs: Any, members: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return mantissas and exponents by state out of pairs [mantissa, exponent]."""
    found = [items(pair, 2) for pair in items(pairs, len(members))]
    tops = mantissas([m for m, _ in found], len(members))
    exponents = [integer(e, -(10**8)) for _, e in found]
    if max(exponents) > 10**8:
        raise Rejected("an exponent out of bounds")
    return dict(zip(members, tops, strict=True)), dict(zip(members, exponents, strict=True))


def mantissas(texts: Any, length: int) -> list[int]:
    """Return a list of integers."""
    values = [rational(t) for t in items(texts, length)]
    if any(v.denominator != 1 for v in values):
        raise Rejected("a mantissa is no integer")
    return [v.numerator for v in values]
