"""Claims about power of d choices with noisy comparisons (papers P1 and P2)."""

from proofs_check.claims.noisy import (
    dependent,
    drift,
    equilibrium,
    heavy,
    independent,
    limit,
    loads,
    routing,
    stability,
    tails,
)

CLAIMS = (
    *independent.CLAIMS,
    *dependent.CLAIMS,
    *drift.CLAIMS,
    *limit.CLAIMS,
    *heavy.CLAIMS,
    *equilibrium.CLAIMS,
    *loads.CLAIMS,
    *tails.CLAIMS,
    *stability.CLAIMS,
    *routing.CLAIMS,
)
