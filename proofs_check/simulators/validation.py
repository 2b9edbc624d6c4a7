"""Confront a simulator's output with a model: checks, estimates, verdicts, and the fault's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exactchains.enclosure import Result
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.simulators import presets
from proofs_check.simulators.diagnosis import Diagnosis, diagnose
from proofs_check.simulators.knowledge import knowledge
from proofs_check.simulators.statistics import BATCHES, Estimate, estimate
from proofs_check.simulators.values import Summary
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Judgement, Margin, Verdict, judge

LEAST_PIECES = 2 * min(BATCHES)


@dataclass(frozen=True)
class Finding:
    """The verdict on one quantity and, unless it agrees, what the number matches instead."""

    judgement: Judgement
    diagnosis: Diagnosis | None
    unit: str  # of the weight of a run


@dataclass(frozen=True)
class Validation:
    """Everything one run of the validator says."""

    model: Model
    parameters: dict[str, str]
    source: str
    observations: int
    what: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Disagrees if any quantity does, agrees if all do."""
        verdicts = {finding.judgement.verdict for finding in self.findings}
        if Verdict.DISAGREES in verdicts:
            return Verdict.DISAGREES
        return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.AGREES


def validate(
    model: str,
    parameters: Mapping[str, str],
    data: Any,
    *,
    quantities: Sequence[str],
    indices: Sequence[int] = (0,),
    margin: str = DEFAULT_MARGIN,
    preset: str | None = None,
) -> Validation:
    """Return the verdict on a simulator's output.

    Parameters
    ----------
    model, parameters
        A model of the catalogue and its parameters as exact text.
    data
        The simulator's output: a file, or a DataFrame, array, list of records or dictionary of columns.
    quantities, indices
        What to compare; indexed quantities at each of ``indices``.
    preset
        Whose output it is, one of :data:`presets.NAMES`; found from the columns when it is not given.
    margin
        The difference that does not matter: ``5%`` or ``0.05`` of the exact value, or ``abs:0.01``.

    Guarantee
    ---------
    Statistical: a simulator whose true value differs by more than the margin agrees with probability at most 2.5 %,
    one that is right disagrees with probability below 0.1 %, as far as batch means are normal.

    Raises
    ------
    InputError
        The data are broken (line, value, reason), or no estimate of a quantity can be read from them.
    """
    subject, tolerance = find(model), Margin.read(margin)
    values = subject.read(parameters)
    thing = subject.build(values)
    known = knowledge(subject, values, thing)
    exact = subject.results(thing, quantities, indices, known.digits)
    read = presets.read(data, known.observed, preset=preset)
    findings = []
    for result in exact:
        found = _estimated(read, result, data)
        constant = known.variance_constant(result.quantity, result.index, type(read).__name__)
        verdict = judge(result, found, margin=tolerance, variance_constant=constant, tests=len(exact))
        wrong = verdict.verdict is not Verdict.AGREES
        suspects = known.suspects(result.quantity, result.index)
        diagnosis = diagnose(found, result.enclosure, suspects) if wrong else None
        findings.append(Finding(verdict, diagnosis, read.unit(result.quantity)))
    return Validation(
        subject, spelled(values), source(data), read.count, read.what, tuple(findings), tuple(read.notes())
    )


def _estimated(read: Any, result: Result, data: Any) -> Estimate:
    """Return the estimate of one quantity from data."""
    if isinstance(read, Summary):
        return read.summary()
    pieces, statistic = read.pieces(result.quantity, result.index)
    if pieces.count < LEAST_PIECES:
        raise InputError(
            f"{source(data)}: {pieces.count} observations of {result.quantity}; at least {LEAST_PIECES} are needed"
        )
    return estimate(pieces.array(), statistic)


def source(data: Any) -> str:
    """Return how data are named in messages."""
    return str(data) if isinstance(data, str | Path) else f"data in memory ({type(data).__name__})"
