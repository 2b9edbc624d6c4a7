"""Stationary laws of finite chains: two-sided bounds of every entry from one approximate law and one vector.

Notation: x the law with x_r = 1 at the reference state r, S = diag(exit rates) - rates without r.  For a vector u >= 0,
u_r = 0, with (uS)_j > 0 for all j != r, S is a nonsingular M-matrix, so that the law of the class is unique, and an
approximation y with y_r > 0 satisfies |y - y_r x| <= delta u, delta = max_j |inflow - outflow of y at j| / (uS)_j.
"""

from fractions import Fraction
from math import lcm
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational

MAX_COMMON_BITS = 100_000
Edges = list[list[tuple[int, int]]]


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
    law, exponent = _dyadics(proof["law"], members)
    if law[r] <= 0 or min(law.values()) < 0:
        raise Rejected("the law is not positive at the reference state, or negative")
    vector = (
        None if "vector" not in proof else dict(zip(members, _mantissas(proof["vector"], len(members)), strict=True))
    )
    unique = conclusion.get("unique", False)
    if not isinstance(unique, bool):
        raise Rejected("unique is neither true nor false")
    if unique or vector is None:
        reached = _leading_to(r, into)
        if vector is None and not inside <= reached:
            raise Rejected("some state of the class does not lead to the reference state")
        if unique and len(reached) < size:
            raise Rejected("some state does not lead to the reference state: the law need not be unique")
    delta = _delta(law, vector, exponent, (r, members, into, out))
    _bounds(conclusion["entries"], (law, vector or dict.fromkeys(members, 0), exponent), delta, size)


def chain(problem: Any) -> tuple[Edges, Edges]:
    """Return integer rates by target and by source, self-loops left out, after checking that they form a chain."""
    size, discrete = integer(problem["states"], 1), problem["time"] == "discrete"
    if not discrete and problem["time"] != "continuous":
        raise Rejected("time is neither discrete nor continuous")
    listed = [(integer(i), integer(j), rational(q)) for i, j, q in map(_triple, items(problem["transitions"]))]
    if len({(i, j) for i, j, _ in listed}) != len(listed):
        raise Rejected("a transition is listed twice")
    below, total = 1, [Fraction(0)] * size
    for i, j, q in listed:
        if i >= size or j >= size or q < 0 or (i == j and not discrete):
            raise Rejected(f"transition {i} -> {j} is out of range, negative or a loop in continuous time")
        below = lcm(below, q.denominator)
        if below.bit_length() > MAX_COMMON_BITS:
            raise Rejected("the rates have no common denominator of moderate size")
        if discrete:
            total[i] += q
    if discrete and any(x != 1 for x in total):
        raise Rejected("probabilities of a state do not sum to 1")
    into: Edges = [[] for _ in range(size)]
    out: Edges = [[] for _ in range(size)]
    for i, j, q in listed:
        if i != j and q:
            rate = q.numerator * (below // q.denominator)
            into[j].append((i, rate))
            out[i].append((j, rate))
    return into, out


def _delta(law: dict[int, int], vector: dict[int, int] | None, exponent: dict[int, int], graph: Any) -> Fraction:
    r, members, into, out = graph
    if vector is not None and (min(vector.values()) < 0 or vector[r] != 0):
        raise Rejected("the vector is negative, or not zero at the reference state")
    worst = Fraction(0)
    for j in members:
        if j == r:
            continue
        sources = [(i, q) for i, q in into[j] if i in law]
        low = min([exponent[j], *(exponent[i] for i, _ in sources)])
        exits = sum(q for _, q in out[j]) << (exponent[j] - low)
        terms = [(i, q << (exponent[i] - low)) for i, q in sources]
        residual = sum(law[i] * q for i, q in terms) - law[j] * exits
        if vector is None:
            if residual:
                raise Rejected(f"the law is not exact at state {j}, and there is no vector")
            continue
        gain = vector[j] * exits - sum(vector[i] * q for i, q in terms)
        if gain <= 0:
            raise Rejected(f"the vector proves nothing at state {j}")
        if abs(residual) * worst.denominator > worst.numerator * gain:
            worst = Fraction(abs(residual), gain)
    return worst


def _bounds(entries: Any, vectors: Any, delta: Fraction, size: int) -> None:
    law, vector, exponent = vectors
    low = min(exponent.values())
    mass = sum(x << (exponent[i] - low) for i, x in law.items())
    slack = delta * sum(u << (exponent[i] - low) for i, u in vector.items())
    least, most = mass - slack, mass + slack  # bounds of the total, in units 2^low
    if least <= 0:
        raise Rejected("the error exceeds the law")
    for entry in items(entries):
        state, lower, upper = _triple(entry)
        if integer(state) >= size:
            raise Rejected(f"state {state} does not exist")
        x, width, k = (law[state], delta * vector[state], exponent[state]) if state in law else (0, Fraction(0), low)
        if not (
            _at_most(lower, max(Fraction(0), x - width), most, k - low) and _at_least(upper, x + width, least, k - low)
        ):
            raise Rejected(f"the bounds of state {state} are tighter than what is proved")


def _at_most(text: Any, top: Fraction, bottom: Fraction, shift: int) -> bool:
    """Return whether ``text`` <= top 2^shift / bottom."""
    p, q, k = _number(text)
    return _compare(p * bottom.numerator * top.denominator, top.numerator * bottom.denominator * q, k - shift) <= 0


def _at_least(text: Any, top: Fraction, bottom: Fraction, shift: int) -> bool:
    p, q, k = _number(text)
    return _compare(p * bottom.numerator * top.denominator, top.numerator * bottom.denominator * q, k - shift) >= 0


def _compare(a: int, b: int, shift: int) -> int:
    """Return the sign of a 2^shift - b."""
    gap = (a << shift) - b if shift >= 0 else a - (b << -shift)
    return (gap > 0) - (gap < 0)


def _number(text: Any) -> tuple[int, int, int]:
    """Return p, q, k with text = p/q 2^k; long powers of two are not multiplied out."""
    mantissa, mark, power = text.partition("*2^") if isinstance(text, str) else (text, "", "")
    value = rational(mantissa)
    if not mark:
        return value.numerator, value.denominator, 0
    if not power.removeprefix("-").isdecimal() or not power.isascii() or len(power) > 9:
        raise Rejected("a power of two out of bounds")
    return value.numerator, value.denominator, int(power)


def _dyadics(pairs: Any, members: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    found = [items(pair, 2) for pair in items(pairs, len(members))]
    mantissas = _mantissas([m for m, _ in found], len(members))
    exponents = [integer(e, -(10**8)) for _, e in found]
    if max(exponents) > 10**8:
        raise Rejected("an exponent out of bounds")
    return dict(zip(members, mantissas, strict=True)), dict(zip(members, exponents, strict=True))


def _mantissas(texts: Any, length: int) -> list[int]:
    values = [rational(t) for t in items(texts, length)]
    if any(v.denominator != 1 for v in values):
        raise Rejected("a mantissa is no integer")
    return [v.numerator for v in values]


def _leading_to(r: int, into: Edges) -> set[int]:
    reached, queue = {r}, [r]
    for j in queue:
        for i, _ in into[j]:
            if i not in reached:
                reached.add(i)
                queue.append(i)
    return reached


def _triple(x: Any) -> list[Any]:
    return items(x, 3)
