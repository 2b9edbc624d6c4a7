"""Formulas in named parameters: exact arithmetic on names and numbers, nothing else.

Grammar: numbers as everywhere (``7``, ``0.7``, ``1e-3``), names, ``+ - * /``, ``^`` with an integer exponent, brackets,
``min(a, b, ..)``, ``max(a, b, ..)``, ``floor(a)``, ``ceil(a)``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from flint import fmpq

from exactchains.number import parse
from exactchains.truth import InputError

MAX_LENGTH = 500
MAX_DEPTH = 40
MAX_POWER = 1000
MAX_BITS = 100_000
_TOKEN, _TOKEN_WITH_HYPHENS = (
    re.compile(rf"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)|([A-Za-z_]{rest}*)|([-+*/^(),]))", re.ASCII)
    for rest in (r"\w", r"[\w-]")
)
FUNCTIONS: dict[str, Callable[[Sequence[fmpq]], fmpq]] = {
    "min": min,
    "max": max,
    "floor": lambda x: fmpq(x[0].floor()),
    "ceil": lambda x: fmpq(x[0].ceil()),
}
ONE_ARGUMENT = ("floor", "ceil")


class NoValue(InputError):
    """A formula that is in order has no value at these numbers: a division by zero, a power that is no integer."""


def names_in(text: str, known: Iterable[str]) -> set[str]:
    """Return the names that a formula mentions; they have hyphens only where one of the ``known`` ones has."""
    tokens = _tokens(text, hyphens=any("-" in name for name in known))
    return {t for t in tokens if (t[0].isalpha() or t[0] == "_") and t not in FUNCTIONS}


def evaluated(text: str, values: Mapping[str, fmpq]) -> fmpq:
    """Return the exact value of a formula; ``p-r`` is a name where some name has a hyphen, else a difference.

    Raises
    ------
    InputError
        The text is no formula, or a name has no value; the message shows the place.
    NoValue
        A division by zero, a power that is no integer or too large, at these numbers.

    Examples
    --------
    >>> evaluated("ceil(7*n/10) - 1", {"n": fmpq(9)})
    6
    """
    return _Reader(_tokens(text, hyphens=any("-" in name for name in values)), values).whole()


def _tokens(text: str, *, hyphens: bool) -> list[str]:
    if len(text) > MAX_LENGTH:
        raise InputError(f"a formula of {len(text)} characters; at most {MAX_LENGTH} are read")
    tokens, at, end = [], 0, len(text.rstrip())
    token = _TOKEN_WITH_HYPHENS if hyphens else _TOKEN
    while at < end:
        match = token.match(text, at)
        if not match:
            raise InputError(f"{text[at : at + 20]!r} is no part of a formula; write for instance (lam + 1)/2")
        tokens.append(match[1] or match[2] or match[3])
        at = match.end()
    return tokens


class _Reader:
    """Recursive descent; every method reads one level of precedence and returns its value."""

    def __init__(self, tokens: list[str], values: Mapping[str, fmpq]) -> None:
        self.tokens, self.values, self.at, self.depth = tokens, values, 0, 0

    def whole(self) -> fmpq:
        value = self.sum()
        if self.at != len(self.tokens):
            raise InputError(f"{self.tokens[self.at]!r} is not expected in a formula")
        return value

    def next(self, *wanted: str) -> str | None:
        """Take the next token if it is one of ``wanted``."""
        if self.at < len(self.tokens) and self.tokens[self.at] in wanted:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def sum(self) -> fmpq:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise InputError(f"a formula nested deeper than {MAX_DEPTH}")
        value = self.product()
        while sign := self.next("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        self.depth -= 1
        return value

    def product(self) -> fmpq:
        value = self.signed()
        while sign := self.next("*", "/"):
            factor = self.signed()
            if sign == "/" and factor == 0:
                raise NoValue("division by zero in a formula")
            value = self.bounded(value * factor if sign == "*" else value / factor)
        return value

    def signed(self) -> fmpq:
        sign = 1
        while word := self.next("-", "+"):
            sign = -sign if word == "-" else sign
        return sign * self.power()

    def power(self) -> fmpq:
        base = self.atom()
        if not self.next("^"):
            return base
        sign = -1 if self.next("-") else 1
        exponent = sign * self.atom()
        if exponent.q != 1 or abs(exponent) > MAX_POWER or (base == 0 and exponent < 0):
            raise NoValue(f"exponent {exponent} in a formula: integers from -{MAX_POWER} to {MAX_POWER} are allowed")
        if max(int(base.p).bit_length(), int(base.q).bit_length()) * abs(int(exponent.p)) > MAX_BITS:
            raise NoValue(f"a number of more than {MAX_BITS} bits in a formula")
        return base ** int(exponent.p)

    def atom(self) -> fmpq:
        if self.at == len(self.tokens):
            raise InputError("a formula ends too early")
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            value = self.sum()
            self.close()
            return value
        if token in FUNCTIONS:
            return self.function(token)
        if token in self.values:
            return self.values[token]
        if token[0].isdigit():
            return parse(token)
        raise InputError(f"{token!r} in a formula has no number; names are {', '.join(sorted(self.values)) or 'none'}")

    def function(self, name: str) -> fmpq:
        if not self.next("("):
            raise InputError(f"{name} needs its arguments in parentheses")
        arguments = [self.sum()]
        while self.next(","):
            arguments.append(self.sum())
        self.close()
        if name in ONE_ARGUMENT and len(arguments) != 1:
            raise InputError(f"{name} takes one argument, not {len(arguments)}")
        return FUNCTIONS[name](arguments)

    def close(self) -> None:
        if not self.next(")"):
            raise InputError("a closing parenthesis is missing in a formula")

    def bounded(self, x: fmpq) -> fmpq:
        if max(int(x.p).bit_length(), int(x.q).bit_length()) > MAX_BITS:
            raise NoValue(f"a number of more than {MAX_BITS} bits in a formula")
        return x
