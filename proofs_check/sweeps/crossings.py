"""Where a certified sign changes: intervals halved between grid points, one search a line, resumed from the store."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.number import parse
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.store import Answer, Question
from proofs_check.store.question import TRANSIENT
from proofs_check.sweeps.spec import Spec, parameters

FEW = 3  # places named in a line
MORE_DIGITS = (1, 2, 4)  # multiples of the digits asked for, tried until the sign is certain

INSIDE = (fmpq(1, 2), fmpq(3, 8), fmpq(5, 8))  # places tried inside an interval, should the first be undecided

Ask = list[Question]
Sign = int | str  # of a difference: -1, 0, 1; or why it is not certain
Search = Generator[Ask, Mapping[str, Answer], list["Bracket | Gap"]]


class _NoLaw(Exception):
    """One of the two quantities does not exist here."""


@dataclass(frozen=True)
class Bracket:
    """An interval of ``over`` at whose ends the difference has the certain signs ``below`` and ``above``.

    Where the quantities are continuous in ``over`` they are equal somewhere inside; equal ends: exactly there, between
    the signs at the nearest values asked for (0: none is certain).  ``note`` says why an interval is wider than asked.
    """

    at: Mapping[str, str]
    over: str
    lower: fmpq
    upper: fmpq
    below: int
    above: int
    note: str = ""

    def __str__(self) -> str:
        place = " ".join(f"{name}={x}" for name, x in self.at.items())
        where = f"= {self.lower}" if self.lower == self.upper else f"in [{self.lower}, {self.upper}]"
        signs = "".join({-1: "-", 0: "?", 1: "+"}[s] for s in (self.below, self.above))
        note = f" ({self.note})" if self.note else ""
        return f"{place}{': ' if place else ''}{self.over} {where}, sign {signs[0]} to {signs[1]}{note}"


@dataclass(frozen=True)
class Gap:
    """Values of ``over`` where the sign is not certain and beside which no change of it was found; ``why`` of each."""

    at: Mapping[str, str]
    over: str
    why: Mapping[fmpq, str]

    def __str__(self) -> str:
        place = " ".join(f"{name}={x}" for name, x in self.at.items())
        listed = [f"{x} ({why})" for x, why in sorted(self.why.items())]
        more = f" and {len(listed) - FEW} more" if len(listed) > FEW else ""
        return f"{place}{': ' if place else ''}sign not certain at {self.over} = {', '.join(listed[:FEW])}{more}"


def searches(spec: Spec) -> list[Search]:
    """Return one search for every line of the grid along ``over``."""
    if spec.boundary is None:
        raise InputError("this sweep has no [boundary]")
    over = spec.boundary.over
    axis = next(axis for axis in spec.axes if list(axis) == [over])
    rest = Spec(spec.name, spec.models, spec.quantities, tuple(a for a in spec.axes if a is not axis))
    values = sorted(parse(x, over) for x in axis[over])
    return [_search(spec, at, values) for at in rest.points()]


def _search(spec: Spec, at: Mapping[str, str], values: list[fmpq]) -> Search:
    """Find the sign at every value, then halve every interval over which it changes.

    On a line without a change the edges of existence are approached: a mean may pass the other one just before them.
    """
    decided: list[tuple[fmpq, int | None]] = []
    unsure: dict[fmpq, str] = {}
    for x in values:
        try:
            sign = yield from _sign(spec, at, x)
        except _NoLaw:
            decided.append((x, None))  # nothing is concluded across it
        else:
            if isinstance(sign, str):
                unsure[x] = sign
            else:
                decided.append((x, sign))
    found = []
    for i, (x, s) in enumerate(decided):
        if s == 0:
            sides = []
            for beside in (decided[max(i - 1, 0)], decided[min(i + 1, len(decided) - 1)]):
                sides.append(beside[1] or (yield from _beside(spec, at, x, beside[0])))
            found.append(Bracket(at, _over(spec), x, x, *sides))
    for (x, s), (y, t) in pairwise(decided):
        if s is not None and t is not None and s * t < 0:
            unsure = {z: why for z, why in unsure.items() if not x < z < y}
            found.append((yield from _halved(spec, at, (x, s), (y, t))))
    edges = [(a, b) if a[1] else (b, a) for a, b in pairwise(decided) if (a[1] is None) != (b[1] is None)]
    for (x, s), (y, _) in edges if not found else []:
        found += (yield from _edge(spec, at, (x, s), y, unsure)) if s else []
    gaps = [Gap(at, _over(spec), unsure)] if unsure else []
    return [*sorted(found, key=lambda b: b.lower), *gaps]


def _edge(
    spec: Spec, at: Mapping[str, str], inside: tuple[fmpq, int], outside: fmpq, unsure: dict[fmpq, str]
) -> Generator[Ask, Mapping[str, Answer], list[Bracket]]:
    """Look for a change of sign between a value with a law and one without, up to the edge where the law ends.

    Values without a certain sign are added to ``unsure``.
    """
    (x, s), y = inside, outside
    while abs(y - x) > _width(spec):
        middle = _middle(spec, x, y, fmpq(1, 2))
        try:
            sign = yield from _sign(spec, at, middle)
        except _NoLaw:
            y = middle
            continue
        if isinstance(sign, str):
            unsure[middle] = sign
            y = middle
            continue
        if sign == 0:
            t = yield from _beside(spec, at, middle, y)
            return [Bracket(at, _over(spec), middle, middle, *((s, t) if x < middle else (t, s)))]
        if sign != s:
            low, high = sorted([(x, s), (middle, sign)])
            return [(yield from _halved(spec, at, low, high))]
        x = middle
    return []


def _beside(spec: Spec, at: Mapping[str, str], x: fmpq, y: fmpq) -> Generator[Ask, Mapping[str, Answer], int]:
    """Return the first certain sign on the way from y to the zero at x; 0: none as close as was asked for."""
    while abs(y - x) > _width(spec):
        y = _middle(spec, x, y, fmpq(1, 2))
        try:
            sign = yield from _sign(spec, at, y)
        except _NoLaw:
            continue
        if isinstance(sign, int) and sign:
            return sign
    return 0


def _halved(
    spec: Spec, at: Mapping[str, str], low: tuple[fmpq, int], high: tuple[fmpq, int]
) -> Generator[Ask, Mapping[str, Answer], Bracket]:
    assert spec.boundary is not None
    (x, s), (y, t), note, over = low, high, "", spec.boundary.over
    while y - x > _width(spec):
        for share in INSIDE[:1] if _whole(spec) else INSIDE:
            middle = _middle(spec, x, y, share)
            try:
                sign = yield from _sign(spec, at, middle)
            except _NoLaw:
                return Bracket(at, over, x, y, s, t, f"wider than asked: no law at {over}={middle}")
            if isinstance(sign, int):
                break
        if isinstance(sign, str):
            note = f"wider than asked: {sign} at {over}={middle}"
            break
        if sign == 0:
            x = y = middle
            break
        x, y = (middle, y) if sign == s else (x, middle)
    return Bracket(at, over, x, y, s, t, note)


def _sign(spec: Spec, at: Mapping[str, str], x: fmpq) -> Generator[Ask, Mapping[str, Answer], Sign]:
    """Return the certain sign of the difference at one value of ``over``, or the word why there is none."""
    for factor in MORE_DIGITS:
        asked = _questions(spec, {**at, _over(spec): str(x)}, spec.digits * factor)
        known = yield asked
        ends = [known[q.key].vouched for q in asked]
        if any(known[q.key].status == "refused" for q in asked):
            raise _NoLaw
        for q in asked:
            if known[q.key].status in TRANSIENT:
                return known[q.key].status  # more digits would take longer still
        first = ends[0]
        assert spec.boundary is not None
        second = ends[1] if len(ends) > 1 else Enclosure.exact(spec.boundary.value)
        if first is not None and second is not None:
            if first.lower > second.upper:
                return 1
            if first.upper < second.lower:
                return -1
            if first.lower == first.upper == second.lower == second.upper:
                return 0
    return "undecided"


def _questions(spec: Spec, point: Mapping[str, str], digits: int) -> list[Question]:
    b, words = spec.boundary, spec.words(point)
    assert b is not None
    index = spec.indices[0] if spec.indices else None
    model = find(spec.models[0])
    first = Question(model.name, parameters(model, words, strict=True), spec.quantities[0], index, digits)
    if not b.against:
        return [first]
    other = find(b.against)
    name = b.quantity or spec.quantities[0]
    own = parameters(other, {**words, **b.parameters}, strict=False)
    return [first, Question(other.name, own, name, index if other.quantity(name).indexed else None, digits)]


def _whole(spec: Spec) -> bool:
    return find(spec.models[0]).parameter(_over(spec)).kind == "integer"


def _width(spec: Spec) -> fmpq:
    assert spec.boundary is not None
    return fmpq(1) if _whole(spec) else parse(spec.boundary.to)


def _middle(spec: Spec, x: fmpq, y: fmpq, share: fmpq) -> fmpq:
    middle = x + (y - x) * share
    return fmpq(middle.floor()) if _whole(spec) else middle


def _over(spec: Spec) -> str:
    assert spec.boundary is not None
    return spec.boundary.over
