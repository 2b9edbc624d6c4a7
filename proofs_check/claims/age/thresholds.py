"""Thresholds on named sources: where the best one lies, and where the lower bound of the gain fails."""

from aoi_tools.models.codes import RandomParityCheck
from aoi_tools.models.markov import Markov
from aoi_tools.models.schemes import Actual
from aoi_tools.models.source_library import circulant
from aoi_tools.models.sources import Source as MarkovSource
from aoi_tools.models.windows import window
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict
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


def _bound(source: MarkovSource, small: str, D: str, sides: tuple[str, str]) -> Statement:
    """Gain against alpha D/(1 - alpha D); alpha is the failure probability of a scheme that resets at large changes."""
    p, chosen = D, window(small)
    near, far = source.split(chosen)
    size = range(source.size)
    small_or_large = tuple([[ANY.convert(part[i].get(j, 0)) for j in size] for i in size] for part in (near, far))
    laws = {
        "actual": blocks(Actual(p).blocks(ANY), ANY),
        "markov": blocks(Markov(p, 0, source, chosen).blocks(ANY), ANY),
        "change": blocks(small_or_large, ANY),
    }
    bound = f"failure_change*({D})/(1-failure_change*({D}))"
    return Statement(
        "counterexample",
        {"variables": [], "domain": {}, "laws": laws, "statement": ["mean_actual - mean_markov", ">=", bound]},
        {"at": {}, "left": sides[0], "right": sides[1]},
    )


def _asymmetric() -> Statement:
    return _bound(MarkovSource.of([["1/6", "5/6"], ["1", "0"]]), "-1..0", "9/10", ("108/187", "27/28"))


def _non_reversible() -> Statement:
    """Three states that mostly turn 0 -> 1 -> 2 -> 0; from 2 the change of -2 is large."""
    return _bound(MarkovSource.of([["0", "1", "0"], ["0", "0", "1"], ["1", "0", "0"]]), "-1..1", "1/2", ("5/12", "1/2"))


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
    Claim(
        id="age.markov.gain-lower-bound.non-reversible",
        text="The gain is at least alpha D/(1 - alpha D) for every source, reversible or not, with a symmetric window.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} \ge \frac{\alpha D}{1-\alpha D} \quad\text{without reversibility}",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=_non_reversible,
        assumptions="symmetric window {-1,0,1}; D = 1/2; a rotation of three states",
        argument="A rotation 0, 1, 2, 0, ..: two small steps, then a large one. The gain is 5/12, the bound 1/2.",
        definitions=DEFINITIONS,
        expected=Verdict.REFUTED,
    ),
    Claim(
        id="age.markov.gain-lower-bound.asymmetric-window",
        text="The gain is at least alpha D/(1 - alpha D) for every reversible source and every window.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} \ge \frac{\alpha D}{1-\alpha D} \quad\text{for } W \ne -W",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=_asymmetric,
        assumptions="two states with matrix [[1/6, 5/6], [1, 0]], window {-1, 0}, D = 9/10",
        argument="Exact laws: the gain is 108/187, the bound 27/28.",
        definitions=DEFINITIONS,
        expected=Verdict.REFUTED,
    ),
)
