"""From a specification to a table: every cell computed, or its reason recorded; nothing is dropped."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

from exactchains.enclosure import Enclosure
from exactchains.number import parse
from exactchains.spread import spread
from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.catalogue import find
from proofs_check.catalogue.design import best_parameter
from proofs_check.catalogue.model import Model, Quantity
from proofs_check.store.store import Store
from proofs_check.tables.closed_forms import closed_form
from proofs_check.tables.ordering import ordered
from proofs_check.tables.recall import Target, learn, recalled
from proofs_check.tables.root import stability_root
from proofs_check.tables.spec import NAMING, Request, Spec, takes
from proofs_check.tables.spec import spec as named_spec
from proofs_check.tables.table import Cell, Column, Table, brief

Progress = Callable[[int, int], None]


def table(
    asked: Spec | str,
    *,
    progress: Progress | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
) -> Table:
    """Return the table that a specification asks for.

    Parameters
    ----------
    asked
        A specification, the name of a recipe, or the path of a TOML file.
    progress
        Called with (cells done, cells in all) after each cell.
    store
        Numbers that it knows are not computed again; it learns the others.
    executor
        Any executor of processes (:func:`exactchains.spread.spread`); cells are computed there, the result is the same.

    Guarantee
    ---------
    Every number lies in its cell's enclosure.  A cell that could not be certified, or that does not exist, is there
    with its reason.

    Raises
    ------
    InputError
        No cell of the table exists: the message is the reason for the first.

    Examples
    --------
    >>> made = table("P5.periodic-closed-forms")
    >>> print(made.rows[1][2].formula)
    (2*p+d-p*d)/2
    """
    spec = named_spec(asked) if isinstance(asked, str) else asked
    points = spec.points()
    work = [(request, point) for point in points for request in spec.columns]
    if store is not None and executor is not None and not spec.symbols:
        numbers = [place for place in work if not (place[0].best or place[0].order)]
        learn(store, [_target(spec, *place) for place in numbers], spec.digits, executor)
    cells = spread(partial(_at, spec, store), work, executor if store is None else None)
    rows = []
    for i, point in enumerate(points):
        row = [_input(value) for value in point.values()]
        for j in range(len(spec.columns)):
            row.append(next(cells))
            if progress:
                progress(i * len(spec.columns) + j + 1, len(work))
        rows.append(tuple(row))
    found = Table(
        spec.name,
        spec.title,
        (*(_axis(spec, name) for name in spec.rows), *(_column(spec, request) for request in spec.columns)),
        tuple(rows),
        spec.digits,
        spec.notation,
        spec.papers,
        tuple(_notes(spec)),
        spec.plain(),
    )
    if not found.has_values and not found.undecided:
        raise InputError(f"{spec.name}: no cell of this table exists: {rows[0][-1].note}")
    return found


def _at(spec: Spec, store: Store | None, place: tuple[Request, Mapping[str, str]]) -> Cell:
    return cell(spec, *place, store)


def _target(spec: Spec, request: Request, point: Mapping[str, str]) -> Target:
    """Return what a cell asks for: model, parameters, quantity, index."""
    model = find(request.model or point["model"])
    quantity = model.quantity(request.quantity or point["quantity"])
    index = int(request.index or point.get("index") or 0)
    return model, spec.given(request, model, point), quantity, index


def cell(spec: Spec, request: Request, point: Mapping[str, str], store: Store | None = None) -> Cell:
    """Return one cell: a value, a closed form, or the best integer, at one point."""
    if request.order:
        return _order(spec, request, point, store)
    model, words, quantity, index = _target(spec, request, point)
    try:
        if spec.symbols:
            symbols = [name for name in spec.symbols if takes(request, model, name)]
            form = closed_form(model, words, quantity.name, index=index, symbols=symbols)
            return Cell(None, form, "exact", "closed form")
        if request.best:
            return _best(model, words, request, quantity.name)
        found = _number(model, words, quantity, index, spec.digits, store)
        return _rooted(found, model, words) if request.form == "root" and quantity.name == "stability_limit" else found
    except Undecided as error:
        return Cell(status="undecided", note=str(error))
    except (DoesNotExist, InputError) as error:
        return Cell(note=str(error))


def _order(spec: Spec, request: Request, point: Mapping[str, str], store: Store | None) -> Cell:
    """Return the names of the models, the least of the quantity first."""
    targets = [_target(spec, replace(request, model=name), point) for name in request.order]

    def value(name: str, digits: int) -> Enclosure | None:
        model, words, quantity, index = targets[request.order.index(name)]
        return _number(model, words, quantity, index, digits, store).enclosure

    try:
        return Cell(None, ordered(request.order, value), "exact", "every neighbour's difference has a certain sign")
    except Undecided as error:
        return Cell(status="undecided", note=str(error))
    except InputError as error:
        return Cell(note=str(error))


def _number(
    model: Model, words: Mapping[str, str], quantity: Quantity, index: int, digits: int, store: Store | None
) -> Cell:
    if store is not None:
        known = recalled(store, (model, words, quantity, index), digits)
        if known is not None:
            return known
    (result,) = model.results(model.make(words), [quantity.name], [index], digits)
    return Cell.number(result.enclosure, method=result.method, digits=digits)


def _rooted(found: Cell, model: Model, words: Mapping[str, str]) -> Cell:
    """Return the cell with its closed form where the number is an irrational root."""
    if found.enclosure is None:
        return found
    return replace(found, formula=stability_root(model.make(words), found.enclosure))


def _best(model: Model, words: Mapping[str, str], request: Request, quantity: str) -> Cell:
    """Return the minimiser, or all of them when several tie exactly."""
    assert request.best is not None
    found = best_parameter(model, words, over=request.best, minimise=quantity).arguments
    method = f"all values from {request.best[1]} to {request.best[2]} compared with certainty"
    if len(found) == 1:
        return Cell.number(Enclosure.exact(found[0]), method=method)
    return Cell(None, ", ".join(map(str, found)), "exact", method)


def _input(value: str) -> Cell:
    try:
        return Cell.number(Enclosure.exact(parse(value)))
    except InputError:
        return Cell(formula=value, status="input")


def _axis(spec: Spec, name: str) -> Column:
    if name == "index":
        (sign, unit), *more = dict.fromkeys(
            (q.index, q.index_unit) for request in spec.columns for _, q in spec.targets(request) if q.indexed
        )
        return Column(name, name, name, given=True) if more else Column(sign, name, sign, unit, given=True)
    if name in NAMING:
        return Column(name, name, name, given=True)
    targets = (model for request in spec.columns for model, _ in spec.targets(request) if takes(request, model, name))
    p = next(targets).parameter(name)
    return Column(p.name, p.name, p.symbol, p.unit, p.meaning, given=True)


def _column(spec: Spec, request: Request) -> Column:
    """Describe a column; what differs from row to row is left empty."""
    targets = list(spec.targets(request))
    fixed: dict[str, str] = {}
    for model, _ in targets:
        fixed |= spec.given(request, model, {})
    names = {model.name for model, _ in targets}
    quantities = {q.name: q for _, q in targets}
    if request.order:
        q = targets[0][1]
        says = f"models from the least {brief(q.meaning)} to the greatest"
        return Column(request.heading, f"order by {q.name}", "", "", says, "", fixed)
    if request.best:
        p = targets[0][0].parameter(request.best[0])
        says = f"{p.meaning} with the least {brief(targets[0][1].meaning)}"
        return Column(request.heading, f"best {p.name}", p.symbol, p.unit, says, "".join(names), fixed, "integer")
    q = next(iter(quantities.values()))
    one = len(quantities) == 1
    return Column(
        request.heading,
        q.name if one else "",
        q.symbol if one else "",
        q.unit if one else "",
        q.meaning if one else "",
        names.pop() if len(names) == 1 else "",
        fixed,
        request.form,
    )


def _notes(spec: Spec) -> Iterator[str]:
    """Say what holds for all columns, what each column has of its own, and the conventions of the models."""
    if spec.note:
        yield spec.note
    if spec.parameters:
        yield "For all columns: " + ", ".join(f"{name} = {x}" for name, x in spec.parameters.items()) + "."
    for request in spec.columns:
        extra = "".join(f", {name} = {x}" for name, x in request.parameters.items())
        extra += "".join(f", without {name}" for name in request.without)
        if request.order and request.quantity:
            yield f"{request.heading}: {', '.join(request.order)} by {request.quantity}, the least first{extra}."
        if request.model and request.quantity:
            least = (
                f"{request.best[0]} from {request.best[1]} to {request.best[2]} with the least " if request.best else ""
            )
            yield f"{request.heading}: {least}{request.quantity} of {request.model}{extra}."
    targets = [target for request in spec.columns for target in spec.targets(request)]
    if "quantity" in spec.rows:
        units = {q.name: f"{q.name}: {q.symbol}, {q.meaning}{f', in {q.unit}' if q.unit else ''}." for _, q in targets}
        yield from units.values()
    yield from dict.fromkeys(line for model, _ in targets for line in model.conventions)


def with_settings(spec: Spec, *, digits: int | None = None, notation: str | None = None) -> Spec:
    """Return the specification with other digits or another notation, where given."""
    changed = {"digits": digits, "notation": notation}
    return replace(spec, **{key: x for key, x in changed.items() if x is not None})  # type: ignore[arg-type]
