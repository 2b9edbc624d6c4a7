"""Balance equations in integers: exact residuals and the exact certificate of a law.

Entry i is ``X_i 2^(e_i - bits)`` with a big integer X_i and its own exponent e_i, so that entries of 1e-5000 cost no
more than others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.dixon import integer_rows
from exactchains.solvers.law import IntegerValues

GUARD = 40  # extra bits of residuals


@dataclass(frozen=True, eq=False)
class Proof:
    """Exact certificate: law X, vector U (integers, units ``2^exponent[i]``), for states in the order of the class."""

    reference: int
    law: Any
    vector: Any
    exponent: Any


class IntegerBalance:
    """The balance equations of one class in integers, states in the order ``order``.

    ``start`` holds the position of the reference state, the approximate law as integers over 2^bits, and exponents.
    Where rows have integer scales of their own the unknowns are x_i / scale_i.
    """

    def __init__(self, chain: Arrays, order: Any, start: tuple[int, Any, Any], bits: int) -> None:
        self.order, self.size, self.bits = order, chain.size, bits
        self.reference, words, exponent = start
        rates, scales = integer_rows(chain)
        number = np.empty(chain.size, np.int64)
        number[order] = np.arange(chain.size)
        source, target = number[chain.sources()], number[chain.targets]
        by_target = np.argsort(target, kind="stable")
        rate = objects(rates)
        self.exit = objects([0] * chain.size)
        np.add.at(self.exit, source, rate)
        self.source, target, self.rate = source[by_target], target[by_target], rate[by_target]
        self.first = np.searchsorted(target, np.arange(chain.size))
        self.degree = np.bincount(target, minlength=chain.size)
        self.scale = None if scales is None else objects(scales)[order]
        self.exponent = exponent
        if self.scale is not None:
            self.exponent = exponent - np.array([int(s).bit_length() for s in self.scale])
        self.shift = self.exponent[self.source] - self.exponent[target] + GUARD
        self.law = self.unknown(words)

    def unknown(self, words: Any) -> Any:
        """Return x / scale for integers x in units of the start's exponents."""
        if self.scale is None:
            return words
        return objects([(int(w) << int(s).bit_length()) // int(s) for w, s in zip(words, self.scale, strict=True)])

    def inflow(self, X: Any) -> Any:
        """Return the imbalances in units ``2^(exponent - bits - GUARD)``, less than ``degree`` too small."""
        terms = X[self.source] * self.rate
        left = self.shift >= 0
        terms[left] = np.left_shift(terms[left], objects(self.shift[left].tolist()))
        terms[~left] = np.right_shift(terms[~left], objects((-self.shift[~left]).tolist()))
        total = np.add.reduceat(terms, self.first) - np.left_shift(X * self.exit, GUARD)
        total[self.reference] = 0
        return total


def certified(system: IntegerBalance, U: Any) -> tuple[IntegerValues | None, Proof, fmpq]:
    """Return the law with its proved relative error, and the proof; no law where the vector U proves nothing."""
    error = _relative_error(system, U)
    if error is None:
        return None, Proof(0, None, None, None), fmpq(1)
    order = np.argsort(system.order)
    X, V, exponent = system.law, U, system.exponent - system.bits
    if system.scale is not None:
        X, V = X * system.scale, V * system.scale
    proof = Proof(int(system.order[system.reference]), X[order], V[order], exponent[order])
    floor = int(exponent.max()) - 2 * system.bits - 64  # smaller terms of the sum are below its error
    terms = zip(X, exponent, strict=True)
    total = sum(int(x) << int(k) - floor if k >= floor else int(x) >> int(floor - k) for x, k in terms)
    slack = fmpq(system.size + 1, total)  # at most one unit lost a term
    whole = fmpq(total) * fmpq(2) ** floor
    error = _up(error * (1 + 4 * slack) + 2 * slack)
    return IntegerValues(X[order], exponent[order], whole, error, system.bits), proof, error


def _relative_error(system: IntegerBalance, U: Any) -> fmpq | None:
    """Return a bound of the relative error of every entry of the law, or None: the vector proves nothing."""
    if min(U) < 0 or min(system.law) <= 0:
        return None
    gain = -system.inflow(U) - objects(system.degree.tolist())
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


def objects(values: list[Any]) -> Any:
    """Return an array of Python integers."""
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def _up(x: fmpq) -> fmpq:
    """Return x rounded up to 32 bits."""
    if x == 0:
        return x
    unit = fmpq(2) ** (log2(x) - 32)
    q = x / unit
    return -(-int(q.p) // int(q.q)) * unit


def log2(x: fmpq) -> int:
    """Return the binary logarithm of a positive number, within one."""
    return abs(int(x.p)).bit_length() - int(x.q).bit_length()
