"""Rate matrices of level chains: ``rate_matrix(chain, digits=15)`` returns certified G and R.

``rate_matrix(chain, *, digits=15) -> RateMatrix`` with ``.G``, ``.R`` (rows of :class:`Enclosure`), ``.status``
("recurrent", "null recurrent", "transient"), ``.certain_digits`` and ``.certificate`` (kind *rates*).
The law of the levels is :func:`exactchains.solvers.level_law.level_law`.
"""

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from exactchains.domain import Rigor
from exactchains.enclosure import Enclosure
from exactchains.level_chain import LevelChain
from exactchains.solvers.ball_certificate import ball_certificate
from exactchains.solvers.ball_reduction import ball_bounds
from exactchains.solvers.cyclic_reduction import Approximation, reduction, shifted
from exactchains.solvers.level_drift import Drift, DriftProof, drift
from exactchains.solvers.level_integers import LevelIntegers, level_integers
from exactchains.solvers.rate_bounds import Around, Bounds, Enclosing
from exactchains.solvers.rate_certificate import drift_certificate, rate_certificate
from exactchains.solvers.rate_doubles import SMALL, in_doubles
from exactchains.solvers.rate_refinement import Refinement
from exactchains.solvers.threads import one_thread
from exactchains.truth import InputError, PrecisionExhausted, Undecided, expect

MAX_DIGITS = 20_000
SPARE = 7.5  # bits beside those of digits and condition: measured
ATTEMPTS = 6
DOUBLE_DIGITS = 20  # that two doubles may hold


@dataclass(frozen=True)
class RateMatrix:
    """G and R of the repeating levels of a chain, between certified bounds.

    ``G[i][j]`` is the probability to enter the level below in phase j, from phase i; ``R[i][j]`` the mean time spent
    in phase j one level up before the return, per unit of time in phase i.
    """

    chain: LevelChain
    blocks: LevelIntegers
    drift: DriftProof
    first: Bounds | Around
    rate: Bounds | Around
    exact: tuple[fmpq_mat, fmpq_mat] | None
    work: Refinement | None
    method: str
    seconds: float

    @property
    def status(self) -> str:
        return str(self.drift.drift)

    @cached_property
    def G(self) -> list[list[Enclosure]]:
        return _rows(self.first) if self.exact is None else _exact_rows(self.exact[0])

    @cached_property
    def R(self) -> list[list[Enclosure]]:
        return _rows(self.rate) if self.exact is None else _exact_rows(self.exact[1])

    @cached_property
    def U(self) -> list[list[Enclosure]]:
        """local + up G: the generator (in discrete time the transition matrix) of a level watched until it is left
        downwards."""
        scale = self.blocks.scale * (1 if self.exact is not None else fmpz(1) << self.first.bits)
        if self.exact is not None:
            ends = [fmpq_mat(self.blocks.local) + fmpq_mat(self.blocks.up) * self.exact[0]] * 2
        else:
            ends = [fmpq_mat(self.blocks.inner(X, self.first.bits)) for X in (self.first.lower, self.first.upper)]
        shift = fmpq(1 if self.chain.time == "discrete" else 0)
        low, high = ([[x / scale for x in row] for row in end.tolist()] for end in ends)
        for i in range(self.blocks.size):
            low[i][i], high[i][i] = low[i][i] + shift, high[i][i] + shift
        return [[_between(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(low, high, strict=True)]

    @cached_property
    def certain_digits(self) -> int | None:
        """Significant digits that are certain in every entry of G and R; None: exact."""
        if self.exact is not None:
            return None
        return min(self.first.digits, self.rate.digits)

    @cached_property
    def in_integers(self) -> tuple[Bounds, Bounds, dict[str, Any]]:
        """Bounds of G and R found in balls as a sub- and a super-solution, and the vectors that tie them.

        Raises
        ------
        Undecided
            No such bounds were found.
        """
        return ball_certificate(self.blocks, self.drift, min(self.first.digits, self.rate.digits))

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """A certificate of kind *rates*; None where no vectors prove the bounds."""
        return rate_certificate(self)

    @cached_property
    def drift_certificate(self) -> dict[str, Any]:
        """A certificate of kind *level-drift*: the status alone, of every chain."""
        return drift_certificate(self)


@one_thread
def rate_matrix(chain: LevelChain, *, digits: int = 15) -> RateMatrix:
    r"""Return the minimal nonnegative solutions G and R of

    .. math:: down + local\,G + up\,G^2 = 0, \qquad up + R\,local + R^2\,down = 0 .

    Parameters
    ----------
    chain
        Level chain with exact entries, continuous or discrete time.
    digits
        Certain significant digits wanted in every entry, however small.

    Returns
    -------
    RateMatrix
        With ``G``, ``R`` (rows of enclosures), ``status``, ``certificate``.

    Guarantee
    ---------
    Every entry of G and R lies in its enclosure; entries that are zero are exactly zero; ``status`` is proved.

    Raises
    ------
    DoesNotExist
        Some phases never leave their level.
    PrecisionExhausted
        The digits were not reached.
    """
    expect(chain, LevelChain)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= MAX_DIGITS:
        raise InputError(f"digits = {digits!r}: give an integer from 1 to {MAX_DIGITS}")
    begun = time.perf_counter()
    blocks = level_integers(chain)
    with np.errstate(all="ignore"):  # what comes out of doubles is checked, also against overflow
        sign = drift(blocks)
        found = _found(blocks, sign, digits)
    return RateMatrix(chain, blocks, sign, *found, time.perf_counter() - begun)


def _found(blocks: LevelIntegers, sign: DriftProof, digits: int) -> tuple[Any, Any, Any, Refinement | None, str]:
    """Return bounds of G and R, the exact matrices if they are known, the refinement behind the bounds, the method."""
    exact = _exact(blocks, sign)
    if exact is not None:
        nothing = Bounds(fmpz_mat(blocks.size, blocks.size), fmpz_mat(blocks.size, blocks.size), 0)
        return nothing, nothing, exact, None, "exact: down has rank one or is zero"
    if sign.drift is not Drift.NULL_RECURRENT and not blocks.wide:
        plain = sign.drift is Drift.RECURRENT and not blocks.patterns[3].any() and digits <= DOUBLE_DIGITS
        if plain and (quick := in_doubles(blocks, digits)):
            return quick[0], quick[1], None, quick[2], "shifted reduction in two doubles"
        for start in _starts(blocks, sign):
            found = _refined(blocks, sign, start, digits)
            if found is not None:
                return found[0], found[1], None, found[2], "cyclic reduction"
    certain = sign.drift is not Drift.TRANSIENT and not blocks.patterns[3].any()
    G, R = ball_bounds(blocks, certain, digits)
    if (reached := min(G.digits, R.digits)) < digits:
        raise PrecisionExhausted(f"could not certify {digits} digits of R: {reached}; ask for fewer")
    return G, R, None, None, "cyclic reduction in balls"


def _starts(blocks: LevelIntegers, sign: DriftProof) -> Any:
    """Yield doubles near G: the fast shifted reduction where it may do, then the one that cannot lose digits."""
    up, local, down, kill = blocks.doubles
    if sign.drift is Drift.RECURRENT and not kill.any():
        start = shifted(up, local, down)
        if start is not None and ((start.G > SMALL) == blocks.reach).all():
            yield start
    yield reduction(up, local, down, kill)


def _refined(
    blocks: LevelIntegers, sign: DriftProof, start: Approximation, digits: int
) -> tuple[Around, Around, Refinement] | None:
    """Return bounds of G and R with so many digits, or None where doubles do not suffice."""
    if not ((start.G > 0) == blocks.reach).all():
        return None
    work = Refinement(blocks, start, sign.drift is Drift.RECURRENT and not blocks.patterns[3].any())
    loss = max(math.log2(work.growth / work.smallest), 4 - math.log2(work.smallest_rate))
    if not loss < 900:
        return None
    bits = math.ceil(3.3220 * (digits - 1) + loss + SPARE)
    for _ in range(ATTEMPTS):
        try:
            enclosing = Enclosing(work, work.refined(bits))
            first = enclosing.first()
            rate = enclosing.rate(first, digits)
        except Undecided:
            bits += 24
            continue
        reached = min(first.digits, rate.digits)
        if reached >= digits:
            return first, rate, work
        bits += math.ceil(3.33 * (digits - reached)) + 4
    return None


def _exact(blocks: LevelIntegers, sign: DriftProof) -> tuple[fmpq_mat, fmpq_mat] | None:
    """Return G and R as fractions where they have a closed form.

    Without ``down`` the level below is never entered (G = 0).  If all rows of ``down`` are multiples of one row b,
    levels are entered by b: a chain that comes back and is never reset has G = 1 b / (b 1).
    """
    m, G = blocks.size, None
    if not blocks.patterns[2].any():
        G = fmpq_mat(m, m)
    elif sign.drift is not Drift.TRANSIENT and not blocks.patterns[3].any():
        shape = _common_row(blocks)
        if shape is not None:
            G = fmpq_mat([shape] * m)
    if G is None or (m > 40 and blocks.patterns[2].any()):
        return None
    inner = fmpq_mat(blocks.local) + fmpq_mat(blocks.up) * G
    return G, (-1 * inner).transpose().solve(fmpq_mat(blocks.up).transpose()).transpose()


def _common_row(blocks: LevelIntegers) -> list[fmpq] | None:
    """Return the distribution that all rows of ``down`` are multiples of, or None."""
    doubles = blocks.doubles[2]
    sums = doubles.sum(1)
    shares = doubles[sums > 0] / sums[sums > 0, None]
    if not blocks.wide and np.ptp(shares, axis=0).max(initial=0.0) > 1e-9:
        return None
    rows = [row for row in blocks.down.tolist() if any(row)]
    first, j = rows[0], next(j for j, x in enumerate(rows[0]) if x)
    for row in rows[1:]:
        if any(x * first[j] != y * row[j] for x, y in zip(row, first, strict=True)):
            return None
    total = sum(first, fmpz(0))
    return [fmpq(x, total) for x in first]


def _rows(bounds: Bounds | Around) -> list[list[Enclosure]]:
    one = fmpz(1) << bounds.bits
    lower, upper = bounds.lower.tolist(), bounds.upper.tolist()
    return [
        [_between(fmpq(x, one), fmpq(y, one)) for x, y in zip(low, high, strict=True)]
        for low, high in zip(lower, upper, strict=True)
    ]


def _between(x: fmpq, y: fmpq) -> Enclosure:
    return Enclosure(x, y, Rigor.EXACT if x == y else Rigor.ENCLOSED)


def _exact_rows(matrix: fmpq_mat) -> list[list[Enclosure]]:
    return [[Enclosure.exact(x) for x in row] for row in matrix.tolist()]
