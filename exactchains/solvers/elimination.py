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


def eliminated_law(chain: Arrays, order: Any, digits: int) -> tuple[IntegerValues, Proof]:
    """Return the law with ``digits`` certain digits in every entry; states are eliminated from the end of ``order``."""
    return certified_law(chain, order, lambda: _law_and_vector(chain, order), digits=digits)


def certified_law(
    chain: Arrays, order: Any, approximate: Callable[[], tuple[list[arb], list[arb]]], *, digits: int
) -> tuple[IntegerValues, Proof]:
    """Certify what ``approximate`` returns at flint's working precision, which doubles until the digits are reached.

    Raises
    ------
    PrecisionExhausted
        Six doublings of the precision did not suffice.
    """
    bits = int(3.33 * digits) + 64
    for _ in range(7):
        with ctx.workprec(bits + 32):
            law, vector = approximate()
        if all(x > 0 for x in law):
            exponent = np.array([_exponent(x) for x in law])
            words = [
                objects([_word(x, e, bits) for x, e in zip(v, exponent.tolist(), strict=True)]) for v in (law, vector)
            ]
            system = IntegerBalance(chain, order, (0, words[0], exponent), bits)
            values, proof, error = certified(system, system.unknown(words[1]))
            if values is not None and 4 * error <= fmpq(10) ** (1 - digits):
                return values, proof
        bits *= 2
    raise PrecisionExhausted(f"elimination with {bits // 2} bits did not reach {digits} digits; ask for fewer digits")


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
