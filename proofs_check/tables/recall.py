"""Values of cells from a results store, computed and kept where they are not there yet."""

from collections.abc import Mapping

from proofs_check.catalogue.model import Model, spelled
from proofs_check.store.question import TRANSIENT, Answer, Question
from proofs_check.store.store import Store
from proofs_check.sweeps.work import answers
from proofs_check.tables.table import Cell

FILES = (".json", ".toml")


def recalled(
    store: Store, model: Model, words: Mapping[str, str], quantity: str, *, index: int | None, digits: int
) -> Cell | None:
    """Return the cell that a store knows, or that it knows from now on; None where nothing lasting was found.

    A parameter that names a file is not recalled: the file may have changed.
    """
    if any(word.endswith(FILES) for word in words.values()):
        return None
    question = Question(model.name, spelled(model.read(words)), quantity, index, digits)
    answer = store.answer(question)
    if answer is None or answer.status in TRANSIENT:
        item = {"model": model.name, "parameters": dict(words), "asks": [[quantity, index]], "digits": digits}
        answer = Answer(**next(answers(item)))
        if answer.status in TRANSIENT:
            return None
        store.put([(question, answer)])
    if answer.enclosure is None:
        return Cell(status="undecided" if answer.status == "undecided" else "none", note=answer.reason)
    return Cell.number(answer.enclosure, method=answer.method, digits=digits)
