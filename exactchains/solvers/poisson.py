r"""Second order: the variance constant of time averages, from a certified solution of the Poisson equation.

:math:`Q g = c - r` with :math:`c = \pi r`, g = 0 at a reference state.  Without that state -Q is an M-matrix S, and a
vector v >= 0 with S v > 0 turns the residual of an approximation into error bounds of g, entry by entry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from flint import arb, ctx, fmpq

from exactchains.chain import FiniteChain
from exactchains.domain import ball_ends, rational
from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.solvers.arrays import Arrays, arrays
from exactchains.solvers.dixon import integer_rows
from exactchains.solvers.law import StationaryLaw
from exactchains.solvers.scaled import LU_OPTIONS
from exactchains.solvers.stationary import stationary
from exactchains.truth import InputError, PrecisionExhausted


def variance_constant(
    chain: FiniteChain, reward: Callable[[int], Any] | Sequence[Any], *, digits: int = 15
) -> Enclosure:
    r"""Return :math:`\lim_t \mathrm{Var}(\int_0^t r(X_s) ds) / t`, or its sum analogue in discrete time.

    .. math:: \sigma^2 = 2 \sum_i \pi_i (r_i - c) g_i, \quad
              \sigma^2 = 2 \sum_i \pi_i (r_i - c) g_i - \sum_i \pi_i (r_i - c)^2 \text{ (discrete)}.

    Divided by the length of a run it is the variance of a time average: what confidence intervals need.

    Parameters
    ----------
    chain
        One recurrent class, in which the reward is read; transient states do not matter.
    reward
        Exact numbers, one a state.

    Guarantee
    ---------
    The constant lies in the enclosure; where it is zero the answer is exactly 0, at any size.

    Raises
    ------
    PrecisionExhausted
        The digits could not be certified.
    """
    if not callable(reward) and len(reward) != chain.size:
        raise InputError(f"reward has {len(reward)} entries, the chain {chain.size} states")
    of = reward if callable(reward) else reward.__getitem__
    for extra in (12, 40, 120, 400):
        law = stationary(chain, digits=digits + extra)
        values = [rational(of(int(i)), f"reward {i}") for i in law.states]
        if len(set(values)) == 1 or (chain.time == "discrete" and _telescopes(chain, law.states, values)):
            return Enclosure.exact(0)
        found = _constant(chain, law, values, digits + extra)
        if found is not None and found.has_digits(digits):
            return found
    raise PrecisionExhausted(f"could not certify {digits} digits of the variance constant")


def _telescopes(chain: FiniteChain, states: Sequence[int], values: Sequence[fmpq]) -> bool:
    r"""Return whether the variance constant of a discrete class is zero.

    :math:`\sigma^2 = \sum_i \pi_i \sum_j p_{ij} (g_j - g_i + r_i - c)^2`: it is zero if and only if
    :math:`g_j = g_i + c - r_i` on every transition, that is :math:`g = k c - s` for the steps k and the rewards s on
    the way from the first state, and one number c for all ways.  (In continuous time r is then constant.)
    """
    reward = dict(zip(map(int, states), values, strict=True))
    ways, mean = {int(states[0]): (0, fmpq(0))}, None
    waiting = list(ways)
    for i in waiting:
        way = ways[i][0] + 1, ways[i][1] + reward[i]
        for j in (j for j, p in chain.rows[i].items() if p != 0):
            if j not in ways:
                ways[j] = way
                waiting.append(j)
            steps, gained = way[0] - ways[j][0], way[1] - ways[j][1]
            if steps and mean is None:
                mean = gained / steps
            elif gained != steps * (mean or fmpq(0)):
                return False
    return True


def _constant(chain: FiniteChain, law: StationaryLaw, values: list[fmpq], digits: int) -> Enclosure | None:
    bits = int(3.33 * digits) + 64
    with ctx.workprec(bits):
        weights = [_ball(*law.values.ends(k)) for k in range(len(values))]
        mean = sum((w * arb(r) for w, r in zip(weights, values, strict=True)), arb(0))
        centre = mean.mid().fmpq()
        off = arb(mean - arb(centre)).abs_upper().fmpq()
        solution = _poisson_equation(chain, law, [r - centre for r in values], off, bits)
        if solution is None:
            return None
        total = arb(0)
        for w, r, (g, radius) in zip(weights, values, solution, strict=True):
            gap = arb(r) - mean
            total += w * gap * (2 * _ball(g - radius, g + radius) - (gap if chain.time == "discrete" else 0))
        return Enclosure(*ball_ends(total))


def _ball(lower: fmpq, upper: fmpq) -> arb:
    return arb(lower).union(arb(upper))


@dataclass(frozen=True, eq=False)
class _Rows:
    """S in integers over ``below`` a row, reference state at the position ``reference`` left in, its row ignored."""

    size: int
    first: Any
    target: Any
    rate: Any
    exit: Any
    below: Any
    reference: int

    def product(self, g: Any) -> Any:
        """Return (S g) times ``below``, exactly; zero at the reference state."""
        out = g * self.exit
        out -= np.add.reduceat(self.rate * g[self.target], self.first)
        out[self.reference] = 0
        return out


def _poisson_equation(
    chain: FiniteChain, law: StationaryLaw, right: list[fmpq], off: fmpq, bits: int
) -> list[tuple[fmpq, fmpq]] | None:
    """Return g and its error bound in every state; ``right`` may be off by ``off``."""
    inside = arrays(chain).within(law.states)
    rows = _rows(chain, inside, int(np.argmax([nearest_double(law.values.ends(k)[1]) for k in range(inside.size)])))
    solve = _factor(rows)
    target = _objects([_round(r * b * fmpq(2) ** bits) for r, b in zip(right, rows.below.tolist(), strict=True)])
    target[rows.reference] = 0
    g = _objects([0] * rows.size)
    best: int | None = None
    for _ in range(200):
        rest = target - rows.product(g)
        size = max(abs(x).bit_length() for x in rest)
        if size == 0 or (best is not None and size > best - 4):
            break
        best = size
        step = solve(np.array([x / (1 << size) for x in rest]))
        if not np.isfinite(step).all():
            return None
        power = max(0, 60 - int(np.frexp(np.abs(step).max())[1]))
        scaled = _objects([int(x) for x in np.rint(np.ldexp(step, power))])
        g = g + (np.left_shift(scaled, size - power) if size >= power else np.right_shift(scaled, power - size))
        g[rows.reference] = 0
    return _bounded(rows, g, (target, off), (solve, bits))


def _bounded(rows: _Rows, g: Any, right: tuple[Any, fmpq], tools: tuple[Any, int]) -> list[tuple[fmpq, fmpq]] | None:
    """Bound the error of g by delta v with S v > 0: v are mean hitting times of the reference state."""
    target, off = right
    solve, bits = tools
    v = solve(np.where(np.arange(rows.size) == rows.reference, 0.0, rows.below.astype(float)))
    if not np.isfinite(v).all():
        return None
    words = _objects([max(0, int(x)) for x in np.ldexp(v, 20 - int(np.frexp(v.max())[1]) + 60)])
    words[rows.reference] = 0
    gain, rest = rows.product(words), target - rows.product(g)
    delta = fmpq(0)
    for j in range(rows.size):
        if j != rows.reference:
            if gain[j] <= 0:
                return None
            wrong = abs(int(rest[j])) + 1 + _round(off * int(rows.below[j]) * fmpq(2) ** bits) + 1
            delta = max(delta, fmpq(wrong, int(gain[j])))
    unit = fmpq(2) ** -bits
    return [(int(x) * unit, delta * int(w) * unit) for x, w in zip(g, words, strict=True)]


def _rows(chain: FiniteChain, inside: Arrays, reference: int) -> _Rows:
    rates, scales = integer_rows(inside)
    denominator = chain.rows.denominator  # type: ignore[attr-defined]
    below = _objects([denominator] * inside.size if scales is None else scales)
    rate = _objects(rates)
    exits = np.add.reduceat(rate, inside.indptr[:-1])
    return _Rows(inside.size, inside.indptr[:-1], inside.targets, rate, exits, below, reference)


def _factor(rows: _Rows) -> Callable[[Any], Any]:
    """Return the floating-point solver of S g = b (rows scaled to exit rate 1)."""
    n = rows.size
    source = np.repeat(np.arange(n), np.diff([*rows.first, len(rows.rate)]))
    data = np.array([-(q / d) for q, d in zip(rows.rate, rows.exit[source], strict=True)])
    data[(source == rows.reference) | (rows.target == rows.reference)] = 0
    system = sp.csr_matrix((data, (source, rows.target)), shape=(n, n)) + sp.identity(n, format="csr")
    lu = sla.splu(system.tocsc(), permc_spec="MMD_AT_PLUS_A", **LU_OPTIONS)
    exits = np.array([float(x) for x in rows.exit])
    return lambda b: lu.solve(b / exits)


def _round(x: fmpq) -> int:
    return int(x.p) // int(x.q)


def _objects(values: list[Any]) -> Any:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held
