r"""Laws at a fixed time by uniformisation, bounded from below by rounding down and from above by the missing mass.

With a rate :math:`\Lambda` at least every exit rate, :math:`p(t) = \sum_k e^{-\Lambda t} (\Lambda t)^k / k!\; p_0 P^k`.
All terms are nonnegative: leaving terms out and rounding down gives lower bounds, and what their sum lacks to 1 bounds
how far each can be off.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpz_mat

from exactchains.chain import FiniteChain
from exactchains.domain import ball_ends, rational
from exactchains.enclosure import Enclosure
from exactchains.initial import Start, initial_law
from exactchains.solvers.arrays import arrays
from exactchains.solvers.dixon import integer_rows
from exactchains.solvers.doubling import LARGEST, cost, doubled
from exactchains.truth import InputError, PrecisionExhausted

LARGEST_WORK = 3e8  # transitions times steps
OVERHEAD = 200  # transitions that a step costs by itself


def transient_law(chain: FiniteChain, start: Start, time: Any, *, digits: int = 15) -> list[Enclosure]:
    """Return the law at ``time`` (exact; a number of steps in discrete time) of the chain started in ``start``.

    ``start`` is a state, or a table from states to exact probabilities that sum to 1.  ``digits`` decimals are
    certain: every enclosure is narrower than 10^-digits (absolute).

    Guarantee
    ---------
    The law lies in the enclosures; states that cannot be reached have the exact entry 0.

    Raises
    ------
    InputError
        No such state, no law to start from, a negative time, or one that needs too many steps (it says how many).
    PrecisionExhausted
        Four doublings of the precision were not enough.
    """
    t, begin = _time(chain, time), initial_law(chain.size, start)
    if chain.time == "discrete":
        return _enclosures(_exact_steps(chain, begin, int(t.p)))
    for bits in (int(3.33 * digits) + 64 << k for k in range(4)):
        walk = _Walk.of(chain, bits)
        total = walk.mixture(begin, walk.rate * t, later=False)
        missing = (1 << bits) - int(total.sum())
        if missing * 10**digits <= 1 << bits:
            return _enclosures(
                [(fmpq(int(x), 1 << bits), fmpq(int(x) + missing, 1 << bits)) for x in total], walk.reach(begin)
            )
    raise PrecisionExhausted(f"could not certify {digits} decimals at time {t}")


def accumulated_reward(
    chain: FiniteChain, start: Start, reward: Callable[[int], Any] | Sequence[Any], *, time: Any, digits: int = 15
) -> Enclosure:
    r"""Return :math:`E \int_0^t r(X_s) ds` for a nonnegative exact reward rate, to ``digits`` certain decimals.

    The mean time spent in each state is bounded as in :func:`transient_law`; together the states share exactly t.
    """
    t, begin = _time(chain, time), initial_law(chain.size, start)
    if chain.time == "discrete":
        raise InputError("time = 'discrete': rewards accumulate in continuous time; sum transient laws instead")
    of = reward if callable(reward) else reward.__getitem__
    values = [rational(of(i), f"reward {i}") for i in range(chain.size)]
    if min(values) < 0:
        raise InputError(f"reward {values.index(min(values))} = {min(values)} is negative; split it into two parts")
    for bits in (int(3.33 * digits) + 64 << k for k in range(4)):
        walk = _Walk.of(chain, bits)
        total = walk.mixture(begin, walk.rate * t, later=True)
        spent = [fmpq(int(x), 1 << bits) / walk.rate for x in total]
        missing = t - sum(spent, fmpq(0))
        lower = sum((x * v for x, v in zip(spent, values, strict=True)), fmpq(0))
        upper = lower + missing * max(values)
        if (upper - lower) * 10**digits <= 1:
            return Enclosure(lower, upper)
    raise PrecisionExhausted(f"could not certify {digits} decimals of the reward until time {t}")


def _time(chain: FiniteChain, time: Any) -> fmpq:
    t = rational(time, "time")
    if t < 0 or (chain.time == "discrete" and t.q != 1):
        raise InputError(f"time = {t}: give {'a number of steps' if chain.time == 'discrete' else 'a time'} >= 0")
    return t


@dataclass(frozen=True, eq=False)
class _Walk:
    """The uniformised jump chain in integers: laws over 2^bits, rounded down."""

    size: int
    bits: int
    rate: fmpq
    source: Any
    chances: Any
    first: Any
    hit: Any
    stay: Any

    @classmethod
    def of(cls, chain: FiniteChain, bits: int) -> "_Walk":
        flow = arrays(chain)
        rates, scales = integer_rows(flow)
        rows: Any = chain.rows
        exact = [fmpq(q) / s for q, s in zip(rates, _per_entry(flow, scales, rows.denominator), strict=True)]
        exits = [fmpq(0)] * flow.size
        source = flow.sources()
        for i, q in zip(source.tolist(), exact, strict=True):
            exits[i] += q
        rate = max(exits) or fmpq(1)
        unit = fmpq(2) ** bits / rate
        order = np.argsort(flow.targets, kind="stable")
        chances = _objects([_floor(q * unit) for q in exact])[order]
        targets = flow.targets[order]
        hit = np.unique(targets)
        stay = _objects([_floor((rate - x) * unit) for x in exits])
        return cls(flow.size, bits, rate, source[order], chances, np.searchsorted(targets, hit), hit, stay)

    def zeros(self) -> Any:
        return _objects([0] * self.size)

    def mixture(self, start: dict[int, fmpq], mean: fmpq, *, later: bool) -> Any:
        """Return lower bounds of the law after a Poisson number of jumps; ``later``: of its sum over earlier times."""
        if self.size <= LARGEST and cost(self.size, mean) < mean * (len(self.source) + self.size + OVERHEAD):
            matrix = doubled(self.jump(), mean, self.bits, lambda m: _chances(m, self.bits))[later]
            rows = [(_floor(x * 2**self.bits), i) for i, x in start.items()]
            sums = [sum(int(matrix[i, j]) * x for x, i in rows) for j in range(self.size)]
            return _objects([x >> self.bits for x in sums])
        weights, total = _chances(mean, self.bits)[later], self.zeros()
        for weight, p in zip(weights, self.laws(start, len(weights)), strict=True):
            total += np.right_shift(p * weight, self.bits)
        return total

    def jump(self) -> fmpz_mat:
        """Return the transition matrix of one jump, over 2^bits."""
        found = fmpz_mat(self.size, self.size)
        for i, x in enumerate(self.stay):
            found[i, i] = x
        targets = np.repeat(self.hit, np.diff([*self.first, len(self.source)]))
        for i, j, x in zip(self.source.tolist(), targets.tolist(), self.chances, strict=True):
            found[i, j] += x
        return found

    def laws(self, start: dict[int, fmpq], steps: int) -> Any:
        """Yield lower bounds of the law after 0, 1, 2, ... jumps."""
        if steps * (len(self.source) + self.size + OVERHEAD) > LARGEST_WORK:
            raise InputError(
                f"time: {steps} steps over {len(self.source)} transitions are too many; give a shorter time"
            )
        p = self.zeros()
        for i, x in start.items():
            p[i] = _floor(x * 2**self.bits)
        for _ in range(steps):
            yield p
            new = p * self.stay
            if len(self.hit):
                new[self.hit] += np.add.reduceat(p[self.source] * self.chances, self.first)
            p = np.right_shift(new, self.bits)

    def reach(self, start: dict[int, fmpq]) -> set[int]:
        seen, queue = set(start), list(start)
        follow: dict[int, list[int]] = {}
        targets = np.repeat(self.hit, np.diff([*self.first, len(self.source)]))
        for i, j in zip(self.source.tolist(), targets.tolist(), strict=True):
            follow.setdefault(i, []).append(j)
        for i in queue:
            for j in follow.get(i, []):
                if j not in seen:
                    seen.add(j)
                    queue.append(j)
        return seen


def _per_entry(flow: Any, scales: list[int] | None, denominator: int) -> list[int]:
    if scales is None:
        return [denominator] * len(flow.targets)
    return [scales[i] for i in flow.sources().tolist()]


def _poisson(mean: fmpq, bits: int) -> list[int]:
    """Return lower bounds of the Poisson probabilities of 0, 1, ..., over 2^bits, until the rest is negligible.

    The first ones are left out (0) as long as they sum to less than one unit.
    """
    middle = int(mean.p) // int(mean.q)
    if mean == 0:
        return [1 << bits]
    if middle > LARGEST_WORK:
        raise InputError(f"time: about {middle} steps are too many; give a shorter time")
    with ctx.workprec(2 * bits + 128):
        begin = max(0, middle - isqrt(middle * bits) - 8)
        while begin and not begin * _chance(mean, begin) < arb(2) ** -bits:
            begin -= min(begin, isqrt(middle) + 1)
        low = ball_ends(_chance(mean, begin))[0]
    extra = max(0, int(low.q).bit_length() - int(low.p).bit_length()) + 64  # errors of one unit stay below 2^-64 units
    x, words = _floor(low * fmpq(2) ** (bits + extra)), [0] * begin
    top, bottom = int(mean.p), int(mean.q)
    for k in range(begin + 1, middle + 12 * (isqrt(middle) + 1) + bits + 1):
        words.append(x >> extra)
        x = x * top // (bottom * k)
        if k > middle and x >> extra == 0:
            break
    return words


def _chances(mean: fmpq, bits: int) -> list[list[int]]:
    """Return lower bounds of P(k jumps) and of P(more than k jumps), k = 0, 1, .., over 2^bits."""
    words = _poisson(mean, bits)
    return [words, [max(0, (1 << bits) - x) for x in _running(words)]]


def _chance(mean: fmpq, k: int) -> arb:
    """Return the Poisson probability of k."""
    m = arb(mean)
    return (-m).exp() * m**k / arb(k + 1).gamma() if k < 50 else (k * m.log() - m - arb(k + 1).lgamma()).exp()


def _running(words: list[int]) -> list[int]:
    """Return upper bounds of the partial sums of the probabilities that :func:`_poisson` bounds from below.

    Each word is less than one unit too small by its own rounding; those left out sum to less than one; and earlier
    roundings add less than one, since an error of 2^-(bits + extra) grows by at most 1 / (first word) < 2^(extra - 62).
    """
    total, sums = 0, []
    for k, word in enumerate(words):
        total += word
        sums.append(total + k + 4)
    return sums


def _exact_steps(chain: FiniteChain, start: dict[int, fmpq], steps: int) -> list[tuple[fmpq, fmpq]]:
    if steps * chain.size > 10**6:
        raise InputError(f"time = {steps}: too many exact steps for {chain.size} states; give fewer steps")
    p = start
    for _ in range(steps):
        new: dict[int, fmpq] = {}
        for i, x in p.items():
            for j, q in chain.rows[i].items():
                new[j] = new.get(j, fmpq(0)) + x * q
        p = new
    return [(p.get(i, fmpq(0)),) * 2 for i in range(chain.size)]


def _enclosures(ends: Sequence[tuple[fmpq, fmpq]], reach: set[int] | None = None) -> list[Enclosure]:
    found = []
    for i, (lower, upper) in enumerate(ends):
        exact = lower == upper or (reach is not None and i not in reach)
        found.append(Enclosure.exact(lower) if exact else Enclosure(lower, min(upper, fmpq(1))))
    return found


def _floor(x: fmpq) -> int:
    return int(x.p) // int(x.q)


def _objects(values: list[int]) -> Any:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held
