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
            ``witness``: points of the domain

A value is shown to be nonnegative by a text with nonnegative coefficients in the symbols of domain, guard and
invariants; a sum of cofactors times equalities, all zero in reachable states, may be added.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proofs_check.check.exact import Rejected, fields, items, table, word
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant, substituted
from proofs_check.check.sign import Domain, Positive
from proofs_check.check.statements import define, variables


@dataclass(frozen=True)
class System:
    """The transition system: what the names mean, where it starts, how it moves."""

    base: Mapping[str, Ratio]
    names: Mapping[str, Ratio]
    domain: Domain
    starts: list[dict[str, Ratio]]
    steps: dict[str, tuple[dict[str, Ratio], Domain]]
    vocabulary: dict[str, Ratio]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "statements")
    fields(proof, "equalities invariants starts steps positive signs", "witness")
    system = read(problem)
    system.domain.inhabited(proof.get("witness", []))
    zeros = [expression(text, system.names) for text in items(proof["equalities"])]
    if any(zero.bottom for zero in zeros):
        raise Rejected("state equalities between polynomials")
    invariants = Domain(system.names, proof["invariants"])
    _check_starts(system, zeros, invariants, proof["starts"])
    if set(table(proof["steps"])) != set(system.steps):
        raise Rejected("the proof must treat exactly the steps of the problem")
    for name, (moved, guarded) in system.steps.items():
        _check_step(moved, joined(guarded, invariants), zeros, invariants, proof["steps"][name])
    _check_statements(system, joined(system.domain, invariants), zeros, conclusion["statements"], proof)


def read(problem: Any) -> System:
    """Return the system that a problem describes."""
    fields(problem, "variables domain state starts steps", "define")
    base, state = variables(problem["variables"]), variables(problem["state"])
    if set(base) & set(state):
        raise Rejected("a name is both a variable and a state")
    names = base | state
    domain = Domain(base, problem["domain"])
    starts = [_assignment(start, state, base) for start in items(problem["starts"])]
    if not starts or not table(problem["steps"]):
        raise Rejected("an induction needs a start and a step")
    steps, vocabulary = {}, define(names, problem.get("define", {}))
    for name, step in problem["steps"].items():
        fields(step, "set", "guard free")
        free = variables(step.get("free", []))
        if set(free) & set(names):
            raise Rejected("a free name is already taken")
        moved = _assignment(step["set"], state, names | free)
        steps[name] = (moved, joined(domain, Domain(names | free, step.get("guard", {}))))
        for defined in problem.get("define", {}):
            later = f"{defined}_after_{name}"
            if later in vocabulary:
                raise Rejected(f"{later[:40]!r} is defined twice")
            vocabulary[later] = substituted(vocabulary[defined], moved)
    return System(base, names, domain, starts, steps, vocabulary)


def _assignment(texts: Any, state: Mapping[str, Ratio], names: Mapping[str, Ratio]) -> dict[str, Ratio]:
    if set(table(texts)) != set(state):
        raise Rejected("a start or step must give every state name a value")
    return {name: expression(text, names) for name, text in texts.items()}


def joined(first: Domain, second: Domain) -> Domain:
    both = Domain({**first.names, **second.names}, {})
    for part in (first, second):
        for symbol, meaning in part.meaning.items():
            both.add(symbol, meaning, ">" if symbol in part.strict else ">=")
    return both


def _check_starts(system: System, zeros: list[Ratio], invariants: Domain, proofs: Any) -> None:
    for start, texts in zip(system.starts, items(proofs, len(system.starts)), strict=True):
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


def _check_statements(system: System, here: Domain, zeros: list[Ratio], statements: Any, proof: Any) -> None:
    if not items(statements):
        raise Rejected("nothing is stated")
    for statement, sign in zip(statements, items(proof["signs"], len(statements)), strict=True):
        fields(statement, "claim", "assume")
        left, rel, right = items(statement["claim"], 3)
        domain = here.extended(statement.get("assume", {}))
        f = expression(left, system.vocabulary) - expression(right, system.vocabulary)
        divisors = Positive(domain, proof["positive"])
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
