"""Ages in continuous time: moments by series, tails by a certified matrix exponential or explicit sums."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_poly, fmpz_poly

from aoi_tools.models.queues import Deterministic, Discipline, ExponentialFirstCome, Law, PoissonFirstCome, over, stable
from exactchains.domain import QQ, Balls, Domain
from exactchains.series import Series
from exactchains.truth import InputError, Undecided

TERMS = 7
FARTHEST = 1_000_000  # mean times between informative updates up to which a tail is evaluated
MOST_PHASES = 20  # of an Erlang service whose tail is evaluated
MOST_SERVICES = 10_000  # terms of an alternating sum


@dataclass(frozen=True)
class AgeMoments:
    """Mean and variance of the age and of its peak, mean sojourn of informative updates; units of time."""

    age_mean: Any
    age_variance: Any
    peak_mean: Any
    peak_variance: Any
    sojourn_mean: Any
    rate: Any


def age_moments(discipline: Discipline, domain: Domain) -> AgeMoments:
    """Return the moments of the age over ``domain``; exact and symbolic domains need rational transforms.

    Examples
    --------
    >>> from aoi_tools.models.queues import Erlang, PoissonFirstCome
    >>> from exactchains import QQ
    >>> age_moments(PoissonFirstCome("1/2", Erlang(1)), QQ).age_mean
    7/2
    """
    with domain.working():
        s = Series.variable(TERMS, domain.convert(1))
        d, peak = discipline.transforms(s, domain)
        rate = discipline.rate(domain)
        age = over(d - peak, s) * rate
        return AgeMoments(-age[1], 2 * age[2] - age[1] * age[1], -peak[1], 2 * peak[2] - peak[1] * peak[1], -d[1], rate)


def sojourn_rate(arrivals: Law, mu: Any, domain: Balls) -> arb:
    r"""Return eta = mu (1 - sigma) of G/M/1, sigma in (0, 1) the root of f(x) = g(mu (1 - x)) - x.

    f is convex with f(0) > 0 and f(1) = 0, and negative between sigma and 1 exactly when the queue is stable: signs
    f(a) > 0 > f(b) enclose sigma.

    Raises
    ------
    DoesNotExist
        The load is 1 or more.
    Undecided
        The signs were not certain at this precision.
    """
    stable(1 / arrivals.mean(QQ), 1 / fmpq(mu) if not isinstance(mu, fmpq) else 1 / mu)
    with domain.working():
        rate = domain.convert(mu)

        def f(x: arb) -> arb:
            return arb(arrivals.transform((1 - x) * rate, domain) - x)

        low, high = _shrunk(f, 3 * domain.prec)
        if not high < 1:
            raise Undecided("the root of the G/M/1 queue was not isolated; raise the precision")
        return rate * (1 - low.union(high))


def _shrunk(f: Callable[[arb], arb], steps: int) -> tuple[arb, arb]:
    """Shrink [0, 1] to a root between f > 0 and f < 0 until no tried point has a certain sign."""
    low, high = arb(0), arb(1)
    for _ in range(steps):
        for part in (arb(8), arb(5), arb(11)):  # the middle may be the root itself
            point = (low + (high - low) * part / 16).mid()
            sign = f(point)
            if sign > 0 or sign < 0:
                low, high = (point, high) if sign > 0 else (low, point)
                break
        else:
            break
    return low, high


def gm1(arrivals: Law, mu: Any, domain: Balls) -> ExponentialFirstCome:
    """Return the G/M/1 discipline with its certified root."""
    return ExponentialFirstCome(arrivals, mu, sojourn_rate(arrivals, mu, domain))


def age_tail(discipline: Discipline, x: fmpq, domain: Balls) -> arb:
    """Return P(A > x): from a rational transform, or explicitly for M/D/1 and D/M/1.

    Raises
    ------
    InputError
        The law of this discipline is not available: its transform is not rational.
    """
    if x <= 0:  # the age is positive, except at the moments of instantaneous deliveries
        return domain.convert(1)
    with domain.working():
        if discipline.rate(domain) * domain.convert(x) > FARTHEST:
            raise InputError(f"at = {x}: at most {FARTHEST} mean times between informative updates")
    if discipline.rational:
        return _rational_tail(discipline, x, domain)
    if isinstance(discipline, PoissonFirstCome) and isinstance(discipline.service, Deterministic):
        return _deterministic_service_tail(discipline, x, domain)
    if isinstance(discipline, ExponentialFirstCome) and isinstance(discipline.arrivals, Deterministic):
        return _deterministic_arrivals_tail(discipline, x, domain)
    raise InputError(
        "age_ccdf: available with Poisson arrivals for exponential, Erlang and hyperexponential service and for md1,"
        " with general arrivals for constant interarrival times (dm1) only; ask for age_mean, age_variance or peak_mean"
    )


def _rational_tail(discipline: Discipline, x: fmpq, domain: Balls) -> arb:
    """The transform (1 - a(s))/s = N(s)/D(s) of the tail is realised as c e^{Mx} e_n, M the companion matrix of D.

    Evaluated as e^{-rx} c e^{(M + r)x} e_n with -r close to the root of D with the largest real part: the second factor
    grows like a power of x, so a far tail keeps its digits.
    """
    if (phases := getattr(getattr(discipline, "service", None), "phases", 1)) > MOST_PHASES:
        raise InputError(f"phases = {phases}: age_ccdf takes Erlang laws of at most {MOST_PHASES} phases")
    from exactchains.symbolic import Fractions  # here, as it loads sympy: half a second

    F = Fractions("s")
    s = F["s"]
    d, peak = discipline.transforms(s, F)
    tail = (1 - discipline.rate(F) * (d - peak) / s) / s
    top, bottom = (
        [fmpq(int(c.numerator), int(c.denominator)) for c in _dense(part)] for part in (tail.numer, tail.denom)
    )
    n = len(bottom) - 1
    with domain.working():
        lead = bottom[-1]
        rows = [[arb(int(j == i + 1)) for j in range(n)] for i in range(n - 1)]
        rows.append([arb(-c / lead) for c in bottom[:n]])
        rate = _slowest(bottom, x)
        for i in range(n):
            rows[i][i] += arb(rate)
        grown = (arb_mat(rows) * arb(x)).exp()
        return arb(-rate * x).exp() * sum((arb(c / lead) * grown[i, n - 1] for i, c in enumerate(top)), arb(0))


def _slowest(bottom: list[fmpq], x: fmpq) -> fmpq:
    """Return an exact number close to the slowest rate of decay: minus the largest real part of a root."""
    whole = fmpq_poly(bottom)
    with Balls(64 + int(x.ceil()).bit_length()).working():
        roots = [root.real for root, _ in fmpz_poly([int(c) for c in whole.numer().coeffs()]).complex_roots()]
        return -max(root.mid().fmpq() for root in roots)


def _dense(poly: Any) -> list[Any]:
    terms = dict(poly.terms())
    return [terms.get((k,), 0 * poly.LC) for k in range(max(e for (e,) in terms) + 1)]


def _deterministic_service_tail(discipline: PoissonFirstCome, x: fmpq, domain: Balls) -> arb:
    r"""M/D/1: P(A > x) = 1 - F_W(w) (1 - e^{-lam w}) with w = x - T, for w >= 0; else 1.

    A <= x iff an update that arrived in the x before now has left.  With F_D(y) = F_W(y - T) and
    F_peak(y) = F_W(y - 2T)(1 - e^{-lam (y-T)}), P(A <= x) is lam times the integral over [0, x] of F_D - F_peak, which
    F_W' = lam (F_W(u) - F_W(u - T)) integrates.  With v = k T - w,
    F_W(w) = (1-rho) \sum_{k <= w/T} e^{-lam v} (lam v)^k / k!, an alternating sum.
    """
    time, lam = discipline.service.time, discipline.lam  # type: ignore[attr-defined]
    w = x - time
    if w <= 0:
        return domain.convert(1)
    last = int((w / time).floor())
    if last > MOST_SERVICES:
        raise InputError(f"at = {x}: at most {MOST_SERVICES + 1} service times, {(MOST_SERVICES + 1) * time}")
    with domain.working():
        total, factorial = domain.convert(0), domain.convert(1)
        step, decay = domain.convert(-lam * time).exp(), domain.convert(lam * w).exp()
        for k in range(last + 1):
            total = total + decay * domain.convert(lam * (k * time - w)) ** k / factorial
            decay, factorial = decay * step, factorial * (k + 1)
        waits = domain.convert(1 - lam * time) * total
        return 1 - waits * (1 - domain.convert(-lam * w).exp())


def _deterministic_arrivals_tail(discipline: ExponentialFirstCome, x: fmpq, domain: Balls) -> arb:
    """D/M/1 with period T: the peak is T + (D - T)^+ + S.

    P(A > x) = lam times the integral over [x, inf) of P(peak > y) - P(D > y).  For y <= T: P(peak > y) = 1.  Beyond,
    with z = y - T and D - T exponential (eta) with probability q = e^{-eta T}:
    P(peak > y) = (1 - q) e^{-mu z} + q (mu e^{-eta z} - eta e^{-mu z})/(mu - eta).
    """
    time = discipline.arrivals.time  # type: ignore[attr-defined]
    with domain.working():
        eta, mu, period = (domain.convert(y) for y in (discipline.eta, discipline.mu, time))
        q, z = (-eta * period).exp(), domain.convert(max(x - time, fmpq(0)))
        fast, slow = (-mu * z).exp(), (-eta * z).exp()
        beyond = (1 - q) * fast / mu + q * (mu * slow / eta - eta * fast / mu) / (mu - eta)
        before = domain.convert(max(time - x, fmpq(0)))
        return (beyond + before - (-eta * domain.convert(x)).exp() / eta) / period
