"""Block elimination by levels in balls: for nearly decomposable chains beyond two doubles."""

from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.structure import distances
from exactchains.truth import PrecisionExhausted

MAX_BITS = 1 << 15


def ball_law(chain: Arrays, reference: int, digits: int) -> list[arb]:
    """Return the law of an irreducible chain in balls with ``digits`` certain digits in every entry.

    Levels are eliminated from the farthest to the reference state; the precision doubles until it suffices.

    Raises
    ------
    PrecisionExhausted
        32768 bits do not suffice.
    """
    level = distances(chain.graph(), reference)
    order = np.argsort(level, kind="stable")
    start = np.searchsorted(level[order], np.arange(int(level.max()) + 2))
    blocks = _blocks(chain, level, order, start)
    bits = int(3.33 * digits) + 192
    while bits <= MAX_BITS:
        with ctx.workprec(bits):
            law = _eliminated(blocks, np.diff(start).tolist())
            if law is not None and all(x.rel_accuracy_bits() > 3.33 * digits + 4 for x in law):
                return [law[k] for k in np.argsort(order).tolist()]
        bits *= 2
    raise PrecisionExhausted(f"could not certify {digits} digits in every entry with {MAX_BITS} bits")


def _blocks(chain: Arrays, level: Any, order: Any, start: Any) -> dict[tuple[int, int], list[tuple[int, int, fmpq]]]:
    """Return the transitions by pair of levels, with positions inside the levels and exact rates."""
    place = np.empty(chain.size, np.int64)
    place[order] = np.arange(chain.size)
    place -= start[level]
    source, found = chain.sources(), {}  # type: Any, dict[tuple[int, int], list[tuple[int, int, fmpq]]]
    for i, j, q in zip(source.tolist(), chain.targets.tolist(), chain.rates, strict=True):
        rate = q if isinstance(q, fmpq) else fmpq(int(q))
        found.setdefault((int(level[i]), int(level[j])), []).append((int(place[i]), int(place[j]), rate))
    return found


def _eliminated(blocks: dict[tuple[int, int], list[tuple[int, int, fmpq]]], widths: list[int]) -> list[arb] | None:
    last = len(widths) - 1
    steps: list[Any] = []
    gain: Any = None
    for k in range(last, 0, -1):
        rows = [[arb(0)] * widths[k] for _ in range(widths[k])]  # transposed: diagonal exit rates minus local rates
        exits = [fmpq(0)] * widths[k]
        for other in (k - 1, k, k + 1):
            for i, j, q in blocks.get((k, other), []):
                exits[i] += q
                if other == k:
                    rows[j][i] -= arb(q)
        for i, x in enumerate(exits):
            rows[i][i] += arb(x)
        system: Any = arb_mat(rows)
        if gain is not None:
            system -= gain
        up = _dense(blocks[k - 1, k], widths[k - 1], widths[k]).transpose()
        try:
            step = system.solve(up)
        except ZeroDivisionError:
            return None
        steps.append(step)
        gain = _dense(blocks[k, k - 1], widths[k], widths[k - 1]).transpose() * step
    law: list[arb] = [arb(1)]
    tail: Any = arb_mat([[arb(1)]])
    for step in reversed(steps):
        tail = step * tail
        law += [tail[i, 0] for i in range(tail.nrows())]
    total = sum(law, arb(0))
    return [entry / total for entry in law]


def _dense(entries: list[tuple[int, int, fmpq]], height: int, width: int) -> Any:
    rows = [[arb(0)] * width for _ in range(height)]
    for i, j, q in entries:
        rows[i][j] = arb(q)
    return arb_mat(rows)
