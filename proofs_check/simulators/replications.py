"""Independent replications: several files, or one with a column ``replication``; each one is one observation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators import presets
from proofs_check.simulators.empty_start import Length
from proofs_check.simulators.finished import Finished
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.pieces import FIRST, WEIGHT, Floats
from proofs_check.simulators.statistics import Estimate, Statistic, estimate
from proofs_check.simulators.warmup import without_beginning

COLUMNS = ("replication", "rep")
LEAST = 10


def read(data: Any, seen: Observed, *, preset: str | None = None, names: Mapping[str, str] | None = None) -> Any:
    """Return the shape of a run, as :func:`presets.read` does, or :class:`Replications` where there are several."""
    many = parts_of(data)
    if many is not None:
        runs = [presets.read(one, seen, preset=preset, names=names) for one in many]
        return Replications(runs, named(data)) if len(runs) > 1 else runs[0]
    table = presets.renamed(presets.opened(data), names) if names else presets.opened(data)
    column = next((name for name in COLUMNS if name in table.columns), None)
    whole = presets.shaped(table, seen, preset) if column is None else None
    if column is None:
        return whole
    split = Split(table, column)
    if len(split.places) < 2:
        return presets.shaped(table, seen, preset)
    runs = [presets.shaped(Part(split, number), seen, preset) for number in split.places]
    return Replications(runs, str(table.path))


def parts_of(data: Any) -> list[Any] | None:
    """Return the replications of a list of files or frames, or of a pattern such as ``runs/*.csv``; else None."""
    if isinstance(data, str | Path):
        pattern = str(data)
        if "*" not in pattern or Path(data).exists():
            return None
        parts = Path(pattern).parts
        fixed = next(i for i, part in enumerate(parts) if "*" in part)
        found = sorted(Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))))
        if not found:
            raise InputError(f"{pattern}: no such file")
        return [*found]
    if not isinstance(data, list | tuple) or not data:
        return None
    files = all(isinstance(one, str | Path) for one in data) and all(Path(one).suffix for one in data)
    return list(data) if files or all(hasattr(one, "columns") and hasattr(one, "to_dict") for one in data) else None


def named(data: Any) -> str:
    """Return how data are named in messages."""
    if isinstance(data, str | Path):
        return str(data)
    many = parts_of(data)
    if many and isinstance(many[0], str | Path):
        return str(many[0]) + (f" and {len(many) - 1} more files" if len(many) > 1 else "")
    return f"data in memory ({type(data).__name__})"


class Split:
    """A table whose rows belong to replications; columns are read once."""

    def __init__(self, table: Any, column: str) -> None:
        self.table, self._held = table, {}
        self.numbers = self.column(column)
        if not np.isfinite(self.numbers).all():
            raise InputError(f"{table.path}: a row has no number in the column {column}")
        self.places = {x: np.flatnonzero(self.numbers == x) for x in np.unique(self.numbers)}

    _held: dict[str, Floats]
    first = 2

    def column(self, name: str) -> Floats:
        """Return a column of the whole table."""
        if name not in self._held:
            parts = list(self.table.blocks([name]))
            if not parts:
                raise InputError(f"{self.table.path}: a header and no data")
            self.first = parts[0][0]
            self._held[name] = np.concatenate([rows[:, 0] for _, rows in parts])
        return self._held[name]


class Part:
    """The rows of one replication, as a table; lines are the file's if they stand together."""

    headless = False

    def __init__(self, split: Split, number: float) -> None:
        self._split, self._rows = split, split.places[number]
        self.path = f"{split.table.path} (replication {number:g})"
        self.columns = list(split.table.columns)

    def blocks(self, columns: Sequence[str | int]) -> Iterator[tuple[int, Floats]]:
        """Yield (number of the first line, rows) at once."""
        names = [self.columns[c] if isinstance(c, int) else c for c in columns]
        rows = np.column_stack([self._split.column(name)[self._rows] for name in names])
        yield self._split.first + int(self._rows[0]), rows

    def texts(self, column: str) -> list[str]:
        """Return a column as text, of the whole table."""
        return list(self._split.table.texts(column))


@dataclass(frozen=True)
class Replications:
    """Independent runs of one system; each contributes the sums over its pieces."""

    runs: list[Any]
    path: str

    def __post_init__(self) -> None:
        finished = next((run for run in self.runs if isinstance(run, Finished)), None)
        if finished is not None:
            raise InputError(f"{finished.path}: finished numbers are no replications; give the runs themselves")
        if len(self.runs) < LEAST:
            raise InputError(
                f"{self.path}: {len(self.runs)} replications; at least {LEAST} are needed, or one long run"
            )

    @property
    def what(self) -> str:
        return f"{self.runs[0].what} in {len(self.runs)} replications"

    @property
    def count(self) -> int:
        return sum(run.count for run in self.runs)

    def unit(self, quantity: str) -> str:
        return str(self.runs[0].unit(quantity))

    def totals(self, quantity: str, index: int | None, cut: float) -> tuple[Floats, Statistic]:
        """Return one row of sums (weight, first, second) a replication, each without its beginning."""
        rows = []
        for run in self.runs:
            pieces, statistic = run.pieces(quantity, index)
            rows.append(without_beginning(pieces.array(), cut).sum(axis=0))
        found = np.array(rows)
        if not (found[:, WEIGHT] > 0).all():
            raise InputError(f"{self.path}: a replication holds no observation of {quantity}")
        self._refuse_copies(found)
        return found, statistic

    def estimate(self, quantity: str, index: int | None, cut: float) -> Estimate:
        """Return the estimate over replications: a ratio of sums, each replication one independent term."""
        rows, statistic = self.totals(quantity, index, cut)
        return replace(estimate(rows, statistic, method="regenerative"), method="replications")

    def length(self, quantity: str) -> Length:
        """Return how long a replication is on average."""
        jobs = isinstance(self.runs[0], Jobs)
        time = 0.0
        if quantity in ("mean_queue", "tail"):
            time = float(self.totals(quantity, 1, 0.0)[0][:, WEIGHT].mean())
        counts = [run.count for run in self.runs]
        return Length(time, float(np.mean(counts)) if jobs else 0.0, len(set(counts)) == 1)

    def notes(self) -> Iterator[str]:
        """Yield each note of a replication once, whatever its numbers."""
        said = set()
        for run in self.runs:
            for note in run.notes():
                kind = re.sub(r"[\d.e+-]+", "#", note)
                if kind not in said:
                    said.add(kind)
                    yield note

    def _refuse_copies(self, rows: Floats) -> None:
        """Refuse replications that are one run repeated."""
        real = rows[rows[:, FIRST] != np.floor(rows[:, FIRST])]
        if len(np.unique(real, axis=0)) < len(real) or (rows == rows[0]).all():
            raise InputError(f"{self.path}: replications repeat one another; do they start from the same seed?")
