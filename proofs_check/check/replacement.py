"""Targets outside a set of shapes, made larger or smaller in the coordinate order or in weak majorisation.

Weak majorisation compares the sums of the k longest queues, for every k: a job moved from a queue to one at least as
long makes them larger, one moved to a queue shorter by two or more makes them smaller.
"""

from collections.abc import Iterator
from fractions import Fraction

from proofs_check.check.exact import Rejected
from proofs_check.check.routing import Loads, System, moved

FREE_STEPS, STEPS_A_SHAPE = 100_000, 1000


class Replacement:
    """The loads that stand in for a target: larger in the upper chain, smaller in the lower one."""

    def __init__(self, system: System, place: dict[Loads, int], upper: bool, order: str) -> None:
        self.system, self.place, self.upper, self.order = system, place, upper, order
        self.steps = FREE_STEPS + STEPS_A_SHAPE * len(place)
        self.known: dict[tuple[Loads, bool], Loads | None] = {}

    def __call__(self, loads: Loads, arrival: bool) -> Loads | None:
        """Return loads whose shape is in the set; None: the lower chain loses the arrival, the upper the service.

        In weak majorisation the job of a service that would be lost goes where the fill puts one job, if one is enough.
        """
        key = loads, arrival
        if key not in self.known:
            instead = self._transferred(loads) if self.order == "majorisation" else None
            if instead is None and arrival == self.upper:
                instead = self._filled(loads)
            elif instead is None and self.upper and self.order == "majorisation":
                more = self._filled(loads)
                instead = more if sum(more[0]) == sum(loads[0]) + 1 else None
            self.known[key] = instead
        return self.known[key]

    def _inside(self, loads: Loads) -> bool:
        return self.system.split(loads)[1] in self.place

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Rejected("the set of shapes is too sparse: replacements take too many steps")

    def _filled(self, loads: Loads) -> Loads:
        """Return the loads after jobs come or go one by one, until their shape, or that after a transfer, is inside."""
        while True:
            self._step()
            pools = list(enumerate(zip(loads, self.system.direction, strict=True)))
            if self.upper:
                _, pool = min((Fraction(queue[0] + 1, v), j) for j, (queue, v) in pools)
                loads = moved(loads, pool, loads[pool][0], 1)
            else:
                _, pool = max((Fraction(queue[-1], v), -j) for j, (queue, v) in pools)
                loads = moved(loads, -pool, loads[-pool][-1], -1)
            if self._inside(loads):
                return loads
            instead = self._transferred(loads) if self.order == "majorisation" else None
            if instead is not None:
                return instead

    def _transferred(self, loads: Loads) -> Loads | None:
        """Return the loads after one job changes its queue, with the least change of sum 2^-q; None: none is inside."""
        queue = loads[0]
        inside = {x for x in self._moves(queue) if self._inside((x,))}
        if not inside:
            return None
        sign, most = (1 if self.upper else -1), queue[-1] + 1
        return (min((sign * sum(2 ** (most - q) for q in x), x) for x in inside)[1],)

    def _moves(self, queue: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        values = sorted(set(queue))
        for a in values:
            for b in values:
                step = -1 if self.upper else 1  # of the shorter queue, a
                allowed = queue[0] < a <= b if self.upper else b >= a + 2
                if allowed and (a < b or queue.count(a) > 1):
                    self._step()
                    rest = list(queue)
                    rest.remove(a)
                    rest.remove(b)
                    yield tuple(sorted([*rest, a + step, b - step]))
