"""Parameter studies with thousands of certified points, resumed after any end, on any executor."""

from typing import Any

_WHERE = {
    "Limits": "spec",
    "Spec": "spec",
    "boundary": "study",
    "from_text": "spec",
    "missing": "study",
    "read_spec": "spec",
    "sweep": "study",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"proofs_check.sweeps.{_WHERE[name]}"), name)
