"""Does a level chain come back down?  The sign of its mean drift, certified by a rational vector."""

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from exactchains.solvers.cyclic_reduction import Array
from exactchains.solvers.level_integers import LevelIntegers, fixed, values
from exactchains.truth import DoesNotExist

BITS = 80  # of the drift vector found in doubles


class Drift(enum.Enum):
    """What the levels of a chain do in the long run."""

    RECURRENT = "recurrent"
    NULL_RECURRENT = "null recurrent"
    TRANSIENT = "transient"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class DriftProof:
    """A vector y, a constant c and a margin delta > 0 that prove the sign of the drift.

    Recurrent: (down + local + up) y + (up - down) 1 - c kill <= -delta 1 in every phase; then level + y has negative
    drift high up.  Transient: >= delta in the phases of ``members``, a closed class that is never reset.
    Null recurrent: equal to 0 there.
    """

    drift: Drift
    members: list[int]
    y: list[fmpq]
    constant: fmpq
    margin: fmpq


def drift(blocks: LevelIntegers) -> DriftProof:
    r"""Return the certified sign of the drift :math:`\alpha\,(up - down)\,1` over the closed classes of phases.

    Found in doubles and checked in integers; where doubles cannot tell the sign it is computed exactly.

    Raises
    ------
    DoesNotExist
        Some phases never leave their level: the levels are not one chain.
    """
    up, local, down, kill = blocks.patterns
    closed = _closed_classes(up | local | down)
    for members in closed:
        if not (up[members].any() or down[members].any() or kill[members].any()):
            raise DoesNotExist(f"phases {members.tolist()[:8]} never leave their level: there is no chain of levels")
    worst: DriftProof | None = None
    for members in closed:
        if not kill[members].any():
            proof = _class_drift(blocks, members)
            if proof.drift is Drift.TRANSIENT:
                return proof
            if proof.drift is Drift.NULL_RECURRENT:
                worst = proof
            elif len(members) == blocks.size:
                return proof
    return worst or _recurrence(blocks, closed)


def _closed_classes(flow: Any) -> list[Any]:
    """Return the classes of phases that are never left."""
    if flow.all():
        return [np.arange(len(flow))]
    _, labels = connected_components(csr_matrix(flow), connection="strong")
    classes = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    return [c for c in classes if not flow[c][:, np.setdiff1d(np.arange(len(flow)), c)].any()]


def _class_drift(blocks: LevelIntegers, members: Any) -> DriftProof:
    """Return the sign of the drift of one closed class that is never reset."""
    listed = [int(i) for i in members]
    up, local, down, _ = blocks.doubles
    part = np.ix_(members, members)
    y, mean = _poisson((up + local + down)[part], (up - down)[members].sum(1))
    y = np.ldexp(np.rint(np.ldexp(y, BITS)), -BITS)
    vector = fixed(y[:, None], BITS)
    side = math.copysign(1, mean)
    if mean and (least := _margin(blocks, members, y * side, side)) > 0:
        given, unit = [fmpq(x, fmpz(1) << BITS) for x in values(vector)], blocks.unit * fmpq(*least.as_integer_ratio())
        return DriftProof(Drift.TRANSIENT if mean > 0 else Drift.RECURRENT, listed, given, fmpq(0), unit)
    slack = _slack(blocks, listed, vector, fmpz(1) << BITS)
    if mean > 0 and min(slack) > 0:
        return _proof(Drift.TRANSIENT, listed, vector, min(slack), blocks)
    if mean < 0 and max(slack) < 0:
        return _proof(Drift.RECURRENT, listed, vector, -max(slack), blocks)
    exact, margin = _exact_poisson(blocks, listed)
    if margin == 0 and _bounded(blocks, listed, exact):
        raise DoesNotExist(f"phases {listed[:8]} keep the level within bounds: there is no chain of levels")
    sign = Drift.NULL_RECURRENT if margin == 0 else Drift.TRANSIENT if margin > 0 else Drift.RECURRENT
    return DriftProof(sign, listed, exact, fmpq(0), abs(margin))


def _poisson(A: Array, rise: Array) -> tuple[Any, float]:
    """Return y with y_0 = 0 and the mean s such that (generator of A) y - s = -rise."""
    Q = A.copy()
    np.fill_diagonal(Q, 0)
    Q -= np.diag(Q.sum(1))
    Q[:, 0] = -1.0
    try:
        y = np.linalg.solve(Q, -rise)
    except np.linalg.LinAlgError:
        return np.zeros(len(rise)), 0.0
    if not np.isfinite(y).all():
        return np.zeros(len(rise)), 0.0
    mean = float(y[0])
    y[0] = 0.0
    return y, mean


def _margin(blocks: LevelIntegers, members: Any, y: Array, sign: float) -> float:
    """Return a lower bound of sign ((up - down) 1) + (down + local + up) y in a class, all roundings counted."""
    if blocks.wide:
        return -math.inf
    up, local, down, _ = blocks.doubles
    whole = np.zeros(blocks.size)
    whole[members] = y
    A, rates = up + local + down, (up.sum(1), down.sum(1), blocks.diagonal)
    slack = A @ whole - rates[2] * whole + sign * (rates[0] - rates[1])
    size = A @ np.abs(whole) + rates[2] * np.abs(whole) + rates[0] + rates[1]
    return float((slack - (4 * blocks.size + 64) * 2.0**-53 * size)[members].min())


def _slack(blocks: LevelIntegers, members: list[int], vector: fmpz_mat, one: fmpz) -> list[int]:
    """Return (down + local + up) y + (up - down) 1 in the phases of a closed class, times scale and ``one``."""
    m = blocks.size
    whole = [0] * m
    for i, x in zip(members, values(vector), strict=True):
        whole[i] = x
    ones = fmpz_mat(m, 1, [1] * m)
    total = (blocks.down + blocks.local + blocks.up) * fmpz_mat(m, 1, whole) + (blocks.up - blocks.down) * ones * one
    entries = values(total)
    return [entries[i] for i in members]


def _proof(sign: Drift, members: list[int], vector: fmpz_mat, margin: int, blocks: LevelIntegers) -> DriftProof:
    one = fmpz(1) << BITS
    return DriftProof(sign, members, [fmpq(x, one) for x in values(vector)], fmpq(0), fmpq(margin, one * blocks.scale))


def _exact_poisson(blocks: LevelIntegers, members: list[int]) -> tuple[list[fmpq], fmpq]:
    """Return y and the mean drift of a closed class as exact fractions."""
    k = len(members)
    total, rise = blocks.down + blocks.local + blocks.up, blocks.up - blocks.down
    system = [[total[i, j] for j in members] for i in members]
    for row in system:
        row[0] = fmpz(-1)
    sums = [-sum((rise[i, j] for j in range(blocks.size)), fmpz(0)) for i in members]
    solution = fmpq_mat(fmpz_mat(system)).solve(fmpq_mat(fmpz_mat(k, 1, sums)))
    return [fmpq(0), *(solution[i, 0] for i in range(1, k))], solution[0, 0] / blocks.scale


def _bounded(blocks: LevelIntegers, members: list[int], y: list[fmpq]) -> bool:
    """Return whether level + y never changes within the class: then the level is a function of the phase."""
    value = dict(zip(members, y, strict=True))
    return all(
        value[j] - value[i] + rise == 0
        for rise, block in ((1, blocks.up), (0, blocks.local), (-1, blocks.down))
        for i in members
        for j in members
        if i != j or rise
        if block[i, j] != 0
    )


def _recurrence(blocks: LevelIntegers, closed: list[Any]) -> DriftProof:
    """Return one vector for all phases: every closed class drifts down or is reset."""
    m = blocks.size
    up, local, down, kill = blocks.doubles
    A, rise = up + local + down, (up - down).sum(1)
    constant = 0.0
    for members in closed:
        if kill[members].any():
            reset = _mean(A[np.ix_(members, members)], kill[members])
            constant = max(constant, 2 * (abs(rise[members]).max() + 1) / max(reset, 1e-12))
    constant = float(np.ceil(constant))
    rise = rise - constant * kill
    y, slack = np.zeros(m), np.inf
    for members in closed:
        y[members], mean = _poisson(A[np.ix_(members, members)], rise[members])
        slack = min(slack, -mean)
    rest = np.setdiff1d(np.arange(m), np.concatenate(closed))
    if rest.size:
        y[rest] = _transient_part(A, rise + slack, y, rest)
    one, vector = fmpz(1) << BITS, fixed(y[:, None], BITS)
    ones = fmpz_mat(m, 1, [1] * m)
    total = (blocks.down + blocks.local + blocks.up) * vector
    total += ((blocks.up - blocks.down) * ones - blocks.kill * fmpz(int(constant))) * one
    margin = -max(values(total))
    if margin > 0:
        proof = _proof(Drift.RECURRENT, list(range(m)), vector, margin, blocks)
        return DriftProof(proof.drift, proof.members, proof.y, fmpq(int(constant)), proof.margin)
    return _exact_recurrence(blocks, closed)


def _transient_part(A: Array, rise: Array, y: Array, rest: Array) -> Array:
    """Solve A y = -rise in the transient phases, where y is known in the closed ones."""
    Q = A.copy()
    np.fill_diagonal(Q, 0)
    Q -= np.diag(Q.sum(1))
    try:
        found = np.linalg.solve(Q[np.ix_(rest, rest)], -rise[rest] - Q[rest] @ y)
    except np.linalg.LinAlgError:  # singular in doubles only; the exact route decides
        return np.zeros(len(rest))
    return np.asarray(found) if np.isfinite(found).all() else np.zeros(len(rest))


def _mean(A: Array, weights: Array) -> float:
    """Return the stationary mean of ``weights`` over one closed class."""
    return _poisson(A, weights)[1]


def _exact_recurrence(blocks: LevelIntegers, closed: list[Any]) -> DriftProof:
    """The same vector in exact fractions: means of the classes, then the transient phases."""
    m = blocks.size
    total = blocks.down + blocks.local + blocks.up
    sums = (blocks.up - blocks.down) * fmpz_mat(m, 1, [1] * m)
    found = []
    for members in closed:
        listed = [int(i) for i in members]
        system = fmpq_mat([[fmpq(total[i, j]) for j in listed] for i in listed])
        for row in range(len(listed)):
            system[row, 0] = fmpq(-1)
        found.append((listed, system.solve(fmpq_mat([[-sums[i, 0], -blocks.kill[i, 0]] for i in listed]))))
    means = [(solution[0, 0], solution[0, 1]) for _, solution in found]  # of the rise and of the resets
    constant = max([fmpq(0), *((2 * rise + 1) / kill for rise, kill in means if rise >= 0)])
    margin = max(rise - constant * kill for rise, kill in means)
    y = [fmpq(0)] * m
    for listed, solution in found:
        for place, i in enumerate(listed[1:], 1):
            y[i] = solution[place, 0] - constant * solution[place, 1]
    rest = sorted(set(range(m)) - {i for listed, _ in found for i in listed})
    if rest:
        rise = [sums[i, 0] - constant * blocks.kill[i, 0] for i in rest]
        known = [sum((total[i, j] * y[j] for j in range(m) if j not in rest), fmpq(0)) for i in rest]
        system = fmpq_mat([[fmpq(total[i, j]) for j in rest] for i in rest])
        solution = system.solve(fmpq_mat([[margin - r - x] for r, x in zip(rise, known, strict=True)]))
        for place, i in enumerate(rest):
            y[i] = solution[place, 0]
    return DriftProof(Drift.RECURRENT, list(range(m)), y, constant, -margin / blocks.scale)
