"""Queue lengths and delays of the classic queues, by closed formulas over every domain: yardsticks of simulators."""

from dataclasses import dataclass
from math import factorial
from typing import Any

from aoi_tools.models.queues import Law
from exactchains.domain import Domain
from exactchains.series import Series


@dataclass(frozen=True)
class Delays:
    """Mean number in the system, mean wait and mean response (time in the system) of accepted jobs."""

    queue: Any
    wait: Any
    response: Any


def poisson_arrivals(lam: Any, service: Law, domain: Domain) -> Delays:
    """Return the delays of M/G/1 (Pollaczek, Khinchine): wait = lam E S^2 / (2 (1 - lam E S)); first or last come."""
    rate, mean = domain.convert(lam), service.mean(domain)
    second = 2 * service.transform(Series.variable(3, domain.convert(1)), domain)[2]
    wait = rate * second / (2 * (1 - rate * mean))
    return Delays(rate * (wait + mean), wait, wait + mean)


def exponential_service(rate: Any, mu: Any, eta: Any) -> Delays:
    """Return the delays of G/M/1 with arrival rate ``rate``: the response is exponential with rate ``eta``."""
    return Delays(rate / eta, 1 / eta - 1 / mu, 1 / eta)


def finite(lam: Any, mu: Any, servers: int, places: int | None, domain: Domain) -> tuple[Delays, "Occupancy"]:
    """Return the delays and the occupancy of M/M/servers with ``places`` in all (None: no limit)."""
    occupancy = Occupancy(domain.convert(lam), domain.convert(mu), servers, places)
    mean = occupancy.mean()
    accepted = domain.convert(lam) * (1 - occupancy.pmf(places) if places is not None else 1)
    response = mean / accepted
    return Delays(mean, response - 1 / domain.convert(mu), response), occupancy


@dataclass(frozen=True)
class Occupancy:
    r"""The law of the number in M/M/c/K: weights (lam/mu)^n / n! up to c, then times r = lam/(c mu) a step."""

    lam: Any
    mu: Any
    servers: int
    places: int | None

    def weight(self, n: int) -> Any:
        offered = self.lam / self.mu
        if n <= self.servers:
            return offered**n / factorial(n)
        return offered**self.servers / factorial(self.servers) * (offered / self.servers) ** (n - self.servers)

    def _beyond(self, n: int) -> Any:
        """Sum of the weights from n >= servers on, without a limit on places."""
        return self.weight(n) / (1 - self.lam / (self.mu * self.servers))

    def _total(self) -> Any:
        top = self.servers if self.places is None else self.places + 1
        head = sum((self.weight(n) for n in range(1, top)), self.weight(0))
        return head + self._beyond(self.servers) if self.places is None else head

    def pmf(self, n: int) -> Any:
        return self.weight(n) / self._total() if self.places is None or n <= self.places else 0 * self.lam

    def tail(self, n: int) -> Any:
        """Return P(number >= n)."""
        if self.places is not None:
            return sum((self.weight(i) for i in range(n, self.places + 1)), 0 * self.lam) / self._total()
        if n >= self.servers:
            return self._beyond(n) / self._total()
        return (sum((self.weight(i) for i in range(n, self.servers)), 0 * self.lam) + self._beyond(self.servers)) / (
            self._total()
        )

    def mean(self) -> Any:
        """Mean number: sums below c, then c + 1/(1 - r) - 1 in the mean above."""
        if self.places is not None:
            return sum((i * self.weight(i) for i in range(1, self.places + 1)), 0 * self.lam) / self._total()
        c, ratio = self.servers, self.lam / (self.mu * self.servers)
        head = sum((i * self.weight(i) for i in range(1, c)), 0 * self.lam)
        return (head + self._beyond(c) * (c + ratio / (1 - ratio))) / self._total()
