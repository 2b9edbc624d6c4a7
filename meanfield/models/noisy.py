"""Power of d choices with comparison errors, equal servers: the job joins the shortest of d, or errs to the longest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, ClassVar

from flint import fmpq

from exactchains.domain import QQ, Domain
from exactchains.number import rational
from exactchains.truth import InputError
from meanfield.models.policy import Law, Loads, Policy, Server, evenly, load_of, sample_size
from meanfield.models.pools import EQUAL, Pools, whole

__all__ = ["PowerOfD", "error_polynomial", "power_of_d"]

MOST_GAP = 10_000


@dataclass(frozen=True)
class PowerOfD(Policy):
    r"""Sample ``d`` servers; join the shortest, but with probability ``eps`` the longest.

    Load-dependent errors (``g`` a number): the error coin counts only when longest - shortest <= g.  Load-independent
    errors (``g = None``): it always counts.  ``eps = 0`` or ``g = 0`` is the noiseless power of d.

    With :math:`N_k` the number of servers with at least k jobs and :math:`w(a)` the probability that all sampled
    servers lie in a given set of a servers, the joined server has j jobs with probability

    .. math:: w(N_j) - w(N_{j+1}) - \varepsilon [w(N_j - N_{j^+}) - w(N_{j+1} - N_{j^+})]
              + \varepsilon [w(N_{j^-} - N_{j+1}) - w(N_{j^-} - N_j)],

    :math:`j^+ = j + g + 1`, :math:`j^- = \max(j - g, 0)`.

    Parameters
    ----------
    load
        Arrivals per server and mean service time, in (0, 1).
    d
        Sampled servers, at least 1.
    g
        Greatest gap at which comparisons err; None: at every gap.
    eps
        Error probability, in [0, 1].
    replacement
        Whether one server can be sampled twice.

    Source
    ------
    P1, P2 (power of d choices with load comparison errors); routing law: ours, by inclusion and exclusion.
    """

    load: Any
    d: int = 2
    g: int | None = None
    eps: Any = field(default_factory=lambda: fmpq(0))
    replacement: bool = False

    pools: ClassVar[Pools] = EQUAL
    weighting: ClassVar[str] = "uniform"
    homogeneous: ClassVar[bool] = True
    symmetric: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # coupling of sampled ranks, coin and service ranks

    def __post_init__(self) -> None:
        object.__setattr__(self, "load", load_of(self.load))
        object.__setattr__(self, "d", sample_size(self))
        if self.g is not None:
            words = "None for errors at every gap, or the gap,"
            object.__setattr__(self, "g", whole(self.g, "g", words, least=0, most=MOST_GAP))
        if not hasattr(self.eps, "field"):
            object.__setattr__(self, "eps", rational(self.eps, "eps"))
            if not 0 <= self.eps <= 1:
                raise InputError(f"eps = {self.eps}: an error probability lies in [0, 1]")

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        """Return the shortest servers of the sample, or the longest with probability eps when the gap allows errors."""
        jobs = [s.jobs for s in sample]
        least, most = min(jobs), max(jobs)
        shortest = evenly(i for i, q in enumerate(jobs) if q == least)
        if least == most or (self.g is not None and most - least > self.g):
            return shortest
        longest = evenly(i for i, q in enumerate(jobs) if q == most)
        return {i: (1 - self.eps) * x for i, x in shortest.items()} | {i: self.eps * x for i, x in longest.items()}

    def law(self, loads: Loads) -> Law:
        queue, n = loads[0], len(loads[0])
        at_least = [sum(q >= k for q in queue) for k in range(queue[-1] + 2)]
        inside = _sampled_inside(n, self.d, self.replacement)

        def count(k: int) -> int:
            return at_least[max(k, 0)] if k < len(at_least) else 0

        found = {}
        for j in sorted(set(queue)):
            chance = inside(count(j)) - inside(count(j + 1)) + self.eps * self.errors(count, inside, j, n)
            if chance != 0:
                found[0, j] = chance
        return found

    def errors(self, count: Any, inside: Any, j: Any, n: Any) -> Any:
        """Return what eps multiplies in the chance to join a server with ``j`` jobs, a level or an array of levels.

        ``count`` of k <= 0 is n, all servers; ``inside`` is the chance that all of the sample are among so many.
        """
        above = count(j + self.g + 1) if self.g is not None else 0 * n
        below = count(j - self.g) if self.g is not None else n
        gained = inside(below - count(j + 1)) - inside(below - count(j))
        return gained - (inside(count(j) - above) - inside(count(j + 1) - above))

    def limit_law(self, tails: Sequence[Sequence[Any]], domain: Domain = QQ) -> Law:
        x = tails[0]
        zero, eps = 0 * x[0], domain.convert(self.eps)

        def count(k: int) -> Any:
            return x[max(k, 0)] if k < len(x) else zero

        def inside(a: Any) -> Any:
            return a**self.d

        return {
            (0, j): inside(count(j)) - inside(count(j + 1)) + eps * self.errors(count, inside, j, x[0])
            for j in range(len(x))
        }

    @property
    def majorised(self) -> bool:  # type: ignore[override]
        """Whether the chain is monotone in weak majorisation, for every n: sums of the k longest queues stay ordered.

        Without errors or with errors at every gap the rank that gains has a law of its own.  With d = 2, g = 1 and
        eps <= 1/2 see the claim ``noisy.finite.majorisation``; larger eps or g, or more samples, break it.
        """
        ranked = self.g is None or self.g == 0 or self.eps == 0 or self.d == 1
        return bool(ranked or (self.d == 2 and self.g == 1 and 2 * self.eps <= 1))

    @property
    def sight(self) -> tuple[int, int] | None:
        return None if self.g is None else (0, self.g + 1)

    @property
    def rule(self) -> dict[str, Any]:
        return {"rule": "power-of-d", "d": self.d, "g": self.g, "eps": str(self.eps), "replacement": self.replacement}

    def stability_limit(self, n: int | None) -> fmpq:
        """Return the threshold: 1 for errors at bounded gaps, else the load at which the longest queue saturates.

        Errors at every gap: min(1, 1/(d eps)) without replacement and in the limit, for every n >= d; with
        replacement min(1, 1/(n h(1/n))).
        """
        growth = fmpq(self.d) * self.eps
        if self.g is not None:
            return fmpq(1)
        if n is not None and self.replacement:
            growth = n * error_polynomial(self.d, self.eps, fmpq(1, n))
        return min(fmpq(1), 1 / growth) if growth > 0 else fmpq(1)

    @property
    def conventions(self) -> tuple[str, ...]:
        errors = "at every gap" if self.g is None else f"only when the gap of the whole sample is at most {self.g}"
        return (*super().conventions, f"an error sends the job to the longest of the sample; errors {errors}")


def power_of_d(policy: Any, what: str) -> PowerOfD:
    """Return the policy if it is power of d; else say that ``what`` is for that only."""
    if not isinstance(policy, PowerOfD):
        raise InputError(f"{what} is for PowerOfD, this is {type(policy).__name__}")
    return policy


def error_polynomial(d: int, eps: Any, u: Any) -> Any:
    """Return h(u) = (1 - eps) u^d + eps (1 - (1-u)^d): P(joined server lies in a top set of share u)."""
    return (1 - eps) * u**d + eps * (1 - (1 - u) ** d)


def _sampled_inside(n: int, d: int, replacement: bool) -> Any:
    if replacement:
        return lambda a: fmpq(a, n) ** d
    total = comb(n, d)
    return lambda a: fmpq(comb(a, d), total)
