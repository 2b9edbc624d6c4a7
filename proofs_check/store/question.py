"""What is asked and what was answered, as plain text: the rows of a results store."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from exactchains.enclosure import Enclosure
from exactchains.number import unwire
from proofs_check.store.methods import method_version

METHODS = method_version()
VALUES = ("exact", "enclosed", "estimate")
FAILURES = ("undecided", "refused", "timeout", "memory", "failed")
TRANSIENT = ("timeout", "memory", "failed")  # failures that another machine or other limits may mend


@dataclass(frozen=True)
class Question:
    """One quantity of one model at exact parameters, to a number of certain digits.

    ``parameters`` are canonical names and exact text, defaults included; ``methods`` is the version of the methods.
    """

    model: str
    parameters: Mapping[str, str]
    quantity: str
    index: int | None
    digits: int
    methods: str = METHODS

    @cached_property
    def text(self) -> str:
        """The canonical JSON of the question."""
        return canonical(self._subject() | {"digits": self.digits, "methods": self.methods})

    @cached_property
    def key(self) -> str:
        """The SHA-256 of :attr:`text`: the key of the row."""
        return sha256(self.text)

    @cached_property
    def subject(self) -> str:
        """The SHA-256 of the question without digits and methods: answers to one subject must overlap."""
        return sha256(canonical(self._subject()))

    @property
    def label(self) -> str:
        """The question in one line, for messages."""
        words = " ".join(f"{name}={x}" for name, x in self.parameters.items())
        index = "" if self.index is None else f"[{self.index}]"
        return f"{self.model} {words[:200]} {self.quantity}{index}"

    @property
    def order(self) -> tuple[Any, ...]:
        """What exports are sorted by: model, quantity, parameters as numbers where they are numbers, index, digits."""
        return self.model, self.quantity, _sortable(self.parameters), self.index or 0, self.digits, self.methods

    def _subject(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "quantity": self.quantity,
            "index": self.index,
        }

    @classmethod
    def from_text(cls, text: str) -> "Question":
        """Return the question that :attr:`text` spells.

        Raises
        ------
        ValueError
            The text is no question.
        """
        parts = json.loads(text)
        if not isinstance(parts, dict) or parts.keys() != _KINDS.keys():
            raise ValueError(f"a question has {', '.join(_KINDS)}")
        _checked(parts, _KINDS)
        if not all(isinstance(word, str) for word in parts["parameters"].values()):
            raise ValueError("parameters are not all text")
        return cls(**parts)


@dataclass(frozen=True)
class Answer:
    """What came of a question: two exact ends as lossless text, or a status and the reason.

    ``status`` is one of ``VALUES`` or ``FAILURES``.  An undecided answer may have ends: true, but not narrow enough.
    ``certain_digits`` is None for an exact value.  ``certificate`` is the path of a file; ``seconds`` are the cost.
    """

    status: str
    lower: str | None = None
    upper: str | None = None
    certain_digits: int | None = None
    reason: str = ""
    method: str = ""
    certificate: str = ""
    seconds: float = 0.0
    versions: str = ""

    def __post_init__(self) -> None:
        if self.status not in VALUES + FAILURES:
            raise ValueError(f"status {self.status!r}: one of {', '.join(VALUES + FAILURES)}")
        if (self.lower is None) != (self.upper is None) or (self.status in VALUES and self.lower is None):
            raise ValueError(f"an answer {self.status!r} needs both ends, and only a failure may have none")
        if self.lower is not None and self.status not in (*VALUES, "undecided"):
            raise ValueError(f"an answer {self.status!r} has no ends")
        _checked(vars(self), _PARTS)
        _ = self.enclosure  # ends that are no numbers, or cross, are refused here

    @property
    def has_value(self) -> bool:
        return self.status in VALUES

    @cached_property
    def enclosure(self) -> Enclosure | None:
        """The ends as an enclosure; None where there are none."""
        if self.lower is None or self.upper is None:
            return None
        if self.status == "undecided":
            return Enclosure(unwire(self.lower), unwire(self.upper))
        return Enclosure.from_json({"lower": self.lower, "upper": self.upper, "status": self.status})

    @property
    def _rank(self) -> int:
        return 2 if self.has_value else 0 if self.status in TRANSIENT else 1

    @property
    def vouched(self) -> Enclosure | None:
        """The enclosure where it is certain; None for an estimate."""
        return None if self.status == "estimate" else self.enclosure

    def contradicts(self, other: "Answer", *, same_key: bool) -> bool:
        """Return whether both are certain and have no number in common, or one refused the very question the other met.

        With other digits or methods (not the ``same_key``) a refusal may be one of the digits or of an older method.
        """
        mine, theirs = self.vouched, other.vouched
        if same_key and "refused" in (self.status, other.status):
            return mine is not None or theirs is not None
        return mine is not None and theirs is not None and not mine.overlaps(theirs)

    def better(self, other: "Answer") -> bool:
        """Return whether this answer says more: a value, else a settled failure, else the narrower of two."""
        if self._rank != other._rank:
            return self._rank > other._rank
        mine, theirs = self.enclosure, other.enclosure
        if mine is None or theirs is None or mine.rigor != theirs.rigor:
            return mine is not None and (theirs is None or mine.rigor > theirs.rigor)
        return bool(mine.upper - mine.lower < theirs.upper - theirs.lower)

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _PARTS}


_KINDS = {"model": str, "parameters": dict, "quantity": str, "index": int | None, "digits": int, "methods": str}
_PARTS: dict[str, Any] = {part.name: part.type for part in fields(Answer)} | {"seconds": int | float}


def _checked(parts: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    for name, kind in kinds.items():
        if not isinstance(parts[name], kind):
            raise ValueError(f"{name} is {str(parts[name])[:40]!r}")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # dumps would make one a call


def canonical(data: Any) -> str:
    """Return JSON with sorted keys, no blanks and ASCII only: one text for one value."""
    return _CANONICAL.encode(data)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _sortable(parameters: Mapping[str, str]) -> tuple[Any, ...]:
    return tuple((name, *_number_or_text(parameters[name])) for name in sorted(parameters))


def _number_or_text(x: str) -> tuple[int, Any, str]:
    try:
        return 0, unwire(x), ""
    except ValueError:
        return 1, 0, x
