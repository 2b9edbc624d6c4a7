"""Kind *polynomial-drift*: a drift bound for any polynomial of the queues that is the same for servers of one pool.

problem     as in kind *drift*
conclusion  ``of``: polynomial V in q1, q2, .. with coefficients >= 0, unchanged when servers of a pool are exchanged;
            ``weights`` w >= 0, one a pool, ``eps`` > 0, ``bound``: L V <= bound - eps sum w q in every state
proof       empty: in each cell bound - eps sum w q - L V has no negative coefficient in the coordinates of the cell
"""

from fractions import Fraction
from typing import Any

from proofs_check.check.cells import Cell, System, system
from proofs_check.check.exact import Rejected, fields, rational, vector
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio, composed, constant, variable


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(conclusion, "of weights eps bound")
    fields(proof, "")
    s = system(problem)
    f, weights = function(s, conclusion["of"]), vector(conclusion["weights"], max(s.pool) + 1)
    eps, bound = rational(conclusion["eps"]), rational(conclusion["bound"])
    if eps <= 0 or min(weights) < 0:
        raise Rejected("needs eps > 0 and weights that are not negative")
    for cell, join in s.cells:
        rest = generated(s, f, cell, join) + weighted(s, weights, cell).scaled(eps)
        excess = (constant(bound).top + rest.scaled(-1)).terms
        if any(c < 0 for c in excess.values()):
            raise Rejected(f"the drift is not below the bound by coefficients in the cell of {cell.base}")


def function(s: System, text: Any) -> Polynomial:
    """Return the polynomial that a text spells, with coefficients >= 0 and the symmetry of the pools."""
    names = [f"q{i + 1}" for i in range(len(s.pool))]
    read = expression(text, {name: variable(name) for name in names})
    if read.bottom or any(c < 0 for c in read.top.terms.values()):
        raise Rejected("a polynomial with coefficients >= 0 is needed")
    for i in range(len(names) - 1):
        a, b = names[i], names[i + 1]
        if s.pool[i] == s.pool[i + 1] and composed(read.top, {a: variable(b), b: variable(a)}).top != read.top:
            raise Rejected(f"the function changes when {a} and {b} of one pool are exchanged")
    return read.top


def generated(s: System, f: Polynomial, cell: Cell, join: list[Fraction]) -> Polynomial:
    """Return L V in the coordinates z0, z1, .. of a cell."""
    here = place(cell)
    value, total = composed(f, here).top, constant(0).top
    come, go = s.flows(cell, join)
    for i in range(len(s.pool)):
        for rate, step in ((come[i], 1), (go[i], -1)):
            if rate:
                moved = {**here, f"q{i + 1}": here[f"q{i + 1}"] + constant(step)}
                total = total + (composed(f, moved).top + value.scaled(-1)).scaled(rate)
    return total


def weighted(s: System, weights: list[Fraction], cell: Cell) -> Polynomial:
    """Return sum w q in the coordinates of a cell."""
    total = constant(0)
    for i, q in enumerate(place(cell).values()):
        total = total + q * constant(weights[s.pool[i]])
    return total.top


def place(cell: Cell) -> dict[str, Ratio]:
    """Return each queue as a linear form in the coordinates of the cell."""
    found = {}
    for i, base in enumerate(cell.base):
        q = constant(base)
        for r, column in cell.columns.items():
            q = q + variable(f"z{r}") * constant(column[i])
        found[f"q{i + 1}"] = q
    return found
