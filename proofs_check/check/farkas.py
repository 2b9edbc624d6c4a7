"""Kind *no-drift*: no function of a class has negative drift far out, by a vector of Farkas.

problem     as in kind *drift*
conclusion  ``class``: "separable quadratic" (V = sum c q_i^2, one c >= 0 a pool), "quadratic" (also cross terms
            x q_i q_k, x >= 0), or "exponential" (V = sum c y^q_i, one c > 0 a pool) with ``base`` y > 1
proof       ``multipliers``: [[cell, coordinate, number > 0], ..]

Along a coordinate of a cell the drift of a quadratic grows with a slope that is linear in the coefficients, and that
of an exponential like a sum that is; negative drift far out makes each such slope negative wherever the coordinate
raises a queue.  The multipliers combine the slopes to a form whose coefficients are all nonnegative: a contradiction.
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, System, system
from proofs_check.check.exact import Rejected, fields, integer, items, rational

Vector = list[Fraction]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    s = system(problem)
    fields(proof, "multipliers")
    if conclusion.get("class") == "exponential":
        base: Fraction | None = rational(fields(conclusion, "class base")["base"])
        if base is not None and base <= 1:
            raise Rejected("needs base > 1")
    elif fields(conclusion, "class")["class"] in ("separable quadratic", "quadratic"):
        base = None
    else:
        raise Rejected("unknown class of functions")
    total: Vector = []
    for line in items(proof["multipliers"]):
        index, r, text = items(line, 3)
        weight = rational(text)
        if weight <= 0 or integer(index) >= len(s.cells) or integer(r) not in s.cells[index][0].columns:
            raise Rejected("a multiplier is not positive or belongs to no coordinate of a cell")
        cell, join = s.cells[index]
        if not any(cell.columns[r]):
            raise Rejected("a coordinate that raises no queue")
        if base is not None:
            row = exponential_slope(s, cell, join, r, base)
        else:
            row = quadratic_slope(s, cell, join, r, cross=conclusion["class"] == "quadratic")
        total = [a + weight * x for a, x in zip(total or [Fraction(0)] * len(row), row, strict=True)]
    if not total or min(total) < 0:
        raise Rejected("the combination has a negative coefficient")


def quadratic_slope(s: System, cell: Cell, join: Vector, r: int, *, cross: bool) -> Vector:
    """Return the slope of the drift along coordinate r: coefficients of c for each pool, then of x for j <= k."""
    come, go = s.flows(cell, join)
    net, column, pools = [a - b for a, b in zip(come, go, strict=True)], cell.columns[r], range(max(s.pool) + 1)
    flow = [sum((x for x, j in zip(net, s.pool, strict=True) if j == k), Fraction(0)) for k in pools]
    rise = [sum(x for x, j in zip(column, s.pool, strict=True) if j == k) for k in pools]
    own = [sum((x * c for x, c, j in zip(net, column, s.pool, strict=True) if j == k), Fraction(0)) for k in pools]
    row = [2 * x for x in own]
    if cross:
        row += [
            flow[j] * rise[j] - own[j] if j == k else flow[j] * rise[k] + flow[k] * rise[j]
            for j in pools
            for k in pools
            if j <= k
        ]
    return row


def exponential_slope(s: System, cell: Cell, join: Vector, r: int, y: Fraction) -> Vector:
    """Return the sums over the raised servers of y^q times the rate of growth of y^q at the base, for each pool."""
    come, go = s.flows(cell, join)
    support = next(servers for k, servers in cell.supports() if k == r)
    row = [Fraction(0)] * (max(s.pool) + 1)
    for i in support:
        row[s.pool[i]] += y ** cell.base[i] * (come[i] * (y - 1) - go[i] * (1 - 1 / y))
    return row
