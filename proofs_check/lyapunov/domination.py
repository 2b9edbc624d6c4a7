"""Domination: the joined length against a pick in proportion to speed; the strongest and cheapest of the functions."""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, System, system
from proofs_check.check.ranks import tops
from proofs_check.lyapunov.finding import Finding, Row, certified, law, queues


def domination(problem: dict[str, Any]) -> Finding:
    r"""Return the least rho with arrivals P(joined in U) <= rho mu(U), U = {q >= k}, k >= 1, for n servers.

    With :math:`s_k = (1/n) \sum_i \mu_i P(q_i \ge k)`: :math:`s_1 = \lambda` and
    :math:`s_{k+1} = \lambda P(\text{joined} \ge k) \le \rho s_k`.
    """
    s = system(problem)
    worst = {i: _worst(s, cell, join) for i, (cell, join) in enumerate(s.cells)}
    rho, top = max(worst.values(), key=lambda part: part[0])
    total, load = sum(s.speed), s.arrivals / sum(s.speed)
    at = next(i for i, part in worst.items() if part == (rho, top))
    table = tuple(
        Row(queues(cell), law(join), str(worst[i][0]), ()) for i, (cell, join) in enumerate(s.cells) if worst[i][1]
    )
    attained = tuple(queues(cell) for i, (cell, _) in enumerate(s.cells) if worst[i][0] == rho)
    statement = f"arrivals P(joined in U) <= {rho} (speed of U) for U = {{q >= k}}, every k >= 1 and every state"
    constants = {"rho": str(rho), "load": str(load)}
    if rho >= 1:
        where = f"servers {_set(top)} in cell {queues(s.cells[at][0])} get {rho} times the work that they can do"
        return Finding("domination", f"no domination: {where}", False, constants, attained, where, (), table)
    return Finding(
        "domination",
        statement,
        True,
        constants,
        attained,
        "",
        consequences(rho, load, total),
        table,
        certified("drift", problem, {"function": "domination", "rho": str(rho)}, {}),
    )


def _worst(s: System, cell: Cell, join: list[Fraction]) -> tuple[Fraction, frozenset[int]]:
    """Return the largest ratio of arrivals to speed over the top sets of a cell, and a set that has it."""
    found = [(s.arrivals * sum(join[i] for i in top) / sum(s.speed[i] for i in top), top) for top in tops(cell)]
    return max(found, key=lambda part: (part[0], -len(part[1])), default=(Fraction(0), frozenset()))


def consequences(rho: Fraction, load: Fraction, total: Fraction | None) -> tuple[str, ...]:
    """Return what rho < 1 gives; ``total`` is the sum of the speeds, None: for every n."""
    n = "n" if total is None else str(total)
    tail = f"s_k <= {load} * ({rho})^(k-1)" if rho != load else f"s_k <= ({load})^k"
    mean = load / (1 - rho)
    whole = f"E sum mu_i q_i <= {total * mean}" if total is not None else f"E sum mu_i q_i <= {mean} n"
    return (
        f"positive recurrent{' for every n' if total is None else ''}",
        f"{tail} for k >= 1, with s_k = (1/n) sum mu_i P(q_i >= k)",
        f"{whole}; L sum q_i^2 <= {n} * {1 + load} - {2 * (1 - rho)} sum mu_i q_i in every state",
        f"speed-weighted mean of E y^q <= 1 + {load} (y-1)/(1 - {rho} y) for 1 <= y < {1 / rho}",
    )


def _set(top: frozenset[int]) -> str:
    return "{" + ", ".join(str(i + 1) for i in sorted(top)) + "}"
