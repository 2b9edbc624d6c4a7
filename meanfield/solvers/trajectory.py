"""Paths of the mean field from any start: adaptive integration, first entry, and a validated enclosure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray
from scipy.integrate import OdeSolution, solve_ivp
from scipy.optimize import brentq

from exactchains.domain import Balls, Floats
from exactchains.enclosure import Enclosure
from exactchains.number import rational
from exactchains.truth import InputError, Undecided
from meanfield.flow import drift
from meanfield.models.noisy import PowerOfD, power_of_d
from meanfield.models.policy import Policy
from meanfield.models.pools import whole
from meanfield.solvers.regimes import Regime, pieces_of
from meanfield.solvers.sampled import rule_of, shares

__all__ = ["Regime", "Trajectory", "ValidatedState", "trajectory", "validated"]

LEVELS = 60
MOST_LEVELS, MOST_POINTS, MOST_TIME, LAST_TIME = 1000, 100_000, 10_000, 10**9

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """An estimate of the path: ``tails[i]`` are x_1..x_K at ``times[i]``, all pools one after another.

    ``solution(t)`` are the tails between the listed times; ``regimes`` the regimes of a discontinuous limit.
    """

    times: NDArray[np.float64]
    tails: NDArray[np.float64]
    pools: int
    solution: Any = None
    regimes: tuple[Regime, ...] = ()

    def mean_queue(self, fractions: Sequence[float]) -> NDArray[np.float64]:
        """Return the mean number of jobs per server along the path."""
        if len(fractions) != self.pools:
            raise InputError(f"fractions = {list(fractions)}: one for each of {self.pools} pools")
        by_pool = self.tails.reshape(len(self.times), self.pools, -1).sum(axis=2)
        return by_pool @ np.asarray(fractions)

    def first_entry(self, target: Sequence[float], distance: float) -> float | None:
        """Return the time at which the first tails come within ``distance`` of ``target``; None: never.

        Seen at the listed times and located between them; an entry that ends before the next of them is missed.
        """
        wanted = np.asarray(target)

        def away(tails: Vector) -> float:
            return float(np.abs(tails[: len(wanted)] - wanted).max()) - distance

        near = [i for i, row in enumerate(self.tails) if away(row) <= 0]
        if not near or near[0] == 0 or self.solution is None:
            return float(self.times[near[0]]) if near else None
        before, after = self.times[near[0] - 1], self.times[near[0]]
        if away(self.solution(before)) <= 0 or away(self.solution(after)) > 0:
            return float(after)
        return float(brentq(lambda t: away(self.solution(t)), before, after, xtol=1e-12))


def trajectory(
    policy: Policy, *, start: Sequence[Any] = (), until: Any, points: int = 200, levels: int = LEVELS
) -> Trajectory:
    """Return the path of the mean field from ``start`` (tails x_1, x_2, .. of every pool; () is the empty system).

    Rules that see all servers (JSQ and JIQ, speed-aware or not) have a discontinuous limit: it is followed regime by
    regime, and a regime ends where a level fills or where what drains from a full one exceeds what arrives.
    Doubles: an estimate, see :func:`validated` for a proof.

    Raises
    ------
    InputError
        The start is no nonincreasing sequence in [0, 1], or longer than ``levels``; no positive time, or no points.
    """
    levels = whole(levels, "levels", "give", most=MOST_LEVELS)
    first = _start(start, levels)
    points = whole(points, "points", "give", most=MOST_POINTS)
    pools, domain = len(policy.pools), Floats()
    x0 = np.zeros((pools, levels))
    x0[:, : len(first)] = [domain.convert(x) for x in first]

    limit = MOST_TIME if policy.d is None else LAST_TIME
    if not 0 < rational(until, "until") <= limit:
        raise InputError(f"until = {until}: a path of {type(policy).__name__} is followed to a time in (0, {limit}]")
    end = domain.convert(rational(until, "until"))
    times = np.linspace(0.0, end, points)
    if policy.d is None:
        return _joined_pieces(policy, x0, times)
    found = solve_ivp(
        _field(policy, levels), (0.0, end), x0.ravel(), "LSODA", t_eval=times, rtol=1e-9, atol=1e-12, dense_output=True
    )
    if not found.success:
        raise Undecided(f"integration stops: {found.message}")
    return Trajectory(times, found.y.T, pools, found.sol)


def _start(start: Sequence[Any], levels: int) -> list[fmpq]:
    first = [rational(x, "start") for x in start]
    if len(first) > levels or any(not 0 <= b <= a for a, b in zip([rational(1), *first], first, strict=False)):
        raise InputError(f"start: tails fall from at most 1 to at least 0, at most {levels} of them")
    return first


def _joined_pieces(policy: Policy, x0: NDArray[np.float64], times: Vector) -> Trajectory:
    pieces = list(pieces_of(policy, x0, float(times[-1])))
    breaks = np.unique(np.concatenate([piece.solution.ts for piece in pieces]))
    parts = [part for piece in pieces for part in piece.solution.interpolants]
    solution = OdeSolution(breaks, parts)
    regimes = tuple(Regime(piece.begin, piece.full) for piece in pieces)
    return Trajectory(times, np.array([solution(t) for t in times]), len(x0), solution, regimes)


def _field(policy: Policy, levels: int) -> Callable[[float, Vector], Vector]:
    """Return the vector field in doubles: by the closed law of power of d, else by the table of the rule."""
    pools, domain = len(policy.pools), Floats()
    if isinstance(policy, PowerOfD):
        return _field_of_power_of_d(policy, levels)
    if policy.sight is None:

        def by_law(_: float, x: Vector) -> Vector:
            tails = [[1.0, *row] for row in x.reshape(pools, levels)]
            return np.concatenate(drift(policy, tails, domain=domain))

        return by_law
    rule, load = rule_of(policy), domain.convert(policy.load)
    gamma = np.array([[domain.convert(p.fraction)] for p in policy.pools])
    speed = np.array([[domain.convert(p.speed)] for p in policy.pools])
    weight = gamma * speed if policy.weighting == "speed" else gamma
    none = np.zeros((pools, rule.reach + 1))

    def by_table(_: float, x: Vector) -> Vector:
        rows = x.reshape(pools, levels)
        held = np.hstack([np.ones((pools, 1)), rows]) - np.hstack([rows, np.zeros((pools, 1))])
        joined = weight * held * shares(rule, weight * held, none, slopes=False).value
        return np.asarray((load / gamma * joined[:, :-1] - speed * held[:, 1:]).ravel())

    return by_table


def _field_of_power_of_d(policy: PowerOfD, levels: int) -> Callable[[float, Vector], Vector]:
    """Return :func:`meanfield.flow.drift`, all levels at once."""
    load, eps, j = float(Floats().convert(policy.load)), float(Floats().convert(policy.eps)), np.arange(levels)

    def inside(part: Vector) -> Vector:
        return part**policy.d

    def by_levels(_: float, x: Vector) -> Vector:
        tails = np.concatenate([[1.0], x, [0.0]])

        def count(k: NDArray[np.int_]) -> Vector:
            return tails[np.clip(k, 0, levels + 1)]

        joined = inside(tails[:-2]) - inside(tails[1:-1]) + eps * policy.errors(count, inside, j, 1.0)
        return np.asarray(load * joined - (tails[1:-1] - tails[2:]))

    return by_levels


@dataclass(frozen=True)
class ValidatedState:
    """Proved bounds of x_1..x_K at one time; all later tails lie between 0 and the last upper bound."""

    time: fmpq
    lower: tuple[fmpq, ...]
    upper: tuple[fmpq, ...]

    def tail(self, k: int) -> Enclosure:
        """Return the fraction of servers with at least ``k`` jobs."""
        if whole(k, "index", "levels are counted by", least=0, most=len(self.upper)) == 0:
            return Enclosure.exact(1)
        return Enclosure(self.lower[k - 1], self.upper[k - 1])


def validated(
    policy: PowerOfD, *, start: Sequence[Any] = (), until: Any, steps: int, levels: int = 20
) -> ValidatedState:
    r"""Return proved bounds of the tails at time ``until``: sub- and super-solutions of a monotone flow.

    The flow is cooperative on ordered tails, hence u(t) <= x(t) <= v(t) for polygons that start below and above and
    satisfy :math:`\dot u \le f(u)`, :math:`\dot v \ge f(v)`.  A side of length h from y has velocity c with
    :math:`c \le f(y) - h L \lVert c\rVert` (above: :math:`c \ge f(y) + h L \lVert c\rVert`), L a Lipschitz constant in
    the maximum norm.  Beyond K the lower tails are 0 and the upper ones equal x_K, which never falls.

    Guarantee
    ---------
    The exact path at ``until`` lies between the returned sequences; their distance falls like 1/steps.

    Raises
    ------
    InputError
        The start is no nonincreasing sequence in [0, 1], or longer than ``levels``; no positive time, or no steps.
    """
    policy, levels = power_of_d(policy, "validated"), whole(levels, "levels", "give", most=MOST_LEVELS)
    first, end = _start(start, levels), rational(until, "until")
    steps = whole(steps, "steps", "give", most=MOST_POINTS)
    if end <= 0:
        raise InputError(f"until = {end}: a positive time")
    balls = Balls(64)
    with balls.working():
        h = arb(end / steps)
        begin = [arb(x) for x in first] + [arb(0)] * (levels - len(first))
        sides = []
        for sign in (-1, 1):
            x = begin
            for _ in range(steps):
                x = _side(policy, x, h, sign, balls)
            sides.append(tuple(v.fmpq() for v in x))
    return ValidatedState(end, sides[0], sides[1])


def _side(policy: PowerOfD, x: list[arb], h: arb, sign: int, balls: Balls) -> list[arb]:
    """Return exact tails after a step of length h that provably stay below (sign -1) or above (sign 1) the path."""
    gap = 0 if policy.g is None else policy.g
    beyond = [x[-1] if sign > 0 else arb(0)] * (gap + 2)
    rates = drift(policy, [[arb(1), *x, *beyond]], domain=balls)[0][: len(x)]
    lipschitz = arb(policy.load * policy.d * (2 + 8 * policy.eps) + 2)
    slack = h * lipschitz * max((abs(r).upper() for r in rates), key=float)
    for _ in range(40):
        slack = slack * 3 / 2
        moved = [(y + h * (r + sign * slack)) for y, r in zip(x, rates, strict=True)]
        after = _ordered([v.upper() if sign > 0 else v.lower() for v in moved], x[-1], sign)
        speed = [(a - y) / h for a, y in zip(after, x, strict=True)]
        fastest = max((abs(c).upper() for c in speed), key=float)
        if all(sign * (c - r) >= h * lipschitz * fastest for c, r in zip(speed, rates, strict=True)):
            return [min(max(v, arb(0)), arb(1)) for v in after]  # constants 0 and 1 are solutions of their own
    raise Undecided("a step is too long for the polygon; raise steps")


def _ordered(x: list[arb], last: arb, sign: int) -> list[arb]:
    """Return x made nonincreasing: raised from above (its end to at least ``last``), lowered from below."""
    bound, found = (last, []) if sign > 0 else (arb(1), [])
    for v in reversed(x) if sign > 0 else x:
        bound = max(v, bound) if sign > 0 else min(v, bound)
        found.append(bound)
    return found[::-1] if sign > 0 else found
