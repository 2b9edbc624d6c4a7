"""Certificate files: strict JSON, a fixed table of kinds, and the one function that checks a file."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from proofs_check.check.exact import Rejected, fields, word
from proofs_check.check.polynomial import Work

FORMAT = 1
MAX_BYTES = 256_000_000
KINDS = {
    "all": "conjunction",
    "identity": "identity",
    "sign": "statements",
    "induction": "induction",
    "levels": "levels",
    "counterexample": "counterexample",
    "words": "words",
    "coupling": "coupling",
    "stationary": "stationary",
    "mean": "mean",
    "lumping": "lumping",
    "level-drift": "recurrence",
    "rates": "rate_matrix",
    "level-law": "level_law",
    "dependent-law": "dependent_law",
    "poisson": "infinite",
    "fixed-point": "fixed_point",
    "comparison": "comparison",
    "drift": "drift",
    "no-drift": "farkas",
    "polynomial-drift": "polynomial_drift",
    "sample": "sampling",
    "domination": "domination",
    "bernstein": "bernstein",
    "krawczyk": "krawczyk",
}

Check = Callable[[Any, Any, Any], None]


def read(path: str | Path) -> dict[str, Any]:
    """Return the certificate in a file, or raise Rejected with the reason."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise Rejected(f"cannot be read: {error.strerror}") from None
    if len(raw) > MAX_BYTES:
        raise Rejected(f"more than {MAX_BYTES} bytes")
    try:
        return loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise Rejected("not UTF-8 text") from None


def loads(text: str) -> dict[str, Any]:
    """Return the certificate spelled by strict JSON: no floats, no doubled or unknown keys, bounded nesting."""
    try:
        data = json.loads(
            text, object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float, parse_int=_small
        )
    except RecursionError:
        raise Rejected("nested too deeply") from None
    except ValueError as error:
        raise Rejected(f"not JSON: {error}") from None
    fields(data, "format kind problem conclusion proof", "claim found_by")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        raise Rejected(f"format {data['format']!r} is not {FORMAT}")
    return data  # type: ignore[no-any-return]


def checker(kind: Any) -> Check:
    """Return the check of a kind; the table is fixed, a file never names code."""
    if word(kind) not in KINDS:
        raise Rejected(f"unknown kind {kind[:60]!r}")
    return import_module(f"proofs_check.check.{KINDS[kind]}").check  # type: ignore[no-any-return]


def check(certificate: dict[str, Any]) -> None:
    """Return None if the proof establishes the conclusion about the problem; raise Rejected otherwise."""
    kind, Work.spent = certificate["kind"], 0
    try:
        checker(kind)(certificate["problem"], certificate["conclusion"], certificate["proof"])
    except RecursionError:
        raise Rejected("nested too deeply") from None
    except MemoryError:
        raise Rejected("more memory than there is") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise Rejected(f"malformed {kind} certificate: {type(error).__name__}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Rejected("a key occurs twice in one object")
    return found


def _no_float(literal: str) -> Any:
    raise Rejected(f"{literal[:40]} is a float; certificates hold exact text")


def _small(literal: str) -> int:
    if len(literal) > 18:
        raise Rejected("a long integer outside quotes; write it as hexadecimal text")
    return int(literal)
