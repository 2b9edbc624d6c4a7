"""Certificates of stationary laws in the wire format of ``proofs_check.check``, kind ``stationary``."""

from typing import Any

import numpy as np
from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.solvers.arrays import Arrays
from exactchains.solvers.certificate import Certified
from exactchains.solvers.integers import Proof
from exactchains.solvers.law import ExactValues, Values

Problem = tuple[FiniteChain, Any, Arrays]
TOOL = {"tool": "exactchains.solvers.stationary", "version": "1"}


def exact_proof(problem: Problem, values: ExactValues) -> dict[str, Any]:
    """An exact law needs no error vector: zero residual, and a reference state that every state reaches."""
    law = [[_hex(x), 0] for x in values.numerators]
    return _document(problem, values, {"reference": int(problem[1][0]), "law": law})


def integer_proof(problem: Problem, values: Values, proof: Proof) -> dict[str, Any]:
    """Integers X and U with one exponent a state."""
    law, vector, exponent = proof.law, proof.vector, proof.exponent.tolist()
    return _certified(problem, int(proof.reference), list(zip(law, exponent, strict=True)), vector, values)


def twofold_proof(problem: Problem, values: Values, found: Certified) -> dict[str, Any]:
    """Two doubles h + l as one integer with 117 fractional bits, and the same for the vector."""
    back = np.argsort(found.flow.order)
    exponent = ((found.e - found.flow.shift)[back] - 130).tolist()
    law = [_words(a, b) for a, b in zip(found.h[back], found.lo[back], strict=True)]
    vector = [_words(a, b) for a, b in zip(found.u[0][back], found.u[1][back], strict=True)]
    reference = int(found.flow.order[found.reference])
    return _certified(problem, reference, list(zip(law, exponent, strict=True)), vector, values)


def _certified(
    problem: Problem, reference: int, law: list[tuple[int, int]], vector: Any, values: Values
) -> dict[str, Any]:
    chosen = int(problem[1][reference])
    proof = {"reference": chosen, "law": [[_hex(x), int(e)] for x, e in law], "vector": [_hex(u) for u in vector]}
    return _document(problem, values, proof)


def _document(problem: Problem, values: Values, proof: dict[str, Any]) -> dict[str, Any]:
    chain, states, _ = problem
    members = [int(i) for i in states]
    entries = [[i, *(exact_text(x) for x in values.ends(k))] for k, i in enumerate(members)]
    conclusion: dict[str, Any] = {"entries": entries}
    if len(members) < chain.size:
        conclusion["class"] = members
    return {
        "format": 1,
        "kind": "stationary",
        "problem": problem_of(chain),
        "conclusion": conclusion,
        "proof": proof,
        "found_by": TOOL,
    }


def problem_of(chain: FiniteChain) -> dict[str, Any]:
    """Return the statement of a chain: what ``verify`` derives from the live model."""
    listed = [[i, j, exact_text(x)] for i, row in enumerate(chain.rows) for j, x in sorted(row.items())]
    return {"time": chain.time, "states": chain.size, "transitions": listed}


def exact_text(x: fmpq) -> str:
    """Return ``p/q``, long integers in hexadecimal, dyadic numbers with their power of two written out."""
    top, bottom = int(x.p), int(x.q)
    if bottom.bit_length() > 64 and not bottom & (bottom - 1):
        return f"{_hex(top)}*2^-{bottom.bit_length() - 1}"
    if bottom == 1:
        return _short(top)
    return f"{_short(top)}/{_short(bottom)}"


def _short(n: int) -> str:
    return str(n) if abs(n).bit_length() <= 64 else _hex(n)


def _words(high: float, low: float) -> int:
    return int(np.ldexp(high, 60)) * 2**70 + round(float(np.ldexp(low, 130)))


def _hex(x: Any) -> str:
    return f"-0x{-int(x):x}" if x < 0 else f"0x{int(x):x}"
