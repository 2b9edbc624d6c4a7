"""Kind *drift*: bounds on the drift of a function of the queues, in every one of infinitely many states.

problem     ``pools``, ``arrivals`` (total rate), ``cells`` (:mod:`proofs_check.check.cells`); service at a busy
            server is exponential with its speed
conclusion  ``function`` and its constants, one number a pool where a list stands:
  "domination"   ``rho``: arrivals P(joined in U) <= rho (speed of U) for U = {q >= k}, every k >= 1 and every state
  "quadratic"    ``squares`` c >= 0, ``cross`` x >= 0 (matrix), ``weights`` w >= 0, ``eps`` > 0, ``bound``:
                 V = sum c q_i^2 + sum_{i<k} x q_i q_k has L V <= bound - eps sum w q_i
  "exponential"  ``base`` y > 1, ``weights`` c > 0, ``rate`` > 0, ``bound``: V = sum c y^q_i has L V <= bound - rate V
  "linear"       ``weights`` f, one a server, ``status``: F = sum f_i q_(i), the queues of each pool in ascending
                 order, has L F >= 0 in every state and > 0 at 0 ("not positive recurrent"), or L F >= some positive
                 number in every state ("transient")
proof       empty: every cell is checked

Caps        powers of the base of at most 100,000 bits, and in all cells 2,000,000 beyond 4000 for each server; numbers
            of an exponential conclusion of at most 20,000 bits; those of :mod:`cells`
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, System, system
from proofs_check.check.exact import Rejected, fields, items, rational, vector
from proofs_check.check.ranks import ranked, tops

Vector = list[Fraction]
MAX_POWER_BITS, MAX_POWERS, FREE_POWER = 100_000, 2_000_000, 4_000
MAX_BITS = 20_000


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(proof, "")
    s = system(problem)
    kinds = {"domination": _domination, "quadratic": _quadratic, "exponential": _exponential, "linear": _linear}
    if conclusion.get("function") not in kinds:
        raise Rejected("unknown function")
    kinds[conclusion["function"]](s, conclusion)


def _domination(s: System, conclusion: Any) -> None:
    rho = rational(fields(conclusion, "function rho")["rho"])
    for cell, join in s.cells:
        for top in tops(cell):
            chance, speed = sum(join[i] for i in top), sum(s.speed[i] for i in top)
            if s.arrivals * chance > rho * speed:
                raise Rejected(f"arrivals at servers {sorted(top)} exceed rho times their speed in cell {cell.base}")


def _quadratic(s: System, conclusion: Any) -> None:
    fields(conclusion, "function squares cross weights eps bound")
    count = max(s.pool) + 1
    squares, weights = vector(conclusion["squares"], count), vector(conclusion["weights"], count)
    cross = [vector(row, count) for row in items(conclusion["cross"], count)]
    eps, bound = rational(conclusion["eps"]), rational(conclusion["bound"])
    if any(cross[j][k] != cross[k][j] for j in range(count) for k in range(count)):
        raise Rejected("the cross terms are not symmetric")
    if eps <= 0 or min([*squares, *weights, *(x for row in cross for x in row)]) < 0:
        raise Rejected("needs eps > 0 and coefficients that are not negative")
    n, weight = range(len(s.pool)), [weights[j] for j in s.pool]
    for cell, join in s.cells:
        come, go = s.flows(cell, join)
        net = [a - b for a, b in zip(come, go, strict=True)]
        slope = [
            2 * squares[s.pool[i]] * net[i] + sum(cross[s.pool[i]][s.pool[k]] * net[k] for k in n if k != i) for i in n
        ]
        rest = sum(squares[s.pool[i]] * (come[i] + go[i]) for i in n)
        lifted = [a + eps * w for a, w in zip(slope, weight, strict=True)]
        _bounded(cell, lifted, bound - rest)


def _bounded(cell: Cell, row: Vector, bound: Fraction) -> None:
    """The linear form stays below the bound in the cell: it falls along every coordinate, and is below at the base."""
    for r in cell.columns:
        if cell.along(row, r) > 0:
            raise Rejected(f"the drift grows from {cell.base} along {cell.columns[r]}")
    if cell.least(row) > bound:
        raise Rejected(f"the drift exceeds the bound at {cell.base}")


def _exponential(s: System, conclusion: Any) -> None:
    fields(conclusion, "function base weights rate bound")
    y, rate, bound = (rational(conclusion[name]) for name in ("base", "rate", "bound"))
    weights = vector(conclusion["weights"], max(s.pool) + 1)
    if y <= 1 or rate <= 0 or min(weights) <= 0:
        raise Rejected("needs base > 1, rate > 0 and positive weights")
    _short([y, rate, bound, *weights], s)
    for cell, join in s.cells:
        come, go = s.flows(cell, join)
        parts = [
            weights[s.pool[i]] * y**b * (come[i] * (y - 1) - go[i] * (1 - 1 / y) + rate)
            for i, b in enumerate(cell.base)
        ]
        for r, support in cell.supports():
            if sum(parts[i] for i in support) > 0:
                raise Rejected(f"the drift grows from {cell.base} along coordinate {r}")
        if sum(parts) > bound:
            raise Rejected(f"the drift exceeds the bound at {cell.base}")


def _short(numbers: Vector, s: System) -> None:
    """Check that numbers and powers y^base, y the first number, stay of moderate size."""
    size, *others = (x.numerator.bit_length() + x.denominator.bit_length() for x in (*numbers, *s.speed, s.arrivals))
    powers = [b * size for cell, _ in s.cells for b in cell.base]
    if max(size, *others) > MAX_BITS:
        raise Rejected(f"a number of more than {MAX_BITS} bits")
    if max(powers) > MAX_POWER_BITS or sum(max(x - FREE_POWER, 0) for x in powers) > MAX_POWERS:
        raise Rejected("powers of the base out of bounds: the cells reach too far out")


def _linear(s: System, conclusion: Any) -> None:
    fields(conclusion, "function weights status")
    weights = vector(conclusion["weights"], len(s.pool))
    drifts = []
    for cell, join in s.cells:
        drift = sum((f * x for f, x in zip(weights, ranked(s, cell, join), strict=True)), Fraction(0))
        drifts.append(drift)
        if drift < 0 or (drift == 0 and not any(cell.base)):
            raise Rejected(f"the drift is {drift} at {cell.base}")
    if conclusion["status"] not in ("not positive recurrent", "transient"):
        raise Rejected("the status is 'not positive recurrent' or 'transient'")
    if conclusion["status"] == "transient" and min(drifts) <= 0:
        raise Rejected("the drift vanishes somewhere")
