"""The decay rate of a level chain: the spectral radius of R, between certified bounds."""

from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from exactchains.truth import Undecided

if TYPE_CHECKING:
    from exactchains.solvers.level_summation import Summation

STEPS = 60
WIDE = 60.0  # binary orders of magnitude in R beyond which doubles need its scaling


def decay_rate(sums: "Summation") -> Any:
    r"""Return the spectral radius of R over the phases that carry mass, per original level.

    For each irreducible class of R and any v > 0,
    :math:`\min_i (Rv)_i / v_i \le \mathrm{sp} \le \max_i (Rv)_i / v_i` (Collatz, Wielandt).
    """
    R, pattern, live = sums.R, nonzero(sums.R), nonzero(sums.one)[0]
    while True:
        more = live | (live.astype(float) @ pattern.astype(float) > 0)
        if (more == live).all():
            break
        live = more
    best: Any = sums.number(0)
    for members in irreducible_parts(R):
        if live[members[0]]:
            best = _larger(best, _radius(sums.matrix([[R[i, j] for j in members] for i in members])))
    return best if sums.chain.stride == 1 or best == 0 else arb(best).root(sums.chain.stride)


def irreducible_parts(R: Any) -> list[list[int]]:
    """Return the classes of phases that R leads around in."""
    pattern = nonzero(R)
    _, labels = connected_components(csr_matrix(pattern), connection="strong")
    classes = [np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1)]
    return [members for members in classes if len(members) > 1 or pattern[members[0], members[0]]]


def nonzero(matrix: Any) -> Any:
    """Return where a matrix of fractions or balls is not exactly zero (``x != 0`` asks for certainly nonzero balls)."""
    return ~np.array([[bool(x == 0) for x in row] for row in matrix.tolist()])


def _larger(x: Any, y: Any) -> Any:
    return max(x, y) if isinstance(x, fmpq) and isinstance(y, fmpq) else arb(x).max(arb(y))


def _radius(R: Any) -> Any:
    """Return the spectral radius of an irreducible nonnegative matrix."""
    m = R.nrows()
    if m == 1:
        return R[0, 0]
    if isinstance(R, fmpq_mat) and (exact := _rational_radius(R)) is not None:
        return exact
    least, most = _quotients(arb_mat(R), arb_mat([[x] for x in perron_vector(arb_mat(R))]))
    return least.union(most)


def _rational_radius(R: fmpq_mat) -> fmpq | None:
    """Return the spectral radius where it is a fraction: the eigenvalue, alone, that has a positive eigenvector."""
    m = R.nrows()
    for factor, _ in R.charpoly().numer().factor()[1]:
        if factor.degree() == 1 and factor[0] < 0:
            root = fmpq(-factor[0], factor[1])
            reduced, rank = (R - fmpq_mat(m, m, [root * (i % (m + 1) == 0) for i in range(m * m)])).rref()
            if rank == m - 1 and all(reduced[i, i] == 1 and reduced[i, m - 1] < 0 for i in range(rank)):
                return root
    return None


def perron_vector(R: arb_mat) -> list[arb]:
    """Return an exact positive vector near the Perron vector of an irreducible nonnegative matrix.

    Raises
    ------
    Undecided
        Inverse iteration did not come to a positive vector.
    """
    exponents = _exponents(R)
    if exponents is not None:
        two = arb(2)
        scaled = [
            [x * two ** int(exponents[j] - exponents[i]) for j, x in enumerate(r)] for i, r in enumerate(R.tolist())
        ]
        top = max(x.mid() for row in scaled for x in row)
        vector = _near_perron(arb_mat(scaled) * (1 / top), smooth=True)
        return [x * two ** int(k) for x, k in zip(vector, exponents, strict=True)]
    return _near_perron(R, smooth=False)


def _exponents(R: arb_mat) -> Any:
    """Return e such that 2^(e_j - e_i) R_ij has rows of one size, or None where R needs no scaling.

    In logarithms of base 2 this is an eigenvector of R in max-plus algebra: the heaviest walks into a heaviest cycle,
    its mean taken off every step.
    """
    m = R.nrows()
    weight = np.array([[float(x.mid().log().mid()) if x.mid() > 0 else -np.inf for x in row] for row in R.tolist()])
    weight /= np.log(2)
    if not weight.max() - weight[np.isfinite(weight)].min() > WIDE:
        return None
    steps = [np.zeros(m)]
    for _ in range(m):  # Karp: the mean of a heaviest cycle
        steps.append((weight + steps[-1]).max(1))
    mean = max(min((steps[m][i] - steps[k][i]) / (m - k) for k in range(m)) for i in range(m))
    walks = weight - mean
    for k in range(m):
        walks = np.maximum(walks, walks[:, k : k + 1] + walks[k])
    found = walks[:, int(np.argmax(np.diag(walks)))]
    return np.rint(found - found.max()).astype(int)


def _near_perron(R: arb_mat, *, smooth: bool) -> list[arb]:
    """Return a positive vector near the Perron vector, by inverse iteration from doubles.

    ``smooth``: R has rows of one size, hence a vector of entries of one size; powers of R find it, and lose none.
    """
    m = R.nrows()
    doubles = np.array([[float(x.mid()) for x in row] for row in R.tolist()])
    values, vectors = np.linalg.eig(doubles)
    top = int(np.argmax(np.abs(values)))
    start = np.ones(m) if smooth else np.abs(vectors[:, top])
    for _ in range(4 * m + 60 if smooth else 0):
        start = doubles @ start + np.abs(values[top]) * start
        start /= start.max()
    v = arb_mat(m, 1, [arb(float(x)) for x in start])
    middle, shift, last = R.mid(), arb(float(abs(values[top]))), None
    identity = arb_mat(m, m, [int(i == j) for i in range(m) for j in range(m)])
    for _ in range(STEPS):
        ratio = _quotients(R, v)
        if ratio is not None:
            width = ratio[1] - ratio[0]
            if last is not None and not width < last / 4:
                return list(v.entries())
            last, shift = width, ((ratio[0] + ratio[1]) / 2).mid()
        v = _inverse_step(middle, identity, shift, v)
    raise Undecided("the decay rate did not converge")


def _quotients(R: arb_mat, v: arb_mat) -> Any:
    """Return the least and the largest (R v)_i / v_i as balls, or None where v is not positive."""
    if not all(x > 0 for x in v.entries()):
        return None
    ratios = [x / y for x, y in zip((R * v).entries(), v.entries(), strict=True)]
    least, most = ratios[0], ratios[0]
    for x in ratios[1:]:
        least, most = least.min(x), most.max(x)
    return arb(least.lower()), arb(most.upper())


def _inverse_step(middle: arb_mat, identity: arb_mat, shift: arb, v: arb_mat) -> arb_mat:
    """Return one step of shifted inverse iteration, positive and exact as a vector."""
    try:
        x = (middle - identity * shift).mid().solve(v, algorithm="approx").mid()
    except ZeroDivisionError:
        return v
    size = max(abs(y) for y in x.entries())
    if not size.is_finite() or not size > 0:
        return v
    return (arb_mat([[abs(y)] for y in x.entries()]) * (1 / size)).mid()
