"""A function that the user gives: the drift of any polynomial of the queues, with its best constants."""

from fractions import Fraction
from typing import Any

from exactchains.truth import InputError
from proofs_check.check.cells import Cell, system
from proofs_check.check.exact import Rejected
from proofs_check.check.polynomial import Polynomial
from proofs_check.check.polynomial_drift import function, generated, weighted
from proofs_check.expression_size import bounded
from proofs_check.lyapunov.finding import Finding, certified, queues, ray, state


def given(problem: dict[str, Any], text: str) -> Finding:
    """Return the finding on V = ``text``, a polynomial in q1, q2, .. (the queues in the order of the pools).

    In each cell L V is a polynomial in coordinates >= 0, bounded by its coefficients; exactly so when V is quadratic.
    """
    s = system(problem)
    bounded(text, [f"q{i + 1}" for i in range(len(s.pool))])
    try:
        f = function(s, text)
    except Rejected as reason:
        raise InputError(f"function {text[:60]!r}: {reason}") from None
    speeds = [s.speed[s.pool.index(j)] for j in range(max(s.pool) + 1)]
    drifts = [(cell, generated(s, f, cell, join), weighted(s, speeds, cell)) for cell, join in s.cells]
    rates = [(-_of(lv, r) / _of(w, r), cell, r) for cell, lv, w in drifts for r in cell.columns if _of(w, r) > 0]
    eps, cell, r = min(rates, key=lambda part: part[0])
    steep = next(
        (c for c, lv, _ in drifts if any(x > 0 and sum(e for _, e in m) > 1 for m, x in lv.terms.items())), None
    )
    if eps <= 0 or steep is not None:
        where = queues(steep) if steep is not None else ray(cell, r)
        return Finding("given", f"V = {text}: its drift is not shown to be negative far out", False, ray=where)
    most = {c.base: Fraction(lv.terms.get((), 0)) + eps * w.terms.get((), 0) for c, lv, w in drifts}
    bound = max(most.values())
    conclusion = {"of": text, "weights": list(map(str, speeds)), "eps": str(eps), "bound": str(bound)}
    return Finding(
        "given",
        f"V = {text}: L V <= {bound} - {eps} sum mu_i q_i in every state",
        True,
        {"eps": str(eps), "bound": str(bound)},
        tuple(state(Cell(base, {})) for base, x in most.items() if x == bound),
        follows=(f"positive recurrent; E sum mu_i q_i <= {bound / eps}",),
        certificate=certified("polynomial-drift", problem, conclusion, {}),
    )


def _of(p: Polynomial, r: int) -> Fraction:
    """Return the coefficient of the coordinate r."""
    return Fraction(p.terms.get(((f"z{r}", 1),), 0))
