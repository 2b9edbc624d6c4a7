"""More codes: repetition, polar with successive cancellation, and tables of given failure probabilities."""

from dataclasses import dataclass
from functools import cache, cached_property, cmp_to_key
from math import comb
from typing import Any, ClassVar

from flint import fmpq

from aoi_tools.models.codes import Codeword, check_sizes, erasure_bits, is_symbol, probability, weigh
from exactchains.domain import QQ, Balls, Domain, rational
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
    lost iff some information bit is erased.  Up to 32 uses the lost patterns are counted exactly by number of
    erasures.  Beyond, the joint law of the bit channels is out of reach and the failure probability is only enclosed.
    The last four splits make groups of 16 bit channels, each group seeing independent erasures of probability z, so the
    failure probability of a group is known.  That of the code is at least the largest of them and, as erasures of bit
    channels are increasing functions of independent erasures, at most 1 - prod(1 - group failure).
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "polar"
    COUNTED: ClassVar[int] = 32
    GROUP: ClassVar[int] = 16
    LONGEST: ClassVar[int] = 4_096

    def __post_init__(self) -> None:
        check_sizes(self)
        if self.n & (self.n - 1):
            raise InputError(f"n = {self.n}: the length of a polar code is a power of two")
        if self.n > self.LONGEST:
            raise InputError(f"n = {self.n}: the length of a polar code is at most {self.LONGEST}")
        if is_symbol(self.eps):
            raise InputError("eps: a polar code is chosen for a number eps, not for a symbol")

    @property
    def bit_channels(self) -> list[fmpq]:
        """Erasure probabilities of the bit channels, in decoding order."""
        return [x for x, _ in _channels(self.n, self.eps, QQ)]

    @cached_property
    def information(self) -> tuple[int, ...]:
        """Positions that carry information: the smallest z, the later of equals."""
        with Balls(256).working():
            near = _channels(self.n, self.eps, Balls(256))

        def order(i: int, j: int) -> int:
            (x, kept), (y, held) = near[i], near[j]
            if x < y or kept > held:
                return -1
            if x > y or kept < held:
                return 1
            first, second = self._exactly(i), self._exactly(j)
            return j - i if first == second else -1 if first < second else 1

        return tuple(sorted(range(self.n), key=cmp_to_key(order))[: self.bits])

    def _exactly(self, i: int) -> fmpq:
        """Erasure probability of one bit channel, exact: its splits are the binary digits of its place."""
        z = rational(self.eps, "eps")
        for split in range(self.n.bit_length() - 2, -1, -1):
            z = z * z if i >> split & 1 else 2 * z - z * z
        return z

    def chances(self, domain: Domain = QQ) -> list[Codeword]:
        """Return the chance of failure and success given e = 0..n erasures, counted over all patterns."""
        if self.n > self.COUNTED:
            raise InputError(f"n = {self.n}: patterns are counted up to {self.COUNTED} uses")
        found = []
        for e, count in enumerate(decodable(self.n, frozenset(self.information))):
            share = fmpq(count, comb(self.n, e))
            found.append(Codeword(domain.convert(1 - share), domain.convert(share)))
        return found

    def over(self, domain: Domain) -> Codeword:
        if self.n <= self.COUNTED:
            return weigh(self, domain)
        if not isinstance(domain, Balls):
            raise InputError(
                f"n = {self.n}: beyond {self.COUNTED} uses the failure probability of a polar code is only enclosed; "
                "use Balls"
            )
        chosen: dict[int, set[int]] = {}
        for i in self.information:
            chosen.setdefault(i // self.GROUP, set()).add(i % self.GROUP)
        with domain.working():
            seen = _channels(self.n // self.GROUP, self.eps, domain)
            lower, upper = (domain.convert(0), domain.convert(1)), (domain.convert(0), domain.convert(1))
            for place, bits in chosen.items():
                lost, decoded = _group(self.GROUP, frozenset(bits), *seen[place])
                if lost > lower[0]:
                    lower = (lost, decoded)
                upper = (upper[0] + upper[1] * lost, upper[1] * decoded)
            return Codeword(lower[0].union(upper[0]), lower[1].union(upper[1]))

    @property
    def exact_bits(self) -> int | None:
        return erasure_bits(self) if self.n <= self.COUNTED else None


def _channels(n: int, eps: Any, domain: Domain) -> list[tuple[Any, Any]]:
    """(erased, received) of the n bit channels, in decoding order, both without cancellation."""
    z = [(domain.convert(eps), domain.convert(1 - eps))]
    while len(z) < n:
        z = [w for x, y in z for w in ((x * (2 - x), y * y), (x * x, y * (2 - y)))]
    return z


def _group(n: int, bits: frozenset[int], erased: Any, received: Any) -> tuple[Any, Any]:
    """(lost, decoded) of the given bit channels of n uses that are erased independently."""
    lost = decoded = 0 * erased
    for e, count in enumerate(decodable(n, bits)):
        weight = erased**e * received ** (n - e)
        lost, decoded = lost + (comb(n, e) - count) * weight, decoded + count * weight
    return lost, decoded


@cache
def decodable(n: int, bits: frozenset[int]) -> tuple[int, ...]:
    """Return how many erasure patterns of e = 0..n of ``n`` uses leave all ``bits`` of a polar code received.

    Two halves a, b of a pattern act as a or b on the first half of the bits, as a and b on the second.  A set u and a
    part i of it are (a or b, a and b) of 2^(|u| - |i|) pairs with |u| + |i| erasures.  All i inside u are summed over
    subsets at once, counted by |i| in the places of one long integer.
    """
    if n == 1:
        return (1, int(0 not in bits))
    half, place = n // 2, 64
    either = _received(half, frozenset(b for b in bits if b < half))
    both = _received(half, frozenset(b - half for b in bits if b >= half))
    inside = [(both >> i & 1) << place * i.bit_count() for i in range(1 << half)]
    for bit in range(half):
        step = 1 << bit
        for start in range(0, 1 << half, 2 * step):
            for i in range(start, start + step):
                inside[i + step] += inside[i]
    total = [0] * (half + 1)  # total[|u|]: the counts of all such u
    for u in range(1 << half):
        if either >> u & 1:
            total[u.bit_count()] += inside[u]
    found = [0] * (n + 1)
    for large, packed in enumerate(total):
        for small in range(large + 1):
            found[large + small] += (packed >> place * small & ((1 << place) - 1)) << (large - small)
    return tuple(found)


def _received(n: int, bits: frozenset[int]) -> int:
    """The set of patterns of n uses, as bits of an integer, under which all ``bits`` are received."""
    size, sets = 1 << n, []
    for i in range(n):
        run = ((1 << (1 << i)) - 1) << (1 << i)  # patterns with bit i, repeated every 2^(i+1)
        sets.append(_repeated(run, 2 << i, size))
    parts = [sets]
    while len(parts) < n:
        parts = [
            part
            for now in parts
            for part in (
                [now[j] | now[j + len(now) // 2] for j in range(len(now) // 2)],
                [now[j] & now[j + len(now) // 2] for j in range(len(now) // 2)],
            )
        ]
    lost = 0
    for i in bits:
        lost |= parts[i][0]
    return ((1 << size) - 1) & ~lost


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
