"""For users' own test suites: a test that fails when a simulator disagrees with its model."""

from collections.abc import Mapping, Sequence
from typing import Any
from unittest import SkipTest

from exactchains.truth import InputError
from proofs_check.simulators.validation import Validation, validate
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Verdict
from proofs_check.simulators.wording import lines


def assert_agrees(
    data: Any,
    model: str,
    parameters: Mapping[str, str],
    *,
    quantity: str | Sequence[str],
    margin: str = DEFAULT_MARGIN,
    undecided: str = "fail",
    **options: Any,
) -> Validation:
    """Fail unless a simulator's output agrees with a model; works in pytest and unittest alike.

    Parameters
    ----------
    data
        A file, or a DataFrame, array, list of records or dictionary of columns.
    model, parameters
        A model of ``exaq models`` and its parameters as exact text.
    quantity
        One quantity, or several that are judged together.
    margin
        The difference that does not matter: ``5%`` of the exact value, or ``abs:0.01``.
    undecided
        ``fail`` or ``skip`` when the run is too short for a verdict.
    options
        Further arguments of :func:`proofs_check.simulators.validation.validate`: ``preset``, ``names``, ``warmup``,
        ``indices``, ``rule``.

    Raises
    ------
    AssertionError
        The output disagrees, or is undecided; the message is the whole finding, with the run length that decides.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> arrive = np.cumsum(rng.exponential(2, 200_000))
    >>> service = rng.exponential(1, 200_000)
    >>> net = np.concatenate([[0], np.cumsum(service[:-1] - np.diff(arrive))])
    >>> start = arrive + net - np.minimum.accumulate(net)
    >>> jobs = {"t_arrive": arrive, "t_start": start, "t_end": start + service}
    >>> assert_agrees(jobs, "mm1", {"lam": "1/2", "mu": "1"}, quantity="mean_response").verdict.value
    'agrees'
    """
    __tracebackhide__ = True
    found = examine(data, model, parameters, quantity=quantity, margin=margin, **options)
    return insist(found, undecided)


def examine(
    data: Any, model: str, parameters: Mapping[str, str], *, quantity: str | Sequence[str], **options: Any
) -> Validation:
    """Return the finding on one quantity or several."""
    quantities = [quantity] if isinstance(quantity, str) else list(quantity)
    return validate(model, parameters, data, quantities=quantities, **options)


def insist(found: Validation, undecided: str = "fail") -> Validation:
    """Fail unless everything agrees; ``undecided`` is ``fail`` or ``skip``."""
    __tracebackhide__ = True
    if undecided not in ("fail", "skip"):
        raise InputError(f"undecided = {undecided!r}: allowed are fail and skip")
    if found.verdict is Verdict.UNDECIDED and undecided == "skip":
        raise SkipTest("\n".join(lines(found)))
    if found.verdict is not Verdict.AGREES:
        raise AssertionError("\n".join(lines(found)))
    return found
