"""BiCGStab with a preconditioner that hands out the product with the matrix as well."""

from collections.abc import Callable
from typing import Any

import numpy as np


def bicgstab(both: Callable[[Any], tuple[Any, Any]], b: Any, *, tolerance: float, steps: int = 400) -> Any | None:
    """Return x with |A x - b| <= tolerance in the 2-norm (by its own recursion), or None.

    ``both(p)`` returns M p and A M p for the preconditioner M; many preconditioners know the second for half price.

    Source
    ------
    Van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631-644, preconditioned on the right.
    """
    x, r = np.zeros_like(b), b.copy()
    shadow, p, v = b, np.zeros_like(b), np.zeros_like(b)
    rho = alpha = omega = 1.0
    if np.linalg.norm(r) <= tolerance:
        return x
    for _ in range(steps):
        before, rho = rho, float(shadow @ r)
        if rho == 0 or omega == 0 or not np.isfinite(rho):
            return None
        p -= omega * v
        p *= (rho / before) * (alpha / omega)
        p += r
        z, v = both(p)
        alpha = rho / (float(shadow @ v) or np.nan)
        r -= alpha * v
        x += alpha * z
        if np.linalg.norm(r) <= tolerance:
            return x
        z, t = both(r)
        omega = float(t @ r) / (float(t @ t) or np.nan)
        x += omega * z
        r -= omega * t
        if np.linalg.norm(r) <= tolerance:
            return x
    return None
