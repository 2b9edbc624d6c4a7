"""The drift engine: what can be proved about the stability of a policy, cheapest function first."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactchains.number import rational
from exactchains.truth import InputError
from meanfield.models.policy import Policy
from proofs_check.check.exact import Rejected
from proofs_check.lyapunov import every_size
from proofs_check.lyapunov.cells import system
from proofs_check.lyapunov.domination import domination
from proofs_check.lyapunov.exponential import exponentials
from proofs_check.lyapunov.finding import Finding
from proofs_check.lyapunov.given import given
from proofs_check.lyapunov.instability import instability
from proofs_check.lyapunov.quadratic import quadratics

FUNCTIONS = ("domination", "quadratic", "exponential")


@dataclass(frozen=True)
class Drift:
    """The findings on a policy: ``n`` servers, or every number of them (None)."""

    policy: Policy
    n: int | None
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Return "stable", "not positive recurrent", "transient", or "undecided"."""
        for f in self.findings:
            if f.holds:
                return f.constants["status"] if f.function == "linear" else "stable"
        return "undecided"

    @property
    def certificates(self) -> list[dict[str, Any]]:
        """Return the certificates, each accepted by the checker."""
        return [dict(f.certificate) for f in self.findings if f.certificate is not None]


def drift(
    policy: Policy, *, n: int | None = None, lyapunov: str = "auto", base: Any = None, function: str | None = None
) -> Drift:
    r"""Return exact drift constants of Lyapunov functions for a policy, or the directions in which none works.

    The rule ``policy.route`` is run on symbolic queue lengths: where a comparison is open the state space is split,
    until routing law and busy servers are constant in each of finitely many cells.  In a cell the drift of a quadratic
    is affine, that of a sum of powers a sum of powers; its supremum over the infinitely many states is found exactly.

    Parameters
    ----------
    policy
        Any policy; a user's own needs :meth:`route` only, and may compare sums of queue lengths.
    n
        Servers; None: all numbers of servers at once (rules with samples, shortest and idle queues).
    lyapunov
        ``domination``, ``quadratic``, ``exponential``, or ``auto``: in this order until one works.
    base
        Base y > 1 of the exponential function; None: one near the best.
    function
        A polynomial in q1, q2, .. to look at instead, such as ``"q1^2 + 2*q1*q2 + 3*q2^2"``; needs n.

    Returns
    -------
    Drift
        Findings in order; the last one settles the question if the verdict is not "undecided".

    Guarantee
    ---------
    Every constant is exact, and every certificate has been accepted by the independent checker.

    Raises
    ------
    InputError
        A rule that does more with queue lengths than compare them, or too many cells.

    Examples
    --------
    >>> from meanfield.models.shortest import SpeedAwareJSQ
    >>> found = drift(SpeedAwareJSQ("1/2:3/2,1/2:1/2", "1/2"), n=2, lyapunov="exponential", base="5/4")
    >>> found.verdict, found.findings[0].constants["kappa*"]
    ('stable', '3/40')
    """
    if lyapunov != "auto" and lyapunov not in FUNCTIONS:
        raise InputError(f"lyapunov = {lyapunov[:40]!r}: allowed are {', '.join(FUNCTIONS)}, auto")
    y = None if base is None else Fraction(str(rational(base, "base")))
    if y is not None and y <= 1:
        raise InputError(f"base = {y}: the base of an exponential function is above 1")
    if function is not None:
        if n is None:
            raise InputError("a function of the queues q1, q2, .. needs n, the number of servers")
        return Drift(policy, n, (given(system(policy, n), function),))
    wanted = FUNCTIONS if lyapunov == "auto" else (lyapunov,)
    if n is None:
        return Drift(policy, None, tuple(every_size.findings(policy, wanted, y)))
    found: list[Finding] = []
    for name in wanted:
        found += _tried(policy, n, name, y, alone=lyapunov != "auto")
        if found and found[-1].holds and lyapunov == "auto":
            break
    if not any(f.holds for f in found) and (unstable := instability(system(policy, n, ties=True))):
        found.append(unstable)
    return Drift(policy, n, tuple(found))


def _tried(policy: Policy, n: int, name: str, base: Fraction | None, *, alone: bool) -> list[Finding]:
    if name == "quadratic":
        return quadratics(system(policy, n))
    try:
        problem = system(policy, n, ordered=True)
        return [domination(problem)] if name == "domination" else exponentials(problem, base)
    except Rejected as reason:  # a rule that compares multiples of queue lengths leaves cells without an order
        if alone:
            raise InputError(f"{name}: {reason}; take --lyapunov quadratic for this rule") from None
        return []
