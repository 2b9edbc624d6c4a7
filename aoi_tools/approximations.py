"""Approximations, always marked as estimates: the normal approximation of the best code's failure probability."""

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, ClassVar

from flint import arb

from aoi_tools.models.codes import Codeword, check_sizes
from exactchains.domain import Balls, Domain, Floats, Rigor
from exactchains.truth import InputError


@dataclass(frozen=True)
class Estimated(Balls):
    """Balls whose inputs are estimates: nothing is certain, but no estimate underflows."""

    rigor: ClassVar[Rigor] = Rigor.ESTIMATE


@dataclass(frozen=True)
class NormalApproximation:
    r"""Failure of the best code, approximately: Q((n C - bits) / sqrt(n V)), C = 1 - eps, V = eps (1 - eps).

    Guarantee
    ---------
    None: an estimate.  Only over ``Floats`` and ``Estimated``; results carry status ``estimate``.

    Source
    ------
    Polyanskiy, Poor and Verdu, IEEE Trans. Inf. Theory 56 (2010) 2307-2359, without the third-order term.
    """

    n: int
    bits: int
    eps: Any
    family: ClassVar[str] = "normal"
    estimate: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes(self)

    def over(self, domain: Domain) -> Codeword:
        if domain.rigor is not Rigor.ESTIMATE:
            raise InputError("code = normal is an approximation: it gives estimates only, over Floats")
        if isinstance(domain, Estimated):
            return self._estimated(domain)
        eps = Floats().convert(self.eps)
        spread = sqrt(self.n * eps * (1 - eps))
        if spread == 0:
            lost = float(self.bits > self.n * (1 - eps))
            return Codeword(lost, 1.0 - lost)
        z = (self.n * (1 - eps) - self.bits) / spread / sqrt(2)
        return Codeword(erfc(z) / 2, erfc(-z) / 2)

    def _estimated(self, domain: Estimated) -> Codeword:
        with domain.working():
            mean, spread = domain.convert(self.n * (1 - self.eps)), domain.convert(self.n * self.eps * (1 - self.eps))
            if spread == 0:
                lost = arb(int(mean < self.bits))
                return Codeword(lost, 1 - lost)
            z = (mean - self.bits) / (2 * spread).sqrt()
            return Codeword(z.erfc() / 2, (-z).erfc() / 2)

    @property
    def exact_bits(self) -> int | None:
        return None
