"""Stationary laws of finite chains: two-sided bounds of every entry from one approximate law and one vector.

Notation: x the law with x_r = 1 at the reference state r, S = diag(exit rates) - rates without r.  For a vector u >= 0,
u_r = 0, with (uS)_j > 0 for all j != r, S is a nonsingular M-matrix, so that the law of the class is unique, and an
approximation y with y_r > 0 satisfies |y - y_r x| <= delta u, delta = max_j |inflow - outflow of y at j| / (uS)_j.

Caps    those of :mod:`finite_chain` and :mod:`dyadic`; the exponents of a state and of those that lead to it differ by
        at most 20,000,000 in total over the states, not counting 4000 for each state
"""

from typing import Any

from proofs_check.check.dyadic import at_least, at_most, dyadics
from proofs_check.check.exact import Rejected, fields, integer, items, wholes
from proofs_check.check.finite_chain import chain, leading_to

MAX_SHIFTS, FREE_SHIFT = 20_000_000, 4_000  # bits


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    """Check bounds on the stationary law of a closed class (default: all states).

    Problem: ``time``, ``states`` (count), ``transitions`` [i, j, rate].  Conclusion: ``entries`` [state, lower, upper];
    optional ``class`` (states; closed, one law), ``unique`` (true: no other class is closed).  Proof: ``reference``,
    ``law`` and ``vector`` as [mantissa, exponent] and mantissa by class state; a law without vector must be exact.
    """
    fields(problem, "time states transitions")
    fields(conclusion, "entries", "class unique")
    fields(proof, "reference law", "vector")
    into, out = chain(problem)
    size = len(out)
    members = [integer(i) for i in items(conclusion.get("class", list(range(size))))]
    if members != sorted(set(members)) or not members or members[-1] >= size:
        raise Rejected("the class is no increasing list of states")
    inside = set(members)
    if any(j not in inside for i in members for j, _ in out[i]):
        raise Rejected("the class is not closed")
    r = integer(proof["reference"])
    if r not in inside:
        raise Rejected("the reference state lies outside the class")
    law, exponent = dyadics(proof["law"], members)
    if law[r] <= 0 or min(law.values()) < 0:
        raise Rejected("the law is not positive at the reference state, or negative")
    vector = None
    if "vector" in proof:
        vector = dict(zip(members, wholes(proof["vector"], len(members)), strict=True))
    unique = conclusion.get("unique", False)
    if not isinstance(unique, bool):
        raise Rejected("unique is neither true nor false")
    if unique or vector is None:
        reached = leading_to(r, into)
        if vector is None and not inside <= reached:
            raise Rejected("some state of the class does not lead to the reference state")
        if unique and len(reached) < size:
            raise Rejected("some state does not lead to the reference state: the law need not be unique")
    delta = _delta(law, vector, exponent, (r, members, into, out))
    _bounds(conclusion["entries"], (law, vector or dict.fromkeys(members, 0), exponent), delta, size)


def _delta(law: dict[int, int], vector: dict[int, int] | None, exponent: dict[int, int], graph: Any) -> tuple[int, int]:
    """Return numerator and denominator of delta, not reduced."""
    r, members, into, out = graph
    if vector is not None and (min(vector.values()) < 0 or vector[r] != 0):
        raise Rejected("the vector is negative, or not zero at the reference state")
    top, bottom, shifts = 0, 1, 0
    for j in members:
        if j == r:
            continue
        sources = [(i, q) for i, q in into[j] if i in law]
        low = min([exponent[j], *(exponent[i] for i, _ in sources)])
        shifts += max(max(exponent[i] for i in (j, *(i for i, _ in sources))) - low - FREE_SHIFT, 0)
        if shifts > MAX_SHIFTS:
            raise Rejected("the exponents of neighbouring states differ too much")
        exits = sum(q for _, q in out[j])
        residual = sum(law[i] * q << (exponent[i] - low) for i, q in sources) - (law[j] * exits << (exponent[j] - low))
        if vector is None:
            if residual:
                raise Rejected(f"the law is not exact at state {j}, and there is no vector")
            continue
        gain = (vector[j] * exits << (exponent[j] - low)) - sum(
            vector[i] * q << (exponent[i] - low) for i, q in sources
        )
        if gain <= 0:
            raise Rejected(f"the vector proves nothing at state {j}")
        if abs(residual) * bottom > top * gain:
            top, bottom = abs(residual), gain
    return top, bottom


def _bounds(entries: Any, vectors: Any, delta: tuple[int, int], size: int) -> None:
    law, vector, exponent = vectors
    low = min(exponent.values())
    mass = sum(x << (exponent[i] - low) for i, x in law.items())
    over = delta[1]
    slack = delta[0] * sum(u << (exponent[i] - low) for i, u in vector.items())
    least, most = mass * over - slack, mass * over + slack  # bounds of the total, in units 2^low / over
    if least <= 0:
        raise Rejected("the error exceeds the law")
    for entry in items(entries):
        state, lower, upper = items(entry, 3)
        if integer(state) >= size:
            raise Rejected(f"state {state} does not exist")
        x, u, k = (law[state], vector[state], exponent[state]) if state in law else (0, 0, low)
        x, width = x * over, u * delta[0]
        if not (at_most(lower, max(0, x - width), most, k - low) and at_least(upper, x + width, least, k - low)):
            raise Rejected(f"the bounds of state {state} are tighter than what is proved")
