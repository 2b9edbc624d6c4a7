"""Service laws of queues with Poisson arrivals that are served in order: moments, plain and tilted."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from flint import fmpq

from aoi_tools.models.queues import Deterministic, Erlang, law
from exactchains.number import rational

SERVICES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "mm1": lambda values: Erlang(values["mu"]),
    "md1": lambda values: Deterministic(1 / values["mu"]),
    "mg1": lambda values: law(values["service"]),
}


def service_moments(of: Any) -> list[fmpq]:
    """Return E S, .., E S^4 of a service law."""
    if isinstance(of, Deterministic):
        return [rational(of.time) ** k for k in range(1, 5)]
    if isinstance(of, Erlang):
        return [math.prod(range(of.phases, of.phases + k)) / rational(of.rate) ** k for k in range(1, 5)]
    parts = [(rational(weight), service_moments(part)) for weight, part in of.parts]
    return [sum((weight * moments[k] for weight, moments in parts), fmpq(0)) for k in range(4)]


def tilted_mean(of: Any, s: fmpq) -> fmpq | float:
    """Return E S e^{-s S} / E e^{-s S} of a service law, a fraction for one that is no mixture."""
    if isinstance(of, Deterministic):
        return rational(of.time)
    if isinstance(of, Erlang):
        return of.phases / (rational(of.rate) + s)
    plain = [float(weight) * _transform(part, float(s)) for weight, part in of.parts]
    means = [float(tilted_mean(part, s)) for _, part in of.parts]
    return sum(p * mean for p, mean in zip(plain, means, strict=True)) / sum(plain)


def _transform(of: Any, s: float) -> float:
    if isinstance(of, Deterministic):
        return math.exp(-s * float(of.time))
    if isinstance(of, Erlang):
        return float((1 + s / float(of.rate)) ** -of.phases)
    return sum(float(weight) * _transform(part, s) for weight, part in of.parts)
