"""All models by name."""

import difflib
from importlib import import_module

from exactchains.truth import InputError
from proofs_check.catalogue.model import Model


def models() -> list[Model]:
    """Return every model, in reading order; families are imported when first asked for."""
    return [m for family in ("age", "balancing", "classic") for m in _models(family)]


def find(name: str) -> Model:
    """Return the model called ``name``.

    Raises
    ------
    InputError
        There is none; the message offers the nearest names.
    """
    for family in ("classic", "age", "balancing"):  # what imports fastest first
        for model in _models(family):
            if model.name == name:
                return model
    near = difflib.get_close_matches(name[:80], [m.name for m in models()], n=3)
    hint = f"did you mean {', '.join(near)}? " if near else ""
    raise InputError(f"model {name[:80]!r} is not known; {hint}`exaq models` lists all")


def _models(family: str) -> list[Model]:
    return list(import_module(f"proofs_check.catalogue.{family}").MODELS)
