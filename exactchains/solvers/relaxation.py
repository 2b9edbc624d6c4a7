r"""How fast a chain forgets: two-sided bounds of the relaxation rate in the mean square sense.

The rate is the largest :math:`\lambda` with :math:`\mathrm{Var}_\pi(P_t f) \le e^{-2\lambda t} \mathrm{Var}_\pi f` for
all f; for reversible chains it is the spectral gap.  In general it is the gap of the symmetrised chain
:math:`(q_{ij} + \pi_j q_{ji} / \pi_i) / 2`, the minimum of :math:`E(f, f) / \mathrm{Var}_\pi f`.
"""

from typing import Any

import numpy as np
import scipy.linalg as la
from flint import arb, ctx

from exactchains.chain import FiniteChain
from exactchains.domain import ball_ends
from exactchains.enclosure import Enclosure
from exactchains.solvers.stationary import stationary
from exactchains.truth import InputError, PrecisionExhausted

LARGEST = 200  # states, dense


def relaxation_rate(chain: FiniteChain, *, digits: int = 8) -> Enclosure:
    r"""Return the relaxation rate of an irreducible chain in continuous time (1/time); its inverse bounds mixing.

    Found in floating point; then :math:`E - \lambda \mathrm{Var}` is shown to be positive definite on functions that
    vanish at one state (elimination in balls), and a test function gives the other side.

    Raises
    ------
    InputError
        Discrete time, more than 200 states, or one state (nothing relaxes).
    PrecisionExhausted
        The digits could not be certified.
    """
    if chain.time != "continuous":
        raise InputError("time = 'discrete': the relaxation rate is defined in continuous time here")
    if not 2 <= chain.size <= LARGEST:
        raise InputError(f"the chain has {chain.size} states; give 2 to {LARGEST}")
    for extra in (20, 60, 200):
        law = stationary(chain, digits=digits + extra)
        if len(law.states) < chain.size:
            raise InputError(f"{chain.size - len(law.states)} states are transient; give the recurrent class alone")
        with ctx.workprec(int(3.33 * (digits + extra)) + 32):
            found = _bounds(chain, [arb(x.lower).union(arb(x.upper)) for x in law], digits)
        if found is not None and found.has_digits(digits):
            return found
    raise PrecisionExhausted(f"could not certify {digits} digits of the relaxation rate")


def _bounds(chain: FiniteChain, law: list[arb], digits: int) -> Enclosure | None:
    n = chain.size
    flux = [[arb(0)] * n for _ in range(n)]  # symmetric: pi_i q_ij + pi_j q_ji, halved
    for i, row in enumerate(chain.rows):
        for j, q in row.items():
            flux[i][j] += law[i] * arb(q) / 2
            flux[j][i] += law[i] * arb(q) / 2
    exits = [sum(row, arb(0)) for row in flux]
    value, test = _approximate(flux, exits, law)
    upper = _rayleigh(flux, law, test)
    for power in range(digits + 3, 0, -1):
        lower = arb(value) * (1 - arb(10) ** -power)
        if lower > 0 and _definite(flux, exits, law, lower):
            return Enclosure(ball_ends(lower)[0], ball_ends(upper)[1]) if bool(lower <= upper) else None
    return None


def _approximate(flux: list[list[arb]], exits: list[arb], law: list[arb]) -> tuple[arb, list[arb]]:
    """Return the second eigenvalue and its function, refined by inverse iteration in balls' midpoints."""
    root = np.sqrt(np.array([float(x) for x in law]))
    scaled = np.diag([float(x) for x in exits]) - np.array([[float(x) for x in row] for row in flux])
    values, vectors = la.eigh(scaled / root[:, None] / root)
    return arb(float(values[1])), [arb(float(x)) for x in vectors[:, 1] / root]


def _rayleigh(flux: list[list[arb]], law: list[arb], f: list[arb]) -> arb:
    n = len(f)
    energy = sum((flux[i][j] * (f[i] - f[j]) * (f[i] - f[j]) for i in range(n) for j in range(i)), arb(0))
    mean = sum((w * x for w, x in zip(law, f, strict=True)), arb(0))
    return energy / sum((w * (x - mean) * (x - mean) for w, x in zip(law, f, strict=True)), arb(0))


def _definite(flux: list[list[arb]], exits: list[arb], law: list[arb], rate: arb) -> bool:
    """Return whether E - rate Var is certainly positive definite on functions that vanish at state 0."""
    n = len(law)
    rows: list[list[Any]] = [
        [rate * law[i] * law[j] - flux[i][j] + ((exits[i] - rate * law[i]) if i == j else 0) for j in range(1, n)]
        for i in range(1, n)
    ]
    for k in range(n - 1):
        pivot = rows[k][k]
        if not pivot > 0:
            return False
        for i in range(k + 1, n - 1):
            if rows[i][k] == 0:
                continue
            share = rows[i][k] / pivot
            for j in range(i, n - 1):
                rows[i][j] = rows[i][j] - share * rows[k][j]
                rows[j][i] = rows[i][j]
    return True
