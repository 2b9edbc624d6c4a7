"""Instability: a linear function with bounded jumps whose drift is nowhere negative, and positive when all is idle."""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import system
from proofs_check.check.ranks import ranked
from proofs_check.lyapunov.finding import Finding, Row, certified, law, queues
from proofs_check.lyapunov.program import best_push


def instability(problem: dict[str, Any]) -> Finding | None:
    r"""Return the proof that a system is not positive recurrent, or None when no linear function shows it.

    :math:`F = \sum_i f_i q_{(i)}`, the queues of each pool in ascending order, moves by bounded steps.  In a stationary
    law its mean drift is zero (law of large numbers for martingales), so a drift that is nowhere negative and is
    positive at 0 excludes one.  If the drift is at least some delta > 0 everywhere, F grows linearly on almost every
    path: every state is left for good.

    ``problem`` needs cells in which neighbours of a pool are equal everywhere or nowhere (``ties``).
    """
    s = system(problem)
    drifts = [ranked(s, cell, join) for cell, join in s.cells]
    start = next(drift for drift, (cell, _) in zip(drifts, s.cells, strict=True) if not any(cell.base))
    if not any(start):
        return None
    optimum = best_push(drifts, start)
    if optimum.value < 0:
        return None
    status = "transient" if optimum.value > 0 else "not positive recurrent"
    values = [sum((a * f for a, f in zip(drift, optimum.weights, strict=True)), Fraction(0)) for drift in drifts]
    conclusion = {"function": "linear", "weights": [str(f) for f in optimum.weights], "status": status}
    return Finding(
        "linear",
        f"F = {_name(s.pool, optimum.weights)}: L F >= {optimum.value} in every state, and L F = 1 at 0",
        True,
        {"delta": str(optimum.value), "status": status},
        tuple(queues(cell) for (cell, _), x in zip(s.cells, values, strict=True) if x == optimum.value),
        follows=(status,),
        table=tuple(Row(queues(cell), law(join), str(x), ()) for (cell, join), x in zip(s.cells, values, strict=True)),
        certificate=certified("drift", problem, conclusion, {}),
    )


def _name(pool: list[int], weights: list[Fraction]) -> str:
    """Return the function as text; queues of a pool in ascending order."""
    terms = []
    for i, f in enumerate(weights):
        rank = i - pool.index(pool[i]) + 1
        alone = pool.count(pool[i]) == 1
        terms.append(f"{f} q[pool {pool[i] + 1}{'' if alone else f', rank {rank}'}]" if f else "")
    return " + ".join(t for t in terms if t)
