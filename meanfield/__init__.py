"""Load balancing, at n servers and in the limit."""

from importlib import import_module
from typing import Any

_WHERE = {
    "Pools": "models.pools",
    "Policy": "models.policy",
    "Server": "models.policy",
    "evenly": "models.policy",
    "PowerOfD": "models.noisy",
    "JSQ": "models.shortest",
    "SpeedAwareJSQ": "models.shortest",
    "PoolPowerOfD": "models.shortest",
    "JIQ": "models.idle",
    "SpeedAwareJIQ": "models.idle",
    "SED": "models.expected_delay",
    "RandomBySpeed": "models.random",
    "Threshold": "models.random",
    "exact_chain": "finite",
    "drift": "flow",
    "is_cooperative": "flow",
    "equilibrium": "closed_forms",
    "optimal_response": "closed_forms",
    "equilibrium_near": "solvers.equilibrium_near",
    "fixed_point": "solvers.fixed_point",
    "server_system": "solvers.enclosures",
    "against_random": "solvers.crossing",
    "regions": "solvers.crossing",
    "trajectory": "solvers.trajectory",
    "validated": "solvers.trajectory",
    "refinement": "solvers.refinement",
    "ranking": "solvers.ranking",
    "faster": "solvers.ranking",
    "fluid_drift": "fluid",
    "response_ccdf": "solvers.response",
    "light_traffic": "solvers.expansions",
    "heavy_traffic_offset": "solvers.expansions",
    "monotonicity_violation": "monotone",
    "crossings": "solvers.crossing",
    "one_gate": "solvers.one_gate",
    "balancing_quantity": "solvers.quantities",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'meanfield' has no attribute {name!r}")
    return getattr(import_module(f"meanfield.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
