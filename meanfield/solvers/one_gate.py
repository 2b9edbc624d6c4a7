"""Infinite chains of join-the-shortest-queue types: two-sided bounds from one box with a single gate."""

import math
from dataclasses import dataclass

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.solvers.stationary import stationary
from exactchains.truth import InputError, PrecisionExhausted
from meanfield.finite import ServerChain, exact_chain
from meanfield.models.policy import Policy
from meanfield.models.pools import whole
from meanfield.models.shortest import JSQ, SpeedAwareJSQ

__all__ = ["Gate", "one_gate"]

MAX_STATES = 60_000
MOST_DIGITS = 1050  # 1000, and those that callers spare


@dataclass(frozen=True)
class Gate:
    r"""The box {q <= K}, its law, and upper bounds of what happens outside, all computed inside the box.

    The longest queue grows only from the diagonal, so the box chain with blocking differs from the true chain at one
    state, ``top``.  With :math:`p_K = \pi_K(top)`:

    * ``outside``: :math:`P(\max q > K) \le u = p_K (1 - \pi_K(0)) / (\pi_K(0) (1 - p_K))`;
    * ``beyond``: :math:`E[\sum q; \max q > K] \le p_K n K (1/\pi_0 - 1) + L p_K / \pi_0`, where
      :math:`\pi_0 = (1-u) \pi_K(0)` and L bounds the mean number of jobs.
    """

    box: ServerChain
    law: object
    outside: fmpq
    beyond: fmpq

    def enclosure(self, name: str, index: int | None = None) -> Enclosure:
        """Return a quantity of the infinite chain: increasing rewards are at least their box mean."""
        if name == "idle":
            busy = self.enclosure("tail", 1)
            return Enclosure(1 - busy.upper, 1 - busy.lower)
        inside: Enclosure = self.box.quantity(self.law, name, index)
        if name in ("tail", "busy", "work_tail"):
            return Enclosure(inside.lower, min(inside.upper * (1 - self.outside) + self.outside, fmpq(1)))
        servers = self.box.n if index is None else len(self.box.states[0][index])
        return Enclosure(inside.lower, inside.upper + self.beyond / servers)


def one_gate(policy: Policy, *, n: int, digits: int, most: int = MAX_STATES) -> Gate:
    """Return the smallest box tried that bounds the mean queue to ``digits`` digits.

    Guarantee
    ---------
    The quantities of the infinite system lie in the enclosures of :meth:`Gate.enclosure`; the premises are that
    the rule is JSQ or speed-aware JSQ (monotone coupling, ties by a fresh permutation) and load < 1 (finite mean).

    Raises
    ------
    PrecisionExhausted
        The box would need too many states.
    """
    n, digits = whole(n, "n", "give"), whole(digits, "digits", "give", most=MOST_DIGITS)
    if n < 2 or not (isinstance(policy, SpeedAwareJSQ) or (isinstance(policy, JSQ) and policy.counts == "jobs")):
        raise InputError(f"{type(policy).__name__}, n = {n}: the one-gate bound needs JSQ or speed-aware JSQ, n >= 2")
    decay = -n * math.log10(nearest_double(policy.load))
    K = max(2, math.ceil((digits + 2) / decay))
    for _ in range(12):
        size = math.prod(math.comb(m + K, m) for m in policy.pools.sizes(n))
        if size > most:
            raise PrecisionExhausted(f"n = {n}: {digits} digits need a box of {size} states, more than {most}")
        gate = _gate(policy, n, K, digits)
        if gate is not None and gate.enclosure("mean_queue").has_digits(digits):
            return gate
        K += max(1, K // 8)
    raise PrecisionExhausted(f"n = {n}: the one-gate bound does not reach {digits} digits")


def _gate(policy: Policy, n: int, K: int, digits: int) -> Gate | None:
    box = exact_chain(policy, n=n, buffer=K)
    law = stationary(box.chain, digits=digits + 8)
    empty, top = law[0].lower, law[len(box.states) - 1].upper
    outside = top * (1 - empty) / (empty * (1 - top))
    start = (1 - outside) * empty
    if top >= start:
        return None
    inside = n * box.quantity(law, "mean_queue").upper
    excursion = top * n * K * (1 / start - 1)
    most = (inside + excursion) / (1 - top / start)
    return Gate(box, law, outside, excursion + most * top / start)
