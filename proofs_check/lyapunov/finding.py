"""What the drift engine finds about one function: constants, signs cell by cell, what follows, and the certificate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from proofs_check.check import document
from proofs_check.check.cells import Cell

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Row:
    """One cell: its queues, the law of the joined server, the drift at its least state and its slopes from there."""

    queues: str
    join: str
    least: str
    slopes: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """One function and what is proved about its drift.

    ``holds``: the drift condition holds (for ``linear``: the system is proved not to be stable).  Otherwise ``ray``
    names states along which the drift grows, or the certificate shows that no function of the class works.
    ``attained`` lists states at which the bound is reached.
    """

    function: str
    statement: str
    holds: bool
    constants: Mapping[str, str] = field(default_factory=dict)
    attained: tuple[str, ...] = ()
    ray: str = ""
    follows: tuple[str, ...] = ()
    table: tuple[Row, ...] = ()
    certificate: Mapping[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        """Return the finding as data."""
        return {
            "function": self.function,
            "holds": self.holds,
            "statement": self.statement,
            "constants": dict(self.constants),
            "attained": list(self.attained),
            "ray": self.ray or None,
            "follows": list(self.follows),
            "cells": [
                {"queues": row.queues, "join": row.join, "least": row.least, "slopes": list(row.slopes)}
                for row in self.table
            ],
            "certificate": dict(self.certificate) if self.certificate else None,
        }


def certified(kind: str, problem: Mapping[str, Any], conclusion: Mapping[str, Any], proof: Mapping[str, Any]) -> dict:
    """Return a certificate that the independent checker has accepted."""
    certificate = {
        "format": document.FORMAT,
        "kind": kind,
        "problem": problem,
        "conclusion": conclusion,
        "proof": proof,
        "found_by": "proofs_check.lyapunov",
    }
    document.check(certificate)
    return certificate


def queues(cell: Cell) -> str:
    """Return the states of a cell, such as ``(1+a, 1+a+b)`` with a, b = 0, 1, 2, ..."""
    names = dict(zip(sorted(cell.columns), LETTERS, strict=False))
    parts = []
    for i, base in enumerate(cell.base):
        terms = [f"{c[i] if c[i] > 1 else ''}{names.get(r, f'z{r}')}" for r, c in sorted(cell.columns.items()) if c[i]]
        parts.append("+".join(([str(base)] if base or not terms else []) + terms))
    return f"({', '.join(parts)})"


def ray(cell: Cell, r: int) -> str:
    """Return the states base + t column."""
    parts = []
    for b, c in zip(cell.base, cell.columns[r], strict=True):
        step = "" if not c else "t" if c == 1 else f"{c}t"
        parts.append("+".join(([str(b)] if b or not step else []) + ([step] if step else [])))
    return f"q = ({', '.join(parts)}), t = 0, 1, 2, .."


def state(cell: Cell) -> str:
    return f"q = {queues(Cell(cell.base, {}))}"


def law(join: Sequence[Fraction]) -> str:
    """Return the law of the joined server: one number a server."""
    return f"({', '.join(map(str, join))})"
