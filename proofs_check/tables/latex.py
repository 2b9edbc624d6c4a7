"""LaTeX tables with booktabs and siunitx columns; everything from outside is escaped."""

import re
import textwrap
from typing import TYPE_CHECKING

from proofs_check.tables.notation import letter

if TYPE_CHECKING:
    from proofs_check.tables.sheet import Sheet
    from proofs_check.tables.table import Column

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''",
}  # fmt: skip
SIGNS = {  # as mathematics, so that pdfLaTeX prints them too
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ζ": r"\zeta", "η": r"\eta",
    "θ": r"\theta", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho",
    "σ": r"\sigma", "τ": r"\tau", "φ": r"\varphi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma",
    "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi",
    "Ω": r"\Omega", "∞": r"\infty", "→": r"\to", "←": r"\leftarrow", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "≈": r"\approx", "−": "-", "√": r"\surd", "∈": r"\in", "∑": r"\sum", "∫": r"\int", "∂": r"\partial",
}  # fmt: skip
LATIN = re.compile("[\u0000-\u017f\u2010-\u203a\u20ac]*")  # what pdfLaTeX prints as it stands, near enough
NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:\(([0-9]+)\))?(?:e(-?[0-9]+))?")
GREEK = {"eps": r"\varepsilon", "alpha": r"\alpha", "lam": r"\lambda", "lambda": r"\lambda", "mu": r"\mu"}
UPRIGHT = {"E", "Var", "P", "peak"}
HEADER = r"% needs \usepackage{{booktabs,graphicx,{}siunitx}}"
FOREIGN = "% has characters that pdfLaTeX does not know: compile with LuaLaTeX or XeLaTeX and a font that has them"
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"  # scale down what is too wide, nothing else
NARROW, LONG = 12, 60  # characters: least width of a heading; longest line of a formula
ROWS, NOTE, LEAST = 40, 100, 12  # rows of a page; characters of notes that take the room of one; rows at least
SIDEWAYS, ACROSS = 22, 130  # the same of a page turned by a quarter
WIDE, DIGIT, APART, POWER = 450, 5, 12, 20  # points: width from which a table is turned; parts of that width


def document(s: "Sheet") -> str:
    """Return a LaTeX table: one ``S`` column for plain numbers, ``c`` for fractions, intervals and words.

    What is too long for a page goes on in further tables with the same heading; notes stand below the last.  What would
    have to be scaled by more than a fifth or so is turned by a quarter (``sidewaystable``).
    """
    columns = [[row[j] for row in s.cells] for j in range(len(s.columns))]
    formats = ["l" if s.is_words(j) else _format(column) for j, column in enumerate(columns)]
    widths = [max(NARROW, *map(len, column)) for column in columns]
    turned = _width(s, widths) > WIDE
    table = "sidewaystable" if turned else "table"
    head = [FIT, rf"\begin{{tabular}}{{{''.join(formats)}}}", r"\toprule"]
    head.append(" & ".join(f"{{{heading(c.heading, w)}}}" for c, w in zip(s.columns, widths, strict=True)) + r" \\")
    under = [_under("" if c.given else c.symbol, c, w) for c, w in zip(s.columns, widths, strict=True)]
    head += [" & ".join(f"{{{u}}}" for u in under) + r" \\"] if any(under) else []
    lines, parts = [HEADER.format("rotating," if turned else "")], _parts(s, formats, turned=turned)
    for i, rows in enumerate(parts):
        more = " (continued)" if i else ""
        lines += [rf"\end{{{table}}}", ""] if i else []
        lines += [rf"\begin{{{table}}}", r"\centering", rf"\caption{{{escaped(s.title)}{more}}}", *head, r"\midrule"]
        lines += [*rows, r"\bottomrule", r"\end{tabular}}", ""]
    lines.append(
        r"\par\smallskip\raggedright\footnotesize " + "\n".join(escaped(f"{note.rstrip('.')}.") for note in s.notes)
    )
    reasons = (rf"\textsuperscript{{{letter(i)}}} {escaped(reason)}" for i, reason in enumerate(s.reasons))
    lines += [rf"\par\footnotesize {reason}" for reason in reasons]
    text = "\n".join([*lines, rf"\end{{{table}}}", ""])
    return text if LATIN.fullmatch(text) else f"{FOREIGN}\n{text}"


def _width(s: "Sheet", widths: list[int]) -> int:
    """Return about how many points a table is wide."""
    total = 0
    for j, (column, width) in enumerate(zip(s.columns, widths, strict=True)):
        formulas = [min(len(row[j].latex) // 3, LONG) for row in s.formulas if row[j] is not None]
        texts = [row[j] for row, forms in zip(s.cells, s.formulas, strict=True) if forms[j] is None]
        texts += textwrap.wrap(column.heading, width, break_long_words=False)
        power = POWER if any(NUMBER.fullmatch(text) and "e" in text for text in texts) else 0
        total += DIGIT * max([*formulas, *map(len, texts)], default=0) + power + APART
    return total


def _parts(s: "Sheet", formats: list[str], *, turned: bool) -> list[list[str]]:
    """Return the rows, page by page; a row with a formula takes the room of two."""
    parts: list[list[str]] = [[]]
    rows, note = (SIDEWAYS, ACROSS) if turned else (ROWS, NOTE)
    page = max(LEAST, rows - sum(len(text) // note + 1 for text in (" ".join(s.notes), *s.reasons)))
    room = page
    for row, marks, formulas in zip(s.cells, s.marks, s.formulas, strict=True):
        cells = [
            _cell(c, m, f) if x is None else rf"{{$\displaystyle {broken(x.latex)}$}}"
            for c, m, f, x in zip(row, marks, formats, formulas, strict=True)
        ]
        height = 2 if any(formulas) else 1
        if room < height:
            parts.append([])
            room = page
        room -= height
        parts[-1].append(" & ".join(cells) + (r" \\[2ex]" if any(formulas) else r" \\"))
    return parts


def escaped(text: str) -> str:
    """Return text that LaTeX prints as it stands.

    Examples
    --------
    >>> print(escaped("50% of a_b & {c}"))
    50\\% of a\\_b \\& \\{c\\}
    """
    return "".join(SPECIAL.get(c) or _sign(c) for c in text)


def _sign(c: str) -> str:
    return f"${SIGNS[c]}$" if c in SIGNS else c if c.isprintable() else " "


def symbol(text: str) -> str:
    """Return a symbol such as ``E J^2`` or ``P(J > j)`` as LaTeX mathematics.

    Examples
    --------
    >>> print(symbol("Var J"))
    $\\mathrm{Var}\\,J$
    """
    parts = re.findall(r"[A-Za-z]+|[^A-Za-z]", text)
    found = []
    for part in parts:
        if part in UPRIGHT:
            found.append(rf"\mathrm{{{part}}}")
        elif part in GREEK:
            found.append(GREEK[part])
        elif len(part) > 1:
            found.append(rf"\mathrm{{{part}}}")
        elif part == " ":
            found.append(r"\,")
        else:
            found.append(part if part.isalnum() or part in "()=+-/*,.^<>" else escaped(part))
    return f"${''.join(found)}$"


def heading(text: str, width: int = 80) -> str:
    """Return a heading, in lines of at most ``width`` characters; a lone parameter name becomes its symbol."""
    if text in GREEK or re.fullmatch(r"[a-zA-Z]", text):
        return symbol(text)
    return _lines(text, width)


def broken(formula: str) -> str:
    r"""Return a formula with a long sum above a fraction line in several lines.

    Examples
    --------
    >>> broken(r"\frac{1+p}{2}")
    '\\frac{1+p}{2}'
    """
    match = re.fullmatch(rf"(-?)\\frac\{{([^()]{{{LONG},}})\}}\{{(.*)\}}", formula)
    if match is None:
        return formula
    lines = [""]
    for term in re.findall(r"[+-]?(?:\{[^{}]*\}|[^+\-{}])+", match[2]):
        if len(lines[-1]) + len(term) > LONG:
            lines.append("{}")  # so that + and - keep the space of an operation
        lines[-1] += term
    rows = r" \\ ".join(lines)
    return rf"{match[1]}\frac{{\begin{{array}}{{@{{}}l@{{}}}}{rows}\end{{array}}}}{{{match[3]}}}"


def _stacked(lines: list[str]) -> str:
    if len(lines) < 2:
        return "".join(lines)
    rows = r"\\".join(lines)
    return rf"\shortstack{{{rows}}}"


def _under(sign: str, column: "Column", width: int) -> str:
    """Return symbol and unit, the unit in lines of its own where both are too long for one."""
    shown = symbol(sign) if sign and sign != column.heading else ""
    if not shown or len(sign) + len(column.unit) + 2 <= width:
        return ", ".join(filter(None, (shown, escaped(column.unit)))) if shown else _lines(column.unit, width)
    return _stacked([shown, *map(escaped, textwrap.wrap(column.unit, width, break_long_words=False))])


def _lines(text: str, width: int) -> str:
    return _stacked(list(map(escaped, textwrap.wrap(text, width, break_long_words=False))))


def _format(column: list[str]) -> str:
    """Return the column type: ``S`` with the widths needed when every number in it is one that siunitx reads."""
    found = [NUMBER.fullmatch(cell) for cell in column]
    numbers = [m for m in found if m]
    if not numbers or any(m is None and _has_number(cell) for m, cell in zip(found, column, strict=True)):
        return "c"
    whole = max(len(m[2]) for m in numbers)
    part = max(len(m[3] or "") for m in numbers)
    sign = "-" if any(m[1] for m in numbers) else ""
    unsure = max(len(m[4] or "") for m in numbers)
    exponents = [m[5] for m in numbers if m[5]]
    power = ("e-" if any(e.startswith("-") for e in exponents) else "e") if exponents else ""
    power += str(max(len(e.lstrip("-")) for e in exponents)) if exponents else ""
    bracket = f"({unsure})" if unsure else ""
    return f"S[table-format={sign}{whole}{f'.{part}' if part else ''}{bracket}{power}]"


def _has_number(cell: str) -> bool:
    return any(c.isdigit() for c in cell)


def _cell(text: str, mark: str, form: str) -> str:
    note = rf"\textsuperscript{{{mark}}}" if mark else ""
    if NUMBER.fullmatch(text):
        return text + note if form != "c" or not note else f"{_math(text)}{note}"
    if _has_number(text):
        return f"{{{_math(text)}{note}}}"
    return f"{{{escaped(text)}{note}}}"


def _math(text: str) -> str:
    spelled = re.sub(r"e(-?[0-9]+)", r" \\times 10^{\1}", text.replace("~", r"\sim "))
    return f"${spelled}$"
