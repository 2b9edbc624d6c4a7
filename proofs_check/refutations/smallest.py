"""Smallest counterexamples: every instance that comes before in a stated order is looked at exactly."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count, product
from typing import Any

from flint import fmpq

from aoi_tools.closed_forms import periodic_mean_age
from aoi_tools.models.codes import RandomGenerator
from aoi_tools.models.schedules import SideInformation
from aoi_tools.models.schemes import Actual, Cyclic
from aoi_tools.models.sources import Source
from aoi_tools.solvers.age import age_law
from exactchains.domain import QQ
from exactchains.explore import classes
from exactchains.truth import DoesNotExist, Undecided
from proofs_check.claims.age.gain_bound import gain_and_bound
from proofs_check.refutations.response import worse_than_random
from proofs_check.search.refuter import height

Instance = tuple[str, bool | None]  # what it is; whether the claim fails there, None: no law exists


@dataclass(frozen=True)
class Order:
    """In which order instances come, why nothing lies below the first of them, and the instances themselves."""

    says: str
    below: str
    instances: Callable[[], Iterable[Instance]]


@dataclass(frozen=True)
class Smallest:
    """The first instance at which a claim fails; ``before`` instances hold, ``lawless`` ones have no law."""

    at: str
    order: str
    below: str
    before: int
    lawless: int

    def __str__(self) -> str:
        passed = (
            f"{self.before} {'instance comes' if self.before == 1 else 'instances come'} before it, and the claim holds"
        )
        lawless = f"; {self.lawless} more have no law" if self.lawless else ""
        looked = f"{passed} at each{lawless}" if self.before or self.lawless else "no instance comes before it"
        return f"{self.at}. Order: {self.order}; {looked}. {self.below}".rstrip()


@cache
def smallest(claim: str) -> Smallest | None:
    """Return the smallest counterexample of a refuted claim; None where no order is stated.

    Guarantee
    ---------
    All instances before it were decided by exact arithmetic or certified bounds.
    """
    if claim not in ORDERS:
        return None
    order, holds, lawless = ORDERS[claim], 0, 0
    for what, fails in order.instances():
        if fails:
            return Smallest(what, order.says, order.below, holds, lawless)
        holds, lawless = holds + (fails is False), lawless + (fails is None)
    raise Undecided(f"{claim}: the instances end without a counterexample")


def _lengths() -> Iterator[Instance]:
    for period in count(2):
        for m, k in product(range(1, period), repeat=2):
            q, rest = divmod(period - m, k)
            if k >= m or rest:
                continue
            for p, d in ((fmpq(0), fmpq(0)), (fmpq(0), fmpq(1))):
                mixed, plain = (periodic_mean_age(p, d, n, actual=m, differential=k) for n in (q, 0))
                yield f"codewords of {m} and {k}, q = {q}, p = {p}, d = {d}", bool(mixed < plain)


def _synchronised() -> Iterator[Instance]:
    for fates in sorted(product((0, 1), repeat=4), key=lambda fates: (sum(fates), fates)):
        slots = (fates[:2], fates[2:])
        periodic, actual = Cyclic(("actual", "differential"), slots), Cyclic(("actual",), slots)
        what = "; ".join(f"{name} slots p = {p}, d = {d}" for name, (p, d) in zip(("even", "odd"), slots, strict=True))
        yield what, _smaller(periodic, actual)


def _side_information() -> Iterator[Instance]:
    for most in count(1):
        for n, m, k in product(range(1, most + 1), repeat=3):
            for eps in (x for x in fractions(most) if 0 <= x < 1 and k <= m):
                if max(n, m, k, eps.denominator) == most:
                    codes = [RandomGenerator(n, bits, str(eps)) if bits <= n else 1 for bits in (m, k)]
                    yield (
                        f"n = {n}, {m} bits, {k} unknown, eps = {eps}",
                        _smaller(SideInformation(*codes), Actual(codes[0])),
                    )


def _smaller(one: Any, other: Any) -> bool | None:
    """Whether the mean of one law is smaller; None where one of them does not exist."""
    try:
        return bool(age_law(one).mean() < age_law(other).mean())
    except DoesNotExist:
        return None


def _gain(states: int, windows: dict[str, str]) -> Iterator[Instance]:
    for most in count(1):
        rows = [row for row in product(reversed(fractions(most)), repeat=states) if sum(row) == 1]
        matrices = [(max(x.denominator for row in m for x in row), m) for m in product(rows, repeat=states)]
        sizes = sorted((s * x for x in fractions(most)[:-1] for s in (1, -1)[: 1 + (x > 0)]), key=abs)  # 1/2, -1/2
        for below, matrix in sorted(matrices, key=lambda pair: pair[0]):
            for D in sizes:
                if max(below, D.denominator) == most:
                    yield from _below(matrix, D, windows)


def _below(matrix: Any, D: Fraction, windows: dict[str, str]) -> Iterator[Instance]:
    source = Source.of([[str(x) for x in row] for row in matrix])
    if len(classes(source.chain).recurrent[0]) < source.size:
        return
    for name, window in windows.items():
        gain, bound = gain_and_bound(source, window, str(D), QQ)
        shown = "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in matrix) + "]"
        yield f"matrix {shown}, window {name}, D = {D}", bool(gain < bound)


def _loads() -> Iterator[Instance]:
    for most in count(1):
        pairs = [(eps, lam) for eps in fractions(most) for lam in fractions(most) if 0 < lam < 1 / max(1, 3 * eps)]
        pairs = [(e, x) for e, x in pairs if 3 * e > 1 and max(e.denominator, x.denominator) == most]
        for eps, lam in sorted(pairs, key=lambda pair: (height(dict(enumerate(pair))), pair)):
            worse = worse_than_random(3, eps, lam)
            if worse is None:
                raise Undecided(f"eps = {eps}, lam = {lam}: the bounds of the mean queue do not decide")
            yield f"d = 3, eps = {eps}, lam = {lam}", not worse


def fractions(most: int) -> list[Fraction]:
    """Return the fractions from 0 to 1 with denominators up to ``most``, in ascending order."""
    return sorted({Fraction(k, n) for n in range(1, most + 1) for k in range(n + 1)})


ORDERS = {
    "age.headline.equal-lengths-needed": Order(
        "channel uses of a period, then lengths, then p and d by denominator and size",
        "In periods of two uses both codewords have one: equal lengths, age.periodic.never-improves.",
        _lengths,
    ),
    "age.headline.iid-needed": Order(
        "period of the channel, then q, then denominators of the chances of loss, then their sum",
        "Channels of period one are i.i.d.: age.periodic.never-improves.",
        _synchronised,
    ),
    "age.headline.memoryless-decoding-needed": Order(
        "largest of n, bits, unknown bits (at least one: the source changes) and the denominator of eps, then n, bits,"
        " unknown bits, eps",
        "",
        _side_information,
    ),
    "age.markov.gain-lower-bound.asymmetric-window": Order(
        "states, then the largest denominator, then that of the matrix, then the size of D, then the windows {0} and"
        " {-1,0} of thresholds 0 and 1",
        "With one state every change is 0: both sides agree.",
        lambda: _gain(2, {"{0}": "0", "{-1,0}": "-1..0"}),
    ),
    "age.markov.gain-lower-bound.non-reversible": Order(
        "states, then the largest denominator, then that of the matrix, then the size of D, then windows {0}, {-1,0,1},"
        " {-2,..,2}",
        "Sources of one or two states are reversible: age.markov.gain-lower-bound.",
        lambda: _gain(3, {"{0}": "0", "{-1,0,1}": "-1..1", "{-2,..,2}": "-2..2"}),
    ),
    "noisy.independent.worse-beyond-one-over-d": Order(
        "d, then the largest denominator of eps and lam, then the sum of their numerators and denominators",
        "The claim begins at d = 3.",
        _loads,
    ),
}
