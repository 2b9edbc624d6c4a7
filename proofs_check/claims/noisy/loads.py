"""At which loads errors at every gap beat random routing, for given d and eps: intervals that cover the stable loads."""

from fractions import Fraction

from meanfield.models.noisy import PowerOfD
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated
from proofs_check.claims.noisy.independent import DEFINITIONS, MODEL

D, EPS, STEP = 3, "2/5", 400
CRITICAL = Fraction(5, 6)  # 1/(d eps)
WORSE = ((11, 99), (325, 333))  # from, to: intervals [i, i+1]/STEP
BETTER = ((117, 200, 1), (200, 290, 10), (290, 321, 1))  # from, to, width: intervals [i, i + width]/STEP


def _worse(low: Fraction, high: Fraction) -> Statement:
    """The mean response at ``low`` is at least 1/(1 - high)."""
    return _bounds(low, [str(low / (1 - high)), "1000"])


def _better(low: Fraction, high: Fraction) -> Statement:
    """The mean response at ``high`` is at most 1/(1 - low)."""
    return _bounds(high, ["0", str(high / (1 - low))])


def _bounds(load: Fraction, mean_queue: list[str]) -> Statement:
    policy = PowerOfD(load, D, None, EPS)
    problem = {"load": str(policy.load), "eps": str(policy.eps), "d": policy.d, "g": policy.g}
    return Statement("fixed-point", problem, {"mean_queue": mean_queue})


def intervals() -> list[tuple[Fraction, Fraction, bool]]:
    """Return (low, high, worse), ascending; what lies between is not decided."""
    found = [(Fraction(i, STEP), Fraction(i + 1, STEP), True) for a, b in WORSE for i in range(a, b)]
    found += [(Fraction(i, STEP), Fraction(i + w, STEP), False) for a, b, w in BETTER for i in range(a, b, w)]
    return sorted([*found, (Fraction(WORSE[-1][1], STEP), CRITICAL, True)])


def undecided() -> list[tuple[Fraction, Fraction]]:
    """Return the gaps of the cover, from the end of the range of light traffic on."""
    at, gaps = (1 - 1 / (D * Fraction(EPS))) / (2 * D), []
    for low, high, _ in intervals():
        if low > at:
            gaps.append((at, low))
        at = high
    return gaps


def _cover() -> Statement:
    """Where the intervals leave gaps, and how long these are together."""
    gaps = undecided()
    length = "+".join(f"({b}-{a})" for a, b in gaps)
    return Statement("sign", {"variables": [], "domain": {}}, stated((length, "<=", "3/50")))


def _grows() -> Statement:
    """x_k/lam = h(x_(k-1)) increases with lam: from x <= y at loads l <= m to l s <= m t with s = h(x) <= t = h(y)."""
    return Statement(
        "induction",
        {
            "variables": ["l", "m"],
            "domain": {"l": ["l", ">"], "m": ["m-l", ">="]},
            "state": ["x", "y"],
            "starts": [{"x": "l", "y": "m"}],
            "steps": {
                "level": {
                    "set": {"x": "l*s", "y": "m*t"},
                    "free": ["s", "t"],
                    "guard": {"s": ["s", ">="], "w": ["t-s", ">="]},
                }
            },
        },
        stated(("x", "<=", "y")),
    )


CLAIMS = (
    Claim(
        id="noisy.independent.where-worse",
        text="d = 3, errors at every gap with chance 2/5: worse than random routing for loads in (0, 99/400] and [13/16, 5/6),"
        " better for loads in [117/400, 321/400]; loads of total length below 3/50 are not decided.",
        latex=r"d=3,\ \varepsilon=\tfrac25:\quad E T > \frac{1}{1-\lambda} \text{ or } E T < \frac{1}{1-\lambda}",
        source=Source((), "ours"),
        scope=Scope.BOX,
        statement=lambda: together(
            _grows(),
            _cover(),
            *(_worse(low, high) if worse else _better(low, high) for low, high, worse in intervals()),
        ),
        assumptions=MODEL + "; limit of many servers; stable loads are those below 5/6",
        argument="The mean response sum x_k/lam increases with the load (part 1), as does 1/(1-lam). On an interval [a, b] it is"
        " enough that the mean response at a is at least 1/(1-b), or that at b at most 1/(1-a): one certified fixed point an"
        " interval. The loads below 1/36 belong to light traffic.",
        definitions=DEFINITIONS,
        uses=("noisy.dependent.light-traffic",),
        witness={"l": "1/4", "m": "1/2"},
    ),
)
