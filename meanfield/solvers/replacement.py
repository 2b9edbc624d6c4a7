"""Targets outside a set of shapes, replaced by larger or smaller loads in an order that the rule keeps."""

from fractions import Fraction
from typing import Literal

from meanfield.finite import moved
from meanfield.models.policy import Loads

__all__ = ["Order", "Side", "filled", "split", "transferred"]

Side = Literal["upper", "lower"]
Order = Literal["coordinate", "majorisation"]


def split(loads: Loads, direction: tuple[int, ...]) -> tuple[int, Loads]:
    """Return the largest level with loads >= level * direction, and the loads above it: level and shape."""
    level = min([queue[0] // v for queue, v in zip(loads, direction, strict=True)])
    if level == 0:
        return 0, loads
    return level, tuple([tuple([q - level * v for q in queue]) for queue, v in zip(loads, direction, strict=True)])


def filled(loads: Loads, place: dict[Loads, int], direction: tuple[int, ...], side: Side, order: Order) -> Loads:
    """Return the loads after jobs are added (upper) or removed (lower) until the shape is in ``place``.

    In weak majorisation until one transfer more is enough.
    """
    while True:
        by_pool = list(enumerate(zip(loads, direction, strict=True)))
        if side == "upper":  # the server that one more job fills least
            _, pool = min((Fraction(queue[0] + 1, v), j) for j, (queue, v) in by_pool)
            loads = moved(loads, pool, loads[pool][0], 1)
        else:
            _, pool = max((Fraction(queue[-1], v), -j) for j, (queue, v) in by_pool)
            loads = moved(loads, -pool, loads[-pool][-1], -1)
        if split(loads, direction)[1] in place:
            return loads
        after = transferred(loads, place, side) if order == "majorisation" else None
        if after is not None:
            return after


def transferred(loads: Loads, place: dict[Loads, int], side: Side) -> Loads | None:
    r"""Return equal servers' loads after one job changes its queue, with a shape in ``place``; None: no such move.

    Upper: from a queue to one at least as long; lower: from a queue to one shorter by two or more.  The number of jobs
    stays, and of all moves that leave the least queue its jobs the one with the least change of
    :math:`\sum 2^{-q_i}`, the jobs that idle servers will soon miss, is taken.
    """
    queue = loads[0]
    for a, b in _moves(queue, side):
        step = -1 if side == "upper" else 1
        after = (_changed(queue, a, a + step, b, b - step),)
        if split(after, (1,))[1] in place:
            return after
    return None


def _moves(queue: tuple[int, ...], side: Side) -> list[tuple[int, int]]:
    """Return the queues between which a job may move, least change of the sum of 2^-q first: no two are alike."""
    values = sorted(set(queue))
    if side == "lower":
        pairs = [(a, b) for a in values for b in values if b >= a + 2]
        return sorted(pairs, key=lambda x: (1 << (values[-1] - x[0] - 1)) - (1 << (values[-1] - x[1])))
    pairs = [(a, b) for a in values[1:] for b in values if a < b or (a == b and queue.count(a) > 1)]
    return sorted(pairs, key=lambda x: (2 << (values[-1] - x[0])) - (1 << (values[-1] - x[1])))


def _changed(queue: tuple[int, ...], a: int, to_a: int, b: int, to_b: int) -> tuple[int, ...]:
    rest = list(queue)
    rest.remove(a)
    rest.remove(b)
    return tuple(sorted([*rest, to_a, to_b]))
