"""Kind *coupling*: two schemes on one probability space such that one age never exceeds the other.

Whatever pair of modes of a list the two schemes are in, there is a joint slot with the right marginals after which the
pair is again in the list, and in which the smaller scheme resets its age whenever the larger one does.  Then
J_smaller <= J_larger for ever from every listed pair with equal ages.  Every mode of both schemes is listed, so that
the stationary laws compare wherever each scheme has only one.

problem     ``variables``, ``domain``, ``smaller`` and ``larger``: {"up": block, "reset": block}
conclusion  ``order``: "smaller <= larger"
proof       ``pairs``: [[mode, mode], ..]; ``moves``: for each pair [[move, mode, move, mode, chance, text], ..] with
            moves "up" or "reset", smaller scheme first; the text shows that the chance is nonnegative;
            ``positive``, ``witness`` as in kind *sign*
"""

from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant
from proofs_check.check.sign import Domain, Positive
from proofs_check.check.statements import variables

Blocks = dict[str, list[list[Ratio]]]
Marginal = dict[tuple[str, int], Ratio]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "variables domain smaller larger")
    fields(conclusion, "order")
    fields(proof, "pairs moves positive", "witness")
    if conclusion["order"] != "smaller <= larger":
        raise Rejected("the order is written 'smaller <= larger'")
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    domain.inhabited(proof.get("witness", []))
    positive = Positive(domain, proof["positive"])
    schemes = [_blocks(problem[side], names, positive) for side in ("smaller", "larger")]
    pairs = [tuple(integer(mode) for mode in items(pair, 2)) for pair in items(proof["pairs"])]
    if not pairs or any(mode >= len(s["up"]) for pair in pairs for mode, s in zip(pair, schemes, strict=True)):
        raise Rejected("a pair of modes is missing or out of range")
    for side, scheme in enumerate(schemes):
        if {pair[side] for pair in pairs} != set(range(len(scheme["up"]))):
            raise Rejected("every mode of both schemes must occur in a pair")
    for pair, moves in zip(pairs, items(proof["moves"], len(pairs)), strict=True):
        try:
            _check_slot(pair, moves, schemes, set(pairs), domain, positive)
        except Rejected as reason:
            raise Rejected(f"from modes {pair}: {reason}") from None


def _check_slot(pair: Any, moves: Any, schemes: list[Blocks], pairs: Any, domain: Domain, positive: Positive) -> None:
    sums: list[Marginal] = [{}, {}]
    whole = constant(0)
    for move in items(moves):
        small, i, large, j, text, sign = items(move, 6)
        if small not in ("up", "reset") or large not in ("up", "reset") or (small, large) == ("up", "reset"):
            raise Rejected("a move would leave the smaller scheme older")
        if (integer(i), integer(j)) not in pairs:
            raise Rejected("a move leaves the list of pairs")
        chance = positive.divides(expression(text, domain.names))
        domain.proves(chance, sign, strict=False)
        whole = whole + chance
        for total, key in zip(sums, ((small, i), (large, j)), strict=True):
            total[key] = total[key] + chance if key in total else chance
    if not (whole - constant(1)).is_zero():
        raise Rejected("the chances do not sum to 1")
    for total, blocks, mode in zip(sums, schemes, pair, strict=True):
        for kind in ("up", "reset"):
            for target, x in enumerate(blocks[kind][mode]):
                if not (total.get((kind, target), constant(0)) - x).is_zero():
                    raise Rejected("the moves have other marginals than the scheme")


def _blocks(blocks: Any, names: dict[str, Ratio], positive: Positive) -> Blocks:
    fields(blocks, "up reset")
    size = len(items(blocks["up"]))
    return {
        kind: [
            [positive.divides(expression(text, names)) for text in items(row, size)]
            for row in items(blocks[kind], size)
        ]
        for kind in ("up", "reset")
    }
