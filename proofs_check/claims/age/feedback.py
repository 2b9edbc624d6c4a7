"""Differential encoding with feedback against actual updates; feedback that comes late."""

from typing import Any

from aoi_tools.models.schemes import Actual, Delayed, Feedback
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, PD, WITNESS, D, P, blocks, problem, stated

BETTER = {"assume": {"e": ["p-d", ">"]}}
WORSE = {"assume": {"e": ["d-p", ">"]}}
NOT_WORSE = {"e": ["p-d", ">="]}
TIE = {"set": {"d": "p"}}
UNIQUE = DOMAIN | {"s": ["1+p-d", ">"]}  # p = 0, d = 1 alternates: the interleaved chains then have no unique law
DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-actual", "scheme-feedback")


def _both() -> dict:
    return problem({"actual": Actual(P), "feedback": Feedback(P, D)})


def _late(domain: dict, *statements: Any) -> Statement:
    """Feedback known c slots late, C = c + 1: outcomes C slots apart form a feedback chain, C of them interleave.

    The chains are independent in the unique stationary law, which needs them aperiodic: not p = 0, d = 1.
    P(J >= j) multiplies phi (stationary failure) for each new chain and p (failure after failure) for each return:
    phi^j up to j = C, then phi^C p^(j-C).  The mean is the sum over j >= 1; one more slot of delay is one step.
    """
    scheme = blocks(Delayed(P, D, 0).blocks(PD), PD)  # lag 1: the chain that the lagged outcomes follow
    after_success, again = scheme["up"][0][1], scheme["up"][1][1]
    phi = f"(({after_success})/(1-({again})+({after_success})))"
    return Statement(
        "induction",
        {
            "variables": ["p", "d"],
            "domain": domain,
            "state": ["power", "series"],
            "starts": [{"power": phi, "series": phi}],
            "steps": {"later": {"set": {"power": f"power*{phi}", "series": f"series + power*{phi}"}}},
            "define": {"mean": f"series + power*({again})/(1-({again}))"},
        },
        stated(*statements),
    )


def _late_ties() -> Statement:
    """For d = 0 no slot ever fails in the long run, for d = p the delay does not matter: both differences vanish."""
    phi = "(d/(1-p+d))"
    return Statement(
        "sign",
        {"variables": ["p", "d"], "domain": DOMAIN},
        stated((phi, "=", "0", {"set": {"d": "0"}}), (f"{phi} - p", "=", "0", TIE)),
    )


def _late_failure_law() -> Statement:
    """The stationary failure probability of the lagged chain, from the blocks."""
    return Statement("levels", problem({"lagged": Delayed(P, D, 0)}), stated(("failure_lagged", "=", "d/(1-p+d)")))


CLAIMS = (
    Claim(
        id="age.feedback.gain",
        text="Feedback lowers the mean slot age by exactly (p-d)/(1-p+d) = D/(1-D) with D = p-d.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{feedback}} = \frac{D}{1-D}, \qquad D = p-d",
        source=Source(("P5", "P8"), "sharpens"),
        scope=Scope.ALL,
        statement=lambda: Statement("levels", _both(), stated(("mean_actual - mean_feedback", "=", "(p-d)/(1-(p-d))"))),
        assumptions=ASSUMPTIONS,
        argument="Both means are finite sums and one geometric series in p; their difference is a rational identity.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.feedback.improves",
        text="Differential encoding with feedback has a smaller mean age than actual updates iff d < p, an equal one iff"
        " d = p, a larger one iff d > p.",
        latex=r"E J_{\mathrm{feedback}} < E J_{\mathrm{actual}} \iff d < p",
        source=Source(("P5", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: Statement(
            "levels",
            _both(),
            stated(
                ("mean_feedback", "<", "mean_actual", BETTER),
                ("mean_feedback", ">", "mean_actual", WORSE),
                ("mean_feedback", "=", "mean_actual", TIE),
            ),
        ),
        assumptions=ASSUMPTIONS,
        argument="The difference of the means is (p-d) over a positive polynomial; three cases of the sign of p-d.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.order.feedback-actual",
        text="The slot age with feedback is stochastically at most that of actual updates iff d <= p.",
        latex=r"J_{\mathrm{feedback}} \le_{\mathrm{st}} J_{\mathrm{actual}} \iff d \le p",
        source=Source(("P7", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: Statement(
            "levels",
            _both(),
            stated(
                ("tail_feedback_1", ">", "tail_actual_1", WORSE),
                orders=[{"smaller": "feedback", "larger": "actual", "assume": NOT_WORSE}],
            ),
        ),
        assumptions=ASSUMPTIONS,
        argument="Both tails multiply by p from level 1 on, so the order at level 1 decides all levels; for d > p level 1"
        " is out of order.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.feedback.late-is-better",
        text="Feedback that comes one slot later has a strictly smaller mean age iff 0 < d < p, for every delay, if k bits"
        " still hold the longer difference.",
        latex=r"E J_{C+1} - E J_C = \varphi^C\,\frac{\varphi-p}{1-p},\qquad \varphi=\frac{d}{1-p+d}",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(
            _late_failure_law(),
            _late(UNIQUE, ("mean_after_later - mean", "=", "power*(d-p)/(1-p+d)")),
            _late(
                UNIQUE | {"d": ["d", ">"]},
                ("mean_after_later", "<", "mean", BETTER),
                ("mean_after_later", ">", "mean", WORSE),
            ),
            _late_ties(),
        ),
        assumptions=ASSUMPTIONS + "; not p = 0 and d = 1; k bits hold the difference over every delay considered",
        argument="Outcomes one lag apart form a feedback chain and the chains of different residues are independent, so"
        " P(J >= j) = phi^min(j,C) p^(j-C)^+. Induction over the delay: the difference of the means is phi^C"
        " (d-p)/(1-p+d), and phi > 0 iff d > 0.",
        definitions=(*DEFINITIONS, "scheme-delayed"),
        witness=WITNESS,
    ),
)
