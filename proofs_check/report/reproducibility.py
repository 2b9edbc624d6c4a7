"""What a report was made with: versions, and hashes of the certificates that it rests on.  No date, no machine."""

import hashlib
import platform
from collections.abc import Sequence

from proofs_check.tables.twin import versions
from proofs_check.verify import Verification, stored


def facts(results: Sequence[Verification]) -> list[tuple[str, str]]:
    """Return (name, text) pairs."""
    total = hashlib.sha256()
    read = 0
    for v in results:
        path = stored(v.claim.id)
        if path is not None:
            read += 1
            total.update(f"{v.claim.id} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return [
        *versions().items(),
        ("Python", platform.python_version()),
        ("certificates", f"{read}, SHA-256 of their ids and SHA-256s: {total.hexdigest()}"),
    ]
