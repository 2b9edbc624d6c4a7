"""What a sweep is going to cost: from what the store has measured, else from a few trial points."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from proofs_check.store import Question, Store
from proofs_check.sweeps.guard import Guard
from proofs_check.sweeps.schedule import Item
from proofs_check.sweeps.spec import Limits

TRIALS = 5  # questions of each model and quantity
PATIENCE = 2.0  # seconds that one trial may take


@dataclass(frozen=True)
class Cost:
    """Seconds of computing for all questions; ``basis`` says from what, ``least`` that a trial was stopped."""

    seconds: float
    basis: str
    least: bool = False

    def __str__(self) -> str:
        return f"{'at least' if self.least else 'about'} {self.seconds:.3g} s of computing ({self.basis})"


def cost(questions: Sequence[Question], store: Store | None) -> Cost:
    """Return an estimate; nothing is stored."""
    known = store.costs() if store is not None else {}
    groups: dict[tuple[str, str], list[Question]] = {}
    for q in questions:
        groups.setdefault((q.model, q.quantity), []).append(q)
    total, tried, least = 0.0, 0, False
    guard = Guard(Limits(seconds=PATIENCE))
    try:
        for pair, group in groups.items():
            if pair in known:
                total += known[pair] * len(group)
                continue
            # a fixed stride would fall in step with the grid, and try one value of an axis only
            chosen = random.Random(0).sample(group, min(TRIALS, len(group)))
            answers = [guard.answers(Item((q,)).plain())[0] for q in chosen]
            total += sum(a["seconds"] for a in answers) / len(chosen) * len(group)
            least |= any(a["status"] == "timeout" for a in answers)
            tried += len(chosen)
    finally:
        guard.close()
    return Cost(total, f"from {tried} trial points" if tried else "from the costs in the store", least)
