"""Outputs that hold finished numbers instead of a run: reported means, tables of stations, histograms."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.slot_ages import observables
from proofs_check.simulators.statistics import MEAN, Estimate, Statistic

NORMAL = 1.959963984540054
ALMOST = 0.01  # relative difference of rates that is worth a note


def reported(value: float, error: float, effective: float = math.inf) -> Estimate:
    """Return an estimate whose error is taken at its word; an unknown error (inf) decides nothing."""
    worth = effective if math.isfinite(error) else 0.0
    return Estimate(value, error, 10**9, worth, math.nan, False, False, method="reported")


class Finished:
    """A shape that holds no run: ``summary`` returns what it reports."""

    what, count = "value", 1
    path: Any

    def unit(self, quantity: str) -> str:
        return "values"

    def summary(self, quantity: str, index: int | None, constant: float | None) -> Estimate:
        """Return the estimate of a quantity; ``constant`` is the exact model's lim T Var(mean over T), if known."""
        raise NotImplementedError


class Summary(Finished):
    """A mean with the half width of its 95 % interval, as another program reports it; without one: undecided."""

    quantities = ("any mean",)

    def __init__(self, table: Any, value: str, half_width: str | None) -> None:
        line, rows = next(iter(table.blocks([value, *([half_width] if half_width else [])])), (2, np.empty((0, 1))))
        if len(rows) != 1 or not np.isfinite(rows).all() or (rows < 0).any() or (rows[:, 1:] == 0).any():
            raise InputError(f"{table.path} line {line}: a summary is one line of finite numbers, half width > 0")
        self.value = float(rows[0, 0])
        self.half_width = float(rows[0, 1]) if half_width else math.inf
        self.path = table.path

    def summary(self, quantity: str, index: int | None, constant: float | None) -> Estimate:
        return reported(self.value, self.half_width / NORMAL)

    def notes(self) -> Iterator[str]:
        if math.isfinite(self.half_width):
            yield "the error is taken as reported; naive intervals of dependent data are far too short"
        else:
            yield "the summary has no error (column half_width); nothing can be decided from it"


class AgeMeans(Finished):
    """The aoi-simulator's own results: mean age and mean peak age of one source, with an error that is not believed."""

    columns: ClassVar = {"age_mean": "MeanAoI", "peak_mean": "MeanPeakAoI"}

    def __init__(self, table: Any) -> None:
        self.path, self.quantities = table.path, tuple(q for q, name in self.columns.items() if name in table.columns)
        _, rows = next(table.blocks([self.columns[q] for q in self.quantities]))
        if len(rows) != 1 or not np.isfinite(rows).all() or (rows < 0).any():
            raise InputError(f"{table.path}: {len(rows)} sources; finite means >= 0 of one are read, keep one source")
        self.means = dict(zip(self.quantities, rows[0].tolist(), strict=True))

    def summary(self, quantity: str, index: int | None, constant: float | None) -> Estimate:
        if quantity not in self.means:
            raise InputError(f"{self.path}: {quantity} is not among these results; these are: {', '.join(self.means)}")
        return reported(self.means[quantity], math.inf)

    def notes(self) -> Iterator[str]:
        yield (
            "the RMSE of the aoi-simulator is its own estimate of the error, and too small (it divides by the clock, "
            "not by the time observed); nothing can be decided from its means, but from its list of deliveries"
        )


class StationTable(Finished):
    """One row a station with QLen, RespT, Tput, as LINE and JMT print it.

    ``analytic`` tables have no sampling error; simulated ones do, but do not say how large.
    """

    what = "stations"
    quantities = ("mean_queue", "mean_response")

    def __init__(self, table: Any, seen: Observed, *, analytic: bool) -> None:
        self.path, self.analytic, self.seen = table.path, analytic, seen
        self.names, classes = table.texts("Station"), set(table.texts("JobClass"))
        parts = [rows for _, rows in table.blocks(["QLen", "RespT", "Tput"])]
        if not parts:
            raise InputError(f"{table.path}: a header and no data")
        if len(classes) > 1:
            raise InputError(
                f"{table.path}: job classes {', '.join(sorted(classes))[:100]}; keep the rows of one class"
            )
        rows = np.concatenate(parts)
        bad = ~np.isfinite(rows).all(axis=1) | (rows < 0).any(axis=1)
        if bad.any():
            i = int(np.argmax(bad))
            raise InputError(f"{table.path} line {i + 2}: {rows[i].tolist()}: finite numbers >= 0 are needed")
        self.passed = [name for name, row in zip(self.names, rows, strict=True) if row[0] == row[1] == 0]
        self.rows = rows[(rows[:, 0] > 0) | (rows[:, 1] > 0)]
        self.count = len(self.rows)

    def summary(self, quantity: str, index: int | None, constant: float | None) -> Estimate:
        if quantity not in self.quantities or not self.count:
            raise InputError(
                f"{self.path}: {quantity} cannot be read from this table of {self.count} stations that hold jobs; "
                f"these can: {', '.join(self.quantities)}"
            )
        if quantity == "mean_response" and self.count > 1:
            raise InputError(f"{self.path}: {self.count} stations hold jobs; RespT is that of each, not of a job")
        value = self.rows[0, 1] if quantity == "mean_response" else self.rows[:, 0].sum() / self.seen.servers
        return reported(float(value), 0.0 if self.analytic else math.inf)

    def notes(self) -> Iterator[str]:
        if self.passed:
            yield f"{', '.join(self.passed)[:100]}: no jobs stay there (a source, a sink or a router); left out"
        total = float(self.rows[:, 2].sum())
        if self.seen.rate and abs(total / self.seen.rate - 1) > ALMOST:
            yield f"Tput is {total:.4g} in all, where jobs arrive at rate {self.seen.rate:.4g} in the model"
        if self.analytic:
            yield "the table is taken as computed, without sampling error (MVA, NC, CTMC)"
        else:
            yield (
                "the table has no errors; nothing can be decided if it was simulated (JMT, SSA, LDES), give mean and "
                "half_width instead; if it was computed (MVA, NC, CTMC), say --format line"
            )


class Histogram(Finished):
    """How often, or for how long, each value was seen.

    The order of the run is lost and with it its own error; where the exact model's variance constant is known and the
    weights are slots or times, the error of a run of that length follows from the model.
    """

    what = "values"

    def __init__(self, table: Any, columns: tuple[str, str], seen: Observed, *, timed: bool) -> None:
        self.path, self.seen, self.timed = table.path, seen, timed
        parts = list(table.blocks(columns))
        if not parts:
            raise InputError(f"{table.path}: a header and no data")
        rows = np.concatenate([rows for _, rows in parts])
        self.count, self.known = len(rows), False
        whole = seen.slots | (not seen.slots and timed)
        for bad, why in (
            (~np.isfinite(rows).all(axis=1), "finite numbers are needed"),
            (rows[:, 1] < 0, "a count is at least 0"),
            (rows[:, 0] < 0, "a value is at least 0"),
            (whole & (rows[:, 0] != np.floor(rows[:, 0])), "ages and numbers of jobs are whole"),
        ):
            if bad.any():
                i = int(np.argmax(bad))
                raise InputError(f"{table.path} line {parts[0][0] + i}: {rows[i].tolist()}: {why}")
        if len(np.unique(rows[:, 0])) < len(rows):
            raise InputError(f"{table.path}: a value stands twice; are these two histograms in one file?")
        if not rows[:, 1].sum() > 0:
            raise InputError(f"{table.path}: all counts are 0")
        self.values, self.weights = rows.T

    @property
    def quantities(self) -> tuple[str, ...]:
        return (
            tuple(observables(self.seen.sampling))
            if self.seen.slots
            else ("mean_queue", "tail", "mean_wait", "mean_response")
        )

    def unit(self, quantity: str) -> str:
        return "slots" if self.seen.slots else "units of time" if self.timed else "values"

    def summary(self, quantity: str, index: int | None, constant: float | None) -> Estimate:
        if quantity not in self.quantities:
            raise InputError(f"{quantity} cannot be read from a histogram; these can: {', '.join(self.quantities)}")
        y, statistic = self._observed(quantity, index or 0)
        total = float(self.weights.sum())
        a, b = float(self.weights @ y) / total, float(self.weights @ (y * y)) / total
        known = self.seen.slots or (self.timed and quantity in ("mean_queue", "tail"))
        if not known or not constant or constant <= 0:
            return reported(statistic.value(a, b), math.inf)
        self.known = True
        error = math.sqrt(constant / total)
        slope = statistic.gradient(a, b)
        pull = slope[0] * (y - a) + slope[1] * (y * y - b)  # what one observation adds, to first order
        estimate = reported(statistic.value(a, b), error, float(self.weights @ (pull * pull)) / total / error**2)
        return Estimate(**(vars(estimate) | {"weight": total, "constant": b - a * a <= 1e-12 * b}))

    def _observed(self, quantity: str, index: int) -> tuple[Floats, Statistic]:
        if self.seen.slots:
            observable, statistic = observables(self.seen.sampling)[quantity]
            return observable(self.values, index), statistic
        if quantity == "tail":
            if self.seen.servers > 1:
                raise InputError(f"{self.path}: tail of {self.seen.servers} servers needs the level of each")
            return (self.values >= index).astype(float), MEAN
        return self.values / (self.seen.servers if quantity == "mean_queue" else 1), MEAN

    def notes(self) -> Iterator[str]:
        total = float(self.weights.sum())
        if self.known:
            yield (
                f"a histogram has lost the order of its run, and with it its own error; the error given is that of the "
                f"exact model over a run of {total:.6g} {self.unit('')}"
            )
        else:
            yield (
                "a histogram has lost the order of its run, and no error can be given for it; nothing can be decided: "
                "write the values in the order of the run"
            )
