"""What a model tells a user about itself, and how its parameters are read from text."""

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from exactchains.enclosure import Result
from exactchains.number import parse
from exactchains.truth import DoesNotExist, InputError, Undecided


@dataclass(frozen=True)
class Parameter:
    """One parameter: canonical name, field symbol, unit, what is allowed.

    ``kind`` is ``rational``, ``integer``, ``choice`` (of ``choices``) or ``text`` (read by the model itself).
    ``lower`` and ``upper`` are inclusive bounds of a number, ``below`` an exclusive one.
    """

    name: str
    symbol: str
    meaning: str
    unit: str = ""
    kind: str = "rational"
    lower: int | None = None
    upper: int | None = None
    below: int | None = None
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = True

    @property
    def allowed(self) -> str:
        if self.kind == "choice":
            return " | ".join(self.choices)
        if self.kind == "text":
            return "text"
        what = "integer" if self.kind == "integer" else "exact number"
        if self.lower is not None and self.upper is not None:
            return f"{what} from {self.lower} to {self.upper}"
        if self.lower is not None and self.below is not None:
            return f"{what} from {self.lower} to below {self.below}"
        if self.lower is not None:
            return f"{what} >= {self.lower}"
        return what

    def read(self, word: str) -> Any:
        """Return the value that ``word`` spells: ``fmpq``, ``int`` or ``str``."""
        if self.kind == "text":
            return word
        if self.kind == "choice":
            if word not in self.choices:
                raise InputError(f"{self.name} = {word[:60]!r}: allowed are {self.allowed}")
            return word
        value = parse(word, self.name)
        if self.kind == "integer" and value.q != 1:
            raise InputError(f"{self.name} = {word[:60]}: {self.allowed} is needed")
        below = self.lower is not None and value < self.lower
        above = (self.upper is not None and value > self.upper) or (self.below is not None and value >= self.below)
        if below or above:
            raise InputError(f"{self.name} = {word[:60]}: {self.allowed} is needed")
        return int(value.p) if self.kind == "integer" else value


@dataclass(frozen=True)
class Quantity:
    """One quantity: name, symbol, unit, definition; ``index`` is the symbol of what a range is asked for, if any,
    and ``first`` the least of them."""

    name: str
    symbol: str
    meaning: str
    unit: str = ""
    index: str = ""
    index_unit: str = ""
    first: int = 0

    @property
    def indexed(self) -> bool:
        return bool(self.index)


@dataclass(frozen=True)
class Model:
    """A named model.

    ``build`` turns read parameters into the model object (raising InputError for contradictions); ``solve`` returns
    one Result for (object, quantity, index, digits), certain to ``digits`` or raising PrecisionExhausted.
    ``extent`` gives the number of indices of a quantity of an object, None where there is no end; ``certify`` makes
    the certificate of a result that does not carry one, on demand.
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    quantities: tuple[Quantity, ...]
    build: Callable[[Mapping[str, Any]], Any]
    solve: Callable[[Any, str, int | None, int], Result]
    conventions: tuple[str, ...] = ()
    source: str = ""
    extent: Callable[[Any, str], int | None] | None = None
    certify: Callable[[Any, Result], dict[str, Any] | None] | None = None

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name or symbol."""
        for p in self.parameters:
            if name in (p.name, p.symbol):
                return p
        known = [p.name for p in self.parameters]
        near = difflib.get_close_matches(name[:80], known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ";"
        raise InputError(f"{self.name} has no parameter {name[:80]!r}{hint} it has {', '.join(known)}")

    def quantity(self, name: str) -> Quantity:
        for q in self.quantities:
            if q.name == name:
                return q
        known = [q.name for q in self.quantities]
        near = difflib.get_close_matches(name[:80], known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ";"
        raise InputError(f"{self.name} has no quantity {name[:80]!r}{hint} it has {', '.join(known)}")

    def read(self, words: Mapping[str, str]) -> dict[str, Any]:
        """Return exact values by canonical name from text by name or symbol; defaults are filled in.

        Raises
        ------
        InputError
            A foreign, doubled, missing, malformed or out-of-range parameter.
        """
        values: dict[str, Any] = {}
        for key, word in words.items():
            p = self.parameter(key)
            if p.name in values:
                raise InputError(f"{p.name} is given twice (as {p.name} and {p.symbol}); give it once")
            values[p.name] = p.read(word)
        for p in self.parameters:
            if p.name not in values:
                if p.default is not None:
                    values[p.name] = p.read(p.default)
                elif p.required:
                    raise InputError(f"{self.name} needs {p.name} ({p.meaning}): {p.allowed}")
        return values

    def make(self, words: Mapping[str, str]) -> Any:
        """Return the model object for parameters given as text."""
        return self.build(self.read(words))

    def results(
        self,
        thing: Any,
        quantities: Sequence[str],
        indices: Sequence[int],
        digits: int,
        refused: dict[str, Exception] | None = None,
    ) -> list[Result]:
        """Return one Result a quantity, or a quantity and index where it is indexed, each with its own cost.

        A quantity that has no answer ends the list of its indices; it goes into ``refused``, or is raised without that.
        """
        found = []
        for name in quantities:
            wanted: Sequence[int | None] = self._indices(thing, name, indices)
            for index in wanted:
                start = time.perf_counter()
                try:
                    result = self.solve(thing, name, index, digits)
                except (DoesNotExist, InputError, Undecided) as error:
                    if refused is None:
                        raise
                    refused[name if index is None else f"{name}[{index}]"] = error
                    break
                found.append(replace(result, quantity=name, index=index, seconds=time.perf_counter() - start))
        return found

    def _indices(self, thing: Any, name: str, indices: Sequence[int]) -> Sequence[int | None]:
        """Return the indices to solve for: those that the quantity has, or all when it has none of them."""
        if not (quantity := self.quantity(name)).indexed:
            return [None]
        end = self.extent(thing, name) if self.extent else None
        return [i for i in indices if i >= quantity.first and (end is None or i < end)] or indices


def spelled(values: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters as exact text, for output and hashing."""
    return {name: str(x) if isinstance(x, fmpq | int) else x for name, x in values.items()}
