"""The JSON twin of a table: every cell's exact ends, status and method, and what the table was computed from."""

import hashlib
import json
from importlib import metadata
from typing import Any

from exactchains import decimals
from proofs_check.tables.formula import Formula
from proofs_check.tables.notation import cell_text
from proofs_check.tables.root import Root
from proofs_check.tables.table import Cell, Column, Table

GUARD = 10  # decimals beyond the digits shown, in the ends of an enclosure
LONG = 1000  # characters of an exact fraction that are still written out
LIBRARIES = ("exaq", "python-flint", "numpy", "scipy", "sympy")


def twin(table: Table) -> dict[str, Any]:
    """Return the twin as plain data; ``hash`` is the SHA-256 of ``inputs`` as canonical JSON."""
    return {
        "table": table.name,
        "title": table.title,
        "papers": list(table.papers),
        "digits": table.digits,
        "notation": table.notation,
        "inputs": table.inputs,
        "hash": digest(table.inputs),
        "versions": versions(),
        "columns": [_column(c) for c in table.columns],
        "rows": [[_cell(c, column, table) for column, c in zip(table.columns, row, strict=True)] for row in table.rows],
    }


def twin_text(table: Table) -> str:
    return json.dumps(twin(table), indent=1, ensure_ascii=False) + "\n"


def digest(data: Any) -> str:
    """Return the SHA-256 of canonical JSON: sorted keys, no blanks, UTF-8."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of what computed a value."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "run from its source tree" if name == "exaq" else "not installed"
    return found


def _column(c: Column) -> dict[str, Any]:
    return {
        "heading": c.heading,
        "quantity": c.quantity,
        "symbol": c.symbol,
        "unit": c.unit,
        "meaning": c.meaning,
        "model": c.model or None,
        "given": c.given,
        "form": c.form,
        "parameters": dict(c.parameters),
    }


def _cell(c: Cell, column: Column, table: Table) -> dict[str, Any]:
    shown = cell_text(c, column, digits=table.digits, notation=table.notation)
    data: dict[str, Any] = {"text": shown, "status": c.status, "exact": None, "lower": None, "upper": None}
    if c.enclosure is not None:
        exact = str(c.enclosure.lower) if c.enclosure.is_exact else None
        data["exact"] = exact if exact is not None and len(exact) <= LONG else None
        for end, up in (("lower", False), ("upper", True)):
            x = getattr(c.enclosure, end)
            data[end] = data["exact"] or decimals.outward(x, table.digits + GUARD, up=up)
        data["certain_digits"] = c.enclosure.certain_digits
    if isinstance(c.formula, Formula | Root):
        data |= {"exact": c.formula.exact, "latex": c.formula.latex}
    return data | {"method": c.method, "note": c.note}
