"""Values of cells from a results store, computed and kept where they are not there yet."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

from exactchains.spread import spread
from exactchains.truth import DoesNotExist, InputError
from proofs_check.catalogue.model import Model, Quantity, spelled
from proofs_check.store.question import TRANSIENT, Answer, Question
from proofs_check.store.store import Store
from proofs_check.sweeps.work import answers
from proofs_check.tables.table import Cell

FILES = (".json", ".toml")
Target = tuple[Model, Mapping[str, str], Quantity, int]  # model, parameters, quantity, index where it takes one


def learn(store: Store, targets: Iterable[Target], digits: int, executor: Executor) -> None:
    """Compute on an executor what a store does not know, and keep what lasts."""
    wanted = {}
    for target in targets:
        try:
            question = _question(target, digits)
        except (DoesNotExist, InputError):
            continue  # the cell will say why
        if question is not None and _known(store, question) is None:
            wanted[question.key] = (question, _item(target, digits))
    for (question, _), answer in zip(
        wanted.values(), spread(_answered, [item for _, item in wanted.values()], executor), strict=True
    ):
        _kept(store, question, answer)


def recalled(store: Store, target: Target, digits: int) -> Cell | None:
    """Return the cell that a store knows, or that it knows from now on; None where nothing lasting was found.

    A parameter that names a file is not recalled: the file may have changed.
    """
    question = _question(target, digits)
    if question is None:
        return None
    answer = _known(store, question) or _kept(store, question, _answered(_item(target, digits)))
    if answer is None:
        return None
    if answer.enclosure is None:
        return Cell(status="undecided" if answer.status == "undecided" else "none", note=answer.reason)
    return Cell.number(answer.enclosure, method=answer.method, digits=digits)


def _question(target: Target, digits: int) -> Question | None:
    model, words, quantity, index = target
    if any(word.endswith(FILES) for word in words.values()):
        return None
    return Question(model.name, spelled(model.read(words)), quantity.name, index if quantity.indexed else None, digits)


def _item(target: Target, digits: int) -> dict[str, Any]:
    model, words, quantity, index = target
    asks = [[quantity.name, index if quantity.indexed else None]]
    return {"model": model.name, "parameters": dict(words), "asks": asks, "digits": digits}


def _answered(item: Mapping[str, Any]) -> dict[str, Any]:
    return next(answers(item))


def _known(store: Store, question: Question) -> Answer | None:
    answer = store.answer(question)
    return None if answer is None or answer.status in TRANSIENT else answer


def _kept(store: Store, question: Question, plain: Mapping[str, Any]) -> Answer | None:
    """Put an answer into the store, unless it may come out otherwise another time."""
    answer = Answer(**plain)
    if answer.status in TRANSIENT:
        return None
    store.put([(question, answer)])
    return answer
