"""A table as text cells, and its writers: plain text, Markdown, CSV, HTML, LaTeX.  Same table, same bytes."""

import csv
import html
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from proofs_check.report.mathml import mathml
from proofs_check.tables import latex
from proofs_check.tables.formula import Formula
from proofs_check.tables.notation import cell_text, letter
from proofs_check.tables.root import Root
from proofs_check.tables.table import FRACTIONS, NEAR, NOTATIONS, ROOTS, Cell, Column, Table

FORMATS = {"text": ".txt", "latex": ".tex", "md": ".md", "csv": ".csv", "html": ".html", "json": ".json"}
TABLE_STYLE = (
    "body{font-family:sans-serif}figure{margin:1rem;overflow-x:auto}table{border-collapse:collapse}"
    "caption{font-weight:bold;text-align:left;padding:.5rem 0}th,td{padding:.2rem .6rem;text-align:right}"
    ".words{text-align:left}td{font-variant-numeric:tabular-nums;white-space:nowrap}"
    "thead{border-bottom:1px solid}figcaption{margin-top:.6rem}"
)
_BRACKET = re.compile(r"[0-9]\([0-9]+\)")
FIGURE_SPACE, POINT_SPACE = "\u2007", "\u2008"


@dataclass(frozen=True)
class Sheet:
    """Texts: title, two lines of heading a column, cells, notes.  A cell with a note ends in its mark: ``none [a]``."""

    title: str
    columns: tuple[Column, ...]
    cells: tuple[tuple[str, ...], ...]
    marks: tuple[tuple[str, ...], ...]
    formulas: tuple[tuple[Formula | Root | None, ...], ...]
    notes: tuple[str, ...]
    reasons: tuple[str, ...]

    def is_words(self, j: int) -> bool:
        """Return whether column j holds no number: it is set flush left."""
        return not any(_tail(row[j]) is not None or row[j][:1] == "[" for row in self.cells)

    @property
    def subheadings(self) -> list[str]:
        """Symbol and unit of each column."""
        return [
            ", ".join(filter(None, ("" if c.given or c.symbol == c.heading else c.symbol, c.unit)))
            for c in self.columns
        ]


def sheet(table: Table) -> Sheet:
    """Return the texts of a table, with the notes that say how to read them."""
    reasons: dict[str, str] = {}
    for row in table.rows:
        for cell in row:
            if cell.note:
                reasons.setdefault(cell.note, letter(len(reasons)))
    cells = tuple(
        tuple(
            cell_text(cell, column, digits=table.digits, notation=table.notation)
            for column, cell in zip(table.columns, row, strict=True)
        )
        for row in table.rows
    )
    marks = tuple(tuple(reasons.get(cell.note, "") for cell in row) for row in table.rows)
    notes = [NOTATIONS[table.notation]] if any(_is_number(c) for row in table.rows for c in row) else []
    if table.notation == "truncated" and any(_BRACKET.search(text) for row in cells for text in row):
        notes.append(NEAR)
    forms = {column.form for column in table.columns}
    if forms & {"fraction", "root"}:
        notes.append(ROOTS if "root" in forms else FRACTIONS)
    if any("~" in text for row in cells for text in row):
        notes.append("~ marks an estimate: nothing vouches for its digits.")
    formulas = tuple(
        tuple(c.formula if isinstance(c.formula, Formula | Root) else None for c in row) for row in table.rows
    )
    return Sheet(table.title, table.columns, cells, marks, formulas, (*notes, *table.conventions), tuple(reasons))


def written(table: Table, form: str) -> str:
    """Return a table in one of :data:`FORMATS`, ending in a newline."""
    if form == "json":
        from proofs_check.tables.twin import twin_text

        return twin_text(table)
    return {"text": text, "md": markdown, "csv": comma_separated, "html": page, "latex": latex.document}[form](
        sheet(table)
    )


def text(s: Sheet) -> str:
    """Return plain text, numbers aligned at the decimal point."""
    columns = [aligned(column) for column in _columns(s)]
    heads = [[c.heading, sub] for c, sub in zip(s.columns, s.subheadings, strict=True)]
    widths = [max(map(len, [*cells, *head])) for cells, head in zip(columns, heads, strict=True)]
    heads_by_line = [line for line in zip(*heads, strict=True) if any(line)]
    lines = [_spread(s, line, widths) for line in heads_by_line]
    lines.append("  ".join("-" * w for w in widths))
    lines += [_spread(s, row, widths) for row in zip(*columns, strict=True)]
    return "\n".join([s.title, "", *lines, "", *_footer(s), ""])


def _spread(s: Sheet, cells: Iterable[str], widths: list[int]) -> str:
    padded = (f"{c:<{w}}" if s.is_words(j) else f"{c:>{w}}" for j, (c, w) in enumerate(zip(cells, widths, strict=True)))
    return "  ".join(padded).rstrip()


def markdown(s: Sheet) -> str:
    """Return a Markdown table; bars and markup in outside text are escaped."""
    columns = [[_md(c) for c in aligned(column)] for column in _columns(s)]
    heads = [
        _md(c.heading) + (f" ({_md(sub)})" if sub else "") for c, sub in zip(s.columns, s.subheadings, strict=True)
    ]
    widths = [max(len(head), 3, *map(len, cells)) for cells, head in zip(columns, heads, strict=True)]
    words = [s.is_words(j) for j in range(len(columns))]
    rule = [":" + "-" * (w - 1) if left else "-" * (w - 1) + ":" for w, left in zip(widths, words, strict=True)]
    rows = [heads, *zip(*columns, strict=True)]
    lines = [
        _bars([f"{c:<{w}}" if left else f"{c:>{w}}" for c, w, left in zip(row, widths, words, strict=True)])
        for row in rows
    ]
    return "\n".join(
        [f"**{_md(s.title)}**", "", lines[0], _bars(rule), *lines[1:], "", *(f"{_md(x)}  " for x in _footer(s)), ""]
    )


def comma_separated(s: Sheet) -> str:
    """Return CSV: one line of headings; a cell without a value says why."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [f"{c.heading} [{sub}]" if sub else c.heading for c, sub in zip(s.columns, s.subheadings, strict=True)]
    writer.writerow(map(_inert, heads))
    by_mark = {letter(i): reason for i, reason in enumerate(s.reasons)}
    for row, marks in zip(s.cells, s.marks, strict=True):
        writer.writerow(f"{c}: {by_mark[m]}" if m else c for c, m in zip(row, marks, strict=True))
    return out.getvalue()


def page(s: Sheet) -> str:
    """Return an HTML page with the table."""
    head = f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{html.escape(s.title)}</title>'
    return f"{head}\n<style>{TABLE_STYLE}</style>\n{fragment(s)}</html>\n"


def fragment(s: Sheet) -> str:
    """Return an HTML table element with caption and notes; numbers line up at the decimal point."""
    lines = [
        '<figure class="exaq-table" tabindex="0">',
        "<table>",
        f"<caption>{html.escape(s.title)}</caption>",
        "<thead><tr>",
    ]
    for column, sub in zip(s.columns, s.subheadings, strict=True):
        small = f"<br><small>{html.escape(sub)}</small>" if sub else ""
        hint = f' title="{html.escape(column.meaning)}"' if column.meaning else ""
        kind = ' class="words"' if s.is_words(len(lines) - 4) else ""
        lines.append(f'<th scope="col"{kind}{hint}>{html.escape(column.heading)}{small}</th>')
    lines.append("</tr></thead>\n<tbody>")
    rows = zip(*(aligned(column, FIGURE_SPACE, POINT_SPACE) for column in _columns(s)), strict=True)
    for row, formulas in zip(rows, s.formulas, strict=True):
        cells = (_td(c, f, left=s.is_words(j)) for j, (c, f) in enumerate(zip(row, formulas, strict=True)))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines.append("</tbody>\n</table>")
    notes = "<br>\n".join(html.escape(line) for line in _footer(s))
    return "\n".join([*lines, f"<figcaption>{notes}</figcaption>", "</figure>", ""])


def _td(cell: str, formula: Formula | Root | None, *, left: bool) -> str:
    kind = ' class="words"' if left else ""
    return f"<td{kind}>{html.escape(cell) if formula is None else mathml(formula.latex)}</td>"


def aligned(cells: list[str], space: str = " ", point: str = " ") -> list[str]:
    """Return numbers padded on the right so that their decimal points stand in one column; words stay as they are."""
    tails = [_tail(cell) for cell in cells]
    longest = max((t for t in tails if t is not None), key=len, default="")
    padded = []
    for cell, tail in zip(cells, tails, strict=True):
        missing = 0 if tail is None else len(longest) - len(tail)
        pad = (point + space * (missing - 1)) if missing and not tail else space * missing
        padded.append(cell + pad)
    return padded


def _tail(cell: str) -> str | None:
    """Return what follows the whole part of a plain number, or None for any other text."""
    match = re.fullmatch(r"~?-?[0-9]+(\..*)?", cell)
    return None if match is None else match[1] or ""


def _columns(s: Sheet) -> list[list[str]]:
    """Return the cells by column, notes marked."""
    marked = [
        [f"{c} [{m}]" if m else c for c, m in zip(row, marks, strict=True)]
        for row, marks in zip(s.cells, s.marks, strict=True)
    ]
    return [[row[j] for row in marked] for j in range(len(s.columns))]


def _footer(s: Sheet) -> list[str]:
    return [*s.notes, *(f"[{letter(i)}] {reason}" for i, reason in enumerate(s.reasons))]


def _is_number(cell: Cell) -> bool:
    return cell.enclosure is not None and bool(cell.method)


def _md(word: str) -> str:
    return re.sub(r"([\\`*_{}<>#|&$]|~(?![0-9.-])|\](?=[(:\[]))", r"\\\1", word)


def _bars(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _inert(word: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return "'" + word if word[:1] in {*"=+-@\t\r"} else word
