"""Decimal text of exact numbers: truncation, outward rounding, certain digits.  Integers only, no float."""

import math

from flint import arb, ctx, fmpq, fmpz

_LOG10_2 = 0.30102999566398120
_FAR = 1 << 16  # bits beyond which a ball settles the digits in most cases


def exponent10(x: fmpq) -> int:
    """Return e with 10^e <= |x| < 10^(e+1), for x != 0."""
    p, q = abs(x.p), x.q
    bits = int(p.bit_length()) - int(q.bit_length())
    if abs(bits) > _FAR:
        with ctx.workprec(256):
            e = (arb(abs(x)).log() / arb(10).log()).floor().unique_fmpz()
        if e is not None:
            return int(e)
    guess = math.floor(bits * _LOG10_2)
    for near in range(guess + 2, guess - 3, -1):
        if p * fmpz(10) ** max(0, -near) >= q * fmpz(10) ** max(0, near):
            return near
    raise AssertionError("unreachable")


def scaled(x: fmpq, places: int, *, up: bool) -> int:
    """Return floor (or ceiling) of x * 10^places."""
    if abs(places) > _FAR and x != 0:
        with ctx.workprec(256 + max(0, math.ceil((places + exponent10(x)) / _LOG10_2))):
            ball = arb(x) * arb(10) ** places
            found = (ball.ceil() if up else ball.floor()).unique_fmpz()
        if found is not None:
            return int(found)
    p, q = x.p * fmpz(10) ** max(0, places), x.q * fmpz(10) ** max(0, -places)
    return int(-(-p // q) if up else p // q)


def toward_zero(x: fmpq, places: int) -> int:
    """Return x * 10^places, truncated toward zero."""
    return scaled(x, places, up=x < 0)


def positional(mantissa: int, places: int, digits: int) -> str:
    """Return mantissa * 10^-places as text: plain decimals near 1, ``1.23e-45`` elsewhere.

    Only digits of the mantissa are shown: three digits of 123456 are ``1.23e5``, not 123000.
    """
    if mantissa == 0:
        return "0" if places <= 0 else "0." + "0" * min(places, digits)
    sign, body = "-" if mantissa < 0 else "", str(fmpz(abs(mantissa)))
    exponent = len(body) - 1 - places
    if places >= 0 and -6 <= exponent < max(21, digits):
        if places == 0:
            return sign + body
        body = body.rjust(places + 1, "0")
        return f"{sign}{body[:-places]}.{body[-places:]}"
    tail = body[1:]
    return f"{sign}{body[0]}{'.' + tail if tail else ''}e{exponent}"


def outward(x: fmpq, digits: int, *, up: bool) -> str:
    """Return ``digits`` significant decimals of ``x``, rounded down or up: a bound as text."""
    if x == 0:
        return "0"
    places = digits - 1 - exponent10(x)
    return positional(scaled(x, places, up=up), places, digits)


def truncated(x: fmpq, digits: int) -> str:
    """Return the first ``digits`` significant decimals of ``x``, truncated toward zero."""
    if x == 0:
        return "0"
    places = digits - 1 - exponent10(x)
    return positional(toward_zero(x, places), places, digits)


def certain_digits(lower: fmpq, upper: fmpq) -> int | None:
    """Return the largest D with upper - lower <= 10^(1-D) |value|; None means exact (all digits).

    ``|value|`` is taken at its least over the enclosure, so that the count holds for every value inside.
    """
    width = upper - lower
    if width == 0:
        return None
    if lower <= 0 <= upper:
        return 0
    least = min(abs(lower), abs(upper))
    return max(0, exponent10(least / width) + 1)
