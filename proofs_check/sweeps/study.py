"""A whole sweep: what the store does not know yet is computed, then boundaries are followed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from exactchains.truth import InputError
from proofs_check.store import Answer, Question, Store
from proofs_check.store.export import written
from proofs_check.store.question import TRANSIENT
from proofs_check.sweeps.crossings import Bracket, Gap, Search, searches
from proofs_check.sweeps.engine import Engine, local
from proofs_check.sweeps.schedule import Schedule, grouped
from proofs_check.sweeps.spec import Spec

Progress = Callable[[int, int], None]
Followed = tuple[tuple[Bracket, ...], tuple[Gap, ...]]


@dataclass(frozen=True)
class Swept:
    """What a sweep came to: keys asked for, how many were computed now, how many there are of each status, boundary.

    ``gaps`` are the places where a boundary may have been missed, for want of a certain sign.
    """

    keys: frozenset[str]
    computed: int
    statuses: dict[str, int]
    boundary: tuple[Bracket, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def asked(self) -> int:
        return len(self.keys)


def sweep(
    spec: Spec,
    store: Store,
    *,
    executor: Executor | Engine | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Swept:
    """Answer every question of a sweep and keep the answers in the store; what is there already is not computed again.

    Parameters
    ----------
    spec
        From :func:`read_spec`.
    store
        Open for writing.
    executor
        Any ``concurrent.futures.Executor``, for instance ``client.get_executor(pure=False)`` of Dask.  Without one, a
        process a core of this machine.
    retry
        Compute again what failed by time, memory or a crash.
    progress
        Called with (answers done, answers to do) after each chunk.

    Guarantee
    ---------
    Killed at any moment, the store is whole and holds every chunk that was finished; the next run goes on from there.
    """
    with _engine(executor, spec) as engine:
        run = _Run(spec, store, engine, retry)
        run.compute(spec.questions(), progress or _silent)
        brackets, gaps = run.boundary(progress or _silent) if spec.boundary else ((), ())
    statuses = store.statuses()
    counted = dict(sorted(Counter(statuses[k] for k in run.asked).items()))
    return Swept(frozenset(run.asked), run.computed, counted, brackets, gaps)


def missing(spec: Spec, store: Store | None, *, retry: bool = False) -> list[Question]:
    """Return the questions of the grid that a store does not answer; with ``retry`` those too that failed there."""
    known = store.statuses() if store is not None else {}
    return [q for q in spec.questions() if _is_open(q.key, known, retry)]


def _is_open(key: str, known: Mapping[str, str], retry: bool) -> bool:
    return key not in known or (retry and known[key] in TRANSIENT)


def boundary(spec: Spec, store: Store) -> tuple[Bracket, ...]:
    """Return the certified boundary out of a store, computing nothing.

    Raises
    ------
    InputError
        The store does not hold all of it.
    """

    def known(questions: Iterable[Question]) -> dict[str, Answer]:
        found = {q.key: store.answer(q) for q in questions}
        if None in found.values():
            raise InputError(f"store {store.path.name!r} does not hold the whole boundary; run the sweep first")
        return {key: answer for key, answer in found.items() if answer is not None}

    return _followed(searches(spec), known)[0]


class _Run:
    """One run over one store: which keys were asked for, and how many answers were computed."""

    def __init__(self, spec: Spec, store: Store, engine: Engine, retry: bool) -> None:
        self.spec, self.store, self.retry = spec, store, retry
        self.schedule = Schedule(engine, spec.limits, store, self._keep)
        self.asked: set[str] = set()
        self.computed = 0

    def compute(self, questions: Iterable[Question], report: Progress) -> None:
        """Compute and store what is missing."""
        wanted = {q.key: q for q in questions}
        known = self.store.statuses()
        left = [q for key, q in wanted.items() if key not in self.asked and _is_open(key, known, self.retry)]
        self.asked |= set(wanted)
        before = self.computed
        if left:
            items = grouped(left, self.spec.certificates)
            self.schedule.run(items, lambda done, total: report(before + done, before + total))
        self.computed += len(left)

    def boundary(self, report: Progress) -> Followed:
        def answered(questions: Iterable[Question]) -> dict[str, Answer]:
            listed = list(questions)
            self.compute(listed, report)
            return {q.key: answer for q in listed if (answer := self.store.answer(q)) is not None}

        return _followed(searches(self.spec), answered)

    def _keep(self, question: Question, answer: dict[str, Any]) -> dict[str, Any]:
        """Write the certificate of an answer to a file beside the store; return the answer with its path."""
        proof = answer.pop("proof", None)
        if proof is None:
            return answer
        folder = self.store.path.with_suffix(".certificates")
        folder.mkdir(exist_ok=True)
        path = folder / f"{question.key}.json"
        written(path, proof.encode("utf-8"))
        return answer | {"certificate": f"{folder.name}/{path.name}"}


def _followed(running: list[Search], answers: Callable[[Iterable[Question]], dict[str, Answer]]) -> Followed:
    """Run all searches side by side, asking their questions together."""
    found: dict[int, list[Bracket | Gap]] = {}
    asks: dict[int, list[Question]] = {}

    def step(i: int, known: dict[str, Answer] | None) -> None:
        try:
            asks[i] = next(running[i]) if known is None else running[i].send(known)
        except StopIteration as end:
            asks.pop(i, None)
            found[i] = end.value

    for i in range(len(running)):
        step(i, None)
    while asks:
        known = answers([q for asked in asks.values() for q in asked])
        for i in list(asks):
            step(i, known)
    listed = [piece for i in sorted(found) for piece in found[i]]
    return tuple(p for p in listed if isinstance(p, Bracket)), tuple(p for p in listed if isinstance(p, Gap))


@contextmanager
def _engine(executor: Executor | Engine | None, spec: Spec) -> Iterator[Engine]:
    if executor is None:
        with local() as engine:
            yield engine
    else:
        yield executor if isinstance(executor, Engine) else Engine.of(executor, spec.limits)


def _silent(done: int, total: int) -> None:
    """Report nothing."""
