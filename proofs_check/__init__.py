"""Confronts results with claims, papers and simulators.  Standard library only at import: the checker starts here.

The public functions ``verify``, ``check`` and ``claim`` share their names with the modules they live in.  On the
package the name means the function; ``from proofs_check.verify import ...`` reaches the module.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_WHERE = {
    "verify": "proofs_check.verify",
    "check": "proofs_check.check.document",
    "claim": "proofs_check.registry",
    "claims": "proofs_check.registry",
    "find": "proofs_check.catalogue",
    "models": "proofs_check.catalogue",
    "drift": "proofs_check.lyapunov.engine",
    "validate": "proofs_check.simulators.validation",
    "simulate_policy": "proofs_check.simulators.server_runs",
    "assert_agrees": "proofs_check.simulators.assertion",
    "table": "proofs_check.tables.evaluation",
}

__all__ = sorted(_WHERE)


class _Package(ModuleType):
    """Keeps a module of the same name from taking the place of a public function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _WHERE and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'proofs_check' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
