"""An estimate of the law of a countable chain on a square: how far a box must reach for the digits asked."""

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from exactchains.countable_chain import CountableChain, Reward
from exactchains.number import nearest_double
from exactchains.solvers.cone_geometry import SUM, Side

SQUARES = (48, 96, 192)
HEAVY = 0.02  # mass near the edge of the square above which a larger one is taken


def tail_quantiles(chain: CountableChain, reward: Reward, tolerance: float) -> tuple[tuple[Side, ...], float]:
    """Return sides beyond each of which about ``tolerance`` of the mass lies, and the mean of the reward."""
    for reach in SQUARES:
        law = square_law(chain, reach)
        if law[-reach // 4 :].sum() + law[:, -reach // 4 :].sum() < HEAVY:
            break
    unit = reward.unit()
    f = reward.integers(unit)
    mean = sum(law[i, j] * f((i, j)) for i in range(reach + 1) for j in range(reach + 1)) / unit
    forms = [SUM, (1, 0), (0, 1), *chain.borders, *((-a, -b) for a, b in chain.borders)]
    return tuple(_side(chain, form, law, tolerance) for form in forms), float(mean)


def square_law(chain: CountableChain, reach: int) -> Any:
    """Return the law in doubles of the chain whose jumps out of the square are blocked."""
    n = (reach + 1) ** 2
    row, column, rate = [], [], []
    for i in range(reach + 1):
        for j in range(reach + 1):
            for (k, m), q in chain.transitions((i, j)):
                if k <= reach and m <= reach:
                    row.append(i * (reach + 1) + j)
                    column.append(k * (reach + 1) + m)
                    rate.append(nearest_double(q))
    Q = csr_matrix((rate, (row, column)), shape=(n, n))
    balance = (csr_matrix((np.asarray(Q.sum(1)).ravel(), (range(n), range(n))), shape=(n, n)) - Q).T.tocsc()
    rest = splu(balance[1:, 1:].tocsc()).solve(np.asarray(Q[0, 1:].todense()).ravel())
    law = np.concatenate([[1.0], np.maximum(rest, 0)])
    return (law / law.sum()).reshape(reach + 1, reach + 1)


def _side(chain: CountableChain, form: tuple[int, int], law: Any, tolerance: float) -> Side:
    """Return the side a x1 + b x2 <= bound with about ``tolerance`` beyond, its tail continued geometrically."""
    reach = len(law) - 1
    step = max(
        max((abs(form[0] * x + form[1] * y) for (x, y), _ in jumps), default=0) for jumps in chain.jumps.values()
    )
    value = form[0] * np.arange(reach + 1)[:, None] + form[1] * np.arange(reach + 1)
    top = int(value.max())
    mass = np.bincount(np.maximum(value, 0).ravel(), weights=law.ravel(), minlength=top + 1)
    tail = np.cumsum(mass[::-1])[::-1]  # tail[k] = P(form >= k)
    last = max(4, int(0.6 * reach) * max(abs(form[0]), abs(form[1]), 1))
    last = max((k for k in range(4, min(last, top) + 1) if tail[k] > 1e-290), default=4)
    below = [k for k in range(1, last + 1) if tail[k] <= tolerance]
    if below:
        return Side(form, below[0], max(step, 1))
    ratio = min(max((tail[last] / tail[last - 4]) ** 0.25, 1e-6), 0.9999)
    more = math.log(tolerance / tail[last]) / math.log(ratio)
    return Side(form, last + math.ceil(more), max(step, 1))
