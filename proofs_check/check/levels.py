"""Kind *levels*: the law of the slot age J, all levels at once, by finitely many levels and then a recurrence.

problem     ``variables``, ``domain``, ``laws``: {name: {"up": block, "reset": block}}
conclusion  ``statements`` as in kind *sign*, whose expressions may use mean_NAME, second_NAME (moment), variance_NAME,
            failure_NAME = P(J >= 1), gap_NAME (mean slots between resets), pmf_NAME_j, tail_NAME_j;
            ``orders``: [{"smaller": name, "larger": name, "assume": more domain}], stochastic orders over all levels;
            ``laws``: {name: {"pmf": [expression, ..], "period": L, "ratio": expression}}: the whole law, where
            P(J = j + L) = ratio P(J = j) from j = length - L on
proof       ``laws``: {name: {"law": nu, "levels": K, "period": L, "ratio": expression, "ratio_sign": text,
            "entries": {entry: text}, "parents": [mode or null]}};
            ``positive``, ``signs``, ``witness`` as in kind *sign*; ``orders``: [[text a level], ..]
"""

from collections.abc import Mapping
from math import lcm
from typing import Any

from proofs_check.check.age_law import MAX_LEVELS, AgeLaw
from proofs_check.check.exact import Rejected, fields, integer, items, table
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio
from proofs_check.check.sign import Domain, Positive
from proofs_check.check.statements import check_statements, variables


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "variables domain laws")
    fields(conclusion, "statements", "orders laws")
    fields(proof, "laws positive signs", "orders witness")
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    domain.inhabited(proof.get("witness", []))
    laws = derived(problem["laws"], proof["laws"], names, domain, proof["positive"])
    orders, whole = items(conclusion.get("orders", [])), table(conclusion.get("laws", {}))
    for order, texts in zip(orders, items(proof.get("orders", []), len(orders)), strict=True):
        here = domain.extended(order.get("assume", {}))
        here.inhabited(proof.get("witness", []))
        _check_order(order, texts, laws, here)
    for name, law in whole.items():
        _check_whole(law, laws[name], names, Positive(domain, proof["positive"]))
    if conclusion["statements"] or not (orders or whole):
        vocabulary = with_quantities(names, laws)
        check_statements(conclusion["statements"], proof, domain, vocabulary)
    elif items(proof["signs"]):
        raise Rejected("signs without statements")


def derived(problem: Any, proof: Any, names: Mapping[str, Ratio], domain: Domain, positive: Any) -> dict[str, AgeLaw]:
    """Return the law of every scheme of a problem."""
    if set(table(problem)) != set(table(proof)) or not problem:
        raise Rejected("the proof must treat exactly the laws of the problem")
    divisors = Positive(domain, positive)
    return {name: AgeLaw(blocks, proof[name], names, domain, divisors) for name, blocks in problem.items()}


def quantities(laws: Mapping[str, AgeLaw], levels: int = 8) -> dict[str, Ratio]:
    words: dict[str, Ratio] = {}
    for name, law in laws.items():
        words |= law.words(name, levels)
    return words


def with_quantities(names: Mapping[str, Ratio], laws: Mapping[str, AgeLaw]) -> dict[str, Ratio]:
    """Return the variables and the quantities of the laws by name, no name meaning two things."""
    words = quantities(laws)
    if taken := set(names) & set(words):
        raise Rejected(f"{min(taken)[:40]!r} is both a variable and a quantity")
    return {**names, **words}


def _check_order(order: Any, texts: Any, laws: Mapping[str, AgeLaw], here: Domain) -> None:
    """Check the first levels up to a common period, and that the larger law decays no faster over that period."""
    fields(order, "smaller larger", "assume")
    smaller, larger = laws[order["smaller"]], laws[order["larger"]]
    gaps = order_gaps(smaller, larger)
    for j, (gap, text) in enumerate(zip(gaps, items(texts, len(gaps)), strict=True)):
        try:
            here.proves(gap, text, strict=False)
        except Rejected as reason:
            raise Rejected(f"order at level {j + 1}: {reason}" if j + 1 < len(gaps) else f"order: {reason}") from None


def order_gaps(smaller: AgeLaw, larger: AgeLaw) -> list[Ratio]:
    """Return what must be nonnegative: differences of tails at levels 1, 2, .., then of the ratios a common period."""
    period = lcm(smaller.period, larger.period)
    last = max(smaller.start, larger.start) + period
    if last > MAX_LEVELS:
        raise Rejected(f"a common period of more than {MAX_LEVELS} levels")
    decay = [law.ratio.power(period // law.period) for law in (smaller, larger)]
    return [*(larger.tail(j) - smaller.tail(j) for j in range(1, last)), decay[1] - decay[0]]


def _check_whole(says: Any, law: AgeLaw, names: Mapping[str, Ratio], positive: Positive) -> None:
    fields(says, "pmf period ratio")
    pmf, period = items(says["pmf"]), integer(says["period"], 1)
    if period != law.period or not (positive.divides(expression(says["ratio"], names)) - law.ratio).is_zero():
        raise Rejected("another period or ratio than the law has")
    if len(pmf) < law.start + period:
        raise Rejected(f"the law needs its first {law.start + period} probabilities")
    for j, text in enumerate(pmf):
        if not (law.tail(j) - law.tail(j + 1) - positive.divides(expression(text, names))).is_zero():
            raise Rejected(f"P(J = {j}) is another function")
