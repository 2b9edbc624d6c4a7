"""Quadratic functions: the plain sum of squares, the best weights, cross terms, or a proof that none works."""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, System, system
from proofs_check.check.farkas import quadratic_slope
from proofs_check.lyapunov.finding import Finding, Row, certified, law, queues, ray, state
from proofs_check.lyapunov.program import best_rate

Slopes = list[tuple[int, int, list[Fraction], Fraction]]  # cell, coordinate, slope by coefficient, growth of sum w q


def quadratics(problem: dict[str, Any]) -> list[Finding]:
    r"""Return findings on :math:`V = \sum c_i q_i^2 + \sum_{i<k} x_{ik} q_i q_k`, one coefficient a pool or pair.

    First the plain sum of squares, then the best separable one, then cross terms; the first that works ends the list.
    """
    s, found = system(problem), []
    rows = slopes(s, cross=False)
    plain = [Fraction(1)] * _pools(s)
    if _rate(rows, plain) > 0:
        return [_works(problem, s, plain, cross=False)]
    worst = max(rows, key=lambda row: _dot(row[2], plain) / row[3])
    found.append(_grows(s, worst, plain))
    for cross in (False, True):
        rows = slopes(s, cross=cross)
        optimum = best_rate([row[2] for row in rows], [row[3] for row in rows])
        if optimum.value > 0:
            return [*found, _works(problem, s, _scaled(optimum.weights), cross=cross)]
        multipliers = [[row[0], row[1], str(x)] for row, x in zip(rows, optimum.multipliers, strict=True) if x]
        found.append(_none(problem, s, multipliers, cross=cross))
    return found


def slopes(s: System, *, cross: bool) -> Slopes:
    """Return the slopes of all cells along all coordinates; equal ones once."""
    found: dict[tuple[Any, ...], tuple[int, int, list[Fraction], Fraction]] = {}
    for index, (cell, join) in enumerate(s.cells):
        for r in cell.columns:
            growth = Fraction(cell.along(list(s.speed), r))
            if growth > 0:
                row = quadratic_slope(s, cell, join, r, cross=cross)
                found.setdefault((*row, growth), (index, r, row, growth))
    return list(found.values())


def bound(s: System, coefficients: list[Fraction], eps: Fraction) -> tuple[Fraction, list[Cell]]:
    """Return the least B with L V <= B - eps sum mu q, and the cells at whose least state it is reached."""
    values = []
    for cell, join in s.cells:
        come, go = s.flows(cell, join)
        here = sum(coefficients[s.pool[i]] * (come[i] + go[i]) for i in range(len(come)))
        at_base = Cell(cell.base, {0: cell.base})
        slope = _dot(quadratic_slope(s, at_base, join, 0, cross=len(coefficients) > _pools(s)), coefficients)
        values.append(here + slope + eps * cell.least(list(s.speed)))
    most = max(values)
    return most, [cell for (cell, _), x in zip(s.cells, values, strict=True) if x == most]


def _works(problem: dict[str, Any], s: System, coefficients: list[Fraction], *, cross: bool) -> Finding:
    rows, count = slopes(s, cross=cross), _pools(s)
    eps = _rate(rows, coefficients)
    most, where = bound(s, coefficients, eps)
    pairs = [(j, k) for j in range(count) for k in range(j, count)]
    between = dict(zip(pairs, coefficients[count:], strict=False))
    matrix = [[str(between.get((min(j, k), max(j, k)), 0)) for k in range(count)] for j in range(count)]
    conclusion = {
        "function": "quadratic",
        "squares": [str(c) for c in coefficients[:count]],
        "cross": matrix,
        "weights": [str(s.speed[s.pool.index(j)]) for j in range(count)],
        "eps": str(eps),
        "bound": str(most),
    }
    name = _name(coefficients[:count], between)
    return Finding(
        "quadratic with cross terms" if cross else "quadratic",
        f"V = {name}: L V <= {most} - {eps} sum mu_i q_i in every state",
        True,
        {"eps": str(eps), "bound": str(most)},
        tuple(f"{state(cell)}" for cell in where),
        "",
        (
            f"positive recurrent; E sum mu_i q_i <= {most / eps}",
            f"the drift is <= -1 outside the finite set sum mu_i q_i <= {(most + 1) / eps}, which has"
            f" stationary probability >= {1 / (most + 1)}",
        ),
        _table(s, coefficients, cross=cross),
        certified("drift", problem, conclusion, {}),
    )


def _grows(s: System, worst: tuple[int, int, list[Fraction], Fraction], plain: list[Fraction]) -> Finding:
    cell = s.cells[worst[0]][0]
    return Finding(
        "quadratic",
        "V = sum q_i^2: its drift is not negative far out",
        False,
        {"slope": str(_dot(worst[2], plain))},
        ray=f"{ray(cell, worst[1])}: the drift changes by {_dot(worst[2], plain)} a step",
        table=_table(s, plain, cross=False),
    )


def _none(problem: dict[str, Any], s: System, multipliers: list[Any], *, cross: bool) -> Finding:
    kind = "quadratic" if cross else "separable quadratic"
    what = "quadratic with coefficients >= 0" if cross else "separable quadratic sum c_i q_i^2"
    rays = "; ".join(f"{x} times {ray(s.cells[i][0], r)}" for i, r, x in multipliers)
    return Finding(
        kind,
        f"no {what} has negative drift far out: a combination of slopes has no negative coefficient",
        False,
        {},
        ray=rays,
        certificate=certified("no-drift", problem, {"class": kind}, {"multipliers": multipliers}),
    )


def _table(s: System, coefficients: list[Fraction], *, cross: bool) -> tuple[Row, ...]:
    rows = []
    for cell, join in s.cells:
        come, go = s.flows(cell, join)
        at_base = Cell(cell.base, {0: cell.base})
        least = sum(coefficients[s.pool[i]] * (come[i] + go[i]) for i in range(len(come)))
        least += _dot(quadratic_slope(s, at_base, join, 0, cross=cross), coefficients)
        raising = [r for r in sorted(cell.columns) if any(cell.columns[r])]
        found = [_dot(quadratic_slope(s, cell, join, r, cross=cross), coefficients) for r in raising]
        rows.append(Row(queues(cell), law(join), str(least), tuple(map(str, found))))
    return tuple(rows)


def _rate(rows: Slopes, coefficients: list[Fraction]) -> Fraction:
    return min(-_dot(row[2], coefficients) / row[3] for row in rows)


def _scaled(weights: list[Fraction]) -> list[Fraction]:
    """Return the weights with the least positive one as 1."""
    least = min(w for w in weights if w > 0)
    return [w / least for w in weights]


def _name(squares: list[Fraction], between: dict[tuple[int, int], Fraction]) -> str:
    if len(set(squares)) == 1 and not any(between.values()):
        return "sum q_i^2" if squares[0] == 1 else f"{squares[0]} sum q_i^2"
    terms = [f"{c} sum_[pool {j}] q_i^2" for j, c in enumerate(squares, 1) if c]
    terms += [f"{x} sum_[pools {j + 1}, {k + 1}] q_i q_k" for (j, k), x in between.items() if x]
    return " + ".join(terms)


def _dot(row: list[Fraction], coefficients: list[Fraction]) -> Fraction:
    return sum((a * c for a, c in zip(row, coefficients, strict=True)), Fraction(0))


def _pools(s: System) -> int:
    return max(s.pool) + 1
