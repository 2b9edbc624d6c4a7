"""The generalised scheme: a differential only when the difference is small, chance alpha in every state."""

from typing import Any

from aoi_tools.models.schemes import Actual, Feedback, Generalised
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, problem, stated
from proofs_check.claims.age.feedback import NOT_WORSE

PDA = Fractions("p", "d", "alpha")
P, D, ALPHA = PDA.gens
MORE = Fractions("p", "d", "alpha", "delta")
ALPHAS = DOMAIN | {"alpha": ["alpha", ">="], "beta": ["1-alpha", ">="]}
WITNESS = {"p": "1/2", "d": "1/10", "alpha": "1/2", "delta": "1/4"}
DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-actual", "scheme-feedback", "scheme-generalised")


def _problem() -> dict[str, Any]:
    schemes = {
        "actual": Actual(P),
        "feedback": Feedback(P, D),
        "generalised": Generalised(P, D, ALPHA),
    }
    return problem(schemes, field=PDA, domain=ALPHAS)


def _equal_laws(alpha: int, name: str) -> Statement:
    """The generalised scheme with alpha 0 or 1 has the whole law of the other scheme."""
    other = {"actual": Actual(P), "feedback": Feedback(P, D)}[name]
    schemes = {name: other, "generalised": Generalised(P, D, alpha)}
    ends = [{"smaller": name, "larger": "generalised"}, {"smaller": "generalised", "larger": name}]
    same = [(f"{what}_generalised", "=", f"{what}_{name}") for what in ("mean", "second", "failure")]
    return Statement("levels", problem(schemes, field=PDA, domain=ALPHAS), stated(*same, orders=ends))


def _decreasing() -> Statement:
    """alpha + delta against alpha."""
    p, d, alpha, delta = MORE.gens
    schemes = {"more": Generalised(p, d, alpha + delta), "less": Generalised(p, d, alpha)}
    domain = DOMAIN | {"alpha": ["alpha", ">="], "delta": ["delta", ">="], "beta": ["1-alpha-delta", ">="]}
    order = [{"smaller": "more", "larger": "less", "assume": NOT_WORSE}]
    return Statement("levels", problem(schemes, field=MORE, domain=domain), stated(orders=order))


CLAIMS = (
    Claim(
        id="age.generalised.contains-both",
        text="The generalised scheme is the actual scheme at alpha = 0 and the feedback scheme at alpha = 1: equal laws at"
        " every level.",
        latex=r"J_{\mathrm{generalised}(0)} \sim J_{\mathrm{actual}},\quad J_{\mathrm{generalised}(1)} \sim"
        r" J_{\mathrm{feedback}}",
        source=Source(("P7",), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_equal_laws(0, "actual"), _equal_laws(1, "feedback")),
        assumptions=ASSUMPTIONS,
        argument="Equal tails at two levels and one recurrence; the order holds both ways.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.generalised.order",
        text="For d <= p: feedback <= generalised(alpha) <= actual stochastically, and the slot age decreases in alpha;"
        " for d > p and 0 < alpha < 1 both orders fail.",
        latex=r"d \le p \implies J_{\mathrm{feedback}} \le_{\mathrm{st}} J_{\mathrm{generalised}(\alpha)}"
        r" \le_{\mathrm{st}} J_{\mathrm{actual}}",
        source=Source(("P7",), "states"),
        scope=Scope.ALL,
        statement=lambda: together(
            Statement(
                "levels",
                _problem(),
                stated(
                    (
                        "tail_generalised_1",
                        ">",
                        "tail_actual_1",
                        {"assume": {"e": ["d-p", ">"], "u": ["alpha", ">"]}},
                    ),
                    (
                        "tail_feedback_1",
                        ">",
                        "tail_generalised_1",
                        {"assume": {"e": ["d-p", ">"], "v": ["1-alpha", ">"]}},
                    ),
                    orders=[
                        {"smaller": "feedback", "larger": "generalised", "assume": NOT_WORSE},
                        {"smaller": "generalised", "larger": "actual", "assume": NOT_WORSE},
                    ],
                ),
            ),
            _decreasing(),
        ),
        assumptions=ASSUMPTIONS + "; a difference is small with chance alpha in every state, 0 <= alpha <= 1",
        argument="All tails multiply by p from level 1 on; at level 1 they are x/(1-p+x), increasing in"
        " x = p - alpha (p-d).",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.generalised.gain",
        text="The generalised scheme lowers the mean slot age of actual updates by alpha D/(1 - alpha D), D = p-d.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{generalised}} = \frac{\alpha D}{1-\alpha D}",
        source=Source(("P7",), "sharpens"),
        scope=Scope.ALL,
        statement=lambda: Statement(
            "levels",
            _problem(),
            stated(("mean_actual - mean_generalised", "=", "alpha*(p-d)/(1-alpha*(p-d))")),
        ),
        assumptions=ASSUMPTIONS + "; a difference is small with chance alpha in every state, 0 <= alpha <= 1",
        argument="Both means are finite sums and one geometric series in p; their difference is a rational identity.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
)
