"""Claims about ages of information (papers P5 to P8)."""

from proofs_check.claims.age import (
    codes,
    feedback,
    gain_bound,
    generalised,
    headline,
    last_decoded,
    laws,
    markov,
    periodic,
    schedules,
    thresholds,
)

CLAIMS = (
    *codes.CLAIMS,
    *laws.CLAIMS,
    *feedback.CLAIMS,
    *generalised.CLAIMS,
    *periodic.CLAIMS,
    *markov.CLAIMS,
    *last_decoded.CLAIMS,
    *thresholds.CLAIMS,
    *gain_bound.CLAIMS,
    *schedules.CLAIMS,
    *headline.CLAIMS,
)
