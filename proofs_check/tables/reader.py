"""Reads specifications of tables and refuses what is wrong, unknown or would be ignored, with key and line."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from flint import fmpq

from exactchains.number import parse
from proofs_check.catalogue import find
from proofs_check.tables.spec import NAMING, Request, Spec, takes
from proofs_check.tables.spec_reader import SpecReader
from proofs_check.tables.table import NOTATIONS

MAX_POINTS = 100_000
KEYS = {"title", "papers", "digits", "notation", "parameters", "symbols", "rows", "columns", "note", "plot", "claims"}
COLUMN_KEYS = {"model", "quantity", "heading", "parameters", "index", "form", "best", "without", "order"}
FORMS = ("decimal", "fraction", "root")
PLOT = {"x", "x_scale", "y_scale"}
SCALES = ("linear", "log")
_INDEX = re.compile(r"[0-9]{1,9}")
_RANGE = re.compile(r"([^\s.]+(?:\.[0-9]+)?)\.\.([^\s]+)(?:\s+step\s+(\S+))?")


class Reader(SpecReader):
    """Reads one specification of a table."""

    def spec(self, data: Mapping[str, Any]) -> Spec:
        self._known(data, KEYS, "")
        shared = self._parameters(data.get("parameters", {}), "parameters")
        rows = self._rows(data.get("rows", {}))
        raw = data.get("columns")
        if not isinstance(raw, list) or not raw:
            raise self.error("columns", "at least one [[columns]] with model and quantity is needed")
        found = Spec(
            self.name,
            self._text(data.get("title", self.name), "title"),
            tuple(self._column(c, i, rows) for i, c in enumerate(raw)),
            rows,
            shared,
            self._names(data.get("symbols", []), "symbols"),
            self._digits(data.get("digits", 12)),
            self._choice(data.get("notation", "truncated"), NOTATIONS, "notation"),
            self._names(data.get("papers", []), "papers"),
            self._text(data.get("note", ""), "note"),
            self._plot(data.get("plot", {}), rows),
            self._names(data.get("claims", []), "claims"),
        )
        self._targets(found)
        self._used(found)
        self._values(found)
        return found

    # Pieces

    def _column(self, data: Any, i: int, rows: Mapping[str, Any]) -> Request:
        where = f"columns[{i}]"
        if not isinstance(data, Mapping):
            raise self.error("columns", "write [[columns]] and below it model and quantity")
        self._known(data, COLUMN_KEYS, f"{where}.")
        order = self._names(data.get("order", []), f"{where}.order")
        for key in ("model", "best", "form"):
            if order and (key in data or (key == "model" and key in rows)):
                raise self.error(f"{where}.order", f"a column of the order of models has no {key} beside it; give one")
        if len(set(order)) < len(order) or len(order) == 1:
            raise self.error(f"{where}.order", "two models or more are needed, each once")
        for key in NAMING[1:] if order else NAMING:
            if key in data and key in rows:
                raise self.error(f"{where}.{key}", "given here and as an axis of [rows]; give it once")
            if key not in data and key not in rows:
                raise self.error(f"{where}.{key}", "text is needed, here or as an axis of [rows]")
        index = data.get("index")
        if index is not None and (isinstance(index, bool) or not _INDEX.fullmatch(str(index))):
            raise self.error(f"{where}.index", "an integer >= 0 is needed")
        model, quantity = (self._text(data.get(key, ""), f"{where}.{key}") for key in NAMING)
        best = self._best(data.get("best"), f"{where}.best")
        return Request(
            model,
            quantity,
            self._text(data.get("heading", f"best {best[0]}" if best else quantity or "value"), f"{where}.heading"),
            self._parameters(data.get("parameters", {}), f"{where}.parameters"),
            None if index is None else str(index),
            self._choice(data.get("form", "decimal"), FORMS, f"{where}.form"),
            best,
            self._names(data.get("without", []), f"{where}.without"),
            order,
        )

    def _best(self, data: Any, key: str) -> tuple[str, int, int] | None:
        if data is None:
            return None
        match = re.fullmatch(r"(\w+) in ([0-9]{1,6})\.\.([0-9]{1,6})", data) if isinstance(data, str) else None
        if not match or int(match[2]) > int(match[3]):
            raise self.error(key, 'a parameter and its range are needed, such as "k in 0..20"')
        return match[1], int(match[2]), int(match[3])

    def _plot(self, data: Any, rows: Mapping[str, Any]) -> dict[str, str]:
        if not isinstance(data, Mapping):
            raise self.error("plot", "a table with x, x_scale and y_scale is needed")
        self._known(data, PLOT, "plot.")
        return {key: self._choice(x, rows if key == "x" else SCALES, f"plot.{key}") for key, x in data.items()}

    def _parameters(self, data: Any, where: str) -> dict[str, str]:
        if not isinstance(data, Mapping):
            raise self.error(where, "a table of names and values is needed")
        return {str(name): self._word(x, f"{where}.{name}") for name, x in data.items()}

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
        low, high, step = (self._try(key, partial(parse, w, key)) for w in (match[1], match[2], match[3] or "1"))
        if step <= 0 or low > high or (high - low) / step > MAX_POINTS:
            raise self.error(key, f"LO <= HI and a step > 0 are needed, at most {MAX_POINTS} values")
        return tuple(str(low + fmpq(i) * step) for i in range(int(((high - low) / step).floor()) + 1))

    # What fits together

    def _targets(self, s: Spec) -> None:
        """Refuse unknown models, quantities and own parameters, and indices that are missing or foreign."""
        for i, request in enumerate(s.columns):
            where = f"columns[{i}]"
            places = {key: f"{where}.{key}" if getattr(request, key) else f"rows.{key}" for key in NAMING}
            if request.order:
                places["model"] = f"{where}.order"
                if s.symbols:
                    raise self.error(f"{where}.order", "no order of closed forms is known; leave out symbols")
            for name in request.models(s.rows):
                model = self._try(places["model"], partial(find, name))
                for own in request.parameters:
                    self._try(f"{where}.parameters", partial(model.parameter, own))
                for foreign in request.without:
                    self._try(f"{where}.without", partial(model.parameter, foreign))
                if (
                    request.best
                    and self._try(f"{where}.best", partial(model.parameter, request.best[0])).kind != "integer"
                ):
                    raise self.error(f"{where}.best", f"{request.best[0]} is no integer parameter of {name}")
                for name in [request.quantity] if request.quantity else s.rows["quantity"]:
                    quantity = self._try(places["quantity"], partial(model.quantity, name))
                    if request.index is not None and not quantity.indexed:
                        raise self.error(f"{where}.index", f"{quantity.name} takes no index; leave it out")
                    if quantity.indexed and request.index is None and "index" not in s.rows:
                        raise self.error("rows", f"{quantity.name} takes an index; add index = '0..10'")

    def _used(self, s: Spec) -> None:
        """Refuse a shared parameter, symbol or axis that no column takes: it would be ignored."""
        for where, names in (("parameters", s.parameters), ("symbols", s.symbols), ("rows", s.rows)):
            for name in names:
                key = where if where == "symbols" else f"{where}.{name}"
                if where != "rows" and name in s.rows:
                    raise self.error(key, "given here and as an axis of [rows]; give it once")
                if where == "symbols" and name in s.parameters:
                    raise self.error(key, f"{name} is a symbol and has a value in [parameters]; give one")
                if not any(self._uses(s, request, where, name) for request in s.columns):
                    raise self.error(key, "no column takes this parameter; leave it out")

    def _uses(self, s: Spec, request: Request, where: str, name: str) -> bool:
        if where == "rows" and name in NAMING:
            return not getattr(request, name)
        if where == "rows" and name == "index":
            return any(q.indexed and request.index is None for _, q in s.targets(request))
        return any(takes(request, model, name) for model, _ in s.targets(request))

    def _values(self, s: Spec) -> None:
        """Read every value once, so that a wrong one is named before anything is computed."""
        words = [("parameters", name, value) for name, value in s.parameters.items()]
        words += [("rows", axis, value) for axis, values in s.rows.items() for value in values]
        for request in s.columns:
            for model, _ in s.targets(request):
                for where, name, value in words:
                    if takes(request, model, name):
                        self._try(f"{where}.{name}", partial(model.parameter(name).read, value))
        if not all(_INDEX.fullmatch(value) for value in s.rows.get("index", ())):
            raise self.error("rows.index", "integers >= 0 are needed")

    # Words

    def _word(self, x: Any, key: str) -> str:
        if isinstance(x, bool) or not isinstance(x, str | int):
            raise self.error(key, "an exact number or text is needed, such as 3, 0.7 or '7/10'")
        return str(x)

    def _text(self, x: Any, key: str) -> str:
        if not isinstance(x, str):
            raise self.error(key, "text is needed")
        return " ".join(x.split())

    def _names(self, x: Any, key: str) -> tuple[str, ...]:
        if not isinstance(x, list) or not all(isinstance(name, str) for name in x):
            raise self.error(key, 'a list of texts such as ["P5"] is needed')
        return tuple(x)

    def _choice(self, x: Any, allowed: Iterable[str], key: str) -> str:
        if not isinstance(x, str) or x not in allowed:
            raise self.error(key, f"allowed are {' | '.join(allowed)}")
        return x
