"""Several certificates as one of kind *all*."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def joined(certificates: Sequence[Json]) -> Json:
    """Return the certificate that says what all of them say; parts of kind *all* are taken apart first."""
    parts = [part for c in certificates for part in _parts(c)]
    if len(parts) == 1:
        return certificates[0]
    return {
        **certificates[0],
        "kind": "all",
        "problem": {"parts": [{"kind": kind, "problem": problem} for kind, problem, _, _ in parts]},
        "conclusion": {"parts": [says for _, _, says, _ in parts]},
        "proof": {"parts": [proof for _, _, _, proof in parts]},
    }


def _parts(c: Json) -> list[tuple[str, Json, Json, Json]]:
    if c["kind"] != "all":
        return [(c["kind"], c["problem"], c["conclusion"], c["proof"])]
    inner = zip(c["problem"]["parts"], c["conclusion"]["parts"], c["proof"]["parts"], strict=True)
    return [(part["kind"], part["problem"], says, proof) for part, says, proof in inner]
