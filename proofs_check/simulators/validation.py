"""Confront a simulator's output with a model: checks, estimates, verdicts, and the fault's name."""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from exactchains.enclosure import Result
from exactchains.number import rational
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, spelled
from proofs_check.simulators import replications
from proofs_check.simulators.cycles import cycles
from proofs_check.simulators.diagnosis import Diagnosis, Suspect, diagnose
from proofs_check.simulators.doubts import causality_notes, doubts, overlaps
from proofs_check.simulators.finished import Finished
from proofs_check.simulators.holm import Judged, step_down
from proofs_check.simulators.intervals import method
from proofs_check.simulators.jobs import MANY_LOST, Jobs
from proofs_check.simulators.knowledge import PER_JOB, ClassicKnowledge, Knowledge, knowledge
from proofs_check.simulators.laws import LawTest, law_test
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.pieces import WEIGHT, Floats
from proofs_check.simulators.queue_laws import queue_law_test
from proofs_check.simulators.rates import TIMES, Rates, unit_suspects
from proofs_check.simulators.reference import reference_variance
from proofs_check.simulators.replications import Replications, named
from proofs_check.simulators.slot_ages import SlotAges
from proofs_check.simulators.statistics import BATCHES, MEAN, Statistic, estimate
from proofs_check.simulators.values import Values
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Judgement, Margin, Verdict, judge
from proofs_check.simulators.warmup import read_fraction, transient, without_beginning

RARE = 1e-4  # the chance of a run of the model that varies so little
APART = 5.0  # standard errors of the correlation of neighbours below which they may be independent
LEAST_PIECES = 2 * min(BATCHES)


@dataclass(frozen=True)
class Rule:
    """How intervals are formed: a method of ``intervals.METHODS``, for one look at the run or for many.

    ``law``: also compare the whole law of slot ages, or of the number in the system, and note the outcome.
    """

    interval: str = "batch"
    sequential: bool = False
    law: bool = False

    def __post_init__(self) -> None:
        method(self.interval)


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
    refused: dict[str, str] = field(default_factory=dict)  # quantities without a finding, and why

    @property
    def verdict(self) -> Verdict:
        """Disagrees if any quantity does, agrees if all do; one without a finding leaves the whole undecided."""
        verdicts = {finding.judgement.verdict for finding in self.findings}
        if Verdict.DISAGREES in verdicts:
            return Verdict.DISAGREES
        return Verdict.UNDECIDED if self.refused or Verdict.UNDECIDED in verdicts else Verdict.AGREES


def validate(
    model: str,
    parameters: Mapping[str, str],
    data: Any,
    *,
    quantities: Sequence[str],
    indices: Sequence[int] = (0,),
    margin: str = DEFAULT_MARGIN,
    preset: str | None = None,
    warmup: str = "0",
    rule: Rule | None = None,
    names: Mapping[str, str] | None = None,
) -> Validation:
    """Return the verdict on a simulator's output.

    Parameters
    ----------
    model, parameters
        A model of the catalogue and its parameters as exact text.
    data
        The simulator's output: a file, or a DataFrame, array, list of records or dictionary of columns.  A list of
        files or frames, a pattern such as ``runs/*.csv``, or a column ``replication``: independent replications.
    quantities, indices
        What to compare; indexed quantities at each of ``indices``.
    preset
        Whose output it is, one of :data:`presets.NAMES`; found from the columns when it is not given.
    warmup
        The part of the run to leave out at its beginning, such as ``10%`` or ``0.1``.
    margin
        The difference that does not matter: ``5%`` or ``0.05`` of the exact value, or ``abs:0.01``.
    rule
        How intervals are formed; batch means for one look at the run unless given.
    names
        The data's name of each canonical column (``t_arrive``, ``value``, ..), where it is another.

    Guarantee
    ---------
    Statistical: a simulator whose true value differs by more than the margin agrees with probability at most 2.5 %,
    one that is right disagrees with probability below 0.1 %, as far as batch means are normal; of
    several quantities judged together this holds for all at once (Holm).

    Raises
    ------
    InputError
        The data are broken (line, value, reason), or no estimate of any of the quantities can be read from them.
    """
    subject, tolerance = find(model), Margin.read(margin)
    cut, rule = read_fraction(warmup), rule or Rule()
    if not quantities:
        raise InputError(f"no quantity is asked for; {model} has {', '.join(q.name for q in subject.quantities)}")
    values = subject.read({name: x if isinstance(x, str) else str(rational(x, name)) for name, x in parameters.items()})
    thing = subject.build(values)
    known = knowledge(subject, values, thing)
    for name in quantities:
        subject.quantity(name)
    refused: dict[str, Exception] = {}
    exact = subject.results(thing, quantities, indices, known.digits, refused)
    if not exact:
        raise next(iter(refused.values()))
    read = replications.read(data, known.observed, preset=preset, names=names)
    pilot = functools.partial(reference_variance, subject, values, thing, known)
    judged, kept, findings = [], [], []
    for result in exact:
        try:
            judged.append(_judged(read, known, result, tolerance, cut, rule, pilot))
            kept.append(result)
        except InputError as error:
            refused[result.quantity if result.index is None else f"{result.quantity}[{result.index}]"] = error
    if not kept:
        raise next(iter(refused.values()))
    for result, verdict in zip(kept, step_down(judged), strict=True):
        unit = read.unit(result.quantity)
        doubt = next(iter((*doubts(read, known, result.quantity), *_orderless(read, known, verdict))), None)
        crossed = overlaps(read, model) > MANY_LOST
        if doubt is None and crossed and verdict.verdict is Verdict.AGREES:
            doubt = "jobs are in service at once, which one server cannot do; see the note"
        if doubt is not None:
            doubted = replace(verdict, verdict=Verdict.UNDECIDED, reason=doubt, needed=math.inf)
            findings.append(Finding(doubted, None, unit))
            continue
        wrong = verdict.verdict is not Verdict.AGREES and not crossed
        suspects = _suspects(read, known, result, cut) if wrong else ()
        diagnosis = diagnose(verdict.estimate.once(), result.enclosure, suspects) if wrong else None
        findings.append(Finding(verdict, diagnosis, unit))
    law = [str(_law(read, known, thing))] if rule.law else []
    return Validation(
        subject,
        spelled(values),
        named(data),
        read.count,
        read.what,
        tuple(findings),
        (*read.notes(), *_rate_notes(read, known), *causality_notes(read, model), *law),
        {name: str(error) for name, error in refused.items()},
    )


def _orderless(read: Any, known: Knowledge, j: Judgement) -> Iterator[str]:
    """Yield a doubt when bare values vary as if independent, which those of successive jobs of the model do not."""
    if not isinstance(read, Values) or j.quantity not in PER_JOB or j.estimate.constant or j.at_least:
        return
    constant, freedom = known.variance_constant(j.quantity, j.index, "Jobs"), j.estimate.batches - 1
    low = constant and j.estimate.variance_constant < constant * special.chdtri(freedom, 1 - RARE) / freedom
    if low and read.repeats.dependence() < APART:
        yield (
            "neighbouring values do not depend on one another as those of successive jobs of this model do: shuffled? "
            "Write them in the order of the run; if each is of a run of its own, number these in a column replication"
        )


def _judged(
    read: Any, known: Knowledge, result: Result, margin: Margin, cut: float, rule: Rule, pilot: Callable[..., Any]
) -> Judged:
    """Return the verdict on one quantity as a function of how many are judged with it; the data are read once.

    ``pilot`` finds the variance of a quantity by the reference simulator, in the unit of the data.
    """
    if isinstance(read, Finished):
        if rule.interval != "batch" or rule.sequential or cut:
            raise InputError(f"{read.path}: there is no run here; --interval, --sequential and --warmup need one")
        given = read.summary(result.quantity, result.index, _constant(read, known, result))
        return lambda tests, alarms: judge(result, given, margin=margin, tests=tests, alarms=alarms)
    if isinstance(read, Replications):
        if rule.interval != "batch" or rule.sequential:
            raise InputError(f"{read.path}: replications are independent; --interval and --sequential are for one run")
        over = read.estimate(result.quantity, result.index, cut)
        return lambda tests, alarms: judge(result, over, margin=margin, tests=tests, alarms=alarms)
    pieces, statistic = _pieces(read, known, result, cut, rule)
    constant, strange = _constant(read, known, result), any(_rate_notes(read, known))
    whole = estimate(pieces, statistic, method=rule.interval, sequential=rule.sequential, variance_constant=constant)
    begun = functools.cache(lambda: transient(pieces))
    reference = functools.cache(lambda: None if strange else pilot(result, read.unit(result.quantity)))

    def judged(tests: int, alarms: int) -> Judgement:
        """Judge; a run that fails to agree only because of how it begins is told so."""
        options = {"margin": margin, "tests": tests, "alarms": alarms}
        verdict = judge(result, whole, variance_constant=constant, reference=reference, **options)
        if strange and result.quantity in TIMES:
            verdict = replace(verdict, needed=math.inf)  # the margin is a time in the unit of the model
        found = begun() if verdict.verdict is not Verdict.AGREES and statistic is MEAN else None
        if found is None or judge(result, found[1], **options).verdict is Verdict.DISAGREES:
            return verdict
        share = math.ceil(100 * found[0])
        reason = f"the first {share} % of the run is unlike the rest: a warm-up? Leave it out with --warmup {share}%"
        return replace(verdict, verdict=Verdict.UNDECIDED, reason=reason)

    return judged


def _suspects(read: Any, known: Knowledge, result: Result, cut: float) -> Iterator[Suspect]:
    """Yield what data like these could be instead; replications may tell of their start."""
    if isinstance(read, Replications) and not cut:
        yield from known.empty_start(result.quantity, result.index, read.length(result.quantity))
    if any(known.rates()):
        yield from unit_suspects(read, result.quantity, result.enclosure, *known.rates())
    yield from known.suspects(result.quantity, result.index)


def _rate_notes(read: Any, known: Knowledge) -> Iterator[str]:
    rates = Rates.of(read)
    if rates is not None:
        yield from rates.notes(*known.rates())


def _constant(read: Any, known: Knowledge, result: Result) -> float | None:
    """Return the exact model's lim T Var(estimate over weight T), where the weights of the data are that T."""
    if getattr(read, "skipped", False) or not getattr(read, "is_path", True):
        return None  # slots are left out, or levels are polled at instants
    if any(_rate_notes(read, known)):
        return None  # the data are of another system, or in another unit of time
    return known.variance_constant(result.quantity, result.index, type(read).__name__)


def _pieces(read: Any, known: Knowledge, result: Result, cut: float, rule: Rule) -> tuple[Floats, Statistic]:
    """Return the pieces, or cycles, of a quantity without the beginning of the run, and how it is estimated."""
    if rule.interval == "regenerative":
        whole, statistic = cycles(read, known.observed, result.quantity, result.index)
        what = "regeneration cycles for"
    else:
        pieces, statistic = read.pieces(result.quantity, result.index)
        whole, what = pieces.array(), "observations of"
    if not whole[:, WEIGHT].sum() > 0:
        raise InputError(f"{read.path}: all weights are 0, or no time passes; {result.quantity} has no mean")
    kept = without_beginning(whole, cut)
    if len(kept) < LEAST_PIECES:
        raise InputError(f"{read.path}: {len(kept)} {what} {result.quantity}; at least {LEAST_PIECES} are needed")
    return kept, statistic


def _law(read: Any, known: Knowledge, thing: Any) -> LawTest:
    """Compare the whole law of slot ages, or of the number in the system."""
    if hasattr(thing, "scheme"):
        return law_test(ages=consecutive(read), scheme=thing.scheme)
    chain = known.chain() if isinstance(known, ClassicKnowledge) else None
    if chain is None:
        raise InputError("--law: whole laws are compared of slot ages, and of numbers in the system of Markov queues")
    if isinstance(read, Jobs):
        return queue_law_test(chain, *read.levels())
    if isinstance(read, Levels) and read.is_path and not read.waiting:
        parts = list(read.blocks())
        return queue_law_test(chain, *(np.concatenate(part) for part in zip(*parts, strict=True)))
    raise InputError(f"--law: {read.path}: {read.what}; it needs a job trace, or the number at every event")


def consecutive(read: Any) -> Floats:
    """Return the first ages of a run of slot ages, one a slot."""
    if not isinstance(read, SlotAges):
        raise InputError(f"--law: slot ages are compared as a whole; {read.path} holds {read.what}")
    if read.skipped:
        raise InputError(f"--law: {read.path}: slots are left out; it needs the age of every slot")
    return next(iter(read.again().blocks()))
