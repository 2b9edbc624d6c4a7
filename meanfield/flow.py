"""The mean-field vector field of a policy, over any domain and symbolic."""

from collections.abc import Sequence
from math import comb
from typing import Any

from flint import fmpq

from exactchains.domain import QQ, Domain
from exactchains.number import rational
from exactchains.symbolic import Fractions
from exactchains.truth import InputError
from meanfield.models.noisy import PowerOfD, power_of_d
from meanfield.models.policy import Policy

__all__ = ["drift", "is_cooperative", "jacobian"]

Tails = Sequence[Sequence[Any]]
MOST_TERMS = 1_000_000  # of a symbolic Jacobian, some seconds


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
    >>> from meanfield.models.noisy import PowerOfD, power_of_d
    >>> drift(PowerOfD("1/2"), [[1, QQ.convert("1/2"), QQ.convert("1/8"), 0]])
    [[0, -1/128, 1/128]]
    """
    if domain is QQ:
        tails = _exact(policy, tails)
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


def _exact(policy: Policy, tails: Any) -> list[list[fmpq]]:
    rows = [x if isinstance(x, Sequence) and not isinstance(x, str) else () for x in tails or ()]
    if len(rows) != len(policy.pools) or not all(rows):
        raise InputError(f"tails = {tails!r:.60}: give a list x_0 = 1, x_1, .. for each of {len(policy.pools)} pools")
    return [[rational(v, "tail") for v in x] for x in rows]


def jacobian(policy: Policy, depth: int) -> tuple[Fractions, list[list[Any]]]:
    """Return the field Q(lam, x0..x_depth) and the symbolic Jacobian of rows 1..depth of one pool, x_{depth+1} = 0.

    Row k holds the derivatives of row k with respect to x_1..x_depth.  x_0 stands for the constant 1, so that rows are
    homogeneous in x.
    """
    names = ["lam", *(f"x{k}" for k in range(depth + 1))]
    field = Fractions(*names)
    x = [field[name] for name in names[1:]]
    rows = drift(policy, [x], domain=field, load=field["lam"])[0]
    return field, [[row.diff(v) for v in x[1:]] for row in rows]


def is_cooperative(policy: PowerOfD) -> bool:
    r"""Return whether the flow of power of d with these d and g is proved cooperative on ordered tails, for every eps.

    Written in the increments :math:`p_k = x_k - x_{k+1} \ge 0`, every off-diagonal derivative is a polynomial that is
    affine in eps; the proof is that at eps = 0 and at eps = 1 all its coefficients are nonnegative.  Rows beyond
    g + 1 are shifts of one another, so that the first 2 g + 3 stand for all.
    """
    policy = power_of_d(policy, "is_cooperative")
    gap = 0 if policy.g is None else policy.g
    depth = 2 * gap + 3
    terms = (gap + 2) * depth * comb(depth + 1 + policy.d, policy.d)
    if terms > MOST_TERMS:
        raise InputError(
            f"d = {policy.d}, g = {policy.g}: the proof takes {terms} terms, above {MOST_TERMS}; take smaller ones"
        )
    for eps in (0, 1):
        _, rows = jacobian(PowerOfD(fmpq(1, 2), policy.d, policy.g, eps), depth)
        increments = Fractions("lam", *(f"p{k}" for k in range(depth + 1)))
        tails = [sum(increments.gens[i] for i in range(k + 1, depth + 2)) for k in range(depth + 1)]
        point = [increments["lam"], *tails]
        for k, row in enumerate(rows[: gap + 2]):
            for i, entry in enumerate(row):
                if i != k and any(c < 0 for _, c in _substituted(entry.numer, point, increments).numer.terms()):
                    return False
    return True


def _substituted(polynomial: Any, point: list[Any], field: Fractions) -> Any:
    total = field.convert(0)
    for exponents, coefficient in polynomial.terms():
        term = field.convert(int(coefficient))
        for base, e in zip(point, exponents, strict=True):
            term = term * base**e
        total = total + term
    return total
