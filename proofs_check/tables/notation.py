"""Text of cells in the three notations.  Integers and exact fractions only: no float ever formats a cell."""

from flint import fmpq

from exactchains import decimals
from exactchains.domain import Rigor
from exactchains.enclosure import SHORT, Enclosure
from proofs_check.tables.table import Cell, Column

ABSENT = {"none": "none", "undecided": "undecided"}
ESTIMATE_DIGITS = 6


def cell_text(cell: Cell, column: Column, *, digits: int, notation: str) -> str:
    """Return the text of a cell: parameters as they are, values with at most ``digits`` certain digits."""
    e = cell.enclosure
    if e is None:
        return str(cell.formula) if cell.formula is not None else ABSENT[cell.status]
    if column.given or column.form == "integer":
        return parameter_text(e.lower)
    if column.form == "root" and cell.formula is not None:
        return str(cell.formula)
    if column.form in ("fraction", "root") and e.is_exact and len(str(e.lower)) <= SHORT:
        return str(e.lower)
    return number_text(e, digits=digits, notation=notation)


def number_text(e: Enclosure, *, digits: int, notation: str) -> str:
    """Return an enclosure in one of the notations; what is not certain to one digit is an interval.

    Examples
    --------
    >>> third = Enclosure.exact("1/3")
    >>> [number_text(third, digits=4, notation=n) for n in ("truncated", "bracket", "interval")]
    ['0.3333', '0.3333(1)', '[0.3333, 0.3334]']
    >>> number_text(Enclosure.exact("1/4"), digits=4, notation="bracket")
    '0.2500'
    """
    if e.rigor is Rigor.ESTIMATE:
        return e.digits(min(digits, ESTIMATE_DIGITS))
    certain = e.certain_digits
    shown = digits if certain is None else min(digits, certain)
    if shown == 0 or notation == "interval":
        low, high = (decimals.outward(x, max(shown, 3), up=up) for x, up in ((e.lower, False), (e.upper, True)))
        return low if low == high else f"[{low}, {high}]"
    return e.digits(shown) if notation == "truncated" else e.bracket(shown)


def parameter_text(x: fmpq) -> str:
    """Return an input as the decimal it is when that is short, else as a fraction."""
    below = int(x.q)
    for places in range(7):
        if 10**places % below == 0:
            whole = int(x.p) * (10**places // below)
            return decimals.positional(whole, places, 21) if abs(whole) < 10**20 else str(x)
    return str(x)


def letter(i: int) -> str:
    """Return the mark of note i: a, b, .., z, aa, ab, .."""
    return chr(97 + i) if i < 26 else f"{chr(97 + i // 26 - 1)}{chr(97 + i % 26)}"
