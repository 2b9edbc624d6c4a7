"""A child process that computes under limits: too slow, too large or crashed, it is ended and the point recorded."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import IO, Any

import proofs_check
from exactchains.truth import InputError
from proofs_check.store.question import METHODS, canonical
from proofs_check.sweeps.spec import Limits
from proofs_check.sweeps.work import versions

START = 300.0  # seconds that a child may take to start
STARTS = 5  # times that a child is started before it is given up
PAUSE = 0.1  # seconds before the second start, doubled before every further one
NO_MEMORY = (1, -signal.SIGABRT, -signal.SIGSEGV)  # how a process ends that could not get memory in C code
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class _Ended(Exception):
    """The child is gone."""


class Guard:
    """Computes items in a child process of its own, started when needed and started again after an accident."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._child: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._end: weakref.finalize[Any, Any] | None = None
        self._stopped = False

    def answers(self, item: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one answer for every quantity of an item."""
        asks, found, crashed = list(item["asks"]), [], False
        while asks:
            try:
                self._send(dict(item) | {"asks": asks})
                while asks:
                    found.append(self._answer())
                    asks.pop(0)
                    crashed = False
                    if found[-1]["status"] == "memory":  # what is left of the heap is not to be trusted
                        self.close()
                        break
            except TimeoutError:
                self.close()
                asks.pop(0)
                found.append(failed("timeout", f"more than {self.limits.seconds:g} seconds", self.limits.seconds or 0))
            except _Ended:
                code = self.close()
                if self.limits.memory and code in NO_MEMORY:
                    asks.pop(0)
                    found.append(failed("memory", f"more than {self.limits.memory} bytes of memory"))
                elif crashed:  # twice on one point: it is the point
                    asks.pop(0)
                    found.append(failed("failed", f"the worker process ended with code {code}, twice"))
                crashed = not crashed
        return found

    def close(self) -> int | None:
        """End the child; return its exit code, that of its own end where it had ended by itself."""
        if self._child is None or self._end is None:
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(0.2 if self._lines.empty() else 0)
        code = self._child.poll()
        self._end()
        self._child = self._end = None
        return code

    def stop(self) -> None:
        """End the child at once, from another thread; nothing more is computed."""
        self._stopped = True
        if (end := self._end) is not None:
            end()

    def _send(self, item: Mapping[str, Any]) -> None:
        if self._child is None:
            self._start()
        assert self._child is not None and self._child.stdin is not None
        try:
            self._child.stdin.write(canonical(item) + "\n")
            self._child.stdin.flush()
        except OSError:
            raise _Ended from None

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._line(self.limits.seconds))
        return answer

    def _line(self, seconds: float | None) -> str:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            raise _Ended
        return line

    def _start(self) -> None:
        """Start a child; one that ends while it starts is started again, a few times."""
        for i in range(STARTS):
            if self._stopped:
                raise CancelledError
            try:
                ready = self._started()
                break
            except (TimeoutError, _Ended, OSError) as error:
                code = self.close()
                why = str(error) or (f"it ended with code {code}" if code is not None else f"{START:g} s passed")
            time.sleep(PAUSE * 2**i)
        else:
            raise InputError(
                f"a worker process could not start, {STARTS} times in a row ({why}); what was finished is stored: free"
                " memory or processes and run the command again"
            )
        if ready != METHODS:
            self.close()
            raise InputError(
                f"a worker process has methods {ready}, the sweep {METHODS}; install one version everywhere"
            )

    def _started(self) -> Any:
        """Start a child and return the version of the methods that it says it has."""
        memory = [] if self.limits.memory is None else [str(self.limits.memory)]
        root = str(Path(next(iter(proofs_check.__path__))).parent)
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        with _deaf():
            self._child = subprocess.Popen(
                [sys.executable, "-m", "proofs_check.sweeps.work", *memory],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="ascii",
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            )
        self._lines = queue.SimpleQueue()
        self._end = weakref.finalize(self, _ended, self._child)
        threading.Thread(target=_collect, args=(self._child.stdout, self._lines), daemon=True).start()
        return json.loads(self._line(START)).get("ready")


def failed(status: str, reason: str, seconds: float = 0.0) -> dict[str, Any]:
    """Return the answer for a point that ended without one."""
    return {"status": status, "reason": reason, "seconds": float(seconds), "versions": versions()}


def _ended(child: "subprocess.Popen[str]") -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def _collect(lines: IO[str] | None, into: "queue.SimpleQueue[str | None]") -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in lines or ():
            into.put(line)
    into.put(None)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Block Ctrl-C in this thread, and so in the processes it starts: whoever started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # not a Unix system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_here = threading.local()


def enlist(guards: list[Guard]) -> None:
    """Add the guard of this thread, once it has one, to ``guards``."""
    _here.guards = guards


def guarded(items: Iterable[Mapping[str, Any]], limits: Limits) -> list[list[dict[str, Any]]]:
    """Return the answers to several items, computed by the one guarded child of this thread."""
    if getattr(_here, "limits", None) != limits:
        _here.guard, _here.limits = Guard(limits), limits
        getattr(_here, "guards", []).append(_here.guard)
    guard: Guard = _here.guard
    return [guard.answers(item) for item in items]
