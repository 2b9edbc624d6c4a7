"""Stationary laws by state reduction without subtraction (Grassmann, Taksar, Heyman), over any domain."""

from collections.abc import Mapping, Sequence
from typing import Any

from exactchains.chain import FiniteChain, is_zero
from exactchains.domain import Domain
from exactchains.explore import classes
from exactchains.truth import DoesNotExist


def gth(chain: FiniteChain) -> list[Any]:
    """Return the stationary law of a chain with one recurrent class, in the chain's own domain.

    Guarantee
    ---------
    Over balls: the exact law lies in the returned entries.  Over ``QQ`` and rational functions: exact.

    Raises
    ------
    DoesNotExist
        Several recurrent classes, hence several laws.
    """
    found = classes(chain)
    if len(found.recurrent) > 1:
        raise DoesNotExist(several(len(found.recurrent), [c[0] for c in found.recurrent]))
    states, domain = found.recurrent[0], chain.domain
    number = {i: k for k, i in enumerate(states)}
    with domain.working():
        rows = [
            {number[j]: x for j, x in chain.rows[i].items() if j in number and j != i and not is_zero(x, domain)}
            for i in states
        ]
        law = [domain.convert(0)] * chain.size
        for i, x in zip(states, eliminated(rows, domain), strict=True):
            law[i] = x
    return law


def eliminated(rows: Sequence[Mapping[int, Any]], domain: Domain) -> list[Any]:
    r"""Return the law of an irreducible chain by eliminating states from the last to the first.

    Eliminating state k sends i -> j through k: :math:`q_{ij} \mathrel{+}= q_{ik} q_{kj} / \sum_{l<k} q_{kl}`.
    Only sums, products and quotients of nonnegative numbers occur, so that over balls every entry keeps its relative
    accuracy, however small.  Rows hold off-diagonal entries only.

    Source
    ------
    Grassmann, Taksar and Heyman, Operations Research 33 (1985) 1107-1116.
    """
    n, zero = len(rows), domain.convert(0)
    left = [dict(row) for row in rows]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(left):
        for j in row:
            columns[j].add(i)
    inflow: list[dict[int, Any]] = [{} for _ in range(n)]
    for k in range(n - 1, 0, -1):
        out = {j: x for j, x in left[k].items() if j < k}
        total = sum(out.values(), zero)
        for i in columns[k]:
            if i >= k:
                continue
            inflow[k][i] = share = left[i].pop(k) / total
            for j, x in out.items():
                if j != i:
                    left[i][j] = left[i][j] + share * x if j in left[i] else share * x
                    columns[j].add(i)
    law = [domain.convert(1)]
    for k in range(1, n):
        law.append(sum((law[i] * share for i, share in inflow[k].items()), zero))
    total = sum(law, zero)
    return [x / total for x in law]


def several(count: int, first: Sequence[int]) -> str:
    """Return the message that several laws exist."""
    shown = ", ".join(str(i) for i in first[:4]) + (", ..." if count > 4 else "")
    return f"{count} recurrent classes (with states {shown}), hence no unique stationary law; use extremal_laws"
