"""Ages when codewords have different lengths: a mode chain whose slots last as long as the codeword sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aoi_tools.models.schemes import Periodic
from aoi_tools.solvers.modes import ModeLaw
from aoi_tools.solvers.visits import Visits
from exactchains.domain import QQ, Domain
from exactchains.level_chain import LevelChain
from exactchains.truth import InputError


@dataclass(frozen=True)
class LengthAge:
    """Mean age and mean peak age in channel uses, mean number of uses between usable updates."""

    mean: Any
    peak_mean: Any
    gap_mean: Any


def age_with_lengths(scheme: Any, lengths: Sequence[int], *, domain: Domain = QQ) -> LengthAge:
    r"""Return the age, at every channel use, when mode i sends a codeword of ``lengths[i]`` uses.

    A usable update of length l sets the age to l; it then grows for the g uses to the next one.  With nu the law of
    the modes, R the reset and U the up block, N = (I - U)^{-1}, tau the lengths:

    .. math::
        E A = \frac{E[g\,l + g(g-1)/2]}{E g}, \quad E g = \nu R N \tau, \quad E[g\,l] = (\nu \circ \tau) R N \tau, \quad
        E g^2 = v \tau^2 + 2 (v \circ \tau) U N \tau, \ v = \nu R N,

    each per slot.  The peak is l + g - 1.

    Examples
    --------
    >>> from aoi_tools import Periodic
    >>> age_with_lengths(Periodic(0, 0, 1), (3, 3, 3, 3)).mean
    4
    """
    if len(lengths) != len(scheme.modes) or not all(isinstance(n, int) and n >= 1 for n in lengths):
        raise InputError(f"lengths: {len(scheme.modes)} integers >= 1 are needed, one for each mode")
    with domain.working():
        up, reset = scheme.blocks(domain)
        law = ModeLaw(LevelChain.resetting(up, reset, domain=domain), scheme.modes)
        tau = [domain.convert(lengths[i]) for i in law.kept]
        zero = domain.convert(0)
        resolvent = Visits(law.up, [sum(row.values(), zero) for row in law.reset], domain)
        started = law.level(0)
        visits = resolvent.row(started)
        gap = _dot(visits, tau, zero)
        weighted = law.step([x * t for x, t in zip(law.mode_law, tau, strict=True)], law.reset)
        carried = _dot(resolvent.row(weighted), tau, zero)
        later = resolvent.row(law.step([x * t for x, t in zip(visits, tau, strict=True)], law.up))
        square = _dot(visits, [t * t for t in tau], zero) + 2 * _dot(later, tau, zero)
        resets = sum(started, zero)
        mean = (carried + (square - gap) / 2) / gap
        return LengthAge(mean, (sum(weighted, zero) + gap) / resets - 1, gap / resets)


def periodic_with_lengths(scheme: Periodic, actual: int, differential: int, *, domain: Domain = QQ) -> LengthAge:
    """Return the age of the periodic scheme with codewords of ``actual`` and ``differential`` channel uses."""
    return age_with_lengths(scheme, [actual] * 2 + [differential] * (2 * scheme.q), domain=domain)


def _dot(x: Sequence[Any], y: Sequence[Any], zero: Any) -> Any:
    return sum((a * b for a, b in zip(x, y, strict=True)), zero)
