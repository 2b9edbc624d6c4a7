"""A table before it is text: columns with quantity, symbol, unit; cells that hold a number or say why they do not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exactchains.enclosure import Enclosure

NOTATIONS = {
    "truncated": "Every digit shown is certain; further digits are cut off, not rounded.",
    "bracket": "1.234(5) means within 5 units of the last digit shown, proved; a number without brackets is exact.",
    "interval": "[a, b] means proved to lie between a and b, both included; a single number is exact.",
}
NEAR = "Where no digits are common to all values allowed, 1.000(1) means within 1 unit of the last digit shown."

FRACTIONS = "Whole numbers and fractions are exact."
ROOTS = "Whole numbers, fractions and numbers with a square root are exact."


@dataclass(frozen=True)
class Column:
    """One column.  ``given`` marks a column of inputs; ``model`` is empty where it differs from row to row."""

    heading: str
    quantity: str
    symbol: str
    unit: str = ""
    meaning: str = ""
    model: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    form: str = "decimal"  # "fraction": exact values as p/q while that is short; "root": also square roots; "integer"
    given: bool = False


def brief(meaning: str) -> str:
    """Return the first part of a meaning.

    Examples
    --------
    >>> brief("mean time in system of a job (of those let in)")
    'mean time in system of a job'
    """
    return meaning.partition(";")[0].partition(":")[0].partition(" (")[0]


@dataclass(frozen=True)
class Cell:
    """One cell: a number between exact ends, a formula, or, where there is none, the reason.

    ``status`` is that of the enclosure, or ``none`` (no such value exists) or ``undecided`` (not certified).
    """

    enclosure: Enclosure | None = None
    formula: Any = None
    status: str = "none"
    method: str = ""
    note: str = ""

    @classmethod
    def number(cls, enclosure: Enclosure, *, method: str = "", digits: int = 0) -> "Cell":
        """Return a cell with a number, and a note when fewer than ``digits`` digits of it are certain."""
        short = "" if enclosure.has_digits(digits) else f"could not certify {digits} digits: {enclosure.certain_digits}"
        return cls(enclosure, None, enclosure.status, method, short)


@dataclass(frozen=True)
class Table:
    """Columns and rows of cells; ``inputs`` is the specification they follow from, as plain data."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int
    notation: str = "truncated"
    papers: tuple[str, ...] = ()
    conventions: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The reasons why some cells are undecided, or certain to fewer digits than asked."""
        cells = [cell for row in self.rows for cell in row]
        return tuple(
            dict.fromkeys(c.note for c in cells if c.status == "undecided" or (c.enclosure is not None and c.note))
        )

    @property
    def has_values(self) -> bool:
        """Whether any cell that is no input holds a value."""
        return any(
            cell.enclosure is not None or cell.formula is not None
            for row in self.rows
            for column, cell in zip(self.columns, row, strict=True)
            if not column.given
        )

    def text(self, form: str = "text") -> str:
        """Return the table as ``text``, ``latex``, ``md``, ``csv``, ``html`` or ``json``."""
        from proofs_check.tables.sheet import written

        return written(self, form)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: exact values as Fraction, others as text of certain digits; needs pandas.

        Numbers never pass through a float.
        """
        from proofs_check.tables.frame import frame

        return frame(self)

    def __str__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what a notebook may show."""
        from proofs_check.tables.sheet import fragment, sheet

        return {"text/plain": self.text(), "text/html": fragment(sheet(self)), "text/markdown": self.text("md")}
