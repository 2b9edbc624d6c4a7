"""Slot-age laws in closed form, over every domain; no form divides by d or subtracts nearly equal numbers."""

from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import Any

from aoi_tools.models.codes import Codeword
from aoi_tools.models.law import SlotLaw, working
from aoi_tools.models.schemes import Actual, Delayed, Feedback, Generalised, Lossy, Periodic
from exactchains.domain import QQ, Domain
from exactchains.truth import DoesNotExist, Truth

NO_LAW = "no age law exists: every actual update is lost (p = 1), the age grows without bound; give p < 1"


@dataclass(frozen=True)
class ModifiedGeometric(SlotLaw):
    r"""The law when a success is followed by a failure with probability x, and a failure by one with p.

    Gaps: P(Z = 1) = 1 - x and P(Z = z) = x p^(z-2) a for z >= 2 with a = 1 - p, so E Z = 1 + x/a = (a + x)/a.
    From P(J = j) = P(Z > j)/E Z:

    .. math::
        P(J = 0) = \frac{a}{a+x}, \quad P(J = j) = \frac{a x p^{j-1}}{a+x} \ (j \ge 1), \quad
        P(J > j) = \frac{x p^j}{a+x}.

    Summing C(j+r-1, r-1) P(J > j): E C(J+r-1, r) = x/(a^r (a+x)), so E J = x/(a(a+x)).  With u = x/(a+x),
    Var J = u (p + a/(a+x))/a^2, a product of nonnegative numbers.

    Actual updates have x = p, feedback x = d, generalised x = alpha d + (1-alpha) p, lossy feedback
    x = (1-f) d + f p.
    """

    after_success: Codeword
    after_failure: Codeword
    domain: Domain = field(default=QQ)

    def __post_init__(self) -> None:
        if self.domain.equal(self.after_failure.success, self.domain.convert(0)) is Truth.TRUE:
            raise DoesNotExist(NO_LAW)

    @property
    def _both(self) -> Any:
        return self.after_failure.success + self.after_success.failure

    @working
    def pmf(self, j: int) -> Any:
        if j == 0:
            return self.after_failure.success / self._both
        p, a = self.after_failure.failure, self.after_failure.success
        return a * self.after_success.failure * p ** (j - 1) / self._both

    @working
    def ccdf(self, j: int) -> Any:
        return self.after_success.failure * self.after_failure.failure**j / self._both

    @working
    def rising_moment(self, r: int) -> Any:
        return self.after_success.failure / (self.after_failure.success**r * self._both)

    @working
    def variance(self) -> Any:
        p, a = self.after_failure.failure, self.after_failure.success
        return self.after_success.failure * (p + a / self._both) / (a * a * self._both)

    @working
    def gap_pmf(self, z: int) -> Any:
        if z == 1:
            return self.after_success.success
        p, a = self.after_failure.failure, self.after_failure.success
        return self.after_success.failure * p ** (z - 2) * a


@dataclass(frozen=True)
class PeriodicLaw(SlotLaw):
    r"""The law of one actual update followed by q chained differentials, L = q + 1 positions.

    Position i is usable with probability c_i = a b^i and not usable with u_i = 1 - c_i; u_0 = p and
    u_{i+1} = u_i + c_i d are sums.  J_i, the slot age at position i, is J_{i-1} + 1 unless position i is usable,
    and for i >= 1 usable forces J_{i-1} = 0.  Hence t_i(r) = E C(J_i + r - 1, r), with t_i(0) read as u_i, obeys by
    Pascal's rule

    .. math::
        t_i(r) = t_{i-1}(r) + t_i(r-1) \ (i \ge 1), \qquad t_0(r) = p\, t_{L-1}(r) + t_0(r-1),

    so t_0(r) = (p (t_1(r-1) + ... + t_{L-1}(r-1)) + t_0(r-1))/a; t_i(1) is E J_i and t_i(2) is E J_i(J_i+1)/2.  The
    law of J is the mean over the positions.  No step divides by d, so d = 0 is no special case.

    P(J_i = j): for j <= i the last usable position is i - j and i - j + 1 fails, probability c_{i-j} d (c_i at
    j = 0).  For j = i + 1 + r L + t with 0 <= t < L, the actual updates of this and the r periods before fail and
    the period before those ends its run at l = L - 1 - t: p^(r+1) w_l with w_l = c_l d for l < L - 1 and
    w_{L-1} = c_{L-1}.  Likewise P(J_i >= j) = u_{i-j+1} for 1 <= j <= i + 1, and p^(r+1) u_{L-t} for
    j = i + 1 + r L + t with 1 <= t <= L.
    """

    actual: Codeword
    differential: Codeword
    period: int
    domain: Domain = field(default=QQ)

    def __post_init__(self) -> None:
        if self.domain.equal(self.actual.success, self.domain.convert(0)) is Truth.TRUE:
            raise DoesNotExist(NO_LAW)

    @cached_property
    def _usable(self) -> tuple[list[Any], list[Any]]:
        """c_i and u_i for i = 0..L-1."""
        usable, useless = [self.actual.success], [self.actual.failure]
        for _ in range(self.period - 1):
            useless.append(useless[-1] + usable[-1] * self.differential.failure)
            usable.append(usable[-1] * self.differential.success)
        return usable, useless

    @working
    def pmf(self, j: int) -> Any:
        return sum((self._position_pmf(i, j) for i in range(self.period)), self.domain.convert(0)) / self.period

    @working
    def ccdf(self, j: int) -> Any:
        total = self.domain.convert(0)
        for i in range(self.period):
            if j <= i:
                total = total + self._usable[1][i - j]
            else:
                rounds, t = divmod(j - i - 1, self.period)
                total = total + self.actual.failure ** (rounds + 1) * self._usable[1][self.period - 1 - t]
        return total / self.period

    @working
    def rising_moment(self, r: int) -> Any:
        p, a, zero = self.actual.failure, self.actual.success, self.domain.convert(0)
        level = self._usable[1]
        for _ in range(r):
            after = [(p * sum(level[1:], zero) + level[0]) / a]
            for t in level[1:]:
                after.append(after[-1] + t)
            level = after
        return sum(level, zero) / self.period

    @working
    def gap_pmf(self, z: int) -> Any:
        """Per period: one gap of 1 at each usable position i >= 1, and one gap J_{L-1} + 1 if position 0 is usable."""
        usable = self._usable[0]
        count = self.actual.success * self._position_pmf(self.period - 1, z - 1)
        if z == 1:
            count = count + sum(usable[1:], self.domain.convert(0))
        return count / sum(usable, self.domain.convert(0))

    def _position_pmf(self, i: int, j: int) -> Any:
        usable = self._usable[0]
        if j == 0:
            return usable[i]
        if j <= i:
            return usable[i - j] * self.differential.failure
        rounds, t = divmod(j - i - 1, self.period)
        ended = usable[self.period - 1 - t]
        if t:
            ended = ended * self.differential.failure
        return self.actual.failure ** (rounds + 1) * ended


@dataclass(frozen=True)
class LaggedLaw(SlotLaw):
    r"""The law of feedback that is late: C interleaved, independent chains of feedback outcomes.

    Each chain fails with stationary probability phi = x/(a+x), x = d.  The last j outcomes belong to j different
    chains for j <= C, and every further one follows a failure of its own chain:

    .. math:: P(J \ge j) = \varphi^{\min(j, C)} p^{(j-C)^+}.

    E C(J+r-1, r) is the sum of C(j+r-2, r-1) P(J >= j): the terms j <= C, and phi^C p G_{r-1} with
    G_s = sum_i C(M+i, s) p^i, M = C+r-1, that is G_0 = 1/a and G_s = (C(M, s) + p G_{s-1})/a.  So
    E J = phi + ... + phi^C + phi^C p/a.  After a success only slot C of the gap follows it:
    P(Z = z) = phi^(z-1) (1-phi) for z < C, phi^(C-1) (1-x) for z = C, phi^(C-1) x p^(z-1-C) a beyond.
    """

    after_success: Codeword
    after_failure: Codeword
    lag: int
    domain: Domain = field(default=QQ)

    def __post_init__(self) -> None:
        if self.domain.equal(self.after_failure.success, self.domain.convert(0)) is Truth.TRUE:
            raise DoesNotExist(NO_LAW)
        never = (self.after_failure.failure, self.after_success.success)
        if self.lag > 1 and all(self.domain.equal(x, self.domain.convert(0)) is Truth.TRUE for x in never):
            raise DoesNotExist("no unique age law exists: p = 0 and d = 1 alternate in each of the interleaved chains")

    @property
    def _chain(self) -> tuple[Any, Any]:
        both = self.after_failure.success + self.after_success.failure
        return self.after_success.failure / both, self.after_failure.success / both

    @working
    def pmf(self, j: int) -> Any:
        phi, kept = self._chain
        if j < self.lag:
            return phi**j * kept
        return phi**self.lag * self.after_failure.failure ** (j - self.lag) * self.after_failure.success

    @working
    def ccdf(self, j: int) -> Any:
        return self._chain[0] ** min(j + 1, self.lag) * self.after_failure.failure ** max(j + 1 - self.lag, 0)

    @working
    def rising_moment(self, r: int) -> Any:
        phi, p, a = self._chain[0], self.after_failure.failure, self.after_failure.success
        total, rest, top = self.domain.convert(0), 1 / a, self.lag + r - 1
        for j in range(1, self.lag + 1):
            total = total + comb(j + r - 2, r - 1) * phi**j
        for s in range(1, r):
            rest = (comb(top, s) + p * rest) / a
        return total + phi**self.lag * p * rest

    @working
    def gap_pmf(self, z: int) -> Any:
        phi, kept = self._chain
        if z < self.lag:
            return phi ** (z - 1) * kept
        if z == self.lag:
            return phi ** (z - 1) * self.after_success.success
        p, a = self.after_failure.failure, self.after_failure.success
        return phi ** (self.lag - 1) * self.after_success.failure * p ** (z - 1 - self.lag) * a


def closed_form(scheme: Any, domain: Domain = QQ) -> SlotLaw | None:
    """Return the slot-age law of ``scheme`` in closed form over ``domain``; None when there is no form for it.

    Raises
    ------
    DoesNotExist
        Every actual update is lost.
    """
    with domain.working():
        if isinstance(scheme, Periodic):
            return PeriodicLaw(scheme.actual.over(domain), scheme.differential.over(domain), scheme.period, domain)
        if isinstance(scheme, Actual):
            word = scheme.actual.over(domain)
            return ModifiedGeometric(word, word, domain)
        if isinstance(scheme, Feedback):
            return ModifiedGeometric(scheme.differential.over(domain), scheme.actual.over(domain), domain)
        if isinstance(scheme, Delayed):
            return LaggedLaw(scheme.differential.over(domain), scheme.actual.over(domain), scheme.lag, domain)
        if isinstance(scheme, Generalised | Lossy):
            return ModifiedGeometric(scheme.after_success(domain), scheme.actual.over(domain), domain)
    return None


def periodic_mean_age(p: Any, d: Any, q: int, *, actual: int, differential: int, domain: Domain = QQ) -> Any:
    r"""Return the mean age at every channel use of one actual codeword, then ``q`` differentials of another length.

    With m = ``actual`` and k = ``differential`` uses a period lasts T = m + q k.  From one decoded actual codeword to
    the next there are G periods, P(G = g) = (1-p) p^(g-1), and K = 0..q differentials decoded in a row, P(K >= i) =
    (1-d)^i, independent of G.  An update of length l that is followed by the next after g uses adds
    g l + g (g-1)/2 to the sum of the ages.  The gaps are k, K times, then G T - K k; the first update has length m,
    the others k:

    .. math::
        E A = \frac{1}{T\,E G} E\Bigl[\sum_{i=1}^{K} \bigl(k\,l_i + \tfrac{k(k-1)}2\bigr)
        + g\,l + \tfrac{g(g-1)}2\Bigr], \quad g = G T - K k .

    Examples
    --------
    >>> periodic_mean_age(0, 0, 1, actual=2, differential=1)
    5/3
    """
    p, d = domain.convert(p), domain.convert(d)
    period, periods, square = actual + q * differential, 1 / (1 - p), (1 + p) / (1 - p) ** 2
    total = domain.convert(0)
    for run in range(q + 1):
        chance = (1 - d) ** run * (d if run < q else 1)
        spent, last = run * differential, differential if run else actual
        short = run * (differential * differential + differential * (differential - 1) // 2)
        carried = short + (actual - differential) * differential * bool(run)
        gap = period * periods - spent
        gap_square = period**2 * square - 2 * period * spent * periods + spent**2
        total = total + chance * (carried + gap * last + (gap_square - gap) / 2)
    return total / (period * periods)
