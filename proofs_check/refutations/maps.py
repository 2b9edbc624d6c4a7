"""Maps of where a refuted claim fails, in a slice of two parameters: cells of a box, each with a certified label.

A slice by sign takes its polynomial from the claim's own certificate, which proves that the claim fails where the
polynomial is positive and holds elsewhere; the checker's Bernstein coefficients give its sign on a cell.  The slice of
loads and errors compares certified bounds of the mean queue at two corners of a cell, as both parameters raise it.
"""

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from exactchains.truth import InputError
from proofs_check.check.boxes import Side, shown
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import variable
from proofs_check.refutations.response import mean_queue
from proofs_check.registry import claim

Interval = tuple[Fraction, Fraction]
Cell = tuple[Interval, Interval]  # across, up


CUTS = 3  # of the loads of a cell, where its ends alone do not decide


class Label(enum.Enum):
    """What is certain of the inside of a cell: the claim fails or holds everywhere there, or it does not apply."""

    FAILS = "fails"
    HOLDS = "holds"
    OUTSIDE = "outside"
    UNDECIDED = "not decided"


@dataclass(frozen=True)
class Axis:
    """A parameter and its range."""

    name: str
    says: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class Slice:
    """A box of two parameters of a claim; ``decide`` labels a cell; ``outside`` says why the claim does not apply.

    ``crossed`` says whether the claim applies in a part of a cell only.
    """

    across: Axis
    up: Axis
    decide: Callable[[Cell], Label]
    fixed: str
    outside: str = ""
    crossed: Callable[[Cell], bool] = lambda _: False

    @property
    def box(self) -> Cell:
        return (self.across.low, self.across.high), (self.up.low, self.up.high)

    def cells(self, across: int, up: int) -> list[list[Label]]:
        """Return the labels of equal cells, ``up`` rows of ``across``, the lowest row first."""
        columns, rows = _cut(self.across, across), _cut(self.up, up)
        return [[self.decide((x, y)) for x in columns] for y in rows]

    def refined(self, depth: int) -> Iterator[tuple[Cell, Label]]:
        """Yield cells that cover the box; what is not decided or crossed is cut into four, up to ``depth`` times."""
        yield from self._refined(self.box, depth)

    def _refined(self, cell: Cell, depth: int) -> Iterator[tuple[Cell, Label]]:
        label = self.decide(cell)
        if depth == 0 or not (label is Label.UNDECIDED or self.crossed(cell)):
            yield cell, label
            return
        for y in _halves(cell[1]):
            for x in _halves(cell[0]):
                yield from self._refined((x, y), depth - 1)


def slice_of(name: str) -> Slice | None:
    """Return the slice in which the map of a refuted claim is drawn; None where there is none."""
    return SLICES[name](name) if name in SLICES else None


def known(name: str) -> Slice:
    """Return the slice of a claim that has one.

    Raises
    ------
    InputError
        There is no map of this claim.
    """
    found = slice_of(claim(name).id)
    if found is None:
        raise InputError(f"{name}: no map; refuted claims with a map are {', '.join(SLICES)}")
    return found


def region(name: str) -> str:
    """Return the polynomial that is positive exactly where the claim fails, out of the claim's last statement."""
    first = claim(name).statement().conclusion["parts"][-1]["statements"][0]
    assumed = list(first.get("assume", {}).values())
    if len(assumed) != 1 or (first["claim"][1], assumed[0][1]) != ("<", ">"):
        raise InputError(f"{name}: the last part does not say where it fails")
    return str(assumed[0][0])


def by_sign(text: str, across: str, up: str) -> Callable[[Cell], Label]:
    """Return the labels by the sign of a polynomial: FAILS where it is positive, HOLDS where it is not."""
    names = {name: variable(name) for name in (across, up)}
    f = expression(text, names)
    positive, negative = f.top, (-f).top

    def decide(cell: Cell) -> Label:
        box = {name: Side(low, high) for name, (low, high) in zip(names, cell, strict=True)}
        if shown(positive, box, strict=True):
            return Label.FAILS
        return Label.HOLDS if shown(negative, box, strict=False) else Label.UNDECIDED

    return decide


def three_choices(cell: Cell) -> Label:
    """Label loads (across) and chances of error (up) with three choices: mean response against 1/(1 - load).

    Errors raise the mean response, so that the fewest decide HOLDS and the most FAILS; at stable loads of the cell.
    """
    loads, (few, many) = cell
    if 3 * few * loads[0] >= 1:
        return Label.OUTSIDE
    if _worse(few, loads, CUTS):
        return Label.HOLDS
    return Label.FAILS if _better(many, loads, CUTS) else Label.UNDECIDED


def edge_of_stability(cell: Cell) -> bool:
    """Whether three choices are stable at some points of the cell and have no law at others."""
    (few, many), (low, high) = cell[1], cell[0]
    return 3 * few * low < 1 < 3 * many * high


def _worse(eps: Fraction, loads: Interval, cuts: int) -> bool:
    """Whether random routing is at least as good on all stable ``loads``, by the mean response at the lower end."""
    low, high = loads
    if 3 * eps * low >= 1 or (6 * high <= 1 - 1 / (3 * eps)):  # no law; noisy.dependent.light-traffic
        return True
    if low > 0:
        queue = mean_queue(3, eps, low)
        if high < 1 and queue[0] * (1 - high) >= low:
            return True
        if queue[1] * (1 - low) < low:
            return False
    return cuts > 0 and all(_worse(eps, half, cuts - 1) for half in _halves(loads))


def _better(eps: Fraction, loads: Interval, cuts: int) -> bool:
    """Whether random routing is worse on all ``loads``, by the mean response at the upper end."""
    low, high = loads
    if 3 * eps * high >= 1:
        return False
    queue = mean_queue(3, eps, high)
    if queue[1] * (1 - low) < high:
        return True
    return queue[0] * (1 - high) < high and cuts > 0 and all(_better(eps, half, cuts - 1) for half in _halves(loads))


def _sign(across: Axis, up: Axis, fixed: str) -> Callable[[str], Slice]:
    return lambda name: Slice(across, up, by_sign(region(name), across.name, up.name), fixed)


def _cut(axis: Axis, count: int) -> list[Interval]:
    ends = [axis.low + (axis.high - axis.low) * Fraction(i, count) for i in range(count + 1)]
    return list(pairwise(ends))


def _halves(interval: Interval) -> tuple[Interval, Interval]:
    middle = sum(interval, Fraction(0)) / 2
    return (interval[0], middle), (middle, interval[1])


def _axis(name: str, says: str, low: int | Fraction = 0, high: int | Fraction = 1) -> Axis:
    return Axis(name, says, Fraction(low), Fraction(high))


ACTUAL, DIFFERENTIAL = _axis("p", "p, actual codewords lost"), _axis("d", "d, differential codewords lost")
SLICES: dict[str, Callable[[str], Slice]] = {
    "age.headline.equal-lengths-needed": _sign(ACTUAL, DIFFERENTIAL, "codewords of 2 and 1 uses in turn"),
    "age.headline.iid-needed": _sign(ACTUAL, DIFFERENTIAL, "losses in odd slots only, q = 1"),
    "age.headline.memoryless-decoding-needed": _sign(
        ACTUAL, _axis("d", "d, lost with the unknown bits alone"), "differences in a fixed subspace"
    ),
    "age.markov.gain-lower-bound.asymmetric-window": _sign(
        _axis("a", "a, chance to leave state 0"), _axis("D", "D = p - d", -1), "two states, any b > 0, window {-1,0}"
    ),
    "age.markov.gain-lower-bound.non-reversible": _sign(
        _axis("u", "u, chance to turn forward"), _axis("D", "D = p - d"), "three states, window {-1,0,1}"
    ),
    "noisy.independent.worse-beyond-one-over-d": lambda _: Slice(
        _axis("lam", "load"),
        _axis("eps", "eps, chance of an error", Fraction(1, 3), Fraction(1, 2)),
        three_choices,
        "d = 3, limit of many servers, stable loads",
        "no law: lam >= 1/(3 eps)",
        edge_of_stability,
    ),
}
