"""Finds combinations of given word identities by linear algebra over rational functions."""

from itertools import product
from typing import Any

import sympy
from sympy.polys.matrices import DomainMatrix

from proofs_check.check.statements import variables
from proofs_check.check.words import Element, element
from proofs_check.search.algebra import ratio, text
from proofs_check.search.handelman import NotFound

Json = dict[str, Any]
MAX_CONTEXT = 2  # letters to the left and to the right of a given element


def words(problem: Json, conclusion: Json) -> Json:
    """Return the proof of kind *words*."""
    scalars, letters = variables(problem["scalars"]), set(problem["letters"])
    given = [element(x, scalars, letters) for x in problem["given"]]
    targets = [element(x, scalars, letters) for x in conclusion["zero"]]
    contexts = [w for n in range(MAX_CONTEXT + 1) for w in product(sorted(letters), repeat=n)]
    return {"combinations": [_combination(target, given, contexts, problem["scalars"]) for target in targets]}


def _combination(target: Element, given: list[Element], contexts: list[tuple[str, ...]], scalars: list[str]) -> list:
    """Return terms that add up to the target, from products that only involve words within reach."""
    reach, columns = set(target), []
    for _ in range(2):  # words of the target, then those that come with them
        columns = [
            (left, i, right, shifted)
            for i, x in enumerate(given)
            for left in contexts
            for right in contexts
            if (shifted := {(*left, *w, *right): c for w, c in x.items()}).keys() & reach
        ]
        reach |= {w for *_, shifted in columns for w in shifted}
    field = sympy.QQ.frac_field(*map(sympy.Symbol, scalars))
    rows = sorted(reach)
    table = [[_entry(s, w, field) for *_, s in columns] + [_entry(target, w, field)] for w in rows]
    reduced, pivots = DomainMatrix(table, (len(rows), len(columns) + 1), field).rref()
    if len(columns) in pivots:
        raise NotFound("no combination of the given identities found")
    solution = [reduced[r, len(columns)].element for r in range(len(pivots))]
    terms = []
    for column, weight in zip(pivots, solution, strict=True):
        if weight:
            left, i, right, _ = columns[column]
            terms.append([text(field.to_sympy(weight)), list(left), i, list(right)])
    return terms


def _entry(x: Element, word: tuple[str, ...], field: Any) -> Any:
    return field.from_sympy(sympy.cancel(ratio(x[word]))) if word in x else field.zero
