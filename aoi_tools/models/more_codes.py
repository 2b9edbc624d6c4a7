"""More codes: repetition, and tables of given failure probabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar

from aoi_tools.models.codes import Codeword, check_sizes, erasure_bits, probability
from exactchains.domain import Domain
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
