"""The stationary law of a finite chain: one entry function."""

from typing import Any

from exactchains.chain import FiniteChain
from exactchains.solvers.gth import gth


def stationary(chain: FiniteChain) -> list[Any]:
    """Return the stationary law in the chain's own domain; see :func:`gth`."""
    return gth(chain)


def removed_equation(chain: FiniteChain) -> list[Any]:
    r"""Return the stationary law by one linear solve: :math:`x_0 = 1`, balance of states 1..n-1, then normalise.

    The balance equation of state 0 is dropped, not replaced by the normalisation, which would destroy every entry
    below the rounding error of the largest.
    """
    domain, n = chain.domain, chain.size
    with domain.working():
        zero = domain.convert(0)
        balance = [[zero] * n for _ in range(n)]  # balance[j][i]: flow from i into j
        for i, row in enumerate(chain.rows):
            for j, rate in row.items():
                if i != j:
                    balance[j][i] = balance[j][i] + rate
                    balance[i][i] = balance[i][i] - rate
        tail = domain.solve([row[1:] for row in balance[1:]], [zero - row[0] for row in balance[1:]]) if n > 1 else []
        law = [domain.convert(1), *tail]
        total = sum(law, zero)
        return [x / total for x in law]
