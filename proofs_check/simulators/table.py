"""Text tables of numbers, read in blocks: every fault names its line."""

import csv
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import TextIO

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.pieces import Floats

BLOCK = 200_000  # rows held at a time
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
MAX_LINE = 100_000
MISSING = ("", "na", "nan", "none", "null", "-")
COMMA = re.compile(r"[+-]?\d[\d.]*,\d[\d,.]*(e[+-]?\d+)?", re.IGNORECASE)
MAGIC = {
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save it as CSV",
    b"\x93NUMPY": "an array of numpy; hand it to assert_agrees, or write it with numpy.savetxt",
    b"PAR1": "Parquet; name it .parquet",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save it as CSV",
    b"\x89HDF": "HDF5; write its columns as CSV or Parquet",
    b"SQLite f": "an SQLite store; export its rows as CSV",
    b"\xff\xfe": "text in UTF-16; save it as UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as UTF-8",
}


class Table:
    """A CSV or TSV file with a header line; ``blocks`` reads chosen columns.

    A pipe, or ``-`` for the standard input, can be read only once and is copied to a file first: ``place``.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, path
        if str(path) == "-" or path.is_fifo() or path.is_char_device():
            self.place = _copied(path)
            weakref.finalize(self, os.unlink, self.place)
        with self.place.open(encoding="utf-8-sig", newline="") as file:
            line = _guarded(file, self)
        self.commented = line.startswith("#")
        line = line.removeprefix("#")  # numpy.savetxt writes its header as a comment
        if not line.strip():
            raise InputError(f"{path}: the file is empty or starts with an empty line; a header line is needed")
        self.delimiter = _delimiter(line)
        self.columns = [name.strip() for name in next(csv.reader([line], delimiter=self.delimiter))]
        self.headless = all(is_number(name) for name in self.columns)
        doubled = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if doubled and not self.headless:
            raise InputError(f"{path}: column {doubled[0][:60]!r} stands twice in the header; name every column once")

    def blocks(self, columns: Sequence[str | int]) -> Iterator[tuple[int, Floats]]:
        """Yield (number of the first line, rows) with the chosen columns, by name or position, as floats.

        Raises
        ------
        InputError
            A cell is no number, or a row has too few cells: the line, the column and the text.
        """
        where = [c if isinstance(c, int) else self.columns.index(c) for c in columns]
        with self.place.open(encoding="utf-8-sig", newline="") as file:
            line = 1 if self.headless else 2
            if not self.headless:
                next(file)
            while lines := _block(file, self):
                yield line, self._numbers(lines, where, line)
                line += len(lines)

    def rename(self, names: Mapping[str, str]) -> None:
        """Give columns other names."""
        self.columns = [names.get(name, name) for name in self.columns]

    def texts(self, column: str) -> list[str]:
        """Return the cells of a column as text; for small tables."""
        where = self.columns.index(column)
        with self.place.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, delimiter=self.delimiter))[1:]
        return [row[where].strip() for row in rows if len(row) > where]

    def _numbers(self, lines: list[str], where: Sequence[int], line: int) -> Floats:
        marks = len(self.columns) - 1
        if set(map(str.count, lines, repeat(self.delimiter))) == {marks}:
            try:
                rows = np.loadtxt(lines, delimiter=self.delimiter, usecols=where, ndmin=2, comments=None, quotechar='"')
                if len(rows) == len(lines):
                    return rows
            except ValueError:
                pass  # the slow reader finds the line
        return self._slowly(lines, where, line)

    def _slowly(self, lines: list[str], where: Sequence[int], line: int) -> Floats:
        rows = []
        for number, cells in enumerate(csv.reader(lines, delimiter=self.delimiter), line):
            if not cells:
                continue
            if len(cells) <= max(where) or any(cell.strip() for cell in cells[len(self.columns) :]):
                raise InputError(
                    f"{self.path} line {number}: {len(cells)} cells where the header has {len(self.columns)}; "
                    f"is the file cut off, delimited otherwise, or written with decimal commas?"
                )
            rows.append([self._cell(cells[i], i, number) for i in where])
        return np.array(rows, dtype=float).reshape(len(rows), len(where))

    def _cell(self, text: str, column: int, line: int) -> float:
        word = text.strip()
        if word.lower() in MISSING:
            return float("nan")
        if not is_number(word):
            name = f"column {column + 1}" if self.headless else f"column {self.columns[column]}"
            hint = "; write decimal points, and no marks for thousands" if COMMA.fullmatch(word) else ""
            raise InputError(f"{self.path} line {line}, {name}: {word[:40]!r} is no number{hint}")
        return float(word)


def _delimiter(header: str) -> str:
    counts = {mark: header.count(mark) for mark in DELIMITERS.values()}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ","


def is_number(word: str) -> bool:
    if "_" in word or not word.isascii():
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True


def _block(file: TextIO, table: Table) -> list[str]:
    try:
        return list(islice(file, BLOCK))
    except UnicodeDecodeError:
        raise _not_text(table) from None


def _guarded(file: TextIO, table: Table) -> str:
    try:
        line = file.readline(MAX_LINE)
    except UnicodeDecodeError:
        raise _not_text(table) from None
    if "\0" in line:
        raise _not_text(table)
    if len(line) >= MAX_LINE:
        raise InputError(
            f"{table.path}: the header line has more than {MAX_LINE} characters; CSV with few columns is read"
        )
    return line


def _copied(pipe: Path) -> Path:
    """Return a file with all that comes through a pipe."""
    handle, name = tempfile.mkstemp(prefix="exaq-")
    with os.fdopen(handle, "wb") as file:
        if str(pipe) == "-":
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with pipe.open("rb") as source:
                shutil.copyfileobj(source, file)
    return Path(name)


def _not_text(table: Table) -> InputError:
    """Return what a file is instead of text, as far as its first bytes tell, or the line that is none."""
    with table.place.open("rb") as file:
        start = file.read(8)
        kind = next((words for magic, words in MAGIC.items() if start.startswith(magic)), None)
        if kind:
            return InputError(f"{table.path}: this file is {kind}")
        file.seek(0)
        line = next((i for i, raw in enumerate(file, 1) if not _is_text(raw)), 1)
    return InputError(f"{table.path} line {line}: bytes that are no UTF-8 text; CSV or TSV in UTF-8 is read")


def _is_text(raw: bytes) -> bool:
    try:
        return "\0" not in raw.decode()
    except UnicodeDecodeError:
        return False
