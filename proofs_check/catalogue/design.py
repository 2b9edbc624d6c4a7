"""Design questions on named age models: best integer parameter, switching points, comparisons."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from aoi_tools.solvers.age import QUANTITIES
from aoi_tools.solvers.design import Best, Design, Piece, best, best_along, difference
from aoi_tools.solvers.orders import Order, stochastic_order
from exactchains.domain import Rigor
from exactchains.enclosure import Enclosure, Result
from exactchains.number import rational
from exactchains.truth import InputError
from proofs_check.catalogue.age_parts import AgeProblem
from proofs_check.catalogue.model import Model
from proofs_check.catalogue.registry import find

MOST_CANDIDATES, MOST_CURVES = 10_000, 100
Range = tuple[str, Any, Any]  # name, lower end, upper end


def best_parameter(
    model: Model, words: Mapping[str, str], *, over: Range, minimise: str, executor: Executor | None = None
) -> Best:
    """Return the certified minimisers of ``minimise`` over the integers ``over``; ``words`` give the rest as text.

    With an ``executor`` of processes the model is found there by its name.
    """
    name, low, high = _integers(model, over)
    _asked(model, minimise)
    values = _read(model, words, {name: str(low)})
    make = partial(_along_integers, model.name if executor else model, values, name)
    return best(make, range(low, high + 1), quantity=minimise, executor=executor)


def switching_points(
    model: Model,
    words: Mapping[str, str],
    *,
    over: Range,
    along: Range,
    minimise: str,
    executor: Executor | None = None,
) -> list[Piece]:
    """Return which integer is best as the parameter ``along`` moves through its interval, switching points isolated."""
    name, low, high = _integers(model, over)
    moving = model.parameter(along[0]).name
    if model.parameter(moving).kind != "rational":
        raise InputError(f"{moving} is no real parameter of {model.name}: switching points need one such as eps or p")
    _asked(model, minimise)
    if high - low >= MOST_CURVES:
        raise InputError(f"{name} = {low}..{high}: at most {MOST_CURVES} candidates with switching points")
    ends = tuple(model.parameter(moving).read(str(x)) for x in along[1:])
    values = _read(model, words, {name: str(low), moving: str(ends[0])})
    make = partial(_along_both, model.name if executor else model, values, name, moving)
    candidates, between = range(low, high + 1), (ends[0], ends[1])
    return best_along(make, candidates, interval=between, quantity=minimise, executor=executor)


def compare(first: AgeProblem, second: AgeProblem, *, quantity: str, digits: int = 15) -> Result:
    """Return the certified difference of one quantity of two age problems."""
    return difference(_design(first), _design(second), quantity=quantity, digits=digits)


def enclosed_difference(models: Sequence[Model], things: Sequence[Any], *, quantity: str, digits: int = 15) -> Result:
    """Return the difference of one quantity of two models of any kind, from both enclosures.

    Digits double until its sign is certain, up to 8 times ``digits``.
    """
    for asked in (digits, 2 * digits, 4 * digits, 8 * digits):
        one, two = (m.results(thing, [quantity], [], asked)[0] for m, thing in zip(models, things, strict=True))
        rigor = min(one.enclosure.rigor, two.enclosure.rigor)
        gap = Enclosure(one.lower - two.upper, one.upper - two.lower, rigor)
        if rigor is not Rigor.ENCLOSED or gap.lower > 0 or gap.upper < 0:
            break
    return Result(gap, quantity, method="difference of two enclosures")


def crossings(
    models: Sequence[Model],
    words: Sequence[Mapping[str, str]],
    *,
    along: Range,
    quantity: str,
    executor: Executor | None = None,
) -> list[Piece]:
    """Return which of two models (0, 1 or both) has the smaller quantity as a shared parameter moves, pieces isolated.

    A model in whose words the parameter stands keeps it fixed, as does one that has none.
    """
    word, moved = along[0], []
    for model, given in zip(models, words, strict=True):
        has = any(word in (p.name, p.symbol) for p in model.parameters)
        fixed = has and any(model.parameter(key).name == model.parameter(word).name for key in given)
        moved.append(None if fixed or not has else model.parameter(word).name)
        _asked(model, quantity)
    movers = [(m, name) for m, name in zip(models, moved, strict=True) if name]
    if not movers:
        raise InputError(f"{word} is no free parameter of either model; leave it out of the given parameters")
    if any(m.parameter(name).kind != "rational" for m, name in movers):
        raise InputError(f"{word} is no real parameter: move one such as eps or p")
    ends = tuple(movers[0][0].parameter(movers[0][1]).read(str(x)) for x in along[1:])
    start = [{name: str(ends[0])} if name else {} for name in moved]
    values = [m.read({**given, **more}) for m, given, more in zip(models, words, start, strict=True)]
    make = partial(_of_two, [m.name if executor else m for m in models], values, moved)
    return best_along(make, (0, 1), interval=(ends[0], ends[1]), quantity=quantity, executor=executor)


def order(first: AgeProblem, second: AgeProblem) -> Order:
    """Return whether the slot age of ``first`` is stochastically at most that of ``second``."""
    return stochastic_order(first.scheme, second.scheme)


def _along_integers(model: Model | str, values: Mapping[str, Any], name: str, k: int) -> Design:
    return _design(_model(model).build({**values, name: k}))


def _along_both(model: Model | str, values: Mapping[str, Any], name: str, moving: str, k: int, x: Any) -> Design:
    return _design(_model(model).build({**values, name: k, moving: x}))


def _of_two(
    models: Sequence[Model | str], values: Sequence[Mapping[str, Any]], moved: Sequence[str | None], k: int, x: Any
) -> Design:
    name = moved[k]
    return _design(_model(models[k]).build({**values[k], **({name: x} if name else {})}))


def _model(model: Model | str) -> Model:
    return find(model) if isinstance(model, str) else model


def _design(problem: AgeProblem) -> Design:
    if not isinstance(problem, AgeProblem):
        raise InputError("best integers, orders and crossings are answered for age.* models only")
    return Design(problem.scheme, problem.sampling)


def _read(model: Model, words: Mapping[str, str], varied: Mapping[str, str]) -> dict[str, Any]:
    for key in words:
        if model.parameter(key).name in varied:
            raise InputError(f"{key} is both given and varied; leave it out of the given parameters")
    return model.read({**words, **varied})


def _integers(model: Model, over: Range) -> tuple[str, int, int]:
    name = model.parameter(over[0]).name
    if model.parameter(name).kind != "integer":
        raise InputError(f"{name} is no integer parameter of {model.name}: vary one such as n, k, q or delay")
    ends = [rational(x, name) for x in over[1:]]
    if any(x.q != 1 for x in ends) or ends[0] > ends[1]:
        raise InputError(f"{name} = {over[1]}..{over[2]}: write two integers, the lower one first")
    low, high = (model.parameter(name).read(str(x)) for x in ends)
    if high - low >= MOST_CANDIDATES:
        raise InputError(f"{name} = {over[1]}..{over[2]}: at most {MOST_CANDIDATES} candidates")
    return name, low, high


def _asked(model: Model, quantity: str) -> None:
    model.quantity(quantity)
    if quantity not in QUANTITIES or model.quantity(quantity).indexed:
        raise InputError(f"{quantity} cannot be minimised; ask for a mean, a variance or failure")
