"""Named sources, exact: walks on a cycle, reflected walks with restarts, two regimes, quantised autoregression.

Written as ``name:parameters``, for example ``cyclic-walk:8,1/4,1/4``.
"""

from collections.abc import Callable, Sequence
from typing import Any

from flint import fmpq, fmpz

from aoi_tools.models.sources import Source
from exactchains.domain import rational
from exactchains.number import parse
from exactchains.truth import InputError

MOST_ENTRIES = 5_000_000
MOST_STATES = 1_000_000


def circulant(steps: Sequence[Any]) -> Source:
    """Return the source on a cycle whose step s has probability ``steps[s]``, s = 0..c-1."""
    law = [rational(x, "step probability") for x in steps]
    size = len(law)
    possible = [(s, x) for s, x in enumerate(law) if x]
    _entries(size * len(possible))
    rows = tuple({(i + s) % size: x for s, x in possible} for i in range(size))
    return Source(rows, cyclic=size)


def cyclic_walk(size: int, up: Any, down: Any) -> Source:
    """Return the walk on a cycle: +1 with probability ``up``, -1 with ``down``, else it stays."""
    plus, minus = rational(up, "up"), rational(down, "down")
    steps = [fmpq(0)] * _size(size, 3)
    steps[0], steps[1], steps[-1] = 1 - plus - minus, plus, minus
    return circulant(steps)


def reflected_walk(size: int, up: Any, down: Any, restart: Any = 0) -> Source:
    """Return the walk on 0..size-1 that stays where a move is blocked, and restarts uniformly with ``restart``."""
    plus, minus, again = rational(up, "up"), rational(down, "down"), rational(restart, "restart")
    _entries(_size(size, 2) * (size if again else 3))
    rows = []
    for i in range(size):
        row = {i: (1 - again) * (1 - plus - minus)}
        for j, x in ((i + 1, plus), (i - 1, minus)):
            target = j if 0 <= j < size else i
            row[target] = row.get(target, fmpq(0)) + (1 - again) * x
        rows.append(row)
    return Source(_restarted(rows, [again] * size))


def two_regime(size: int, step: Any, calm: Any, busy: Any) -> Source:
    """Return two halves: one goes round its cycle by ``step``, one is uniform; ``calm``, ``busy`` restart anywhere."""
    half = _size(size, 4) // 2
    if 2 * half != size:
        raise InputError(f"two-regime size = {size}: an even integer is needed")
    _entries(half * half)
    move, rest, wild = rational(step, "step"), rational(calm, "calm"), rational(busy, "busy")
    rows = [{i: (1 - rest) * (1 - move), (i + 1) % half: (1 - rest) * move} for i in range(half)]
    rows += [{half + j: (1 - wild) / half for j in range(half)} for _ in range(half)]
    return Source(_restarted(rows, [rest] * half + [wild] * half))


def autoregressive(size: int, rho: Any, spread: int) -> Source:
    """Return x' = nearest(rho x) + noise on ``size`` centred values, clipped.

    The noise is binomial(2 spread, 1/2) - spread.
    """
    ratio, low = rational(rho, "rho"), -(_size(size, 2) // 2)
    width = 2 * _size(spread, 0, "spread", MOST_STATES // 2)
    _entries(size * (width + 1))
    weights = [fmpq(fmpz.bin_uiui(width, s), fmpz(2) ** width) for s in range(width + 1)]
    rows = []
    for i in range(size):
        centre = int((ratio * (low + i) + fmpq(1, 2)).floor())
        row: dict[int, fmpq] = {}
        for s, weight in enumerate(weights):
            j = min(max(centre + s - spread - low, 0), size - 1)
            row[j] = row.get(j, fmpq(0)) + weight
        rows.append(row)
    return Source(tuple(rows), tuple(low + i for i in range(size)))


NAMED: dict[str, tuple[Callable[..., Source], str]] = {
    "circulant": (lambda *steps: circulant(steps), "step probabilities 0..c-1"),
    "cyclic-walk": (cyclic_walk, "size,up,down"),
    "reflected-walk": (reflected_walk, "size,up,down,restart"),
    "two-regime": (two_regime, "size,step,calm,busy"),
    "autoregressive": (autoregressive, "size,rho,spread"),
    "cyclic8": (lambda: circulant(["1/2", "1/8", "1/16", "1/32", "1/16", "1/32", "1/16", "1/8"]), ""),
    "reflected8": (lambda: reflected_walk(8, "1/4", "1/4", "1/10"), ""),
    "regime8": (lambda: two_regime(8, "1/4", "1/40", "1/10"), ""),
}


def named_source(text: str) -> Source:
    """Return the source that ``name:parameters`` spells.

    Examples
    --------
    >>> from aoi_tools.models.source_library import named_source
    >>> named_source("cyclic-walk:8,1/4,1/4").size
    8
    """
    name, _, words = text.strip().partition(":")
    if name not in NAMED:
        raise InputError(f"source = {text[:60]!r}: a .json or .toml file, or one of {', '.join(NAMED)}")
    make, expected = NAMED[name]
    numbers = [parse(word.strip(), f"source {name}") for word in words.split(",")] if words else []
    places = {"autoregressive": (0, 2)}.get(name, (0,) if expected.startswith("size") else ())
    for i in places:
        if i < len(numbers) and numbers[i].q != 1:
            raise InputError(f"source {name}: {numbers[i]} is no integer; write {name}:{expected}")
    given = [int(x.p) if i in places else x for i, x in enumerate(numbers)]
    try:
        return make(*given)
    except TypeError:
        raise InputError(f"source = {text[:60]!r}: write {name}{':' + expected if expected else ''}") from None


def _restarted(rows: Sequence[dict[int, fmpq]], restart: Sequence[fmpq]) -> tuple[dict[int, fmpq], ...]:
    size = len(rows)
    _entries(size * sum(again != 0 for again in restart))
    full = []
    for row, again in zip(rows, restart, strict=True):
        entries = ((j, row.get(j, fmpq(0)) + again / size) for j in range(size)) if again else row.items()
        full.append({j: x for j, x in entries if x})
    return tuple(full)


def _entries(count: int) -> None:
    if count > MOST_ENTRIES:
        raise InputError(f"source: {count} transitions, at most {MOST_ENTRIES} are built; give a smaller size")


def _size(size: int, least: int, name: str = "size", most: int = MOST_STATES) -> int:
    if not isinstance(size, int) or not least <= size <= most:
        raise InputError(f"{name} = {size}: an integer from {least} to {most} is needed")
    return size
