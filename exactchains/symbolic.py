"""Rational functions in named parameters: the domain of closed forms.

``Fractions("p", "d")`` is the field Q(p, d).  Its elements are sympy field elements in lowest terms, so two results
are equal exactly when their texts are.  sympy, half a second to import, is imported with the first field.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exactchains.domain import Rigor
from exactchains.number import rational
from exactchains.truth import InputError, Truth, Undecided

if TYPE_CHECKING:
    import sympy
    from sympy.polys.fields import FracElement


class Fractions:
    """The field of rational functions in ``names`` over the rationals.

    ``F.gens`` are the parameters, ``F["p"]`` one of them.  Elements know no order: :meth:`less` answers only for
    constants, everything else is UNKNOWN.
    """

    rigor = Rigor.EXACT

    def __init__(self, *names: str) -> None:
        if not names or len(set(names)) != len(names) or not all(n.isidentifier() and n.isascii() for n in names):
            raise InputError(f"parameters {names!r}: give distinct names such as 'p', 'd'")
        from sympy import QQ
        from sympy.polys.fields import field

        self.names = names
        self.field, *gens = field(",".join(names), QQ)
        self.gens: tuple[FracElement, ...] = tuple(gens)

    def __getitem__(self, name: str) -> "FracElement":
        return self.gens[self.names.index(name)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fractions) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Fractions({', '.join(map(repr, self.names))})"

    def working(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def convert(self, x: Any) -> "FracElement":
        """Return ``x`` as an element; text may be a number or the name of a parameter."""
        if hasattr(x, "set_field"):
            return x.set_field(self.field) if x.field != self.field else x
        if isinstance(x, str) and x in self.names:
            return self[x]
        q = rational(x)
        return self.field(self.field.domain(int(q.p), int(q.q)))

    def solve(self, A: Sequence[Sequence[Any]], b: Sequence[Any]) -> "list[FracElement]":
        from sympy.polys.matrices import DomainMatrix

        n, domain = len(b), self.field.to_domain()
        matrix = DomainMatrix([[self.convert(x) for x in row] for row in A], (n, n), domain)
        column = DomainMatrix([[self.convert(x)] for x in b], (n, 1), domain)
        try:
            solution = matrix.lu_solve(column)
        except Exception as error:
            if type(error).__name__ in ("DMNonInvertibleMatrixError", "NotInvertible"):
                raise ZeroDivisionError("singular matrix") from None
            raise
        return [row[0] for row in solution.to_dense().to_list()]

    def less(self, x: "FracElement", y: "FracElement") -> Truth:
        gap = y - x
        if not (gap.numer.is_ground and gap.denom.is_ground):
            return Truth.UNKNOWN
        return Truth.TRUE if gap.as_expr() > 0 else Truth.FALSE

    def equal(self, x: "FracElement", y: "FracElement") -> Truth:
        return Truth.TRUE if x == y else Truth.FALSE

    def expression(self, x: "FracElement") -> "sympy.Expr":
        """Return ``x`` as a sympy expression, factored: the canonical printed form."""
        return x.as_expr().factor()

    def text(self, x: "FracElement") -> str:
        """Return ``numerator/denominator``, expanded and in lowest terms, in the grammar that the checker reads."""
        top, bottom = _polynomial(x.numer, self.names), _polynomial(x.denom, self.names)
        return top if bottom == "1" else f"({top})/({bottom})"

    def at(self, x: "FracElement", values: Mapping[str, Any]) -> Any:
        """Evaluate ``x`` at numbers of any domain: numerator over denominator.

        Raises
        ------
        ZeroDivisionError
            The denominator vanishes there.
        Undecided
            It is not certain that the denominator does not vanish.
        """
        top, bottom = (_value(part, [values[n] for n in self.names]) for part in (x.numer, x.denom))
        try:
            return top / bottom
        except ZeroDivisionError as error:
            if hasattr(bottom, "rad"):
                raise Undecided("the denominator is not certainly nonzero; raise the precision") from error
            raise


def _polynomial(poly: Any, names: Sequence[str]) -> str:
    parts = []
    for exponents, coefficient in poly.terms():
        factors = [n if e == 1 else f"{n}^{e}" for n, e in zip(names, exponents, strict=True) if e]
        size = abs(coefficient)
        word = str(size) if not factors else "*".join(factors if size == 1 else [str(size), *factors])
        parts.append(("-" if coefficient < 0 else "+") + word)
    return "".join(parts).removeprefix("+") or "0"


def _value(poly: Any, point: Sequence[Any]) -> Any:
    total: Any = 0
    for exponents, coefficient in poly.terms():
        term: Any = rational(coefficient) if not hasattr(coefficient, "p") else coefficient
        for base, e in zip(point, exponents, strict=True):
            if e:
                term = base**e * term
        total = term + total
    return total
