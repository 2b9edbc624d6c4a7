r"""State reduction in long floating-point numbers: law and certificate vector of chains with little fill.

Subtraction-free, hence accurate in every entry for rates and laws of any size and however nearly decomposable the
chain; certified afterwards in integers (:mod:`exactchains.solvers.integers`).  Balls would not do: a number divided by
itself is no longer 1, and over long chains the radii grow exponentially.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.integers import IntegerBalance, Proof, certified, objects
from exactchains.solvers.law import IntegerValues
from exactchains.truth import PrecisionExhausted

MOST_BITS = 1e9  # of all transitions together
Attempt = Callable[[int], tuple[Any, list[arb], list[arb]]]


def eliminated_law(chain: Arrays, order: Any, digits: int) -> tuple[IntegerValues, Proof]:
    """Return the law with ``digits`` certain digits in every entry; states are eliminated from the end of ``order``."""

    def attempt(reference: int) -> tuple[Any, list[arb], list[arb]]:
        rooted = np.r_[reference, order[order != reference]]
        return rooted, *_law_and_vector(chain, rooted)

    return certified_law(chain, int(order[0]), attempt, digits=digits)


def certified_law(chain: Arrays, reference: int, attempt: Attempt, *, digits: int) -> tuple[IntegerValues, Proof]:
    """Certify what ``attempt(reference)`` returns: order (reference first), law and vector, at flint's precision.

    A certificate loses as many bits as its vector u exceeds the law x, that is the logarithm of the time to the
    reference state.  Where it fails, the state with the largest entry becomes the reference, then the precision
    grows to what u / x asks for.

    Raises
    ------
    PrecisionExhausted
        The precision needed is beyond ``MOST_BITS`` bits in all transitions together.
    """
    bits, tried = int(3.33 * digits) + 64, {reference}
    while bits * len(chain.rates) <= MOST_BITS:
        with ctx.workprec(bits + 32):
            order, law, vector = attempt(reference)
        if not all(x > 0 for x in law):
            bits *= 2
            continue
        exponent = np.array([_exponent(x) for x in law])
        words = [objects([_word(x, e, bits) for x, e in zip(v, exponent.tolist(), strict=True)]) for v in (law, vector)]
        system = IntegerBalance(chain, order, (0, words[0], exponent), bits)
        values, proof, error = certified(system, system.unknown(words[1]))
        if values is not None and 4 * error <= fmpq(10) ** (1 - digits):
            return values, proof
        largest = int(order[max(range(len(law)), key=law.__getitem__)])
        if largest not in tried and exponent.max() > exponent[0] + 1:
            tried.add(reference := largest)
            continue
        lost = max((_exponent(u) - e for u, e in zip(vector, exponent.tolist(), strict=True) if u), default=0)
        bits = max(2 * bits, int(3.33 * digits) + 96 + lost)
    raise PrecisionExhausted(f"elimination to {digits} digits needs {bits} bits or more; ask for fewer digits")


def _law_and_vector(chain: Arrays, order: Any) -> tuple[list[arb], list[arb]]:
    """Return x with x_0 = 1 and u with u S = x d, by M = (I - F)(D - G) with nonnegative F, G."""
    n = chain.size
    rows, columns = _rows(chain, order)
    exits = [sum(row.values(), arb(0)).mid() for row in rows]
    share: list[dict[int, arb]] = [{} for _ in range(n)]  # F by column
    pivot = [arb(0)] * n
    for k in range(n - 1, 0, -1):
        out = rows[k] = {j: x for j, x in rows[k].items() if j < k}
        pivot[k] = total = sum(out.values(), arb(0)).mid()
        for i in columns[k]:
            if i < k:
                part = share[k][i] = (rows[i].pop(k) / total).mid()
                for j, x in out.items():
                    if j != i:
                        rows[i][j] = (rows[i][j] + part * x).mid() if j in rows[i] else (part * x).mid()
                        columns[j].add(i)
    law = [arb(1)]
    for k in range(1, n):
        law.append(sum((law[i] * part for i, part in share[k].items()), arb(0)).mid())
    vector = [x * d for x, d in zip(law, exits, strict=True)]  # becomes the right side, then u
    for k in range(n - 1, 0, -1):
        vector[k] = (vector[k] / pivot[k]).mid()
        for j, x in rows[k].items():
            vector[j] = (vector[j] + vector[k] * x).mid()
    vector[0] = arb(0)
    for k in range(1, n):
        vector[k] = (vector[k] + sum((vector[i] * part for i, part in share[k].items() if i), arb(0))).mid()
    return law, vector


def _rows(chain: Arrays, order: Any) -> tuple[list[dict[int, arb]], list[set[int]]]:
    number = np.empty(chain.size, np.int64)
    number[order] = np.arange(chain.size)
    rows: list[dict[int, arb]] = [{} for _ in range(chain.size)]
    columns: list[set[int]] = [set() for _ in range(chain.size)]
    pairs = zip(number[chain.sources()].tolist(), number[chain.targets].tolist(), chain.rates, strict=True)
    for i, j, q in pairs:
        rows[i][j] = arb(q if isinstance(q, fmpq) else int(q)).mid()
        columns[j].add(i)
    return rows, columns


def _exponent(x: arb) -> int:
    mantissa, exponent = x.man_exp()
    return int(exponent) + int(mantissa).bit_length()


def _word(x: arb, exponent: int, bits: int) -> int:
    """Return floor(x 2^(bits - exponent))."""
    mantissa, power = x.man_exp()
    shift = int(power) + bits - exponent
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift
