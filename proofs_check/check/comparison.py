"""Stationary means of n servers with unlimited queues: comparison chains with a Poisson function on each side.

State = level l and shape i from a finite set, loads = shape + l * direction.  Rates are those of the true chain;
targets outside the set are replaced by larger loads (upper chain) or smaller ones (lower chain).  For a monotone rule
and an increasing f >= 0: Q'V + f <= c on the upper chain with V bounded below proves mean(f) <= c and positive
recurrence when f counts jobs; Q''V + f >= c on the lower chain proves mean(f) >= c once the upper chain has second
moments, which its own V of quadratic growth gives.  V is listed on levels 0..top and is
alpha l^2 + linear_i l + constant_i beyond, where Q V + f is affine in l.

Caps    top and bits up to 100,000; 10,000 jobs at a server of a shape; targets outside the set are replaced in at most
        100,000 steps and 1000 more a shape
"""

from fractions import Fraction
from math import lcm
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, vector, whole, wholes, word
from proofs_check.check.replacement import Replacement
from proofs_check.check.routing import Loads, System

Move = tuple[int, int, int]  # shape after, levels up, rate
MAX_TOP = 100_000
MAX_JOBS = 10_000


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    """Accept bounds of the mean queue, or of the fraction of servers with at least ``index`` jobs."""
    stated = fields(conclusion, "quantity index bounds")
    quantity, data = word(stated["quantity"]), fields(proof, "shapes top bits lower upper", "moments order")
    if quantity not in ("mean_queue", "tail"):
        raise Rejected(f"unknown quantity {quantity[:40]!r}")
    index = integer(stated["index"], 1) if quantity == "tail" else None
    if quantity == "mean_queue" and stated["index"] is not None:
        raise Rejected("the mean queue has no index")
    system, order = System(problem), word(data.get("order", "coordinate"))
    if order not in ("coordinate", "majorisation") or (order == "majorisation" and not system.majorised):
        raise Rejected("the rule is not known to be monotone in this order")
    increasing = order if quantity == "mean_queue" else "coordinate"  # a tail is not increasing in weak majorisation
    chains = {side: _Chain(system, data, side, increasing) for side in ("upper", "lower")}
    if quantity == "tail":
        moments = fields(proof, "moments shapes top bits lower upper", "order")["moments"]
        _Chain(system, data, "upper", order).bound(moments, None)
    low, high = vector(stated["bounds"], 2)
    if not chains["upper"].bound(data["upper"], index) <= high:
        raise Rejected("the upper chain does not give this bound")
    if not low <= chains["lower"].bound(data["lower"], index):
        raise Rejected("the lower chain does not give this bound")


class _Chain:
    """One comparison chain: transitions of every shape from level 0 and from the levels above."""

    def __init__(self, system: System, data: Any, side: str, order: str) -> None:
        self.system, self.upper = system, side == "upper"
        self.top, self.bits = integer(data["top"], 1), integer(data["bits"], 1)
        if self.top > MAX_TOP or self.bits > MAX_TOP:
            raise Rejected("top or bits out of bounds")
        self.shapes = [self._shape(x) for x in items(data["shapes"])]
        self.place = {shape: i for i, shape in enumerate(self.shapes)}
        flat = tuple((0,) * size for size in system.sizes)
        if len(self.place) != len(self.shapes) or flat not in self.place:
            raise Rejected("shapes are distinct and contain the empty one")
        self.replaced = Replacement(system, self.place, self.upper, order)
        exact = [[self._moves(shape, level) for shape in self.shapes] for level in (0, 1)]
        self.common = lcm(*(rate.denominator for rows in exact for row in rows for _, _, rate in row))
        self.moves: list[list[list[Move]]] = [
            [[(j, k, (rate * self.common).numerator) for j, k, rate in row] for row in rows] for rows in exact
        ]

    def _shape(self, x: Any) -> Loads:
        shape = tuple(tuple(integer(q) for q in items(queue)) for queue in items(x))
        if [len(queue) for queue in shape] != self.system.sizes or any(tuple(sorted(q)) != q for q in shape):
            raise Rejected("a shape lists the jobs of each pool, ascending")
        if max(max(queue) for queue in shape) > MAX_JOBS:
            raise Rejected(f"a shape with more than {MAX_JOBS} jobs at a server")
        if self.system.split(shape)[0] != 0:
            raise Rejected("a shape has level 0")
        return shape

    def _moves(self, shape: Loads, level: int) -> list[tuple[int, int, Fraction]]:
        found = []
        for target, rate, arrival in self.system.transitions(self.system.lifted(shape, level)):
            step, after = self.system.split(target)
            if after not in self.place:
                instead = self.replaced(target, arrival)
                if instead is None:
                    continue
                step, after = self.system.split(instead)
            found.append((self.place[after], step - level, rate))
        return found

    def bound(self, proof: Any, index: int | None) -> Fraction:
        """Return the bound that V proves for jobs per server (None) or for servers with at least ``index`` jobs."""
        data, m = fields(proof, "values alpha linear constant"), len(self.shapes)
        values = [wholes(row, m) for row in items(data["values"], self.top + 1)]
        alpha, linear, constant = whole(data["alpha"]), wholes(data["linear"], m), wholes(data["constant"], m)
        if self.upper and not (alpha > 0 or (alpha == 0 and index is not None and min(linear) >= 0)):
            raise Rejected("V is not bounded below, or too small for second moments")
        if index is not None and index > self.top + 1:
            raise Rejected("the index lies beyond the listed levels")

        def at(level: int, i: int, beyond: bool) -> int:
            if level <= self.top and not beyond:
                return values[level][i]
            return alpha * level * level + level * linear[i] + constant[i]

        def row(level: int, i: int, beyond: bool = False) -> int:
            """Return common 2^bits (Q V + f) at a state."""
            own, total = at(level, i, beyond), self._reward(level, i, index) * self.common << self.bits
            for j, step, rate in self.moves[level > 0][i]:
                total += rate * (at(level + step, j, beyond) - own)
            return total

        sign, far = 1 if self.upper else -1, self.top + 2
        worst = max(sign * row(level, i) for level in range(far) for i in range(m))
        for i in range(m):
            first = sign * row(far, i, True)
            if sign * row(far + 1, i, True) > first:
                raise Rejected(f"Q V + f has the wrong slope beyond the listed levels, shape {i}")
            worst = max(worst, first)
        return Fraction(sign * worst, self.system.n * self.common << self.bits)

    def _reward(self, level: int, i: int, index: int | None) -> int:
        loads = self.system.lifted(self.shapes[i], level)
        return sum(sum(queue) if index is None else sum(q >= index for q in queue) for queue in loads)
