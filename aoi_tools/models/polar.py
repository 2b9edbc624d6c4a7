"""Polar codes on the erasure channel under successive cancellation: exact when short, else enclosed by pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, cmp_to_key
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar

from flint import fmpq

from aoi_tools.models.codes import Codeword, check_sizes, erasure_bits, is_symbol, weigh
from exactchains.domain import QQ, Balls, Domain, rational
from exactchains.truth import InputError


@dataclass(frozen=True)
class Polar:
    r"""Polar code of length 2^t under successive cancellation on the erasure channel.

    Bit channels: :math:`z^- = 2z - z^2, z^+ = z^2`, exact; the ``bits`` smallest carry information.  A codeword is
    lost iff some information bit is erased.  Up to 32 uses the lost patterns are counted exactly by number of
    erasures.  Beyond, the joint law of the bit channels is out of reach and the failure probability is only enclosed.
    The last four splits make groups of 16 bit channels, each group seeing independent erasures of probability z, so the
    failure probability of a group is known.  That of the code is at least the largest of them and, as erasures of bit
    channels are increasing functions of independent erasures, at most 1 - prod(1 - group failure).  Joint failures of
    two groups are known too, and sharpen both bounds: :func:`pair_bounds`.
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "polar"
    COUNTED: ClassVar[int] = 32
    GROUP: ClassVar[int] = 16
    PAIRED: ClassVar[int] = 4
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
        with domain.working():
            lower, upper = self._alone(domain)
            least, most = pair_bounds(self.n, self._groups(self.PAIRED), self.PAIRED, self.eps, domain)
            failure = max(lower[0], least), min(upper[0], most)
            success = max(upper[1], 1 - most), min(lower[1], 1 - least)
            return Codeword(failure[0].union(failure[1]), success[0].union(success[1]))

    def _groups(self, size: int) -> dict[int, frozenset[int]]:
        """Return the information bits by groups of ``size`` positions."""
        chosen: dict[int, set[int]] = {}
        for i in self.information:
            chosen.setdefault(i // size, set()).add(i % size)
        return {place: frozenset(bits) for place, bits in chosen.items()}

    def _alone(self, domain: Domain) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return (failure, success) of the group most often lost, and of groups that were independent."""
        seen = _channels(self.n // self.GROUP, self.eps, domain)
        lower, upper = (domain.convert(0), domain.convert(1)), (domain.convert(0), domain.convert(1))
        for place, bits in self._groups(self.GROUP).items():
            lost, decoded = _group(self.GROUP, bits, *seen[place])
            if lost > lower[0]:
                lower = (lost, decoded)
            upper = (upper[0] + upper[1] * lost, upper[1] * decoded)
        return lower, upper

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


def pair_bounds(
    n: int, groups: Mapping[int, frozenset[int]], size: int, eps: Any, domain: Domain, *, worst: int = 48
) -> tuple[Any, Any]:
    r"""Return a lower and an upper bound of the chance that some group of information bits is lost, from pairs.

    Of the ``worst`` groups, lost with chances g_i and in pairs with g_ij (g_ii = g_i): at least
    sum_i g_i^2 / sum_j g_ij (de Caen 1997), and at most sum_i g_i minus the g_ij of a spanning tree (Hunter 1976).
    The other groups multiply the chance of success, as being decoded is positively correlated.
    """
    seen, one = _channels(n // size, eps, domain), domain.convert(1)
    alone = {place: _group(size, bits, *seen[place]) for place, bits in groups.items()}
    if not alone:
        return 0 * one, 0 * one
    chosen = sorted(alone, key=lambda place: (-alone[place][0].mid().fmpq(), place))[:worst]
    lost = {place: _lost(size, groups[place]) for place in chosen}
    joint = {}
    for i, j in combinations(sorted(chosen), 2):
        joint[i, j] = joint[j, i] = _both_lost(lost[i], lost[j], pair_law(n // size, i, j, eps, domain))
    total = sum((alone[i][0] for i in chosen), 0 * one)
    least = 0 * one
    for i in chosen:
        both = alone[i][0] + sum((joint[i, j] for j in chosen if j != i), 0 * one)
        least = least + alone[i][0] ** 2 / both if both > 0 else least
    success = 1 - (total - _tree(chosen, joint, 0 * one))
    for place in alone.keys() - set(chosen):
        success = success * alone[place][1]
    return least, 1 - success


def pair_law(n: int, i: int, j: int, eps: Any, domain: Domain = QQ) -> list[Any]:
    """Return the chances of (received, received), (received, erased), (erased, received), (erased, erased), i < j.

    Two bit channels of n uses are the same up to the split at which their binary digits differ; there the first is
    erased where either copy is, the second where both are.  Later splits take two independent copies of the pair.
    """
    z, x = domain.convert(eps), domain.convert(1 - eps)
    digits = range(n.bit_length() - 2, -1, -1)
    apart = next(s for s in digits if (i ^ j) >> s & 1)
    for s in (s for s in digits if s > apart):
        z, x = (z * z, x * (2 - x)) if i >> s & 1 else (z * (2 - z), x * x)
    law = [x * x, 0 * x, 2 * z * x, z * z]
    for s in (s for s in digits if s < apart):
        after = [0 * x] * 4
        for u, v in product(range(4), repeat=2):
            first = (u & v if i >> s & 1 else u | v) & 2
            second = (u & v if j >> s & 1 else u | v) & 1
            after[first + second] = after[first + second] + law[u] * law[v]
        law = after
    return law


def _lost(size: int, bits: frozenset[int]) -> list[bool]:
    """Whether each pattern of ``size`` uses loses one of the bits."""
    received = _received(size, bits)
    return [not received >> pattern & 1 for pattern in range(1 << size)]


def _both_lost(first: Sequence[bool], second: Sequence[bool], law: Sequence[Any]) -> Any:
    """The chance that both groups are lost; their patterns are pairs of one law, independent over the uses."""
    zero = 0 * law[0]
    weights = [zero + int(gone) for gone in second]
    for step in (1 << t for t in range(len(weights).bit_length() - 1)):
        for low in (k for k in range(len(weights)) if not k & step):
            kept, gone = weights[low], weights[low | step]
            weights[low], weights[low | step] = law[0] * kept + law[1] * gone, law[2] * kept + law[3] * gone
    return sum((w for w, gone in zip(weights, first, strict=True) if gone), zero)


def _tree(places: Sequence[int], joint: Mapping[tuple[int, int], Any], zero: Any) -> Any:
    """The sum over a spanning tree that takes the largest joint chance next; any tree gives a bound."""
    near = dict.fromkeys(places[1:], places[0])
    total = zero
    while near:
        new = max(near, key=lambda j: joint[near[j], j].mid().fmpq())
        total = total + joint[near.pop(new), new]
        for j in near:
            if joint[new, j] > joint[near[j], j]:
                near[j] = new
    return total


def _repeated(run: int, width: int, size: int) -> int:
    """``run`` of ``width`` bits, repeated to ``size`` bits."""
    while width < size:
        run |= run << width
        width *= 2
    return run
