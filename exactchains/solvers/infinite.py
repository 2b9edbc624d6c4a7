"""Stationary expectations of countable chains: ``expectation(chain, reward, digits=15)``, ``tail_probability``.

``expectation(chain, reward, *, digits=15) -> Result`` with ``.lower``, ``.upper`` and ``.certificate`` (kind
*poisson*); ``reward`` is a :class:`~exactchains.countable_chain.Reward`, ``Reward.total()`` is x1 + x2.
"""

import itertools
import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from scipy.optimize import linprog

from exactchains.countable_chain import CountableChain, Point, Reward
from exactchains.enclosure import Enclosure, Result
from exactchains.number import nearest_double, rational
from exactchains.solvers.cone_geometry import SUM, Condition, Side, basis, conditions
from exactchains.solvers.cone_law import tail_quantiles
from exactchains.solvers.poisson_box import TAIL_BITS, Box, Poisson
from exactchains.solvers.poisson_certificate import poisson_certificate
from exactchains.solvers.threads import one_thread
from exactchains.truth import InputError, PrecisionExhausted, Undecided, expect

ROUNDS, GUESSES = 6, 4
SLOPE, MARGIN = 0.02, 0.5  # by which the outer function overfulfils its conditions
MAX_PAIRS, MAX_SIDE, MAX_WORK = 400_000, 5_000, 50_000_000  # as in the checker
LONG = 24  # jumps beyond this may be what takes too many pairs


@dataclass(frozen=True)
class Bound:
    """One side: Q V + f <= c (sense 1) or >= c everywhere, V on the box and its outer function."""

    sense: int
    value: fmpq
    box: Box
    theta: list[int]
    kappa: int
    V: list[int]
    bits: int


@one_thread
def expectation(chain: CountableChain, reward: Reward, *, digits: int = 15) -> Result:
    r"""Return the stationary mean of a reward of at most linear growth, between two proved bounds.

    With :math:`QV + f \le c` everywhere and :math:`\pi|V| < \infty`, :math:`\pi(f) \le c`; likewise from below.  V is
    free on a finite box and piecewise quadratic outside, so that "everywhere" is a finite list of conditions.  A
    quadratic :math:`V_0` with :math:`QV_0 \le -\delta s + C` proves :math:`\pi(s^3) < \infty`, s = x1 + x2.

    Guarantee
    ---------
    A stationary law exists and every stationary law has its mean between ``lower`` and ``upper``.

    Raises
    ------
    Undecided
        No quadratic Lyapunov function was found: the chain may have no stationary law.
    PrecisionExhausted
        The digits were not reached with the largest box.
    """
    expect(chain, CountableChain)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= 200:
        raise InputError(f"digits = {digits}: give an integer from 1 to 200")
    begun = time.perf_counter()
    lyapunov = lyapunov_function(chain)
    loss, enclosure = 5.0, None
    for _ in range(ROUNDS):
        sides, mean = tail_quantiles(chain, reward, 10.0 ** -(digits + loss))
        box = Box.of(_covering(sides, reward))
        if not _fits(chain, box):
            break
        work = _Sides(chain, reward, box)
        lower, upper = (work.bound(sense, mean, digits) for sense in (-1, 1))
        enclosure = Enclosure(lower.value, upper.value)
        if enclosure.has_digits(digits):
            proof, seconds = poisson_certificate(chain, reward, lyapunov, (lower, upper)), time.perf_counter() - begun
            return Result(enclosure, "mean", None, f"Poisson, {len(box.inside)} pairs", seconds, proof)
        loss += max(2, digits - (enclosure.certain_digits or 0) + 1)
    reached = enclosure.certain_digits if enclosure else 0
    longest = max(abs(step) for jumps in chain.jumps.values() for jump, _ in jumps for step in jump)
    reason = f"the chain jumps up to {longest} far, which takes too many pairs; " if longest > LONG else ""
    raise PrecisionExhausted(f"could not certify {digits} digits: {reached}; {reason}ask for fewer digits")


def tail_probability(chain: CountableChain, k: int, *, digits: int = 15) -> Result:
    """Return P(x1 + x2 >= k) between two proved bounds; see :func:`expectation`."""
    return expectation(chain, Reward.total_at_least(k), digits=digits)


def _covering(sides: tuple[Side, ...], reward: Reward) -> tuple[Side, ...]:
    """Widen the box until it holds every pair where the reward is exceptional."""
    return tuple(Side(s.form, max([s.bound, *(s.value(pair) for pair in reward.exceptions)]), s.step) for s in sides)


def _fits(chain: CountableChain, box: Box) -> bool:
    """Return whether the box is small enough, for the checker too."""
    pairs, jumps = len(box.inside) + len(box.shell), max(map(len, chain.jumps.values()))
    small = max(len(box.inside), len(box.shell)) <= MAX_PAIRS and max(s.bound for s in box.sides) <= MAX_SIDE
    return small and pairs * (jumps + 1) * (3 + len(chain.borders)) <= MAX_WORK


class _Sides:
    """Both inequalities of one box; the factorisation serves them all."""

    def __init__(self, chain: CountableChain, reward: Reward, box: Box) -> None:
        self.chain, self.reward, self.box, self.unit = chain, reward, box, reward.unit()
        self.scale = math.lcm(*(int(rate.q) for jumps in chain.jumps.values() for _, rate in jumps))
        self.work = Poisson(chain, box, reward.integers(self.unit), self.scale)
        self.outer = conditions(chain, box.sides)
        self.margin = MARGIN * max(1.0, *(abs(nearest_double(x)) for x in reward.coefficients()[1:]))

    def bound(self, sense: int, mean: float, digits: int) -> Bound:
        """Return one side; an estimate of the mean that proves poor is replaced by the mean in the box."""
        bits = math.ceil(3.33 * (digits + max(0.0, -math.log10(abs(mean) or 1.0)))) + 40
        unit = (1 << (bits + TAIL_BITS)) * self.scale * self.unit
        for _ in range(GUESSES):
            theta = _outer_function(self.outer, self.reward, self.unit, (sense, mean * self.unit))
            solved = self.work.solve(theta, bits)
            kappa = _kappa(self.work, theta, solved, (bits, sense))
            V = solved[0] + solved[1] * kappa
            inside = int(V[0]) / unit
            if abs(inside - mean) <= self.margin / 4:
                break
            mean = inside
        value = fmpq(self.work.worst(theta, V, kappa, bits, sense), unit)
        for condition in self.outer:
            row = _exact_row(condition, theta, self.reward, self.unit)
            if condition.at_ray:
                if sense * row > 0:
                    raise Undecided("the outer function has the wrong slope")
            elif sense * row > sense * value * self.unit:
                value = row / self.unit
        return Bound(sense, value, self.box, theta, kappa, [0, *(int(v) for v in V[1:])], bits)


def _exact_row(condition: Condition, theta: list[int], reward: Reward, unit: int) -> fmpq:
    """Return Q V + f (times unit) at a vertex, or its slope along a direction, exactly."""
    total = sum((Fraction(t) * v for t, v in zip(theta, condition.row, strict=True)), Fraction(0)) / (1 << TAIL_BITS)
    constant, first, second = (Fraction(int(x.p), int(x.q)) for x in reward.coefficients())
    place = condition.place
    f = first * place[0] + second * place[1] + (0 if condition.at_ray else constant)
    return rational(total + f * unit)


def _outer_function(outer: list[Condition], reward: Reward, unit: int, goal: tuple[int, float]) -> list[int]:
    """Return the smallest piecewise quadratic function that meets the outer conditions with some margin."""
    sense, mean = goal
    constant, first, second = (nearest_double(x) * unit for x in reward.coefficients())
    size = max(1.0, abs(first), abs(second))
    rows, right = [], []
    for condition in outer:
        x, y = map(float, condition.place)
        f = first * x + second * y
        limit = -SLOPE * size * (abs(x) + abs(y)) if condition.at_ray else sense * mean - MARGIN * size
        rows.append([sense * float(v) for v in condition.row[1:]])
        right.append(limit - sense * (f if condition.at_ray else f + constant))
    count = len(rows[0])
    A = np.zeros((len(rows) + 2 * count, count + 1))
    A[: len(rows), :count] = rows
    for k in range(count):  # |theta_k| <= largest
        A[len(rows) + 2 * k, [k, count]] = 1, -1
        A[len(rows) + 2 * k + 1, [k, count]] = -1, -1
    cost = [0.0] * count + [1.0]
    found = linprog(cost, A_ub=A, b_ub=right + [0.0] * 2 * count, bounds=[(None, None)] * (count + 1))
    if found.x is None:
        raise Undecided("no quadratic function bounds the mean outside the box")
    return [0, *(round(v * 2**TAIL_BITS) for v in found.x[:count])]


def _kappa(work: Poisson, theta: list[int], solved: Any, at: tuple[int, int]) -> int:
    """Return the constant that just gives the shell the right sign, over 2^TAIL_BITS."""
    bits, sense = at
    value, response = work.shell(theta, solved, bits)
    mean, gain = int(solved[0][0]), int(solved[1][0])
    best: Fraction | None = None
    for v, r in zip(value.tolist(), response.tolist(), strict=True):
        if gain - r > 0:
            ratio = Fraction(v - mean, gain - r)
            if best is None or sense * ratio > sense * best:
                best = ratio
    if best is None:
        raise Undecided("no jump leads from the shell into the box")
    return math.floor(best) + (1 + (1 << TAIL_BITS) // 1000) * sense  # off the kink, where rounding would count


def lyapunov_function(chain: CountableChain) -> tuple[list[fmpq], fmpq]:
    r"""Return V0 and delta > 0 with V0 >= delta s^2 up to lower terms and Q V0 <= -delta s + C.

    Raises
    ------
    Undecided
        The linear programme has no such function.
    """
    count = len(basis((0, 0), chain.borders)) - 1
    quadratic = [2, 3, 4, *range(5 + len(chain.borders), count)]  # x1^2, x1 x2, x2^2, squares of positive parts
    rows = []
    for condition in conditions(chain, (Side(SUM, 1, 2),)):
        if condition.at_ray:
            rows.append([*map(float, condition.row[1:]), float(sum(condition.place))])
    for values, size in _forms(chain):
        row = [0.0] * count
        for k in quadratic:
            row[k] = -float(values[k + 1])
        rows.append([*row, size])
    found = linprog([0.0] * count + [-1.0], A_ub=rows, b_ub=[0.0] * len(rows), bounds=[(-1, 1)] * count + [(0, 1)])
    if found.x is None or not found.x[-1] > 1e-9:
        raise Undecided("no quadratic Lyapunov function found: the chain may have no stationary law")
    theta = [Fraction(0), *(Fraction(round(v * 2**40), 2**40) for v in found.x[:-1])]
    delta = Fraction(math.floor(found.x[-1] * 2**40 * 0.99), 2**40)
    if not _proved(chain, theta, delta):
        raise Undecided("no quadratic Lyapunov function found in exact numbers")
    return [rational(t) for t in theta], rational(delta)


def _proved(chain: CountableChain, theta: list[Fraction], delta: Fraction) -> bool:
    """Return whether Q V0 <= -delta s along every ray and V0 is strictly copositive on every cone, exactly."""

    def dot(row: list[Fraction]) -> Fraction:
        return sum((t * v for t, v in zip(theta, row, strict=True)), Fraction(0))

    falls = all(dot(c.row) <= -delta * sum(c.place) for c in conditions(chain, (Side(SUM, 1, 2),)) if c.at_ray)
    linear = [0, 1, 2, *range(6, 6 + len(chain.borders))]
    squares = [
        dot([Fraction(0) if k in linear else Fraction(v) for k, v in enumerate(row)]) for row, _ in _forms(chain)
    ]
    rays = len(chain.rays())
    pairs = zip(squares[: rays - 1], squares[1:rays], squares[rays:], strict=True)
    return delta > 0 and falls and all(u > 0 and w > 0 and (p >= 0 or p * p < u * w) for u, w, p in pairs)


def _forms(chain: CountableChain) -> list[tuple[list[Fraction], float]]:
    """Return basis functions at the rays, and their polar forms at neighbouring rays, with the size of s^2 there.

    Only the entries of squares are meant.
    """

    def at(x: Point) -> list[Fraction]:
        return [Fraction(v) for v in basis(x, chain.borders)]

    rays = chain.rays()
    found = [(at(ray), float(sum(ray)) ** 2) for ray in rays]
    for first, second in itertools.pairwise(rays):
        both = at((first[0] + second[0], first[1] + second[1]))
        polar = [(w - u - v) / 2 for u, v, w in zip(at(first), at(second), both, strict=True)]
        found.append((polar, float(sum(first) * sum(second))))
    return found
