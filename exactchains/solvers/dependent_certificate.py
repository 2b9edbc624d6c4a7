"""The certificate of the law of a level-dependent chain as exact text, for the checker kind *dependent-law*.

For every phase j of return, integers around s x with x (-T) = e_j: bounds above and below s x whose flows have the
right sign.  They are s (x -+ u) with u (-T) = eps x diag + kappa, a relative error in every balance and a unit for
rounding, carried through.  A state that no path leads to is enclosed by 0 and such a unit.
"""

import math
from typing import TYPE_CHECKING, Any

import flint
from flint import arb, fmpq

from exactchains.dependent_chain import NAMES, DependentChain
from exactchains.domain import ball_floor, ball_length
from exactchains.solvers.law_certificate import outward
from exactchains.solvers.level_dependent import left_solution, phases_of_return, pivots, unit
from exactchains.solvers.rate_certificate import certificate, integer_text, rational_text
from exactchains.truth import Undecided

if TYPE_CHECKING:
    from exactchains.solvers.level_dependent import DependentLaw

LEVELS = 4  # levels stated beside level 0
SPARE = 16  # bits
MAX_BITS = 40_000
LARGEST = 2e8  # bits of all numbers of the elimination: some seconds
LARGEST_PROOF = 10_000_000  # levels times phases of return times phases squared, as in the checker
TRIES = 4
Levels = list[list[Any]]
Ends = tuple[Levels, Levels]


def dependent_certificate(law: "DependentLaw") -> dict[str, Any]:
    """Return the certificate for levels 0 .. 4 and the mean level, with the digits of the law.

    Raises
    ------
    Undecided
        The law is spread too far for integers of one size, or the chain has too many phases and levels.
    """
    chain, last, tail = law.chain, len(law.levels) - 1, law.outside
    digits = law.digits + 3
    if (last + 1) * len(phases_of_return(chain, last)) * chain.phases**2 > LARGEST_PROOF:
        raise Undecided("the chain has too many phases and levels")
    possible = [i for i, x in enumerate(law.level(0)) if x.upper > 0]
    for _ in range(TRIES):
        rows = _rows(chain, last, digits)
        levels, mean = _stated(law, [ends for _, _, ends in rows])
        relative = (mean, *(levels[0][i] for i in possible))
        if all((high - low) * 10 ** (law.digits - 1) <= high for low, high in relative):
            break
        digits += 10
    else:
        raise Undecided("the law is spread too far for integers of one size")
    proof = {
        "last": last,
        "ratio": rational_text(tail.ratio),
        "weights": [rational_text(x) for x in tail.weights],
        "eta": rational_text(tail.eta),
        "rows": [
            {"phase": j, "over": integer_text(over), "lower": _text(ends[0]), "upper": _text(ends[1])}
            for j, over, ends in rows
        ],
    }
    bits = math.ceil(3.33 * digits) + SPARE
    conclusion = {
        "levels": [[outward(*pair, bits) for pair in level] for level in levels],
        "mean_level": outward(*mean, bits),
    }
    return certificate("dependent-law", dependent_problem(chain), conclusion, proof)


def dependent_problem(chain: DependentChain) -> dict[str, Any]:
    """Return the chain as exact text; diagonals of ``local`` are 0, they follow from the row sums."""
    return {
        part: {
            name: [
                ["0" if name == "local" and i == j else rational_text(x) for j, x in enumerate(row)]
                for i, row in enumerate(blocks[name])
            ]
            for name in NAMES
        }
        for part, blocks in (("constant", chain.constant), ("slope", chain.slope))
    }


def _rows(chain: DependentChain, last: int, digits: int) -> list[tuple[int, int, Ends]]:
    """Return phase, s and the bounds for every phase of return."""
    leaving = [_leaving(chain, n) for n in range(last + 1)]
    most = max(x for level in leaving for x in level) + 1
    first = needed = math.ceil(3.33 * digits) + 128 + 2 * last  # those of the law itself
    while needed == first or needed * (last + 1) * chain.phases**3 < LARGEST:
        prec, found = needed, []
        with flint.ctx.workprec(prec):
            inverses = pivots(chain, last)
            ones = left_solution(chain, inverses, [[arb(1)] * chain.phases] * (last + 1))
            for j in phases_of_return(chain, last):
                x = left_solution(chain, inverses, [*([] for _ in range(last)), unit(chain, j)])
                balance = [[v * q for v, q in zip(*pair, strict=True)] for pair in zip(x, leaving, strict=True)]
                u = left_solution(chain, inverses, balance)
                live = [t for rows in zip(x, u, balance, strict=True) for t in zip(*rows, strict=True) if t[0] > 0]
                finest = math.ceil(3.33 * digits) + max(ball_length(w) - ball_length(v) for v, w, _ in live)
                needed = max(needed, finest + 64)
                rate = arb(4 * most * chain.phases)  # above the flow of one unit in every state
                bits = finest - min(ball_length(b) for _, _, b in live) + ball_length(rate) + SPARE
                if bits > MAX_BITS:
                    raise Undecided("the law is spread too far for integers of one size")
                if needed == prec:
                    ends = _around(x, u, ones, (arb(2) ** -finest, rate * arb(2) ** -bits, arb(2) ** bits))
                    found.append((j, 1 << bits, ends))
        if needed == prec:
            if all(_holds(chain, *row) for row in found):
                return found
            needed += 64
    raise Undecided("the law is spread too far for integers of one size")


def _holds(chain: DependentChain, j: int, over: int, ends: Ends) -> bool:
    """Return whether lower (-T) <= over e_j <= upper (-T), with upper (-T) > 0, as a checker asks."""
    last = len(ends[0]) - 1
    columns = [[list(zip(*chain.block(name, n), strict=True)) for name in NAMES] for n in range(last + 1)]
    for n in range(last + 1):
        for i, out in enumerate(_leaving(chain, n)):
            target = over * (n == last and i == j)
            flows = [x[n][i] * out for x in ends]
            for m, k in ((n - 1, 0), (n, 1), (n + 1, 2)):
                if 0 <= m <= last:
                    flows = [f - _dot(columns[m][k][i], x[m]) for f, x in zip(flows, ends, strict=True)]
            if flows[0] > target or flows[1] <= 0 or flows[1] < target:
                return False
    return True


def _dot(rates: Any, x: list[int]) -> fmpq:
    return sum((q * v for q, v in zip(rates, x, strict=True) if q != 0), fmpq(0))


def _around(x: Levels, u: Levels, ones: Levels, sizes: tuple[arb, arb, arb]) -> Ends:
    eps, kappa, one = sizes
    lower, upper = [], []
    for rows in zip(x, u, ones, strict=True):
        middle = [ball_floor(v * one) for v in rows[0]]
        wide = [ball_floor((eps * w + kappa * o) * one) + 1 for w, o in zip(*rows[1:], strict=True)]
        lower.append([max(c - d, 0) for c, d in zip(middle, wide, strict=True)])
        upper.append([c + d for c, d in zip(middle, wide, strict=True)])
    return lower, upper


def _stated(law: "DependentLaw", rows: list[Ends]) -> tuple[list[list[tuple[fmpq, fmpq]]], tuple[fmpq, fmpq]]:
    """Return what follows for the first levels and for the mean, as the checker computes it."""
    tail, last = law.outside, len(law.levels) - 1
    price = [
        sum((x * w for x, w in zip(row, tail.weights, strict=True)), fmpq(0)) for row in law.chain.block("up", last)
    ]
    sums = [(sum(map(sum, low)), sum(map(sum, high))) for low, high in rows]
    above = max(
        sum((c * v for c, v in zip(price, high[last], strict=True)), fmpq(0)) / total
        for (_, high), (total, _) in zip(rows, sums, strict=True)
    ) / (tail.eta * min(tail.weights))
    inside = 1 - min(above, fmpq(1))
    pairs = list(zip(rows, sums, strict=True))
    levels = [
        [
            (
                min(fmpq(low[n][i], s[1]) for (low, _), s in pairs) * inside,
                max(fmpq(high[n][i], s[0]) for (_, high), s in pairs),
            )
            for i in range(law.chain.phases)
        ]
        for n in range(min(LEVELS, last) + 1)
    ]
    far = (last + 1) * (tail.ratio / (tail.ratio - 1)) ** 2
    least = min(fmpq(_mean(low), s[1]) for (low, _), s in pairs) * inside
    return levels, (least, max(fmpq(_mean(high), s[0]) for (_, high), s in pairs) + above * far)


def _mean(levels: Levels) -> int:
    return sum(n * sum(level) for n, level in enumerate(levels))


def _leaving(chain: DependentChain, n: int) -> list[fmpq]:
    blocks = [chain.block(name, n) for name in NAMES]
    return [sum((x for block in blocks for x in block[i]), fmpq(0)) for i in range(chain.phases)]


def _text(levels: Levels) -> list[list[str]]:
    return [[integer_text(x) for x in level] for level in levels]
