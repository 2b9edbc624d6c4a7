"""Finite Markov sources: the chain of the state that updates report, and the values whose differences count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm
from typing import Any

from flint import fmpq

from aoi_tools.models.windows import Window
from exactchains.chain import FiniteChain, NotAGenerator
from exactchains.domain import QQ, Domain, rational
from exactchains.explore import classes, period
from exactchains.truth import DoesNotExist, InputError

FIELDS = {"matrix", "transitions", "states", "cyclic", "values"}


class NotIrreducible(DoesNotExist):
    """The source has several closed classes: no unique law; the message lists them."""


@dataclass(frozen=True)
class Source:
    """A finite Markov chain ``rows[i] = {j: probability}`` with ``values[i]``, a number or a vector of numbers.

    ``cyclic`` is the length of the cycle on which differences are taken, or None.  Two states may share one value:
    a hidden Markov source.  ``domain`` owns the probabilities (``QQ``, or rational functions for symbolic sources).
    """

    rows: tuple[Mapping[int, Any], ...]
    values: tuple[Any, ...] = ()
    cyclic: int | None = None
    domain: Domain = field(default=QQ)

    def __post_init__(self) -> None:
        values = tuple(map(_value, self.values)) or tuple(map(fmpq, range(len(self.rows))))
        object.__setattr__(self, "values", values)
        if len(values) != len(self.rows):
            raise InputError(f"values: {len(values)} given for {len(self.rows)} states; give one a state")
        if len({len(v) if isinstance(v, tuple) else 0 for v in values}) > 1:
            raise InputError("values: numbers and vectors, or vectors of several lengths, are mixed; give one kind")
        if self.cyclic is not None and (not isinstance(self.cyclic, int) or self.cyclic < 1):
            raise InputError(f"cyclic = {self.cyclic}: the length of the cycle is an integer >= 1")
        _ = self.chain  # refuses what is no chain

    @classmethod
    def of(
        cls,
        matrix: Sequence[Sequence[Any]],
        *,
        values: Sequence[Any] = (),
        cyclic: int | None = None,
        domain: Domain = QQ,
    ) -> "Source":
        """Return the source with this square stochastic matrix.

        Examples
        --------
        >>> from aoi_tools import Source
        >>> Source.of([["1/2", "1/2"], ["1/4", "3/4"]]).size
        2
        """
        size = len(matrix)
        rows = []
        for i, row in enumerate(matrix):
            if len(row) != size:
                raise NotAGenerator(f"matrix: row {i} has {len(row)} entries, expected {size}; give a square matrix")
            converted = ((j, domain.convert(x)) for j, x in enumerate(row))
            rows.append({j: x for j, x in converted if x != 0})
        return cls(tuple(rows), tuple(values), cyclic, domain)

    @classmethod
    def from_document(cls, data: Mapping[str, Any]) -> "Source":
        """Return the source of a read file: ``matrix``, or ``states`` and ``transitions``; ``values``, ``cyclic``."""
        if foreign := set(data) - FIELDS:
            raise InputError(f"source: unknown field {min(foreign)[:60]!r}; fields are {', '.join(sorted(FIELDS))}")
        if ("matrix" in data) == ("transitions" in data):
            raise InputError("source: give either matrix, or states and transitions")
        values = tuple(_list(data.get("values") or [], "values"))
        cyclic = None if data.get("cyclic") in (None, "null") else _integer(data["cyclic"], "cyclic")
        if "matrix" in data:
            rows = [_list(row, "matrix") for row in _list(data["matrix"], "matrix")]
            if "states" in data and data["states"] not in (len(rows), str(len(rows))):
                raise InputError(
                    f"states: a number, here {len(rows)} as the matrix has rows; states are called 0, 1, .., give what"
                    " they report in values"
                )
            return cls.of(rows, values=values, cyclic=cyclic)
        size = _integer(data.get("states"), "states")
        triples = [_list(t, "transitions") for t in _list(data["transitions"], "transitions")]
        if bad := next((t for t in triples if len(t) != 3), None):
            raise InputError(f"transitions: {bad!r} is no triple [from, to, probability]")
        moves = [(_integer(i, "state"), _integer(j, "state"), x) for i, j, x in triples]
        if size > len(moves):
            raise InputError(f"states = {size}: only {len(moves)} transitions; every state needs one, with sum 1")
        return cls(tuple(FiniteChain.from_transitions(size, moves, time="discrete").rows), values, cyclic)

    @cached_property
    def chain(self) -> FiniteChain:
        return FiniteChain(self.rows, "discrete", self.domain)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def dimension(self) -> int:
        return len(self.values[0]) if isinstance(self.values[0], tuple) else 1

    @property
    def bits(self) -> int:
        """Bits that tell all values apart."""
        return (len(set(self.values)) - 1).bit_length()

    @cached_property
    def recurrent(self) -> tuple[int, ...]:
        """States of the one closed class.

        Raises
        ------
        NotIrreducible
            There are several closed classes.
        """
        found = classes(self.chain).recurrent
        if len(found) > 1:
            shown = "; ".join(", ".join(map(str, c[:8])) + (", .." if len(c) > 8 else "") for c in found[:5])
            raise NotIrreducible(
                f"the source has {len(found)} closed classes of states ({shown}); each has a law of its own: "
                "choose one with class=STATE, in Python with restricted(state)"
            )
        return found[0]

    def restricted(self, state: int) -> "Source":
        """Return the source on the closed class that holds ``state``."""
        for members in classes(self.chain).recurrent:
            if state in members:
                return self._on(members)
        raise InputError(f"state {state} lies in no closed class of the source")

    def closed(self) -> "Source":
        """Return the source on its one closed class; transient states carry no weight."""
        return self if len(self.recurrent) == self.size else self._on(self.recurrent)

    def _on(self, members: Sequence[int]) -> "Source":
        place = {old: new for new, old in enumerate(members)}
        rows = tuple({place[j]: x for j, x in self.rows[i].items()} for i in members)
        return Source(rows, tuple(self.values[i] for i in members), self.cyclic, self.domain)

    @property
    def period(self) -> int:
        return period(self.chain, self.recurrent) or 1

    @cached_property
    def exact_bits(self) -> int | None:
        """Size in bits of the common denominator of the probabilities; None for symbols."""
        if self.domain != QQ:
            return None
        return lcm(1, *(int(x.q) for row in self.rows for x in row.values())).bit_length()

    def split(self, window: Window) -> tuple[tuple[dict[int, Any], ...], tuple[dict[int, Any], ...]]:
        """Return P_k and its complement: the transitions inside and outside of ``window``, by its weights."""
        small, large = [], []
        for i, row in enumerate(self.rows):
            inside, outside = {}, {}
            for j, x in row.items():
                w = window.weight(self.values[i], self.values[j], self.cyclic)
                if w != 0:
                    inside[j] = x if w == 1 else x * self.domain.convert(w)
                if w != 1:
                    outside[j] = x if w == 0 else x * self.domain.convert(1 - w)
            small.append(inside)
            large.append(outside)
        return tuple(small), tuple(large)

    @cached_property
    def step_invariant(self) -> bool:
        """Whether the chain moves by steps modulo its size, the same from every state, with values that follow."""
        first, n = dict(self.rows[0]), self.size
        steps = {self.values[(i + 1) % n] - self.values[i] for i in range(n)} if self.dimension == 1 else set()
        if self.cyclic != n or {s % n for s in map(_whole, steps)} != {1}:
            return False
        return all(dict(row) == {(i + s) % n: x for s, x in first.items()} for i, row in enumerate(self.rows))


def _whole(x: fmpq) -> int:
    return int(x.p) if x.q == 1 else 0


def _value(x: Any) -> Any:
    if isinstance(x, list | tuple):
        if not x:
            raise InputError("values: an empty vector")
        return tuple(rational(y, "values") for y in x)
    return rational(x, "values")


def _list(x: Any, name: str) -> list[Any]:
    if not isinstance(x, list):
        raise InputError(f"{name}: a list is needed")
    return x


def _integer(x: Any, name: str) -> int:
    value = rational(x, name) if isinstance(x, int | str) and not isinstance(x, bool) else fmpq(1, 2)
    if value.q != 1 or value < 0:
        raise InputError(f"{name} = {x!r}: an integer >= 0 is needed")
    return int(value.p)
