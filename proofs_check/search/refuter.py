"""Looks for a rational point of the domain at which a statement fails, as simple as can be found."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from proofs_check.check.boxes import Box
from proofs_check.check.counterexample import HOLDS
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Polynomial, Ratio
from proofs_check.check.sign import Domain
from proofs_check.search.bernstein import Point, inside, value

DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 100, 300, 1000, 10_000, 10**6, 10**9)
GRID = 20_000
SUSPECTS = 400
LOOK = 4.0  # seconds for each of the two slow searches
STARTS = 12
DESCENT = {"maxiter": 300, "xatol": 1e-9, "fatol": 1e-14}
SEED = 20230301
Test = Callable[[Point], bool]


def counterexample(
    claim: tuple[str, str, str], domain: Domain, box: Box, *, hints: Iterable[Point] = (), deep: float = LOOK
) -> Point | None:
    """Return a point of the domain at which the statement fails, or None when none was found.

    ``deep``: seconds for descents from random starts, and for z3 where it is installed; 0: only grids.
    """
    if any(s.low is not None and s.high is not None and s.low > s.high for s in box.values()):
        return None  # the domain is empty
    left, relation, right = claim
    f = expression(left, domain.names) - expression(right, domain.names)

    def fails(point: Point) -> bool:
        x = value(f, point)
        return x is not None and not HOLDS[relation](x, 0) and inside(domain, point)

    found = [p for p in hints if fails(p)]
    found += _on_grids(f, relation, list(domain.names), box, fails)
    if not found and deep:
        found += [p for p in _descents(f, relation, domain, box, deep) if fails(p)]
    if not found and deep:
        found += [p for p in _by_solver(f, relation, domain, deep) if fails(p)]
    return min((simplest(p, fails) for p in found), key=height, default=None)


def height(point: Mapping[str, Fraction]) -> tuple[int, int]:
    """Return how complicated a point is: its largest denominator, then all digits together."""
    return (
        max((x.denominator for x in point.values()), default=1),
        sum(abs(x.numerator) + x.denominator for x in point.values()),
    )


def simplest(point: Point, fails: Test) -> Point:
    """Return a point with small denominators near this one at which the statement still fails."""
    best = point
    for limit in DENOMINATORS:
        near = {name: x.limit_denominator(limit) for name, x in point.items()}
        if fails(near):
            best = near
            break
    for name in best:  # then each coordinate on its own
        for limit in DENOMINATORS:
            near = {**best, name: best[name].limit_denominator(limit)}
            if near[name].denominator >= best[name].denominator:
                break
            if fails(near):
                best = near
                break
    return best


def _on_grids(f: Ratio, relation: str, names: list[str], box: Box, fails: Test) -> list[Point]:
    """Return the simplest failing point of the first grid that has one; grids become finer.

    Doubles choose the points that are looked at exactly.
    """
    if not names:
        return [{}] if fails({}) else []
    top, below = Floats(f.top, names), [(Floats(b, names), n) for b, n in f.bottom.items()]
    for denominator in (1, 2, 3, 4, 5, 7, 8, 10):
        axes = [axis(box[name].low, box[name].high, denominator) for name in names]
        if np.prod([float(len(a)) for a in axes]) > GRID:
            if found := [p for p in _diagonal(names, axes) if fails(p)]:
                return [min(found, key=height)]
            continue
        grid = list(product(*axes))
        x = np.array(grid, dtype=float)
        with np.errstate(all="ignore"):
            values = top(x) / np.prod([b(x) ** n for b, n in below], axis=0) if below else top(x)
        near = 1e-9 * (1 + np.abs(np.nan_to_num(values)))
        suspects = {
            "=": np.abs(values) > 0,
            "<=": values > -near,
            "<": values > -near,
            ">=": values < near,
            ">": values < near,
        }
        points = sorted(
            (dict(zip(names, grid[k], strict=True)) for k in np.flatnonzero(suspects[relation])), key=height
        )
        if (point := next((p for p in points[:SUSPECTS] if fails(p)), None)) is not None:
            return [point]
    return []


def _diagonal(names: list[str], axes: list[list[Fraction]]) -> Iterator[Point]:
    """Yield points at which every variable has gone the same part of its way."""
    steps = max(len(a) for a in axes) - 1
    for k in range(steps + 1):
        yield {name: a[k * (len(a) - 1) // max(steps, 1)] for name, a in zip(names, axes, strict=True)}


def axis(low: Fraction | None, high: Fraction | None, denominator: int) -> list[Fraction]:
    """Return multiples of 1/denominator in an interval, or in a few units of an infinite one, with its ends."""
    reach = 3
    if low is None:
        low = Fraction(-reach) if high is None else min(Fraction(-reach), high - reach)
    if high is None:
        high = max(Fraction(reach), low + reach)
    if high - low > 4 * reach:
        return sorted({low, (low + high) / 2, high})
    first, last = -((-low * denominator) // 1), (high * denominator) // 1
    inner = {Fraction(int(k), denominator) for k in range(int(first), int(last) + 1)}
    return sorted(inner | {low, high}) or [low, high]


class Floats:
    """A polynomial for many points at once, in doubles: only to find where to look."""

    def __init__(self, p: Polynomial, names: list[str]) -> None:
        powers = [dict(m) for m in p.terms]
        self.exponents = np.array([[m.get(name, 0) for name in names] for m in powers], dtype=float).reshape(
            -1, len(names)
        )
        self.weights = np.array([float(c) for c in p.terms.values()])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the values at points, one a row (or at one point)."""
        return np.prod(np.power(x[..., None, :], self.exponents), axis=-1) @ self.weights


def _descents(f: Ratio, relation: str, domain: Domain, box: Box, seconds: float) -> Iterator[Point]:
    """Yield minimisers of the violated side, from random starts."""
    from scipy.optimize import minimize

    names = list(domain.names)
    if not names:
        return
    top, below = Floats(f.top, names), [(Floats(b, names), n) for b, n in f.bottom.items()]
    walls = [Floats(g.top, names) for g in domain.meaning.values() if not g.bottom]
    turns = {"<": [-1], "<=": [-1], ">": [1], ">=": [1], "=": [1, -1]}[relation]
    rng, limits = np.random.default_rng(SEED), [_range(box[name].low, box[name].high) for name in names]

    def target(x: np.ndarray, turn: int, weight: float) -> float:
        bottom = float(np.prod([b(x) ** n for b, n in below])) if below else 1.0
        outside = sum(max(0.0, 1e-9 - w(x)) for w in walls)
        return turn * top(x) / bottom + weight * outside if abs(bottom) > 1e-12 else 1e9

    end = time.monotonic() + seconds
    for turn in turns:
        for weight in (10.0, 1000.0):
            for start in rng.uniform([a for a, _ in limits], [b for _, b in limits], (STARTS, len(names))):
                if time.monotonic() > end:
                    return
                with np.errstate(all="ignore"):
                    found = minimize(
                        target, start, args=(turn, weight), method="Nelder-Mead", bounds=limits, options=DESCENT
                    )
                for x in (found.x, start):
                    if np.all(np.isfinite(x)):
                        yield {name: Fraction(float(v)) for name, v in zip(names, x, strict=True)}


def _range(low: Fraction | None, high: Fraction | None) -> tuple[float, float]:
    a = float(low) if low is not None else (float(high) - 10 if high is not None else -10.0)
    return a, float(high) if high is not None else a + 20


def _by_solver(f: Ratio, relation: str, domain: Domain, seconds: float) -> Iterator[Point]:
    """Yield what z3 finds, where it is installed; its answer is checked like any other, its refusal proves nothing."""
    try:
        import z3
    except ImportError:
        return
    real = {name: z3.Real(name) for name in domain.names}

    def term(p: Polynomial) -> Any:
        total = z3.RealVal(0)
        for monomial, c in p.terms.items():
            part = z3.RealVal(str(Fraction(c)))
            for name, e in monomial:
                for _ in range(e):
                    part = part * real[name]
            total = total + part
        return total

    solver = z3.Solver()
    solver.set("timeout", int(1000 * seconds))
    top = term(f.top)
    for b, n in f.bottom.items():
        solver.add(term(b) != 0)
        top = top * term(b) if n % 2 else top
    for symbol, g in domain.meaning.items():
        if not g.bottom:
            solver.add(term(g.top) > 0 if symbol in domain.strict else term(g.top) >= 0)
    solver.add({"<": top >= 0, "<=": top > 0, ">": top <= 0, ">=": top < 0, "=": top != 0}[relation])
    if solver.check() != z3.sat:
        return
    model, point = solver.model(), {}
    for name, x in real.items():
        v = model.evaluate(x, model_completion=True)
        v = v if z3.is_rational_value(v) else v.approx(30)
        point[name] = Fraction(v.numerator_as_long(), v.denominator_as_long())
    yield point
