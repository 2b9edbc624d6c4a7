"""The law of the slot age J of a scheme, derived from its blocks with the help of a proof.

A scheme is two blocks over its modes, ``up`` (J + 1) and ``reset`` (J = 0).  With its mode law nu, P(J >= j, mode) is
the vector tau_j = nu up^j.  Once tau_(K+L) = ratio tau_K for one K, it holds for every later level; for the sums it is
enough that every mode which level K or a later one can hold has (up^L 1) = ratio.  Moments are finite sums and
geometric series.
"""

from collections.abc import Mapping
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, table
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant
from proofs_check.check.sign import Domain, Positive

MAX_LEVELS = 2000
Vector = list[Ratio]


class AgeLaw:
    """The law of J of one scheme, derived from its blocks with the help of a proof."""

    def __init__(self, blocks: Any, proof: Any, names: Mapping[str, Ratio], domain: Domain, positive: Positive) -> None:
        fields(blocks, "up reset")
        fields(proof, "law levels period ratio ratio_sign entries parents")
        self.up = _block(blocks["up"], names, positive)
        reset = _block(blocks["reset"], names, positive, len(self.up))
        _stochastic(blocks, self.up, reset, proof, domain)
        law = [positive.divides(expression(text, names)) for text in items(proof["law"], len(self.up))]
        _stationary(law, self.up, reset)
        self.start, self.period = integer(proof["levels"], 1), integer(proof["period"], 1)
        if self.start + self.period > MAX_LEVELS:
            raise Rejected(f"more than {MAX_LEVELS} levels")
        self.ratio = positive.divides(expression(proof["ratio"], names))
        domain.proves(self.ratio, proof["ratio_sign"], strict=False)
        positive.divides(constant(1) / (constant(1) - self.ratio))
        self.tails = self._tails(law)

    def _tails(self, law: Vector) -> list[Ratio]:
        """Return P(J >= j) for j < K + L, having checked the recurrence."""
        rows = [law]
        for _ in range(self.start + self.period):
            rows.append(_times(rows[-1], self.up))
        earlier, later = rows[self.start], rows[self.start + self.period]
        vectors = all((y - self.ratio * x).is_zero() for x, y in zip(earlier, later, strict=True))
        if not vectors and not self._rows_decay(earlier):
            raise Rejected("the recurrence tau_(K+L) = ratio tau_K fails, also for the sums")
        return [_total(row) for row in rows[:-1]]

    def _rows_decay(self, row: Vector) -> bool:
        """Return whether up^L 1 = ratio in every mode that a level from K on can hold."""
        held = {i for i, x in enumerate(row) if not x.is_zero()}
        while more := {j for i in held for j, x in enumerate(self.up[i]) if not x.is_zero()} - held:
            held |= more
        column = [constant(1)] * len(self.up)
        for _ in range(self.period):
            column = [_total([x * y for x, y in zip(line, column, strict=True) if x.top.terms]) for line in self.up]
        return all((column[i] - self.ratio).is_zero() for i in held)

    def tail(self, j: int) -> Ratio:
        laps = 0
        if j >= self.start + self.period:
            laps = (j - self.start) // self.period
        return self.tails[j - laps * self.period] * self.ratio.power(laps)

    def words(self, name: str, levels: int) -> dict[str, Ratio]:
        """Return the quantities of this law by name; pmf and tail for the first levels."""
        mean, second = self._moments()
        tails = [self.tail(j) for j in range(levels + 1)]
        words = {f"tail_{name}_{j}": tails[j] for j in range(levels)}
        words |= {f"pmf_{name}_{j}": tails[j] - tails[j + 1] for j in range(levels)}
        reset = constant(1) - tails[1]
        words |= {f"mean_{name}": mean, f"second_{name}": second, f"variance_{name}": second - mean * mean}
        return words | {f"failure_{name}": tails[1], f"gap_{name}": constant(1) / reset}

    def _moments(self) -> tuple[Ratio, Ratio]:
        """Return E J = sum of tails and E J^2 = sum of (2j - 1) tails, j >= 1."""
        mean = second = constant(0)
        lap = constant(1) / (constant(1) - self.ratio)
        for j in range(1, self.start):
            mean, second = mean + self.tails[j], second + constant(2 * j - 1) * self.tails[j]
        for j in range(self.start, self.start + self.period):
            mean = mean + self.tails[j] * lap
            weight = constant(2 * j - 1) * lap + constant(2 * self.period) * self.ratio * lap * lap
            second = second + weight * self.tails[j]
        return mean, second


def _block(rows: Any, names: Mapping[str, Ratio], positive: Positive, size: int | None = None) -> list[Vector]:
    listed = items(rows, size)
    return [[positive.divides(expression(text, names)) for text in items(row, len(listed))] for row in listed]


def _stochastic(blocks: Any, up: list[Vector], reset: list[Vector], proof: Any, domain: Domain) -> None:
    """Check probabilities: entries nonnegative, rows sum to one, and every mode leads to the one without a parent."""
    texts, size = table(proof["entries"]), len(up)
    for text in {text for block in ("up", "reset") for row in blocks[block] for text in row if text != "0"}:
        domain.proves(expression(text, domain.names), texts[text], strict=False)
    if not all((_total([*x, *y]) - constant(1)).is_zero() for x, y in zip(up, reset, strict=True)):
        raise Rejected("a row of up + reset does not sum to 1")
    parents = items(proof["parents"], size)
    if parents.count(None) != 1:
        raise Rejected("exactly one mode has no parent")
    for mode in range(size):
        at = mode
        for _ in range(size):
            if parents[at] is None:
                break
            above = integer(parents[at])
            if above >= size or not any(_positive(blocks[b][at][above], texts, domain) for b in ("up", "reset")):
                raise Rejected(f"mode {at} does not certainly lead to mode {above}")
            at = above
        if parents[at] is not None:
            raise Rejected("the parents run in a circle")


def _positive(text: Any, texts: Mapping[str, Any], domain: Domain) -> bool:
    if text == "0":
        return False
    try:
        domain.proves(expression(text, domain.names), texts[text], strict=True)
    except Rejected:
        return False
    return True


def _stationary(law: Vector, up: list[Vector], reset: list[Vector]) -> None:
    if not (_total(law) - constant(1)).is_zero():
        raise Rejected("the mode law does not sum to 1")
    after = [x + y for x, y in zip(_times(law, up), _times(law, reset), strict=True)]
    if not all((x - y).is_zero() for x, y in zip(after, law, strict=True)):
        raise Rejected("the mode law is not stationary")


def _times(row: Vector, block: list[Vector]) -> Vector:
    return [
        _total([x * line[j] for x, line in zip(row, block, strict=True) if x.top.terms and line[j].top.terms])
        for j in range(len(block))
    ]


def _total(row: Vector) -> Ratio:
    total = constant(0)
    for x in row:
        total = total + x
    return total
