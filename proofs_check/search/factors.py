"""Factors polynomials over the rationals: FLINT's, which stays fast in many variables."""

import sympy
from flint import Ordering, fmpz_mpoly_ctx


def factor_list(f: sympy.Expr) -> tuple[sympy.Rational, list[tuple[sympy.Expr, int]]]:
    """Return a number and irreducible factors with their powers, whose product is the polynomial f."""
    symbols = sorted(f.free_symbols, key=str)
    if not symbols:
        return sympy.Rational(f), []
    common, whole = sympy.Poly(f, *symbols).clear_denoms(convert=True)
    context = fmpz_mpoly_ctx.get([str(s) for s in symbols], Ordering.deglex)
    number, parts = context.from_dict({m: int(c) for m, c in whole.terms()}).factor()
    factors = [
        (sympy.Poly({m: int(c) for m, c in part.to_dict().items()}, *symbols).as_expr(), int(k)) for part, k in parts
    ]
    return sympy.Rational(int(number)) / common, sorted(factors, key=lambda pair: (pair[1], str(pair[0])))
