r"""Refinement in integers: as many digits as wanted, for every entry, with an exact certificate.

The floating-point solver of the two-double stage gives the corrections, residuals are sums of integers.
"""

from typing import Any

import numpy as np
from flint import fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.certificate import Certified
from exactchains.solvers.integers import GUARD, IntegerBalance, Proof, certified, log2, objects
from exactchains.solvers.law import IntegerValues
from exactchains.truth import PrecisionExhausted


def refined(chain: Arrays, found: Certified, digits: int) -> tuple[IntegerValues, Proof]:
    """Return the law with ``digits`` certain digits in every entry.

    Raises
    ------
    PrecisionExhausted
        The corrections do not converge: the factor of the two-double stage is too poor for this chain.
    """
    bits = int(3.3219281 * digits) + 32
    for _ in range(4):
        words = [_integer(a, bits) + _integer(b, bits) for a, b in zip(found.h, found.lo, strict=True)]
        system = IntegerBalance(
            chain, found.flow.order, (found.reference, objects(words), found.e - found.flow.shift), bits
        )
        _converge(system, found, system.law)
        values, proof, error = certified(system, _vector(system, found))
        if values is not None and 4 * error <= fmpq(10) ** (1 - digits):
            return values, proof
        bits += 64 if values is None else max(32, log2(error * 4 * fmpq(10) ** (digits - 1)) + 16)
    raise PrecisionExhausted(f"integer refinement did not reach {digits} digits; ask for fewer digits")


def _converge(system: IntegerBalance, found: Certified, X: Any) -> None:
    """Correct X in place until the residual no longer falls."""
    best = None
    while True:
        rest = system.inflow(X)
        size = _relative_bits(rest, X, system)
        if size is None or (best is not None and size > best - 4):
            return
        best = size
        y = found.system.solve(_quotients(rest, X, system, size), 1e-10)
        if not np.isfinite(y).all():
            raise PrecisionExhausted("the factor of the two-double stage is singular to working precision")
        _add(X, y, size, system)


def _vector(system: IntegerBalance, found: Certified) -> Any:
    """Return U with (U S)_j close to x_j d_j: corrections until half of it is certain."""
    X = system.law
    U = objects([0] * system.size)
    for _ in range(40):
        gap = np.left_shift(X * system.exit, GUARD) + system.inflow(U)
        gap[system.reference] = 0
        size = _relative_bits(gap, X, system)
        if size is None or size < -1:
            break
        y = found.system.solve(_quotients(gap, X, system, size), 1e-6)
        if not np.isfinite(y).all():
            break
        _add(U, y, size, system, X)
    return U


def _relative_bits(rest: Any, X: Any, system: IntegerBalance) -> int | None:
    """Return b with |rest| < 2^b x d for every state; None: all zero."""
    sizes = [abs(r).bit_length() - (x * d).bit_length() for r, x, d in zip(rest, X, system.exit, strict=True) if r]
    return max(sizes) + 1 - GUARD if sizes else None


def _quotients(rest: Any, X: Any, system: IntegerBalance, size: int) -> Any:
    """Return rest / (x d 2^size) as doubles."""
    up, down = max(0, -size - GUARD), max(0, size + GUARD)
    return np.array([(r << up) / ((x * d) << down) if r else 0.0 for r, x, d in zip(rest, X, system.exit, strict=True)])


def _add(into: Any, y: Any, size: int, system: IntegerBalance, X: Any | None = None) -> None:
    """Add y 2^size x to ``into``."""
    base = into if X is None else X
    step = objects([int(v) for v in np.rint(np.ldexp(y, 60)).tolist()]) * base
    step = np.right_shift(step, 60 - size) if size <= 60 else np.left_shift(step, size - 60)
    step[system.reference] = 0
    into += step


def _integer(x: float, bits: int) -> int:
    top, bottom = float(x).as_integer_ratio()
    return (top << bits) // bottom
