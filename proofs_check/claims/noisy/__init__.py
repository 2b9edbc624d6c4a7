"""Claims about power of d choices with noisy comparisons (papers P1 and P2)."""

from proofs_check.claims.noisy import (
    critical,
    dependent,
    drift,
    equilibrium,
    every_d,
    heavy,
    heavy_dependent,
    independent,
    limit,
    loads,
    majorisation,
    routing,
    stability,
    tail_base,
    tails,
)

CLAIMS = (
    *independent.CLAIMS,
    *dependent.CLAIMS,
    *every_d.CLAIMS,
    *drift.CLAIMS,
    *limit.CLAIMS,
    *heavy_dependent.CLAIMS,
    *heavy.CLAIMS,
    *critical.CLAIMS,
    *tail_base.CLAIMS,
    *equilibrium.CLAIMS,
    *loads.CLAIMS,
    *tails.CLAIMS,
    *stability.CLAIMS,
    *routing.CLAIMS,
    *majorisation.CLAIMS,
)
