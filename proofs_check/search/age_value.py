"""Certificates of single values: the law of the slot age of one scheme at exact numbers, kind *levels*."""

from typing import Any

from flint import fmpq

from aoi_tools.models.schemes import exact_bits
from exactchains.domain import QQ
from exactchains.enclosure import Result
from exactchains.truth import InputError
from proofs_check.check import document
from proofs_check.check.exact import MAX_DIGITS
from proofs_check.search.handelman import NotFound
from proofs_check.search.levels import levels

NAMES = {
    "slot_mean": "mean_scheme",
    "slot_second_moment": "second_scheme",
    "slot_variance": "variance_scheme",
    "failure": "failure_scheme",
    "gap_mean": "gap_scheme",
}
MAX_MODES = 60
TOO_LONG = "the exact numbers are too long for a certificate"
MAX_BITS = 3 * MAX_DIGITS


def age_certificate(scheme: Any, result: Result) -> dict[str, Any]:
    """Return a certificate, accepted by the checker, that the value of ``result`` is that of the scheme's mode chain.

    The problem holds the two blocks of the scheme as exact numbers; for a code these are its exact failure
    probabilities.  Available for means, variances, failure, gaps and the law of the slot age.

    Raises
    ------
    InputError
        Another quantity, too many modes, or numbers too long for a certificate.
    """
    name = NAMES.get(result.quantity)
    if result.quantity in ("slot_pmf", "slot_ccdf") and result.index is not None and result.index < 7:
        shift = result.index + (result.quantity == "slot_ccdf")
        name = f"{'pmf' if result.quantity == 'slot_pmf' else 'tail'}_scheme_{shift}"
    if name is None:
        raise InputError(
            f"{result.quantity}: certificates are written for {', '.join(NAMES)}, and slot_pmf, slot_ccdf up to index 6"
        )
    modes = len(scheme.modes)
    if modes > MAX_MODES:
        raise InputError(f"a certificate of a chain with {modes} modes: at most {MAX_MODES}; leave out --certificate")
    size = exact_bits(scheme)
    if size is None or size > MAX_BITS:
        raise InputError(f"{TOO_LONG}; leave out --certificate")
    up, reset = ([[_text(QQ.convert(x)) for x in row] for row in block] for block in scheme.blocks(QQ))
    problem = {"variables": [], "domain": {}, "laws": {"scheme": {"up": up, "reset": reset}}}
    lower, upper = _text(result.lower), _text(result.upper)
    claims = [[name, "=", lower]] if lower == upper else [[lower, "<=", name], [name, "<=", upper]]
    conclusion = {"statements": [{"claim": claim} for claim in claims]}
    try:
        proof = levels(problem, conclusion)
    except NotFound as reason:
        raise InputError(f"no certificate was found: {reason}; leave out --certificate") from None
    certificate = {
        "format": document.FORMAT,
        "kind": "levels",
        "problem": problem,
        "conclusion": conclusion,
        "proof": proof,
        "found_by": "proofs_check.search.age_value",
    }
    document.check(certificate)
    return certificate


def _text(x: fmpq) -> str:
    if max(int(x.p).bit_length(), int(x.q).bit_length()) > MAX_BITS:
        raise InputError(f"{TOO_LONG}; leave out --certificate")
    return str(x)
