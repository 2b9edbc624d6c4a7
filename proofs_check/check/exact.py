"""Exact numbers out of certificate text, and the one way to say no.

Caps    integers: 4000 decimal or 4,000,000 hexadecimal digits; the shorter part of a fraction: 200,000;
        powers of two: exponents up to 400,000 in size, and in one list 4,000,000 together, not counting 2000 for each
        number
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

MAX_DIGITS = 4000
MAX_HEX = 4_000_000
MAX_TERMS = 200_000  # digits of the shorter of numerator and denominator
MAX_POWER = 400_000  # exponent of a power of two
MAX_POWERS = 4_000_000  # in one list, beyond FREE_POWER for each number
FREE_POWER = 2_000

_HEX = re.compile(r"-?0x[0-9a-f]{1,1000000}", re.ASCII)
_NUMBER = re.compile(r"(-?)([0-9]+|0x[0-9a-f]+)(?:/([0-9]+|0x[0-9a-f]+)|\*2\^(-?[0-9]{1,9}))?", re.ASCII)


class Rejected(Exception):
    """The proof does not establish the conclusion; the text says why."""


def rational(text: Any) -> Fraction:
    """Return the number that ``"p"``, ``"p/q"`` or the dyadic ``"0x..*2^e"`` spells; ``0x`` integers may be long."""
    match = _NUMBER.fullmatch(text) if isinstance(text, str) and len(text) <= 2 * MAX_HEX else None
    if not match:
        raise Rejected(f"{_shown(text)} is no exact number such as '1/10'")
    if match[3] and min(len(match[2]), len(match[3])) > MAX_TERMS:
        raise Rejected(f"a fraction of more than {MAX_TERMS} digits above and below")
    top, bottom = _integer(match[2]), _integer(match[3]) if match[3] else 1
    if bottom == 0:
        raise Rejected("division by zero in a number")
    value = Fraction(-top if match[1] else top, bottom)
    if match[4]:
        exponent = int(match[4])
        if abs(exponent) > MAX_POWER:
            raise Rejected(f"a power of two beyond 2^{MAX_POWER} in size")
        value = value * 2**exponent if exponent >= 0 else value / 2**-exponent
    return value


def integer(x: Any, least: int = 0) -> int:
    """Return a small JSON integer, at least ``least``."""
    if not isinstance(x, int) or isinstance(x, bool) or x < least:
        raise Rejected(f"{_shown(x)} is no integer >= {least}")
    return x


def whole(text: Any) -> int:
    """Return an integer given as text, which may be long."""
    if isinstance(text, str) and _HEX.fullmatch(text):  # the usual case, without a fraction
        return int(text, 16)
    value = rational(text)
    if value.denominator != 1:
        raise Rejected(f"{_shown(text)} is no integer")
    return value.numerator


def wholes(x: Any, length: int | None = None) -> list[int]:
    """Return a list of integers given as text."""
    return [whole(text) for text in items(x, length)]


def word(x: Any) -> str:
    """Return a text."""
    if not isinstance(x, str):
        raise Rejected(f"{_shown(x)} is no text")
    return x


def items(x: Any, length: int | None = None) -> list[Any]:
    """Return a list, of the given length if one is given."""
    if not isinstance(x, list):
        raise Rejected(f"{_shown(x)} is no list")
    if length is not None and len(x) != length:
        raise Rejected(f"a list of {len(x)} where {length} are needed")
    return x


def fields(x: Any, required: str, optional: str = "") -> Mapping[str, Any]:
    """Return an object that has exactly the fields named, blank-separated, and perhaps the optional ones."""
    if not isinstance(x, dict):
        raise Rejected(f"{_shown(x)} is no object")
    need, may = set(required.split()), set(optional.split())
    if missing := need - set(x):
        raise Rejected(f"field {min(missing)} is missing")
    if foreign := set(x) - need - may:
        raise Rejected(f"unknown field {_shown(min(foreign))}")
    return x


def table(x: Any) -> Mapping[str, Any]:
    """Return an object with free keys."""
    if not isinstance(x, dict):
        raise Rejected(f"{_shown(x)} is no object")
    return x


def vector(x: Any, length: int | None = None) -> list[Fraction]:
    """Return a list of exact numbers."""
    return rationals(items(x, length))


def rationals(texts: list[Any]) -> list[Fraction]:
    """Return the numbers of a list whose powers of two are bounded together: short text stays short work."""
    written, total = [], 0
    for text in texts:
        written.append(rational(text))
        power = text.partition("*2^")[2]
        total += max(abs(int(power)) - FREE_POWER, 0) if power else 0
        if total > MAX_POWERS:
            raise Rejected(f"the powers of two of a list exceed 2^{MAX_POWERS} together")
    return written


def matrix(rows: Any, height: int | None = None, width: int | None = None) -> list[list[Fraction]]:
    """Return a rectangular matrix of exact numbers."""
    exact = [vector(row, width) for row in items(rows, height)]
    if any(len(row) != len(exact[0]) for row in exact):
        raise Rejected("rows of different lengths")
    return exact


def dot(row: list[Fraction], column: list[Fraction]) -> Fraction:
    return sum((a * x for a, x in zip(row, column, strict=True)), Fraction(0))


def _integer(digits: str) -> int:
    if digits.startswith("0x"):
        if len(digits) > MAX_HEX:
            raise Rejected(f"an integer of more than {MAX_HEX} hexadecimal digits")
        return int(digits, 16)
    if len(digits) > MAX_DIGITS:
        raise Rejected(f"an integer of more than {MAX_DIGITS} decimal digits; write it in hexadecimal")
    return int(digits)


def _shown(x: Any) -> str:
    text = repr(x) if not isinstance(x, int) or abs(x) < 10**30 else "a long integer"
    return text if len(text) <= 60 else text[:57] + "..."
