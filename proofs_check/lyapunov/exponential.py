"""Exponential functions: the exact best rate for a rational base, the best base bracketed, or the ray that grows."""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import System, system
from proofs_check.check.farkas import exponential_slope
from proofs_check.lyapunov.finding import Finding, Row, certified, law, queues, ray, state
from proofs_check.lyapunov.program import best_rate

Slopes = list[tuple[int, int, list[Fraction], list[Fraction]]]  # cell, coordinate, growth and size of y^q by pool

SIZE = 10_000  # largest denominator of a base that the engine chooses itself


def exponentials(problem: dict[str, Any], base: Fraction | None) -> list[Finding]:
    r"""Return findings on :math:`V = \sum_i c_i y^{q_i}`; first c = 1, then the best c, one a pool.

    The drift condition :math:`L V \le B - \kappa V` holds for exactly the rates up to :math:`\kappa^*`.
    """
    s = system(problem)
    if base is None and (base := best_base(s)) is None:
        base = 1 + (sum(s.speed) / s.arrivals - 1) / 100 if s.arrivals < sum(s.speed) else Fraction(101, 100)
    rows, plain = slopes(s, base), [Fraction(1)] * (max(s.pool) + 1)
    if rate(rows, plain) > 0:
        return [_works(problem, s, base, plain)]
    found = [_grows(s, rows, plain, base)]
    optimum = best_rate([row[2] for row in rows], [sum(row[3]) for row in rows])
    if optimum.value <= 0:
        multipliers = [[row[0], row[1], str(x)] for row, x in zip(rows, optimum.multipliers, strict=True) if x]
        return [*found, _none(problem, s, base, multipliers)]
    if len(plain) > 1:
        weights, share = optimum.weights, Fraction(1)
        while min(weights) <= 0 or rate(rows, weights) <= 0:  # the optimum may leave out a pool: add little of it
            share = share / 2
            weights = [max(w, share) for w in optimum.weights]
        found.append(_works(problem, s, base, weights))
    return found


def slopes(s: System, y: Fraction) -> Slopes:
    found: dict[tuple[Any, ...], tuple[int, int, list[Fraction], list[Fraction]]] = {}
    for index, (cell, join) in enumerate(s.cells):
        for r, support in cell.supports():
            if not support:
                continue
            growth = exponential_slope(s, cell, join, r, y)
            size = [Fraction(0)] * len(growth)
            for i in support:
                size[s.pool[i]] += y ** cell.base[i]
            found.setdefault((*growth, *size), (index, r, growth, size))
    return list(found.values())


def rate(rows: Slopes, weights: list[Fraction]) -> Fraction:
    """Return kappa*, the largest rate with L V <= B - kappa V for some B: positive, or no such rate exists."""
    return min(-_dot(growth, weights) / _dot(size, weights) for _, _, growth, size in rows)


def formula(
    s: System, row: tuple[int, int, list[Fraction], list[Fraction]], weights: list[Fraction], at: Fraction
) -> str:
    """Return the rate that one coordinate of a cell allows, as a function of the base y."""
    import sympy

    def exact(x: Fraction) -> Any:
        return sympy.Rational(x.numerator, x.denominator)

    y = sympy.Symbol("y", positive=True)
    cell, join = s.cells[row[0]]
    come, go = s.flows(cell, join)
    support = next(servers for r, servers in cell.supports() if r == row[1])
    size = sum(exact(weights[s.pool[i]]) * y ** cell.base[i] for i in support)
    growth = sum(
        exact(weights[s.pool[i]]) * y ** cell.base[i] * (exact(go[i]) * (1 - 1 / y) - exact(come[i]) * (y - 1))
        for i in support
    )
    top, bottom = sympy.fraction(sympy.cancel(growth / size))
    factor, parts = sympy.factor_list(top)
    turned = [sympy.factor(f * (-1 if f.subs(y, exact(at)) < 0 else 1)) ** power for f, power in parts]
    text = "*".join(f"({f})" for f in [*turned, sympy.factor(abs(factor) / bottom)])
    return text.replace("**", "^")


def best_base(s: System) -> Fraction | None:
    """Return a base whose rate is near the best; None if no base of the search has a positive one."""
    plain = [Fraction(1)] * (max(s.pool) + 1)
    limit = sum(s.speed) / s.arrivals
    if limit <= 1:
        return None
    candidates = [1 + (limit - 1) * Fraction(k, 24) for k in range(1, 24)]
    best = max(candidates, key=lambda y: rate(slopes(s, y), plain))
    return best if rate(slopes(s, best), plain) > 0 else None


def bracket(s: System, weights: list[Fraction], low: Fraction) -> tuple[Fraction, Fraction]:
    """Return bases low < high: the function has negative drift at the first, and not at the second."""
    high = low
    while rate(slopes(s, high), weights) > 0:
        low, high = high, 2 * high
    for _ in range(14):
        middle = ((low + high) / 2).limit_denominator(SIZE)
        if not low < middle < high:
            break
        low, high = (middle, high) if rate(slopes(s, middle), weights) > 0 else (low, middle)
    return low, high


def _works(problem: dict[str, Any], s: System, y: Fraction, weights: list[Fraction]) -> Finding:
    rows = slopes(s, y)
    kappa = rate(rows, weights)
    values = [_least(s, i, y, weights, kappa) for i in range(len(s.cells))]
    most = max(values)
    binding = [row for row in rows if -_dot(row[2], weights) == kappa * _dot(row[3], weights)]
    low, high = bracket(s, weights, y)
    conclusion = {
        "function": "exponential",
        "base": str(y),
        "weights": [str(w) for w in weights],
        "rate": str(kappa),
        "bound": str(most),
    }
    plain = set(weights) == {1}
    name = f"sum ({y})^q_i" if plain else " + ".join(f"{w} sum_[pool {j}] ({y})^q_i" for j, w in enumerate(weights, 1))
    return Finding(
        "exponential",
        f"V = {name}: L V <= {most} - {kappa} V in every state, and no larger rate is possible",
        True,
        {
            "base": str(y),
            "kappa*": str(kappa),
            "bound": str(most),
            "base reached": str(low),
            "base too large": str(high),
        },
        tuple(state(cell) for (cell, _), x in zip(s.cells, values, strict=True) if x == most),
        f"the rate is kappa* = {formula(s, binding[0], weights, y)} near this y, limited by"
        f" {ray(s.cells[binding[0][0]][0], binding[0][1])}",
        (
            f"geometrically ergodic; E V <= {most / kappa}",
            f"P(q_i >= k) <= {most / kappa / min(weights)} * ({y})^-k for every server",
            f"such a function works at base {low}, and not at base {high}",
        ),
        tuple(
            Row(queues(cell), law(join), str(values[i]), tuple(str(x) for x in _lines(s, i, y, weights, kappa)))
            for i, (cell, join) in enumerate(s.cells)
        ),
        certified("drift", problem, conclusion, {}),
    )


def _least(s: System, index: int, y: Fraction, weights: list[Fraction], kappa: Fraction) -> Fraction:
    """Return L V + kappa V at the least state of a cell."""
    cell, join = s.cells[index]
    come, go = s.flows(cell, join)
    parts = (
        weights[s.pool[i]] * y**b * (come[i] * (y - 1) - go[i] * (1 - 1 / y) + kappa) for i, b in enumerate(cell.base)
    )
    return sum(parts, Fraction(0))


def _lines(s: System, index: int, y: Fraction, weights: list[Fraction], kappa: Fraction) -> list[Fraction]:
    """Return, for each coordinate of a cell, the sum whose sign says whether L V + kappa V grows along it."""
    cell, join = s.cells[index]
    found = []
    for r, support in sorted(cell.supports()):
        if support:
            size = sum(weights[s.pool[i]] * y ** cell.base[i] for i in support)
            found.append(_dot(exponential_slope(s, cell, join, r, y), weights) + kappa * size)
    return found


def _grows(s: System, rows: Slopes, weights: list[Fraction], y: Fraction) -> Finding:
    worst = max(rows, key=lambda row: _dot(row[2], weights) / _dot(row[3], weights))
    value = _dot(worst[2], weights) / _dot(worst[3], weights)
    return Finding(
        "exponential",
        f"V = sum ({y})^q_i: its drift is not negative far out",
        False,
        {"base": str(y), "growth": str(value)},
        ray=f"{ray(s.cells[worst[0]][0], worst[1])}: the drift is at least {value} times what is raised",
    )


def _none(problem: dict[str, Any], s: System, y: Fraction, multipliers: list[Any]) -> Finding:
    rays = "; ".join(f"{x} times {ray(s.cells[i][0], r)}" for i, r, x in multipliers)
    return Finding(
        "exponential",
        f"no sum c_i ({y})^q_i with one c > 0 a pool has negative drift far out",
        False,
        {"base": str(y)},
        ray=rays,
        certificate=certified(
            "no-drift", problem, {"class": "exponential", "base": str(y)}, {"multipliers": multipliers}
        ),
    )


def _dot(row: list[Fraction], weights: list[Fraction]) -> Fraction:
    return sum((a * c for a, c in zip(row, weights, strict=True)), Fraction(0))
