"""Closed forms as text: factored, signs as in print (1-p, not p-1), and read back by the checker."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactchains.symbolic import Fractions
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import variable

LATEX = {"alpha": r"\alpha", "eps": r"\varepsilon", "lam": r"\lambda", "mu": r"\mu", "rho": r"\rho"}
Terms = list[tuple[tuple[int, ...], Fraction]]
Factors = list[tuple[Terms, int]]


@dataclass(frozen=True)
class Formula:
    """A rational function of named parameters as text, as LaTeX, and in the expanded grammar of the checker."""

    text: str
    latex: str
    exact: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


def formula(x: Any, field: Fractions) -> Formula:
    """Return the factored closed form of an element of a field of rational functions.

    Guarantee
    ---------
    The checker (standard library, no sympy) has confirmed that the text printed equals ``x``.

    Examples
    --------
    >>> F = Fractions("p", "d")
    >>> p, d = F.gens
    >>> formula(d / ((1 - p) * (1 - p + d)), F).text
    'd/((1-p)*(1-p+d))'
    """
    x = field.convert(x)
    top, bottom = _factored(x.numer, field.names), _factored(x.denom, field.names)
    scale = top[0] / bottom[0]
    text = _quotient(*_sides(scale, top[1], bottom[1], field.names, latex=False), latex=False)
    latex = _quotient(*_sides(scale, top[1], bottom[1], field.names, latex=True), latex=True)
    exact, names = field.text(x), {name: variable(name) for name in field.names}
    if not (expression(text, names) - expression(exact, names)).is_zero():
        raise AssertionError(f"the factored form {text} is not {exact}")
    return Formula(text, latex, exact, field.names)


def _factored(poly: Any, names: tuple[str, ...]) -> tuple[Fraction, Factors]:
    """Return a number and the factors with multiplicity; each factor begins with a positive term."""
    import sympy

    number, factors = sympy.factor_list(poly.as_expr(), *map(sympy.Symbol, names))
    scale, found = Fraction(int(number.p), int(number.q)), []
    for factor, power in factors:
        terms = [(e, Fraction(int(c.p), int(c.q))) for e, c in sympy.Poly(factor, *map(sympy.Symbol, names)).terms()]
        terms.sort(key=lambda term: (sum(term[0]), [-e for e in term[0]]))
        if terms[0][1] < 0:
            terms = [(e, -c) for e, c in terms]
            scale *= (-1) ** power
        found.append((terms, power))
    return scale, sorted(found, key=lambda f: (len(f[0]), [(sum(e), [-i for i in e], c) for e, c in f[0]]))


def _sides(
    scale: Fraction,
    top: list[tuple[Terms, int]],
    bottom: list[tuple[Terms, int]],
    names: tuple[str, ...],
    *,
    latex: bool,
) -> tuple[str, list[str], list[str]]:
    """Return sign, factors above and factors below the line."""
    above = [_power(terms, power, names, latex) for terms, power in top]
    below = [_power(terms, power, names, latex) for terms, power in bottom]
    if abs(scale.numerator) != 1 or not above:
        above.insert(0, str(abs(scale.numerator)))
    if scale.denominator != 1:
        below.insert(0, str(scale.denominator))
    return "-" if scale < 0 else "", above, below


def _power(terms: Terms, power: int, names: tuple[str, ...], latex: bool) -> str:
    body = _sum(terms, names, latex)
    if len(terms) > 1 or (power > 1 and not body.lstrip("\\").isalpha()):
        body = f"({body})"
    return body if power == 1 else f"{body}^{{{power}}}" if latex else f"{body}^{power}"


def _sum(terms: Terms, names: tuple[str, ...], latex: bool) -> str:
    parts = []
    for exponents, coefficient in terms:
        letters = [LATEX.get(n, n) if latex else n for n in names]
        factors = [
            n if e == 1 else f"{n}^{{{e}}}" if latex else f"{n}^{e}"
            for n, e in zip(letters, exponents, strict=True)
            if e
        ]
        size = abs(coefficient)
        if size != 1 or not factors:
            factors.insert(0, str(size))
        parts.append(("-" if coefficient < 0 else "+") + _product(factors, latex))
    return "".join(parts).removeprefix("+")


def _product(factors: list[str], latex: bool) -> str:
    return (" " if latex else "*").join(factors)


def _quotient(sign: str, above: list[str], below: list[str], *, latex: bool) -> str:
    top, bottom = _product(above, latex), _product(below, latex)
    if not below:
        bare = len(above) == 1 and not sign
        return _unwrapped(top) if bare else sign + top
    top, alone = (_unwrapped(top), _unwrapped(bottom)) if latex and len(above) == 1 else (top, bottom)
    if latex:
        return rf"{sign}\frac{{{top}}}{{{alone if len(below) > 1 else _unwrapped(bottom)}}}"
    return f"{sign}{top}/{bottom if len(below) == 1 else f'({bottom})'}"


def _unwrapped(text: str) -> str:
    """Return a lone factor without its brackets."""
    inner = text[1:-1]
    return inner if text.startswith("(") and text.endswith(")") and "(" not in inner else text
