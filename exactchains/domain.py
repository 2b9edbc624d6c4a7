"""Arithmetic domains: where numbers live and how far a result may be trusted.

Numbers stay native (``fmpq``, ``arb``, ``float``, field elements); the domain owns conversion, precision, linear
solves and questions about sign.  Write an algorithm once, run it over every domain.
"""

import contextlib
import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import flint
from flint import arb, arb_mat, fmpq, fmpq_mat

from exactchains.number import Rational, nearest_double, rational
from exactchains.truth import Truth, Undecided

__all__ = ["QQ", "Balls", "Domain", "Floats", "Rational", "Rationals", "Rigor", "ball_ends", "encloses", "rational"]


class Rigor(enum.IntEnum):
    """Guarantee carried by a value; a result takes the weakest of its inputs."""

    ESTIMATE = 0
    ENCLOSED = 1
    EXACT = 2

    def __str__(self) -> str:
        return self.name.lower()


@runtime_checkable
class Domain(Protocol):
    """What every domain can do; ``x`` and ``y`` are its native numbers."""

    @property
    def rigor(self) -> Rigor: ...
    def working(self) -> contextlib.AbstractContextManager[Any]: ...
    def convert(self, x: Any) -> Any: ...
    def solve(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> list[Any]: ...
    def less(self, x: Any, y: Any) -> Truth: ...
    def equal(self, x: Any, y: Any) -> Truth: ...


@dataclass(frozen=True)
class Rationals:
    """Exact rational numbers (flint ``fmpq``)."""

    rigor: ClassVar[Rigor] = Rigor.EXACT

    def working(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def convert(self, x: Any) -> fmpq:
        return rational(x)

    def solve(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> list[fmpq]:
        return _column(fmpq_mat(_rows(A)).solve(fmpq_mat([[v] for v in b])))

    def less(self, x: fmpq, y: fmpq) -> Truth:
        return Truth.TRUE if x < y else Truth.FALSE

    def equal(self, x: fmpq, y: fmpq) -> Truth:
        return Truth.TRUE if x == y else Truth.FALSE


@dataclass(frozen=True)
class Balls:
    """Real balls with ``prec`` bits; every result is a set that holds the truth.

    The precision of flint is global to the process: work inside ``with domain.working():``, one thread at a time.
    """

    prec: int = 128
    rigor: ClassVar[Rigor] = Rigor.ENCLOSED

    def working(self) -> contextlib.AbstractContextManager[Any]:
        return flint.ctx.workprec(self.prec)

    def convert(self, x: Any) -> arb:
        return x if isinstance(x, arb) else arb(rational(x))

    def solve(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> list[arb]:
        return _column(arb_mat(_rows(A)).solve(arb_mat([[v] for v in b])))

    def less(self, x: arb, y: arb) -> Truth:
        if x < y:
            return Truth.TRUE
        return Truth.FALSE if x >= y else Truth.UNKNOWN

    def equal(self, x: arb, y: arb) -> Truth:
        if x == y:  # flint: certainly equal, both exact
            return Truth.TRUE
        return Truth.FALSE if x != y else Truth.UNKNOWN


@dataclass(frozen=True)
class Floats:
    """Doubles: estimates, never a proof.  Comparisons are of the estimates."""

    rigor: ClassVar[Rigor] = Rigor.ESTIMATE

    def working(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def convert(self, x: Any) -> float:
        if isinstance(x, float):
            return x
        return nearest_double(rational(x))

    def solve(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> list[float]:
        """Gaussian elimination with row pivoting; for the small systems of a mode chain."""
        n = len(b)
        rows = [[*map(float, row), float(v)] for row, v in zip(A, b, strict=True)]
        for k in range(n):
            pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
            if rows[pivot][k] == 0:
                raise ZeroDivisionError("singular matrix")
            rows[k], rows[pivot] = rows[pivot], rows[k]
            for i in range(k + 1, n):
                if factor := rows[i][k] / rows[k][k]:
                    rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
        x = [0.0] * n
        for k in reversed(range(n)):
            x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
        return x

    def less(self, x: float, y: float) -> Truth:
        return Truth.TRUE if x < y else Truth.FALSE

    def equal(self, x: float, y: float) -> Truth:
        return Truth.TRUE if x == y else Truth.FALSE


QQ = Rationals()


def ball_ends(ball: arb) -> tuple[fmpq, fmpq]:
    """Return the exact lower and upper end of a finite ball.

    Raises
    ------
    Undecided
        The ball is not finite: the computation lost all its digits.
    """
    if not ball.is_finite():
        raise Undecided("the enclosure is not finite at this precision; raise the precision")
    middle, radius = ball.mid().fmpq(), ball.rad().fmpq()
    return middle - radius, middle + radius


def ball_floor(ball: arb) -> int:
    """Return the largest integer below the middle of a ball."""
    return int(ball.mid().floor().mid().fmpq().p)


def ball_length(ball: arb) -> int:
    """Return e with the size of the middle of a ball in [2^(e-1), 2^e)."""
    mantissa, exponent = ball.mid().man_exp()
    return abs(int(mantissa)).bit_length() + int(exponent)


def encloses(ball: arb, x: Rational) -> bool:
    """Return whether ``x`` lies in ``ball``, decided over the rationals (``ball.contains`` rounds ``x`` first)."""
    lower, upper = ball_ends(ball)
    return bool(lower <= rational(x) <= upper)


def _rows(A: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(row) for row in A]


def _column(x: Any) -> list[Any]:
    return [x[i, 0] for i in range(x.nrows())]
