"""The mean-field vector field of a policy, over any domain and symbolic."""

from collections.abc import Sequence
from typing import Any

from exactchains.domain import QQ, Domain
from meanfield.models.policy import Policy

__all__ = ["drift", "jacobian"]

Tails = Sequence[Sequence[Any]]


def drift(policy: Policy, tails: Tails, *, domain: Domain = QQ, load: Any = None) -> list[list[Any]]:
    r"""Return the derivative of the tails of a policy that samples finitely many servers.

    With :math:`x_{j,k}` the fraction of pool j with at least k jobs (:math:`x_{j,0} = 1`), :math:`R_{j,k}` the
    probability of joining class (j, k), fraction :math:`\gamma_j` and speed :math:`\mu_j`,

    .. math:: \dot x_{j,k} = \lambda R_{j,k-1}(x)/\gamma_j - \mu_j (x_{j,k} - x_{j,k+1}).

    Parameters
    ----------
    tails
        ``tails[j]`` are x_{j,0} = 1, x_{j,1}, ..., x_{j,K}, native to ``domain``; beyond the end x is 0.
    load
        The load when it is native to the domain (symbolic); None: the policy's.

    Returns
    -------
    list
        ``result[j][k-1]`` is the derivative of x_{j,k}, k = 1..K.

    Examples
    --------
    >>> from meanfield.models.noisy import PowerOfD
    >>> drift(PowerOfD("1/2"), [[1, QQ.convert("1/2"), QQ.convert("1/8"), 0]])
    [[0, -1/128, 1/128]]
    """
    with domain.working():
        rate = domain.convert(policy.load) if load is None else load
        joined = policy.limit_law(tails, domain)
        found = []
        for j, (pool, x) in enumerate(zip(policy.pools, tails, strict=True)):
            padded = [*x, 0 * x[0]]
            inverse, speed = domain.convert(1 / pool.fraction), domain.convert(pool.speed)
            found.append(
                [
                    rate * inverse * joined.get((j, k - 1), 0 * x[0]) - speed * (padded[k] - padded[k + 1])
                    for k in range(1, len(x))
                ]
            )
        return found


def jacobian(policy: Policy, depth: int) -> tuple[Any, list[list[Any]]]:
    """Return the field Q(lam, x1..x_depth) and the symbolic Jacobian of the first ``depth`` rows, one pool.

    Row k holds the derivatives of row k with respect to x_1..x_depth, x_{depth+1} = 0.
    """
    from exactchains.symbolic import Fractions

    names = ["lam", *(f"x{k}" for k in range(1, depth + 1))]
    field = Fractions(*names)
    rows = drift(policy, [[field.convert(1), *(field[x] for x in names[1:])]], domain=field, load=field["lam"])[0]
    return field, [[row.diff(field[x]) for x in names[1:]] for row in rows]
