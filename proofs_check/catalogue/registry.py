"""All models by name."""

import difflib
from importlib import import_module

from exactchains.truth import InputError
from proofs_check.catalogue.model import Model

_FAMILIES = ("age", "balancing", "classic")


def models() -> list[Model]:
    """Return every model, in reading order; families are imported when first asked for."""
    return [m for family in _FAMILIES for m in import_module(f"proofs_check.catalogue.{family}").MODELS]


def find(name: str) -> Model:
    """Return the model called ``name``.

    Raises
    ------
    InputError
        There is none; the message offers the nearest names.
    """
    known = {m.name: m for m in models()}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name[:80], known, n=3)
    hint = f"did you mean {', '.join(near)}? " if near else ""
    raise InputError(f"model {name[:80]!r} is not known; {hint}`exaq models` lists all")
