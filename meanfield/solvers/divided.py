"""Divided differences of powers, of numbers of any kind, in few products and without cancellation."""

from typing import Any

__all__ = ["divided", "divided_twice"]


def divided(a: Any, b: Any, d: int) -> Any:
    """Return (a^d - b^d)/(a - b), the sum of a^t b^(d-1-t), d >= 1, by doubling."""
    value, high, low = 0 * a + 1, a, b  # of the power m, the leading bits of d
    for bit in bin(d)[3:]:
        value, high, low = value * (high + low), high * high, low * low
        if bit == "1":
            value, high, low = value * a + low, high * a, low * b
    return value


def divided_twice(a: Any, b: Any, c: Any, d: int) -> Any:
    """Return the second divided difference of t^d, the sum of all products of d - 2 factors a, b, c, by doubling."""
    twice, one, other = 0 * a, 0 * a + 1, 0 * a + 1  # of the power m: at a, b, c; at a, b; at b, c
    u, v, w = a, b, c
    for bit in bin(d)[3:]:
        twice, one, other = twice * (u + w) + one * other, one * (u + v), other * (v + w)
        u, v, w = u * u, v * v, w * w
        if bit == "1":
            twice, one, other = twice * c + one, one * a + v, other * b + w
            u, v, w = u * a, v * b, w * c
    return twice
