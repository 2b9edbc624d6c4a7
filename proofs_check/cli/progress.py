"""Progress of long work: a bar on a terminal, plain lines elsewhere, on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

PATIENCE = 2  # seconds of work before a bar is drawn
BETWEEN = 30  # seconds between lines of progress where there is no terminal


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
