"""Errors at every gap against random routing: the sign of the difference of mean responses, from certified bounds."""

from fractions import Fraction
from functools import cache

from meanfield.models.noisy import PowerOfD
from meanfield.solvers.fixed_point import fixed_point
from proofs_check.check import document
from proofs_check.check.exact import rational

DIGITS = 4


@cache
def mean_queue(d: int, eps: Fraction, load: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the mean queue in the limit of many servers, from a certificate that the checker accepts."""
    certificate = fixed_point(PowerOfD(str(load), d, None, str(eps)), digits=DIGITS).certificate()
    document.check(certificate)
    low, high = map(rational, certificate["conclusion"]["mean_queue"])
    return low, high


def worse_than_random(d: int, eps: Fraction, load: Fraction) -> bool | None:
    """Return whether the mean response is at least 1/(1 - load), or is below; None when the bounds do not tell."""
    low, high = mean_queue(d, eps, load)
    random = load / (1 - load)
    return True if low >= random else False if high < random else None
