"""Finds proofs of kinds *levels*, *identity*, *sign* and *counterexample*."""

from collections.abc import Mapping
from typing import Any

from exactchains.symbolic import Fractions
from proofs_check.check.age_law import AgeLaw
from proofs_check.check.expression import expression
from proofs_check.check.levels import order_gaps, quantities
from proofs_check.check.polynomial import Ratio, constant, substituted
from proofs_check.check.sign import Domain
from proofs_check.check.statements import define, variables
from proofs_check.search.algebra import constraints, positive_texts, ratio, relation_text
from proofs_check.search.handelman import NotFound, sign_text

Json = dict[str, Any]


class Collector:
    """Stands in for the checker's list of positive divisors and notes what is divided by."""

    def __init__(self) -> None:
        self.seen: list[Ratio] = []

    def divides(self, f: Ratio) -> Ratio:
        self.seen.append(f)
        return f


def statements(problem: Json, conclusion: Json) -> Json:
    """Return the proof of kind *sign* or *identity*."""
    names = variables(problem["variables"])
    domain = Domain(names, problem["domain"])
    words, collector = define(names, problem.get("define", {})), Collector()
    signs = statement_signs(conclusion["statements"], words, domain, collector)
    return {"positive": positive_texts(collector.seen, domain), "signs": signs}


def levels(problem: Json, conclusion: Json) -> Json:
    """Return the proof of kind *levels*."""
    names = variables(problem["variables"])
    domain, collector = Domain(names, problem["domain"]), Collector()
    proofs = {name: age_law(blocks, problem["variables"], names, domain) for name, blocks in problem["laws"].items()}
    laws = {
        name: AgeLaw(blocks, proofs[name], names, domain, collector)  # type: ignore[arg-type]
        for name, blocks in problem["laws"].items()
    }
    signs = statement_signs(conclusion["statements"], names | quantities(laws), domain, collector)
    for says in conclusion.get("laws", {}).values():
        collector.seen += [expression(text, names) for text in (*says["pmf"], says["ratio"])]
    proof = {"laws": proofs, "positive": positive_texts(collector.seen, domain), "signs": signs}
    if "orders" in conclusion:
        proof["orders"] = [_order(order, laws, domain) for order in conclusion["orders"]]
    return proof


def counterexample(problem: Json, conclusion: Json) -> Json:
    """Return the proof of kind *counterexample*: the laws at the point."""
    point = {name: constant(expression(x, {}).top.terms.get((), 0)) for name, x in conclusion["at"].items()}
    domain = Domain(point, {})
    return {"laws": {name: age_law(blocks, [], point, domain) for name, blocks in problem["laws"].items()}}


def statement_signs(listed: list[Json], words: Mapping[str, Ratio], domain: Domain, collector: Collector) -> list:
    found = []
    for statement in listed:
        left, relation, right = statement["claim"]
        f = collector.divides(expression(left, words) - expression(right, words))
        if chosen := statement.get("set"):
            f = substituted(f, {name: expression(text, domain.names) for name, text in chosen.items()})
        found.append(relation_text(ratio(f), relation, constraints(domain.extended(statement.get("assume", {})))))
    return found


def age_law(blocks: Json, variable_names: list[str], names: Mapping[str, Ratio], domain: Domain) -> Json:
    """Return the proof of one law: mode law, recurrence, signs of the entries, and a tree of certain moves."""
    field = Fractions(*(variable_names or ["t"]))
    up, reset = ([[_element(text, names, field) for text in row] for row in blocks[part]] for part in ("up", "reset"))
    law = _mode_law(up, reset, field)
    start, period, proportion = _recurrence(law, up, field)
    given = constraints(domain)
    texts = {text for part in ("up", "reset") for row in blocks[part] for text in row if text != "0"}
    entries = {text: _entry(text, names, given) for text in sorted(texts)}
    certain = {text for text in texts if _certain(text, names, given)}
    return {
        "law": [field.text(x) for x in law],
        "levels": start,
        "period": period,
        "ratio": field.text(proportion),
        "ratio_sign": sign_text(proportion.as_expr(), given, strict=False),
        "entries": entries,
        "parents": _parents(blocks, certain),
    }


def _mode_law(up: list, reset: list, field: Fractions) -> list:
    size, one, zero = len(up), field.convert(1), field.convert(0)
    flow = [[up[i][j] + reset[i][j] - (one if i == j else zero) for i in range(size)] for j in range(size)]
    return field.solve([*flow[1:], [one] * size], [zero] * (size - 1) + [one])


def _recurrence(law: list, up: list, field: Fractions) -> tuple[int, int, Any]:
    """Return the first K >= 1, least L and ratio with tau_(K+L) = ratio tau_K."""
    size, rows = len(law), [law]
    for last in range(1, 4 * size + 2):
        rows.append(
            [sum((x * line[j] for x, line in zip(rows[-1], up, strict=True)), field.convert(0)) for j in range(size)]
        )
        for start in range(1, last):
            if (proportion := _proportion(rows[last], rows[start], field)) is not None:
                return start, last - start, proportion
    for start, row in enumerate(rows[1:], 1):  # no vector repeats: the sums may
        if (proportion := _row_decay(row, up, field)) is not None:
            return start, 1, proportion
    raise NotFound("no recurrence of the levels found")


def _row_decay(row: list, up: list, field: Fractions) -> Any:
    """Return the common row sum of ``up`` over the modes that this level or a later one can hold, or None."""
    held = {i for i, x in enumerate(row) if x != 0}
    while more := {j for i in held for j, x in enumerate(up[i]) if x != 0} - held:
        held |= more
    sums = [sum(up[i], field.convert(0)) for i in sorted(held)]
    return sums[0] if all(x == sums[0] for x in sums) else None


def _proportion(later: list, earlier: list, field: Fractions) -> Any:
    pivot = next((i for i, x in enumerate(earlier) if x != 0), None)
    if pivot is None:
        return field.convert(0)
    proportion = later[pivot] / earlier[pivot]
    return proportion if all(y == proportion * x for x, y in zip(earlier, later, strict=True)) else None


def _parents(blocks: Json, certain: set[str]) -> list[int | None]:
    size = len(blocks["up"])
    moves = [{j for j in range(size) for part in ("up", "reset") if blocks[part][i][j] in certain} for i in range(size)]
    for root in range(size):
        parents: list[int | None] = [None] * size
        reached, frontier = {root}, [root]
        while frontier:
            target = frontier.pop(0)
            for i in range(size):
                if i not in reached and target in moves[i]:
                    parents[i] = target
                    reached.add(i)
                    frontier.append(i)
        if len(reached) == size:
            return parents
    raise NotFound("no mode is certainly reached from every other mode")


def _order(order: Json, laws: Mapping[str, AgeLaw], domain: Domain) -> list[str]:
    given = constraints(domain.extended(order.get("assume", {})))
    gaps = order_gaps(laws[order["smaller"]], laws[order["larger"]])
    return [relation_text(ratio(gap), ">=", given) or "0" for gap in gaps]


def _entry(text: str, names: Mapping[str, Ratio], given: Any) -> str:
    return sign_text(ratio(expression(text, names)), given, strict=_certain(text, names, given))


def _certain(text: str, names: Mapping[str, Ratio], given: Any) -> bool:
    try:
        sign_text(ratio(expression(text, names)), given, strict=True)
    except NotFound:
        return False
    return True


def _element(text: str, names: Mapping[str, Ratio], field: Fractions) -> Any:
    f = ratio(expression(text, names))
    return field.field.from_expr(f) if f.free_symbols else field.convert(str(f))
