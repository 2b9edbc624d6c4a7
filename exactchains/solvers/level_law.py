"""Laws of level chains: ``level_law(chain, digits=15)`` returns certified probabilities, moments and the decay rate.

``level_law(chain, *, digits=15) -> LevelLaw`` with ``.level(n)`` (one enclosure a phase), ``.levels(count)``,
``.tail(n)`` = P(level >= n), ``.mean_level``, ``.moment(k)``, ``.decay``, ``.phases``, ``.rates`` (a
:class:`~exactchains.solvers.matrix_geometric.RateMatrix`), ``.certificate``.  Chains without a law raise DoesNotExist.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import flint

from exactchains.enclosure import Enclosure
from exactchains.level_chain import LevelChain
from exactchains.solvers.level_decay import decay_rate
from exactchains.solvers.level_summation import Summation
from exactchains.solvers.matrix_geometric import MAX_DIGITS, RateMatrix, rate_matrix
from exactchains.solvers.threads import one_thread
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided, expect

ATTEMPTS = 8
SPREAD = 100  # digits beyond four times those of the law that a certificate may cost


@dataclass
class LevelLaw:
    """The stationary law of a level chain; every number is an enclosure with the digits asked for.

    Digits are relative, entry by entry, also for levels far out.  Levels are those of the chain as it was given:
    a chain whose levels were merged reports the original ones.
    """

    chain: LevelChain
    digits: int
    _working: int = field(default=0, repr=False)
    _sums: Summation | None = field(default=None, repr=False)
    _rates: RateMatrix | None = field(default=None, repr=False)

    @property
    def rates(self) -> RateMatrix:
        """G and R, with at least the digits of the law."""
        return self.summation().rates

    def summation(self) -> Summation:
        """Return the parts of the law at the present working precision."""
        return self._summation(max(self._working, self.digits + 4))

    def level(self, n: int) -> list[Enclosure]:
        """Return P(level = n, phase) for every phase of that level."""
        if n < 0:
            raise InputError(f"level {n}: levels are 0, 1, 2, ..")
        return self._certain(lambda sums: sums.level(n))

    def levels(self, count: int) -> list[list[Enclosure]]:
        """Return the first ``count`` levels."""
        return [self.level(n) for n in range(count)]

    def tail(self, n: int) -> Enclosure:
        """Return P(level >= n)."""
        return self._certain(lambda sums: [sums.tail(n)])[0]

    def moment(self, order: int) -> Enclosure:
        """Return E[level^order]."""
        if not 0 <= order <= 60:
            raise InputError(f"order = {order}: moments of order 0 to 60 are available")
        return self._certain(lambda sums: [sums.moment(order)])[0]

    @cached_property
    def mean_level(self) -> Enclosure:
        return self.moment(1)

    @cached_property
    def variance(self) -> Enclosure:
        return self._certain(lambda sums: [sums.moment(2) - sums.moment(1) ** 2])[0]

    @cached_property
    def phases(self) -> list[Enclosure]:
        """P(level >= first repeating level, phase): the marginal of the phase over the repeating levels."""
        return self._certain(lambda sums: sums.phases())

    @cached_property
    def decay(self) -> Enclosure:
        """The rate eta at which the levels decay, P(level = n) ~ eta^n: the spectral radius of R that is reached."""
        return self._certain(lambda sums: [decay_rate(sums)])[0]

    @cached_property
    def certificate(self) -> dict[str, Any] | None:
        """A certificate of kind *level-law* for the first levels, the mean and the decay.

        None where the law is spread too far for integers of one size.
        """
        from exactchains.solvers.law_certificate import law_certificate

        for _ in range(ATTEMPTS):
            try:
                return law_certificate(self, digits=self.digits)
            except (Undecided, ZeroDivisionError):  # the law is spread too far for integers of this size
                working = 2 * max(self._working, self.digits + 4)
                if working > min(4 * self.digits + SPREAD, MAX_DIGITS):
                    break
                self._summation(working)
        try:
            return law_certificate(self, digits=0)
        except (Undecided, ZeroDivisionError):
            return None

    def _certain(self, quantity: Callable[[Summation], list[Any]]) -> list[Enclosure]:
        """Return enclosures with the digits of the law, with more working digits where they are needed."""
        working, reached = max(self._working, self.digits + 4), 0
        for _ in range(ATTEMPTS):
            if working > MAX_DIGITS:
                break
            try:
                sums = self._summation(working)
                with flint.ctx.workprec(sums.prec):
                    found = [_enclosure(x) for x in quantity(sums)]
            except (Undecided, ZeroDivisionError):  # not provably regular at this precision
                working *= 2
                continue
            reached = min((self.digits if x.certain_digits is None else x.certain_digits for x in found), default=0)
            if reached >= self.digits or not found:
                return found
            working += max(4, self.digits - reached + 3) if reached else working
        raise PrecisionExhausted(f"could not certify {self.digits} digits: {reached}; ask for fewer digits")

    def _summation(self, working: int) -> Summation:
        if self._sums is None or working > self._working:
            rates = self._rates
            if rates is None or (rates.certain_digits or working) < working:
                rates = self._rates = rate_matrix(self.chain, digits=working)
            if rates.status != "recurrent":
                raise DoesNotExist(
                    f"{_unsettled(rates)} {rates.status}: its level does not settle, there is no stationary law"
                )
            prec = math.ceil(3.33 * working) + 96 + self.chain.phases
            with flint.ctx.workprec(prec):
                self._sums = Summation(self.chain, rates, prec)
            self._working = working
        return self._sums


@one_thread
def level_law(chain: LevelChain, *, digits: int = 15) -> LevelLaw:
    r"""Return the stationary law of a level chain, matrix-geometric beyond level 0:

    .. math:: \pi_1 = \pi_0\, U\, (-(local + up\,G))^{-1}, \qquad \pi_{n+1} = \pi_n R ,

    with U the block from level 0 to level 1 and :math:`\pi_0` the law of the chain watched on level 0 only.

    Parameters
    ----------
    chain
        Level chain with exact entries and with ``boundary_local``.
    digits
        Certain significant digits of every number that is read off the law.

    Guarantee
    ---------
    Every value lies in its enclosure; the law is the only stationary one.

    Raises
    ------
    DoesNotExist
        The chain is transient or null recurrent, or it has several recurrent classes.
    PrecisionExhausted
        The digits were not reached.
    """
    expect(chain, LevelChain)
    if chain.boundary_local is None:
        raise InputError("boundary_local is missing: a law needs the blocks of level 0; give boundary_local")
    if not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= MAX_DIGITS:
        raise InputError(f"digits = {digits!r}: give an integer from 1 to {MAX_DIGITS}")
    law = LevelLaw(chain, digits)
    law.level(0)
    return law


def _unsettled(rates: RateMatrix) -> str:
    """Return "the chain is", or the closed class of phases whose level does not settle."""
    members = rates.drift.members
    if len(members) == rates.chain.phases:
        return "the chain is"
    named = ", ".join(map(str, members[:8])) + (", .." if len(members) > 8 else "")
    kind = "phase" if len(members) == 1 else "phases"
    return f"the class of {kind} {named} (of {rates.chain.phases}) is never left and is"


def _enclosure(x: Any) -> Enclosure:
    """Return the enclosure of a number; a ball without radius is exact."""
    found = Enclosure.of(x)
    return Enclosure.exact(found.lower) if found.lower == found.upper else found
