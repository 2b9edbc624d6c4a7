r"""Refinement in integers: as many digits as wanted, for every entry, with an exact certificate.

Entry i is ``X_i 2^(e_i - P)`` with a big integer X_i and its own exponent e_i, so that entries of 1e-5000 cost no more
than others.  Residuals are sums of integers; the floating-point solver of the two-double stage gives the corrections.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.certificate import Certified
from exactchains.solvers.dixon import integer_rows
from exactchains.solvers.law import IntegerValues
from exactchains.truth import PrecisionExhausted

GUARD = 40  # extra bits of residuals


@dataclass(frozen=True, eq=False)
class Proof:
    """Exact certificate: law X, vector U (integers, units ``2^exponent[i]``), for states in the order of the class."""

    reference: int
    law: Any
    vector: Any
    exponent: Any


class IntegerBalance:
    """The balance equations of one class in integers, states in the order of a flow."""

    def __init__(self, chain: Arrays, found: Certified, bits: int) -> None:
        flow = found.flow
        rates, scales = integer_rows(chain)
        number = np.empty(flow.size, np.int64)
        number[flow.order] = np.arange(flow.size)
        source, target = number[chain.sources()], number[chain.targets]
        by_target = np.argsort(target, kind="stable")
        self.reference, self.size, self.bits = found.reference, flow.size, bits
        self.rate = _objects(rates)
        exits = _objects([0] * flow.size)
        np.add.at(exits, source, self.rate)
        self.exit, self.rate = exits, self.rate[by_target]
        self.source, target = source[by_target], target[by_target]
        self.first = np.searchsorted(target, np.arange(flow.size))
        self.degree = np.bincount(target, minlength=flow.size)
        self.scale = None if scales is None else _objects(scales)[flow.order]
        h, self.exponent = found.h, found.e - flow.shift
        if self.scale is not None:
            self.exponent = self.exponent - np.array([int(s).bit_length() for s in self.scale])
        self.shift = self.exponent[self.source] - self.exponent[target] + GUARD
        self.law = self._start(h, found)

    def _start(self, h: Any, found: Certified) -> Any:
        words = [(_integer(a, self.bits) + _integer(b, self.bits)) for a, b in zip(h, found.lo, strict=True)]
        if self.scale is not None:
            words = [(w << int(s).bit_length()) // int(s) for w, s in zip(words, self.scale, strict=True)]
        return _objects(words)

    def inflow(self, X: Any) -> Any:
        """Return the imbalances in units ``2^(exponent - bits - GUARD)``, less than ``degree`` too small."""
        terms = X[self.source] * self.rate
        left = self.shift >= 0
        terms[left] = np.left_shift(terms[left], _objects(self.shift[left].tolist()))
        terms[~left] = np.right_shift(terms[~left], _objects((-self.shift[~left]).tolist()))
        total = np.add.reduceat(terms, self.first) - np.left_shift(X * self.exit, GUARD)
        total[self.reference] = 0
        return total


def refined(chain: Arrays, found: Certified, digits: int) -> tuple[IntegerValues, Proof]:
    """Return the law with ``digits`` certain digits in every entry.

    Raises
    ------
    PrecisionExhausted
        The corrections do not converge: the factor of the two-double stage is too poor for this chain.
    """
    bits = int(3.3219281 * digits) + 32
    for _ in range(4):
        system = IntegerBalance(chain, found, bits)
        _converge(system, found, system.law)
        vector = _vector(system, found)
        error = _relative_error(system, vector)
        if error is not None and 4 * error <= fmpq(10) ** (1 - digits):
            return _values(chain, found, system, vector, error)
        bits += 64 if error is None else max(32, _log2(error * 4 * fmpq(10) ** (digits - 1)) + 16)
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
    U = _objects([0] * system.size)
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
    step = _objects([int(v) for v in np.rint(np.ldexp(y, 60)).tolist()]) * base
    step = np.right_shift(step, 60 - size) if size <= 60 else np.left_shift(step, size - 60)
    step[system.reference] = 0
    into += step


def _relative_error(system: IntegerBalance, U: Any) -> fmpq | None:
    """Return a bound of the relative error of every entry of the law, or None: the vector proves nothing."""
    if min(U) < 0 or min(system.law) <= 0:
        return None
    gain = -system.inflow(U) - _objects(system.degree.tolist())
    residual = system.inflow(system.law)
    delta = fmpq(0)
    for j, (r, s, m) in enumerate(zip(residual, gain, system.degree, strict=True)):
        if j == system.reference:
            continue
        if s <= 0:
            return None
        delta = max(delta, _up(fmpq(abs(r) + int(m), s)))
    worst = max(fmpq(int(u), int(x)) for u, x in zip(U, system.law, strict=True))
    error = _up(delta * worst)
    return _up(2 * error / (1 - 2 * error)) if 4 * error < 1 else None


def _values(
    chain: Arrays, found: Certified, system: IntegerBalance, U: Any, error: fmpq
) -> tuple[IntegerValues, Proof]:
    order = np.argsort(found.flow.order)
    X, V, exponent = system.law, U, system.exponent - system.bits
    if system.scale is not None:
        X, V = X * system.scale, V * system.scale
    proof = Proof(int(found.flow.order[found.reference]), X[order], V[order], exponent[order])
    floor = int(exponent.max()) - 2 * system.bits - 64  # smaller terms of the sum are below its error
    total = sum(
        (int(x) << int(k) - floor if k >= floor else int(x) >> int(floor - k)) for x, k in zip(X, exponent, strict=True)
    )
    slack = fmpq(system.size + 1, total)  # at most one unit lost a term
    whole = fmpq(total) * fmpq(2) ** floor
    return IntegerValues(X[order], exponent[order], whole, _up(error * (1 + 4 * slack) + 2 * slack), system.bits), proof


def _integer(x: float, bits: int) -> int:
    top, bottom = float(x).as_integer_ratio()
    return (top << bits) // bottom


def _objects(values: list[Any]) -> Any:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def _up(x: fmpq) -> fmpq:
    """Return x rounded up to 32 bits."""
    if x == 0:
        return x
    unit = fmpq(2) ** (_log2(x) - 32)
    q = x / unit
    return -(-int(q.p) // int(q.q)) * unit


def _log2(x: fmpq) -> int:
    return abs(int(x.p)).bit_length() - int(x.q).bit_length()
