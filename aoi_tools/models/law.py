"""The law of the slot age, and everything that is read off it: gaps, failure, ages under each sampling, peaks.

J = slots since the last usable update, at slot ends; Z = slots between consecutive usable updates.  For every
scheme P(Z > j) = P(J = j) / P(J = 0), hence E Z = 1 / P(J = 0) and E Z^2 = (2 E J + 1) E Z.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import Any, TypeVar

from flint import fmpq

from exactchains.domain import Domain
from exactchains.truth import InputError

Method = TypeVar("Method", bound=Callable[..., Any])

SAMPLING = ("bit", "slot", "fluid")
AT_SUCCESS = ("n", "0")


@dataclass(frozen=True)
class Sampling:
    """When the age is looked at, for codewords of ``n`` channel uses.

    The age is n (1 + J) + V with V uniform on {0..n-1} (``bit``), 0 (``slot``) or uniform on [0, n) (``fluid``).
    ``at_success`` is the age counted at a usable update: ``n`` (the codeword's own length) or ``0``.
    """

    n: int
    convention: str = "bit"
    at_success: str = "n"

    def __post_init__(self) -> None:
        if not isinstance(self.n, int) or self.n < 1:
            raise InputError(f"n = {self.n}: the codeword length is an integer >= 1")
        if self.convention not in SAMPLING:
            raise InputError(f"sampling = {self.convention!r}: allowed are {' | '.join(SAMPLING)}")
        if self.at_success not in AT_SUCCESS:
            raise InputError(f"at_success = {self.at_success!r}: allowed are {' | '.join(AT_SUCCESS)}")

    @property
    def start(self) -> int:
        """Age counted at a usable update, in channel uses."""
        return self.n if self.at_success == "n" else 0

    @property
    def offset_mean(self) -> fmpq:
        return {"bit": fmpq(self.n - 1, 2), "slot": fmpq(0), "fluid": fmpq(self.n, 2)}[self.convention]

    @property
    def offset_variance(self) -> fmpq:
        square = fmpq(self.n) ** 2
        return {"bit": (square - 1) / 12, "slot": fmpq(0), "fluid": square / 12}[self.convention]

    @property
    def last_use(self) -> int:
        """What a peak lacks of start + n Z: one channel use when ages are counted at whole uses."""
        return 1 if self.convention == "bit" else 0


def working(method: Method) -> Method:
    """Run a method of a law at the precision of its domain."""

    @functools.wraps(method)
    def inside(self: Any, *args: Any, **named: Any) -> Any:
        with self.domain.working():
            return method(self, *args, **named)

    return inside  # type: ignore[return-value]


class SlotLaw(ABC):
    """The stationary law of J over one domain; numbers are native to it.

    A solution gives the pmf, the ccdf, the rising moments E C(J+r-1, r) and the pmf of the gap, all as sums of
    nonnegative terms; the rest follows here.
    """

    domain: Domain

    @abstractmethod
    def pmf(self, j: int) -> Any:
        """Return P(J = j)."""

    @abstractmethod
    def ccdf(self, j: int) -> Any:
        """Return P(J > j)."""

    @abstractmethod
    def rising_moment(self, r: int) -> Any:
        """Return E C(J+r-1, r), the sum of C(j+r-1, r-1) P(J > j); r = 1 is the mean."""

    @abstractmethod
    def gap_pmf(self, z: int) -> Any:
        """Return P(Z = z), z >= 1."""

    def mean(self) -> Any:
        """Return E J."""
        return self.rising_moment(1)

    @working
    def moment(self, r: int) -> Any:
        """Return E J^r from rising moments: j^r is the sum of (-1)^(r-k) S(r, k) k! C(j+k-1, k)."""
        total, stirling = self.domain.convert(0), _stirling(r)
        for k in range(1, r + 1):
            weight = (-1) ** (r - k) * stirling[k] * factorial(k)
            total = total + self.domain.convert(weight) * self.rising_moment(k)
        return total

    def success(self) -> Any:
        """Return the fraction of slots with a usable update, P(J = 0)."""
        return self.pmf(0)

    def failure(self) -> Any:
        """Return the fraction of slots without a usable update."""
        return self.ccdf(0)

    @working
    def second_moment(self) -> Any:
        return 2 * self.rising_moment(2) - self.mean()

    @working
    def variance(self) -> Any:
        mean = self.mean()
        return 2 * self.rising_moment(2) - mean - mean * mean

    @working
    def gap_mean(self) -> Any:
        return 1 / self.success()

    @working
    def gap_second_moment(self) -> Any:
        return (2 * self.mean() + 1) / self.success()

    @working
    def age_mean(self, sampling: Sampling) -> Any:
        r"""Return the long-run mean age in channel uses: start + E V + n E J."""
        fixed = self.domain.convert(sampling.start + sampling.offset_mean)
        return fixed + self.domain.convert(sampling.n) * self.mean()

    @working
    def age_variance(self, sampling: Sampling) -> Any:
        r"""Return the variance of the age in (channel uses)^2: n^2 Var J + Var V."""
        scale = self.domain.convert(sampling.n)
        return scale * scale * self.variance() + self.domain.convert(sampling.offset_variance)

    @working
    def peak_mean(self, sampling: Sampling) -> Any:
        """Return the mean peak age in channel uses: start + n E Z, less one use when sampled at whole uses."""
        scale = self.domain.convert(sampling.n)
        return scale * self.gap_mean() + self.domain.convert(sampling.start - sampling.last_use)

    @working
    def peak_variance(self, sampling: Sampling) -> Any:
        """Return the variance of the peak age in (channel uses)^2: n^2 Var Z."""
        scale, gap = self.domain.convert(sampling.n), self.gap_mean()
        return scale * scale * (self.gap_second_moment() - gap * gap)

    @working
    def age_pmf(self, sampling: Sampling, x: int) -> Any:
        """Return P(A = x) for an age read at whole channel uses or once a slot."""
        if sampling.convention == "fluid":
            raise InputError("age_pmf: the fluid age has a density; ask for age_ccdf, or use sampling=bit|slot")
        j, v = divmod(x - sampling.start, sampling.n)
        if j < 0 or (v and sampling.convention == "slot"):
            return self.domain.convert(0)
        return self.pmf(j) / (sampling.n if sampling.convention == "bit" else 1)

    @working
    def age_ccdf(self, sampling: Sampling, x: int) -> Any:
        """Return the violation probability P(A > x): what lies beyond slot age j, and the rest of j itself."""
        j, v = divmod(x - sampling.start, sampling.n)
        if j < 0:
            return self.domain.convert(1)
        if sampling.convention == "slot":
            return self.ccdf(j)
        left = sampling.n - v - sampling.last_use
        return self.ccdf(j) + self.pmf(j) * self.domain.convert(fmpq(left, sampling.n))


def _stirling(r: int) -> list[int]:
    """Stirling numbers of the second kind S(r, 0..r)."""
    row = [1]
    for _ in range(r):
        row = [k * (row[k] if k < len(row) else 0) + (row[k - 1] if k else 0) for k in range(len(row) + 1)]
    return row
