"""What a figure shows, before it is drawn: panels of series, from the table of a specification."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from exactchains import decimals
from exactchains.domain import Rigor
from exactchains.truth import InputError
from proofs_check.tables.notation import cell_text
from proofs_check.tables.spec import NAMING, Spec
from proofs_check.tables.table import Cell, Column, Table, brief

SYMBOLS = {"eps": "ε", "epsilon": "ε", "alpha": "α", "lam": "λ", "mu": "μ", "rho": "ρ"}
MAX_SERIES = 8  # lines that readers still tell apart


@dataclass(frozen=True)
class Point:
    """One value: where it stands, how far its enclosure reaches, and whether it is exact."""

    x: float
    lower: float
    upper: float
    rigor: Rigor


@dataclass(frozen=True)
class Series:
    """One line; a gap where a cell holds no number."""

    label: str
    points: tuple[Point | None, ...]


@dataclass(frozen=True)
class Panel:
    """Lines that share a unit; with ``log`` the heights are decimal logarithms."""

    label: str
    series: tuple[Series, ...]
    log: bool


@dataclass(frozen=True)
class Figure:
    """Panels above each other over one horizontal axis; ``note`` replaces what is said of the marks."""

    title: str
    x_label: str
    panels: tuple[Panel, ...]
    log_x: bool
    steps: bool = False
    note: str = ""


def figure(spec: Spec, table: Table) -> Figure:
    """Return the figure of a table: the axis ``plot.x`` across, a panel a unit, a line a column and other axis value.

    Heights on a logarithmic axis are computed from the exact ends, so that 1e-4000 has its place too.

    Raises
    ------
    InputError
        There is no numeric axis, a closed form is asked for, or there are more lines than can be told apart.
    """
    axes = [*spec.rows]
    numeric = [a for a in axes if a not in NAMING and all(row[axes.index(a)].enclosure for row in table.rows)]
    across = spec.plot.get("x") or (numeric[-1] if numeric else "")
    if spec.symbols or across not in numeric:
        raise InputError(f"{spec.name}: a figure needs an axis of numbers in [rows], and numbers in its cells")
    x = axes.index(across)
    others = [i for i in range(len(axes)) if i != x]
    log_x, log_y = (spec.plot.get(key) == "log" for key in ("x_scale", "y_scale"))
    panels: dict[str, tuple[dict[str, str], list[Series]]] = {}
    for j, column in enumerate(table.columns[len(axes) :], len(axes)):
        says = brief(column.meaning) or column.quantity
        meanings, lines = panels.setdefault(column.unit or says, ({}, []))
        meanings[says] = column.unit
        for label, rows in _groups(table, others, column):
            ends = (_point(row[x], row[j], log_x, log_y) for row in rows)
            lines.append(Series(label, tuple(ends)))
    for meanings, lines in panels.values():
        if len(lines) > MAX_SERIES:
            raise InputError(f"{spec.name}: {len(lines)} lines of {next(iter(meanings))}; at most {MAX_SERIES}")
    shown = tuple(Panel(_panel_label(meanings), tuple(lines), log_y) for meanings, lines in panels.values())
    c = table.columns[x]
    below = axis_label(c.heading, c.symbol, c.meaning, c.unit)
    integers = any(column.form == "integer" for column in table.columns)
    return Figure(table.title, below, shown, log_x, integers)


def _groups(table: Table, others: Sequence[int], column: Column) -> Iterator[tuple[str, list[tuple[Cell, ...]]]]:
    """Yield the rows of each combination of the other axes, with a label."""
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        values = [
            f"{table.columns[i].heading} = {cell_text(row[i], table.columns[i], digits=6, notation='truncated')}"
            for i in others
        ]
        groups.setdefault(greek(", ".join([column.heading, *values])), []).append(row)
    yield from groups.items()


def _point(x: Cell, y: Cell, log_x: bool, log_y: bool) -> Point | None:
    if y.enclosure is None or x.enclosure is None or (log_y and y.enclosure.lower <= 0):
        return None
    low, high = (_place(end, log_y) for end in (y.enclosure.lower, y.enclosure.upper))
    return Point(_place(x.enclosure.lower, log_x), low, high, y.enclosure.rigor)


def _place(x: fmpq, log: bool) -> float:
    """Return where a number stands on paper: itself, or its decimal logarithm, from integers of any size."""
    if x == 0:
        return -math.inf if log else 0.0
    e = decimals.exponent10(x)
    digits = int(decimals.toward_zero(x, 17 - e))
    return e + math.log10(abs(digits) / 10**17) if log else digits / 10**17 * 10.0**e if -300 < e < 300 else math.nan


def _panel_label(meanings: Mapping[str, str]) -> str:
    """Return the meaning of a panel, or its few meanings, with the unit."""
    return _label(", ".join(meanings), next(iter(meanings.values())))


def _label(says: str, unit: str) -> str:
    return (f"{says} ({unit})" if unit else says).replace("^2", "²")


def greek(text: str) -> str:
    """Return text with the field's letters for the names of parameters.

    Examples
    --------
    >>> greek("no errors, eps = 1/2")
    'no errors, ε = 1/2'
    """
    return re.sub("|".join(rf"\b{name}\b" for name in SYMBOLS), lambda m: SYMBOLS[m[0]], text)


def axis_label(name: str, symbol: str, meaning: str, unit: str) -> str:
    """Return meaning, symbol and unit; a name of several letters is no symbol, and a unit need not be said twice."""
    sign, says = SYMBOLS.get(name) or SYMBOLS.get(symbol) or symbol, brief(meaning)
    shown = says if says and len(sign) > 2 else ", ".join(filter(None, (says, sign)))
    return _label(shown, "" if unit == says else unit)
