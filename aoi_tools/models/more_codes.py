"""More codes: repetition, polar with successive cancellation, and tables of given failure probabilities."""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, ClassVar

from flint import arb, fmpq

from aoi_tools.models.codes import Codeword, check_sizes, erasure_bits, is_symbol, probability, weigh
from exactchains.domain import QQ, Balls, Domain
from exactchains.truth import InputError


@dataclass(frozen=True)
class Repetition:
    """Every bit is sent n // bits times, the first n % bits bits once more; lost iff all copies of some bit are erased.

    Success is the product of 1 - eps^copies over the bits; failure is the sum of its decrements.
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "rep"

    def __post_init__(self) -> None:
        check_sizes(self)

    def over(self, domain: Domain) -> Codeword:
        with domain.working():
            eps = domain.convert(self.eps)
            failure, success = domain.convert(0), domain.convert(1)
            for i in range(self.bits):
                gone = eps ** (self.n // self.bits + (i < self.n % self.bits))
                failure, success = failure + success * gone, success * (1 - gone)
            return Codeword(failure, success)

    @property
    def exact_bits(self) -> int | None:
        return erasure_bits(self)


@dataclass(frozen=True)
class Polar:
    r"""Polar code of length 2^t under successive cancellation on the erasure channel.

    Bit channels: :math:`z^- = 2z - z^2, z^+ = z^2`, exact; the ``bits`` smallest carry information.  A codeword is
    lost iff some information bit is erased.  Up to 16 uses the lost patterns are counted exactly by number of
    erasures.  Beyond, the failure probability is enclosed: it is at least the largest z and, as erasures of bit
    channels are increasing functions of independent erasures, at most 1 - prod(1 - z).
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "polar"
    COUNTED: ClassVar[int] = 16

    def __post_init__(self) -> None:
        check_sizes(self)
        if self.n & (self.n - 1):
            raise InputError(f"n = {self.n}: the length of a polar code is a power of two")
        if is_symbol(self.eps):
            raise InputError("eps: a polar code is chosen for a number eps, not for a symbol")

    @cached_property
    def bit_channels(self) -> list[fmpq]:
        """Erasure probabilities of the bit channels, in decoding order."""
        z = [self.eps]
        while len(z) < self.n:
            z = [w for x in z for w in (2 * x - x * x, x * x)]
        return z

    @cached_property
    def information(self) -> tuple[int, ...]:
        """Positions that carry information: the smallest z, the later of equals."""
        if self.n > self.COUNTED:
            return self._ranked
        return tuple(sorted(range(self.n), key=lambda i: (self.bit_channels[i], -i))[: self.bits])

    @cached_property
    def _ranked(self) -> tuple[int, ...]:
        order = sorted(range(self.n), key=lambda i: (self._enclosed[i].mid().fmpq(), -i))
        return tuple(order[: self.bits])

    @cached_property
    def _enclosed(self) -> list[arb]:
        with Balls(256).working():
            return self._channels(Balls(256))

    def _channels(self, domain: Domain) -> list[Any]:
        z = [(domain.convert(self.eps), domain.convert(1 - self.eps))]
        while len(z) < self.n:  # (erased, received), both without cancellation
            z = [w for x, y in z for w in ((x * (2 - x), y * y), (x * x, y * (2 - y)))]
        return [x for x, _ in z]

    def chances(self, domain: Domain = QQ) -> list[Codeword]:
        """Return the chance of failure and success given e = 0..n erasures, counted over all patterns."""
        if self.n > self.COUNTED:
            raise InputError(f"n = {self.n}: patterns are counted up to {self.COUNTED} uses")
        size = 1 << self.n
        weight = [0] * (self.n + 1)  # weight[e]: the set of patterns with e erasures, one bit a pattern
        for pattern in range(size):
            weight[pattern.bit_count()] |= 1 << pattern
        lost = self._lost_patterns(size)
        found = []
        for e in range(self.n + 1):
            share = fmpq((lost & weight[e]).bit_count(), comb(self.n, e))
            found.append(Codeword(domain.convert(share), domain.convert(1 - share)))
        return found

    def _lost_patterns(self, size: int) -> int:
        """The set of patterns under which an information bit is erased: or for z-, and for z+."""
        erased = []
        for i in range(self.n):
            run = ((1 << (1 << i)) - 1) << (1 << i)  # patterns with bit i, repeated every 2^(i+1)
            erased.append(_repeated(run, 2 << i, size))
        sets = [erased]
        while len(sets) < self.n:
            sets = [
                part
                for now in sets
                for part in (
                    [now[j] | now[j + len(now) // 2] for j in range(len(now) // 2)],
                    [now[j] & now[j + len(now) // 2] for j in range(len(now) // 2)],
                )
            ]
        lost = 0
        for i in self.information:
            lost |= sets[i][0]
        return lost

    def over(self, domain: Domain) -> Codeword:
        if self.n <= self.COUNTED:
            return weigh(self, domain)
        if not isinstance(domain, Balls):
            raise InputError(f"n = {self.n}: the failure probability of this polar code is only enclosed; use Balls")
        with domain.working():
            z = self._channels(domain)
            chosen = [z[i] for i in self.information]
            lower, upper, success = domain.convert(0), domain.convert(0), domain.convert(1)
            for x in chosen:
                lower = x if x > lower else lower
                upper, success = upper + success * x, success * (1 - x)
            return Codeword(lower.union(upper), success.union(1 - lower))

    @property
    def exact_bits(self) -> int | None:
        return erasure_bits(self) if self.n <= self.COUNTED else None


@dataclass(frozen=True)
class CodeTable:
    """Given failure probabilities of codewords of one length: ``failures`` maps bits to a probability."""

    n: int
    failures: tuple[tuple[int, Any], ...]

    def __post_init__(self) -> None:
        pairs = tuple((bits, probability(x, f"failure at {bits} bits")) for bits, x in self.failures)
        object.__setattr__(self, "failures", pairs)

    def word(self, bits: int) -> Any:
        """Return the fate of a codeword with this many bits."""
        table = dict(self.failures)
        if bits not in table:
            raise InputError(f"bits = {bits}: the table holds {', '.join(map(str, sorted(table)))}")
        return Codeword.of(table[bits])


def _repeated(run: int, width: int, size: int) -> int:
    """``run`` of ``width`` bits, repeated to ``size`` bits."""
    while width < size:
        run |= run << width
        width *= 2
    return run
