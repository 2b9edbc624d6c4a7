"""No feedback: other reference schedules, gaps instead of ages; and what feedback may cost."""

from aoi_tools.models.schedules import Schedule
from aoi_tools.models.schemes import Actual, Feedback, Periodic
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, WITNESS, D, P, problem, stated

COST = Fractions("p", "d", "n", "f")
SCHEDULES = {
    "star2": (0, 1, 2),
    "leapfrog": (0, 0, 2, 2),
    "skip": (0, 1, 0, 2),
    "chain2": (0, 1, 1),
}


def _schedules() -> Statement:
    schemes = {name: Schedule(P, D, lags) for name, lags in SCHEDULES.items()}
    orders = [{"smaller": "actual", "larger": name} for name in SCHEDULES]
    inside = {symbol: [text, ">"] for symbol, (text, _) in DOMAIN.items()}
    return Statement("levels", problem({"actual": Actual(P), **schemes}, domain=inside), stated(orders=orders))


def _gaps() -> Statement:
    """d = 0 and q = 1: P(Z > j) = P(J = j)/P(J = 0) is smaller than p^j at j = 1 and larger at j = 3."""
    field = Fractions("p")
    (p,) = field.gens
    laws = {"actual": Actual(p), "periodic": Periodic(p, 0, 1)}
    domain = {"p": ["p", ">"], "a": ["1-p", ">"]}
    return Statement(
        "levels",
        problem(laws, field=field, domain=domain),
        stated(
            ("pmf_periodic_1/pmf_periodic_0", "<", "pmf_actual_1/pmf_actual_0"),
            ("pmf_periodic_3/pmf_periodic_0", ">", "pmf_actual_3/pmf_actual_0", {"assume": {"h": ["1-2*p", ">"]}}),
            ("gap_periodic", "=", "gap_actual"),
        ),
    )


def _break_even() -> Statement:
    """f channel uses of feedback a slot of n: ages n(1+J)+V with V uniform on the slot, at both ends of a codeword."""
    p, d, _, _ = COST.gens
    domain = DOMAIN | {"n": ["n", ">"], "f": ["f", ">="]}
    actual, feedback = "(n-1)/2 + n*(1 + mean_actual)", "(n+f-1)/2 + (n+f)*(1 + mean_feedback)"
    budget = "(mean_actual - mean_feedback)*n - f*(3/2 + mean_feedback)"
    return Statement(
        "levels",
        problem({"actual": Actual(p), "feedback": Feedback(p, d)}, field=COST, domain=domain),
        stated(
            (f"{actual} - ({feedback})", "=", budget),
            ("mean_actual - mean_feedback", "=", "(p-d)/(1-(p-d))"),
            ("3/2 + mean_feedback", ">", "0"),
        ),
    )


CLAIMS = (
    Claim(
        id="age.schedule.no-forest-beats-actual",
        text="No feedback-free schedule of actual and referenced updates has a stochastically smaller age than actual"
        " updates; here star, leapfrog, skipping and chained references, all 0 < p < 1 and 0 < d < 1.",
        latex=r"J_{\mathrm{actual}} \le_{\mathrm{st}} J_{\mathrm{schedule}}",
        source=Source(("P5",), "sharpens"),
        scope=Scope.INSTANCE,
        statement=_schedules,
        assumptions=ASSUMPTIONS
        + "; 0 < p < 1, 0 < d < 1; schedules with reference lags (0,1,2), (0,0,2,2), (0,1,0,2), (0,1,1)",
        argument="In general: references form a forest, the packets of j slots hang on at most j different actual updates, and"
        " none usable has chance at least p^j. The certificate holds the order at every level for four schedules.",
        definitions=("slot-age", "scheme-actual", "scheme-schedule"),
        witness=WITNESS,
    ),
    Claim(
        id="age.order.gaps-not-ordered",
        text="The gaps between usable updates of actual and periodic updates are not ordered: for d = 0, q = 1 their means"
        " agree, P(Z > 1) is smaller for periodic and P(Z > 3) larger (p < 1/2).",
        latex=r"P(Z_{\mathrm{periodic}}>1) < P(Z_{\mathrm{actual}}>1),\quad P(Z_{\mathrm{periodic}}>3) >"
        r" P(Z_{\mathrm{actual}}>3)",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=_gaps,
        assumptions="d = 0, q = 1, 0 < p < 1",
        argument="P(Z > j) = P(J = j)/P(J = 0); both laws at every level, compared at levels 1 and 3.",
        definitions=("gap", "scheme-actual", "scheme-periodic"),
        witness={"p": "1/4"},
    ),
    Claim(
        id="age.feedback.break-even-cost",
        text="If feedback costs f further channel uses in each slot of n, it pays exactly when f/n < (D/(1-D))/(3/2 + mean slot"
        " age with feedback).",
        latex=r"\frac{f}{n} < \frac{D/(1-D)}{3/2 + E J_{\mathrm{feedback}}}",
        source=Source(("P8",), "sharpens", "own cost model"),
        scope=Scope.ALL,
        statement=_break_even,
        assumptions=ASSUMPTIONS + "; slot of n + f uses, p and d unchanged, age read at every channel use",
        argument="The difference of the two mean ages in channel uses is n D/(1-D) - f (3/2 + E J), a rational identity, with a"
        " positive factor of f.",
        definitions=("age", "scheme-actual", "scheme-feedback"),
        witness=WITNESS | {"n": "10", "f": "1"},
    ),
)
