"""Where a chain starts: in a state, or in a state drawn from an exact law."""

from collections.abc import Mapping
from typing import Any

from flint import fmpq

from exactchains.chain import shown
from exactchains.number import Rational, rational
from exactchains.truth import InputError

Start = int | Mapping[int, Rational]  # integers of numpy too


def initial_law(size: int, start: Start) -> dict[int, fmpq]:
    """Return the positive probabilities of the states to start in.

    Parameters
    ----------
    size
        Number of states.
    start
        A state, or a table from states to exact probabilities that sum to 1.

    Raises
    ------
    InputError
        No such state, a negative probability, or a sum that is not 1; the message names it.
    """
    law: list[tuple[Any, Rational]] = list(start.items()) if isinstance(start, Mapping) else [(start, 1)]
    found: dict[int, fmpq] = {}
    for i, x in law:
        if isinstance(i, bool) or not hasattr(i, "__index__") or not 0 <= i < size:
            raise InputError(f"start = {i!r:.40}: states are 0 to {size - 1}")
        p = rational(x, f"start in {i}")
        if p < 0:
            raise InputError(f"start in {i} = {shown(p)} is negative; give probabilities that sum to 1")
        if p > 0:
            found[int(i)] = p
    total = sum(found.values(), fmpq(0))
    if total != 1:
        raise InputError(f"start: the probabilities sum to {shown(total)}, expected 1; give exact numbers")
    return found
