"""Integers with powers of two that are never multiplied out: entries of 1e-5000 cost no more than others.

Caps    exponents of one law differ by at most 1,000,000; the exponent of a bound has at most nine digits
"""

from typing import Any

from proofs_check.check.exact import Rejected, integer, items, rational, whole

MAX_EXPONENT = 10**8
MAX_SPREAD = 1_000_000  # bits


def at_most(text: Any, top: int, bottom: int, shift: int) -> bool:
    """Return whether ``text`` <= top 2^shift / bottom; bottom > 0."""
    p, q, k = _number(text)
    return _compare(p * bottom, top * q, k - shift) <= 0


def at_least(text: Any, top: int, bottom: int, shift: int) -> bool:
    """Return whether ``text`` >= top 2^shift / bottom; bottom > 0."""
    p, q, k = _number(text)
    return _compare(p * bottom, top * q, k - shift) >= 0


def _compare(a: int, b: int, shift: int) -> int:
    """Return the sign of a 2^shift - b; numbers of different lengths are not shifted."""
    if a <= 0 or b <= 0:
        return (a > b) - (a < b) if a * b <= 0 else -_compare(-a, -b, shift)
    longer = a.bit_length() + shift - b.bit_length()
    if longer:
        return 1 if longer > 0 else -1
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
    tops = [whole(m) for m, _ in found]
    exponents = [integer(e, -MAX_EXPONENT) for _, e in found]
    if max(exponents) > MAX_EXPONENT or max(exponents) - min(exponents) > MAX_SPREAD:
        raise Rejected(f"exponents of a law beyond {MAX_EXPONENT} in size, or more than {MAX_SPREAD} apart")
    return dict(zip(members, tops, strict=True)), dict(zip(members, exponents, strict=True))
