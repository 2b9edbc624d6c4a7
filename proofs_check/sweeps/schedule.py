"""Hands items to workers in chunks of about a second and stores what comes back."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from dataclasses import dataclass
from typing import Any

from exactchains.truth import InputError
from proofs_check.store import Answer, Question, Store
from proofs_check.sweeps.engine import Engine, unusable
from proofs_check.sweeps.guard import failed
from proofs_check.sweeps.spec import Limits

CHUNK = 1.0  # seconds of work that a task should hold
AHEAD = 2  # tasks a worker that are handed out at once
LARGEST = 10_000  # items a task

Progress = Callable[[int, int], None]
Keep = Callable[[Question, dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Item:
    """Questions with one model and one set of parameters: the model is built once for all of them."""

    questions: tuple[Question, ...]
    certificates: bool = False

    def plain(self) -> dict[str, Any]:
        first = self.questions[0]
        asks = [[q.quantity, q.index] for q in self.questions]
        return {
            "model": first.model,
            "parameters": dict(first.parameters),
            "digits": first.digits,
            "asks": asks,
            "certificates": self.certificates,
        }


def grouped(questions: Sequence[Question], certificates: bool = False) -> list[Item]:
    """Return questions as items, in the order of their first questions."""
    together: dict[Any, list[Question]] = {}
    for q in questions:
        together.setdefault((q.model, tuple(sorted(q.parameters.items())), q.digits), []).append(q)
    return [Item(tuple(group), certificates) for group in together.values()]


class Schedule:
    """Runs items on an engine; every finished chunk is stored in one transaction."""

    def __init__(self, engine: Engine, limits: Limits, store: Store, keep: Keep) -> None:
        self.engine, self.limits, self.store, self.keep = engine, limits, store, keep
        self._pace: float | None = None  # seconds an item
        self._last = 0  # items of the last chunk

    def run(self, items: Sequence[Item], report: Progress) -> None:
        """Compute and store all items; what is done when an error or an interrupt ends the run is stored."""
        waiting, running, done = deque(items), {}, 0
        total = sum(len(item.questions) for item in items)
        try:
            while waiting or running:
                while waiting and len(running) < AHEAD * self.engine.workers:
                    chunk = [waiting.popleft() for _ in range(self._size(len(waiting)))]
                    future = self.engine.submit([item.plain() for item in chunk], self.limits)
                    running[future] = (chunk, time.perf_counter())
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    chunk, _ = running.pop(future)
                    done += self._store(chunk, future)
                report(done, total)
        except BaseException:
            for future in running:
                future.cancel()
            raise

    def _size(self, waiting: int) -> int:
        """Return how many items make a chunk: a second of work, doubling up to it; the last ones are shared out."""
        if self._pace is None:
            return 1
        share = -(-waiting // (2 * self.engine.workers))
        self._last = max(1, min(int(CHUNK / max(self._pace, 1e-6)), 2 * self._last, share, LARGEST))
        return self._last

    def _store(self, chunk: Sequence[Item], future: Any) -> int:
        listed = self._answers(chunk, future)
        rows = [
            (question, Answer(**self.keep(question, answer)))
            for item, found in zip(chunk, listed, strict=True)
            for question, answer in zip(item.questions, found, strict=True)
        ]
        self.store.put(rows)
        pace = sum(answer.seconds for _, answer in rows) / len(chunk)
        self._pace = pace if self._pace is None else (self._pace + pace) / 2
        return len(rows)

    def _answers(self, chunk: Sequence[Item], future: Any) -> list[list[dict[str, Any]]]:
        try:
            answers: list[list[dict[str, Any]]] = future.result()
        except (CancelledError, InputError):
            raise
        except BrokenExecutor as error:
            raise unusable(error) from None
        except Exception as error:  # the worker is gone, or what it sent cannot be read
            reason = f"the worker failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            return [[failed("failed", reason) for _ in item.questions] for item in chunk]
        return answers
