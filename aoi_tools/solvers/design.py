"""Design problems: certified best integer parameters, signs of differences, switching points, break-even costs."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

from flint import fmpq, fmpz, fmpz_poly

from aoi_tools.models.law import Sampling
from aoi_tools.models.schemes import Feedback, exact_bits
from aoi_tools.solvers.age import EXACT_BITS, age_law, age_quantity, certified, evaluation, exact_size
from exactchains.domain import QQ, Balls, Domain
from exactchains.enclosure import Enclosure, Result
from exactchains.spread import spread
from exactchains.symbolic import Fractions
from exactchains.truth import DoesNotExist, InputError, Undecided

STEPS = (12, 40, 120, 360)  # digits tried in turn before a tie is settled exactly


@dataclass(frozen=True)
class Design:
    """A scheme and how its age is read off."""

    scheme: Any
    sampling: Sampling | None = None


@dataclass(frozen=True)
class Best:
    """The minimisers among integers: all of them when several tie exactly, and the value they share.

    ``values`` holds an enclosure for every candidate; ``absent`` lists candidates without an age law.
    """

    arguments: tuple[int, ...]
    value: Enclosure
    values: dict[int, Enclosure]
    absent: tuple[int, ...] = ()


def best(
    make: Callable[[int], Design],
    over: Sequence[int],
    *,
    quantity: str = "age_mean",
    executor: Executor | None = None,
) -> Best:
    """Return the integers in ``over`` that minimise ``quantity``, certified.

    An ``executor`` of processes evaluates candidates side by side; ``make`` must then be a function of a module, or a
    ``partial`` of one (:func:`exactchains.spread.spread`).

    Guarantee
    ---------
    Every other candidate is certainly larger; candidates returned together are exactly equal.

    Raises
    ------
    Undecided
        Two candidates are not told apart by 360 digits and are too large to compare exactly.
    DoesNotExist
        No candidate has an age law.

    Examples
    --------
    >>> from aoi_tools import Actual, Code, Sampling
    >>> from aoi_tools.solvers.design import Design, best
    >>> best(lambda n: Design(Actual(Code("rpc", n, 8, "1/4").actual), Sampling(n)), range(8, 40)).arguments
    (14,)
    """
    built = make if executor else cache(make)

    def tried(candidates: Sequence[int], digits: int | None) -> dict[int, Enclosure | None]:
        found = spread(partial(_candidate, built, quantity, digits), candidates, executor)
        return dict(zip(candidates, found, strict=True))

    first = tried(over, STEPS[0])
    values, absent = {k: x for k, x in first.items() if x is not None}, [k for k, x in first.items() if x is None]
    if not values:
        raise DoesNotExist(f"no age law exists for any of the {len(absent)} candidates")

    def nearer(left: list[int], digits: int | None) -> list[int]:
        values.update((k, x) for k, x in tried(left, digits).items() if x is not None)
        return _leading(values, left)

    left = _leading(values, list(values))
    for digits in STEPS[1:]:
        if len(left) == 1 or all(values[k].is_exact for k in left):
            break
        left = nearer(left, digits)
    if len(left) > 1 and not all(values[k].is_exact for k in left):
        left = nearer(left, None)
    return Best(tuple(left), values[left[0]], values, tuple(absent))


def _candidate(make: Callable[[int], Design], quantity: str, digits: int | None, k: int) -> Enclosure | None:
    """Return the value of one candidate, exact without ``digits``; None where it has no age law."""
    try:
        design = make(k)
        return _value(design, quantity, digits) if digits else Enclosure.exact(_exactly(design, quantity))
    except DoesNotExist:
        return None


def difference(first: Design, second: Design, *, quantity: str = "age_mean", digits: int = 15) -> Result:
    """Return ``quantity`` of ``first`` minus that of ``second`` with certain digits, exact where both are.

    Raises
    ------
    PrecisionExhausted
        The difference is not told apart from zero; equal values are only recognised when they are exact.
    """
    sizes = [exact_size(d.scheme, None) for d in (first, second)]
    if all(size is not None and size <= 4 * EXACT_BITS for size in sizes):
        exact = _exactly(first, quantity) - _exactly(second, quantity)
        return Result(Enclosure.exact(exact), quantity, method="exact rational arithmetic")

    def gap(domain: Domain) -> Any:
        one, two = (
            evaluation(quantity, sampling=d.sampling)(age_law(d.scheme, domain=domain)) for d in (first, second)
        )
        return one - two

    fixed = any(exact_bits(d.scheme) is None for d in (first, second))
    found, prec = certified(gap, digits, fixed=fixed)
    return Result(found, quantity, method=f"ball arithmetic with {prec} bits")


@dataclass(frozen=True)
class Piece:
    """Between two switching points, ``arguments`` is best; ends are exact numbers or isolated roots.

    ``without_law`` lists ends of the whole interval that bound this piece and at which no candidate has an age law.
    """

    lower: Enclosure
    upper: Enclosure
    arguments: tuple[int, ...]
    without_law: tuple[fmpq, ...] = ()


def best_along(
    make: Callable[[int, Any], Design],
    over: Sequence[int],
    *,
    interval: tuple[Any, Any],
    quantity: str = "age_mean",
    executor: Executor | None = None,
) -> list[Piece]:
    """Return which integer is best along a real parameter, with every switching point isolated.

    ``make(k, x)`` builds the design for candidate k at x, an exact number or the symbol of ``Fractions("x")``.  The
    quantities are rational functions of x; roots of their differences are isolated by flint, and between
    consecutive roots the best candidate is decided exactly at a rational point; an ``executor`` of processes decides
    these points side by side, as in :func:`best`.

    Guarantee
    ---------
    On the open interval between the ends of a piece its arguments are the minimisers, and no others.
    """
    low, high = (QQ.convert(x) for x in interval)
    if not low < high:
        raise InputError(f"interval = {low}..{high}: the lower end must be below the upper end")
    field = Fractions("x")
    curves = [
        evaluation(quantity, sampling=d.sampling)(age_law(d.scheme, domain=field))
        for d in (make(k, field["x"]) for k in over)
    ]
    roots = _switch_points(curves, low, high)
    ends = [Enclosure.exact(low), *roots, Enclosure.exact(high)]
    middles = [_short_between(left.upper, right.lower) for left, right in pairwise(ends)]
    decided = spread(partial(_best_at, make, over, quantity), middles, executor)
    pieces: list[Piece] = []
    for (left, right), found in zip(pairwise(ends), decided, strict=True):
        if pieces and pieces[-1].arguments == found:
            pieces[-1] = Piece(pieces[-1].lower, right, found)
        else:
            pieces.append(Piece(left, right, found))
    for place, x in ((0, low), (-1, high)):
        if not any(_exists(make(k, x)) for k in over):
            pieces[place] = replace(pieces[place], without_law=(*pieces[place].without_law, x))
    return pieces


def _best_at(make: Callable[[int, Any], Design], over: Sequence[int], quantity: str, x: fmpq) -> tuple[int, ...]:
    return best(lambda k: make(k, x), over, quantity=quantity).arguments


def _exists(design: Design) -> bool:
    """Return whether there is an age law; a case that stays open counts as one."""
    try:
        age_law(design.scheme, domain=Balls(STEPS[-1]))
    except DoesNotExist:
        return False
    except Undecided:
        return True
    return True


def break_even_cost(scheme: Feedback, *, digits: int = 15, delivery: str = "after") -> Result:
    r"""Return f/n up to which feedback that takes f extra channel uses a slot pays against actual updates.

    A slot takes n + f uses, so the mean age (n + f)(3/2 + E J) (up to the same constants) is below n (3/2 + E J_actual)
    iff f/n < [D/(1-D)] / (3/2 + E J), D = p - d, as E J_actual - E J = D/(1-D).  ``delivery="after"`` counts n + f at
    delivery; with ``"before"`` the update is read before the feedback is sent and 3/2 becomes 1/2.
    """
    if delivery not in ("after", "before"):
        raise InputError(f"delivery = {delivery!r}: allowed are after | before")
    start = fmpq(3, 2) if delivery == "after" else fmpq(1, 2)

    def cost(domain: Domain) -> Any:
        p, d = scheme.actual.over(domain), scheme.differential.over(domain)
        gain = (p.failure - d.failure) / (p.success + d.failure)
        return gain / (domain.convert(start) + age_law(scheme, domain=domain).mean())

    if (size := exact_size(scheme, None)) is not None and size <= EXACT_BITS:
        return Result(Enclosure.exact(cost(QQ)), "break_even_cost", method="exact rational arithmetic")
    found, prec = certified(cost, digits, fixed=exact_bits(scheme) is None)
    return Result(found, "break_even_cost", method=f"ball arithmetic with {prec} bits")


def _value(design: Design, quantity: str, digits: int) -> Enclosure:
    return age_quantity(design.scheme, quantity, digits=digits, sampling=design.sampling).enclosure


def _exactly(design: Design, quantity: str) -> fmpq:
    size = exact_size(design.scheme, None)
    if size is None or size > 40 * EXACT_BITS:
        raise Undecided(f"two candidates agree to {STEPS[-1]} digits and are too large to compare exactly")
    exact: fmpq = evaluation(quantity, sampling=design.sampling)(age_law(design.scheme))
    return exact


def _leading(values: dict[int, Enclosure], left: list[int]) -> list[int]:
    top = min(values[k].upper for k in left)
    return [k for k in left if values[k].lower <= top]


def _switch_points(curves: Sequence[Any], low: fmpq, high: fmpq) -> list[Enclosure]:
    """Isolate all roots in (low, high) of the differences, disjoint and sorted."""
    product = fmpz_poly([1])
    for i, one in enumerate(curves):
        for two in curves[i + 1 :]:
            top = (one - two).numer
            if not top:
                continue  # the same function: they tie everywhere
            part = _integer_polynomial(top)
            product = product * (part / product.gcd(part))
    prec = 80
    while True:
        with Balls(prec).working():
            roots: Any = product.complex_roots()  # real roots have imaginary part exactly 0
            found = [_end(Enclosure.of(r.real)) for r, _ in roots if r.imag == 0]
        inside = sorted((r for r in found if r.upper > low and r.lower < high), key=lambda r: r.lower)
        clear = all(a.upper < b.lower for a, b in pairwise(inside))
        if clear and all(r.lower > low and r.upper < high for r in inside):
            return inside
        product = _without_root(_without_root(product, low), high)
        prec *= 2
        if prec > 20_000:
            raise Undecided("the switching points were not isolated")


def _end(root: Enclosure) -> Enclosure:
    return Enclosure.exact(root.lower) if root.lower == root.upper else root


def _without_root(poly: fmpz_poly, x: fmpq) -> fmpz_poly:
    """Divide out the root ``x``, which is an end of the interval and no switching point inside."""
    factor = fmpz_poly([-x.p, x.q])
    while poly.degree() > 0 and poly(x) == 0:
        poly = poly / factor
    return poly


def _integer_polynomial(poly: Any) -> fmpz_poly:
    terms = {e: c for (e,), c in poly.terms()}
    below = 1
    for c in terms.values():
        below = below * int(c.denominator) // int(fmpz(below).gcd(fmpz(int(c.denominator))))
    return fmpz_poly([int(terms[e] * below) if e in terms else 0 for e in range(max(terms) + 1)])


def _short_between(low: fmpq, high: fmpq) -> fmpq:
    """A short rational strictly between."""
    scale = fmpz(1)
    while True:
        scale *= 2
        middle = fmpq(((low + high) / 2 * scale).floor(), scale)
        if low < middle < high:
            return middle
