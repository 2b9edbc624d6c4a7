"""Transition systems: states that starts give and steps change, and runs of them at exact numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational, table
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant, substituted
from proofs_check.check.sign import Domain
from proofs_check.check.statements import define, variables

Point = dict[str, Ratio]


@dataclass(frozen=True)
class System:
    """The transition system: what the names mean, where it starts, how it moves."""

    base: Mapping[str, Ratio]
    names: Mapping[str, Ratio]
    domain: Domain
    starts: list[dict[str, Ratio]]
    steps: dict[str, tuple[dict[str, Ratio], Domain]]
    vocabulary: dict[str, Ratio]


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


def reached(system: System, points: Any, runs: Any) -> list[Point]:
    """Return numbers for all names in states that are reached: every start at every point, and the end of every run."""
    ends = [_end(system, point, i, []) for point in items(points) for i in range(len(system.starts))]
    return ends + [_end(system, *items(run, 3)) for run in items(runs)]


def _end(system: System, point: Any, start: Any, steps: Any) -> Point:
    """Return the state after steps, [name, {free name: number}] each, from a start at a point."""
    at = _numbers(point, system.base)
    if not system.domain.holds(at):
        raise Rejected("a run begins outside the domain")
    here = {name: substituted(f, at) for name, f in items(system.starts)[integer(start)].items()}
    for step in items(steps):
        name, chosen = items(step, 2)
        moved, guarded = system.steps[name]
        here = at | here | _numbers(chosen, set(guarded.names) - set(system.names))
        if not guarded.holds(here):
            raise Rejected("a run takes a step that its guard forbids")
        here = {state: substituted(f, here) for state, f in moved.items()}
    return at | here


def _numbers(given: Any, names: Any) -> Point:
    if set(table(given)) != set(names):
        raise Rejected("a run needs a number for every variable and every free name")
    return {name: constant(rational(x)) for name, x in given.items()}
