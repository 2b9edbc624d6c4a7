"""Kind *sample*: a rule that sees d sampled servers against a uniform pick among them, for every state of the sample.

Whatever the number of servers: if a sampled position is a pick of the wanted law, the bound averages over samples.

problem     ``pools`` of the sample and ``cells`` (:mod:`proofs_check.check.cells`)
conclusion  ``bound`` and its number:
  "top"    ``ratio`` t: P(joined in U) <= t (share of U in the sample) for U = {q >= k}, every k >= 1
  "mean"   ``excess`` c: mean joined length <= mean length of the sample + c
  "power"  ``base`` z > 1, ``ratio`` a: mean of z^(joined length) <= a (mean of z^q over the sample)
proof       empty: every cell is checked
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, leaves, root, servers
from proofs_check.check.exact import Rejected, fields, rational
from proofs_check.check.ranks import tops

Vector = list[Fraction]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "pools cells")
    fields(proof, "")
    pool, _ = servers(problem["pools"])
    bound = conclusion.get("bound")
    for cell, join in leaves(root(pool), problem["cells"]):
        if bound == "top":
            ratio = rational(fields(conclusion, "bound ratio")["ratio"])
            excess = top_ratio(cell, join) - ratio
        elif bound == "mean":
            row = [p - Fraction(1, len(pool)) for p in join]
            if any(cell.along(row, r) > 0 for r in cell.columns):
                raise Rejected(f"the joined length grows beyond the mean from {cell.base}")
            excess = cell.least(row) - rational(fields(conclusion, "bound excess")["excess"])
        elif bound == "power":
            fields(conclusion, "bound base ratio")
            excess = power_ratio(cell, join, rational(conclusion["base"])) - rational(conclusion["ratio"])
        else:
            raise Rejected("the bound is 'top', 'mean' or 'power'")
        if excess > 0:
            raise Rejected(f"the bound is exceeded in the cell of {cell.base}")


def top_ratio(cell: Cell, join: Vector) -> Fraction:
    """Return the largest ratio of P(joined in U) to the share of U in a cell."""
    found = (sum((join[i] for i in top), Fraction(0)) * len(join) / len(top) for top in tops(cell))
    return max(found, default=Fraction(0))


def power_ratio(cell: Cell, join: Vector, z: Fraction) -> Fraction:
    """Return the least a with mean of z^joined <= a times the mean of z^q in the whole cell.

    Both sides are sums over nested sets of servers, the ones that a coordinate raises; a is the largest ratio of one.
    """
    if z <= 1:
        raise Rejected("needs base > 1")
    power: list[Fraction] = [z**b for b in cell.base]
    sets = [support for _, support in cell.supports() if support] + [frozenset(range(len(join)))]
    largest = Fraction(0)
    for part in sets:
        whole = sum((power[i] for i in part), Fraction(0))
        largest = max(largest, len(join) * sum((join[i] * power[i] for i in part), Fraction(0)) / whole)
    return largest
