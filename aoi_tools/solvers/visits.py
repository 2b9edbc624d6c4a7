"""Expected visits r (I - U)^{-1} of a chain that ends: one interface, the method by domain and size.

Exact and symbolic domains and small balls: state reduction, without subtraction.  Balls of middle size: one inverse
in flint.  Large balls: doubles find it, two-word residuals in balls refine it, a left vector certifies it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat
from scipy.sparse import csc_array, eye_array
from scipy.sparse.linalg import splu

from exactchains.chain import FiniteChain, is_zero
from exactchains.domain import Balls, Domain
from exactchains.solvers.gth import gth
from exactchains.truth import Undecided

Rows = Sequence[dict[int, Any]]
SMALL, MIDDLE = 24, 400
ROUNDS = 60


class Visits:
    """The resolvent of a substochastic chain: ``rows[i]`` stays, ``escape[i]`` leaves; both sum to 1 in every row.

    Guarantee
    ---------
    :meth:`row` returns r (I - U)^{-1} exactly, or balls that contain it.
    """

    def __init__(self, rows: Rows, escape: Sequence[Any], domain: Domain) -> None:
        self.rows, self.escape, self.domain = rows, escape, domain
        self._zero = domain.convert(0)

    def row(self, start: Sequence[Any]) -> list[Any]:
        """Return the expected visits to every state from the start law (or measure) ``start``."""
        if all(is_zero(x, self.domain) for x in start):
            return list(start)
        if not isinstance(self.domain, Balls) or len(self.rows) <= SMALL:
            return self._by_reduction(start)
        if len(self.rows) <= MIDDLE:
            return (arb_mat([list(start)]) * self._inverse).tolist()[0]
        return self._refined(start)

    def _by_reduction(self, start: Sequence[Any]) -> list[Any]:
        """State 0 of the restarted chain stands for the escape.

        The balance x_i (sum of U_ij over j != i, plus w_i) = r_i + sum of x_j U_ji over j != i is x = r + x U.
        """
        rows = [{i + 1: x for i, x in enumerate(start) if not is_zero(x, self.domain)}]
        for i, (row, out) in enumerate(zip(self.rows, self.escape, strict=True)):
            rows.append({0: out, **{j + 1: x for j, x in row.items() if j != i}})
        law = gth(FiniteChain(tuple(rows), "continuous", self.domain))
        return [x / law[0] for x in law[1:]]

    @cached_property
    def _inverse(self) -> arb_mat:
        n = len(self.rows)
        matrix = arb_mat([[(1 if i == j else 0) - self.rows[i].get(j, self._zero) for j in range(n)] for i in range(n)])
        try:
            return matrix.inv()
        except ZeroDivisionError:
            raise Undecided("the chain is too close to never ending for this precision; raise the precision") from None

    @cached_property
    def _doubles(self) -> Any:
        entries = [(i, j, float(x.mid())) for i, row in enumerate(self.rows) for j, x in row.items()]
        tails, heads, values = zip(*entries, strict=True) if entries else ((), (), ())
        size = len(self.rows)
        return csc_array((values, (tails, heads)), shape=(size, size))

    @cached_property
    def _factor(self) -> Any:
        return splu((eye_array(len(self.rows), format="csc") - self._doubles).T.tocsc())

    def _refined(self, start: Sequence[Any]) -> list[arb]:
        r"""Refine x by doubles until the left-vector bound has the precision of the domain.

        With u > 0 and u (I - U) >= t > 0: :math:`|x_i - \tilde x_i| \le u_i \max_j |r_j| / t_j` for the residual
        r = start - x~ (I - U), as (I - U)^{-1} >= 0.
        """
        prec = self.domain.prec  # type: ignore[attr-defined]
        x = [arb(0)] * len(self.rows)
        residual, wanted = list(start), None
        for _ in range(ROUNDS):
            size = max(abs(v).mid() for v in residual)
            if size == 0:
                return x
            step = self._factor.solve(np.array([float((v / size).mid()) for v in residual]))
            if not np.isfinite(step).all():
                break
            x = [(a + size * arb(b)).mid() for a, b in zip(x, step.tolist(), strict=True)]
            residual = [s - v for s, v in zip(start, self._flow(x), strict=True)]
            weights = self._certifying(x) if wanted is None else wanted
            if weights is None:
                continue
            wanted = weights
            bound = max(((abs(v) / t).upper() for v, t in zip(residual, weights[1], strict=True)), key=_number)
            reach = [bound * u for u in weights[0]]
            if all(e <= arb(2) ** -(prec * 3 // 4) * abs(a) for e, a in zip(reach, x, strict=True)):
                return [arb(a, e.upper()) for a, e in zip(x, reach, strict=True)]
        raise Undecided("the expected visits of this large chain were not certified; raise the precision")

    def _flow(self, x: Sequence[arb]) -> list[arb]:
        """x (I - U)."""
        out = list(x)
        for a, row in zip(x, self.rows, strict=True):
            for j, p in row.items():
                out[j] = out[j] - a * p
        return out

    def _certifying(self, x: Sequence[arb]) -> tuple[list[arb], list[arb]] | None:
        """A left vector u with its proven flow t > 0, or None if doubles are too coarse for it."""
        target = np.array([max(float(a.mid()), 1e-290) for a in x])
        try:
            found = self._factor.solve(target)
        except RuntimeError:
            return None
        if not (np.isfinite(found).all() and (found > 0).all()):
            return None
        u = [arb(v) for v in found.tolist()]
        flow = self._flow(u)
        if not all(t > 0 for t in flow):
            return None
        return u, [t.lower() for t in flow]


def law_of(rows: Rows, domain: Domain) -> list[Any]:
    """Return the stationary law of an irreducible stochastic chain over ``domain``.

    Large balls cut the chain at its state 0: visits between two returns, normalised.
    """
    size = len(rows)
    if not isinstance(domain, Balls) or size <= MIDDLE:
        return gth(FiniteChain(tuple(rows), "discrete", domain))
    zero = domain.convert(0)
    kept = [{j - 1: x for j, x in row.items() if j} for row in rows[1:]]
    visits = Visits(kept, [row.get(0, zero) for row in rows[1:]], domain)
    law = [domain.convert(1), *visits.row([rows[0].get(j, zero) for j in range(1, size)])]
    total = sum(law, zero)
    return [x / total for x in law]


def _number(x: arb) -> Any:
    return x.mid().fmpq()
