"""Parameters of chain files: entries as formulas, values from the file or from the caller, all exact."""

import re
from collections.abc import Mapping
from typing import Any

from flint import fmpq

from exactchains.chain import NotAGenerator, shown
from exactchains.number import Rational, parse, rational
from exactchains.truth import InputError
from proofs_check.arithmetic import FUNCTIONS, evaluated

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Entries:
    """Reads the numbers of a chain file: exact text, or formulas in the parameters that the file declares.

    ``declared`` is the file's table ``"parameters": {"p": "3/10", "r": null}``; ``given`` overrides its values.

    Raises
    ------
    InputError
        A parameter without value, a value for a name that is no parameter, or a name that cannot be one.
    """

    def __init__(self, declared: Any, given: Mapping[str, Rational]) -> None:
        if not isinstance(declared, dict):
            raise InputError('parameters: write a table of names and values, such as {"p": "3/10", "r": null}')
        for name in declared:
            if not _NAME.fullmatch(name) or name in FUNCTIONS:
                raise InputError(f"parameters: {name[:40]!r} cannot be a name; use letters, digits and _")
        if foreign := set(given) - set(declared):
            named = ", ".join(declared) or "none; declare them in 'parameters'"
            raise InputError(f"{min(foreign)[:40]} is no parameter of this chain; parameters are {named}")
        self.values: dict[str, fmpq] = {}
        for name, default in declared.items():
            if default is not None and not isinstance(default, str):
                raise InputError(f'parameter {name} = {default!r:.40} is no number; write for instance "7/10"')
            if default is None and name not in given:
                raise InputError(f"parameter {name} has no value; write --set {name}=VALUE")
            self.values[name] = rational(given.get(name, default), f"parameter {name}")

    def number(self, x: Any, place: str, *, least: int | None = None) -> fmpq:
        """Return the value of an entry; ``place`` names it in messages.

        Raises
        ------
        InputError
            No number and no formula, an unknown name, or a division by zero.
        NotAGenerator
            A formula whose value is below ``least``.
        """
        if not isinstance(x, str):
            raise InputError(f'{place} = {x!r:.40} is no number; write an exact number such as "7/10"')
        if not self.values:
            return parse(x, place)
        try:
            value = parse(x)
        except InputError:
            value = self._formula(x, place)
            if least is not None and value < least:
                raise NotAGenerator(f"{place} = {x:.60} = {shown(value)} is below {least}") from None
        return value

    def _formula(self, text: str, place: str) -> fmpq:
        try:
            return evaluated(text, self.values)
        except InputError as error:
            raise InputError(f"{place} = {text[:60]!r}: {error}") from None

    def at(self) -> str:
        """Return ``with p = 3/10, r = 1/10`` for messages; empty without parameters."""
        listed = ", ".join(f"{name} = {shown(value)}" for name, value in self.values.items())
        return f", with {listed}" if listed else ""
