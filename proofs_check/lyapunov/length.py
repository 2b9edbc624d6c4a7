"""Queue lengths as symbols: a rule that compares them splits the cell on which the answer is not the same everywhere.

A routing rule is run once a cell, with a :class:`Length` in place of each number of jobs.  Sums of lengths and
numbers may be compared; nothing else can be done with them, so that what the rule answers holds in the whole cell.
"""

from collections.abc import Callable, Iterable
from typing import Any

from flint import fmpq

from exactchains.number import rational
from exactchains.truth import InputError
from proofs_check.check.cells import Cell


class Split(BaseException):
    """A comparison is open on a cell: it is tried again on the two parts.  No Exception, so that no rule catches it."""

    def __init__(self, label: dict[str, Any], parts: tuple[Cell, Cell]) -> None:
        super().__init__("undecided on this cell")
        self.label, self.parts = label, parts


class Length:
    """The linear form ``row . q + constant`` of the queue lengths q, on a cell."""

    __slots__ = ("cell", "constant", "row")
    __array_priority__ = 1000

    def __init__(self, cell: Cell, row: tuple[Any, ...], constant: Any = 0) -> None:
        self.cell, self.row, self.constant = cell, row, constant

    def _plus(self, other: Any, sign: int) -> "Length":
        if isinstance(other, Length):
            row = tuple(a + sign * b for a, b in zip(self.row, other.row, strict=True))
            return Length(self.cell, row, self.constant + sign * other.constant)
        return Length(self.cell, self.row, self.constant + sign * _number(other))

    def __add__(self, other: Any) -> "Length":
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Length":
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> "Length":
        return (-self)._plus(other, 1)

    def __neg__(self) -> "Length":
        return self * -1

    def __mul__(self, factor: Any) -> "Length":
        if isinstance(factor, Length):
            raise InputError("the rule multiplies queue lengths; drift cells need rules that compare sums of them")
        x = _number(factor)
        return Length(self.cell, tuple(x * a for a in self.row), x * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Length":
        if isinstance(divisor, Length):
            raise InputError("the rule divides by a queue length; drift cells need rules that compare sums of them")
        return self * (1 / fmpq(_number(divisor)))

    def __ge__(self, other: Any) -> bool:
        return _nonnegative(self - other)

    def __le__(self, other: Any) -> bool:
        return _nonnegative(other - self)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    def __eq__(self, other: object) -> bool:
        return self >= other and self <= other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise InputError("the rule looks queue lengths up in a set or table; compare them with <, == instead")

    def __bool__(self) -> bool:
        return not self == 0

    def __index__(self) -> int:
        raise InputError("the rule needs a queue length as a number; drift cells need rules that only compare them")

    __int__ = __float__ = __index__

    def __repr__(self) -> str:
        least = self.cell.least(list(self.row)) + self.constant
        return f"{least} or more" if any(self.cell.along(list(self.row), r) for r in self.cell.columns) else f"{least}"


def _number(x: Any) -> Any:
    """Return a number: integers stay, others become exact fractions."""
    return x if isinstance(x, int) and not isinstance(x, bool) else rational(x, "a number compared with a queue")


def _nonnegative(form: Length) -> bool:
    """Return whether the form is >= 0 in the whole cell (or < 0 there); split the cell when it is neither."""
    cell = form.cell
    least = cell.least(list(form.row)) + form.constant
    slopes = {r: cell.along(list(form.row), r) for r in cell.columns}
    rising, falling = [r for r, x in slopes.items() if x > 0], [r for r, x in slopes.items() if x < 0]
    if not falling and least >= 0:
        return True
    if not rising and least < 0:
        return False
    if rising and falling:  # the steepest first, as Euclid does; among equals the lowest queues, as a merge sort does

        def rank(k: int) -> tuple[Any, int, int]:
            return -abs(slopes[k]), -sum(map(bool, cell.columns[k])), k

        r, s = min(rising, key=rank), min(falling, key=rank)
        raise Split({"order": [r, s]}, cell.order(r, s))
    r = (rising or falling)[0]
    raise Split({"zero": r}, cell.zero(r))


def tree(cell: Cell, law: Callable[[Cell], list[Any]], *, most: int) -> dict[str, Any]:
    """Return the tree of splits under which ``law`` is constant, as certificates spell it.

    Raises
    ------
    InputError
        More than ``most`` cells.
    """
    left = [most]

    def grown(part: Cell, depth: int) -> dict[str, Any]:
        try:
            join = law(part)
        except Split as split:
            if depth >= 200:
                raise InputError(
                    "the rule compares queue lengths with numbers that are too large for drift cells"
                ) from None
            first, second = (grown(half, depth + 1) for half in split.parts)
            return {**split.label, "then": first, "else": second}
        left[0] -= 1
        if left[0] < 0:
            raise InputError(f"more than {most} cells; take fewer servers or smaller thresholds")
        return {"join": [str(x) for x in join]}

    return grown(cell, 0)


def lengths(cell: Cell) -> list[Length]:
    """Return the length of each queue as a symbol on the cell."""
    n = len(cell.base)
    return [Length(cell, tuple(int(i == k) for k in range(n))) for i in range(n)]


def settle(queues: Iterable[Length], *, ordered: bool = False, ties: Iterable[tuple[int, int]] = ()) -> None:
    """Split until every server is busy or idle in the whole cell.

    If wished also until all queues are ordered there, and until pairs ``ties`` are equal everywhere or nowhere.
    """
    listed = list(queues)
    for q in listed:
        _ = q >= 1
    for i, q in enumerate(listed) if ordered else ():
        for other in listed[i + 1 :]:
            _ = q >= other
    for i, k in ties:
        _ = listed[i] == listed[k]
