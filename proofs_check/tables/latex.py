"""LaTeX tables with booktabs and siunitx columns; everything from outside is escaped."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofs_check.tables.sheet import Sheet

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''",
}  # fmt: skip
NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:\(([0-9]+)\))?(?:e(-?[0-9]+))?")
GREEK = {"eps": r"\varepsilon", "alpha": r"\alpha", "lam": r"\lambda", "lambda": r"\lambda", "mu": r"\mu"}
UPRIGHT = {"E", "Var", "P", "peak"}
HEADER = r"% needs \usepackage{booktabs,siunitx}"


def document(s: "Sheet") -> str:
    """Return a LaTeX table: one ``S`` column for plain numbers, ``c`` for fractions, intervals and words."""
    columns = [[row[j] for row in s.cells] for j in range(len(s.columns))]
    formats = ["l" if s.is_words(j) else _format(column) for j, column in enumerate(columns)]
    lines = [HEADER, r"\begin{table}", r"\centering", rf"\caption{{{escaped(s.title)}}}"]
    lines += [rf"\begin{{tabular}}{{{''.join(formats)}}}", r"\toprule"]
    lines.append(" & ".join(f"{{{heading(c.heading)}}}" for c in s.columns) + r" \\")
    under = [_under("" if c.given else c.symbol, c.heading, c.unit) for c in s.columns]
    lines += [" & ".join(f"{{{u}}}" for u in under) + r" \\"] if any(under) else []
    lines.append(r"\midrule")
    for row, marks, formulas in zip(s.cells, s.marks, s.formulas, strict=True):
        cells = [
            _cell(c, m, f) if x is None else rf"{{$\displaystyle {x.latex}$}}"
            for c, m, f, x in zip(row, marks, formats, formulas, strict=True)
        ]
        lines.append(" & ".join(cells) + (r" \\[1ex]" if any(formulas) else r" \\"))
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    lines.append(r"\par\smallskip\raggedright\footnotesize " + "\n".join(escaped(note) for note in s.notes))
    lines += [
        rf"\par\footnotesize \textsuperscript{{{chr(97 + i)}}} {escaped(reason)}" for i, reason in enumerate(s.reasons)
    ]
    return "\n".join([*lines, r"\end{table}", ""])


def escaped(text: str) -> str:
    """Return text that LaTeX prints as it stands.

    Examples
    --------
    >>> print(escaped("50% of a_b & {c}"))
    50\\% of a\\_b \\& \\{c\\}
    """
    return "".join(SPECIAL.get(c, c if c.isprintable() else " ") for c in text)


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


def heading(text: str) -> str:
    """Return a heading; a lone parameter name becomes its symbol."""
    return symbol(text) if text in GREEK or re.fullmatch(r"[a-zA-Z]", text) else escaped(text)


def _under(sign: str, head: str, unit: str) -> str:
    return ", ".join(filter(None, (symbol(sign) if sign and sign != head else "", escaped(unit))))


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
