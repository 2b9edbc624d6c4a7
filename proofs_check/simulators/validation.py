"""Confront a simulator's output with a model: checks, estimates, verdicts, and the fault's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.simulators.ages import AgeData
from proofs_check.simulators.diagnosis import Diagnosis, diagnose
from proofs_check.simulators.statistics import BATCHES, estimate
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Judgement, Margin, Verdict, judge

DIGITS = 15  # of the exact value: far beyond any sampling error
LEAST_PIECES = 2 * min(BATCHES)


@dataclass(frozen=True)
class Finding:
    """The verdict on one quantity and, unless it agrees, what the number matches instead."""

    judgement: Judgement
    diagnosis: Diagnosis | None


@dataclass(frozen=True)
class Validation:
    """Everything one run of the validator says."""

    model: Model
    parameters: dict[str, str]
    source: str
    observations: int
    unit: str
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
    data: Path,
    *,
    quantities: Sequence[str],
    indices: Sequence[int] = (0,),
    margin: str = DEFAULT_MARGIN,
) -> Validation:
    """Return the verdict on a simulator's output.

    Parameters
    ----------
    model, parameters
        A model of the catalogue and its parameters as exact text.
    data
        The simulator's output file.
    quantities, indices
        What to compare; indexed quantities at each of ``indices``.
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
    exact = subject.results(thing, quantities, indices, DIGITS)
    read = reader(subject, thing, data)
    findings, count = [], 0
    for result in exact:
        pieces, statistic = read.pieces(result.quantity, result.index)
        count = pieces.count
        if pieces.count < LEAST_PIECES:
            raise InputError(f"{data}: {pieces.count} observations; at least {LEAST_PIECES} are needed for any verdict")
        found = estimate(pieces.array(), statistic)
        constant = read.variance_constant(result.quantity, result.index)
        verdict = judge(result, found, margin=tolerance, variance_constant=constant, tests=len(exact))
        wrong = verdict.verdict is not Verdict.AGREES
        suspects = read.suspects(result.quantity, result.index)
        findings.append(Finding(verdict, diagnose(found, result.enclosure, suspects) if wrong else None))
    return Validation(subject, spelled(values), str(data), count, read.unit, tuple(findings), tuple(read.notes()))


def reader(model: Model, thing: Any, data: Path) -> AgeData:
    """Return the reader of data for a model."""
    if not model.name.startswith("age."):
        raise InputError(f"{model.name} cannot be validated yet; models age.* can")
    return AgeData(thing, data)
