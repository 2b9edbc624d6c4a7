"""Merging of stores: what both know must overlap."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from proofs_check.store.question import Answer, Question
from proofs_check.store.store import Contradiction, Store, said

BATCH = 1000  # rows a transaction


@dataclass(frozen=True)
class Merged:
    """How many rows the other store had, and how many of them were new or better."""

    seen: int
    taken: int


def merge(store: Store, other: str | Path) -> Merged:
    """Take into ``store`` what the store at ``other`` knows and it does not, or knows better.

    Guarantee
    ---------
    Nothing is taken unless the certain enclosures of every subject that both know have a number in common.

    Raises
    ------
    Contradiction
        They do not; the message lists the first of them, with both answers.
    """
    with Store(other) as source:
        _agree(store, source)
        seen = taken = 0
        rows = source.rows()
        while batch := list(islice(rows, BATCH)):
            seen += len(batch)
            taken += store.put(batch)
    return Merged(seen, taken)


def _agree(store: Store, source: Store) -> None:
    known: dict[str, list[tuple[Question, Answer]]] = {}
    for question, answer in store.rows():
        known.setdefault(question.subject, []).append((question, answer))
    against = dict.fromkeys(
        f"{question.label}: {said(mine)} here, {said(answer)} there"
        for question, answer in source.rows()
        for asked, mine in known.get(question.subject, [])
        if mine.contradicts(answer, same_key=asked.key == question.key)
    )
    if against:
        more = f" and {len(against) - 3} more" if len(against) > 3 else ""
        listed = "; ".join(list(against)[:3]) + more
        raise Contradiction(
            f"store {source.path.name!r} contradicts {store.path.name!r}, nothing was merged: {listed}; one of them is"
            " wrong: keep both files and report it"
        )
