"""Stationary laws by state reduction without subtraction (Grassmann, Taksar, Heyman)."""

from typing import Any

from exactchains.chain import FiniteChain, is_zero
from exactchains.truth import DoesNotExist


def gth(chain: FiniteChain) -> list[Any]:
    r"""Return the stationary law by eliminating states from the last to the first.

    Eliminating state k sends i -> j through k: :math:`q_{ij} \mathrel{+}= q_{ik} q_{kj} / \sum_{l<k} q_{kl}`.
    Only sums, products and quotients of nonnegative numbers occur, so that over balls every entry keeps its relative
    accuracy, however small.

    Guarantee
    ---------
    Over balls: the exact law lies in the returned entries.  Over ``QQ`` and rational functions: exact.

    Raises
    ------
    DoesNotExist
        State 0 cannot be reached from some state, hence it lies outside a unique recurrent class.

    Source
    ------
    Grassmann, Taksar and Heyman, Operations Research 33 (1985) 1107-1116.
    """
    domain, n = chain.domain, chain.size
    with domain.working():
        rows = [{j: x for j, x in row.items() if j != i and not is_zero(x, domain)} for i, row in enumerate(chain.rows)]
        columns: list[set[int]] = [set() for _ in range(n)]
        for i, row in enumerate(rows):
            for j in row:
                columns[j].add(i)
        inflow: list[dict[int, Any]] = [{} for _ in range(n)]
        for k in range(n - 1, 0, -1):
            out = {j: x for j, x in rows[k].items() if j < k}
            if not out:
                raise DoesNotExist(f"state {k} does not lead to state 0: no unique law that charges state 0")
            total = sum(out.values(), domain.convert(0))
            for i in columns[k]:
                if i >= k:
                    continue
                rate = rows[i].pop(k)
                inflow[k][i] = share = rate / total
                for j, x in out.items():
                    if j != i:
                        rows[i][j] = rows[i][j] + share * x if j in rows[i] else share * x
                        columns[j].add(i)
        law = [domain.convert(1)]
        for k in range(1, n):
            law.append(sum((law[i] * share for i, share in inflow[k].items()), domain.convert(0)))
        total = sum(law, domain.convert(0))
        return [x / total for x in law]
