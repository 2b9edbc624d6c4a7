"""Classic single queues as named models: delays, queue lengths and ages, yardsticks for simulators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from aoi_tools.models import delays, queues
from aoi_tools.models.delays import Delays
from aoi_tools.solvers.age import certified
from aoi_tools.solvers.continuous import age_moments, age_tail, gm1
from exactchains.domain import QQ, Domain
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import InputError
from proofs_check.catalogue.model import Model, Parameter, Quantity

AGES = ("age_mean", "age_variance", "peak_mean", "peak_variance")
NUMBERS = ("mean_queue", "mean_wait", "mean_response", "tail")
EXACT_INDEX = 1_000  # largest index of a tail whose fraction is worth its digits
DELAYS = {"mean_queue": "queue", "mean_wait": "wait", "mean_response": "response"}


@dataclass(frozen=True)
class Queue:
    """A queue: how to get its age discipline, delays and occupancy over a domain; None where it has none.

    ``exact`` lists the quantities that are rational numbers for rational parameters.
    """

    exact: tuple[str, ...]
    discipline: Callable[[Domain], Any] | None
    delays: Callable[[Domain], Delays] | None
    tail: Callable[[Domain, int], Any] | None
    at: fmpq | None


def solve(queue: Queue, quantity: str, index: int | None, digits: int) -> Result:
    """Return one quantity; exact for rational transforms, else in balls of rising precision."""
    value = _selector(queue, quantity, index)
    method = "transforms" if quantity in AGES or quantity == "age_ccdf" else "closed formula"
    far = quantity == "tail" and (index or 0) > EXACT_INDEX
    if quantity in queue.exact and not far:
        return Result(Enclosure.of(value(QQ)), quantity, index, f"{method}, exact rational arithmetic")
    found, prec = certified(value, digits)
    how = "an exact value" if found.is_exact else f"ball arithmetic with {prec} bits"
    return Result(found, quantity, index, f"{method}, {how}")


def _selector(queue: Queue, quantity: str, index: int | None) -> Callable[[Domain], Any]:
    if quantity in DELAYS and queue.delays is not None:
        get = queue.delays
        return lambda domain: getattr(get(domain), DELAYS[quantity])
    if quantity == "tail" and queue.tail is not None:
        tail = queue.tail
        return lambda domain: tail(domain, index or 0)
    if queue.discipline is not None:
        make = queue.discipline
        if quantity in AGES:
            return lambda domain: getattr(age_moments(make(domain), domain), quantity)
        if quantity == "age_ccdf":
            if queue.at is None:
                raise InputError("age_ccdf needs at, the age that is exceeded, a number >= 0")
            at = queue.at
            return lambda domain: age_tail(make(domain), at, domain)  # type: ignore[arg-type]
    raise InputError(f"{quantity} is not defined for this queue")


LAM = Parameter("lam", "lam", "arrival rate", "1/time")
MU = Parameter("mu", "mu", "service rate", "1/time")
AT = Parameter("at", "x", "age that is exceeded, for age_ccdf", "time", lower=0, required=False)
SERVERS = Parameter("c", "c", "number of servers", "", "integer", lower=1, upper=10_000)
PLACES = Parameter("k", "K", "places in all, in service included", "", "integer", lower=1, upper=10_000)
SERVICE = Parameter(
    "service", "S", "service law: exp:RATE, det:TIME, erlang:N,RATE, hyper:W*RATE,.., atoms:W*TIME,..", kind="text"
)
ARRIVALS = Parameter("arrivals", "G", "interarrival law, written like a service law", kind="text")

AGE_QUANTITIES = (
    Quantity("age_mean", "E A", "mean age: time since the freshest delivered update was generated", "time"),
    Quantity("age_variance", "Var A", "variance of the age", "time^2"),
    Quantity("peak_mean", "E peak", "mean age just before a delivery that lowers it", "time"),
    Quantity("peak_variance", "Var peak", "variance of the peak age", "time^2"),
    Quantity("age_ccdf", "P(A > x)", "probability that the age exceeds at", ""),
)
DELAY_QUANTITIES = (
    Quantity("mean_queue", "E Q", "mean number of jobs in the system, in service included", "jobs"),
    Quantity("mean_wait", "E W", "mean wait before service of accepted jobs", "time"),
    Quantity("mean_response", "E T", "mean time in the system of accepted jobs", "time"),
)
TAIL = (Quantity("tail", "P(Q >= k)", "tail of the number of jobs in the system", "", "k", "jobs"),)
SOURCE = "Inoue, Masuyama, Takine and Tanaka, IEEE Trans. Inf. Theory 65 (2019); derivations in aoi_tools"


def _rates(values: Mapping[str, Any]) -> tuple[fmpq, fmpq]:
    for name in ("lam", "mu"):
        if values[name] <= 0:
            raise InputError(f"{name} = {values[name]}: a number > 0 is needed")
    return values["lam"], values["mu"]


def _stable(lam: fmpq, capacity: fmpq) -> None:
    queues.stable(lam, 1 / capacity)


def _poisson(lam: fmpq, service: queues.Law, at: fmpq | None, servers_tail: Any = None) -> Queue:
    queues.stable(lam, service.mean(QQ))
    return Queue(
        (NUMBERS + AGES) if service.rational else NUMBERS,
        lambda domain: queues.PoissonFirstCome(lam, service),
        lambda domain: delays.poisson_arrivals(lam, service, domain),
        servers_tail,
        at,
    )


def _mm1(values: Mapping[str, Any]) -> Queue:
    lam, mu = _rates(values)
    return _poisson(lam, queues.Erlang(mu), values.get("at"), lambda d, k: d.convert(lam / mu) ** k)


def _md1(values: Mapping[str, Any]) -> Queue:
    lam, mu = _rates(values)
    return _poisson(lam, queues.Deterministic(1 / mu), values.get("at"))


def _mg1(values: Mapping[str, Any]) -> Queue:
    return _poisson(_positive(values, "lam"), queues.law(values["service"]), values.get("at"))


def _general_arrivals(arrivals: queues.Law, mu: fmpq, at: fmpq | None) -> Queue:
    _stable(1 / arrivals.mean(QQ), mu)

    def wait(domain: Any) -> Delays:
        made = gm1(arrivals, mu, domain)
        return delays.exponential_service(made.rate(domain), domain.convert(mu), made.eta)

    return Queue((), lambda domain: gm1(arrivals, mu, domain), wait, None, at)  # type: ignore[arg-type]


def _dm1(values: Mapping[str, Any]) -> Queue:
    lam, mu = _rates(values)
    return _general_arrivals(queues.Deterministic(1 / lam), mu, values.get("at"))


def _gm1(values: Mapping[str, Any]) -> Queue:
    return _general_arrivals(queues.law(values["arrivals"]), _positive(values, "mu"), values.get("at"))


def _memoryless(values: Mapping[str, Any], servers: int, places: int | None) -> Queue:
    lam, mu = _rates(values)
    if places is None:
        _stable(lam, servers * mu)
    elif places < servers:
        raise InputError(f"k = {places}: at least as many places as servers, {servers}")
    return Queue(
        NUMBERS,
        None,
        lambda domain: delays.finite(lam, mu, servers, places, domain)[0],
        lambda domain, n: delays.finite(lam, mu, servers, places, domain)[1].tail(n),
        None,
    )


def _discarding(kind: Any) -> Callable[[Mapping[str, Any]], Queue]:
    def build(values: Mapping[str, Any]) -> Queue:
        lam, mu = _rates(values)
        return Queue(AGES, lambda domain: kind(lam, queues.Erlang(mu)), None, None, values.get("at"))

    return build


def _blocking(values: Mapping[str, Any]) -> Queue:
    lam, mu = _rates(values)
    plain = _memoryless(values, 1, 1)
    made = queues.Blocking(lam, queues.Erlang(mu))
    return Queue(NUMBERS + AGES, lambda domain: made, plain.delays, plain.tail, values.get("at"))


def _last_come(values: Mapping[str, Any]) -> Queue:
    first = _mm1(values)
    lam, mu = _rates(values)
    return Queue(NUMBERS + AGES, lambda domain: queues.LastCome(lam, mu), first.delays, first.tail, values.get("at"))


def _sharing(values: Mapping[str, Any]) -> Queue:
    first = _mm1(values)
    return Queue(NUMBERS, None, first.delays, first.tail, None)


def _positive(values: Mapping[str, Any], name: str) -> fmpq:
    if values[name] <= 0:
        raise InputError(f"{name} = {values[name]}: a number > 0 is needed")
    return values[name]


def _model(name: str, title: str, parameters: Any, quantities: Any, build: Any) -> Model:
    conventions = (
        "Rates per unit of time; the age rises at rate 1; a number in the system includes the one in service.",
    )
    return Model(name, title, parameters, quantities, build, solve, conventions, SOURCE)


BOTH = (*DELAY_QUANTITIES, *AGE_QUANTITIES)
MODELS = (
    _model("mm1", "Poisson arrivals, exponential service, first come first served", (LAM, MU, AT), BOTH + TAIL, _mm1),
    _model("md1", "Poisson arrivals, constant service 1/mu", (LAM, MU, AT), BOTH, _md1),
    _model("dm1", "arrivals every 1/lam, exponential service", (LAM, MU, AT), BOTH, _dm1),
    _model("mg1", "Poisson arrivals, general service", (LAM, SERVICE, AT), BOTH, _mg1),
    _model("gm1", "general arrivals, exponential service", (ARRIVALS, MU, AT), BOTH, _gm1),
    _model(
        "mmc",
        "Poisson arrivals, c exponential servers",
        (LAM, MU, SERVERS),
        DELAY_QUANTITIES + TAIL,
        lambda values: _memoryless(values, values["c"], None),
    ),
    _model(
        "mm1k",
        "one exponential server, k places in all",
        (LAM, MU, PLACES),
        DELAY_QUANTITIES + TAIL,
        lambda values: _memoryless(values, 1, values["k"]),
    ),
    _model("mm11", "an update that finds the server busy is lost", (LAM, MU, AT), BOTH + TAIL, _blocking),
    _model("lcfs", "last come first served, no preemption", (LAM, MU, AT), BOTH + TAIL, _last_come),
    _model(
        "lcfs-preemptive",
        "a new update replaces the one in service",
        (LAM, MU, AT),
        AGE_QUANTITIES,
        _discarding(queues.Preemptive),
    ),
    _model(
        "mm12-replacement",
        "M/M/1/2*: a new update replaces the waiting one",
        (LAM, MU, AT),
        AGE_QUANTITIES,
        _discarding(queues.Replacement),
    ),
    _model("mm1-ps", "processor sharing", (LAM, MU), DELAY_QUANTITIES + TAIL, _sharing),
)
