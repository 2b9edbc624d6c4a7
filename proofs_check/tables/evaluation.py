"""From a specification to a table: every cell computed, or its reason recorded; nothing is dropped."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from exactchains.enclosure import Enclosure
from exactchains.number import parse
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model
from proofs_check.tables.spec import Request, Spec, has, own
from proofs_check.tables.table import Cell, Column, Table

Progress = Callable[[int, int], None]


def table(spec: Spec, *, progress: Progress | None = None) -> Table:
    """Return the table that a specification asks for.

    Parameters
    ----------
    progress
        Called with (cells done, cells in all) after each cell.

    Guarantee
    ---------
    Every number lies in its cell's enclosure.  A cell that could not be certified, or that does not exist, is there
    with its reason.

    Raises
    ------
    InputError
        No cell of the table exists: the message is the reason for the first.
    """
    points = [dict(zip(spec.rows, values, strict=True)) for values in product(*spec.rows.values())]
    total, rows = len(points) * len(spec.columns), []
    for i, point in enumerate(points):
        row = [_input(value) for value in point.values()]
        for j, request in enumerate(spec.columns):
            row.append(cell(spec, request, point))
            if progress:
                progress(i * len(spec.columns) + j + 1, total)
        rows.append(tuple(row))
    columns = (*(_axis(spec, name) for name in spec.rows), *(_column(spec, request) for request in spec.columns))
    found = Table(
        spec.name, spec.title, columns, tuple(rows), spec.digits, spec.notation, spec.papers, tuple(_notes(spec)),
        spec.plain(),
    )  # fmt: skip
    if not found.has_values and not found.undecided:
        raise InputError(f"{spec.name}: no cell of this table exists: {rows[0][-1].note}")
    return found


def cell(spec: Spec, request: Request, point: Mapping[str, str]) -> Cell:
    """Return one cell: the value of a quantity at one point."""
    model = find(request.model)
    words = given(spec, request, point)
    index = request.index or point.get("index")
    indexed = model.quantity(request.quantity).indexed
    try:
        thing = model.make(words)
        (result,) = model.results(thing, [request.quantity], [int(index or 0)] if indexed else [0], spec.digits)
    except PrecisionExhausted as error:
        return Cell(status="undecided", note=str(error))
    except Undecided as error:
        return Cell(status="undecided", note=f"could not certify {spec.digits} digits: {error}")
    except (DoesNotExist, InputError) as error:
        return Cell(note=str(error))
    e = result.enclosure
    short = "" if e.has_digits(spec.digits) else f"could not certify {spec.digits} digits: {e.certain_digits or 0}"
    return Cell.number(e, method=result.method, note=short)


def given(spec: Spec, request: Request, point: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of one cell: shared ones and axes where the model has them, then the column's own."""
    model = find(request.model)
    shared = {**spec.parameters, **{axis: x for axis, x in point.items() if axis != "index"}}
    return {n: x for n, x in shared.items() if has(model, n) and not own(request, n)} | dict(request.parameters)


def _input(value: str) -> Cell:
    try:
        return Cell.number(Enclosure.exact(parse(value)))
    except InputError:
        return Cell(formula=value, status="input")


def _axis(spec: Spec, name: str) -> Column:
    if name == "index":
        return Column("index", "index", "index", meaning="index of the quantity")
    model = next(find(c.model) for c in spec.columns if has(find(c.model), name))
    p = model.parameter(name)
    return Column(p.name, p.name, p.symbol, p.unit, p.meaning)


def _column(spec: Spec, request: Request) -> Column:
    q = find(request.model).quantity(request.quantity)
    fixed = {n: x for n, x in given(spec, request, {}).items() if n not in spec.rows}
    return Column(request.heading, q.name, q.symbol, q.unit, q.meaning, request.model, fixed, request.form)


def _notes(spec: Spec) -> Iterator[str]:
    """Say what holds for all columns, and then what each column has of its own."""
    if spec.note:
        yield spec.note
    if spec.parameters:
        yield "For all columns: " + ", ".join(f"{name} = {x}" for name, x in spec.parameters.items()) + "."
    for request in spec.columns:
        extra = "".join(f", {name} = {x}" for name, x in request.parameters.items())
        yield f"{request.heading}: {request.quantity} of {request.model}{extra}."
    models: dict[str, Model] = {c.model: find(c.model) for c in spec.columns}
    yield from dict.fromkeys(line for m in models.values() for line in m.conventions)


def with_settings(spec: Spec, *, digits: int | None, notation: str | None) -> Spec:
    """Return the specification with other digits or another notation, where given."""
    changed = {"digits": digits, "notation": notation}
    return replace(spec, **{key: x for key, x in changed.items() if x is not None})
