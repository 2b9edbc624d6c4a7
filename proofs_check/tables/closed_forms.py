"""Closed forms of quantities in named parameters: the exact law over the field of rational functions, as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from aoi_tools.solvers.age import INDEXED, PLAIN, age_law
from exactchains.symbolic import Fractions
from exactchains.truth import InputError
from proofs_check.catalogue.age_parts import AgeProblem
from proofs_check.catalogue.model import Model
from proofs_check.tables.formula import Formula, formula

MAX_TERMS = 400  # terms of numerator and denominator that are still worth printing


def closed_form(
    model: Model, words: Mapping[str, str], quantity: str, *, index: int, symbols: Sequence[str]
) -> Formula:
    """Return a quantity as a rational function of the parameters ``symbols``; ``words`` give the others.

    Guarantee
    ---------
    Equal to the quantity for all parameters for which the law exists; the checker has read the printed text.

    Raises
    ------
    InputError
        There is no rational closed form, or it is longer than anyone would read.
    """
    if not symbols:
        raise InputError(f"{model.name} has none of the parameters that are symbols")
    field = Fractions(*symbols)
    values: dict[str, Any] = {p.name: p.read(p.default) for p in model.parameters if p.default is not None}
    values |= {model.parameter(name).name: model.parameter(name).read(word) for name, word in words.items()}
    values |= {model.parameter(name).name: field[name] for name in symbols}
    problem = model.build(values)
    if not isinstance(problem, AgeProblem) or (quantity not in PLAIN and quantity not in INDEXED):
        raise InputError(f"{quantity} of {model.name} is not a rational function of {', '.join(symbols)}")
    law = age_law(problem.scheme, domain=field)
    x = field.convert(PLAIN[quantity](law) if quantity in PLAIN else INDEXED[quantity](law, index))
    terms = len(x.numer.terms()) + len(x.denom.terms())
    if terms > MAX_TERMS:
        raise InputError(f"{quantity} of {model.name}: a closed form of {terms} terms; at most {MAX_TERMS} are printed")
    return formula(x, field)
