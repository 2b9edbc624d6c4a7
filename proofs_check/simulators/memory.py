"""Data that are already in memory, or in JSON, as tables: frames, arrays, lists of records, dictionaries of rows."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.table import is_number

LARGEST_JSON = 500_000_000  # bytes


class MemoryTable:
    """Named columns in memory, with the interface of :class:`proofs_check.simulators.table.Table`."""

    headless = False

    def __init__(self, columns: Mapping[str, Sequence[Any]], source: str) -> None:
        self.path = source
        self._data = {name: self._numbers(name, values, source) for name, values in columns.items()}
        self.columns = list(self._data)
        lengths = {len(values) for values in self._data.values()}
        if not self._data or len(lengths) > 1:
            raise InputError(f"{source}: columns of one length are needed, at least one")

    def blocks(self, columns: Sequence[str | int]) -> Iterator[tuple[int, Floats]]:
        """Yield (number of the first row, rows), all at once; rows count from 1."""
        names = [self.columns[c] if isinstance(c, int) else c for c in columns]
        yield 1, np.column_stack([self._checked(name) for name in names])

    def rename(self, names: Mapping[str, str]) -> None:
        """Give columns other names."""
        self._data = {names.get(name, name): values for name, values in self._data.items()}
        self.columns = list(self._data)

    def texts(self, column: str) -> list[str]:
        """Return a column as text."""
        return [str(x).strip() for x in self._data[column]]

    def _checked(self, name: str) -> Floats:
        values = self._data[name]
        if values.dtype == object:
            bad = next(i for i, x in enumerate(values) if not isinstance(x, float))
            what = "is text; numbers are needed" if is_number(str(values[bad])) else "is no number"
            raise InputError(f"{self.path} row {bad + 1}, column {name}: {str(values[bad])[:40]!r} {what}")
        return values

    @staticmethod
    def _numbers(name: str, values: Sequence[Any], source: str) -> np.ndarray:
        if isinstance(values, np.ma.MaskedArray):
            values = values.astype(float).filled(np.nan)
        try:
            array = np.asarray(values)
        except ValueError:
            raise InputError(f"{source}: column {name} holds lists of different lengths; numbers are needed") from None
        if array.ndim != 1 or array.dtype.kind == "c":
            raise InputError(f"{source}: column {name} is no list of numbers")
        if array.dtype.kind in "fiub":
            return array.astype(float)
        read = np.empty(len(array), dtype=object)
        for i, x in enumerate(values):  # None, Decimal and numpy numbers become floats, text stays
            try:
                read[i] = (
                    float("nan") if x is None or type(x).__name__ == "NAType" else x if isinstance(x, str) else float(x)
                )
            except (TypeError, ValueError):
                raise InputError(f"{source} row {i + 1}, column {name}: {str(x)[:40]!r} is no number") from None
        return read.astype(float) if all(isinstance(x, float) for x in read) else read


def table_of(data: Any, source: str = "data") -> MemoryTable:
    """Return a table of a DataFrame, a structured or plain array, a list of records, or a dictionary of columns."""
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        if len(set(map(str, data.columns))) < len(data.columns):
            raise InputError(f"{source}: a column stands twice; name every column once")
        return MemoryTable({str(name): data[name].to_list() for name in data.columns}, source)
    if isinstance(data, np.ndarray):
        if data.dtype.names:
            return MemoryTable({name: data[name] for name in data.dtype.names}, source)
        if data.ndim != 1 and (data.ndim != 2 or data.shape[1] != 2):
            raise InputError(
                f"{source}: an array of shape {data.shape}; values in a row, or two columns t and value, are read; "
                "give more columns by name, in a dictionary or a frame"
            )
        return MemoryTable({"value": data} if data.ndim == 1 else {"t": data[:, 0], "value": data[:, 1]}, source)
    if isinstance(data, Mapping):
        return MemoryTable(data, source)
    if isinstance(data, bytes | str) or not isinstance(data, Iterable):
        raise InputError(f"{source}: {type(data).__name__} is no data; a frame, an array, records or columns are read")
    rows = list(data)
    if not rows:
        raise InputError(f"{source}: empty")
    if any(type(row) is not type(rows[0]) for row in rows) and isinstance(rows[0], Mapping):
        odd = next(i for i, row in enumerate(rows) if type(row) is not type(rows[0]))
        raise InputError(f"{source} row {odd + 1}: {str(rows[odd])[:40]!r} is no row like the first one")
    if isinstance(rows[0], Mapping):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return MemoryTable({str(name): [row.get(name) for row in rows] for name in names}, source)
    if hasattr(rows[0], "_fields"):
        return MemoryTable({name: [getattr(row, name) for row in rows] for name in rows[0]._fields}, source)
    listed = isinstance(rows[0], Sequence) and not isinstance(rows[0], str)
    for i, row in enumerate(rows if listed else ()):
        if not isinstance(row, Sequence) or len(row) != len(rows[0]):
            raise InputError(f"{source} row {i + 1}: {str(row)[:40]!r} is no row like the first one")
    if listed and len(rows[0]) == 2:
        return MemoryTable({"t": [row[0] for row in rows], "value": [row[1] for row in rows]}, source)
    return MemoryTable({"value": rows}, source)


def read_parquet(path: Path) -> MemoryTable:
    """Return the columns of a Parquet file."""
    if find_spec("pyarrow") is None:
        raise InputError(f"{path}: Parquet needs pyarrow: pip install 'exaq[parquet]'; CSV and JSON need nothing")
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        frame = read_table(path)
    except (ArrowException, OSError) as error:
        raise InputError(f"{path}: no readable Parquet: {str(error)[:150]}") from None
    return MemoryTable({name: _plain_column(frame[name]) for name in frame.column_names}, str(path))


def _plain_column(column: Any) -> Any:
    """Return an Arrow column as numbers, or as a list where it holds anything else."""
    array = column.to_numpy()
    return array if array.dtype.kind in "fiub" else column.to_pylist()


def read_json(path: Path) -> Any:
    """Return what a JSON or JSONL file holds; duplicate keys, NaN and deep nesting are refused."""
    if path.stat().st_size > LARGEST_JSON:
        raise InputError(f"{path}: JSON of more than {LARGEST_JSON // 1_000_000} MB; write CSV")
    text = path.read_text(encoding="utf-8-sig")
    try:
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            return [_loaded(line) for line in text.splitlines() if line.strip()]
        return _loaded(text)
    except RecursionError:
        raise InputError(f"{path}: no readable JSON: brackets nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: no readable JSON: {str(error)[:150]}") from None


def _loaded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refused)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no JSON number; write null for a missing value")
