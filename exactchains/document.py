"""Strict reading of JSON and TOML files from outside: numbers stay text, nothing is guessed, everything is bounded."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from exactchains.truth import InputError

MAX_BYTES = 64_000_000
MAX_DEPTH = 60
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|#.*")


def read_document(path: str | Path) -> dict[str, Any]:
    """Return the table in a ``.json`` or ``.toml`` file; every number literal is text, ``0.7`` is later read as 7/10.

    Raises
    ------
    InputError
        The file cannot be read, is too large or too deeply nested, repeats a key, holds NaN or infinity, or is no
        table.
    """
    place = Path(path)
    if place.suffix not in (".json", ".toml"):
        raise InputError(f"file {place.name!r}: .json and .toml files are read")
    try:
        raw = place.read_bytes()
    except OSError as error:
        raise InputError(f"file {place.name!r} cannot be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"file {place.name!r}: more than {MAX_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"file {place.name!r} is not UTF-8 text") from None
    return parsed(text, place.name, toml=place.suffix == ".toml")


def parsed(text: str, name: str = "text", *, toml: bool = False) -> dict[str, Any]:
    """Return the table that ``text`` spells; see :func:`read_document`."""
    if _depth(text) > MAX_DEPTH:
        raise InputError(f"{name}: brackets nested deeper than {MAX_DEPTH}")
    try:
        data = (
            tomllib.loads(text, parse_float=_finite)
            if toml
            else json.loads(
                text, object_pairs_hook=_table, parse_float=str, parse_int=str, parse_constant=_refuse_constant
            )
        )
    except _NoNumber as error:
        raise InputError(f"{name}, line {_line(error.word, text)}: {error}") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not valid {'TOML' if toml else 'JSON'}: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{name}: a table of names and values is needed, not a {type(data).__name__}")
    return data


def _depth(text: str) -> int:
    """Deepest nesting of brackets, those inside strings included: a bound."""
    deepest = depth = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        doubled = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise InputError(f"key {doubled[:60]!r} occurs twice in one table")
    return found


class _NoNumber(InputError):
    """A literal that stands for no number."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word} is no number; write exact numbers such as 7/10")
        self.word = word


def _refuse_constant(word: str) -> Any:
    raise _NoNumber(word)


def _line(word: str, text: str) -> int:
    """Return the line, from 1, of the first bare ``word`` that is a value, quoted text and comments left out."""
    value = re.compile(rf"(^|[=:,\[\s]){re.escape(word)}\s*($|[,\]}}])")
    bare = (_QUOTED.sub("", line) for line in text.splitlines())
    return next((i for i, line in enumerate(bare, 1) if value.search(line)), 1)


def _finite(word: str) -> str:
    if word.lstrip("+-") in ("nan", "inf"):
        _refuse_constant(word)
    return word
