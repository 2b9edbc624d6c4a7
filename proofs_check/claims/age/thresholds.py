"""Thresholds on named sources: where the best one lies."""

from aoi_tools.models.codes import RandomParityCheck
from aoi_tools.models.markov import Markov
from aoi_tools.models.source_library import circulant
from aoi_tools.models.windows import window
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement
from proofs_check.claims.age.domains import blocks, stated

ANY = Fractions("t")  # no parameter is used
DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-markov", "window", "code-rpc")
WINDOWS = {0: "0..0", 1: "-1..0", 2: "-2..1", 3: "all"}

# cyclic walk on 8 states, symmetric
CYCLIC = ("1/2", "1/8", "1/16", "1/32", "1/16", "1/32", "1/16", "1/8")


def _thresholds(n: int, bits: int, eps: str, best: int) -> Statement:
    """The mean slot age at every threshold k, of the cyclic source, with a code of k or of all bits."""
    source, laws = circulant(CYCLIC), {}
    actual = RandomParityCheck(n, bits, eps)
    for k, small in WINDOWS.items():
        scheme = Markov(actual, RandomParityCheck(n, k, eps), source, window(small))
        laws[f"k{k}"] = blocks(scheme.blocks(ANY), ANY)
    others = (k for k in WINDOWS if k != best)
    return Statement(
        "levels",
        {"variables": [], "domain": {}, "laws": laws},
        stated(*((f"mean_k{best}", "<", f"mean_k{k}") for k in others)),
    )


CLAIMS = (
    Claim(
        id="age.markov.interior-threshold",
        text="Cyclic source with 8 states, random parity check of length 10 with 3 bits, eps = 2/5: the best threshold is"
        " k = 1, strictly inside 0..3.",
        latex=r"k^*=1 \quad\text{for } (n,m,\varepsilon)=(10,3,2/5)",
        source=Source(("P6",), "states"),
        scope=Scope.INSTANCE,
        statement=lambda: _thresholds(10, 3, "2/5", 1),
        assumptions="windows {0}, {-1,0}, {-2..1}, everything for k = 0..3; differences of k bits, actual updates of 3 bits",
        argument="The exact laws at the four thresholds; their means compare as rational numbers.",
        definitions=DEFINITIONS,
    ),
    Claim(
        id="age.markov.boundary-threshold",
        text="The same source with length 4 and eps = 1/2: the best threshold is k = 0, there is no optimum inside.",
        latex=r"k^*=0 \quad\text{for } (n,m,\varepsilon)=(4,3,1/2)",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=lambda: _thresholds(4, 3, "1/2", 0),
        assumptions="windows {0}, {-1,0}, {-2..1}, everything for k = 0..3; differences of k bits, actual updates of 3 bits",
        argument="The exact laws at the four thresholds; their means compare as rational numbers.",
        definitions=DEFINITIONS,
    ),
)
