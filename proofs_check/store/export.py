"""Export of stored rows to CSV, JSON and Parquet: the same rows give the same bytes, whatever run made them."""

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from exactchains import decimals
from exactchains.truth import InputError
from proofs_check.store.question import Answer, Question

GUARD = 10  # decimals beyond the digits asked for, in the bounds that are written
LONG = 60  # characters of an exact fraction from which CSV and Parquet leave it to the JSON export
BEFORE = ("model", "quantity", "index")
AFTER = ("digits_asked", "status", "value", "lower", "upper", "exact", "certain_digits", "reason", "method", "key")
Rows = list[tuple[Question, Answer]]


def export(rows: Iterable[tuple[Question, Answer]], path: str | Path, *, costs: bool = False) -> Path:
    """Write rows to ``path``, whose ending (.csv, .json, .parquet) chooses the format; return the path.

    Rows are sorted by model, quantity, parameters, index.  ``lower`` and ``upper`` are decimals rounded outward; JSON
    also has the ends without loss.  ``costs`` adds seconds and versions, which differ from run to run.

    Raises
    ------
    InputError
        Another ending, no rows, Parquet without pyarrow, or a place that cannot be written.
    """
    place = Path(path)
    checked_export(place)
    ordered = sorted(rows, key=lambda row: row[0].order)
    if not ordered:
        raise InputError(f"export {place.name!r}: the store has no such rows yet; run the sweep first")
    content = FORMATS[place.suffix](ordered, costs)
    written(place, content)
    return place


def written(place: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises
    ------
    InputError
        The disk is full, or the place cannot be written; nothing is left there.
    """
    new = place.with_name(place.name + "-new")
    try:
        new.write_bytes(content)
        new.replace(place)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise InputError(
            f"{place.name!r} cannot be written ({error.strerror}); make room, or give another place"
        ) from None


def checked_export(place: Path) -> None:
    """Raise what can be known before there are rows: the ending, its library, the folder.

    Raises
    ------
    InputError
        Another ending, Parquet without pyarrow, or no such folder.
    """
    if place.suffix not in FORMATS:
        raise InputError(f"export {place.name!r}: its ending names no format; end it in {', '.join(FORMATS)}")
    if place.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise InputError("export: Parquet needs pyarrow (pip install pyarrow); CSV and JSON need nothing")
    if not place.parent.is_dir():
        raise InputError(f"export {str(place)!r}: there is no folder {str(place.parent)!r}; make it first")


def flat(rows: Rows, costs: bool) -> tuple[list[str], list[dict[str, Any]]]:
    """Return column names and one flat record a row; parameters are columns of their own."""
    names = sorted({name for question, _ in rows for name in question.parameters})
    clash = set(BEFORE + AFTER)
    titles = {name: f"parameter_{name}" if name in clash else name for name in names}
    records = []
    for question, answer in rows:
        words = {titles[name]: question.parameters.get(name) for name in names}
        records.append(_shared(question, answer, costs) | words)
    return [*BEFORE, *titles.values(), *AFTER, *(("seconds", "versions") if costs else ())], records


def _shared(question: Question, answer: Answer, costs: bool) -> dict[str, Any]:
    record = {
        "model": question.model,
        "quantity": question.quantity,
        "index": question.index,
        "digits_asked": question.digits,
        "status": answer.status,
        "reason": answer.reason or None,
        "method": answer.method or None,
        "key": question.key,
        **_numbers(question, answer),
    }
    return record | ({"seconds": answer.seconds, "versions": answer.versions} if costs else {})


def _numbers(question: Question, answer: Answer) -> dict[str, Any]:
    e = answer.enclosure
    if e is None:
        return dict.fromkeys(("value", "lower", "upper", "exact", "certain_digits"))
    places = question.digits + GUARD
    fraction = str(e.lower) if e.is_exact else None
    return {
        "value": e.short(question.digits),
        "lower": decimals.outward(e.lower, places, up=False),
        "upper": decimals.outward(e.upper, places, up=True),
        "exact": fraction if fraction is None or len(fraction) <= LONG else None,
        "certain_digits": answer.certain_digits,
    }


def _csv(rows: Rows, costs: bool) -> bytes:
    columns, records = flat(rows, costs)
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue().encode("utf-8")


def _json(rows: Rows, costs: bool) -> bytes:
    listed = []
    for question, answer in rows:
        record = _shared(question, answer, costs) | {"parameters": dict(sorted(question.parameters.items()))}
        record |= {"lossless": {"lower": answer.lower, "upper": answer.upper}, "methods": question.methods}
        listed.append(json.dumps(record, sort_keys=True, ensure_ascii=False))
    return ("[\n" + ",\n".join(listed) + "\n]\n").encode("utf-8")


def _parquet(rows: Rows, costs: bool) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, records = flat(rows, costs)
    integers, kinds = {"index", "digits_asked", "certain_digits"}, {"seconds": pa.float64()}
    kinds |= dict.fromkeys(integers, pa.int64())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    table = pa.Table.from_pylist([{name: r.get(name) for name in columns} for r in records], schema=schema)
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


FORMATS: dict[str, Callable[[Rows, bool], bytes]] = {".csv": _csv, ".json": _json, ".parquet": _parquet}
