"""Is a rule monotone? Exact test on small systems: more jobs somewhere never lead to fewer jobs elsewhere."""

from collections.abc import Callable
from itertools import accumulate, combinations, combinations_with_replacement, product
from math import comb, prod
from typing import Any

from flint import fmpq

from exactchains.truth import InputError
from meanfield.finite import moved
from meanfield.models.policy import Loads, Policy, checked
from meanfield.models.pools import whole

__all__ = ["monotonicity_violation"]

Arrivals = list[tuple[Loads, Any]]
MOST_STATES = 3000  # whose pairs are compared


def monotonicity_violation(
    policy: Policy, *, n: int, most: int, order: str = "coordinate"
) -> tuple[Loads, Loads] | None:
    r"""Return loads q <= q' whose arrivals cannot be coupled in order; None if no loads up to ``most`` are such.

    Order ``"coordinate"`` compares sorted loads pool by pool, ``"majorisation"`` the sums of the k longest queues of
    equal servers, for every k.  By Strassen's theorem the arrival from q can be coupled below that
    from q' iff every set A of targets of q has :math:`P(A) \le P'(\{y' : y \le y' \text{ for some } y \in A\})`, which
    is checked exactly.  Services are ordered by rank, whatever the rule, so that the whole chain is monotone.

    Guarantee
    ---------
    None: the rule is monotone on all ordered pairs of that box.  A pair: it is not monotone.

    Examples
    --------
    >>> from meanfield.models.noisy import PowerOfD
    >>> monotonicity_violation(PowerOfD("1/2", d=2, g=1, eps="1/2"), n=3, most=4) is None
    True
    """
    n, most = checked(policy, n), whole(most, "most", "the loads that are tried go up to", least=0)
    below = _order(policy, order)
    sizes = policy.pools.sizes(n)
    if n > 12 or prod(comb(size + most, size) for size in sizes) > MOST_STATES:
        raise InputError(f"n = {n}, most = {most}: more than {MOST_STATES} loads or 12 servers; lower them")
    queues = [list(combinations_with_replacement(range(most + 1), size)) for size in sizes]
    states = list(product(*queues))
    arrivals = {s: [(moved(s, j, k, 1), x) for (j, k), x in policy.law(s).items()] for s in states}
    for low in states:
        for high in states:
            if low != high and below(low, high) and not _coupled(arrivals[low], arrivals[high], below):
                return low, high
    return None


def _below(low: Loads, high: Loads) -> bool:
    return all(a <= b for x, y in zip(low, high, strict=True) for a, b in zip(x, y, strict=True))


def _order(policy: Policy, name: str) -> Callable[[Loads, Loads], bool]:
    if name == "coordinate":
        return _below
    if name != "majorisation" or len(policy.pools) > 1:
        raise InputError(f"order = {name!r}: allowed are coordinate and, for equal servers, majorisation")
    return _majorised


def _majorised(low: Loads, high: Loads) -> bool:
    sums = (accumulate(reversed(loads[0])) for loads in (low, high))
    return all(a <= b for a, b in zip(*sums, strict=True))


def _coupled(low: Arrivals, high: Arrivals, below: Callable[[Loads, Loads], bool]) -> bool:
    """Return whether Hall's condition holds for every set of targets of the lower state."""
    above = [{j for j, (y, _) in enumerate(high) if below(x, y)} for x, _ in low]
    every = set(range(len(high)))
    open_targets = [i for i in range(len(low)) if above[i] != every]  # a set with a free target reaches everything
    for size in range(1, len(open_targets) + 1):
        for chosen in combinations(open_targets, size):
            reached = set().union(*(above[i] for i in chosen))
            mass = sum((low[i][1] for i in chosen), fmpq(0))
            if mass > sum((high[j][1] for j in reached), fmpq(0)):
                return False
    return True
