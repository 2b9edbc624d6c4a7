"""Markov chains as data: finite chains over any domain, checked exactly when they are made."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from flint import fmpq

from exactchains.domain import QQ, Domain, Rationals
from exactchains.rows import CompactRows, transition_rows
from exactchains.truth import InputError, Truth

Time = Literal["continuous", "discrete"]
SHOWN = 80  # characters of a number in a message


class NotAGenerator(InputError):
    """The rates or probabilities do not form a Markov chain; the message names the row, the entry and the defect."""


@dataclass(frozen=True)
class FiniteChain:
    """A finite chain: ``rows[i]`` maps j to the rate (continuous time) or probability (discrete time) of i -> j.

    Continuous time holds off-diagonal rates only, discrete time all probabilities.  Numbers are native to ``domain``;
    rational chains hold them compactly (:class:`CompactRows`), 12 to 16 bytes a transition.  ``labels[i]`` names
    state i where the chain was explored from a transition function.
    """

    rows: Sequence[Mapping[int, Any]]
    time: Time = "continuous"
    domain: Domain = field(default=QQ)
    labels: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        if self.time not in ("continuous", "discrete"):
            raise InputError(f"time = {self.time!r}: give 'continuous' or 'discrete'")
        if not len(self.rows):
            raise NotAGenerator("a chain has at least one state; give its rows")
        for i, row in enumerate(self.rows):
            for j, x in row.items():
                if not 0 <= j < len(self.rows):
                    raise NotAGenerator(f"entry ({i}, {j}): states are 0 to {len(self.rows) - 1}")
                nonnegative(x, f"entry ({i}, {j})", self.domain)
                if i == j and self.time == "continuous":
                    raise NotAGenerator(f"entry ({i}, {i}): a rate from a state to itself; leave it out")
            if self.time == "discrete":
                sums_to(1, row.values(), f"row {i}", self.domain)
        if self.domain == QQ and not isinstance(self.rows, CompactRows):
            object.__setattr__(self, "rows", CompactRows.gather(self.rows))

    @classmethod
    def checked(cls, rows: CompactRows, *, time: Time, labels: Sequence[Hashable] | None = None) -> "FiniteChain":
        """Wrap rational rows that the caller has already checked entry by entry (:mod:`exactchains.solvers.arrays`)."""
        chain = object.__new__(cls)
        for name, value in (("rows", rows), ("time", time), ("domain", QQ), ("labels", labels)):
            object.__setattr__(chain, name, value)
        return chain

    @classmethod
    def from_transitions(
        cls, size: int, transitions: Iterable[tuple[int, int, Any]], *, time: Time = "continuous", domain: Domain = QQ
    ) -> "FiniteChain":
        """Build from triples (i, j, rate), 0-based; a pair that occurs twice is refused."""
        return cls(tuple(transition_rows(size, transitions, domain.convert, NotAGenerator)), time, domain)

    @classmethod
    def from_matrix(cls, matrix: Any, *, time: Time = "continuous", domain: Domain = QQ) -> "FiniteChain":
        """Build from a square matrix: a generator with its diagonal, or a stochastic matrix.

        ``matrix`` is a list of rows, or a scipy sparse matrix with an integer data type.
        """
        rows = _sparse_rows(matrix, domain) if hasattr(matrix, "tocoo") else _dense_rows(matrix, domain)
        if time == "continuous":
            for i, row in enumerate(rows):
                sums_to(0, row.values(), f"row {i}", domain)
                row.pop(i, None)
        return cls(tuple(rows), time, domain)

    @classmethod
    def from_floats(cls, matrix: Any, *, time: Time = "continuous") -> tuple["FiniteChain", fmpq]:
        """Build from doubles: every off-diagonal is the exact double it is, the diagonal follows from them.

        Returns
        -------
        chain, defect
            The chain, and the largest distance of a given diagonal entry from the one that makes its row exact.

        Raises
        ------
        NotAGenerator
            An entry is NaN, infinite or negative, or the off-diagonals of a stochastic row exceed 1.
        """
        given = matrix.tocoo() if hasattr(matrix, "tocoo") else None
        rows = _sparse_rows(matrix, EXACT_DOUBLES) if given is not None else _dense_rows(matrix, EXACT_DOUBLES)
        total, worst = fmpq(0 if time == "continuous" else 1), fmpq(0)
        for i, row in enumerate(rows):
            diagonal, rest = row.pop(i, fmpq(0)), sum(row.values(), fmpq(0))
            worst = max(worst, abs(total - rest - diagonal))
            if time == "discrete":
                if rest > 1:
                    raise NotAGenerator(f"row {i}: off-diagonals sum to {shown(rest)} > 1; give probabilities")
                row[i] = 1 - rest
        return cls(tuple(rows), time), worst

    @property
    def size(self) -> int:
        return len(self.rows)

    def index(self, label: Hashable) -> int:
        """Return the number of the state with this label."""
        if self.labels is None:
            raise InputError(f"this chain has no labels; states are 0 to {self.size - 1}")
        try:
            return self.labels.index(label)
        except ValueError:
            raise InputError(f"state {label!r} is not one of the {self.size} states") from None


def __getattr__(name: str) -> Any:
    if name == "LevelChain":  # it lives in a file of its own, which imports this one
        from exactchains.level_chain import LevelChain

        return LevelChain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_zero(x: Any, domain: Domain) -> bool:
    """Return whether ``x`` is known to be zero; an undecided entry counts as present."""
    return domain.equal(x, domain.convert(0)) is Truth.TRUE


def _square(matrix: Sequence[Sequence[Any]], name: str) -> int:
    table(matrix, name)
    size = len(matrix)
    for i, row in enumerate(matrix):
        if len(row) != size:
            raise NotAGenerator(f"{name}: row {i} has {len(row)} entries, expected {size}; give a square block")
    return size


def table(matrix: Any, name: str) -> None:
    """Refuse what is no sequence of rows."""
    if hasattr(matrix, "ndim"):
        good = matrix.ndim == 2
    else:
        good = isinstance(matrix, Sequence) and all(
            isinstance(row, Sequence) or getattr(row, "ndim", 0) == 1 for row in matrix
        )
    if not good:
        raise InputError(f"{name} is a {type(matrix).__name__}, not a table; give a list of rows or a sparse matrix")


def shown(x: Any) -> str:
    """Return a number for a message: its ends and its length where it is long."""
    text = str(x)
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN // 2]}..{text[-SHOWN // 4 :]} ({len(text)} characters)"


def nonnegative(x: Any, where: str, domain: Domain) -> None:
    """Refuse an entry that is certainly negative; ``where`` names it."""
    if domain.less(x, domain.convert(0)) is Truth.TRUE:
        raise NotAGenerator(f"{where} = {shown(x)} is negative; rates and probabilities are >= 0")


def sums_to(target: int, row: Iterable[Any], where: str, domain: Domain) -> None:
    """Refuse a row that certainly does not sum to ``target``; the message holds the defect."""
    total = sum(row, domain.convert(0))
    if domain.rigor == 0:  # doubles: sums are rounded, they prove nothing either way
        if abs(total - target) <= 1e-9:
            return
    elif domain.equal(total, domain.convert(target)) is not Truth.FALSE:
        return
    raise NotAGenerator(f"{where} sums to {shown(total)}, expected {target}; give exact numbers that sum to {target}")


class _ExactDoubles(Rationals):
    """Rationals that read a double as the dyadic number it is; only :meth:`FiniteChain.from_floats` uses it."""

    def convert(self, x: Any) -> fmpq:
        if hasattr(x, "item"):  # a numpy number
            x = x.item()
        if isinstance(x, float):
            if not math.isfinite(x):
                raise NotAGenerator(f"an entry is {x}; give finite numbers")
            return fmpq(*x.as_integer_ratio())
        return super().convert(x)


EXACT_DOUBLES = _ExactDoubles()


def _dense_rows(matrix: Any, domain: Domain) -> list[dict[int, Any]]:
    _square(matrix, "matrix")
    rows = []
    for i, row in enumerate(matrix):
        converted = {j: _convert(x, (i, j), domain) for j, x in enumerate(row)}
        rows.append({j: x for j, x in converted.items() if not is_zero(x, domain)})
    return rows


def _sparse_rows(matrix: Any, domain: Domain) -> list[dict[int, Any]]:
    given = matrix.tocoo()
    size, width = given.shape
    if size != width:
        raise NotAGenerator(f"matrix is {size} x {width}; give a square matrix")
    if given.data.dtype.kind == "f" and domain == QQ and domain is not EXACT_DOUBLES:
        raise TypeError("the sparse matrix holds floats; give integers, or use FiniteChain.from_floats")
    triples = zip(given.row.tolist(), given.col.tolist(), given.data.tolist(), strict=True)
    return transition_rows(size, ((i, j, _convert(x, (i, j), domain)) for i, j, x in triples), _same, NotAGenerator)


def _convert(x: Any, place: tuple[int, int], domain: Domain) -> Any:
    try:
        return domain.convert(x.item() if hasattr(x, "item") and not isinstance(domain, _ExactDoubles) else x)
    except (InputError, TypeError) as error:
        raise type(error)(f"entry {place}: {error}") from None


def _same(x: Any) -> Any:
    return x
