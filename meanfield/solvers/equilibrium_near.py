"""Equilibria of a user's own vector field in a few variables: Newton from a start, then a Krawczyk proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from flint import acb_mat, arb, arb_mat, fmpq

from exactchains.domain import QQ, Balls, Floats
from exactchains.enclosure import Enclosure
from exactchains.number import rational
from exactchains.solvers.threads import one_thread
from exactchains.symbolic import Fractions
from exactchains.truth import InputError, Undecided
from meanfield.models.pools import whole

__all__ = ["Equilibrium", "equilibrium_near"]

Field = Callable[[Sequence[Any]], Sequence[Any]]
STEPS = 60
MOST, MOST_DIGITS = 40, 1000
PLAIN = "write it in +, -, *, / and whole powers, without abs, max or if, exact constants as fmpq or integers"


@dataclass(frozen=True)
class Equilibrium:
    """A zero of a vector field, the only one in the box of its enclosures; not the only one of all.

    ``stability`` is proved from the eigenvalues of the linearisation, on the plane of constant total where one was
    given: "attracting" (all real parts < 0), "unstable" (one is > 0), or "undecided" (the enclosures touch 0, as for
    a centre, about which the linearisation says nothing).
    """

    values: tuple[Enclosure, ...]
    stability: str


@one_thread
def equilibrium_near(field: Field, start: Sequence[Any], *, total: Any = None, digits: int = 15) -> Equilibrium:
    r"""Return the equilibrium of a vector field to which Newton's method leads from ``start``, with its proof.

    With C near the inverse of the Jacobian at m, the box X of centre m holds exactly one zero if

    .. math:: m - C f(m) + (I - C f'(X)) (X - m) \subset \operatorname{int} X.

    Parameters
    ----------
    field
        A rational function of n variables: takes n numbers of any kind, returns the n derivatives in time.  Plain
        arithmetic only; exact constants as ``fmpq`` or integers.
    start
        n exact numbers.
    total
        The sum of all variables when the field keeps it (fractions of a population: 1); None: no such law.
    digits
        Certain digits of every value; where a value is 0, an absolute error below :math:`10^{-digits}`.

    Guarantee
    ---------
    Each value lies in its enclosure; no other zero (with this total) lies in the box.  The end of a path of the
    differential equation is never taken for an equilibrium: a point on a closed orbit has no such proof.

    Raises
    ------
    InputError
        The start or the field has a wrong length, or the field does not keep the total.
    Undecided
        Newton's method does not settle from this start, or the Jacobian is singular there.

    Source
    ------
    Krawczyk (1969); Rump, Verification methods (2010), section 13.

    Examples
    --------
    >>> found = equilibrium_near(lambda x: [2 - x[0] ** 2], ["1"])
    >>> print(found.values[0].digits(12), found.stability)
    1.41421356237 attracting
    """
    begin, digits = [rational(x, "start") for x in start], whole(digits, "digits", "give", most=MOST_DIGITS)
    if not 1 <= len(begin) <= MOST:
        raise InputError(f"start has {len(begin)} entries: 1 to {MOST} are allowed")
    names = Fractions(*(f"x{i}" for i in range(len(begin))))
    plain = _rational(field, names)
    _require_same(field, plain, begin)
    rows = [*plain]
    if total is not None:
        if sum(rows, names.convert(0)) != 0:
            raise InputError("field: the derivatives do not add up to 0, so the total is not kept; leave total out")
        rows[-1] = sum(names.gens, names.convert(0)) - names.convert(rational(total, "total"))
    slopes = [[row.diff(x) for x in names.gens] for row in rows]
    middle = _newton(rows, slopes, [Floats().convert(x) for x in begin])
    for bits in (int(3.33 * digits) + 64, int(6.66 * digits) + 256):
        with flint.ctx.workprec(bits):
            box = _proved(rows, slopes, [arb(x) for x in middle], bits)
            if box is not None and all(_precise(x, digits) for x in box):
                values = tuple(Enclosure.of(x) for x in box)
                _require_same(field, plain, [x.mid().fmpq() for x in box])
                return Equilibrium(values, _stability(slopes, box, total is not None))
    raise Undecided(
        f"no equilibrium is proved near {middle}: the Jacobian is singular there or {digits} digits too many"
    )


def _rational(field: Field, names: Fractions) -> list[Any]:
    """Return the derivatives as rational functions."""
    try:
        rows = [names.convert(row) for row in field(names.gens)]
    except Exception as error:  # whatever a user's rule raises on symbols
        raise InputError(f"field stops with {type(error).__name__}: {error}; {PLAIN}") from error
    if len(rows) != len(names.gens):
        raise InputError(f"field: {len(rows)} derivatives of {len(names.gens)} variables; give one for each variable")
    return rows


def _require_same(field: Field, rows: list[Any], x: list[fmpq]) -> None:
    """Refuse a field that is another function of numbers than of symbols: its branches have no meaning for these."""
    try:
        values = [rational(v, "field") for v in field(x)]
        same = all(v == _at(row, x, QQ) for v, row in zip(values, rows, strict=True))
    except ZeroDivisionError:
        return
    except Exception as error:  # whatever a user's rule raises on exact numbers
        raise InputError(f"field stops with {type(error).__name__}: {error}; {PLAIN}") from error
    if not same:
        where = ", ".join(str(v)[:20] for v in x)
        raise InputError(f"field has branches, and another at {where} than on symbols; {PLAIN}")


def _newton(rows: list[Any], slopes: list[list[Any]], x: list[float]) -> list[float]:
    domain = Floats()
    for _ in range(STEPS):
        try:
            f = np.array([_at(r, x, domain) for r in rows])
            step = np.linalg.solve(np.array([[_at(e, x, domain) for e in row] for row in slopes]), f)
        except (np.linalg.LinAlgError, ZeroDivisionError, OverflowError):
            raise Undecided(f"Newton's method stops at {x}: no regular Jacobian; start elsewhere") from None
        x = [a - float(b) for a, b in zip(x, step, strict=True)]
        if np.abs(step).max() <= 1e-14 * max(1.0, *(abs(a) for a in x)):
            return x
    raise Undecided(f"Newton's method does not settle in {STEPS} steps; start nearer to an equilibrium")


def _proved(rows: list[Any], slopes: list[list[Any]], x: list[arb], bits: int) -> list[arb] | None:
    """Return a box that holds exactly one zero, from a nearby point; None: the Krawczyk test fails."""
    domain, n = Balls(bits), len(x)

    def jacobian(at: list[arb]) -> arb_mat:
        return arb_mat([[_at(e, at, domain) for e in row] for row in slopes])

    try:
        for _ in range(bits.bit_length() + 2):
            inverse = jacobian(x).inv().mid()
            move = inverse * arb_mat([[_at(r, x, domain)] for r in rows])
            x = [(a - move[i, 0]).mid() for i, a in enumerate(x)]
        move = inverse * arb_mat([[_at(r, x, domain)] for r in rows])
        size = [2 * abs(move[i, 0]).upper() + arb(2) ** (-bits + 8) for i in range(n)]
        box = [a + arb(0, s) for a, s in zip(x, size, strict=True)]
        unit = arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        spread = (unit - inverse * jacobian(box)) * arb_mat([[arb(0, s)] for s in size])
    except ZeroDivisionError:
        return None
    image = [a - move[i, 0] + spread[i, 0] for i, a in enumerate(x)]
    inside = all(abs(y - a) < s for y, a, s in zip(image, x, size, strict=True))
    return image if inside else None


def _stability(slopes: list[list[Any]], box: list[arb], kept: bool) -> str:
    domain, n = Balls(flint.ctx.prec), len(box)
    J = [[_at(e, box, domain) for e in row] for row in slopes]
    if kept:  # the last row is the total; the last variable is the total minus the others
        n -= 1
        J = [[J[i][j] - J[i][n] for j in range(n)] for i in range(n)]
    if n == 0:
        return "attracting"
    try:
        parts = [v.real for v in acb_mat(arb_mat(J)).eig(multiple=True)]
    except (ValueError, ZeroDivisionError):
        return "undecided"
    if all(v < 0 for v in parts):
        return "attracting"
    return "unstable" if any(v > 0 for v in parts) else "undecided"


def _at(function: Any, x: Sequence[Any], domain: Any) -> Any:
    """Return a rational function at a point of a domain."""
    below = _polynomial(function.denom, x, domain)
    if isinstance(below, arb) and 0 in below:
        raise ZeroDivisionError
    return _polynomial(function.numer, x, domain) / below


def _polynomial(p: Any, x: Sequence[Any], domain: Any) -> Any:
    total = domain.convert(0)
    for exponents, coefficient in p.terms():
        term = domain.convert(rational(f"{coefficient.numerator}/{coefficient.denominator}"))
        for base, e in zip(x, exponents, strict=True):
            if e:
                term = term * _power(base, e)
        total = total + term
    return total


def _power(base: Any, e: int) -> Any:
    """Return base^e, e >= 1, by products: flint's power of a ball around 0 is undefined."""
    half = _power(base, e // 2) if e > 1 else None
    return base if half is None else half * half * base if e % 2 else half * half


def _precise(x: arb, digits: int) -> bool:
    return Enclosure.of(x).has_digits(digits) or (0 in x and abs(x).upper() < arb(10) ** -digits)
