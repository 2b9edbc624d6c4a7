"""Known wrong readings of an age: what each would report instead, computed exactly."""

import math
from collections.abc import Iterator
from typing import Any

from flint import fmpq

from aoi_tools.models.law import AT_SUCCESS, SAMPLING, Sampling
from aoi_tools.models.schedules import Schedule
from aoi_tools.models.schemes import Actual, Delayed, Feedback, Generalised, Lossy, Periodic
from aoi_tools.solvers.age import age_quantity
from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.simulators.diagnosis import Suspect

DIGITS = 12


def suspects(scheme: Any, quantity: str, index: int | None) -> Iterator[Suspect]:
    """Yield what known wrong readings and wrong schemes would give for a slot-age quantity of ``scheme``."""
    for fault, make in (*_readings(scheme, quantity, index), *_schemes(scheme, quantity, index)):
        try:
            yield Suspect(fault, make())
        except (DoesNotExist, InputError, Undecided):
            continue  # this fault has no stationary value here


def in_uses(scheme: Any, sampling: Sampling, quantity: str) -> Iterator[Suspect]:
    """Yield what known faults would give for the mean or variance of the age in channel uses.

    Those of the slot age, carried over, and the other conventions of reading an age.
    """
    moment, n = quantity.removeprefix("age_"), sampling.n
    scale, fixed = (n, sampling.start + sampling.offset_mean) if moment == "mean" else (n * n, sampling.offset_variance)
    for suspect in suspects(scheme, f"slot_{moment}", None):
        yield Suspect(suspect.fault, _affine(suspect.value, scale, fixed))
    for convention in SAMPLING:
        for at_success in AT_SUCCESS:
            other = Sampling(n, convention, at_success)
            if other != sampling:
                fault = f"the convention sampling={convention} at_success={at_success}"
                yield Suspect(fault, age_quantity(scheme, quantity, digits=DIGITS, sampling=other).enclosure)


def _readings(scheme: Any, quantity: str, index: int | None) -> Iterator[tuple[str, Any]]:
    def value(name: str, i: int | None = None) -> Enclosure:
        return age_quantity(scheme, name, index=i, digits=DIGITS).enclosure

    late = "every age is read one slot late: it is 1, not 0, at a usable update"
    if quantity == "slot_mean":
        yield late, lambda: _affine(value("slot_mean"), 1, 1)
        yield (
            "ages are read in the middle of a slot: half a slot more",
            lambda: _affine(value("slot_mean"), 1, fmpq(1, 2)),
        )
        yield (
            "peak age (slot age just before a usable update) instead of age",
            lambda: _affine(value("gap_mean"), 1, -1),
        )
        yield "mean gap between usable updates instead of age", lambda: value("gap_mean")
        yield (
            "event-weighted mean: the average age within each gap, averaged over gaps instead of slots",
            lambda: _affine(value("gap_mean"), fmpq(1, 2), fmpq(-1, 2)),
        )
        yield "fraction of failures instead of age", lambda: value("failure")
    if quantity == "slot_second_moment":
        yield late, lambda: _sum(value("slot_second_moment"), _affine(value("slot_mean"), 2, 1))
    if quantity == "slot_variance":
        yield "second moment instead of variance", lambda: value("slot_second_moment")
        yield "standard deviation instead of variance", lambda: _root(value("slot_variance"))
    if quantity == "failure":
        yield "fraction of usable updates instead of failures", lambda: _affine(value("failure"), -1, 1)
        yield late, lambda: Enclosure.exact(1)
    if quantity == "slot_pmf" and index is not None:
        yield late, lambda: value("slot_pmf", index - 1) if index else Enclosure.exact(0)
    if quantity == "slot_ccdf" and index is not None:
        yield late, lambda: value("slot_ccdf", index - 1) if index else Enclosure.exact(1)


def _schemes(scheme: Any, quantity: str, index: int | None) -> Iterator[tuple[str, Any]]:
    actual, differential = scheme.actual, getattr(scheme, "differential", None)
    others: list[tuple[str, Any]] = []
    if differential is not None:
        others = [
            ("actual updates in every slot: differentials are never sent", lambda: Actual(actual)),
            ("failure probabilities of actual and differential updates swapped", lambda: _swapped(scheme)),
            ("differentials lost as often as actual updates", lambda: _with(scheme, actual, actual)),
        ]
    if isinstance(scheme, Feedback):
        others += [
            ("feedback arrives one slot late", lambda: Delayed(actual, differential, 1)),
            ("a differential in every slot, usable whatever came before", lambda: Actual(differential)),
            ("no feedback: actual and differential alternate", lambda: Periodic(actual, differential, 1)),
        ]
    if isinstance(scheme, Periodic):
        star = [0, *range(1, scheme.q + 1)]
        others += [
            ("differentials refer to the actual update (star), not to the slot before (chain)",
             lambda: Schedule(actual, differential, tuple(star))),
            ("feedback is used: differential after a success, actual after a failure",
             lambda: Feedback(actual, differential)),
            ("the period is q slots instead of q + 1", lambda: Periodic(actual, differential, scheme.q - 1)),
            ("the period is q + 2 slots instead of q + 1", lambda: Periodic(actual, differential, scheme.q + 1)),
        ]  # fmt: skip
    if isinstance(scheme, Generalised):
        others += [
            ("alpha is ignored: every difference is small", lambda: Feedback(actual, differential)),
            ("alpha and 1 - alpha swapped", lambda: Generalised(actual, differential, 1 - scheme.alpha)),
        ]
    if isinstance(scheme, Delayed):
        less = scheme.delay - 1
        others += [
            ("feedback arrives one slot later", lambda: Delayed(actual, differential, scheme.delay + 1)),
            ("feedback arrives one slot sooner",
             lambda: Delayed(actual, differential, less) if less else Feedback(actual, differential)),
        ]  # fmt: skip
    if isinstance(scheme, Lossy):
        others += [
            ("no feedback is lost", lambda: Feedback(actual, differential)),
            ("loss and 1 - loss swapped", lambda: Lossy(actual, differential, 1 - scheme.loss)),
        ]
    for fault, make in others:
        yield fault, lambda make=make: age_quantity(make(), quantity, index=index, digits=DIGITS).enclosure


def _swapped(scheme: Any) -> Any:
    return _with(scheme, scheme.differential, scheme.actual)


def _with(scheme: Any, actual: Any, differential: Any) -> Any:
    extra = [getattr(scheme, name) for name in ("q", "alpha", "loss", "delay") if hasattr(scheme, name)]
    return type(scheme)(actual, differential, *extra)


def _root(x: Enclosure) -> Enclosure:
    return Enclosure.of(math.sqrt(float((x.lower + x.upper) / 2)))


def _affine(x: Enclosure, slope: int | fmpq, shift: int | fmpq) -> Enclosure:
    ends = sorted((x.lower * slope + shift, x.upper * slope + shift))
    return Enclosure(ends[0], ends[1], x.rigor)


def _sum(x: Enclosure, y: Enclosure) -> Enclosure:
    return Enclosure(x.lower + y.lower, x.upper + y.upper, min(x.rigor, y.rigor))
