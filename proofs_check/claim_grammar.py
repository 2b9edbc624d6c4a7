"""The grammar of a user's claims: numbers, names, + - * / ^ and parentheses; exponents and sums of integers on top."""

import re
from typing import TYPE_CHECKING

from exactchains.number import parse
from exactchains.truth import InputError

if TYPE_CHECKING:
    from proofs_check.integer_terms import Terms

MAX_DEPTH = 60
MAX_DIGITS = 300

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
TOKEN = re.compile(
    r"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|([A-Za-z][A-Za-z0-9_]*)|(\*\*|[-+*/^(),]))", re.ASCII
)


def tokens(text: str) -> list[str]:
    """Return the tokens of an expression, numbers as exact text."""
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if not match:
            raise InputError(f"{text[at : at + 20].strip()!a} is not allowed; use numbers, names, + - * / ^ ( )")
        number, name, sign = match.groups()
        found.append(_exact(number) if number else name or ("^" if sign == "**" else sign))
        at = match.end()
    return found


def _exact(number: str) -> str:
    exact = parse(number)
    if max(abs(exact.p), exact.q) > 10**MAX_DIGITS:
        raise InputError(f"{number[:40]!r}: a number of more than {MAX_DIGITS} digits")
    return str(exact) if exact.q == 1 else f"({exact})"


class Reader:
    """Recursive descent: the grammar of certificates, with integer exponents and sums on top; returns text."""

    def __init__(self, listed: list[str], terms: "Terms") -> None:
        self.tokens, self.terms, self.at, self.depth = listed, terms, 0, 0

    def whole(self) -> str:
        found = self.sum()
        if self.at != len(self.tokens):
            raise InputError(f"{self.peek()!r} is out of place in an expression")
        return found

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def sum(self) -> str:
        found = self.product()
        while self.peek() in ("+", "-") and self.peek():
            found += self.take() + self.product()
        return found

    def product(self) -> str:
        found = self.signed()
        while self.peek() in ("*", "/") and self.peek():
            found += self.take() + self.signed()
        return found

    def signed(self) -> str:
        found = ""
        while self.peek() in ("+", "-") and self.peek():
            found += self.take()
        return found + self.power()

    def power(self) -> str:
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        token = self.take()
        if token.isdigit():
            return f"{base}^{token}"
        words = self.group()[1:-1] if token == "(" else [token]
        over, constant = self.terms.linear(words)
        return self.terms.power(base, over, constant)

    def group(self) -> list[str]:
        """Return the tokens up to the parenthesis that closes the one just taken, both included."""
        found, depth = ["("], 1
        while depth:
            if not (token := self.take()):
                raise InputError("a parenthesis is not closed")
            depth += (token == "(") - (token == ")")
            found.append(token)
        return found

    def atom(self) -> str:
        token = self.take()
        if token == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise InputError(f"parentheses nested deeper than {MAX_DEPTH}")
            found = self.sum()
            if self.take() != ")":
                raise InputError("a parenthesis is not closed")
            self.depth -= 1
            return f"({found})"
        if token == "sum" and self.peek() == "(":
            return self.summed()
        if token[:1].isdigit() or token.startswith("("):
            return token
        if token not in self.terms.known and token not in self.terms.states:
            what = f"unknown name {token[:40]!a}" if token else "an expression ends too early"
            raise InputError(f"{what}; names are {', '.join([*self.terms.known, *self.terms.states]) or 'none'}")
        return token

    def summed(self) -> str:
        self.take()
        parts: list[list[str]] = [[]]
        depth = 0
        for token in self.group()[1:-1]:
            depth += (token == "(") - (token == ")")
            if token == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        if len(parts) != 4 or len(parts[0]) != 1 or not parts[0][0].isidentifier() or "sum" in parts[3]:
            raise InputError("write a sum as sum(i, 1, n, term), without another sum in the term")
        (index,), low, high, body = parts
        return self.terms.summed(index, low, high, body)
