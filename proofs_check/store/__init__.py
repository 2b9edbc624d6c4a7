"""Results that last: one SQLite file of exact text, export, and merging with a check for contradictions."""

from proofs_check.store.export import checked_export, export
from proofs_check.store.merge import merge
from proofs_check.store.question import METHODS, Answer, Question
from proofs_check.store.store import Contradiction, Store, StoreDamaged, StoreError

__all__ = [
    "METHODS",
    "Answer",
    "Contradiction",
    "Question",
    "Store",
    "StoreDamaged",
    "StoreError",
    "checked_export",
    "export",
    "merge",
]
