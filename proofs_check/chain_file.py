"""Chains in files: JSON with exact numbers as text, and MatrixMarket; strict, bounded, one line for every error."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from exactchains.chain import FiniteChain, NotAGenerator
from exactchains.document import MAX_BYTES, read_document
from exactchains.level_chain import LevelChain
from exactchains.number import Rational, parse
from exactchains.truth import InputError
from proofs_check.chain_parameters import Entries

MAX_STATES = 20_000_000
LEVEL_BLOCKS = ("up", "local", "down", "reset", "boundary_local", "boundary_up", "boundary_down")
FINITE = {"ctmc": "continuous", "dtmc": "discrete"}


def read_chain(path: str | Path, values: Mapping[str, Rational] | None = None) -> FiniteChain | LevelChain:
    """Return the chain in a ``.json`` or MatrixMarket (``.mtx``) file.

    JSON: ``{"kind": "ctmc"|"dtmc", "states": N, "transitions": [[i, j, "rate"], ..]}`` (0-based, off-diagonal for
    ctmc), or ``"matrix": [[..], ..]`` with its diagonal, or a level chain ``{"kind": "qbd"|"reset", "time", "up",
    "local", "down" or "reset", "boundary_local", "boundary_up", "boundary_down"}``.  MatrixMarket: a generator when
    all rows sum to 0, a stochastic matrix when all sum to 1.

    With ``"parameters": {"p": "3/10", "r": null}`` the numbers of a JSON file may be formulas such as ``"1 - (p+r)"``;
    ``values`` gives or replaces values of parameters.

    Raises
    ------
    InputError
        The file cannot be read or does not describe a chain, perhaps for these values of its parameters; the message
        names the place, the defect and the values.
    """
    place, values = Path(path), values or {}
    if place.suffix == ".mtx":
        Entries({}, values)  # refuses values: these files have no parameters
        return _matrix_market(place)
    if place.suffix != ".json":
        raise InputError(f"file {place.name!r}: .json and .mtx (MatrixMarket) files are read")
    data = read_document(place)
    kind = data.get("kind")
    if kind not in (*FINITE, "qbd", "reset"):
        raise InputError(f"kind = {_shown(kind)}: give 'ctmc', 'dtmc', 'qbd' or 'reset'")
    entries = Entries(data.pop("parameters", {}), values)
    try:
        return _finite(data, FINITE[kind], entries) if kind in FINITE else _levels(data, entries)
    except InputError as error:
        if not entries.values:
            raise
        raise type(error)(f"{error}{entries.at()}") from None


def _finite(data: dict[str, Any], time: Any, entries: Entries) -> FiniteChain:
    _only(data, {"kind", "states", "transitions", "matrix"})
    if "matrix" in data:
        if "transitions" in data or "states" in data:
            raise InputError("matrix: give either 'matrix', or 'states' and 'transitions'")
        return FiniteChain.from_matrix(_block(data["matrix"], "matrix", entries), time=time)
    if "transitions" not in data or "states" not in data:
        raise InputError("transitions: give 'states' and 'transitions', or 'matrix'")
    size = _count(data["states"], "states", MAX_STATES)
    return FiniteChain.from_transitions(size, _triples(data["transitions"], size, entries), time=time)


def _triples(listed: Any, size: int, entries: Entries) -> Iterator[tuple[int, int, Any]]:
    for k, item in enumerate(_list(listed, "transitions")):
        if not isinstance(item, list) or len(item) != 3:
            raise InputError(f'transitions[{k}] = {_shown(item)}: write [from, to, "rate"]')
        i, j = (_count(x, f"transitions[{k}]", size - 1, least=0) for x in item[:2])
        yield i, j, entries.number(item[2], f"transitions[{k}], entry ({i}, {j})", least=0)


def _levels(data: dict[str, Any], entries: Entries) -> LevelChain:
    _only(data, {"kind", "time", *LEVEL_BLOCKS})
    time = data.get("time", "discrete" if data["kind"] == "reset" else None)
    if time not in ("continuous", "discrete"):
        raise InputError(f"time = {_shown(time)}: give 'continuous' or 'discrete'")
    down = "down" if data["kind"] == "qbd" else "reset"
    for name in ("up", down):
        if name not in data:
            raise InputError(f"{name} is missing: kind {data['kind']!r} has the blocks 'up', 'local' and {down!r}")
    if data["kind"] == "qbd" and "reset" in data:
        raise InputError("reset: kind 'qbd' goes down by 'down'; give kind 'reset'")
    if data["kind"] == "reset" and "down" in data:
        raise InputError("down: kind 'reset' goes from any level to level 0 by 'reset'; give kind 'qbd'")
    blocks = {name: _block(data[name], name, entries) for name in LEVEL_BLOCKS if name in data}
    return LevelChain.from_blocks(blocks, time=time)


def _matrix_market(place: Path) -> FiniteChain:
    try:
        if place.stat().st_size > MAX_BYTES:
            raise InputError(f"file {place.name!r}: more than {MAX_BYTES} bytes")
        lines = place.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise InputError(f"file {place.name!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"file {place.name!r} is not ASCII text") from None
    header = lines[0].lower().split() if lines else []
    if len(header) != 5 or header[:2] != ["%%matrixmarket", "matrix"]:
        raise InputError(f"file {place.name!r}: the first line must be '%%MatrixMarket matrix coordinate real general'")
    shape, field, symmetry = header[2:]
    if shape not in ("coordinate", "array") or field not in ("real", "integer", "double") or symmetry != "general":
        raise InputError(
            f"file {place.name!r}: {' '.join(header[2:])} is not read; write coordinate or array, real, general"
        )
    body = [(n, line.split()) for n, line in enumerate(lines[1:], 2) if line.strip() and not line.startswith("%")]
    if not body:
        raise InputError(f"file {place.name!r}: the size line is missing")
    sizes = [_count(x, f"line {body[0][0]}", MAX_BYTES, least=0) for x in body[0][1]]
    if len(sizes) != (3 if shape == "coordinate" else 2) or sizes[0] != sizes[1] or not 1 <= sizes[0] <= MAX_STATES:
        raise InputError(f"line {body[0][0]}: a size line of a square matrix is needed, such as '3 3 6'")
    return _of_entries(sizes[0], list(_entries(body[1:], sizes, shape)))


def _entries(body: list[tuple[int, list[str]]], sizes: list[int], shape: str) -> Iterator[tuple[int, int, Any]]:
    size, expected = sizes[0], sizes[2] if shape == "coordinate" else sizes[0] ** 2
    if len(body) != expected:
        raise InputError(f"{len(body)} entries where the size line announces {expected}")
    for k, (n, words) in enumerate(body):
        if len(words) != (3 if shape == "coordinate" else 1):
            raise InputError(f"line {n}: {' '.join(words)[:40]!r} is no entry of a {shape} matrix")
        x = parse(words[-1], f"line {n}")
        if shape == "array":
            yield k % size, k // size, x
        else:
            i, j = (_count(w, f"line {n}", size) for w in words[:2])
            yield i - 1, j - 1, x


def _of_entries(size: int, entries: list[tuple[int, int, Any]]) -> FiniteChain:
    """Decide by the row sums whether the matrix is a generator or stochastic."""
    sums = [parse("0")] * size
    for i, _, x in entries:
        sums[i] += x
    target = 1 if all(x == 1 for x in sums) else 0
    if target == 0 and any(sums):
        i = next(i for i, x in enumerate(sums) if x)
        raise NotAGenerator(f"row {i} sums to {sums[i]}: all rows of a generator sum to 0, of a stochastic matrix to 1")
    diagonal = {i for i, j, _ in entries if i == j}
    if target == 0 and len(diagonal) != sum(i == j for i, j, _ in entries):
        raise NotAGenerator("a diagonal entry is given twice; give each pair once")
    kept = [(i, j, x) for i, j, x in entries if target or i != j]
    return FiniteChain.from_transitions(size, kept, time="discrete" if target else "continuous")


def _block(rows: Any, name: str, entries: Entries) -> list[list[Any]]:
    return [
        [entries.number(x, f"{name} ({i}, {j})") for j, x in enumerate(_list(row, f"{name}[{i}]"))]
        for i, row in enumerate(_list(rows, name))
    ]


def _list(x: Any, name: str) -> list[Any]:
    if not isinstance(x, list):
        raise InputError(f"{name} = {_shown(x)}: a list is needed")
    return x


def _count(x: Any, name: str, most: int, *, least: int = 1) -> int:
    if not isinstance(x, str) or not x.isascii() or not x.isdecimal() or len(x) > 9 or not least <= int(x) <= most:
        raise InputError(f"{name}: {_shown(x)} is no integer from {least} to {most}")
    return int(x)


def _only(data: dict[str, Any], known: set[str]) -> None:
    if foreign := set(data) - known:
        raise InputError(f"unknown field {_shown(min(foreign))}; fields are {', '.join(sorted(known))}")


def _shown(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 40 else f"{text[:37]}..."
