"""Ages of information: models, solvers, closed forms."""

from importlib import import_module
from typing import Any

_WHERE = {
    "Code": "models.pair",
    "Codeword": "models.codes",
    "CodeTable": "models.more_codes",
    "NormalApproximation": "approximations",
    "Polar": "models.polar",
    "Repetition": "models.more_codes",
    "age_with_lengths": "solvers.lengths",
    "periodic_with_lengths": "solvers.lengths",
    "IdealErasure": "models.codes",
    "RandomGenerator": "models.codes",
    "RandomParityCheck": "models.codes",
    "Actual": "models.schemes",
    "Cyclic": "models.schemes",
    "Delayed": "models.schemes",
    "Feedback": "models.schemes",
    "Generalised": "models.schemes",
    "Lossy": "models.schemes",
    "Periodic": "models.schemes",
    "OnChannel": "models.protocol",
    "Packet": "models.protocol",
    "Packets": "models.protocol",
    "Schedule": "models.schedules",
    "SideInformation": "models.schedules",
    "BurstChannel": "models.channels",
    "SlotChannel": "models.channels",
    "gilbert_elliott": "models.channels",
    "Markov": "models.markov",
    "LastDecoded": "models.markov",
    "NotIrreducible": "models.sources",
    "Source": "models.sources",
    "named_source": "models.source_library",
    "window": "models.windows",
    "Sampling": "models.law",
    "SlotLaw": "models.law",
    "closed_form": "closed_forms",
    "Design": "solvers.design",
    "best": "solvers.design",
    "best_along": "solvers.design",
    "break_even_cost": "solvers.design",
    "difference": "solvers.design",
    "stochastic_order": "solvers.orders",
    "age_quantile": "solvers.quantiles",
    "slot_quantile": "solvers.quantiles",
    "age_law": "solvers.age",
    "age_quantity": "solvers.age",
    "slot_ages": "simulation",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'aoi_tools' has no attribute {name!r}")
    return getattr(import_module(f"aoi_tools.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
