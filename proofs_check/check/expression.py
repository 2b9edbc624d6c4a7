"""The expression grammar of certificates: integers, names, ``+ - * / ^``, parentheses; read as rational functions."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.check.exact import Rejected, rational, word
from proofs_check.check.polynomial import Ratio, constant

MAX_LENGTH = 400_000
MAX_DEPTH = 100

_TOKEN = re.compile(r"\s*(?:(0x[0-9a-f]+|[0-9]+)|([A-Za-z][A-Za-z0-9_]*)|([-+*/^()]))", re.ASCII)


def expression(text: Any, names: Mapping[str, Ratio]) -> Ratio:
    """Return the rational function that ``text`` spells; ``names`` says what each name stands for."""
    value: Ratio = evaluated(text, names, constant)
    return value


def evaluated(text: Any, names: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    """Return what ``text`` spells in any arithmetic that has names and numbers with + - * / and ``power``."""
    if len(word(text)) > MAX_LENGTH:
        raise Rejected(f"an expression of more than {MAX_LENGTH} characters")
    return _Reader(_tokens(text), names, number).whole()


def _tokens(text: str) -> list[str]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            raise Rejected(f"{text[at : at + 20]!r} in an expression")
        tokens.append(match[1] or match[2] or match[3])
        at = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: list[str], names: Mapping[str, Any], number: Callable[[Any], Any]) -> None:
        self.tokens, self.names, self.number, self.at, self.depth = tokens, names, number, 0, 0

    def whole(self) -> Any:
        value = self.sum()
        if self.at != len(self.tokens):
            raise Rejected(f"{self.tokens[self.at]!r} is out of place in an expression")
        return value

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def sum(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-") and self.peek():
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Any:
        value = self.signed()
        while self.peek() in ("*", "/") and self.peek():
            value = value * self.signed() if self.take() == "*" else value / self.signed()
        return value

    def signed(self) -> Any:
        negative = False
        while self.peek() in ("+", "-") and self.peek():
            negative ^= self.take() == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> Any:
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        exponent = self.take()
        if not exponent.isdigit() or len(exponent) > 6:
            raise Rejected("an exponent must be a small natural number")
        return base.power(int(exponent))

    def atom(self) -> Any:
        token = self.take()
        if token == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise Rejected(f"parentheses nested deeper than {MAX_DEPTH}")
            value = self.sum()
            if self.take() != ")":
                raise Rejected("a parenthesis is not closed")
            self.depth -= 1
            return value
        if token[:1].isdigit():
            return self.number(rational(token))
        if token in self.names:
            return self.names[token]
        raise Rejected(f"unknown name {token[:40]!r} in an expression" if token else "an expression ends too early")
