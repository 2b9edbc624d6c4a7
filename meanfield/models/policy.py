"""The Policy protocol: one job-level rule, from which chain, flow, simulator and text are derived.

A policy says how many servers a job sees and, in :meth:`Policy.route`, with what probabilities it joins each of the
servers it sees.  Everything else follows from that rule; a family may add closed forms, which tests hold against it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, NamedTuple

from flint import fmpq

from exactchains.domain import QQ, Domain
from exactchains.number import rational
from exactchains.truth import DoesNotExist, InputError, Undecided
from meanfield.models.pools import EQUAL, Pools, whole

__all__ = [
    "Class",
    "Loads",
    "Policy",
    "Server",
    "checked",
    "class_shares",
    "evenly",
    "load_of",
    "routed",
    "sample_size",
]

Class = tuple[int, int]  # (pool, jobs)
Loads = tuple[tuple[int, ...], ...]  # for each pool, the numbers of jobs at its servers, ascending
Law = dict[Class, Any]

MOST_SAMPLED = 1000  # servers that a job samples
MOST_SAMPLES = 500_000  # ordered samples of classes that are listed for one state


class Server(NamedTuple):
    """What a job sees of a server: its pool, its speed, and the jobs there, the one in service included."""

    pool: int
    speed: fmpq
    jobs: int


def load_of(load: Any) -> Any:
    """Return the load as an exact number in (0, 1), or as it is when it is symbolic."""
    if hasattr(load, "field"):
        return load
    exact = rational(load, "load")
    if not 0 < exact < 1:
        why = "without arrivals there is nothing to balance" if exact <= 0 else "at 1 or more every queue grows"
        raise InputError(f"load = {exact}: a load lies strictly between 0 and 1; {why}")
    return exact


def evenly(positions: Iterable[int]) -> dict[int, fmpq]:
    """Return equal probabilities on ``positions``: a tie broken at random."""
    chosen = list(positions)
    return {i: fmpq(1, len(chosen)) for i in chosen}


class Policy:
    """A dispatching rule: jobs come at rate n * load, see servers, join one for good.  Service is exponential.

    A policy has ``load`` and ``pools``.  ``d`` is the number of servers a job samples, None: it sees all of them.
    ``replacement`` and ``weighting`` (``"uniform"`` or ``"speed"``) say how they are sampled.

    A user's policy subclasses this and writes :meth:`route`; see the tutorial on load balancing.
    """

    load: Any
    pools: Pools
    d: int | None = None
    replacement: bool = False
    weighting: str = "uniform"
    homogeneous: ClassVar[bool] = False  # when all servers are busy, only differences of queues matter
    monotone: ClassVar[bool] = False  # more jobs somewhere never lead to fewer jobs elsewhere (coupling proof)
    majorised: bool = False  # equal servers, monotone: nor does a job moved from a queue to one as long or longer
    symmetric: ClassVar[bool] = False  # the answer goes with the servers, in whatever order a sample lists them

    def __init__(self, load: Any, pools: Any = EQUAL) -> None:
        self.load = load_of(load)
        self.pools = Pools.of(pools)

    def route(self, sample: Sequence[Server]) -> Mapping[int, Any]:
        """Return position in ``sample`` -> probability that the job joins that server."""
        raise NotImplementedError

    def law(self, loads: Loads) -> Law:
        """Return class -> probability that a job joins a server of that class (pool, jobs), exactly."""
        return self.enumerated_law(loads)

    @property
    def owned(self) -> bool:
        """Whether the law comes from a user's own rule, so that what the class states is tried before it is used."""
        return type(self).law is Policy.law

    def enumerated_law(self, loads: Loads) -> Law:
        """Return the law of :meth:`law` by running :meth:`route` on every sample, the definition of the policy."""
        found = self._law_of_samples(self.samples(loads))
        if self.d is None:
            for arranged in _rearranged(loads):
                if self._law_of_samples(self.samples(arranged)) != found:
                    name = type(self).__name__
                    raise InputError(
                        f"{name}.route depends on the order of the servers of a pool (loads {loads} and {arranged}); "
                        "a rule may use pool, speed and jobs only"
                    )
        return found

    def _law_of_samples(self, samples: Iterable[tuple[list[Server], fmpq]]) -> Law:
        found: Law = {}
        for sample, chance in samples:
            for position, share in routed(self, sample).items():
                key = (sample[position].pool, sample[position].jobs)
                found[key] = found.get(key, 0) + chance * share
        return {key: x for key, x in found.items() if x != 0}

    def samples(self, loads: Loads) -> Iterator[tuple[list[Server], fmpq]]:
        """Yield (sample, probability) over ordered samples of classes of servers."""
        speeds = self.pools.speeds
        if self.d is None:
            yield [Server(j, speeds[j], q) for j, pool in enumerate(loads) for q in pool], fmpq(1)
            return
        classes = [(Server(j, speeds[j], q), pool.count(q)) for j, pool in enumerate(loads) for q in sorted(set(pool))]
        if len(classes) ** self.d > MOST_SAMPLES:
            raise InputError(
                f"{type(self).__name__}, d = {self.d}: {len(classes)} classes of servers have more than {MOST_SAMPLES} "
                "ordered samples; lower d or n"
            )
        yield from self._drawn([], fmpq(1), classes)

    def _drawn(
        self, sample: list[Server], chance: fmpq, left: list[tuple[Server, int]]
    ) -> Iterator[tuple[list[Server], fmpq]]:
        if len(sample) == self.d:
            yield sample, chance
            return
        total = sum((count * self.weight(s) for s, count in left), fmpq(0))
        for i, (server, count) in enumerate(left):
            if count:
                rest = left if self.replacement else [*left[:i], (server, count - 1), *left[i + 1 :]]
                yield from self._drawn([*sample, server], chance * count * self.weight(server) / total, rest)

    def weight(self, server: Server) -> fmpq:
        """Return the weight with which a server is sampled."""
        return server.speed if self.weighting == "speed" else fmpq(1)

    def limit_law(self, tails: Sequence[Sequence[Any]], domain: Domain = QQ) -> Law:
        """Return the routing law of the limit, from tails[pool][k] = fraction of the pool with at least k jobs.

        Defined for rules that sample finitely many servers: their classes are then independent draws.
        """
        return self.enumerated_limit_law(tails, domain)

    def enumerated_limit_law(self, tails: Sequence[Sequence[Any]], domain: Domain = QQ) -> Law:
        """Return the law of :meth:`limit_law` by running :meth:`route` on every sample of classes."""
        if self.d is None:
            raise InputError(
                f"{type(self).__name__} sees all servers: its limit has two time scales; see meanfield.fluid"
            )
        share = class_shares(self, tails, domain)
        found: Law = {}
        for classes in product(share, repeat=self.d):
            chance: Any = 1
            for c in classes:
                chance = chance * share[c]
            sample = [Server(j, self.pools.speeds[j], k) for j, k in classes]
            for position, probability in routed(self, sample).items():
                key = classes[position]
                found[key] = found.get(key, 0) + chance * domain.convert(probability)
        return found

    @property
    def direction(self) -> tuple[int, ...] | None:
        """Jobs per server of each pool that, added everywhere, leave the law as it is when all servers are busy."""
        return (1,) * len(self.pools) if self.homogeneous else None

    @property
    def sight(self) -> tuple[int, int] | None:
        """What the rule looks at, (base, reach), for general fixed points; None: not declared.

        Its answer stays when loads above the least load + reach are cut to it, and when all loads are lowered together
        as far as the least stays at ``base`` or above.  A user's policy states it as a class attribute.
        """
        return None

    @property
    def rule(self) -> dict[str, Any] | None:
        """The rule as certificates spell it; None: no checker knows it."""
        return None

    def check(self, n: int) -> None:
        """Refuse a system size that the policy cannot serve, and a way of sampling that is none."""
        self.pools.sizes(n)
        d = sample_size(self)
        if d is not None and not self.replacement and d > n:
            raise InputError(f"d = {self.d}: without replacement at most n = {n} servers are sampled; lower d")

    def stability_limit(self, n: int | None) -> Any:
        """Return the load below which (and at and above which not) the system is positive recurrent; None: unknown.

        ``n`` is the number of servers, None the limit.  Exact, or an ``Enclosure``.
        """
        return None

    @property
    def conventions(self) -> tuple[str, ...]:
        """The choices that papers leave open, as they are made here."""
        return _sampling_conventions(self)


def checked(policy: Any, n: Any) -> int:
    """Return ``n`` as an integer; refused is what is no policy, or a size that it cannot serve."""
    if not isinstance(policy, Policy):
        shown = f"the class {policy.__name__}; make one, {policy.__name__}(..)" if isinstance(policy, type) else policy
        raise InputError(f"policy: an object of a subclass of Policy is needed, this is {shown!s:.80}")
    if not hasattr(policy, "load") or not isinstance(getattr(policy, "pools", None), Pools):
        raise InputError(
            f"{type(policy).__name__} has no load or pools; its __init__ calls Policy.__init__(load, pools)"
        )
    policy.check(n)
    return int(n)


def sample_size(policy: Policy) -> int | None:
    """Return how many servers a job samples, None: all; a user's class states this and how."""
    if policy.replacement not in (True, False):
        raise InputError(f"replacement = {policy.replacement!r}: allowed are True | False")
    if policy.weighting not in ("uniform", "speed"):
        raise InputError(f"weighting = {policy.weighting!r}: allowed are uniform | speed")
    if policy.d is None and type(policy).d is None:  # as in Policy; a family with a field d needs a number
        return None
    return whole(policy.d, "d", "the number of sampled servers is", most=MOST_SAMPLED)


def routed(policy: Policy, sample: Sequence[Server]) -> dict[int, Any]:
    """Return the rule's answer for one sample, refused when it is no probability law on the sample."""
    name, seen = type(policy).__name__, [s.jobs for s in sample]
    try:
        given = policy.route(tuple(sample))
    except (InputError, DoesNotExist, Undecided):
        raise
    except Exception as error:
        raise InputError(f"{name}.route on loads {seen}: it raised {type(error).__name__}: {error!s:.100}") from error
    if not isinstance(given, Mapping):
        raise InputError(f"{name}.route on loads {seen}: {given!r}; return a dict, position in the sample: probability")
    answer = {i: x if hasattr(x, "field") else rational(x, "probability") for i, x in given.items()}
    if any(not isinstance(i, int) or not 0 <= i < len(sample) for i in answer):
        raise InputError(
            f"{name}.route on loads {seen}: positions {sorted(answer)}; allowed are 0 to {len(sample) - 1}"
        )
    if any(not hasattr(x, "field") and x < 0 for x in answer.values()):
        raise InputError(f"{name}.route on loads {seen}: a negative probability; probabilities are >= 0")
    total: Any = sum(answer.values())
    if total != 1:
        raise InputError(f"{name}.route on loads {seen}: probabilities sum to {total}; they must sum to 1")
    return answer


def _rearranged(loads: Loads) -> set[Loads]:
    """Return the rotations and the reversal of every pool: enough to move each server to each place."""
    turns = max(map(len, loads), default=1)
    found = {
        tuple(queue[t % len(queue) :] + queue[: t % len(queue)] if queue else queue for queue in loads)
        for t in range(turns)
    }
    return (found | {tuple(queue[::-1] for queue in loads)}) - {loads}


def class_shares(policy: Policy, tails: Sequence[Sequence[Any]], domain: Domain) -> dict[Class, Any]:
    """Return the probability that a sampled server belongs to a class, in the limit."""
    share = {}
    for j, pool in enumerate(policy.pools):  # fractions and fraction * speed both sum to 1
        weight = domain.convert(pool.fraction * (pool.speed if policy.weighting == "speed" else 1))
        x = [*tails[j], 0 * tails[j][0]]
        for k in range(len(tails[j])):
            share[j, k] = (x[k] - x[k + 1]) * weight
    return share


def _sampling_conventions(policy: Policy) -> tuple[str, ...]:
    if policy.d is None:
        return ("the job sees all servers", "a queue length counts the job in service")
    how = "with" if policy.replacement else "without"
    weights = ", in proportion to speed" if policy.weighting == "speed" else ""
    return (f"{policy.d} servers sampled {how} replacement{weights}", "a queue length counts the job in service")
