"""Claims about pools of servers with different speeds (papers P3 and P4)."""

from proofs_check.claims.pools import domination, exponential, finite, fluid, idle_queue, optimal, small

CLAIMS = (
    *domination.CLAIMS,
    *optimal.CLAIMS,
    *idle_queue.CLAIMS,
    *small.CLAIMS,
    *exponential.CLAIMS,
    *finite.CLAIMS,
    *fluid.CLAIMS,
)
