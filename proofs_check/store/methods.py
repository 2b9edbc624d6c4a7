"""The version of the methods: a hash of the source of everything that can change a number or the words beside it."""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable

SOLVERS = (
    ("exactchains",),
    ("aoi_tools",),
    ("meanfield",),
    ("proofs_check", "catalogue"),
    ("proofs_check", "check"),
    ("proofs_check", "expression_size.py"),
    ("proofs_check", "lyapunov"),
    ("proofs_check", "sweeps", "work.py"),
)


def method_version() -> str:
    """Return 12 hexadecimal digits of the SHA-256 of the Python files that answers come from.

    It moves whenever one of those files does, be it by a comment: nobody has to remember to raise a number.  Line ends
    do not count.  Rows of another version stay true; they are not taken for the bytes that this version would give.
    """
    digest = hashlib.sha256()
    for package, *inside in SOLVERS:
        place = resources.files(package)
        for name in inside:
            place /= name
        for name, file in sorted(_sources(place, "/".join((package, *inside)))):
            text = file.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{name} {len(text)}\n".encode())
            digest.update(text)
    return digest.hexdigest()[:12]


def _sources(place: Traversable, name: str) -> list[tuple[str, Traversable]]:
    if place.is_file():
        return [(name, place)] if name.endswith(".py") else []
    return [pair for child in place.iterdir() for pair in _sources(child, f"{name}/{child.name}")]
