"""What the age claims share: the parameter domain, and blocks of live models as text that a checker reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from exactchains.symbolic import Fractions

PD = Fractions("p", "d")
P, D = PD.gens

# 0 <= p < 1 (actual updates can succeed) and 0 <= d <= 1; a = 1 - p, b = 1 - d
DOMAIN = {"p": ["p", ">="], "a": ["1-p", ">"], "d": ["d", ">="], "b": ["1-d", ">="]}
WITNESS = {"p": "1/2", "d": "1/10"}
ASSUMPTIONS = "0 <= p < 1, 0 <= d <= 1; one codeword a slot, equal lengths, i.i.d. erasures, memoryless decoding"


def problem(laws: Mapping[str, Any], *, field: Fractions = PD, domain: Mapping[str, Any] = DOMAIN) -> dict[str, Any]:
    """Return the problem of kind *levels* for schemes by name, from their live blocks."""
    return {
        "variables": list(field.names),
        "domain": {symbol: list(constraint) for symbol, constraint in domain.items()},
        "laws": {name: blocks(scheme.blocks(field), field) for name, scheme in laws.items()},
    }


def blocks(pair: Sequence[Any], field: Fractions) -> dict[str, list[list[str]]]:
    """Return the blocks (up, reset) as texts."""
    up, reset = ([[field.text(field.convert(x)) for x in row] for row in block] for block in pair)
    return {"up": up, "reset": reset}


def stated(*claims: Sequence[Any], **more: Any) -> dict[str, Any]:
    """Return a conclusion out of (left, relation, right) or (left, relation, right, {"assume" or "set": ..})."""
    statements = [{"claim": list(c[:3]), **(c[3] if len(c) > 3 else {})} for c in claims]
    return {"statements": statements, **more}
