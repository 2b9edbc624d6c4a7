"""What a table is computed from: axes, columns, digits; the recipes that are shipped; reading from TOML."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

from exactchains.document import parsed, read_document
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, Quantity

NAMING = ("model", "quantity")  # axes that choose what is computed, beside parameters and ``index``


@dataclass(frozen=True)
class Request:
    """One column as asked for: a quantity of a model, with parameters of its own beside the shared ones.

    An empty ``model`` or ``quantity`` comes from the axis of that name.  ``best`` is a parameter with a range: the
    cell is then the integer in it that minimises the quantity.  ``order`` names models: the cell lists them from the
    least of the quantity to the greatest.  ``without`` names shared parameters and axes that
    do not reach this column.
    """

    model: str
    quantity: str
    heading: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    index: str | None = None
    form: str = "decimal"
    best: tuple[str, int, int] | None = None
    without: tuple[str, ...] = ()
    order: tuple[str, ...] = ()

    def models(self, rows: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the names of the models that the column computes."""
        return self.order or ((self.model,) if self.model else rows["model"])


@dataclass(frozen=True)
class Spec:
    """A whole table as asked for; ``rows`` maps each axis to its values, and rows are their product in that order.

    With ``symbols`` the cells are closed forms in these parameters.  ``plot`` says how a figure is drawn: ``x`` the
    axis across, ``x_scale`` and ``y_scale`` each ``linear`` or ``log``.  ``claims`` are ids, or patterns of ids, of
    claims that the table illustrates.
    """

    name: str
    title: str
    columns: tuple[Request, ...]
    rows: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, str] = field(default_factory=dict)
    symbols: tuple[str, ...] = ()
    digits: int = 12
    notation: str = "truncated"
    papers: tuple[str, ...] = ()
    note: str = ""
    plot: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the specification as plain data, for the twin and its hash."""
        columns = [
            {"model": c.model, "quantity": c.quantity, "parameters": dict(c.parameters), "index": c.index}
            | ({"best": list(c.best)} if c.best else {})
            | ({"without": list(c.without)} if c.without else {})
            | ({"order": list(c.order)} if c.order else {})
            for c in self.columns
        ]
        rows = {axis: list(values) for axis, values in self.rows.items()}
        data = {"parameters": dict(self.parameters), "rows": rows, "columns": columns, "digits": self.digits}
        return data | ({"symbols": list(self.symbols)} if self.symbols else {})

    def points(self) -> list[dict[str, str]]:
        """Return the rows as values by axis."""
        return [dict(zip(self.rows, values, strict=True)) for values in product(*self.rows.values())]

    def targets(self, request: Request) -> Iterator[tuple[Model, Quantity]]:
        """Yield the models and quantities that a column computes over all rows."""
        for model in request.models(self.rows):
            for quantity in [request.quantity] if request.quantity else self.rows["quantity"]:
                yield find(model), find(model).quantity(quantity)

    def given(self, request: Request, model: Model, point: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters of a cell: shared ones and axes where the model has them, then the column's own."""
        shared = {**self.parameters, **{axis: x for axis, x in point.items() if axis not in ("index", *NAMING)}}
        return {n: x for n, x in shared.items() if takes(request, model, n)} | dict(request.parameters)


def takes(request: Request, model: Model, name: str) -> bool:
    """Return whether a shared value of this name reaches the model of a column."""
    best = request.best is not None and request.best[0] == name
    own = name in request.parameters or name in request.without or best
    return not own and any(name in (p.name, p.symbol) for p in model.parameters)


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
    from proofs_check.tables.reader import Reader

    path = recipes().get(name)
    if path is None and not name.endswith(".toml"):
        near = difflib.get_close_matches(name[:80], recipes(), n=3)
        hint = f"did you mean {', '.join(near)}? " if near else ""
        raise InputError(
            f"table {name[:80]!r} is not known; {hint}`exaq table` lists all; a specification of your own is a .toml"
            " file"
        )
    place = path or Path(name)
    data = read_document(place)
    return Reader(place.stem, place.name, place.read_text(encoding="utf-8")).spec(data)


def from_text(text: str, name: str = "spec") -> Spec:
    """Return the specification that TOML text spells."""
    from proofs_check.tables.reader import Reader

    return Reader(name, f"{name}.toml", text).spec(parsed(text, f"{name}.toml", toml=True))
