"""What is claimed, of what, on whose word.  A claim has no status: that is computed from its certificate."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


class Scope(enum.Enum):
    """For which parameters a claim speaks."""

    ALL = "all parameters"
    BOX = "a box of parameters"
    INSTANCE = "these numbers"
    SAMPLED = "samples only"


class Verdict(enum.Enum):
    """What is expected of a claim: exactly one of the two."""

    PROVED = "proved"
    REFUTED = "refuted"


@dataclass(frozen=True)
class Source:
    """The papers (P1 to P8, or none), and how the claim relates to them: states, sharpens, corrects, ours."""

    papers: tuple[str, ...]
    relation: str
    place: str = ""

    def __str__(self) -> str:
        papers = " ".join(self.papers) or "no paper"
        return f"{papers} ({self.relation}{', ' + self.place if self.place else ''})"


@dataclass(frozen=True)
class Statement:
    """A claim in the form that a checker reads: problem and conclusion, derived from the live model."""

    kind: str
    problem: Mapping[str, Any]
    conclusion: Mapping[str, Any]


def together(*parts: Statement) -> Statement:
    """Return the conjunction of several statements."""
    return Statement(
        "all",
        {"parts": [{"kind": part.kind, "problem": part.problem} for part in parts]},
        {"parts": [part.conclusion for part in parts]},
    )


@dataclass(frozen=True)
class Claim:
    """One claim.

    ``statement`` derives problem and conclusion from the models, in the trusted part of the product; ``witness`` is
    a point at which the assumptions hold, so that the claim is not empty; ``argument`` says how it is proved, for a
    referee; ``uses`` names claims it rests on.  ``missing`` says of an open claim what its proof lacks; such a claim
    has no certificate, and its statement is words only.  ``fails`` says of a refuted claim exactly where it fails.
    """

    id: str
    text: str
    source: Source
    scope: Scope
    statement: Callable[[], Statement] = lambda: Statement("open", {}, {})
    latex: str = ""
    assumptions: str = ""
    argument: str = ""
    definitions: tuple[str, ...] = ()
    expected: Verdict = Verdict.PROVED
    witness: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[str, ...] = ()

    missing: str = ""
    fails: str = ""

    def _repr_latex_(self) -> str | None:
        """Return the statement as a notebook typesets it."""
        return f"$\\displaystyle {self.latex}$" if self.latex else None
