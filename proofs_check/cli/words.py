"""Words of the command line: NAME=VALUE, index ranges, lists of names."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from exactchains.truth import InputError

MAX_INDICES = 100_000
PATIENCE = 2  # seconds of work before a bar is drawn
BETWEEN = 30  # seconds between lines of progress where there is no terminal


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


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function to call with (done, total); on a terminal it draws a bar once the work has taken two seconds.

    Elsewhere it writes a plain line every half minute.  Both show the rate and the time that is left.
    """
    start, shown, told = time.monotonic(), False, 0

    def report(done: int, total: int) -> None:
        nonlocal shown, told
        passed = time.monotonic() - start
        if quiet or passed < PATIENCE:
            return
        filled, pace = 30 * done // max(total, 1), _pace(done, total, passed)
        if sys.stderr.isatty():
            shown = True
            bar = f"{'#' * filled}{'.' * (30 - filled)}"
            click.echo(f"\r{label} [{bar}] {done}/{total} {pace}\x1b[K", nl=False, err=True)
        elif passed // BETWEEN > told:
            told = int(passed // BETWEEN)
            click.echo(f"{label}: {done}/{total} {pace}", err=True)

    try:
        yield report
    finally:
        if shown:
            click.echo(err=True)


def _pace(done: int, total: int, passed: float) -> str:
    """Return rate and time left: ``12.5/s, 1:20 left``."""
    rate = done / passed
    if not rate:
        return ""
    left = round((total - done) / rate)
    hours = f"{left // 3600}:" if left >= 3600 else ""
    minutes = left % 3600 // 60
    return f"{rate:.3g}/s, {hours}{f'{minutes:02}' if hours else minutes}:{left % 60:02} left"
