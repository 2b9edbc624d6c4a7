"""Words of the command line: NAME=VALUE, index ranges, lists of names."""

from collections.abc import Iterable
from typing import Any

import click

from exactchains.truth import InputError

MAX_INDICES = 100_000


def assignments(words: Iterable[str]) -> dict[str, str]:
    """Return NAME=VALUE words as a dictionary; a name given twice is refused."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"{word[:60]!r}: parameters are written NAME=VALUE, for instance eps=3/10")
        if name in found:
            raise InputError(f"{name[:60]} is given twice; give it once")
        found[name] = value.strip()
    return found


def indices(word: str) -> list[int]:
    """Return the indices that ``7`` or ``0..10`` means, both ends included."""
    low, dots, high = word.partition("..")
    ends = [low, high] if dots else [low, low]
    if not all(end.isascii() and end.isdigit() and len(end) <= 9 for end in ends):
        raise InputError(f"--index {word[:40]!r}: write I or I..J, natural numbers of at most 9 digits")
    first, last = map(int, ends)
    if first > last:
        raise InputError(f"--index {word[:40]!r}: the first index is above the last; write I..J with I <= J")
    if last - first >= MAX_INDICES:
        raise InputError(f"--index {word[:40]!r}: at most {MAX_INDICES} indices at a time")
    return list(range(first, last + 1))


def names(word: str) -> list[str]:
    """Return comma-separated names, none twice."""
    listed = [part.strip() for part in word.split(",") if part.strip()]
    if not listed or len(set(listed)) != len(listed):
        raise InputError(f"{word[:60]!r}: give distinct names separated by commas")
    return listed


class Count(click.ParamType):
    """A natural number from 1 to ``most``."""

    name = "integer"

    def __init__(self, most: int) -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        word = str(value)
        if not (word.isascii() and word.isdigit() and len(word) <= 9 and 1 <= int(word) <= self.most):
            self.fail(f"{word[:40]!r}: an integer from 1 to {self.most} is needed", param, ctx)
        return int(word)


def digits_option(default: int = 30) -> Any:
    return click.option("--digits", type=Count(100_000), default=default, show_default=True, help="certain digits")


def jobs_option(what: str) -> Any:
    says = f"processes for {what}; each takes a second or two to start: long work gains, short work loses"
    return click.option("--jobs", type=click.IntRange(1), help=f"{says}  [default: 1]")
