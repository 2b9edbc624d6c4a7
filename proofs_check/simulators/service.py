"""Service laws of queues with Poisson arrivals that are served in order, in floats: moments and transforms."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from aoi_tools.models.queues import Deterministic, Erlang, law

SERVICES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "mm1": lambda values: Erlang(values["mu"]),
    "md1": lambda values: Deterministic(1 / values["mu"]),
    "mg1": lambda values: law(values["service"]),
}


def service_moments(of: Any) -> list[float]:
    """Return E S, .., E S^4 of a service law."""
    if isinstance(of, Deterministic):
        return [float(of.time) ** k for k in range(1, 5)]
    if isinstance(of, Erlang):
        return [math.prod(range(of.phases, of.phases + k)) / float(of.rate) ** k for k in range(1, 5)]
    parts = [(float(weight), service_moments(part)) for weight, part in of.parts]
    return [sum(weight * moments[k] for weight, moments in parts) for k in range(4)]


def transforms(of: Any, s: float) -> tuple[float, float]:
    """Return E e^{-s S} and E S e^{-s S} of a service law."""
    if isinstance(of, Deterministic):
        plain = math.exp(-s * float(of.time))
        return plain, float(of.time) * plain
    if isinstance(of, Erlang):
        plain = (1 + s / float(of.rate)) ** -of.phases
        return plain, plain * of.phases / (float(of.rate) + s)
    parts = [(float(weight), transforms(part, s)) for weight, part in of.parts]
    return sum(w * plain for w, (plain, _) in parts), sum(w * tilted for w, (_, tilted) in parts)
