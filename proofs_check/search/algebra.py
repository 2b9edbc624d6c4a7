"""Between the checker's rational functions and sympy, for the finders."""

from collections.abc import Iterable, Mapping

import sympy

from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio
from proofs_check.check.sign import Domain
from proofs_check.search.handelman import Constraints, NotFound, sign_text


def poly(p: Polynomial) -> sympy.Expr:
    return sympy.Add(
        *(
            sympy.Rational(c) * sympy.Mul(*(sympy.Symbol(name) ** e for name, e in monomial))
            for monomial, c in p.terms.items()
        )
    )


def ratio(f: Ratio) -> sympy.Expr:
    """Return a rational function as a sympy expression, not cancelled."""
    return poly(f.top) / sympy.Mul(*(poly(factor) ** power for factor, power in f.bottom.items()))


def text(f: sympy.Expr) -> str:
    """Return text in the grammar of certificates."""
    return str(f).replace("**", "^")


def constraints(domain: Domain, squares: Iterable[str] = ()) -> Constraints:
    """Return the constraints of a domain, and the squares of these variables, which a text may hold too."""
    found = {symbol: (ratio(meaning), symbol in domain.strict) for symbol, meaning in domain.meaning.items()}
    return found | {f"{n}^2": (sympy.Symbol(n) ** 2, False) for n in squares}


def relation_text(f: sympy.Expr, relation: str, given: Constraints) -> str | None:
    """Return the text that proves the relation of f to zero; None for an equality."""
    if relation == "=":
        return None
    return sign_text(sympy.cancel(f if relation in (">", ">=") else -f), given, strict=relation in (">", "<"))


def positive_texts(divisors: Iterable[Ratio], domain: Domain) -> list[str]:
    """Return texts that show every factor of the denominators to be positive."""
    factors = {factor for f in divisors for factor in f.bottom}
    found = []
    for factor in sorted(map(poly, factors), key=str):
        try:
            found.append(sign_text(factor, constraints(domain), strict=True))
        except NotFound:
            found.append(sign_text(-factor, constraints(domain), strict=True))
    return found


def read(words: str, names: Mapping[str, Ratio]) -> sympy.Expr:
    return ratio(expression(words, names))
