"""Where the lower bound of the gain fails: windows that are not symmetric, sources that are not reversible."""

from typing import Any

from aoi_tools.models.markov import Markov
from aoi_tools.models.schemes import Actual
from aoi_tools.models.sources import Source as MarkovSource
from aoi_tools.models.windows import window
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict, together
from proofs_check.claims.age.domains import blocks, stated

ANY = Fractions("t")  # no parameter is used
TWO = Fractions("a", "b", "D")
TURN = Fractions("u", "D")
FASTER = "(2*u-1)^2*(3+4*D) - 1"  # positive where three states that turn fall below the bound
DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-markov", "window")
Matrix = list[list[Any]]


def two_states(a: Any, b: Any, field: Any = TWO) -> MarkovSource:
    """Return the source that leaves 0 with chance a and 1 with chance b."""
    a, b = field.convert(a), field.convert(b)
    return MarkovSource.of([[1 - a, a], [b, 1 - b]], domain=field)


def rotation(u: Any, field: Any = TURN) -> MarkovSource:
    """Return three states: the next of 0, 1, 2, 0 with chance u, otherwise the one before."""
    u, rest = field.convert(u), 1 - field.convert(u)
    return MarkovSource.of([[0, u, rest], [rest, 0, u], [u, rest, 0]], domain=field)


def gain_and_bound(source: MarkovSource, small: str, D: Any, field: Any) -> tuple[Any, Any]:
    """Return the gain w 1 - 1, w (I - D K) = nu, and alpha D/(1 - alpha D) with alpha = nu K 1, K the small changes."""
    near, _ = source.split(window(small))
    size, zero, one, D = range(source.size), field.convert(0), field.convert(1), field.convert(D)
    K, move = ([[field.convert(rows[i].get(j, 0)) for j in size] for i in size] for rows in (near, source.rows))
    balance = [[move[j][i] - (one if i == j else zero) for j in size] for i in size[:-1]]
    nu = field.solve([*balance, [one for _ in size]], [zero for _ in size[:-1]] + [one])
    w = field.solve([[(one if i == j else zero) - D * K[j][i] for j in size] for i in size], nu)
    alpha = sum((nu[i] * x for i in size for x in K[i]), zero)
    return sum(w, zero) - 1, alpha * D / (1 - alpha * D)


def _instance(rows: Matrix, small: str, D: str, sides: tuple[str, str]) -> Statement:
    """Gain against alpha D/(1 - alpha D); alpha is the failure probability of a scheme that resets at large changes."""
    source, chosen = MarkovSource.of(rows), window(small)
    near, far = source.split(chosen)
    size = range(source.size)
    small_or_large = tuple([[ANY.convert(part[i].get(j, 0)) for j in size] for i in size] for part in (near, far))
    laws = {
        "actual": blocks(Actual(D).blocks(ANY), ANY),
        "markov": blocks(Markov(D, 0, source, chosen).blocks(ANY), ANY),
        "change": blocks(small_or_large, ANY),
    }
    bound = f"failure_change*({D})/(1-failure_change*({D}))"
    return Statement(
        "counterexample",
        {"variables": [], "domain": {}, "laws": laws, "statement": ["mean_actual - mean_markov", ">=", bound]},
        {"at": {}, "left": sides[0], "right": sides[1]},
    )


def _every_two_states() -> Statement:
    """Every irreducible source of two states and every D: below the bound, unless D = 0."""
    gain, bound = (TWO.text(x) for x in gain_and_bound(two_states(*TWO.gens[:2]), "-1..0", TWO["D"], TWO))
    sides = {"a": ["a", ">"], "a1": ["1-a", ">="], "b": ["b", ">"], "b1": ["1-b", ">="]}
    return Statement(
        "sign",
        {"variables": list(TWO.names), "domain": sides | {"D1": ["1-D", ">"], "D2": ["1+D", ">"]}},
        stated((gain, "<", bound, {"assume": {"s": ["D^2", ">"]}})),
    )


def _where_turning() -> Statement:
    """Three states that turn one way with chance u, 0 < D < 1: below the bound iff (2u-1)^2 (3+4D) > 1."""
    gain, bound = (TURN.text(x) for x in gain_and_bound(rotation(TURN["u"]), "-1..1", TURN["D"], TURN))
    return Statement(
        "sign",
        {
            "variables": list(TURN.names),
            "domain": {"u": ["u", ">="], "v": ["1-u", ">="], "D": ["D", ">"], "D1": ["1-D", ">"]},
        },
        stated(
            (gain, "<", bound, {"assume": {"f": [FASTER, ">"]}}),
            (gain, ">=", bound, {"assume": {"f": [f"-({FASTER})", ">="]}}),
        ),
    )


def _asymmetric() -> Statement:
    return together(
        _instance([["0", "1"], ["1", "0"]], "-1..0", "1/2", ("1/4", "1/3")),
        _instance([["1/6", "5/6"], ["1", "0"]], "-1..0", "9/10", ("108/187", "27/28")),
        _every_two_states(),
    )


def _non_reversible() -> Statement:
    """Three states that turn 0 -> 1 -> 2 -> 0; from 2 the change of -2 is large."""
    rows = [["0", "1", "0"], ["0", "0", "1"], ["1", "0", "0"]]
    return together(_instance(rows, "-1..1", "1/2", ("5/12", "1/2")), _where_turning())


CLAIMS = (
    Claim(
        id="age.markov.gain-lower-bound.non-reversible",
        text="The gain is at least alpha D/(1 - alpha D) for every source, reversible or not, with a symmetric window.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} \ge \frac{\alpha D}{1-\alpha D} \quad\text{without reversibility}",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=_non_reversible,
        assumptions="symmetric window {-1,0,1}; D = 1/2; a rotation of three states",
        argument="A rotation 0, 1, 2, 0, ..: two small steps, then a large one. The gain is 5/12, the bound 1/2. For three"
        " states that turn one way with chance u the gain is a rational function of u and D (part 2).",
        definitions=DEFINITIONS,
        expected=Verdict.REFUTED,
        uses=("age.markov.gain-series",),
        witness={"u": "3/4", "D": "1/2"},
        fails="three states that turn 0, 1, 2, 0 with chance u and back with chance 1-u, window {-1,0,1}, 0 < D < 1: exactly"
        " where (2u-1)^2 > 1/(3+4D)",
    ),
    Claim(
        id="age.markov.gain-lower-bound.asymmetric-window",
        text="The gain is at least alpha D/(1 - alpha D) for every reversible source and every window.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} \ge \frac{\alpha D}{1-\alpha D} \quad\text{for } W \ne -W",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=_asymmetric,
        assumptions="two states (always reversible), window {-1, 0}; two of them with matrix [[0, 1], [1, 0]], D = 1/2, and"
        " with matrix [[1/6, 5/6], [1, 0]], D = 9/10",
        argument="Exact laws: the gain is 1/4, the bound 1/3; and 108/187 against 27/28. For any chances a, b to leave the two"
        " states gain minus bound is -D^2 a^2 b^2 over a positive product (part 3).",
        definitions=DEFINITIONS,
        expected=Verdict.REFUTED,
        uses=("age.markov.gain-series",),
        witness={"a": "5/6", "b": "1", "D": "9/10"},
        fails="two states and window {-1,0}: for every irreducible source and every D with 0 < |D| < 1; at D = 0 both sides"
        " are 0",
    ),
)
