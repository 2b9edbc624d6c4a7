"""Values of one axis out of text: lists and exact ranges."""

import re
from collections.abc import Iterator

from flint import fmpq

from exactchains.number import parse
from exactchains.truth import InputError

MAX_VALUES = 1_000_000
_NUMBER = r"[^\s.]+(?:\.[0-9]+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\s+(step|count|times)\s+(\S+))?")


def values(text: str) -> tuple[str, ...] | None:
    """Return the exact values of a range, None for text that is no range.

    ``LO..HI`` goes in steps of 1, ``LO..HI step S`` in steps of S, ``LO..HI count N`` through N equally distant values
    with both ends, ``LO..HI times Q`` multiplies by Q.

    Examples
    --------
    >>> values("1/4..1 count 4")
    ('1/4', '1/2', '3/4', '1')
    >>> values("1..100 times 10")
    ('1', '10', '100')
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    low, high = parse(match[1], "LO"), parse(match[2], "HI")
    how, amount = match[3] or "step", parse(match[4] or "1", match[3] or "step")
    if low > high:
        raise InputError(f"{text!r}: LO <= HI is needed")
    return tuple(map(str, _walk(low, high, how, amount)))


def _walk(low: fmpq, high: fmpq, how: str, amount: fmpq) -> Iterator[fmpq]:
    if how == "count":
        if amount.q != 1 or not 2 <= amount <= MAX_VALUES:
            raise InputError(f"count {amount}: an integer from 2 to {MAX_VALUES} is needed")
        for i in range(int(amount.p)):
            yield low + (high - low) * fmpq(i) / (amount - 1)
        return
    if how == "step":
        if amount <= 0 or (high - low) / amount >= MAX_VALUES:
            raise InputError(f"step {amount}: a step > 0 is needed, and at most {MAX_VALUES} values")
        for i in range(int(((high - low) / amount).floor()) + 1):
            yield low + i * amount
        return
    if amount <= 1 or low <= 0:
        raise InputError(f"times {amount} from {low}: a factor > 1 and LO > 0 are needed")
    x, count = low, 0
    while x <= high:
        yield x
        x, count = x * amount, count + 1
        if count > 10_000:
            raise InputError(f"times {amount}: more than 10000 values")
