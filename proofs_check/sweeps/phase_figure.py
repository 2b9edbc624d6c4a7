"""A phase diagram out of a store: where the certified sign changes, drawn as bands over another axis of the sweep."""

from collections.abc import Sequence
from pathlib import Path

from flint import fmpq

from exactchains.domain import Rigor
from exactchains.number import nearest_double, parse
from exactchains.truth import InputError, Undecided
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Parameter
from proofs_check.plots.drawing import checked_figure, draw
from proofs_check.plots.figure import MAX_SERIES, Figure, Panel, Point, Series, axis_label, greek
from proofs_check.sweeps.crossings import Bracket
from proofs_check.sweeps.spec import Comparison, Spec


def phase_figure(spec: Spec, found: Sequence[Bracket], path: Path) -> Path:
    """Draw the boundary over the first other axis of the grid, one line for each value of the remaining axes.

    Raises
    ------
    InputError
        There is no other axis, or more than eight lines would be needed.
    Undecided
        Nothing was found.
    """
    if not found:
        raise Undecided("--figure: no boundary was found, so none is drawn; widen the grid or make its steps smaller")
    b, others = checked_phase(spec, path)
    across, *rest = others
    lines: dict[tuple[str, ...], list[Point]] = {}
    seen: dict[tuple[str, ...], int] = {}
    for bracket in found:
        place = tuple(bracket.at[name] for name in others)
        seen[place] = seen.get(place, -1) + 1  # several crossings at one place make several lines
        key = (*place[1:], str(seen[place] + 1))
        lines.setdefault(key, []).append(_point(parse(place[0], across), bracket))
    if len(lines) > MAX_SERIES:
        raise InputError(f"--figure: {len(lines)} lines; at most {MAX_SERIES} can be told apart")
    several = any(key[-1] != "1" for key in lines)
    series = tuple(
        Series(_label(rest, key, several), tuple(sorted(points, key=lambda p: p.x)))
        for key, points in sorted(lines.items())
    )
    model = find(spec.models[0])
    against = f"{b.quantity or spec.quantities[0]} of {b.against}" if b.against else b.value
    title = f"Where {spec.quantities[0]} of {model.name} equals {against}"
    wide = sum(bool(bracket.note) for bracket in found)
    wider = f"{wide} wider than asked; " if wide else ""
    note = (
        _sides(model.name, found) + wider + "the bands hold the change of a certified sign; filled marks: exactly there"
    )
    up, below = (_named(model.parameter(name)) for name in (b.over, across))
    draw(Figure(title, below, (Panel(up, series, False),), False, note=note), path)
    return path


def checked_phase(spec: Spec, path: Path) -> tuple[Comparison, list[str]]:
    """Return the boundary and the other axes; raise before the sweep what would keep it from being drawn.

    Raises
    ------
    InputError
        There is no boundary or no other axis, or the file is no figure.
    """
    checked_figure(path)
    b = spec.boundary
    others = [next(iter(axis)) for axis in spec.axes if b is None or list(axis) != [b.over]]
    if b is None or not others:
        raise InputError("--figure draws a [boundary] over another axis of [grid]; add one")
    return b, others


def _sides(name: str, found: Sequence[Bracket]) -> str:
    """Return in words on which side of the lines the model is smaller, where it is the same side everywhere."""
    signs = {(b.below, b.above) for b in found}
    words = {(-1, 1): "smaller below a line, larger above", (1, -1): "larger below a line, smaller above"}
    return f"{name}: {words[signs.pop()]};\n" if len(signs) == 1 and signs <= set(words) else ""


def _point(x: fmpq, bracket: Bracket) -> Point:
    rigor = Rigor.EXACT if bracket.lower == bracket.upper else Rigor.ENCLOSED
    at, lower, upper = (nearest_double(v) for v in (x, bracket.lower, bracket.upper))
    return Point(at, lower, upper, rigor)


def _label(names: Sequence[str], key: tuple[str, ...], several: bool) -> str:
    words = [greek(f"{name} = {x}") for name, x in zip(names, key, strict=False)]
    return ", ".join([*words, *([f"crossing {key[-1]}"] if several else [])]) or "boundary"


def _named(p: Parameter) -> str:
    return axis_label(p.name, p.symbol, p.meaning, p.unit)
