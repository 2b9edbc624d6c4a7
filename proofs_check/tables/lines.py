"""Where a key stands in TOML text, so that an error can name its line."""

import re

_HEADER = re.compile(r"\s*(\[{1,2})\s*([\w.-]+)")


def line_of(key: str, lines: list[str]) -> int | None:
    """Return the line, from 1, of a key such as ``digits``, ``rows.eps`` or ``columns[1].model``.

    A key that does not stand there gives the line of its table; None when that is not there either.

    Examples
    --------
    >>> line_of("columns[1].model", ["[[columns]]", "model = 1", "[[columns]]", "model = 2"])
    4
    """
    parts = [(name, int(number or 0)) for name, number in re.findall(r"([\w-]+)(?:\[(\d+)\])?", key)]
    (table, number), last = ("", 0) if len(parts) == 1 else parts[0], parts[min(1, len(parts) - 1)][0]
    here, seen, header = "", -1, None
    for i, line in enumerate(lines, 1):
        if match := _HEADER.match(line):
            here = match[2]
            seen += here == (table or last)
            if here == last and not table:
                return i
            header = i if here == table and seen == number else header
        elif re.match(rf"\s*[\"']?{re.escape(last)}[\"']?\s*[=.]", line) and here == table:
            if not table or seen == number:
                return i
        elif not here and table and re.match(rf"\s*{re.escape(table)}\s*[.=]", line):
            header = header or i
    return header
