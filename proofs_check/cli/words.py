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
        raise InputError(f"--index {word[:40]!r}: write I or I..J with 0 <= I <= J")
    first, last = map(int, ends)
    if first > last or last - first >= MAX_INDICES:
        raise InputError(f"--index {word[:40]!r}: write I..J with I <= J, at most {MAX_INDICES} indices")
    return list(range(first, last + 1))


def names(word: str) -> list[str]:
    """Return comma-separated names, none twice."""
    listed = [part.strip() for part in word.split(",") if part.strip()]
    if not listed or len(set(listed)) != len(listed):
        raise InputError(f"{word[:60]!r}: give distinct names separated by commas")
    return listed


def digits_option(default: int = 30) -> Any:
    return click.option(
        "--digits", type=click.IntRange(1, 100_000), default=default, show_default=True, help="certain digits"
    )


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function to call with (done, total); on a terminal it draws a bar once the work has taken two seconds."""
    start, shown = time.monotonic(), False

    def report(done: int, total: int) -> None:
        nonlocal shown
        if quiet or not sys.stderr.isatty() or time.monotonic() - start < PATIENCE:
            return
        shown = True
        filled = 30 * done // max(total, 1)
        click.echo(f"\r{label} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}", nl=False, err=True)

    try:
        yield report
    finally:
        if shown:
            click.echo(err=True)
