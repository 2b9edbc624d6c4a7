"""What a table is computed from: axes, columns, digits.  Read from TOML; every error names the key and its line."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from flint import fmpq

from exactchains.document import parsed, read_document
from exactchains.number import parse
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model
from proofs_check.tables.table import NOTATIONS

MAX_POINTS = 100_000
KEYS = {"title", "papers", "digits", "notation", "parameters", "rows", "columns", "note"}
COLUMN_KEYS = {"model", "quantity", "heading", "parameters", "index", "form"}
FORMS = ("decimal", "fraction")
_RANGE = re.compile(r"([^\s.]+(?:\.[0-9]+)?)\.\.([^\s]+)(?:\s+step\s+(\S+))?")


@dataclass(frozen=True)
class Request:
    """One column as asked for: a quantity of a model, with parameters of its own beside the shared ones."""

    model: str
    quantity: str
    heading: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    index: str | None = None
    form: str = "decimal"


@dataclass(frozen=True)
class Spec:
    """A whole table as asked for; ``rows`` maps each axis to its values, and rows are their product in that order."""

    name: str
    title: str
    columns: tuple[Request, ...]
    rows: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, str] = field(default_factory=dict)
    digits: int = 12
    notation: str = "truncated"
    papers: tuple[str, ...] = ()
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the specification as plain data, for the twin and its hash."""
        columns = [
            {"model": c.model, "quantity": c.quantity, "parameters": dict(c.parameters), "index": c.index}
            for c in self.columns
        ]
        rows = {axis: list(values) for axis, values in self.rows.items()}
        return {"parameters": dict(self.parameters), "rows": rows, "columns": columns, "digits": self.digits}


def recipes() -> dict[str, Path]:
    """Return the shipped specifications by name."""
    folder = Path(str(resources.files("proofs_check"))) / "tables" / "recipes"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def spec(name: str) -> Spec:
    """Return a shipped recipe by name, or the specification in a TOML file.

    Raises
    ------
    InputError
        There is no such recipe; or the file says something impossible: the message names the key and its line.
    """
    path = recipes().get(name)
    if path is None and not name.endswith(".toml"):
        near = difflib.get_close_matches(name[:80], recipes(), n=3) or list(recipes())[:3]
        raise InputError(
            f"table {name[:80]!r} is not known; did you mean {', '.join(near)}? `exaq table` lists all; a"
            " specification of your own is a .toml file"
        )
    place = path or Path(name)
    data = read_document(place)
    return Reader(place.stem, place.name, place.read_text(encoding="utf-8")).spec(data)


def from_text(text: str, name: str = "spec") -> Spec:
    """Return the specification that TOML text spells."""
    return Reader(name, f"{name}.toml", text).spec(parsed(text, f"{name}.toml", toml=True))


class Reader:
    """Reads one specification; knows the text, so that an error can name a line."""

    def __init__(self, name: str, file: str, text: str) -> None:
        self.name, self.file, self.lines = name, file, text.splitlines()

    def spec(self, data: Mapping[str, Any]) -> Spec:
        self._known(data, KEYS, "")
        shared = self._parameters(data.get("parameters", {}), "parameters")
        raw = data.get("columns")
        if not isinstance(raw, list) or not raw:
            raise self.error("columns", "at least one [[columns]] with model and quantity is needed")
        columns = tuple(self._column(c, i) for i, c in enumerate(raw))
        rows = self._rows(data.get("rows", {}))
        self._used([*shared], "parameters", columns, rows)
        self._used([*rows], "rows", columns, rows)
        title = data.get("title", self.name)
        papers = data.get("papers", [])
        if not isinstance(title, str) or not isinstance(data.get("note", ""), str):
            raise self.error("title", "text is needed")
        if not isinstance(papers, list) or not all(isinstance(p, str) for p in papers):
            raise self.error("papers", 'a list of texts such as ["P5"] is needed')
        found = Spec(
            self.name,
            _line(title),
            columns,
            rows,
            shared,
            self._digits(data.get("digits", 12)),
            self._choice(data.get("notation", "truncated"), NOTATIONS, "notation"),
            tuple(papers),
            _line(data.get("note", "")),
        )
        self._values(found)
        return found

    def error(self, key: str, says: str) -> InputError:
        line = self._line(key)
        return InputError(f"{self.file}{f', line {line}' if line else ''}: {key}: {says}")

    def _line(self, key: str) -> int | None:
        """Return the line of a key such as ``rows.eps`` or ``columns[1].model``."""
        wanted = [(part, int(number or 0)) for part, number in re.findall(r"([\w-]+)(?:\[(\d+)\])?", key)]
        if len(wanted) == 1:
            wanted.insert(0, ("", 0))
        (table, number), (last, _) = wanted[0], wanted[1]
        here, seen, header = "", -1, None
        for i, line in enumerate(self.lines, 1):
            if match := re.match(r"\s*(\[{1,2})\s*([\w.-]+)", line):
                seen = seen + 1 if match[2] == table and match[1] == "[[" else (0 if match[2] == table else seen)
                here = match[2]
                if here == table and seen == number:
                    header = header or i
                elif here == last and not table:
                    return i
            elif re.match(rf"\s*[\"']?{re.escape(last)}[\"']?\s*=", line) and here == table:
                if not table or seen == number:
                    return i
            elif not here and table and re.match(rf"\s*{re.escape(table)}\s*[.=]", line):
                header = header or i
        return header

    def _known(self, data: Mapping[str, Any], allowed: set[str], where: str) -> None:
        for key in data:
            if key not in allowed:
                near = difflib.get_close_matches(key[:80], allowed, n=1)
                hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(sorted(allowed))}"
                raise self.error(f"{where}{key[:80]}", f"unknown key; {hint}")

    def _column(self, data: Any, i: int) -> Request:
        where = f"columns[{i}]"
        if not isinstance(data, Mapping):
            raise self.error("columns", "write [[columns]] and below it model and quantity")
        self._known(data, COLUMN_KEYS, f"{where}.")
        for key in ("model", "quantity"):
            if not isinstance(data.get(key), str):
                raise self.error(f"{where}.{key}", "text is needed")
        own = self._parameters(data.get("parameters", {}), f"{where}.parameters")
        model = self._try(f"{where}.model", lambda: find(data["model"]))
        quantity = self._try(f"{where}.quantity", lambda: model.quantity(data["quantity"]))
        for name in own:
            self._try(f"{where}.parameters", lambda name=name: model.parameter(name))
        index = data.get("index")
        if index is not None and (isinstance(index, bool) or not re.fullmatch(r"[0-9]{1,9}", str(index))):
            raise self.error(f"{where}.index", "an integer >= 0 is needed")
        heading = data.get("heading", data["quantity"])
        if not isinstance(heading, str):
            raise self.error(f"{where}.heading", "text is needed")
        if index is not None and not quantity.indexed:
            raise self.error(f"{where}.index", f"{quantity.name} takes no index; leave it out")
        form = self._choice(data.get("form", "decimal"), FORMS, f"{where}.form")
        return Request(model.name, quantity.name, _line(heading), own, None if index is None else str(index), form)

    def _try(self, key: str, read: Any) -> Any:
        try:
            return read()
        except InputError as error:
            raise self.error(key, str(error)) from None

    def _parameters(self, data: Any, where: str) -> dict[str, str]:
        if not isinstance(data, Mapping):
            raise self.error(where, "a table of names and values is needed")
        return {str(name): self._word(x, f"{where}.{name}") for name, x in data.items()}

    def _word(self, x: Any, key: str) -> str:
        if isinstance(x, bool) or not isinstance(x, str | int):
            raise self.error(key, "an exact number or text is needed, such as 3, 0.7 or '7/10'")
        return str(x)

    def _rows(self, data: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(data, Mapping) or not data:
            raise self.error("rows", "at least one axis is needed, such as eps = ['1/10', '1/5'] or n = '10..20'")
        rows = {str(axis): self._axis(x, f"rows.{axis}") for axis, x in data.items()}
        points = 1
        for values in rows.values():
            points *= len(values)
        if points > MAX_POINTS:
            raise self.error("rows", f"{points} rows; at most {MAX_POINTS} are computed")
        return rows

    def _axis(self, x: Any, key: str) -> tuple[str, ...]:
        if isinstance(x, list) and x:
            return tuple(self._word(value, key) for value in x)
        match = _RANGE.fullmatch(x) if isinstance(x, str) else None
        if not match:
            raise self.error(key, "a list of values, or a range 'LO..HI' or 'LO..HI step S', is needed")
        low, high, step = (self._try(key, lambda w=w: parse(w, key)) for w in (match[1], match[2], match[3] or "1"))
        if step <= 0 or low > high or (high - low) / step > MAX_POINTS:
            raise self.error(key, f"LO <= HI and a step > 0 are needed, at most {MAX_POINTS} values")
        count = int(((high - low) / step).floor())
        return tuple(str(low + fmpq(i) * step) for i in range(count + 1))

    def _used(self, names: list[str], where: str, columns: tuple[Request, ...], rows: Mapping[str, Any]) -> None:
        """Refuse a shared parameter or an axis that no column has: it would be ignored."""
        for name in names:
            if where == "rows" and name == "index":
                used = any(find(c.model).quantity(c.quantity).indexed and c.index is None for c in columns)
            else:
                used = any(has(find(c.model), name) and not own(c, name) for c in columns)
            if not used:
                raise self.error(f"{where}.{name}", "no column takes this parameter; leave it out")
            if where == "parameters" and name in rows:
                raise self.error(f"{where}.{name}", "given here and as an axis of [rows]; give it once")

    def _values(self, s: Spec) -> None:
        """Read every value once, so that a wrong one is named before anything is computed."""
        words = [("parameters", name, value) for name, value in s.parameters.items()]
        words += [("rows", axis, value) for axis, values in s.rows.items() for value in values if axis != "index"]
        for request in s.columns:
            model = find(request.model)
            for where, name, value in words:
                if has(model, name) and not own(request, name):
                    self._try(f"{where}.{name}", partial(model.parameter(name).read, value))
            indexed = model.quantity(request.quantity).indexed
            if indexed and request.index is None and "index" not in s.rows:
                raise self.error("rows", f"{request.quantity} takes an index; add index = '0..10'")
        if not all(re.fullmatch(r"[0-9]{1,9}", value) for value in s.rows.get("index", ())):
            raise self.error("rows.index", "integers >= 0 are needed")

    def _digits(self, x: Any) -> int:
        if isinstance(x, bool) or not re.fullmatch(r"[0-9]{1,6}", str(x)) or not 1 <= int(str(x)) <= 100_000:
            raise self.error("digits", "an integer from 1 to 100000 is needed")
        return int(str(x))

    def _choice(self, x: Any, allowed: Any, key: str) -> str:
        if x not in tuple(allowed):
            raise self.error(key, f"allowed are {' | '.join(allowed)}")
        return str(x)


def _line(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


def has(model: Model, name: str) -> bool:
    return any(name in (p.name, p.symbol) for p in model.parameters)


def own(request: Request, name: str) -> bool:
    """Return whether a column sets this parameter itself."""
    return name in request.parameters
