"""Kind *induction*: a statement about every state that steps can reach from a start.

problem     ``variables``, ``domain``; ``state``: names; ``starts``: [{state: expression}];
            ``steps``: {name: {"set": {state: expression}, "guard": more domain, "free": names}}, where a free name may
            take any value that the guard allows, another one at each step;
            perhaps ``define``: {name: expression}, where ``name_after_step`` means the same after that step
conclusion  ``statements`` as in kind *sign*, about variables, state and defined names
proof       ``equalities``: expressions that vanish in every reachable state;
            ``invariants``: {symbol: [polynomial, relation]};
            ``starts``: one {symbol: text} a start; ``steps``: {name: {"equalities": [[cofactor, ..], ..],
            "invariants": {symbol: [text, cofactors]}}}; ``positive``; ``signs``: one [text, cofactors] a statement;
            ``witness``: points of the domain; ``runs``: [[point, index of a start, [[step, {free: number}], ..]], ..]

What starts and steps divide by must be positive there, shown by ``positive``; a text of it counts wherever its names
are known.  What a statement assumes must hold in a state that is reached: a start at a witness, or the end of a run.
A value is shown to be nonnegative by a text with nonnegative coefficients in the symbols of domain, guard and
invariants; a sum of cofactors times equalities, all zero in reachable states, may be added.
"""

from contextlib import suppress
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, table, word
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant, substituted
from proofs_check.check.sign import Domain, Positive
from proofs_check.check.transitions import Point, System, joined, reached, read


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "statements")
    fields(proof, "equalities invariants starts steps positive signs", "witness runs")
    system = read(problem)
    system.domain.inhabited(proof.get("witness", []))
    zeros = [expression(text, system.names) for text in items(proof["equalities"])]
    invariants = Domain(system.names, proof["invariants"])
    if any(meaning.bottom for meaning in (*zeros, *invariants.meaning.values())):
        raise Rejected("state equalities and invariants between polynomials")
    _check_starts(system, zeros, invariants, proof["starts"], proof["positive"])
    if set(table(proof["steps"])) != set(system.steps):
        raise Rejected("the proof must treat exactly the steps of the problem")
    for name, (moved, guarded) in system.steps.items():
        here = joined(guarded, invariants)
        _divisible(moved, here, proof["positive"])
        _check_step(moved, here, zeros, invariants, proof["steps"][name])
    ends = reached(system, proof.get("witness", []), proof.get("runs", []))
    _check_statements(system, joined(system.domain, invariants), zeros, conclusion["statements"], proof, ends)


def _divisors(here: Domain, texts: Any) -> Positive:
    """Return what the texts show to be positive here; one that speaks of unknown names shows nothing."""
    divisors = Positive(here, [])
    for text in items(texts):
        with suppress(Rejected):
            divisors.known |= Positive(here, [text]).known
    return divisors


def _divisible(values: dict[str, Ratio], here: Domain, texts: Any) -> None:
    if any(f.bottom for f in values.values()):
        divisors = _divisors(here, texts)
        for f in values.values():
            divisors.divides(f)


def _check_starts(system: System, zeros: list[Ratio], invariants: Domain, proofs: Any, positive: Any) -> None:
    for start, texts in zip(system.starts, items(proofs, len(system.starts)), strict=True):
        _divisible(start, system.domain, positive)
        if set(table(texts)) != set(invariants.meaning):
            raise Rejected("every invariant needs a proof at the start")
        if not all(substituted(zero, start).is_zero() for zero in zeros):
            raise Rejected("an equality fails at the start")
        for symbol, meaning in invariants.meaning.items():
            value = substituted(meaning, start)
            _named(system.domain.proves, value, texts[symbol], symbol in invariants.strict, f"{symbol} at the start")


def _check_step(moved: dict[str, Ratio], here: Domain, zeros: list[Ratio], invariants: Domain, proof: Any) -> None:
    fields(proof, "equalities invariants")
    for zero, cofactors in zip(zeros, items(proof["equalities"], len(zeros)), strict=True):
        if not (substituted(zero, moved) - _polynomial(_combination(cofactors, zeros, here))).is_zero():
            raise Rejected("an equality is not kept by a step")
    if set(table(proof["invariants"])) != set(invariants.meaning):
        raise Rejected("every invariant needs a proof for the step")
    for symbol, meaning in invariants.meaning.items():
        text, cofactors = items(proof["invariants"][symbol], 2)
        value = substituted(meaning, moved) - _polynomial(_combination(cofactors, zeros, here))
        _named(here.proves, value, text, symbol in invariants.strict, f"{symbol} after a step")


def _check_statements(
    system: System, here: Domain, zeros: list[Ratio], statements: Any, proof: Any, ends: list[Point]
) -> None:
    if not items(statements):
        raise Rejected("nothing is stated")
    for statement, sign in zip(statements, items(proof["signs"], len(statements)), strict=True):
        fields(statement, "claim", "assume")
        left, rel, right = items(statement["claim"], 3)
        domain, assumed = here.extended(statement.get("assume", {})), Domain(system.names, statement.get("assume", {}))
        if assumed.meaning and not any(assumed.holds(end) for end in ends):
            raise Rejected("no state that is reached satisfies what is assumed: the statement may speak of nothing")
        f = expression(left, system.vocabulary) - expression(right, system.vocabulary)
        divisors = _divisors(domain, proof["positive"])
        text, cofactors = items(sign, 2)
        value = divisors.divides(f) - divisors.divides(_combination(cofactors, zeros, domain))
        if rel == "=":
            if not value.is_zero():
                raise Rejected(f"{word(left)[:60]} = {word(right)[:60]} does not follow from the equalities")
        elif rel in (">", ">=", "<", "<="):
            domain.proves(value if rel in (">", ">=") else -value, text, strict=rel in (">", "<"))
        else:
            raise Rejected(f"{str(rel)[:20]!r} is no relation")


def _combination(cofactors: Any, zeros: list[Ratio], here: Domain) -> Ratio:
    """Return the sum of cofactor times equality, which vanishes in every reachable state."""
    total = constant(0)
    for text, zero in zip(items(cofactors, len(zeros)), zeros, strict=True):
        total = total + expression(text, here.names) * zero
    return total


def _polynomial(f: Ratio) -> Ratio:
    if f.bottom:
        raise Rejected("a cofactor must be a polynomial")
    return f


def _named(prove: Any, f: Ratio, text: Any, strict: bool, what: str) -> None:
    try:
        prove(f, text, strict=strict)
    except Rejected as reason:
        raise Rejected(f"invariant {what}: {reason}") from None
