"""Files that are broken in forty ways: each ends in one line or undecided, never in a verdict, and none is repaired."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from exactchains import InputError
from proofs_check.catalogue import find
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.validation import validate

HALF, HEAD = {"lam": "1/2", "mu": "1"}, "job,t_arrive,t_start,t_end"
ROWS = job_trace("mm1", find("mm1").read(HALF), jobs=4000, seed=1)[1]
STAYS = ROWS[:, 3] - ROWS[:, 1]


def text(form: str = "%d,%.6f,%.6f,%.6f", rows=ROWS, head: str = HEAD) -> str:
    return "\n".join([head, *(form % tuple(row) for row in rows), ""])


def each(number) -> str:
    """Return a trace whose times are written by a function of one number, quoted."""
    return "\n".join([HEAD, *(f"{row[0]:.0f}," + ",".join(f'"{number(x)}"' for x in row[1:]) for row in ROWS), ""])


def column(number, values=STAYS) -> str:
    return "\n".join(["value", *map(number, values), ""])


RIGHT, LINES = text(), text().split("\n")[:-1]
SHUFFLED = ROWS[np.random.default_rng(1).permutation(len(ROWS))]
BROKEN: dict[str, str | bytes] = {
    "latin-1": RIGHT.replace("job", "jöb").encode("latin1"),
    "utf-16": RIGHT.encode("utf-16"),
    "utf-16 without mark": RIGHT.encode("utf-16-le"),
    "gzip": gzip.compress(RIGHT.encode()),
    "bzip2": bz2.compress(RIGHT.encode()),
    "xz": lzma.compress(RIGHT.encode()),
    "zstd": b"\x28\xb5\x2f\xfd" + bytes(range(256)),
    "spreadsheet": b"PK\x03\x04" + bytes(range(256)),
    "old spreadsheet": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)),
    "null bytes": RIGHT.encode()[:3000] + b"\0" * 500 + RIGHT.encode()[3500:],
    "nothing": "",
    "header only": HEAD + "\n",
    "no header": RIGHT.split("\n", 1)[1],
    "first line is a comment": "# my simulator\n" + RIGHT,
    "line of units": RIGHT.replace(HEAD, HEAD + "\n-,s,s,s"),
    "header twice": RIGHT + RIGHT,
    "names twice": RIGHT.replace("t_start", "t_end", 1),
    "capital names": RIGHT.replace(HEAD, HEAD.upper()),
    "blanks between": RIGHT.replace(",", " "),
    "bars between": RIGHT.replace(",", "|"),
    "header in semicolons": RIGHT.replace(HEAD, HEAD.replace(",", ";")),
    "mixed delimiters": "\n".join(line if i % 2 else line.replace(",", ";") for i, line in enumerate(LINES)),
    "marks for thousands": each(lambda x: f"{x:,.3f}"),
    "blanks for thousands": each(lambda x: f"{x:,.3f}".replace(",", " ")),
    "points for thousands": each(lambda x: f"{x:,.0f}".replace(",", ".")),
    "decimal commas": each(lambda x: f"{x:.3f}".replace(".", ",")),
    "Fortran exponents": each(lambda x: f"{x:.6E}".replace("E", "D")),
    "dates": each(lambda x: f"2024-01-01 00:{int(x) // 60 % 60:02d}:{int(x) % 60:02d}"),
    "three digits": text("%d,%.2e,%.2e,%.2e"),
    "whole times": text("%d,%d,%d,%d"),
    "row names": RIGHT.replace(HEAD, HEAD.removeprefix("job,")),
    "a cell is missing": "\n".join([*LINES[:700], "699,100.0,101.0", *LINES[701:]]),
    "a cell too many": "\n".join([*LINES[:700], LINES[700] + ",5", *LINES[701:]]),
    "cut off": RIGHT[:-20],
    "no departures": text("%d,%.6f,%.6f,", ROWS[:, :3]),
    "an arrival is missing": "\n".join([*LINES[:500], "499,nan,nan,nan", *LINES[501:]]),
    "negative times": text(rows=ROWS - [0, 5000, 5000, 5000]),
    "shuffled rows": text(rows=SHUFFLED),
    "rows twice": text(rows=np.repeat(ROWS, 2, axis=0)),
    "some rows again": text(rows=np.concatenate([ROWS, ROWS[100:200]])),
    "columns swapped": RIGHT.replace(HEAD, "job,t_end,t_start,t_arrive"),
    "two clocks": text(rows=ROWS * [1, 1, 1, 1000]),
    "a clock that changes": text(rows=np.concatenate([ROWS[:2000], ROWS[2000:] * [1, 1000, 1000, 1000]])),
    "a clock that starts again": text(rows=np.column_stack([ROWS[:, 0], ROWS[:, 1:] % 3000])),
    "percent signs": column(lambda x: f"{x:.3f}%"),
    "unit signs": column(lambda x: f"{x:.3f}s"),
    "hexadecimal": column(lambda x: hex(int(x))),
    "other minus signs": column(lambda x: f"\u2212{x:.3f}"),
    "a mark of -1": column("{:.6f}".format, np.append(STAYS, -1.0)),
    "marks of 999999": column("{:.6f}".format, np.append(STAYS, [999_999.0] * 30)),
    "all one value": column("{:.6f}".format, np.ones(4000)),
    "sorted values": column("{:.6f}".format, np.sort(STAYS)),
    "too short": "\n".join(LINES[:15]),
}


def verdict(path) -> str:
    found = validate("mm1", HALF, path, quantities=["mean_response"], margin="40%")
    return found.verdict.value


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_never_gets_a_verdict(kind, tmp_path):
    path, content = tmp_path / "data.csv", BROKEN[kind]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        assert verdict(path) == "undecided"
    except InputError as error:
        assert "\n" not in str(error) and str(path) in str(error)


def test_other_spellings_of_the_same_file_agree(tmp_path):
    spellings = {
        "as it is": RIGHT,
        "byte-order mark and carriage returns": "\ufeff" + RIGHT.replace("\n", "\r\n"),
        "carriage returns only": RIGHT.replace("\n", "\r"),
        "quoted": each("{:.6f}".format),
        "exponents": each("{:.12E}".format),
        "blanks in the header": RIGHT.replace(HEAD, HEAD.replace(",", " , ")),
        "commas at the ends": RIGHT.replace("\n", ",\n"),
        "tabs": RIGHT.replace(",", "\t"),
    }
    for content in spellings.values():
        (tmp_path / "data.csv").write_bytes(content.encode())
        assert verdict(tmp_path / "data.csv") == "agrees"
