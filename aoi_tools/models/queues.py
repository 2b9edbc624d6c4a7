"""Status updates through one server in continuous time: interarrival and service laws, and disciplines by transforms.

The age rises at rate 1 from the sojourn time D of one informative update to the peak before the next, so with R
informative updates per unit of time

    E e^{-sA} = R (d(s) - peak(s)) / s,    d(s) = E e^{-sD},  peak(s) = E e^{-s peak}.

Every discipline gives R, d(s) and peak(s) as functions of s that run over rational functions (the law), over
truncated series (moments), exact or in balls.  Source of the identity: Inoue, Masuyama, Takine and Tanaka, IEEE
Trans. Inf. Theory 65 (2019) 8305-8324.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from exactchains.domain import Domain, rational
from exactchains.series import Series
from exactchains.truth import DoesNotExist, InputError

MOST_PHASES = 1_000


class Law(Protocol):
    """A law of a positive time; ``rational`` ones have a rational transform."""

    @property
    def rational(self) -> bool: ...
    def mean(self, domain: Domain) -> Any: ...
    def transform(self, s: Any, domain: Domain) -> Any:
        """Return E e^{-s X} for a series, a field element or a number s."""
        ...


@dataclass(frozen=True)
class Erlang:
    """Sum of ``phases`` exponential times of ``rate`` each; one phase is exponential."""

    rate: Any
    phases: int = 1
    rational = True

    def __post_init__(self) -> None:
        _positive(self, "rate")
        if not isinstance(self.phases, int) or not 1 <= self.phases <= MOST_PHASES:
            raise InputError(f"phases = {self.phases}: an integer from 1 to {MOST_PHASES} is needed")

    def mean(self, domain: Domain) -> Any:
        return self.phases / domain.convert(self.rate)

    def transform(self, s: Any, domain: Domain) -> Any:
        return (1 / (1 + s / domain.convert(self.rate))) ** self.phases


@dataclass(frozen=True)
class Deterministic:
    """A constant ``time``."""

    time: Any
    rational = False

    def __post_init__(self) -> None:
        _positive(self, "time")

    def mean(self, domain: Domain) -> Any:
        return domain.convert(self.time)

    def transform(self, s: Any, domain: Domain) -> Any:
        return (s * (-domain.convert(self.time))).exp()


@dataclass(frozen=True)
class Mixture:
    """One of ``parts`` with its probability: hyperexponential laws, laws on finitely many values."""

    parts: tuple[tuple[Any, Law], ...]

    def __post_init__(self) -> None:
        weights = [rational(w, "weight") for w, _ in self.parts]
        if any(w < 0 for w in weights) or sum(weights) != 1:
            raise InputError("mixture: weights are probabilities that sum to 1")
        object.__setattr__(self, "parts", tuple((w, law) for w, (_, law) in zip(weights, self.parts, strict=True)))

    @property
    def rational(self) -> bool:
        return all(law.rational for _, law in self.parts)

    def mean(self, domain: Domain) -> Any:
        return sum((domain.convert(w) * law.mean(domain) for w, law in self.parts), domain.convert(0))

    def transform(self, s: Any, domain: Domain) -> Any:
        first, *rest = [law.transform(s, domain) * domain.convert(w) for w, law in self.parts]
        return sum(rest, first)


class Discipline(Protocol):
    """How updates are served; see the module's identity."""

    @property
    def rational(self) -> bool: ...
    def rate(self, domain: Domain) -> Any: ...
    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        """Return (d(s), peak(s))."""
        ...


@dataclass(frozen=True)
class PoissonFed:
    """What the disciplines with Poisson arrivals at rate ``lam`` and any ``service`` share."""

    lam: Any
    service: Law

    def __post_init__(self) -> None:
        _positive(self, "lam")

    @property
    def rational(self) -> bool:
        return self.service.rational


@dataclass(frozen=True)
class PoissonFirstCome(PoissonFed):
    r"""M/G/1, first come first served.

    The sojourn time has d(s) = (1-rho) b(s) / (1 - lam (1 - b(s))/s).  The peak is max(D, G) + S with D the sojourn of
    the update before, G exponential with rate lam, S a service: E e^{-s max(D, G)} = d(s) - s d(s+lam)/(s+lam).
    """

    def rate(self, domain: Domain) -> Any:
        return domain.convert(self.lam)

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        lam, b = domain.convert(self.lam), self.service.transform(s, domain)
        idle = 1 - lam * self.service.mean(domain)
        shifted = self.service.transform(s + lam, domain)
        d = idle * b / (1 - lam * over(1 - b, s))
        later = idle * (shifted * (s + lam)) / (s + shifted * lam)
        return d, (d - s * later / (s + lam)) * b


@dataclass(frozen=True)
class ExponentialFirstCome:
    r"""G/M/1, first come first served: the sojourn time is exponential with rate eta = mu (1 - sigma).

    sigma in (0, 1) solves sigma = g(mu (1 - sigma)); the caller gives its enclosure.  The peak is max(D, G) + S with
    E e^{-s max(D, G)} = g(s) - s g(s+eta)/(s+eta).
    """

    arrivals: Law
    mu: Any
    eta: Any
    rational = False

    def rate(self, domain: Domain) -> Any:
        return 1 / self.arrivals.mean(domain)

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        mu, eta = domain.convert(self.mu), domain.convert(self.eta)
        larger = self.arrivals.transform(s, domain) - s * self.arrivals.transform(s + eta, domain) / (s + eta)
        return 1 / (1 + s / eta), larger / (1 + s / mu)


@dataclass(frozen=True)
class Blocking(PoissonFed):
    """M/G/1/1: an update that finds the server busy is lost.  D = S, peak = S + idle time + S'."""

    def rate(self, domain: Domain) -> Any:
        return 1 / (1 / domain.convert(self.lam) + self.service.mean(domain))

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        lam, b = domain.convert(self.lam), self.service.transform(s, domain)
        return b, b * b * (lam / (s + lam))


@dataclass(frozen=True)
class Preemptive(PoissonFed):
    """M/G/1/1 with preemption: a new update replaces the one in service (last come first served, preemptive).

    D is a service shorter than the time to the next arrival, d(s) = b(s+lam)/b(lam); after a delivery comes an idle
    time and services until one is not interrupted, h(s) = b(s+lam) / (1 - lam/(lam+s) (1 - b(s+lam))).
    """

    def rate(self, domain: Domain) -> Any:
        lam = domain.convert(self.lam)
        return lam * self.service.transform(lam, domain)

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        lam = domain.convert(self.lam)
        done = self.service.transform(s + lam, domain)
        until = done / (1 - (lam / (s + lam)) * (1 - done))
        d = done / self.service.transform(lam, domain)
        return d, d * until * (lam / (s + lam))


@dataclass(frozen=True)
class Replacement(PoissonFed):
    """M/G/1/2*: one waiting place, a new update replaces the waiting one; service is not interrupted.

    D = W + S with w(s) = b(lam) + lam (1 - b(s+lam))/(s+lam): W is the time since the last arrival in the service
    before, 0 if there was none.  The peak adds S, and an idle time when nothing waited:
    peak(s) = w(s) (b(s) - s b(s+lam)/(s+lam)) b(s).
    """

    def rate(self, domain: Domain) -> Any:
        lam = domain.convert(self.lam)
        return 1 / (self.service.mean(domain) + self.service.transform(lam, domain) / lam)

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        lam, b = domain.convert(self.lam), self.service.transform(s, domain)
        shifted = self.service.transform(s + lam, domain)
        waited = self.service.transform(lam, domain) + lam * (1 - shifted) / (s + lam)
        return waited * b, waited * b * (b - s * shifted / (s + lam))


@dataclass(frozen=True)
class LastCome:
    r"""M/M/1, last come first served, no preemption, nothing discarded; stale updates are served but do not count.

    Look back from a moment: T is the time to the first later arrival, the old work exceeds it with P(V > t) =
    rho e^{-(mu-lam) t}, and then the residual service comes first: A = T + [V > T] R + S, so
    E e^{-sA} = mu/(mu+s) (lam/(lam+s) - lam rho s/(mu+s)^2).  An update counts if no other arrives before its service
    starts: R_informative = lam (1 - rho + rho mu/(lam+mu)).  peak(s) follows from the identity.
    """

    lam: Any
    mu: Any
    rational = True

    def __post_init__(self) -> None:
        _positive(self, "lam")
        _positive(self, "mu")

    def rate(self, domain: Domain) -> Any:
        lam, mu = domain.convert(self.lam), domain.convert(self.mu)
        return lam * (1 - lam / mu + lam / (lam + mu))

    def transforms(self, s: Any, domain: Domain) -> tuple[Any, Any]:
        lam, mu, rate = domain.convert(self.lam), domain.convert(self.mu), self.rate(domain)
        served = 1 / (1 + s / mu)
        age = served * (lam / (s + lam) - s * (lam * lam / mu) / ((s + mu) * (s + mu)))
        waits = (1 - lam / mu + (lam / mu) * mu / (s + (lam + mu))) * (lam / rate)
        d = waits * served
        return d, d - s * age / rate


def over(x: Any, s: Any) -> Any:
    """Return x(s)/s for x(0) = 0: a series drops its first term, whose ball holds zero but need not be it."""
    return Series(x.terms[1:]) if isinstance(x, Series) else x / s


def stable(lam: Any, mean_service: Any) -> None:
    """Refuse a load of 1 or more for disciplines that keep every update."""
    load = rational(lam, "lam") * mean_service
    if load >= 1:
        raise DoesNotExist(f"load = {load}: the queue is unstable, no stationary law exists; give a load below 1")


def law(text: str) -> Law:
    """Return the law that ``text`` spells.

    ``exp:rate``, ``det:time``, ``erlang:phases,rate``, ``hyper:weight*rate,...`` or ``atoms:weight*time,...``.
    """
    kind, _, words = text.strip().partition(":")
    parts = [word.strip() for word in words.split(",")] if words else []
    if kind == "exp" and len(parts) == 1:
        return Erlang(parts[0])
    if kind == "det" and len(parts) == 1:
        return Deterministic(parts[0])
    if kind == "erlang" and len(parts) == 2:
        phases = rational(parts[0], "phases")
        return Erlang(parts[1], int(phases.p) if phases.q == 1 else 0)
    if kind in ("hyper", "atoms") and parts and all(part.count("*") == 1 for part in parts):
        make: Mapping[str, Any] = {"hyper": Erlang, "atoms": Deterministic}
        pairs = (part.split("*") for part in parts)
        return Mixture(tuple((w.strip(), make[kind](x.strip())) for w, x in pairs))
    raise InputError(
        f"law = {text[:60]!r}: write exp:RATE, det:TIME, erlang:PHASES,RATE, hyper:W*RATE,.. or atoms:W*TIME,.."
    )


def _positive(thing: Any, name: str) -> None:
    value = getattr(thing, name)
    if hasattr(value, "set_field"):
        return
    exact = rational(value, name)
    if exact <= 0:
        raise InputError(f"{name} = {exact}: a number > 0 is needed")
    object.__setattr__(thing, name, exact)
