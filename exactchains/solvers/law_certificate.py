"""The certificate of a level law as exact text, for the checker kind *level-law*."""

from typing import TYPE_CHECKING, Any

import flint
from flint import arb, arb_mat, fmpq, fmpq_mat, fmpz, fmpz_mat

from exactchains.domain import ball_floor, ball_length
from exactchains.solvers.level_decay import irreducible_parts, perron_vector
from exactchains.solvers.level_summation import Summation
from exactchains.solvers.rate_certificate import (
    certificate,
    drift_text,
    integer_text,
    level_problem,
    rate_parts,
    rational_text,
)
from exactchains.truth import Undecided

if TYPE_CHECKING:
    from exactchains.solvers.level_law import LevelLaw

LEVELS = 4  # levels stated beside level 0
TRIES = 80
MAX_BITS = 4000
Ends = tuple[list[int], list[int]]


def law_certificate(law: "LevelLaw", *, digits: int, levels: int = LEVELS) -> dict[str, Any] | None:
    """Return the certificate for levels 0 .. ``levels``, the mean block level and the spectral radius of R.

    Integers have the bits of the law, and where that is too few those that the spread of the law costs.

    Raises
    ------
    Undecided
        The law is spread too far, or the bounds of the mean, or those of level 0 against its likeliest phase, hold
        fewer than ``digits`` digits at the working precision of the law.
    """
    sums = law.summation()
    with flint.ctx.workprec(sums.prec):
        spread = _spread(sums)
    for more in (0, 1, 3):
        bits = sums.prec + more * spread
        try:
            return _at(law, sums, bits, digits, levels)
        except (Undecided, ZeroDivisionError):
            if more and bits > MAX_BITS:
                break
    raise Undecided("no integers of one size hold the law at this precision")


def _at(law: "LevelLaw", sums: Summation, bits: int, digits: int, levels: int) -> dict[str, Any]:
    with flint.ctx.workprec(bits + 64):
        system = _System(sums, bits)
        measure, at = system.measure()
        zero = list(zip(*(x[: system.width] for x in measure), strict=True))
        _close(max(high - low for low, high in zero), max(high for _, high in zero), digits)
        visits = system.visits()
        decay, vectors = system.decay()
        bounds, rates = rate_parts(sums.rates)
        proof = {
            "rates": bounds,
            "vectors": rates | {"drift": drift_text(sums.rates.drift)},
            "reference": at,
            "over": integer_text(system.one),
            **_ends_text(measure),
            "sums": {"over": integer_text(system.one), **_ends_text(visits)},
            "decay_lower": _texts(vectors[0]),
            "decay_upper": _texts(vectors[1]),
        }
        mean = system.mean(measure, visits)
        _close(mean[1] - mean[0], mean[1], digits)
        conclusion = {
            "levels": system.levels(measure, levels),
            "mean_level": outward(*mean, sums.prec),
            "decay": [rational_text(x) for x in decay],
        }
    return certificate("level-law", level_problem(law.chain, boundary=True), conclusion, proof)


class _System:
    """The balance of pi_0, pi_1 and T = sum of the levels above, with integer bounds of G and R."""

    def __init__(self, sums: Summation, bits: int) -> None:
        chain, blocks = sums.chain, sums.rates.blocks
        self.law, self.size, self.width, self.one = sums, sums.size, sum(chain.widths), 1 << bits
        self.bits = bits
        self.G, self.R = _integer_bounds(sums, 0), _integer_bounds(sums, 1)
        assert chain.boundary_local is not None and chain.boundary_up is not None and chain.boundary_down is not None
        shift = 1 if chain.time == "discrete" else 0
        own = [dict(row) for row in chain.boundary_local]
        for i, row in enumerate(own):
            row[i] = row.get(i, fmpq(0)) - shift
        reset = [dict(enumerate(row)) for row in chain.reset or [()] * self.size]
        a, b = self.width, self.size
        parts = [_dense(own, a), _dense(chain.boundary_up, b), _dense(chain.boundary_down, a), _dense(reset, a)]
        scale = fmpz(blocks.scale)
        for block in parts:
            scale = scale.lcm(block.numer_denom()[1])
        self.own, self.rise, self.fall, self.reset = (_times(block, scale) for block in parts)
        ratio = scale / blocks.scale
        self.local, self.up = blocks.local * ratio, blocks.up * ratio

    def flows(self, x: list[int], *, high: bool) -> list[int]:
        """Return the flow into every unknown, as the checker computes it."""
        G, R = self.G[high], self.R[high]
        a, b = self.width, self.width + self.size
        zero, one, total = (fmpz_mat([part]) for part in (x[:a], x[a:b], x[b:]))
        first = zero * self.own + one * self.fall + total * self.reset
        second = zero * self.rise * self.G[2] + one * (self.local * self.G[2] + self.up * G)
        third = (one - total) * self.R[2] + total * R
        return [int(v) for part in (first, second, third) for v in part.entries()]

    def measure(self) -> tuple[Ends, int]:
        """Return integer bounds of the measure with the reference at 1, checked with :meth:`flows`."""
        middle = [arb(v) for v in (*self.law.zero, *self.law.one.entries(), *self.law.geometric[0].entries())]
        at = max(range(self.width), key=lambda i: float(middle[i].mid()))
        x = [(v / middle[at]).mid() for v in middle]
        u = self._direction(x, at)

        def accepted(ends: Ends) -> bool:
            lower, upper = ends
            lower[at] = upper[at] = self.one
            above, below = self.flows(upper, high=True), self.flows(lower, high=False)
            above[at], below[at] = -1, 0
            return max(above) < 0 and min(below) >= 0

        return self._around(x, u, accepted), at

    def _around(self, x: list[arb], u: list[arb], accepted: Any) -> Ends:
        """Return the closest accepted bounds x -+ delta u, delta a power of two."""
        centre = [ball_floor(v * self.one) for v in x]
        most = max((ball_length(v) for v in u if v > 0), default=1)
        first = max(0, -most, self.bits - self.law.prec)  # below, delta u is less than the unit or than errors
        for step in range(TRIES):
            spread = [ball_floor(v * arb(2) ** (first + 2 * step)) + 2 for v in u]
            lower = [max(c - d, 0) for c, d in zip(centre, spread, strict=True)]
            upper = [c + d for c, d in zip(centre, spread, strict=True)]
            if accepted((lower, upper)):
                return lower, upper
        raise Undecided("no integer bounds of the law at this precision")

    def _direction(self, x: list[arb], at: int) -> list[arb]:
        """Return u with u (-A) = x * diagonal: a relative error in every balance, carried through."""
        a, b, count = self.width, self.width + self.size, self.width + 2 * self.size
        inner = arb_mat(self.local) + arb_mat(self.up * self.G[1]) * (arb(1) / self.G[2])
        R = arb_mat(self.R[1]) * (arb(1) / self.R[2])
        A = arb_mat(count, count)
        edge = [(0, 0, self.own), (a, 0, self.fall), (b, 0, self.reset), (0, a, self.rise)]
        places: list[tuple[int, int, Any]] = [*edge, (a, a, inner), (b, b, R)]
        for row, column, block in places:
            for i, line in enumerate(block.tolist()):
                for j, v in enumerate(line):
                    A[row + i, column + j] = -arb(v)
        for i in range(self.size):
            A[a + i, b + i] = arb(-1)
            A[b + i, b + i] += 1
        keep = [i for i in range(count) if i != at]
        S = arb_mat([[A[i, j] for i in keep] for j in keep]).mid()
        floor = arb(1) / self.one
        right = arb_mat([[(x[j] + floor) * A[j, j]] for j in keep]).mid()
        solved = [abs(v) for v in S.solve(right, algorithm="approx").mid().entries()]
        return [*solved[:at], arb(0), *solved[at:]]

    def visits(self) -> Ends:
        """Return integer bounds of s = (I - R)^-1 1."""
        gap = arb_mat(self.law.gap).mid()
        ones = arb_mat(self.size, 1, [1] * self.size)
        s = gap.solve(ones, algorithm="approx").mid()
        u = gap.solve(s, algorithm="approx").mid()

        def accepted(ends: Ends) -> bool:
            one = self.one * self.R[2]
            slack = [
                fmpz_mat([[v] for v in x]) * self.R[2] - R * fmpz_mat([[v] for v in x])
                for x, R in zip(ends, self.R[:2], strict=True)
            ]
            return bool(max(slack[0].entries()) <= one and min(slack[1].entries()) >= one)

        return self._around(s.entries(), u.entries(), accepted)

    def decay(self) -> tuple[tuple[fmpq, fmpq], Ends]:
        """Return bounds of the spectral radius of R, with the vectors that prove them."""
        R, size = arb_mat(self.law.R).mid(), self.size
        parts, best = irreducible_parts(R), ([1] * size, [1] * size)
        low, over = fmpq(0), fmpz(1) << 64
        for members in parts:
            v = perron_vector(arb_mat([[R[i, j] for j in members] for i in members]))
            w = [0] * size
            for i, x in zip(members, v, strict=True):
                w[i] = ball_floor(x * over * 2**self.bits) + 1
            image = (self.R[0] * fmpz_mat([[x] for x in w])).entries()
            ratio = min(fmpq(image[i], self.R[2] * w[i]) for i in members)
            if ratio > low:
                low, best = ratio, (w, best[1])
        upper = self._dominating(R, low)
        image = (self.R[1] * fmpz_mat([[x] for x in upper])).entries()
        high = max(fmpq(x, self.R[2] * y) for x, y in zip(image, upper, strict=True))
        return (low, high), (best[0] if low > 0 else [1] * size, upper)

    def _dominating(self, R: arb_mat, radius: fmpq) -> list[int]:
        """Return v > 0 with R v hardly above radius v: (theta - R)^-1 1 for theta just above the radius."""
        theta = arb(radius) * (1 + arb(2) ** (-self.law.prec // 2)) if radius > 0 else arb(2) ** (-self.bits // 2)
        identity = arb_mat(self.size, self.size, [int(i == j) for i in range(self.size) for j in range(self.size)])
        for _ in range(TRIES):
            v = (identity * theta - R).mid().solve(arb_mat(self.size, 1, [1] * self.size), algorithm="approx").mid()
            if all(x > 0 for x in v.entries()):
                return [ball_floor(x * 2**self.bits) + 1 for x in v.entries()]
            theta = arb(radius) + (theta - arb(radius)) * 16
        raise Undecided("no vector bounds the decay rate at this precision")

    def levels(self, measure: Ends, count: int) -> list[Any]:
        """Return level by level the pairs that the checker will confirm."""
        found, scale = [], fmpz(1)
        totals = [sum(x) - sum(x[self.width : self.width + self.size]) for x in measure]
        rows = [fmpz_mat([x[: self.width]]) for x in measure]
        for n in range(count + 1):
            pairs = zip(rows[0].entries(), rows[1].entries(), strict=True)
            ends = [(fmpq(x, scale * totals[1]), fmpq(y, scale * totals[0])) for x, y in pairs]
            found.append([outward(x, y, self.law.prec) for x, y in ends])
            if n == 0:
                rows = [fmpz_mat([x[self.width : self.width + self.size]]) for x in measure]
            else:
                rows, scale = [row * R for row, R in zip(rows, self.R[:2], strict=True)], scale * self.R[2]
        return found

    def mean(self, measure: Ends, visits: Ends) -> tuple[fmpq, fmpq]:
        totals = [sum(x) - sum(x[self.width : self.width + self.size]) for x in measure]
        sums = [
            sum(x * s for x, s in zip(m[-self.size :], v, strict=True)) for m, v in zip(measure, visits, strict=True)
        ]
        return fmpq(sums[0], self.one * totals[1]), fmpq(sums[1], self.one * totals[0])


def _spread(sums: Summation) -> int:
    """Return the binary orders of magnitude between the entries of the law, and between the rates."""
    law = [arb(x) for x in (*sums.zero, *sums.one.entries(), *sums.geometric[0].entries())]
    rates = [arb(x) for row in (sums.chain.boundary_local or ()) for x in row.values()]
    rates += [arb(x) for x in sums.rates.blocks.totals]
    found = 0
    for numbers in (law, rates):
        sizes = [ball_length(x) for x in numbers if x != 0]
        found += max(sizes, default=0) - min(sizes, default=0)
    return found + 8


def _close(width: Any, size: Any, digits: int) -> None:
    if width * 10**digits > size:
        raise Undecided(f"the integer bounds hold fewer than {digits} digits at this precision")


def _integer_bounds(sums: Summation, which: int) -> tuple[fmpz_mat, fmpz_mat, fmpz]:
    """Return lower and upper integers and their denominator, for G (0) or R (1)."""
    if sums.rates.exact is not None:
        top, over = sums.rates.exact[which].numer_denom()
        return top, top, over
    rates = sums.rates
    first, rate = rates.in_integers[:2] if rates.work is None else (rates.first, rates.rate)
    bounds = first if which == 0 else rate
    return bounds.lower, bounds.upper, fmpz(1) << bounds.bits


def _dense(rows: Any, width: int) -> fmpq_mat:
    return fmpq_mat([[row.get(j, fmpq(0)) for j in range(width)] for row in rows])


def _times(block: fmpq_mat, scale: fmpz) -> fmpz_mat:
    top, below = block.numer_denom()
    return top * (scale / below)


def outward(low: fmpq, high: fmpq, bits: int) -> list[str]:
    """Return the two ends, rounded outwards to about ``bits`` bits where that is shorter."""
    if low == high and int(low.q).bit_length() <= 2 * bits:
        return [rational_text(low)] * 2
    size = int(high.q).bit_length() - int(high.p).bit_length() if high > 0 else 0
    one = fmpz(1) << max(bits + size, 1)
    return [rational_text(fmpq((low.p * one) // low.q, one)), rational_text(fmpq(-((-high.p * one) // high.q), one))]


def _ends_text(ends: Ends) -> dict[str, list[str]]:
    return {"lower": _texts(ends[0]), "upper": _texts(ends[1])}


def _texts(x: list[int]) -> list[str]:
    return [integer_text(v) for v in x]
