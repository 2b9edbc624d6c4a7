"""Finds the points that show that a statement speaks of something: one in the domain, one in every part assumed."""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

from proofs_check.check.boxes import box_of
from proofs_check.check.exact import Rejected
from proofs_check.check.polynomial import Ratio, constant, substituted
from proofs_check.check.sign import Domain
from proofs_check.check.statements import chosen_values, variables
from proofs_check.check.transitions import System, reached, read
from proofs_check.search.handelman import NotFound
from proofs_check.search.refuter import counterexample

Json = dict[str, Any]
KINDS = ("identity", "sign", "levels", "induction", "coupling", "bernstein")
MAX_STEPS = 6  # of a run to a state that satisfies what is assumed


def witnessed(kind: str, problem: Json, conclusion: Json, proof: Json) -> Json:
    """Return the proof with the points that its kind asks for.

    Raises
    ------
    NotFound
        No point of a part was found.
    """
    restricted = any(said.get("set") for said in conclusion.get("statements", []))
    if kind not in KINDS or not (problem["domain"] or restricted or _assumptions(kind, conclusion)):
        return proof
    domain = Domain(variables(problem["variables"]), problem["domain"])
    points: list[dict[str, str]] = []
    parts = _assumptions(kind, conclusion) if kind != "induction" else []  # there they may speak of states: runs
    for here in (domain, *(domain.extended(more) for more in parts)):
        try:
            here.inhabited(points)
        except Rejected:
            points.append(_point(here))
    if kind not in ("induction", "coupling"):
        points += _set(domain, conclusion, points)
    found = {**proof, "witness": points}
    runs = _runs(read(problem), conclusion, points) if kind == "induction" else []
    return {**found, "runs": runs} if runs else found


def _set(domain: Domain, conclusion: Json, points: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return points of the parts in which variables have chosen values."""
    found: list[dict[str, str]] = []
    for said in conclusion.get("statements", []):
        here = domain.extended(said.get("assume", {}))
        if not (chosen := chosen_values(said.get("set", {}), here)):
            continue
        free = Domain({name: f for name, f in domain.names.items() if name not in chosen}, {})
        for symbol, meaning in here.meaning.items():
            free.add(symbol, substituted(meaning, chosen), ">" if symbol in here.strict else ">=")
        point = _point(free)
        at = {name: constant(x) for name, x in point.items()}
        values = {name: str(substituted(f, at).top.terms.get((), 0)) for name, f in chosen.items()}
        if (whole := {**point, **values}) not in [*points, *found]:
            found.append(whole)
    return found


def _assumptions(kind: str, conclusion: Json) -> list[Json]:
    says = (*conclusion.get("statements", []), *conclusion.get("orders", []))
    return [part["assume"] for part in says if part.get("assume")]


def _runs(system: System, conclusion: Json, points: list[dict[str, str]]) -> list[Json]:
    """Return runs to states in which the assumptions hold that no start at a point satisfies."""
    runs: list[Any] = []
    for statement in conclusion["statements"]:
        assumed = Domain(system.names, statement.get("assume", {}))
        if not assumed.meaning or any(assumed.holds(end) for end in reached(system, points, runs)):
            continue
        for start, steps, state in _paths(system):
            domain = system.domain.extended({})
            for symbol, meaning in assumed.meaning.items():
                domain.add(symbol, substituted(meaning, state), ">" if symbol in assumed.strict else ">=")
            try:
                run = [_point(domain, (0.0,)), start, [[name, {}] for name in steps]]
                if any(assumed.holds(end) for end in reached(system, [], [run])):
                    runs.append(run)
                    break
            except (NotFound, Rejected):
                continue
        else:
            raise NotFound("no state that is reached was found in which the assumption holds")
    return runs


def _paths(system: System) -> Iterator[tuple[int, tuple[str, ...], dict[str, Ratio]]]:
    """Yield start, steps and state after them, short ones first; steps with a free name are not taken."""
    plain = [name for name, (_, guarded) in system.steps.items() if set(guarded.names) == set(system.names)]
    for length in range(MAX_STEPS + 1):
        for steps in combinations_with_replacement(plain, length):
            for i, first in enumerate(system.starts):
                state = dict(first)
                for name in steps:
                    state = {n: substituted(f, state) for n, f in system.steps[name][0].items()}
                yield i, steps, state


def _point(domain: Domain, depths: tuple[float, ...] = (0.0, 4.0)) -> dict[str, str]:
    if not domain.names and domain.holds({}):
        return {}
    box = box_of(domain)
    for deep in depths:
        if point := counterexample(("1", "<=", "0"), domain, box, deep=deep):
            return {name: str(x) for name, x in point.items()}
    raise NotFound("no point of the domain was found")
