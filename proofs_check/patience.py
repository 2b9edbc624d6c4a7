"""A bound on the processor time for work on outside text: whatever it is busy with, it ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 1.0  # seconds after which it is said again, should a library have swallowed it


class OutOfTime(BaseException):
    """The time is up.  No Exception, so that no library takes it for a failure of its own."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime inside the block once it has used this many seconds of processor time.

    It reaches code in Python at once and code in C when that returns.  Where there are no timer signals (Windows,
    threads other than the main one) the block is not bounded, and only the search's own budgets hold.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, ring)
    left, interval = signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left, interval)
        signal.signal(signal.SIGPROF, before)
