"""Codes on the binary erasure channel: the chance that one codeword is lost or decoded, each without cancellation.

Every code here is permutation invariant: only the number of erasures matters.  A code states its rule as
:meth:`chances`, the chance of failure and success given e erasures; :func:`weigh` averages it over the binomial
number of erasures.  Failure and success are two sums of nonnegative terms, never one minus the other, so that over
balls each keeps its full relative accuracy, also where success is below 1e-50.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from flint import arb, fmpq, fmpz

from exactchains.domain import QQ, Balls, Domain, Floats, rational
from exactchains.truth import InputError

LONGEST, LARGEST_FIELD = 100_000, 1 << 20


@dataclass(frozen=True)
class Codeword:
    """The fate of one codeword: lost with probability ``failure``, decoded with probability ``success``."""

    failure: Any
    success: Any

    def __post_init__(self) -> None:
        if isinstance(self.failure, fmpq) and isinstance(self.success, fmpq):
            if not 0 <= self.failure <= 1:
                raise InputError(f"failure probability {self.failure}: a number from 0 to 1 is needed")
            if self.failure + self.success != 1:
                raise InputError(f"failure {self.failure} and success {self.success} must sum to 1")

    @classmethod
    def of(cls, failure: Any, name: str = "failure probability") -> "Decoding":
        """Return the codeword lost with that probability: exact text, a symbol or a ball; a code is kept as it is."""
        if hasattr(failure, "over"):
            return failure  # type: ignore[no-any-return]
        if isinstance(failure, arb) or is_symbol(failure):
            return cls(failure, 1 - failure)
        exact = rational(failure, name)
        if not 0 <= exact <= 1:
            raise InputError(f"{name} = {exact}: a number from 0 to 1 is needed")
        return cls(exact, 1 - exact)

    def over(self, domain: Domain) -> "Codeword":
        with domain.working():
            return Codeword(domain.convert(self.failure), domain.convert(self.success))

    @property
    def exact_bits(self) -> int | None:
        """Size of the exact failure probability in bits; None when it is not a known rational number."""
        if not isinstance(self.failure, fmpq):
            return None
        return int(self.failure.q).bit_length() - 1


class Decoding(Protocol):
    """Anything with a chance to be lost or decoded, over every domain: a :class:`Codeword` or a code."""

    def over(self, domain: Domain) -> Codeword: ...

    @property
    def exact_bits(self) -> int | None: ...


def next_vector(chance: Codeword, dependent: Any) -> Codeword:
    """Return the chance that all vectors are independent after one more uniform vector.

    ``chance`` is that of the vectors so far; given that they are independent, the new one lies in their span with
    probability ``dependent``.  The one recursion behind the random codes.
    """
    return Codeword(chance.failure + chance.success * dependent, chance.success * (1 - dependent))


@dataclass(frozen=True)
class RandomParityCheck:
    r"""Uniformly random parity-check matrix over GF(``field``), maximum-likelihood decoding.

    With r = n - bits rows, e erasures are decodable iff the e erased columns are independent,

    .. math:: c(0, r) = 1, \quad c(e+1, r) = c(e, r) (1 - 2^{e-r}), \quad c(e, r) = 0 \text{ for } e > r,

    as the next column lies in the span of e independent ones with probability 2^(e-r) (2 stands for ``field``).
    ``n`` and ``bits`` count symbols of the field; ``eps`` is the erasure probability of a symbol.
    With bits = 0 the failure probability is positive: the decoder does not know that nothing is sent.
    """

    n: int
    bits: int
    eps: Any
    field: int = 2
    family: ClassVar[str] = "rpc"

    def __post_init__(self) -> None:
        check_sizes(self)

    @property
    def redundancy(self) -> int:
        return self.n - self.bits

    def dependent(self, erasures: int, domain: Domain = QQ) -> Any:
        """Return the chance that the next erased column lies in the span of ``erasures`` independent ones."""
        return domain.convert(self.field) ** min(erasures - self.redundancy, 0)

    def chances(self, domain: Domain = QQ) -> list[Codeword]:
        """Return the chance of failure and success given e = 0..n erasures."""
        chance = Codeword(domain.convert(0), domain.convert(1))
        found = [chance]
        for e in range(self.n):
            chance = next_vector(chance, self.dependent(e, domain))
            found.append(chance)
        return found

    def over(self, domain: Domain) -> Codeword:
        return weigh(self, domain)

    @property
    def exact_bits(self) -> int | None:
        size = erasure_bits(self)
        return size if size in (None, 0) else size + self.redundancy**2 * self.field.bit_length() // 2


@dataclass(frozen=True)
class RandomGenerator:
    r"""Uniformly random generator matrix over GF(``field``), maximum-likelihood decoding.

    With s = n - e survivors, decodable iff the ``bits`` rows restricted to the survivors are independent,

    .. math:: c(0, s) = 1, \quad c(m+1, s) = c(m, s) (1 - 2^{m-s}), \quad c(m, s) = 0 \text{ for } m > s.

    The recursion runs over the bits; from s + 1 to s survivors
    c(m, s+1) - c(m, s) = c(m, s) 2^(-s-1) (2^m - 1) / (1 - 2^(m-1-s)), which is nonnegative.
    """

    n: int
    bits: int
    eps: Any
    field: int = 2
    family: ClassVar[str] = "rlg"

    def __post_init__(self) -> None:
        check_sizes(self)

    def dependent(self, bits: int, survivors: int, domain: Domain = QQ) -> Any:
        """Return the chance that the next row lies in the span of ``bits`` independent ones."""
        return domain.convert(self.field) ** min(bits - survivors, 0)

    def chances(self, domain: Domain = QQ) -> list[Codeword]:
        """Return the chance of failure and success given e = 0..n erasures."""
        n, m, one = self.n, self.bits, domain.convert(1)
        chance = Codeword(domain.convert(0), one)
        for i in range(m):
            chance = next_vector(chance, self.dependent(i, n, domain))
        found, size = [chance], domain.convert(self.field)
        words = size**m  # as many as there are messages
        for s in range(n - 1, m - 1, -1):  # one survivor fewer
            each = size ** (-s - 1)
            gone = each * (words - one)
            success = chance.success * (one - words * each) / (one - each)
            chance = Codeword(chance.failure + success * gone / (one - words * each), success)
            found.append(chance)
        return found + [Codeword(one, domain.convert(0))] * m

    def over(self, domain: Domain) -> Codeword:
        return weigh(self, domain)

    @property
    def exact_bits(self) -> int | None:
        size = erasure_bits(self)
        return size if size is None else size + self.n * self.bits * self.field.bit_length()


@dataclass(frozen=True)
class IdealErasure:
    """Ideal erasure-counting code: decodable iff at most n - bits symbols are erased.

    A lower bound on the failure probability of every code; attained by maximum distance separable codes, which for
    bits and 2 <= bits <= n - 2 do not exist.
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "mds"

    def __post_init__(self) -> None:
        check_sizes(self)

    def chances(self, domain: Domain = QQ) -> list[Codeword]:
        """Return the chance of failure and success given e = 0..n erasures: zero or one."""
        zero, one = domain.convert(0), domain.convert(1)
        return [Codeword(zero, one)] * (self.n - self.bits + 1) + [Codeword(one, zero)] * self.bits

    def over(self, domain: Domain) -> Codeword:
        return weigh(self, domain)

    @property
    def exact_bits(self) -> int | None:
        return erasure_bits(self)


class CountingCode(Protocol):
    """A code that only counts erasures."""

    @property
    def n(self) -> int: ...
    @property
    def eps(self) -> Any: ...
    def chances(self, domain: Domain = QQ) -> list[Codeword]: ...


def weigh(code: CountingCode, domain: Domain) -> Codeword:
    r"""Return failure and success of a codeword with i.i.d. erasures.

    .. math:: \sum_e \binom{n}{e} \varepsilon^e (1-\varepsilon)^{n-e} \, P(\text{lost or decoded} \mid e)

    Guarantee
    ---------
    Over balls both parts are sums of nonnegative terms: relative error about n units of the last bit.  Doubles are
    rounded from balls: a binomial coefficient may exceed every double.
    """
    if isinstance(domain, Floats):
        word = weigh(code, Balls(96))
        return Codeword(*(domain.convert(x.mid().fmpq()) for x in (word.failure, word.success)))
    with domain.working():
        failure = success = domain.convert(0)
        weights = erasure_law(code.n, code.eps, domain)
        for weight, chance in zip(weights, code.chances(domain), strict=True):
            failure = failure + weight * chance.failure
            success = success + weight * chance.success
        return Codeword(failure, success)


def erasure_law(n: int, eps: Any, domain: Domain) -> list[Any]:
    """Return the probabilities of e = 0..n erasures out of ``n``: binomial with erasure probability ``eps``."""
    lost, kept = ([domain.convert(1)] for _ in range(2))
    erased, survives = domain.convert(eps), domain.convert(1 - eps)
    for _ in range(n):
        lost.append(lost[-1] * erased)
        kept.append(kept[-1] * survives)
    law, choose = [], domain.convert(1)
    for e in range(n + 1):
        law.append(choose * lost[e] * kept[n - e])
        choose = choose * (n - e) / (e + 1)
    return law


def check_sizes(code: Any) -> None:
    """Refuse a code whose length, bits, field or erasure probability is not allowed; make eps exact."""
    n, bits, field = code.n, code.bits, getattr(code, "field", 2)
    if not isinstance(n, int) or not 1 <= n <= LONGEST:
        raise InputError(f"n = {n}: the length of a code is an integer from 1 to {LONGEST}; for more give p and d")
    if not isinstance(bits, int) or not 0 <= bits <= n:
        raise InputError(f"bits = {bits}: an integer from 0 to n = {n} is needed")
    if not isinstance(field, int) or field > LARGEST_FIELD:
        raise InputError(f"field = {field}: an integer from 2 to {LARGEST_FIELD} is needed")
    if not is_prime_power(field):
        raise InputError(f"field = {field}: the size of a finite field is a prime power such as 2, 3, 4, 256")
    object.__setattr__(code, "eps", probability(code.eps, "eps"))


def probability(x: Any, name: str) -> Any:
    """Return ``x`` as an exact probability; a symbol is kept, a number outside 0..1 is refused."""
    if is_symbol(x) or isinstance(x, arb):
        return x
    exact = rational(x, name)
    if not 0 <= exact <= 1:
        raise InputError(f"{name} = {exact}: a number from 0 to 1 is needed")
    return exact


def is_symbol(x: Any) -> bool:
    """Return whether ``x`` is an element of a field of rational functions."""
    return hasattr(x, "set_field")


def is_prime_power(q: int) -> bool:
    """Return whether a field with ``q`` elements exists."""
    return isinstance(q, int) and q >= 2 and len(fmpz(q).factor()) == 1


def erasure_bits(code: Any) -> int | None:
    """Return the size in bits of the exact binomial weights of a code; None when eps is a symbol or a ball."""
    if not isinstance(code.eps, fmpq):
        return None
    return 0 if code.eps.q == 1 else int(code.n * (int(code.eps.q) - 1).bit_length())
