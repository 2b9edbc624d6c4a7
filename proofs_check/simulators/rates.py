"""Rates in job traces against those of the model: another unit of time, mean times for rates, totals per server."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from exactchains.domain import Rigor
from exactchains.enclosure import Enclosure
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.job_stream import JobStream
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.replications import Replications

FAR, STRANGE = 0.1, 5.0  # relative difference and standard errors from which a rate is worth a note
LIKE = 0.05  # a rate within this of another known one is taken for it
NEAR = 0.2  # factors this near to one another, and to a unit, are taken for it
FEWEST = 40  # jobs from which on a rate leaves no doubt about a unit
UNITS = {  # how often a small unit goes into a large one
    10**3: ("milliseconds", "seconds"),
    10**6: ("microseconds", "seconds"),
    10**9: ("nanoseconds", "seconds"),
    60: ("seconds", "minutes"),
    3600: ("seconds", "hours"),
    24: ("hours", "days"),
    1440: ("minutes", "days"),
    86_400: ("seconds", "days"),
    60_000: ("milliseconds", "minutes"),
}
MOST_ZEROS = 12  # of a power of ten that is taken for a unit
TIMES = {"mean_wait": 1, "mean_response": 1, "age_mean": 1, "peak_mean": 1, "age_variance": 2, "peak_variance": 2}
Known = Mapping[str, float]  # words to rates, the model's own first; the others are those that a known mix-up gives


@dataclass(frozen=True)
class Rates:
    """How often jobs arrive and how fast they are served in the data, each with how many jobs tell so."""

    arrival: tuple[float, int] | None
    service: tuple[float, int] | None

    @classmethod
    def of(cls, read: Any) -> "Rates | None":
        """Return the rates in a job trace, levels at every event, or replications of them; None for other data."""
        runs = read.runs if isinstance(read, Replications) else [read]
        totals = [run.totals for run in runs if isinstance(run, Jobs | JobStream | Levels)]
        if len(totals) < len(runs) or None in totals:
            return None
        gaps, span, served, work = np.sum(totals, axis=0).tolist()
        arrival = (gaps / span, int(gaps)) if gaps and span > 0 else None
        return cls(arrival, (served / work, int(served)) if served and work > 0 else None)

    def unit(self, arrival: Known, service: Known) -> "Unit | None":
        """Return the unit of time in which the data must be for the rates to be the model's, if it is another."""
        pairs = self._pairs(arrival, service)
        if not pairs or min(count for (_, count), _ in pairs) < FEWEST:
            return None
        factors = [known[next(iter(known))] / rate for (rate, _), known in pairs]
        if (
            not 0 < min(factors) <= max(factors) < math.inf
            or max(factors) > (1 + NEAR) * min(factors)
            or all(_likely(rate, known) for (rate, _), known in pairs)
        ):
            return None
        factor, few = math.sqrt(max(factors)) * math.sqrt(min(factors)), min(count for (_, count), _ in pairs)
        named = Unit.near(factor)
        if named is not None or len(pairs) == 1 or not _strange(factor, few):
            return named
        slack = 3 / math.sqrt(few)
        low, high = (fmpq(round(factor * x * 10**9), 10**9) for x in (1 - slack, 1 + slack))
        return Unit(low, high, f"all times were {factor:.3g} times those of the model")

    def notes(self, arrival: Known, service: Known) -> Iterator[str]:
        """Yield a note for rates that are not the model's."""
        unit = self.unit(arrival, service)
        if unit is not None:
            what = "jobs arrive and are served" if len(self._pairs(arrival, service)) > 1 else "jobs arrive"
            yield (
                f"unit of time: {what} as if {unit.words}; give the rates of the model in the unit of the data, or the "
                "data in that of the model"
            )
            return
        verbs = ("jobs arrive at", "jobs are served at")
        for verb, found, known in zip(verbs, (self.arrival, self.service), (arrival, service), strict=True):
            if found and known:
                yield from _note(verb, *found, known)

    def _pairs(self, arrival: Known, service: Known) -> list[tuple[tuple[float, int], Known]]:
        both = ((self.arrival, arrival), (self.service, service))
        return [(found, known) for found, known in both if found and known]


@dataclass(frozen=True)
class Unit:
    """How many times as long as in the model all times are, from ``low`` to ``high``, and in words."""

    low: fmpq
    high: fmpq
    words: str

    @classmethod
    def near(cls, factor: float) -> "Unit | None":
        """Return the ratio of two units of time, or the power of ten, that a factor is near to."""
        size = max(factor, 1 / factor)
        known = (*UNITS, 10 ** min(round(math.log10(size)), MOST_ZEROS))
        unit = min(known, key=lambda unit: abs(size / unit - 1))
        return cls.of(unit, longer=factor > 1) if unit > 1 and abs(size / unit - 1) <= NEAR else None

    @classmethod
    def of(cls, unit: int, *, longer: bool) -> "Unit":
        """Return a unit of the data that is ``unit`` times as small as that of the model (or as large)."""
        names = UNITS.get(unit, ())
        hint = f" ({' for '.join(names if longer else names[::-1])}?)" if names else ""
        value = fmpq(unit) if longer else fmpq(1, unit)
        return cls(
            value, value, f"all times were {f'{unit} times' if longer else f'1/{unit} of'} those of the model{hint}"
        )


def unit_suspects(read: Any, quantity: str, exact: Enclosure, arrival: Known, service: Known) -> Iterator[Suspect]:
    """Yield a time in another unit: the one that the rates in the data show, or any where there are no rates."""
    if quantity not in TIMES:
        return
    rates = Rates.of(read)
    units: list[Unit | None] = [Unit.of(unit, longer=longer) for unit in UNITS for longer in (True, False)]
    if rates is not None:
        units = [rates.unit(arrival, service)]
    for unit in filter(None, units):
        low, high = (end ** TIMES[quantity] for end in (unit.low, unit.high))
        rigor = exact.rigor if low == high else Rigor.ESTIMATE
        yield Suspect(f"unit of time: {unit.words}", Enclosure(exact.lower * low, exact.upper * high, rigor))


def _likely(rate: float, known: Known) -> bool:
    """Return whether a known mix-up gives the rate."""
    return any(abs(rate / other - 1) <= LIKE for other in list(known.values())[1:])


def _strange(factor: float, count: int) -> bool:
    off = abs(factor - 1)
    return off > FAR and off * math.sqrt(count) > STRANGE


def _note(what: str, found: float, count: int, known: Known) -> Iterator[str]:
    (name, right), *others = known.items()
    if not _strange(found / right, count):
        return
    like = next((word for word, rate in others if abs(found / rate - 1) <= LIKE), None)
    yield f"{what} rate {found:.4g} in the data, where the model has {name} = {right:.4g}" + (
        f"; the data have {like} = {known[like]:.4g}" if like else ""
    )
