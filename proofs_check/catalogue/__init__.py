"""The models that users can name: parameters, quantities, conventions, and how each is solved."""

from proofs_check.catalogue.model import Model, Parameter, Quantity
from proofs_check.catalogue.registry import find, models

__all__ = ["Model", "Parameter", "Quantity", "find", "models"]
