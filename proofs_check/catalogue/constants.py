"""Constants of load balancing: drift, light and heavy traffic, loads at which errors undo the choice."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from exactchains.enclosure import Enclosure, Result
from exactchains.number import parse
from exactchains.truth import DoesNotExist, InputError, Undecided
from meanfield.models.noisy import PowerOfD
from meanfield.models.policy import Policy
from meanfield.solvers.crossing import against_random, crossings
from meanfield.solvers.expansions import heavy_traffic_offset, heavy_traffic_slope, light_traffic
from proofs_check.catalogue.model import Quantity

DRIFT = (
    Quantity("drift_rate", "eps", "largest eps with L V <= B - eps sum mu_i q_i, V the first quadratic that works"),
    Quantity("drift_bound", "B", "least B that goes with drift_rate"),
    Quantity("drift_work_bound", "B/eps", "bound of E sum mu_i q_i by the drift", "jobs times speed"),
    Quantity("exponential_base", "y", "base y of V = sum c_i y^q_i, near the best"),
    Quantity("exponential_rate", "kappa*", "largest kappa with L V <= B - kappa V, V of base exponential_base"),
)
TRAFFIC = (
    Quantity("light_traffic", "a_k", "coefficient of load^k in the mean response of the limit", "", "k"),
    Quantity("heavy_traffic_slope", "c", "mean response over log(1/(1-load)) as the load tends to 1"),
    Quantity("heavy_traffic_offset", "E T - c L", "mean response minus slope times L = log(1/(1-load)), at the load"),
    Quantity(
        "crossing", "lam_k", "load, counted from 0, at which it changes who is better: this or random routing", "", "k"
    ),
)
_KEYS = ("eps", "bound", "base", "kappa*")
NAMES = {q.name for q in (*DRIFT, *TRAFFIC)}


def constant(policy: Policy, name: str, *, index: int | None, n: int | None, digits: int) -> Result:
    """Return one constant of a policy.

    Raises
    ------
    DoesNotExist
        No function of the class has negative drift; the mean response does not grow like a logarithm; fewer crossings.
    InputError
        The constant is one of the limit of many servers, or of errors, and the policy is not.
    Undecided
        No function that was tried settles the drift.
    """
    if name in {q.name for q in DRIFT}:
        return _drift(policy, name, n)
    if n is not None or not isinstance(policy, PowerOfD):
        raise InputError(f"{name} is a constant of the limit of many servers; leave out n")
    found, method = SOLVERS[name](policy, index or 0, digits)
    return Result(found, name, index, method)


def _drift(policy: Policy, name: str, n: int | None) -> Result:
    """Return a constant of the first function of its class that works; the checker has accepted its certificate."""
    if n is None:
        raise InputError(f"{name} needs n, the number of servers; `exaq drift` says what holds for every n")
    kind = "exponential" if name.startswith("exponential") else "quadratic"
    found = _found(policy, n, kind)
    for f in found.findings:
        if f.holds and kind in f.function:
            constants = {key: parse(f.constants[key]) for key in _KEYS if key in f.constants}
            value = {
                "drift_rate": lambda c: c["eps"],
                "drift_bound": lambda c: c["bound"],
                "drift_work_bound": lambda c: c["bound"] / c["eps"],
                "exponential_base": lambda c: c["base"],
                "exponential_rate": lambda c: c["kappa*"],
            }[name](constants)
            return Result(Enclosure.exact(value), name, method=f.statement, certificate=dict(f.certificate or {}))
    if found.verdict not in ("stable", "undecided"):
        raise DoesNotExist(f"{name}: the system is {found.verdict}")
    raise Undecided(f"{name}: no {kind} function that was tried has negative drift; `exaq drift` shows the directions")


@lru_cache(maxsize=16)
def _found(policy: Policy, n: int, kind: str) -> Any:
    from proofs_check.lyapunov.engine import drift

    return drift(policy, n=n, lyapunov=kind)


@lru_cache(maxsize=16)
def _crossings(policy: PowerOfD, digits: int) -> list[Enclosure]:
    return crossings(against_random(policy, digits=digits))


def _light(policy: PowerOfD, index: int, digits: int) -> tuple[Enclosure, str]:
    return Enclosure.exact(light_traffic(policy, order=index)[index]), "recursion of the limit in power series"


def _slope(policy: PowerOfD, index: int, digits: int) -> tuple[Enclosure, str]:
    return heavy_traffic_slope(policy, digits=digits), "closed form, logarithms enclosed"


def _offset(policy: PowerOfD, index: int, digits: int) -> tuple[Enclosure, str]:
    return heavy_traffic_offset(policy, digits=digits), "enclosed fixed point minus the leading term"


def _crossing(policy: PowerOfD, index: int, digits: int) -> tuple[Enclosure, str]:
    found = _crossings(policy, digits)
    if index >= len(found):
        raise DoesNotExist(f"crossing {index}: the scheme and random routing change places {len(found)} times")
    return found[index], "increasing means compared at the ends of boxes"


SOLVERS: dict[str, Callable[[PowerOfD, int, int], tuple[Enclosure, str]]] = {
    "light_traffic": _light,
    "heavy_traffic_slope": _slope,
    "heavy_traffic_offset": _offset,
    "crossing": _crossing,
}
