"""No feedback: one actual update and then q chained differentials, for every q."""

import re
from typing import Any

from aoi_tools.models.schemes import Actual, Periodic
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.cycle import moment_system
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, PD, WITNESS, D, P, problem, stated

DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-actual", "scheme-periodic")
SOME_LOSS = ({"assume": {"u": ["p", ">"]}}, {"assume": {"u": ["d", ">"]}})


def _means(*statements: Any, q: int) -> Statement:
    """State something of the mean for every period from q + 1 slots on."""
    system = moment_system(Periodic(P, D, 1).rules(PD), PD)
    whole = system.problem(domain=DOMAIN)
    if q == 1:  # the period of two slots is one step after the period of one
        whole["starts"] = [_after(whole["steps"]["next"]["set"], whole["starts"][0])]
    return Statement("induction", whole, stated(*statements))


def _after(step: dict[str, str], start: dict[str, str]) -> dict[str, str]:
    """Return the state after one step from a start, by putting texts into texts."""
    return {
        name: re.sub(r"[A-Za-z]\w*", lambda word: f"({start[word[0]]})" if word[0] in start else word[0], text)
        for name, text in step.items()
    }


def _lossless() -> Statement:
    """p = d = 0: the mean is zero for every period, as for actual updates."""
    rules = Periodic(0, 0, 1).rules(PD)
    system = moment_system(rules, PD, variables=())
    return Statement("induction", system.problem(domain={}), stated(("mean", "=", "0")))


def _order() -> Statement:
    """P(J >= j) against p^j at every position, from every position's law, through any sequence of slots."""
    rules, (up_actual, _) = Periodic(P, D, 1).rules(PD), Actual(P).blocks(PD)
    ratio = PD.text(PD.convert(up_actual[0][0]))
    state = ["alive", "dead", "x_alive", "x_dead", "y"]
    first = rules["first"]
    start = {phase: PD.text(PD.convert(first[0][0][j] + first[1][0][j])) for j, phase in enumerate(("alive", "dead"))}
    steps = {name: {"set": _advance(rule, ratio)} for name, rule in rules.items()}
    same = {"alive": "alive", "dead": "dead"}
    steps["level_zero"] = {"set": {**same, "x_alive": "alive", "x_dead": "dead", "y": "1"}}
    return Statement(
        "induction",
        {
            "variables": ["p", "d"],
            "domain": DOMAIN,
            "state": state,
            "starts": [{**start, "x_alive": start["alive"], "x_dead": start["dead"], "y": "1"}],
            "steps": steps,
        },
        stated(("x_alive + x_dead", ">=", "y")),
    )


def _advance(rule: Any, ratio: str) -> dict[str, str]:
    """Return how one slot moves the phase law, the tail vector and the power of p."""
    up, reset = rule
    text = [[f"({PD.text(PD.convert(x))})" for x in row] for row in up]
    whole = [
        [f"({PD.text(PD.convert(x + y))})" for x, y in zip(*rows, strict=True)] for rows in zip(up, reset, strict=True)
    ]
    moved = {"y": f"({ratio})*y"}
    for j, phase in enumerate(("alive", "dead")):
        moved[phase] = f"alive*{whole[0][j]} + dead*{whole[1][j]}"
        moved[f"x_{phase}"] = f"x_alive*{text[0][j]} + x_dead*{text[1][j]}"
    return moved


def _actual_tail() -> Statement:
    return Statement(
        "levels",
        problem({"actual": Actual(P)}),
        stated(("tail_actual_1", "=", "p"), laws={"actual": {"pmf": ["1-p", "(1-p)*p"], "period": 1, "ratio": "p"}}),
    )


CLAIMS = (
    Claim(
        id="age.periodic.never-improves",
        text="Without feedback, periodic differential updates never have a smaller mean age than actual updates, for every"
        " q >= 1; equal iff p = d = 0.",
        latex=r"E J_{\mathrm{periodic}(q)} \ge E J_{\mathrm{actual}} \quad\text{for every } q \ge 1",
        source=Source(("P5", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(
            _means(*(("mean", ">", "p/(1-p)", some) for some in SOME_LOSS), q=1), _lossless(), _actual_tail()
        ),
        assumptions=ASSUMPTIONS,
        argument="Induction over q: at each further position the age can only have grown since the actual update, and the"
        " excess over p/(1-p) is a sum of nonnegative terms, positive unless p = d = 0.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.periodic.increases-with-q",
        text="Without feedback, the mean age strictly increases with q >= 0 unless p = d = 0, when it is zero.",
        latex=r"E J_{\mathrm{periodic}(q+1)} > E J_{\mathrm{periodic}(q)} \quad\text{unless } p=d=0",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(
            _means(*(("mean_after_next", ">", "mean", some) for some in SOME_LOSS), q=0), _lossless()
        ),
        assumptions=ASSUMPTIONS,
        argument="Induction over q with the invariant L (m + 1 - b alive) - A >= 1 - ab: the newest position is worse than"
        " the average of the others.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
    Claim(
        id="age.order.actual-periodic",
        text="The slot age of actual updates is stochastically at most that of periodic updates, for every q, at every"
        " position of the period.",
        latex=r"J_{\mathrm{actual}} \le_{\mathrm{st}} J_{\mathrm{periodic}(q)}",
        source=Source(("P7", "P8"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_order(), _actual_tail()),
        assumptions=ASSUMPTIONS,
        argument="Follow P(J >= j, phase) slot by slot from the law at any position, through any sequence of actual and"
        " differential updates: it stays at least p^j.",
        definitions=DEFINITIONS,
        witness=WITNESS,
    ),
)
