"""Load balancing as named models: noisy power of d, shortest and idle queues, expected delay, random."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exactchains.enclosure import Result
from exactchains.truth import InputError, Undecided
from meanfield.models.expected_delay import SED
from meanfield.models.idle import JIQ, SpeedAwareJIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.models.pools import Pools
from meanfield.models.random import RandomBySpeed, Threshold
from meanfield.models.shortest import JSQ, PoolPowerOfD, SpeedAwareJSQ
from meanfield.solvers.fixed_point import fixed_point
from meanfield.solvers.quantities import balancing_quantity
from meanfield.solvers.response import response_ccdf
from proofs_check.catalogue import constants
from proofs_check.catalogue.model import Model, Parameter, Quantity


@dataclass(frozen=True)
class System:
    """A policy on n servers (None: the limit of many) with at most ``buffer`` jobs at each (None: unlimited)."""

    policy: Policy
    n: int | None
    buffer: int | None
    at: Any = None


def solve(system: System, quantity: str, index: int | None, digits: int) -> Result:
    """Return one quantity of one system."""
    if quantity == "response_ccdf":
        if system.at is None:
            raise InputError("response_ccdf needs at, the time that is exceeded, a number >= 0")
        if system.buffer is not None:
            raise InputError("response_ccdf is for unlimited queues; leave out buffer")
        return response_ccdf(system.policy, at=system.at, n=system.n, digits=digits)
    if quantity in constants.NAMES:
        if system.buffer is not None:
            raise InputError(f"{quantity} is for unlimited queues; leave out buffer")
        return constants.constant(system.policy, quantity, index=index, n=system.n, digits=digits)
    return balancing_quantity(system.policy, quantity, index=index, n=system.n, buffer=system.buffer, digits=digits)


def extent(system: System, quantity: str) -> int | None:
    """Return how many indices a quantity has: one a pool; None: no end."""
    return len(system.policy.pools) if quantity in ("busy", "pool_mean_queue") else None


def certify(system: System, result: Result) -> dict[str, Any] | None:
    """Return the certificate of a closed form of the limit that the recursion proves too."""
    k = result.index or 0
    if system.n is not None or system.buffer is not None or result.quantity not in ("mean_queue", "tail"):
        return None
    try:
        return fixed_point(system.policy, levels=k).certificate(tails=(k,) if k > 1 else ())
    except Undecided:
        return None


LAM = Parameter("lam", "load", "load: arrivals per server and mean service time, per unit of speed, in (0, 1)", lower=0)
D = Parameter("d", "d", "sampled servers", "servers", "integer", lower=1, upper=1000)
G = Parameter("g", "g", "greatest gap at which comparisons err", "jobs", "integer", lower=0, upper=10_000)
EPS = Parameter("eps", "epsilon", "error probability of a comparison", lower=0, upper=1)
N = Parameter("n", "N", "servers; without it the limit of many servers", "servers", "integer", lower=1, required=False)
BUFFER = Parameter(
    "buffer", "B", "jobs that fit at a server, others are lost; needs n", "jobs", "integer", lower=1, required=False
)
REPLACEMENT = Parameter(
    "replacement", "replacement", "sample with replacement", kind="choice", choices=("no", "yes"), default="no"
)
POOLS = Parameter(
    "pools", "pools", "fraction:speed,.. fastest first, mean speed 1, such as 1/2:3/2,1/2:1/2", kind="text"
)
FALLBACK = Parameter(
    "fallback",
    "fallback",
    "rule when no server is idle",
    kind="choice",
    choices=("uniform", "speed"),
    default="uniform",
)
TIES = Parameter(
    "ties", "ties", "rule among equal delays", kind="choice", choices=("fastest", "random"), default="fastest"
)
QUEUE_TIES = Parameter(
    "ties", "ties", "rule among equal queues", kind="choice", choices=("random", "fastest"), default="random"
)
COUNTS = Parameter(
    "counts", "counts", "what a queue length counts", kind="choice", choices=("jobs", "waiting"), default="jobs"
)
WEIGHTING = Parameter(
    "weighting",
    "weighting",
    "how servers are sampled: alike, or in proportion to speed",
    kind="choice",
    choices=("uniform", "speed"),
    default="uniform",
)
SHORT = Parameter("threshold", "threshold", "jobs below which a queue is short", kind="integer", lower=1, default="1")

AT = Parameter("at", "t", "time of response_ccdf", "mean service times", lower=0, required=False)

QUANTITIES = (
    Quantity("mean_queue", "E Q", "mean number of jobs at one server, the one in service included", "jobs"),
    Quantity("mean_response", "E T", "mean time in system of a job (of those let in)", "mean service times"),
    Quantity("response_ccdf", "P(T > t)", "probability of a time in system above at, first come first served"),
    Quantity("speedup", "E T_random / E T", "mean response of random routing by speed, 1/(1-lam), over this one's"),
    Quantity(
        "joined", "P_k", "probability that a job (of those let in) joins a server with at least k jobs", "", "k", "jobs"
    ),
    Quantity("tail", "x_k", "fraction of servers with at least k jobs", "", "k", "jobs"),
    Quantity("busy", "P(Q_j > 0)", "fraction of the servers of a pool that are busy; 0 is the fastest pool", "", "j"),
    Quantity("idle", "P(Q = 0)", "fraction of servers that are idle"),
    Quantity("pool_mean_queue", "E Q_j", "mean number of jobs at one server of a pool; 0 is the fastest", "jobs", "j"),
    Quantity("blocking", "P(lost)", "probability that a job finds its server full; needs n and buffer"),
    Quantity(
        "time_average_variance",
        "lim t Var(mean over [0, t] of Q)",
        "variance of the time average of jobs per server, times the time averaged over; needs n and buffer",
        "jobs^2 x mean service times",
    ),
    Quantity("stability_limit", "lam*", "load below which, and only below which, the system is stable"),
    Quantity("optimal_response", "D*", "lower bound of the mean response time over all policies", "mean service times"),
    *constants.DRIFT,
)

CONVENTIONS = (
    "unit of time: mean service time at speed 1; Poisson arrivals of rate n lam, exponential service, no jockeying",
    "a queue length counts the job in service unless counts=waiting; pools are numbered from 0, fastest first",
    "without n: the equilibrium of finite mass of the limit of many servers",
    "samples without replacement unless replacement=yes (threshold: with); ties at random unless the rule differs",
    "jiq, sa-jiq: fallback=uniform unless set; it starves slow servers at finite n, see stability_limit",
)


def _finite(values: Mapping[str, Any], policy: Policy) -> System:
    n, buffer = values.get("n"), values.get("buffer")
    if n is not None:
        policy.check(n)
    if buffer is not None and n is None:
        raise InputError(f"buffer = {buffer}: a buffer needs n, the number of servers")
    return System(policy, n, buffer, values.get("at"))


def _noisy(name: str, title: str, *, bounded: bool) -> Model:
    def build(values: Mapping[str, Any]) -> System:
        gap = values["g"] if bounded else None
        replaced = values["replacement"] == "yes"
        return _finite(values, PowerOfD(values["lam"], values["d"], gap, values["eps"], replaced))

    shown = (D, G, EPS, LAM, N, REPLACEMENT, BUFFER, AT) if bounded else (D, EPS, LAM, N, REPLACEMENT, BUFFER, AT)
    known = (*QUANTITIES, *constants.TRAFFIC)
    return Model(name, title, shown, known, build, solve, CONVENTIONS[:4], "P1, P2", extent, certify)


def _pooled(name: str, title: str, policy: Callable[..., Policy], *extra: Parameter) -> Model:
    def build(values: Mapping[str, Any]) -> System:
        given = (values[p.name] == "yes" if p is REPLACEMENT else values[p.name] for p in extra)
        return _finite(values, policy(Pools.of(values["pools"]), values["lam"], *given))

    shown = (POOLS, LAM, N, *extra, BUFFER, AT)
    return Model(name, title, shown, QUANTITIES, build, solve, CONVENTIONS, "P3, P4", extent)


MODELS = (
    _noisy("pod.load-dependent", "shortest of d, the longest by error when the gap is at most g", bounded=True),
    _noisy("pod.load-independent", "shortest of d, the longest by error at every gap", bounded=False),
    _pooled("jsq", "join the shortest queue, ties at random", JSQ, COUNTS),
    _pooled("sa-jsq", "join the shortest queue, ties to the fastest pool", SpeedAwareJSQ),
    _pooled("jiq", "join an idle queue at random, else the fallback", JIQ, FALLBACK),
    _pooled(
        "sa-jiq", "join an idle queue of the fastest pool that has one, else the fallback", SpeedAwareJIQ, FALLBACK
    ),
    _pooled("sed", "join the shortest expected delay (q+1)/speed", SED, TIES),
    _pooled(
        "pool-pod",
        "shortest of d servers sampled from pools of different speeds",
        PoolPowerOfD,
        *(D, WEIGHTING, QUEUE_TIES, REPLACEMENT),
    ),
    _pooled("threshold", "the first of two sampled by speed if it is short, else the other", Threshold, SHORT),
    _pooled("random", "random in proportion to speed", RandomBySpeed),
)
