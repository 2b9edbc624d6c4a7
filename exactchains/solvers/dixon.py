"""Exact laws of small chains: one equation removed, the regular integer system solved p-adically (flint)."""

from typing import Any

import numpy as np
from flint import fmpq, fmpz, fmpz_mat

from exactchains.solvers.arrays import Arrays


def integer_rows(chain: Arrays) -> tuple[list[int], list[int] | None]:
    """Return integer rates, and by which integer each row was multiplied (None: all by one common factor)."""
    if chain.rates.dtype != object or not any(isinstance(x, fmpq) for x in chain.rates):
        return [int(x) for x in chain.rates], None
    rates, scales = [], []
    for i in range(chain.size):
        row = [fmpq(x) for x in chain.rates[chain.indptr[i] : chain.indptr[i + 1]]]
        scale = fmpz(1)
        for x in row:
            scale = scale.lcm(x.q)
        scales.append(int(scale))
        rates += [int((x * scale).p) for x in row]
    return rates, scales


def dixon(chain: Arrays) -> tuple[list[fmpz], fmpz]:
    r"""Return integers N_i and their sum: the law is :math:`N_i / \sum N`.

    The balance equation of state 0 is left out and its entry set to 1: a regular system with an integer M-matrix,
    so that flint's p-adic solver applies (the singular one would fall back to elimination).

    Source
    ------
    Dixon, Numer. Math. 40 (1982) 137-141.
    """
    n = chain.size
    if n == 1:
        return [fmpz(1)], fmpz(1)
    rates, scales = integer_rows(chain)
    balance = [[0] * (n - 1) for _ in range(n - 1)]  # balance[j-1][i-1]: minus the flow from i into j
    right = [[0] for _ in range(n - 1)]
    for i, j, q in zip(chain.sources().tolist(), chain.targets.tolist(), rates, strict=True):
        if i:
            balance[i - 1][i - 1] += q
            if j:
                balance[j - 1][i - 1] -= q
        else:
            right[j - 1][0] += q
    solution = fmpz_mat(balance).solve(fmpz_mat(right))
    below, tops = _over_one(solution, n - 1)
    law = [below, *tops]
    if scales is not None:  # row i was multiplied by its scale: the unknown was x_i / scale_i
        law = [x * s for x, s in zip(law, scales, strict=True)]
    total = sum(law, fmpz(0))
    return law, total


def _over_one(solution: Any, n: int) -> tuple[fmpz, list[fmpz]]:
    top, below = solution.numer_denom()
    return below, [top[i, 0] for i in range(n)]


def dixon_cost(chain: Arrays) -> float:
    """Return a rough time in seconds, to choose methods by."""
    parts = (x for q in chain.rates for x in ((q.p, q.q) if isinstance(q, fmpq) else (q,)))
    bits = max((int(x).bit_length() for x in parts), default=1)
    return float(np.float64(chain.size) ** 3 * (bits + 8) * 1.2e-9)
