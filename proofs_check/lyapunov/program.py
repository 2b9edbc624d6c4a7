"""Small linear programs in exact arithmetic: the best weights of a function, or the vector that no weights work."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from exactchains.number import rational

Row = Sequence[Any]


@dataclass(frozen=True)
class Optimum:
    """The best ``value``, weights that attain it, and multipliers of the rows that no weights exceed it."""

    value: Fraction
    weights: list[Fraction]
    multipliers: list[Fraction]


def best_rate(slopes: Sequence[Row], scales: Sequence[Any]) -> Optimum:
    r"""Return the largest eps with :math:`S c + \epsilon w \le 0` for some weights :math:`c \ge 0`, sum c = 1.

    The dual is solved: min t with :math:`S^T \lambda + t \ge 0`, :math:`w^T \lambda = 1`, :math:`\lambda \ge 0`.
    If eps <= 0, then lambda proves that no weights give a positive rate.
    """
    count, rows = len(slopes[0]), len(slopes)
    table = []
    for j in range(count):
        slack = [fmpq(-1) if k == j else fmpq(0) for k in range(count)]
        table.append([*(rational(s[j]) for s in slopes), fmpq(1), fmpq(-1), *slack])
    table.append([*map(rational, scales), *[fmpq(0)] * (2 + count)])
    cost = [*[fmpq(0)] * rows, fmpq(1), fmpq(-1), *[fmpq(0)] * count]
    value, solution, prices = minimum(table, [fmpq(0)] * count + [fmpq(1)], cost)
    return _optimum(value, prices[:count], solution[:rows])


def best_push(drifts: Sequence[Row], start: Row) -> Optimum:
    r"""Return the largest delta with :math:`D f \ge \delta` and start . f = 1, the weights f of any sign."""
    count, rows = len(start), len(drifts)
    table = [[*(rational(d[j]) for d in drifts), -rational(start[j]), rational(start[j])] for j in range(count)]
    table.append([fmpq(1)] * rows + [fmpq(0)] * 2)
    cost = [fmpq(0)] * rows + [fmpq(1), fmpq(-1)]
    value, solution, prices = minimum(table, [fmpq(0)] * count + [fmpq(1)], cost)
    return _optimum(value, [-p for p in prices[:count]], solution[:rows])


def _optimum(value: fmpq, weights: list[fmpq], multipliers: list[fmpq]) -> Optimum:
    def plain(x: fmpq) -> Fraction:
        return Fraction(int(x.p), int(x.q))

    return Optimum(plain(value), list(map(plain, weights)), list(map(plain, multipliers)))


def minimum(table: list[list[fmpq]], right: list[fmpq], cost: list[fmpq]) -> tuple[fmpq, list[fmpq], list[fmpq]]:
    """Return value, solution and prices of min cost.x with table x = right >= 0, x >= 0, by the simplex method.

    Raises
    ------
    ArithmeticError
        The program has no solution, or no least one.
    """
    height, width = len(table), len(cost)
    full = [
        row + [fmpq(i == k) for k in range(height)] + [b] for i, (row, b) in enumerate(zip(table, right, strict=True))
    ]
    basis = list(range(width, width + height))
    auxiliary = [fmpq(0)] * width + [fmpq(1)] * height
    _descend(full, basis, _reduced(full, basis, auxiliary), width + height)
    if any(k >= width and row[-1] != 0 for k, row in zip(basis, full, strict=True)):
        raise ArithmeticError("the linear program has no solution")
    for i, k in enumerate(basis):  # an artificial variable that stayed, at zero: exchange it where a pivot allows
        column = next((j for j in range(width) if k >= width and full[i][j] != 0), None)
        if column is not None:
            _pivot(full, basis, i, column)
    costs = cost + [fmpq(0)] * height
    prices = _descend(full, basis, _reduced(full, basis, costs), width)
    solution = [fmpq(0)] * (width + height)
    for k, row in zip(basis, full, strict=True):
        solution[k] = row[-1]
    value = sum((c * x for c, x in zip(costs, solution, strict=True)), fmpq(0))
    return value, solution[:width], [-x for x in prices[width:-1]]


def _reduced(full: list[list[fmpq]], basis: list[int], cost: list[fmpq]) -> list[fmpq]:
    line = [*cost, fmpq(0)]
    for k, row in zip(basis, full, strict=True):
        if cost[k] != 0:
            line = [x - cost[k] * y for x, y in zip(line, row, strict=True)]
    return line


def _descend(full: list[list[fmpq]], basis: list[int], line: list[fmpq], width: int) -> list[fmpq]:
    """Pivot by Bland's rule, which ends, until no reduced cost among the first ``width`` is negative."""
    while True:
        column = next((j for j in range(width) if line[j] < 0), None)
        if column is None:
            return line
        rows = [i for i, row in enumerate(full) if row[column] > 0]
        if not rows:
            raise ArithmeticError("the linear program has no least value")
        leaving = min(rows, key=lambda i: (full[i][-1] / full[i][column], basis[i]))
        _pivot(full, basis, leaving, column)
        factor = line[column]
        line = [x - factor * y if y else x for x, y in zip(line, full[leaving], strict=True)]


def _pivot(full: list[list[fmpq]], basis: list[int], i: int, column: int) -> None:
    pivot = full[i][column]
    full[i] = [x / pivot if x else x for x in full[i]]
    for k, row in enumerate(full):
        factor = row[column]
        if k != i and factor != 0:
            full[k] = [x - factor * y if y else x for x, y in zip(row, full[i], strict=True)]
    basis[i] = column
