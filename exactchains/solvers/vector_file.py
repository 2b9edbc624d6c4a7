"""Candidate vectors in files: numpy, PETSc binary and plain text; long ones are mapped, not read."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError

PETSC_VECTOR = 1211214  # VEC_FILE_CLASSID, the first word of a vector that VecView wrote
MAX_TEXT = 1_000_000_000  # bytes
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)


def read_vector(path: str | Path) -> Any:
    """Return the vector of doubles in a ``.npy``, ``.petsc`` (PETSc binary ``Vec``) or ``.txt`` file (one a line).

    The first two are mapped into memory: only what is used is read.  Nothing in a file is run.

    Raises
    ------
    InputError
        The file cannot be read, is cut off, or holds no vector of doubles.
    """
    place = Path(path)
    readers = {".npy": _numpy, ".petsc": _petsc, ".txt": _text}
    if place.suffix not in readers:
        raise InputError(f"vector {place.name!r}: .npy, .petsc and .txt files are read")
    try:
        return readers[place.suffix](place)
    except OSError as error:
        raise InputError(f"vector {place.name!r} cannot be read: {error.strerror or error}") from None


def _numpy(place: Path) -> Any:
    try:
        vector = np.load(place, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"vector {place.name!r} is no whole .npy file: {error}") from None
    if not isinstance(vector, np.ndarray) or vector.ndim != 1 or vector.dtype.kind != "f" or vector.dtype.itemsize > 8:
        shown = f"{vector.dtype} of shape {vector.shape}" if isinstance(vector, np.ndarray) else "several arrays"
        raise InputError(f"vector {place.name!r} holds {shown}; one vector of doubles is needed")
    return vector


def _petsc(place: Path) -> Any:
    """Big-endian: class and length as 32-bit integers (or 64-bit, as PETSc is built), then doubles."""
    size = place.stat().st_size
    with place.open("rb") as file:
        head = file.read(16)
    for word in (4, 8):
        kind, count = (int.from_bytes(head[k * word : (k + 1) * word], "big") for k in (0, 1))
        if kind == PETSC_VECTOR:
            if size != 2 * word + 8 * count:
                raise InputError(
                    f"vector {place.name!r}: {count} entries announced, {(size - 2 * word) / 8:g} are there"
                )
            return np.memmap(place, dtype=">f8", mode="r", offset=2 * word, shape=(count,))
    raise InputError(f"vector {place.name!r} is no PETSc binary vector; write it by VecView to a binary viewer")


def _text(place: Path) -> Any:
    if place.stat().st_size > MAX_TEXT:
        raise InputError(f"vector {place.name!r}: more than {MAX_TEXT} bytes of text; write .npy")
    try:
        words = place.read_text(encoding="ascii").split()
    except UnicodeDecodeError:
        raise InputError(f"vector {place.name!r} is not ASCII text") from None
    numbers = [float(w) if len(w) <= 400 and _NUMBER.fullmatch(w) else math.nan for w in words]
    bad = next((i for i, x in enumerate(numbers) if not math.isfinite(x)), None)
    if bad is not None or not words:
        shown = "nothing" if bad is None else f"{words[bad][:40]!r} as entry {bad}"
        raise InputError(f"vector {place.name!r} holds {shown}; give one number a state")
    return np.array(numbers)
