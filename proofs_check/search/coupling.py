"""Finds couplings of two schemes: greedily, both lost with the smaller chance of loss, source moves together."""

from typing import Any

import sympy

from proofs_check.check.expression import expression
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables
from proofs_check.search.algebra import constraints, positive_texts, ratio, text
from proofs_check.search.handelman import Constraints, NotFound, sign_text

Json = dict[str, Any]
KINDS = ("up", "reset")


def source_labels(problem: Json, states: int = 2) -> tuple[list[Any], list[Any]]:
    """Return the source state of each mode, as the models list them: states fastest; a single mode knows no source."""
    sizes = (len(problem[side]["up"]) for side in ("smaller", "larger"))
    first, second = ([i % states for i in range(size)] if size > 1 else [None] for size in sizes)
    return first, second


def coupling(problem: Json, conclusion: Json, labels: tuple[list[Any], list[Any]]) -> Json:
    """Return the proof of kind *coupling*; ``labels`` give each mode's source state, equal ones move together."""
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    given = constraints(domain)
    schemes = [
        {kind: [[ratio(expression(t, names)) for t in row] for row in problem[side][kind]] for kind in KINDS}
        for side in ("smaller", "larger")
    ]
    frontier = [(0, 0)]
    moves: dict[tuple[int, int], list] = {}
    while frontier:
        pair = frontier.pop()
        if pair not in moves:
            moves[pair] = _slot(pair, schemes, labels, given)
            frontier += [(i, j) for _, i, _, j, *_ in moves[pair]]
    divisors = [
        expression(t, names) for side in ("smaller", "larger") for k in KINDS for row in problem[side][k] for t in row
    ]
    divisors += [expression(chance, names) for slot in moves.values() for *_, chance, _ in slot]
    return {
        "pairs": [list(pair) for pair in moves],
        "moves": list(moves.values()),
        "positive": positive_texts(divisors, domain),
    }


def _slot(pair: tuple[int, int], schemes: list[Json], labels: tuple[list, list], given: Constraints) -> list:
    found = []
    outcomes = [
        {(kind, j): x for kind in KINDS for j, x in enumerate(s[kind][mode]) if x != 0}
        for s, mode in zip(schemes, pair, strict=True)
    ]
    for label in dict.fromkeys(labels[0][j] for _, j in outcomes[0]):
        parts = [
            {key: x for key, x in side.items() if labels[k][key[1]] in (label, None)} for k, side in enumerate(outcomes)
        ]
        if labels[1][0] is None:  # the larger scheme has no source: scale it to the chance of this source state
            share = sympy.cancel(sum(parts[0].values()))
            parts[1] = {key: sympy.cancel(share * x) for key, x in parts[1].items()}
        found += _together(parts[0], parts[1], given)
    return found


def _together(small: Json, large: Json, given: Constraints) -> list:
    """Pair outcomes of equal total: losses of both first, then resets of the smaller scheme with what is left."""
    small, large, found = dict(small), dict(large), []
    for wanted in (("up", "up"), ("reset", "up"), ("reset", "reset")):
        for x_key in [k for k in small if k[0] == wanted[0]]:
            for y_key in [k for k in large if k[0] == wanted[1]]:
                chance, proof = _least(small[x_key], large[y_key], given)
                if chance != 0:
                    found.append([*x_key, *y_key, text(chance), proof])
                small[x_key], large[y_key] = (sympy.cancel(v - chance) for v in (small[x_key], large[y_key]))
    if any(x != 0 for x in (*small.values(), *large.values())):
        raise NotFound("the smaller scheme would stay older")
    return found


def _least(x: sympy.Expr, y: sympy.Expr, given: Constraints) -> tuple[sympy.Expr, str]:
    """Return the smaller of two functions, known to be so on the domain, and the proof that it is nonnegative."""
    for first, second in ((x, y), (y, x)):
        try:
            sign_text(sympy.cancel(second - first), given, strict=False)
            return sympy.factor(first), sign_text(first, given, strict=False)
        except NotFound:
            continue
    raise NotFound("neither chance is certainly the smaller one")
