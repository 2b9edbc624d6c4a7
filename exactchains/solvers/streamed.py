"""Laws of chains that no memory holds: a candidate and its certificate vector are checked level by level.

Three neighbouring levels of the chain and of both vectors are in memory at a time.  The theorem is that of
:mod:`exactchains.solvers.certificate`: a vector u >= 0, zero at one reference state only, with (-uQ)_j > 0 in every
other state j proves that the law is unique and bounds the error of the candidate in every entry.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from mmap import mmap
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from exactchains.chain import NotAGenerator
from exactchains.enclosure import Enclosure
from exactchains.solvers.flow import Flow
from exactchains.solvers.twofold import U, inflow
from exactchains.spread import spread
from exactchains.truth import InputError, PrecisionExhausted

Transitions = tuple[Any, Any, Any, Any]  # source in its level, step -1, 0 or 1, target in its level, integer rate
ByLevel = Callable[[int], Any]  # one double a state of the level
PIECES = 32  # runs of levels, of about as many states each, that an executor gets one by one


class LevelSource(Protocol):
    """A chain in continuous time by levels: state 0 of level 0 is the reference, jumps lead to neighbouring levels."""

    @property
    def levels(self) -> int: ...
    def size(self, level: int) -> int: ...
    def out(self, level: int) -> Transitions:
        """Return the transitions out of a level: integer rates over one common denominator, each pair once."""
        ...


@dataclass(frozen=True, eq=False)
class LevelBound:
    """What was proved: entry i of the law is the candidate's, divided by its sum, up to a relative error.

    ``error`` bounds that of every entry, ``masses`` enclose the mass of every level, ``delta`` is the largest imbalance
    over the certificate's, ``states`` and ``transitions`` were read.
    """

    error: float
    masses: list[Enclosure]
    delta: float
    states: int
    transitions: int
    _entry: Callable[[int, int], Enclosure] = field(repr=False)

    def entry(self, level: int, k: int) -> Enclosure:
        """Return the law of state ``k`` of a level."""
        return self._entry(level, k)

    def mean_level(self) -> Enclosure:
        lower = sum((level * m.lower for level, m in enumerate(self.masses)), fmpq(0))
        return Enclosure(lower, sum((level * m.upper for level, m in enumerate(self.masses)), fmpq(0)))


def certified_by_levels(
    source: LevelSource, *, candidate: ByLevel, vector: ByLevel, executor: Executor | None = None
) -> LevelBound:
    """Return the proved error of a candidate law of a chain that is given level by level.

    Parameters
    ----------
    source
        The chain; its transitions are asked for once a level.
    candidate
        ``candidate(level)``: the candidate law, positive, in any one scale.
    vector
        ``vector(level)``: the certificate vector u, zero in the reference state.  It solves -uQ = 1 roughly, to one
        digit: by the solver that found the candidate, or as the candidate times a drift function of the reversed chain.
    executor
        Processes that read runs of levels, each with three levels in memory at a time; the result is the same.
        Chain and vectors must pickle (:func:`exactchains.spread.spread`); :func:`sliced` sends a mapped file by name.

    Guarantee
    ---------
    The chain has exactly one stationary law, and every enclosure returned contains it.  Rounding is accounted for.

    Raises
    ------
    InputError
        Sizes that do not fit, entries that are no numbers of the kind asked for; the message names level and state.
    PrecisionExhausted
        The vector proves nothing, or the candidate is too coarse.
    """
    read = partial(_read, source, candidate, vector)
    parts = list(spread(read, _runs(source, PIECES) if executor else [range(source.levels)], executor))
    delta, worst = max(part.delta for part in parts) * (1 + 8 * U), max(part.worst for part in parts)
    states, transitions = sum(part.states for part in parts), sum(part.transitions for part in parts)
    total = [pair for part in parts for pair in part.sums]
    mass, drift = (sum(pair[i] for pair in total) for i in (0, 1))
    slack = 1 + 8 * (states + 2) * U  # sums of positive doubles in any order
    mean = delta * drift / mass * slack + 2.0**-600
    if not mean < 0.5:
        raise PrecisionExhausted(f"could not certify 1 digit of this candidate: its mean relative error is {mean:.1e}")

    def relative(ratio: float) -> float:
        return float((delta * ratio * slack + mean) / (1 - mean) * (1 + 32 * U))

    def around(x: float, ratio: float) -> Enclosure:
        middle, error = _exact(x) / _exact(mass), _exact(relative(ratio) + 4 * slack - 4 + 8 * U)
        return Enclosure(middle * (1 - error), middle * (1 + error))

    walk = _Walk(source, candidate, vector)

    def entry(level: int, k: int) -> Enclosure:
        x, u = walk.x(level), walk.u(level)
        return around(float(x[k]), float(u[k] / x[k]))

    masses = [around(m, d / m) for m, d in total]
    return LevelBound(relative(worst), masses, delta, states, transitions, entry)


@dataclass(frozen=True)
class _Part:
    """What a run of levels says: largest ratios, counts, and the sums of both vectors level by level."""

    delta: float
    worst: float
    states: int
    transitions: int
    sums: list[tuple[float, float]]


def _read(source: LevelSource, candidate: ByLevel, vector: ByLevel, levels: range) -> _Part:
    walk, delta, sums = _Walk(source, candidate, vector), 0.0, []
    for level in levels:
        delta = max(delta, walk.ratio(level))
        sums.append(walk.sums(level))
    return _Part(delta, walk.worst, walk.states, walk.transitions, sums)


def _runs(source: LevelSource, count: int) -> list[range]:
    """Cut the levels into at most ``count`` runs of about as many states each."""
    ends = np.cumsum([source.size(level) for level in range(source.levels)])
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count, side="left") + 1
    bounds = sorted({0, source.levels, *cuts.tolist()})
    return [range(a, b) for a, b in pairwise(bounds)]


class _Walk:
    """Reads chain and vectors level by level and keeps the last few levels."""

    def __init__(self, source: LevelSource, candidate: ByLevel, vector: ByLevel) -> None:
        self.source, self.states, self.transitions, self.worst = source, 0, 0, 0.0
        self.x = lru_cache(4)(lambda level: self._checked(candidate(level), level, "candidate"))
        self.u = lru_cache(4)(lambda level: self._checked(vector(level), level, "vector"))
        self.out = lru_cache(4)(self._out)

    def ratio(self, level: int) -> float:
        """Return the largest |residual| / gain of a level, both with their rounding errors."""
        flow, at = self._window(level)
        around = range(max(level - 1, 0), min(level + 2, self.source.levels))
        x, u = (np.concatenate([read(k) for k in around]) for read in (self.x, self.u))
        h, e = np.frexp(x)
        exponent = e.astype(np.int64) + flow.shift
        zero = np.zeros(flow.size)
        residual, slack = inflow(flow, h, zero, exponent)
        gain, loose = inflow(flow, np.ldexp(u, -e), zero, exponent)
        worst, least = (np.abs(residual) + slack)[at], (-gain - loose)[at]
        keep = np.ones(len(worst), bool)
        keep[0] = level > 0  # the reference
        if not (np.isfinite(worst).all() and (least[keep] > 0).all()):
            bad = int(np.argmax(keep & ~(least > 0)))
            raise PrecisionExhausted(
                f"the certificate vector proves nothing at level {level}, state {bad}: -uQ > 0 fails"
            )
        self.states += len(worst)
        self.transitions += len(self.out(level)[0])
        self.worst = max(self.worst, float((u / x)[at].max()))
        return float((worst[keep] / least[keep]).max(initial=0.0))

    def sums(self, level: int) -> tuple[float, float]:
        return float(self.x(level).sum()), float(self.u(level).sum())

    def _window(self, level: int) -> tuple[Flow, slice]:
        """Return the transitions into a level out of its neighbourhood, as a flow, and where the level stands in it."""
        around = range(max(level - 1, 0), min(level + 2, self.source.levels))
        start = dict(zip(around, np.cumsum([0, *(self.source.size(k) for k in around)])[:-1].tolist(), strict=True))
        n, at = sum(self.source.size(k) for k in around), start[level]
        parts, exits = [], []
        for k in around:
            i, step, j, rate, total = self.out(k)
            into = step == level - k
            parts.append((i[into] + start[k], j[into] + at, rate[into]))
            exits.append(total)
        source, target, rate = (np.concatenate(part) for part in zip(*parts, strict=True))
        held = sp.csr_matrix((rate, (target, source)), shape=(n, n))
        total = np.concatenate(exits)
        shift = np.frexp(total)[1].astype(np.int64)
        degree = np.diff(held.indptr)
        return Flow(
            size=n,
            order=None,
            level=None,
            start=None,
            shift=shift,
            indptr=held.indptr,
            source=held.indices,
            rate_high=np.ldexp(held.data.astype(float), -shift[held.indices]),
            rate_low=None,
            exit_high=np.ldexp(total, -shift),
            exit_low=None,
            degree=degree,
        ), slice(at, at + self.source.size(level))

    def _out(self, level: int) -> tuple[Any, ...]:
        """Return the checked transitions out of a level, and the total rate out of each of its states."""
        i, step, j, rate = (np.asarray(a) for a in self.source.out(level))
        size, last = self.source.size(level), self.source.levels - 1
        if any(a.dtype.kind not in "iu" for a in (i, step, j, rate)) or len({len(a) for a in (i, step, j, rate)}) > 1:
            raise InputError(f"level {level}: four integer arrays of one length are needed")
        if len(i) == 0 or (rate <= 0).any() or (abs(step) > 1).any():
            raise NotAGenerator(f"level {level}: rates > 0 and steps -1, 0, 1 are needed")
        there = np.array([self.source.size(k) if 0 <= k <= last else 0 for k in (level - 1, level, level + 1)])
        if ((i < 0) | (i >= size) | (j < 0) | (j >= there[step + 1])).any():
            raise NotAGenerator(f"level {level}: a transition from or to a state that is not there")
        if ((step == 0) & (i == j)).any():
            raise NotAGenerator(f"level {level}: a rate from a state to itself; leave it out")
        total = np.bincount(i, rate.astype(float), size)
        if (total == 0).any() or total.max() >= 2.0**53:
            raise NotAGenerator(
                f"level {level}: exit rates from 1 to 2^53 are needed, as integers over one denominator"
            )
        return i, step, j, rate.astype(np.int64), total

    def _checked(self, given: Any, level: int, name: str) -> Any:
        x = np.asarray(given, dtype=float)
        if x.shape != (self.source.size(level),):
            raise InputError(f"{name}: level {level} has shape {x.shape}; give {self.source.size(level)} numbers")
        reference = level == 0 and name == "vector"
        good = np.isfinite(x) & (x > 0)
        if reference:
            good[0] = x[0] == 0
        if not good.all():
            k = int(np.argmin(good))
            need = "0 in the reference state" if reference and k == 0 else "positive and finite"
            raise InputError(f"{name}: level {level}, state {k} is {x[k]}; it must be {need}")
        return x


def sliced(array: Any, source: LevelSource) -> ByLevel:
    """Return a long vector by levels; a memory-mapped one is read piece by piece.

    Raises
    ------
    InputError
        The vector does not have one entry a state.
    """
    ends = np.cumsum([0, *(source.size(level) for level in range(source.levels))])
    if array.shape != (ends[-1],):
        raise InputError(f"vector: shape {array.shape}; the chain has {ends[-1]} states")
    return _Slices(array, ends)


@dataclass(frozen=True, eq=False)
class _Slices:
    """A long vector by levels; to another process a mapped file goes by its name, not by its contents."""

    array: Any
    ends: Any

    def __call__(self, level: int) -> Any:
        return self.array[self.ends[level] : self.ends[level + 1]]

    def __reduce__(self) -> tuple[Any, ...]:
        a = self.array
        if isinstance(a, np.memmap) and isinstance(getattr(a, "base", None), mmap) and a.filename:
            return _mapped, (str(a.filename), a.dtype.str, a.offset, len(a), self.ends)
        return _Slices, (a, self.ends)


def _mapped(name: str, kind: str, offset: int, size: int, ends: Any) -> _Slices:
    return _Slices(np.memmap(name, dtype=kind, mode="r", offset=offset, shape=(size,)), ends)


def _exact(x: float) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())
