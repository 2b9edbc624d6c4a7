"""Tables as pandas data frames, for those who have pandas; no number passes through a float."""

import importlib.util
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactchains.truth import InputError
from proofs_check.tables.notation import cell_text

if TYPE_CHECKING:
    from proofs_check.tables.table import Cell, Column, Table


def frame(table: "Table") -> Any:
    """Return a DataFrame of objects, with the parts of the twin in ``attrs``.

    Exact values are Fractions, inputs too; enclosures are the text of their certain digits; a cell without a value is
    None.  ``attrs["notes"]`` says why.

    Raises
    ------
    InputError
        pandas is not installed.
    """
    if importlib.util.find_spec("pandas") is None:
        raise InputError("to_frame needs pandas; install it with `pip install pandas`")
    import pandas as pd

    from proofs_check.tables.twin import digest

    rows = [[_value(c, column, table) for c, column in zip(row, table.columns, strict=True)] for row in table.rows]
    found = pd.DataFrame(rows, columns=[column.heading for column in table.columns], dtype=object)
    notes = dict.fromkeys(cell.note for row in table.rows for cell in row if cell.note)
    found.attrs = {"title": table.title, "notes": list(notes), "hash": digest(table.inputs)}
    return found


def _value(cell: "Cell", column: "Column", table: "Table") -> Any:
    if cell.formula is not None:
        return str(cell.formula)
    if cell.enclosure is None:
        return None
    if cell.enclosure.is_exact:
        return Fraction(int(cell.enclosure.lower.p), int(cell.enclosure.lower.q))
    return cell_text(cell, column, digits=table.digits, notation=table.notation)
