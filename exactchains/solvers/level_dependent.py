r"""Laws of level chains whose rates grow with the level: ``dependent_law(chain, digits=15)``.

Watched on levels 0..N only, the chain comes back from above in some phase of level N.  Its law is therefore a mixture
of the normalised rows of :math:`(-T)^{-1}`, T the generator of levels 0..N killed when it leaves upwards, one row for
each phase of return (Courtois and Semal).  A function V = r^(n-N) w with Q V <= -eta V above N bounds what lies there:
P(level > N) <= pi_N up w / (eta min w), and n <= r^(n-N-1) (N+1) (r/(r-1))^2 does the same for the mean.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat, fmpq
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from exactchains.dependent_chain import NAMES, DependentChain
from exactchains.domain import ball_ends
from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.solvers.ball_reduction import triplet_solve
from exactchains.solvers.threads import one_thread
from exactchains.truth import InputError, PrecisionExhausted, Undecided, expect

FIRST, LAST = 16, 4096  # levels that are watched
RATIOS = ("2", "3/2", "5/4", "11/10", "21/20")
EXTRA = 64


@dataclass(frozen=True)
class Tail:
    """r, w > 0 and eta > 0 with (r up + local + down / r) w <= -eta w on every level above N."""

    ratio: fmpq
    weights: list[fmpq]
    eta: fmpq


@dataclass(frozen=True)
class DependentLaw:
    """The stationary law on the levels watched; what lies above is at most ``beyond``."""

    levels: list[list[Enclosure]]
    mean_level: Enclosure
    beyond: fmpq
    chain: DependentChain = field(repr=False)
    outside: Tail = field(repr=False)
    digits: int = 15

    def level(self, n: int) -> list[Enclosure]:
        """Return P(level = n, phase) for every phase."""
        if not 0 <= n < len(self.levels):
            raise InputError(f"level {n}: levels 0 to {len(self.levels) - 1} were watched; ask for more digits")
        return self.levels[n]

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """A certificate of kind *dependent-law* for the first levels and the mean level.

        None where the law is spread too far for integers of one size, or has too many phases and levels.
        """
        from exactchains.solvers.dependent_certificate import dependent_certificate

        try:
            return dependent_certificate(self)
        except Undecided:
            return None


@one_thread
def dependent_law(chain: DependentChain, *, digits: int = 15) -> DependentLaw:
    """Return the law of levels 0, 1, .. until little is left, with certain digits of the mean level and of level 0.

    Guarantee
    ---------
    The chain is positive recurrent, and its law lies in the enclosures.

    Raises
    ------
    Undecided
        No geometric Lyapunov function was found: the chain may have no stationary law.
    PrecisionExhausted
        The digits were not reached with 4096 levels.
    """
    expect(chain, DependentChain)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= 1000:
        raise InputError(f"digits = {digits}: give an integer from 1 to 1000")
    last, found, reached = FIRST, False, 0
    while last <= LAST:
        tail = _tail(chain, last)
        if tail is not None:
            found = True
            with flint.ctx.workprec(math.ceil(3.33 * digits) + EXTRA + 2 * last):
                try:
                    law = _law(chain, last, tail, digits)
                except Undecided:
                    raise Undecided(
                        f"levels 0 to {last} may hold states that never lead above them: leave such states out,"
                        " or solve a FiniteChain where levels are bounded"
                    ) from None
            wanted = [law.mean_level, *(x for x in law.levels[0] if x.upper > 0)]
            reached = min(digits if x.certain_digits is None else x.certain_digits for x in wanted)
            if reached >= digits:
                return law
        last *= 2
    if not found:
        advice = _apart(chain) or "the chain may have no stationary law"
        raise Undecided(f"no geometric Lyapunov function found: {advice}")
    advice = _apart(chain) or "ask for fewer digits"
    raise PrecisionExhausted(f"could not certify {digits} digits: {reached}; {advice}")


def _apart(chain: DependentChain) -> str | None:
    """Return what to do about phases of which no path leads to the others; None where all are joined."""
    flow = sum(np.array(part[name]) != 0 for part in (chain.constant, chain.slope) for name in NAMES)
    count, labels = connected_components(csr_matrix(flow), connection="strong")
    left = sorted({int(i) for i, j in np.argwhere(flow) if labels[i] != labels[j]})
    if left:
        return f"phase {left[0]} leads to phases from which none leads back: leave transient phases out"
    return "the phases form separate classes: solve each by itself" if count > 1 else None


def _tail(chain: DependentChain, last: int) -> Tail | None:
    """Return a Lyapunov function above level ``last``, checked in fractions on all levels at once."""
    m = chain.phases
    for text in RATIOS:
        ratio = fmpq(*map(int, (text + "/1").split("/")[:2]))
        rows = [_pressed(chain, ratio, n) for n in (last + 1, last + 2)]
        doubles = np.array([[nearest_double(x) for x in row] for row in rows[0]])
        values, vectors = np.linalg.eig(doubles)
        top = int(np.argmax(values.real))
        w = np.abs(vectors[:, top].real)
        if not values[top].real < 0 or not w.min() > 1e-12 * w.max():
            continue
        weights = [fmpq(round(x / w.max() * 2**40), 2**40) for x in w.tolist()]
        eta = fmpq(round(-values[top].real * 0.9 * 2**20), 2**20)
        first, second = ([sum((x * y for x, y in zip(row, weights, strict=True)), fmpq(0)) for row in r] for r in rows)
        if eta > 0 and all(first[i] + eta * weights[i] <= 0 and second[i] <= first[i] for i in range(m)):
            return Tail(ratio, weights, eta)
    return None


def _pressed(chain: DependentChain, ratio: fmpq, n: int) -> list[list[fmpq]]:
    """Return r up + local + down / r on level n, which is affine in n."""
    up, local, down = (chain.block(name, n) for name in ("up", "local", "down"))
    m = chain.phases
    found = [[ratio * up[i][j] + local[i][j] + down[i][j] / ratio for j in range(m)] for i in range(m)]
    for i in range(m):
        found[i][i] -= sum(up[i], fmpq(0)) + sum(local[i], fmpq(0)) + sum(down[i], fmpq(0))
    return found


def _law(chain: DependentChain, last: int, tail: Tail, digits: int) -> DependentLaw:
    rows = _mixtures(chain, last)
    up = chain.block("up", last)
    price = [sum((x * w for x, w in zip(row, tail.weights, strict=True)), fmpq(0)) for row in up]
    least = min(tail.weights)
    masses = [sum((x * arb(c) for x, c in zip(levels[last], price, strict=True)), arb(0)) for levels in rows]
    above = max(ball_ends(mass / arb(tail.eta * least))[1] for mass in masses)
    beyond = min(above, fmpq(1))
    found = []
    for n in range(last + 1):
        ends = [[ball_ends(levels[n][j]) for levels in rows] for j in range(chain.phases)]
        found.append([_enclosure(min(e[0] for e in x), max(e[1] for e in x), beyond) for x in ends])
    means = [sum((n * sum(levels[n], arb(0)) for n in range(last + 1)), arb(0)) for levels in rows]
    low, high = min(ball_ends(x)[0] for x in means), max(ball_ends(x)[1] for x in means)
    far = (last + 1) * (tail.ratio / (tail.ratio - 1)) ** 2  # bounds n r^(N + 1 - n) above N
    mean = Enclosure(max(low, fmpq(0)) * (1 - beyond), high + above * far)
    return DependentLaw(found, mean, beyond, chain, tail, digits)


def _enclosure(low: fmpq, high: fmpq, beyond: fmpq) -> Enclosure:
    return Enclosure(max(low, fmpq(0)) * (1 - beyond), max(high, fmpq(0)))


def _mixtures(chain: DependentChain, last: int) -> list[list[list[arb]]]:
    """Return, for every phase of return to the last level, the law of levels 0..last as balls."""
    inverses, found = pivots(chain, last), []
    for j in phases_of_return(chain, last):
        levels = left_solution(chain, inverses, [*([] for _ in range(last)), unit(chain, j)])
        total = sum((x for level in levels for x in level), arb(0))
        found.append([[x / total for x in level] for level in levels])
    return found


def phases_of_return(chain: DependentChain, last: int) -> list[int]:
    """Return the phases of the last level in which it can be entered from above."""
    returns = chain.block("down", last + 1)
    return [j for j in range(chain.phases) if any(row[j] != 0 for row in returns)]


def unit(chain: DependentChain, j: int) -> list[arb]:
    return [arb(int(i == j)) for i in range(chain.phases)]


def pivots(chain: DependentChain, last: int) -> list[arb_mat]:
    """Return the inverses of S_n = -(local_n + down_n S_(n-1)^-1 up_(n-1)) as balls.

    Their row sums are up_n 1: no subtraction is needed.
    """
    m, inverses = chain.phases, []
    off = arb_mat(chain.block("local", 0))
    identity = arb_mat(m, m, [int(i == j) for i in range(m) for j in range(m)])
    for n in range(last + 1):
        up = chain.block("up", n)
        inverses.append(triplet_solve(off, [arb(sum(row, fmpq(0))) for row in up], [identity])[0])
        if n < last:
            off = arb_mat(chain.block("local", n + 1)) + arb_mat(chain.block("down", n + 1)) * inverses[n] * arb_mat(up)
            for i in range(m):
                off[i, i] = arb(0)
    return inverses


def left_solution(chain: DependentChain, inverses: list[arb_mat], right: list[list[arb]]) -> list[list[arb]]:
    """Return x with x (-T) = right, level by level; an empty level is zero."""
    m, last = chain.phases, len(inverses) - 1
    carried = [arb_mat([level or [arb(0)] * m]) for level in right]
    for n in range(last):
        if any(x != 0 for x in carried[n].entries()):
            carried[n + 1] += carried[n] * inverses[n] * arb_mat(chain.block("up", n))
    row = carried[last] * inverses[last]
    found = [row]
    for n in range(last, 0, -1):
        row = (carried[n - 1] + row * arb_mat(chain.block("down", n))) * inverses[n - 1]
        found.append(row)
    return [list(level.entries()) for level in reversed(found)]
