"""Differences to the last decoded state, against differences to the state one slot ago, against none."""

from itertools import pairwise
from typing import Any

from aoi_tools.models.markov import LastDecoded, Markov
from aoi_tools.models.schemes import Actual
from aoi_tools.models.sources import Source as MarkovSource
from aoi_tools.models.windows import window
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import ASSUMPTIONS, DOMAIN, WITNESS, blocks

FIELD = Fractions("p", "d", "u", "v")
WINDOWS = ("0..0", "-1..0", "0..1")  # every window that holds 0 and not everything


def _orders(small: str) -> list[Statement]:
    """Any source of two states: 0 -> 1 with chance u, 1 -> 0 with chance v."""
    p, d, u, v = FIELD.gens
    source = MarkovSource.of([[1 - u, u], [v, 1 - v]], domain=FIELD)
    schemes = [LastDecoded(p, d, source, window(small)), Markov(p, d, source, window(small)), Actual(p)]
    chances = {"u": ["u", ">="], "x": ["1-u", ">="], "v": ["v", ">="], "y": ["1-v", ">="], "e": ["p-d", ">="]}
    texts: list[Any] = [blocks(scheme.blocks(FIELD), FIELD) for scheme in schemes]
    return [
        Statement(
            "coupling",
            {
                "variables": list(FIELD.names),
                "domain": DOMAIN | chances,
                "smaller": smaller,
                "larger": larger,
            },
            {"order": "smaller <= larger"},
        )
        for smaller, larger in pairwise(texts)
    ]


CLAIMS = (
    Claim(
        id="age.markov.last-decoded-order",
        text="For d <= p and every source of two states: last-decoded <= markov <= actual stochastically, even path by path.",
        latex=r"J_{\mathrm{last\ decoded}} \le_{\mathrm{st}} J_{\mathrm{markov}} \le_{\mathrm{st}} J_{\mathrm{actual}}",
        source=Source((), "ours"),
        scope=Scope.ALL,
        statement=lambda: together(*(s for small in WINDOWS for s in _orders(small))),
        assumptions=ASSUMPTIONS + "; d <= p; two source states, irreducible; windows {0}, {-1,0}, {0,1}",
        argument="One source path and one uniform number a slot for all schemes: a codeword is lost where the number is below"
        " its loss probability. Whenever the Markov scheme may send a difference, the last decoded state is the previous"
        " one, so the other scheme may too; hence its codeword is lost no more easily. The same argument covers any"
        " number of states.",
        definitions=("slot-age", "failure-probabilities", "scheme-markov", "scheme-last-decoded"),
        witness=WITNESS | {"u": "1/3", "v": "1/4"},
    ),
)
