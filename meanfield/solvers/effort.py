"""How many shapes and levels comparison chains take for given digits, and how many more when those fall short."""

import math
from dataclasses import dataclass, replace

from flint import fmpq

from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from meanfield.models.policy import Policy
from meanfield.solvers.shapes import ShapeSet

__all__ = ["FEW_DIGITS", "MOST_DIGITS", "Effort", "first_effort", "states_for", "swept_levels", "zeros"]

STATES = {1: 200_000, 2: 200_000, 3: 60_000}  # shapes times levels by servers, for sparse factors
MORE_STATES = 150_000  # for more servers, where GMRES takes over
MANY_STATES = 600_000  # for few digits of many servers, whose V fits 64 bits
FEW_DIGITS = 5
MOST_DIGITS = 100  # after the point, for rare events
SPELLED = 6_000_000  # loads of single servers that all states list


@dataclass(frozen=True)
class Effort:
    """How far to go: shapes with inflow above ``threshold``, levels to ``top``; a level weighs exp(-decay) more.

    ``width`` is what the effort before this one gave, relative to the mean.
    """

    digits: int
    decay: float
    threshold: float
    top: int
    width: float = math.inf

    def raised(self, mean: Enclosure, load: fmpq, leaving: float) -> "Effort":
        """Return more levels, or more shapes where the flow ``leaving`` explains the width or levels did not help."""
        price = 1 / (1 - _ratio(load, fmpq(1)))
        width = _ratio(mean.upper - mean.lower, mean.lower)
        missing = 10 * max(1.0, width * 10.0 ** (self.digits - 1))
        if 3 * price * leaving < _ratio(mean.upper - mean.lower, fmpq(1)) and width < self.width / 2:
            return replace(self, width=width, top=self.top + math.ceil(math.log(missing) / self.decay))
        return replace(self, width=width, threshold=self.threshold / missing, top=self.top + max(1, self.top // 8))


def first_effort(policy: Policy, n: int, digits: int) -> Effort:
    """Return the effort to try first for ``digits`` digits of the mean queue."""
    direction = ShapeSet(policy, n).direction
    jobs = sum(size * v for size, v in zip(policy.pools.sizes(n), direction, strict=True))
    decay = -jobs * math.log(_ratio(policy.load, fmpq(1)))
    return Effort(digits, decay, 10.0 ** -(digits + 3), 4 + math.ceil(0.55 * digits * math.log(10) / decay))


def zeros(policy: Policy, n: int, jobs: int) -> int:
    """Return about how many zeros follow the point of the chance of so many jobs at a server."""
    return int(jobs * first_effort(policy, n, 1).decay / max(policy.direction or (1,)) / math.log(10))


def states_for(n: int, digits: int) -> int:
    """Return the shapes times levels up to which the search goes."""
    return STATES.get(n, min(MANY_STATES if digits <= FEW_DIGITS else MORE_STATES, SPELLED // n))


def swept_levels(n: int, effort: Effort) -> int:
    """Return the levels on which the approximate law is found; it is continued beyond."""
    return effort.top if n <= 2 else min(effort.top, max(6, 60 // n))


def _ratio(x: fmpq, y: fmpq) -> float:
    return nearest_double(x / y)
