"""Claims about ages of information (papers P5 to P8)."""

from proofs_check.claims.age import codes, feedback, generalised, headline, laws, periodic

CLAIMS = (
    *codes.CLAIMS,
    *laws.CLAIMS,
    *feedback.CLAIMS,
    *generalised.CLAIMS,
    *periodic.CLAIMS,
    *headline.CLAIMS,
)
