"""Quantiles of slot ages and ages: certified integers, found by exact or certified comparisons."""

from collections.abc import Callable
from typing import Any

from flint import fmpq

from aoi_tools.models.law import Sampling, SlotLaw
from aoi_tools.models.schemes import exact_bits
from aoi_tools.solvers.age import EXACT_BITS, age_law, certified, exact_size, has_closed_form
from exactchains.domain import QQ, Balls, Domain
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import InputError, PrecisionExhausted, Truth, Undecided

MAX_PRECISION = 1 << 14
LARGEST_BITS = 2_000  # of a quantile in closed form
MOST_STEPS_BITS = 17  # of one whose tail is followed slot by slot

Tail = Callable[[SlotLaw, int], Any]


def slot_quantile(scheme: Any, level: fmpq) -> int:
    """Return the smallest j with P(J <= j) >= level, certified.

    Raises
    ------
    Undecided
        The tail equals 1 - level as far as the largest precision can see.
    """
    return _least(scheme, level, lambda law, j: law.ccdf(j), 0)


def age_quantile(scheme: Any, level: fmpq, *, sampling: Sampling, digits: int = 30) -> Result:
    """Return the smallest age x with P(A <= x) >= level: an exact integer, for fluid sampling an enclosure."""
    method = "certified comparisons of the tail"
    if sampling.convention != "fluid":
        x = _least(scheme, level, lambda law, age: law.age_ccdf(sampling, age), sampling.start)
        return Result(Enclosure.exact(x), "age_quantile", method=method)
    j = slot_quantile(scheme, level)

    def value(domain: Domain) -> Any:
        law = age_law(scheme, domain=domain)
        part = (law.ccdf(j) + domain.convert(level) - 1) / law.pmf(j) + 1
        return domain.convert(sampling.start + sampling.n * j) + domain.convert(sampling.n) * part

    if (size := exact_size(scheme, j)) is not None and size <= EXACT_BITS:
        return Result(Enclosure.of(value(QQ)), "age_quantile", method=method)
    found, _ = certified(value, digits, fixed=exact_bits(scheme) is None)
    return Result(found, "age_quantile", method=method)


def _least(scheme: Any, level: fmpq, tail: Tail, start: int) -> int:
    """Smallest x >= start with tail(x) <= 1 - level, by doubling and bisection."""
    if not 0 <= level < 1:
        raise InputError(f"level = {level}: a number from 0 to below 1 is needed")
    below = _Comparison(scheme, 1 - level, tail)
    if below(start):
        return start
    step, bits = 1, LARGEST_BITS if has_closed_form(scheme) else MOST_STEPS_BITS
    while not below(start + step):
        step *= 2
        if step.bit_length() > bits:
            raise InputError(
                f"level = {level}: the quantile is beyond 2^{bits - 1}, out of reach here; give a lower level"
            )
    low, high = start + step // 2, start + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return high


class _Comparison:
    """Whether tail(x) <= bound: in balls, at rising precision, and exactly where balls cannot tell."""

    def __init__(self, scheme: Any, bound: fmpq, tail: Tail) -> None:
        self.scheme, self.bound, self.tail = scheme, bound, tail
        self.laws: dict[int, SlotLaw] = {}

    def __call__(self, x: int) -> bool:
        prec = 128
        while prec <= MAX_PRECISION:
            domain = Balls(prec)
            if prec not in self.laws:
                self.laws[prec] = age_law(self.scheme, domain=domain)
            with domain.working():
                answer = domain.less(domain.convert(self.bound), self.tail(self.laws[prec], x))
            if answer is not Truth.UNKNOWN:
                return answer is Truth.FALSE
            if prec == 128 and (size := exact_size(self.scheme, x)) is not None and size <= 40 * EXACT_BITS:
                return bool(self.tail(age_law(self.scheme), x) <= self.bound)
            if exact_bits(self.scheme) is None:
                raise Undecided(f"P(> {x}) is not told apart from {self.bound}: the parameters are balls")
            prec *= 4
        raise PrecisionExhausted(f"P(> {x}) is not told apart from {self.bound} with {MAX_PRECISION} bits")
