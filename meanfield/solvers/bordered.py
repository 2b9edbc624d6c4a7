"""Linear systems of Poisson equations: sparse factors when small, preconditioned GMRES when large.  Doubles only."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from numpy.typing import NDArray

from exactchains.truth import Undecided

__all__ = ["Vector", "solver"]

Vector = NDArray[np.float64]
DIRECT = 13_000  # unknowns up to which sparse factors are used whatever the dimension


def solver(
    matrix: Any, *, groups: NDArray[np.int64] | None = None, weights: Vector | None = None, planar: bool = False
) -> Callable[[Vector], Vector]:
    """Return x = A^-1 b for a matrix whose column 0 is a dense border and whose row 0 belongs to the gauge state.

    Large systems of many dimensions: GMRES, preconditioned by Gauss-Seidel in both directions and by a coarse system
    over ``groups`` of states (their total number of jobs), rows weighted with the approximate law ``weights``.
    """
    A = matrix.tocsc()
    if A.shape[0] <= DIRECT or planar or groups is None:
        try:
            return sla.splu(A).solve  # type: ignore[no-any-return]
        except RuntimeError as error:
            if "singular" not in str(error):  # SuperLU was refused memory
                raise MemoryError(str(error)) from error
            raise Undecided("the Poisson equation of a comparison chain is singular: it may be unstable") from error
    A = matrix.tocsr()
    precondition = sla.LinearOperator(A.shape, matvec=_preconditioner(A, groups, weights))

    def solve(b: Vector) -> Vector:
        scale = float(np.abs(b).max()) or 1.0
        x = np.zeros(len(b))
        for _ in range(2):
            rest = b / scale - A @ x
            size = float(np.abs(rest).max()) or 1.0
            x = x + size * sla.gmres(A, rest / size, M=precondition, rtol=0.0, atol=1e-7, restart=40, maxiter=15)[0]
        if not np.abs(A @ x - b / scale).max() < 1e-3:
            raise Undecided("the Poisson equation is not solved well enough; ask for fewer digits")
        return np.asarray(x * scale)

    return solve


def _preconditioner(A: Any, groups: NDArray[np.int64], weights: Any) -> Callable[[Vector], Vector]:
    inner = A[1:, 1:]
    natural: dict[str, Any] = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": False}}
    down, up = sla.splu(sp.tril(inner).tocsc(), **natural), sla.splu(sp.triu(inner).tocsc(), **natural)
    own = groups.copy()
    own[0] = -1  # the gauge state is a group of its own
    group = np.unique(own, return_inverse=True)[1]
    count, size = int(group.max()) + 1, len(group)
    gather = sp.csr_matrix((weights, (group, np.arange(size))), shape=(count, size))
    gather = sp.diags(1 / np.asarray(gather.sum(axis=1)).ravel()) @ gather
    spread = sp.csr_matrix((np.ones(size), (np.arange(size), group)), shape=(size, count))
    coarse = np.linalg.inv((gather @ A @ spread).toarray())

    def apply(r: Vector) -> Vector:
        z = np.zeros(size)
        z[1:] = up.solve(r[1:])
        z += spread @ (coarse @ (gather @ (r - A @ z)))
        z[1:] += down.solve((r - A @ z)[1:])
        return np.asarray(z + spread @ (coarse @ (gather @ (r - A @ z))))

    return apply
