"""What a sweep asks: axes, linked parameters, quantities, limits; every point is exact."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from flint import fmpq

from exactchains.document import parsed, read_document
from exactchains.number import parse
from exactchains.truth import InputError
from proofs_check.arithmetic import NoValue, evaluated, names_in
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.store.question import Question
from proofs_check.sweeps.work import NO_VALUE

Axis = Mapping[str, tuple[str, ...]]  # parameters that walk together, and their values


@dataclass(frozen=True)
class Limits:
    """Limits of one answer: seconds, and bytes of memory beyond those of an idle worker; None: none."""

    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Comparison:
    """The difference whose sign is followed: the quantity of the sweep minus that of ``against``, or minus ``value``.

    Between neighbouring values of ``over`` where the sign certainly changes, the interval is halved until it is no
    wider than ``to``.
    """

    over: str
    to: str
    against: str = ""
    quantity: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    value: str = ""


@dataclass(frozen=True)
class Spec:
    """A sweep: the product of ``axes``, with fixed and linked parameters, for every model, quantity and index."""

    name: str
    models: tuple[str, ...]
    quantities: tuple[str, ...]
    axes: tuple[Axis, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    linked: Mapping[str, str] = field(default_factory=dict)
    indices: tuple[int, ...] = ()
    digits: int = 15
    limits: Limits = Limits()
    boundary: Comparison | None = None
    certificates: bool = False

    @property
    def size(self) -> int:
        """Number of points of the grid."""
        return prod(len(next(iter(axis.values()))) for axis in self.axes)

    def points(self) -> Iterator[dict[str, str]]:
        """Yield the points as parameter words, the last axis running fastest."""
        steps = [[dict(zip(axis, row, strict=True)) for row in zip(*axis.values(), strict=True)] for axis in self.axes]
        for chosen in product(*steps):
            yield self.words({name: x for part in chosen for name, x in part.items()})

    def words(self, point: Mapping[str, str]) -> dict[str, str]:
        """Return all parameters at a point of the axes: fixed ones and linked ones added.

        A formula without a value at this point leaves the reason, after ``NO_VALUE``, in the place of the number.
        """
        words = {**self.parameters, **point}
        if not self.linked:
            return words
        numbers = {name: x for name, word in words.items() if (x := _number(word)) is not None}
        for name, formula in self.linked.items():
            try:
                numbers[name] = evaluated(formula, numbers)
                words[name] = str(numbers[name])
            except NoValue as error:
                words[name] = NO_VALUE + str(error).replace("a formula", formula)
            except InputError as error:
                lost = sorted(names_in(formula, words) & {*point, *self.linked} - numbers.keys())
                if not lost:
                    raise InputError(f"linked.{name}: {error}") from None
                reason = words[lost[0]]
                words[name] = reason if reason.startswith(NO_VALUE) else f"{NO_VALUE}no number {lost[0]} in {formula}"
        return words

    def questions(self) -> list[Question]:
        """Return every question of the grid, each once, in the order of the points."""
        found: dict[str, Question] = {}
        for name in self.models:
            model = find(name)
            pairs = [(q, i) for q in self.quantities for i in (self.indices if model.quantity(q).indexed else (None,))]
            for words in self.points():
                exact = parameters(model, words, strict=len(self.models) == 1)
                for quantity, index in pairs:
                    question = Question(name, exact, quantity, index, self.digits)
                    found.setdefault(question.key, question)
        return list(found.values())


def parameters(model: Model, words: Mapping[str, str], *, strict: bool) -> dict[str, str]:
    """Return canonical parameters of a model; words that it refuses stay as they are, for the record of the refusal.

    Unless ``strict``, parameters that the model does not have are left out: they belong to another model of the sweep.
    """
    known = {name for p in model.parameters for name in (p.name, p.symbol)}
    own = {name: x for name, x in words.items() if strict or name in known}
    try:
        return spelled(model.read(own))
    except InputError:
        return {name: x if (number := _number(x)) is None else str(number) for name, x in own.items()}


def read_spec(path: str | Path) -> Spec:
    """Return the sweep that a TOML file describes.

    Raises
    ------
    InputError
        The file cannot be read or asks for something impossible; the message names file, line and key.
    """
    from proofs_check.sweeps.reader import Reader

    place = Path(path)
    if place.suffix != ".toml":
        raise InputError(f"sweep {place.name[:80]!r}: a specification is a .toml file")
    data = read_document(place)
    return Reader(place.stem, place.name, place.read_text(encoding="utf-8")).spec(data)


def from_text(text: str, name: str = "sweep") -> Spec:
    """Return the sweep that TOML text describes."""
    from proofs_check.sweeps.reader import Reader

    data: dict[str, Any] = parsed(text, f"{name}.toml", toml=True)
    return Reader(name, f"{name}.toml", text).spec(data)


@lru_cache(10_000)
def _number(word: str) -> fmpq | None:
    """Return the number that a word spells; None where it spells none."""
    try:
        return parse(word)
    except InputError:
        return None
