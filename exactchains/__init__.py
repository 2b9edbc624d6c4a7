"""Markov chains over exact, ball and float arithmetic.  Knows no queue and no age."""

from importlib import import_module
from typing import Any

_WHERE = {
    "QQ": "domain",
    "Balls": "domain",
    "Floats": "domain",
    "Rigor": "domain",
    "rational": "number",
    "Fractions": "symbolic",
    "Enclosure": "enclosure",
    "Result": "enclosure",
    "Truth": "truth",
    "Undecided": "truth",
    "PrecisionExhausted": "truth",
    "DoesNotExist": "truth",
    "InputError": "truth",
    "FiniteChain": "chain",
    "LevelChain": "level_chain",
    "CountableChain": "countable_chain",
    "Reward": "countable_chain",
    "DependentChain": "dependent_chain",
    "dependent_law": "solvers.level_dependent",
    "expectation": "solvers.infinite",
    "tail_probability": "solvers.infinite",
    "level_law": "solvers.level_law",
    "rate_matrix": "solvers.matrix_geometric",
    "NotAGenerator": "chain",
    "absorption": "solvers.absorption",
    "transient_law": "solvers.transient",
    "accumulated_reward": "solvers.transient",
    "variance_constant": "solvers.poisson",
    "relaxation_rate": "solvers.relaxation",
    "coarsest_lumping": "lumping",
    "proposed_lumping": "lumping",
    "symmetric_lumping": "lumping",
    "reachable_chain": "explore",
    "classes": "explore",
    "period": "explore",
    "stationary": "solvers.stationary",
    "extremal_laws": "solvers.stationary",
    "certified_candidate": "solvers.candidate",
    "certified_by_levels": "solvers.streamed",
    "levels_certificate": "solvers.streamed_certificate",
    "read_vector": "solvers.vector_file",
    "StationaryLaw": "solvers.law",
    "chain_from_arrays": "solvers.arrays",
    "chain_from_sparse": "solvers.arrays",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'exactchains' has no attribute {name!r}")
    return getattr(import_module(f"exactchains.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
