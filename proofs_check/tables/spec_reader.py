"""What the readers of specifications share: errors that name key and line, and refusal of what is not known."""

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from exactchains.truth import InputError
from proofs_check.tables.lines import line_of

T = TypeVar("T")


class SpecReader:
    """Reads one specification; knows the text, so that an error can name a line."""

    def __init__(self, name: str, file: str, text: str) -> None:
        self.name, self.file, self.lines = name, file, text.splitlines()

    def error(self, key: str, says: str) -> InputError:
        line = line_of(key, self.lines)
        return InputError(f"{self.file}{f', line {line}' if line else ''}: {key}: {says}")

    def _known(self, data: Mapping[str, Any], allowed: set[str], where: str) -> None:
        for key in data:
            if key not in allowed:
                near = difflib.get_close_matches(key[:80], allowed, n=1)
                hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(sorted(allowed))}"
                raise self.error(f"{where}{key[:80]}", f"unknown key; {hint}")

    def _try(self, key: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except InputError as error:
            raise self.error(key, str(error)) from None

    def _digits(self, x: Any) -> int:
        if isinstance(x, bool) or not re.fullmatch(r"[0-9]{1,6}", str(x)) or not 1 <= int(str(x)) <= 100_000:
            raise self.error("digits", "an integer from 1 to 100000 is needed")
        return int(str(x))
