"""OMNeT++ result files as exported to CSV-R: vectors found by module and name, levels added, times left as they are."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.memory import MemoryTable
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.pieces import Floats, Pieces
from proofs_check.simulators.statistics import Statistic
from proofs_check.simulators.values import Values

COLUMNS = ("run", "type", "module", "name", "vectime", "vecvalue")
LARGEST = 1_000_000_000  # bytes
NAMES = {  # the words of OMNeT++'s own queueing library
    "mean_response": ("lifeTime", "responseTime", "sojournTime"),
    "mean_wait": ("queueingTime", "totalQueueingTime", "waitingTime"),
    "mean_queue": ("numberInSystem", "jobsInSystem"),
}
WAITING, SERVING = "queueLength", "busy"
Vector = tuple[Floats, Floats]


class Vectors:
    """The vectors of one run.

    Times of jobs (lifeTime, queueingTime) are values; the number in the system is queueLength (waiting jobs only, in
    OMNeT++'s queueing library) and busy added, of all modules that record both.
    """

    what = "recorded values"

    def __init__(self, table: Any, seen: Observed) -> None:
        self.path, self.seen = table.path, seen
        self.vectors: dict[tuple[str, str], Vector] = {}
        runs = set()
        for line, (run, kind, module, name, times, values) in _rows(table):
            if kind == "vector":
                runs.add(run)
                key = (module, name.split(":")[0])
                if len(runs) > 1:
                    raise InputError(f"{self.path} line {line}: a second run ({run[:60]}); export one run at a time")
                if key in self.vectors:
                    raise InputError(f"{self.path} line {line}: {module[:60]}.{name[:40]} stands twice")
                self.vectors[key] = _vector(self.path, line, times, values)
        if not self.vectors:
            raise InputError(f"{self.path}: no row of type vector; scalars hold no error, export the vectors")
        self.chosen: Any = None

    @property
    def quantities(self) -> tuple[str, ...]:
        return ("mean_response", "mean_wait", "mean_queue", "tail")

    @property
    def count(self) -> int:
        return self.chosen.count if self.chosen else sum(len(time) for time, _ in self.vectors.values())

    def unit(self, quantity: str) -> str:
        return "units of time" if quantity in ("mean_queue", "tail") else "jobs"

    def pieces(self, quantity: str, index: int | None) -> tuple[Pieces, Statistic]:
        """Return the pieces from which a quantity is estimated, and how."""
        if quantity not in self.quantities:
            raise InputError(f"{self.path}: {quantity} cannot be read from vectors; {', '.join(self.quantities)} can")
        if quantity in ("mean_queue", "tail"):
            time, level = self._level()
            table = MemoryTable({"t": time, "level": level}, str(self.path))
            self.chosen = Levels(table, ["t", "level"], path=True, seen=self.seen)
        else:
            _, values = self._one(NAMES[quantity], quantity)
            self.chosen = Values(MemoryTable({"value": values}, str(self.path)), None)
        return self.chosen.pieces(quantity, index)

    def notes(self) -> Iterator[str]:
        if self.chosen:
            yield from self.chosen.notes()

    def _one(self, names: tuple[str, ...], quantity: str) -> Vector:
        found = {key: vector for key, vector in self.vectors.items() if key[1] in names}
        if len(found) != 1:
            have = ", ".join(sorted({f"{module}.{name}" for module, name in self.vectors}))
            what = "no vector" if not found else f"{len(found)} vectors"
            raise InputError(
                f"{self.path}: {what} named {' | '.join(names)} for {quantity}; there are {have[:300]}; export the one"
            )
        return next(iter(found.values()))

    def _level(self) -> Vector:
        modules = [module for module, name in self.vectors if name == WAITING]
        parts = [self.vectors[m, name] for m in modules for name in (WAITING, SERVING) if (m, name) in self.vectors]
        if not modules:
            return self._one(NAMES["mean_queue"], "mean_queue")
        if len(parts) < 2 * len(modules):
            raise InputError(
                f"{self.path}: {WAITING} counts waiting jobs only; record {SERVING} of the same module too, or "
                "validate mean_wait"
            )
        time = np.unique(np.concatenate([t for t, _ in parts]))
        return time, sum((_held(part, time) for part in parts), np.zeros(len(time)))


def _held(vector: Vector, at: Floats) -> Floats:
    """Return the values that hold at given times; 0 before the first."""
    time, value = vector
    return np.concatenate([[0.0], value])[np.searchsorted(time, at, side="right")]


def _rows(table: Any) -> Iterator[tuple[int, list[str]]]:
    if isinstance(table, MemoryTable):
        yield from enumerate((list(row) for row in zip(*(table.texts(c) for c in COLUMNS), strict=True)), 2)
        return
    path = Path(table.path)
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path}: more than {LARGEST // 10**9} GB; export fewer vectors")
    where = [table.columns.index(c) for c in COLUMNS]
    before = csv.field_size_limit(LARGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=table.delimiter)
            next(rows)
            for cells in rows:
                if len(cells) != len(table.columns):
                    raise InputError(
                        f"{path} line {rows.line_num}: {len(cells)} cells where the header has {len(table.columns)}"
                    )
                yield rows.line_num, [cells[i] for i in where]
    finally:
        csv.field_size_limit(before)


def _vector(path: Any, line: int, times: str, values: str) -> Vector:
    try:
        time, value = (np.array(text.split(), dtype=float) for text in (times, values))
    except ValueError as error:
        raise InputError(f"{path} line {line}: {str(error)[:80]}") from None
    if len(time) != len(value) or not len(time) or not (np.isfinite(time).all() and np.isfinite(value).all()):
        raise InputError(
            f"{path} line {line}: vectime and vecvalue need equally many finite numbers, and at least one; there are "
            f"{len(time)} and {len(value)}"
        )
    if (np.diff(time) < 0).any():
        raise InputError(f"{path} line {line}: vectime goes back")
    return time, value
