"""Closed forms of the age laws: every level of actual and feedback; every level, period and moment of periodic."""

from typing import Any

from aoi_tools.models.schemes import Actual, Feedback, Periodic
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.cycle import moment_system
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, PD, WITNESS, D, P, problem, stated


def _actual_and_feedback() -> Statement:
    return Statement(
        "levels",
        problem({"actual": Actual(P), "feedback": Feedback(P, D)}),
        stated(
            ("mean_actual", "=", "p/(1-p)"),
            ("second_actual", "=", "p*(1+p)/(1-p)^2"),
            ("failure_actual", "=", "p"),
            ("mean_feedback", "=", "d/((1-p)*(1-p+d))"),
            ("second_feedback", "=", "d*(1+p)/((1-p)^2*(1-p+d))"),
            ("failure_feedback", "=", "d/(1-p+d)"),
            laws={
                "actual": {"pmf": ["1-p", "(1-p)*p"], "period": 1, "ratio": "p"},
                "feedback": {
                    "pmf": ["(1-p)/(1-p+d)", "(1-p)*d/(1-p+d)", "(1-p)*d*p/(1-p+d)"],
                    "period": 1,
                    "ratio": "p",
                },
            },
        ),
    )


def _periodic_tails() -> Statement:
    """P(J >= j) along the slots, from any start with chance c that the previous state is known.

    t is the chance; theta counts a factor p for each actual update passed, kappa is the first factor.
    """
    rules = Periodic(P, D, 1).rules(PD)
    first, following = (_column(rules[name][0]) for name in ("first", "following"))
    law = {"alive": "c", "dead": "1-c"}
    state = {"alive": "alive", "dead": "dead"}
    return Statement(
        "induction",
        {
            "variables": ["p", "d", "c"],
            "domain": DOMAIN | {"c": ["c", ">="], "k": ["1-c", ">="]},
            "state": ["alive", "dead", "theta", "kappa"],
            "starts": [
                {**_moved(following, law), "theta": "1", "kappa": "1-(1-d)*c"},
                {**_moved(first, law), "theta": "p", "kappa": "1"},
            ],
            "steps": {
                "following": {"set": {**_moved(following, state), "theta": "theta", "kappa": "kappa"}},
                "first": {"set": {**_moved(first, state), "theta": "p*theta", "kappa": "kappa"}},
            },
        },
        stated(("alive + dead", "=", "theta*kappa")),
    )


def _periodic_moments() -> Statement:
    """Mean and second moment for every q, with the sums of powers of b = 1 - d as further states.

    L = q + 1, B = b^(L-1), g = sum of b^i (i < L), H = g_1 + .. + g_L, Y = H_1 + .. + H_(L-1).
    """
    system = moment_system(Periodic(P, D, 1).rules(PD), PD)
    sums = {
        "B": ("1", "(1-d)*B"),
        "g": ("1", "g + (1-d)*B"),
        "H": ("1", "H + g + (1-d)*B"),
        "Y": ("0", "Y + H"),
    }
    mean = "(L+1)/2 - (1-p)*H/L + p*(L - (1-p)*g)/(1-p)"
    second = "((L+1)*(L+2)/3 - 2*(1-p)*(Y+H)/L - (L+1)/2 + (1-p)*H/L) + p*(L+1)*mu + p*sigma"  # sums over one period
    return Statement(
        "induction",
        system.problem(extra=sums, domain=DOMAIN),
        stated(
            ("mean", "=", mean),
            ("mu", "=", "(L - (1-p)*g)/(1-p)"),
            ("sigma", "=", "(L*(L+1) - 2*(1-p)*H - (L - (1-p)*g) + 2*p*L*mu)/(1-p)"),
            ("second", "=", second),
            ("failure", "=", "1 - (1-p)*g/L"),
        ),
    )


def _column(up: Any) -> dict[str, dict[str, str]]:
    """Return for each phase reached, the probabilities from each phase: up blocks as texts."""
    phases = ("alive", "dead")
    return {t: {s: PD.text(PD.convert(up[i][j])) for i, s in enumerate(phases)} for j, t in enumerate(phases)}


def _moved(column: dict[str, dict[str, str]], values: dict[str, str]) -> dict[str, str]:
    return {t: "+".join(f"({values[s]})*({x})" for s, x in sources.items()) for t, sources in column.items()}


CLAIMS = (
    Claim(
        id="age.schemes.law",
        text="The slot age J of the actual, feedback and periodic schemes has, for every level j and every q, the stated"
        " law, mean, second moment and failure probability.",
        latex=r"P(J_{\mathrm{actual}}=j)=a p^j,\quad P(J_{\mathrm{feedback}}=0)=\frac{a}{a+d},\quad"
        r" P(J_{\mathrm{feedback}}=j)=\frac{a d p^{j-1}}{a+d},\quad"
        r" E J_{\mathrm{periodic}}=\frac{L+1}{2}-\frac{aH}{L}+\frac{p(L-ag)}{a}",
        source=Source(("P5", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_actual_and_feedback(), _periodic_tails(), _periodic_moments()),
        assumptions=ASSUMPTIONS,
        argument="Actual and feedback: two levels and then the recurrence tau_(j+1) = p tau_j. Periodic: with chance c"
        " that the previous state is known, P(J >= j) is followed slot by slot, an induction over the slots;"
        " one more slot in the period is one step of an induction over q that carries the law, the first two"
        " moments (affine in the unknown moments at the end of the period) and their sums.",
        definitions=("slot-age", "failure-probabilities", "scheme-actual", "scheme-feedback", "scheme-periodic"),
        witness=WITNESS | {"c": "1/3"},
    ),
)
