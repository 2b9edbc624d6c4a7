"""Which known wrong quantity, convention or scheme a simulated number equals, if any."""

from collections.abc import Iterable
from dataclasses import dataclass

from exactchains.enclosure import Enclosure
from proofs_check.simulators.statistics import Estimate

MATCH_AT = 0.99  # the interval in which the suspect's value must lie
EDGE = 2.576  # normal standard errors at the ends of that interval
CLEARLY = 4.6  # difference of squared distances in standard errors: ten times as likely
SHARPNESS = 0.5  # an interval wider than this fraction of the fault's effect proves nothing


@dataclass(frozen=True)
class Suspect:
    """A known fault or convention, in words, and the value that it would give, exactly."""

    fault: str
    value: Enclosure


@dataclass(frozen=True)
class Diagnosis:
    """What the data match: suspects whose value lies in the interval, the nearest first; ``tried`` is how many."""

    matches: tuple[Suspect, ...]
    tried: int


def diagnose(estimate: Estimate, exact: Enclosure, suspects: Iterable[Suspect]) -> Diagnosis:
    """Return the suspects that explain a simulated number.

    A suspect matches when its value lies in the 99 % interval, and that interval is short against its distance from
    the right value: otherwise a wide interval would match everything.  Those that another explains ten times better, by
    distances in standard errors, are left out.
    """
    if estimate.constant:
        return Diagnosis((), 0)
    (bottom, top), half = estimate.interval(MATCH_AT), estimate.half_width(MATCH_AT)
    right = float((exact.lower + exact.upper) / 2)
    tried = list(suspects)
    found = []
    for suspect in tried:
        low, high = float(suspect.value.lower), float(suspect.value.upper)
        distance = max(low - estimate.value, estimate.value - high, 0.0)
        effect = abs((low + high) / 2 - right)
        if effect > 0 and bottom <= high and low <= top and half <= SHARPNESS * effect:
            found.append((EDGE * distance / half if distance else 0.0, suspect))
    found.sort(key=lambda pair: pair[0])
    nearest = found[0][0] if found else 0.0
    clear = [one for z, one in found if z * z <= nearest * nearest + CLEARLY]
    return Diagnosis(tuple(clear), len(tried))
