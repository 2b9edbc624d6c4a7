"""Finds the texts of an induction once somebody has named its equalities and invariants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, substituted
from proofs_check.check.sign import Domain
from proofs_check.check.transitions import System, joined, read
from proofs_check.search.algebra import constraints, positive_texts, ratio, relation_text, text
from proofs_check.search.handelman import sign_text

Json = dict[str, Any]


@dataclass(frozen=True)
class Idea:
    """The creative part of an induction.

    ``equalities`` give dependent states in terms of others, as {state: expression}; ``invariants`` are
    {symbol: [polynomial, relation]} in the independent states.
    """

    equalities: Mapping[str, str] = field(default_factory=dict)
    invariants: Mapping[str, Sequence[str]] = field(default_factory=dict)


def induction(problem: Json, conclusion: Json, idea: Idea) -> Json:
    """Return the proof of kind *induction*."""
    system = read(problem)
    zero_texts = [f"{name} - ({words})" for name, words in idea.equalities.items()]
    zeros = [expression(words, system.names) for words in zero_texts]
    invariants = Domain(system.names, {s: list(c) for s, c in idea.invariants.items()})
    reducer = Reducer(zeros, list(idea.equalities), system.names)
    everywhere = joined(system.domain, invariants)
    signs, divisors = statement_signs(system, conclusion["statements"], everywhere, reducer)
    positive = positive_texts(divisors, everywhere)
    for start in system.starts:
        positive += positive_texts(start.values(), system.domain)
    for moved, guarded in system.steps.values():
        positive += positive_texts(moved.values(), joined(guarded, invariants))
    return {
        "equalities": zero_texts,
        "invariants": {s: list(c) for s, c in idea.invariants.items()},
        "starts": [_start(start, system.domain, invariants) for start in system.starts],
        "steps": {
            name: _step(moved, joined(guarded, invariants), zeros, invariants, reducer)
            for name, (moved, guarded) in system.steps.items()
        },
        "positive": list(dict.fromkeys(positive)),
        "signs": signs,
    }


class Reducer:
    """Eliminates the dependent states: f = rest + sum of cofactor times equality."""

    def __init__(self, zeros: list[Ratio], first: Sequence[str], names: Iterable[str]) -> None:
        self.zeros = [ratio(zero) for zero in zeros]
        dependent = [sympy.Symbol(name) for name in first]
        others = sorted({sympy.Symbol(n) for n in names} - set(dependent), key=str)
        self.symbols = [*dependent, *others]

    def __call__(self, f: sympy.Expr) -> tuple[sympy.Expr, list[str]]:
        top, bottom = sympy.fraction(sympy.together(f))
        if not self.zeros or sympy.expand(top) == 0:
            return f, ["0"] * len(self.zeros)
        cofactors, rest = sympy.reduced(sympy.expand(top), self.zeros, *self.symbols, order="lex")
        return rest / bottom, [text(q if bottom == 1 else sympy.cancel(q / bottom)) for q in cofactors]


def _start(start: dict[str, Ratio], domain: Domain, invariants: Domain) -> Json:
    given = constraints(domain)
    return {
        symbol: sign_text(ratio(substituted(meaning, start)), given, strict=symbol in invariants.strict)
        for symbol, meaning in invariants.meaning.items()
    }


def _step(moved: dict[str, Ratio], here: Domain, zeros: list[Ratio], invariants: Domain, reducer: Reducer) -> Json:
    given, proved = constraints(here), {}
    for symbol, meaning in invariants.meaning.items():
        rest, cofactors = reducer(ratio(substituted(meaning, moved)))
        proved[symbol] = [sign_text(rest, given, strict=symbol in invariants.strict), cofactors]
    return {"equalities": [reducer(ratio(substituted(zero, moved)))[1] for zero in zeros], "invariants": proved}


def statement_signs(
    system: System, statements: list[Json], here: Domain, reducer: Reducer, squares: Sequence[str] = ()
) -> tuple[list, list[Ratio]]:
    """Return the proofs of the statements, and everything that is divided by."""
    found, divisors = [], []
    for statement in statements:
        left, relation, right = statement["claim"]
        f = expression(left, system.vocabulary) - expression(right, system.vocabulary)
        rest, cofactors = reducer(ratio(f))
        given = constraints(here.extended(statement.get("assume", {})), squares)
        found.append([relation_text(rest, relation, given), cofactors])
        divisors += [f, *(expression(c, system.names) for c in cofactors)]
    return found, divisors
