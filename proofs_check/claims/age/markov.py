"""Differential updates of a finite Markov source with a threshold: statements for every source of every size.

Letters: x = level-0 vector pi_0, nu = stationary law of the source, P its matrix, K = P restricted to small
differences, e = column of ones, y and z the level vectors pi_j and pi_(j+1).
"""

from typing import Any

from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

ASSUMPTIONS = (
    "P irreducible (a period is allowed) with stationary law nu, 0 <= p < 1, 0 <= d <= 1, |D| < 1 with D = p-d;"
    " one codeword a slot, i.i.d. erasures, perfect feedback"
)
DEFINITIONS = ("slot-age", "failure-probabilities", "scheme-markov", "window")


def _law() -> Statement:
    """Balance at level 0, with all mass nu - x above level 0 resetting by (1-p) P, gives x (I - D K) = (1-p) nu.

    Beyond level 0 the chain goes up by p P, so the mass z e of level j + 1 is p times that of level j.
    """
    balance = [
        ["1", ["x"]],
        ["-(1-d)", ["x", "K"]],
        ["-(1-p)", ["x", "P"]],
        ["(1-p)", ["x", "K"]],
        ["-(1-p)", ["nu", "P"]],
        ["(1-p)", ["x", "P"]],
    ]
    invariant = [["1", ["nu", "P"]], ["-1", ["nu"]]]
    stochastic = [["1", ["P", "e"]], ["-1", ["e"]]]
    up = [["1", ["z"]], ["-p", ["y", "P"]]]
    return Statement(
        "words",
        {
            "scalars": ["p", "d"],
            "letters": ["x", "nu", "P", "K", "e", "y", "z"],
            "given": [balance, invariant, stochastic, up],
        },
        {
            "zero": [
                [["1", ["x"]], ["-(p-d)", ["x", "K"]], ["-(1-p)", ["nu"]]],
                [["1", ["z", "e"]], ["-p", ["y", "e"]]],
            ]
        },
    )


def _series() -> Statement:
    """w (I - D K) = nu: one more term of the series leaves the same kind of remainder.

    term = D^i nu K^i and rest = D^i w K^i satisfy rest = term + D rest K; multiplying by D K goes from i to i + 1.
    """
    start = [["1", ["w"]], ["-1", ["nu"]], ["-D", ["w", "K"]]]
    here = [["1", ["rest"]], ["-1", ["term"]], ["-D", ["rest", "K"]]]
    return Statement(
        "words",
        {"scalars": ["D"], "letters": ["w", "nu", "K", "rest", "term"], "given": [start, here]},
        {
            "zero": [
                [["1", ["w"]], ["-1", ["nu"]], ["-D", ["nu", "K"]], ["-D^2", ["w", "K", "K"]]],
                [["D", ["rest", "K"]], ["-D", ["term", "K"]], ["-D^2", ["rest", "K", "K"]]],
            ]
        },
    )


def _metrics() -> Statement:
    """Partial sums of the law P(J = j) = (1-s) (1-p) p^(j-1), j >= 1, with what is left after level j.

    t = p^(j-1); the states are (1-p)^r times the sum of i^r P(J = i) over i = 1..j.  Every remainder has a factor p^j.
    """
    states = {f"sum{r}": r for r in range(3)}
    step = {name: f"{name} + (1-s)*(1-p)^{r + 1}*p*t*(j+1)^{r}" for name, r in states.items()}
    return Statement(
        "induction",
        {
            "variables": ["p", "s"],
            "domain": {"p": ["p", ">="], "a": ["1-p", ">"], "s": ["s", ">="], "u": ["1-s", ">="]},
            "state": ["j", "t", *states],
            "starts": [{"j": "1", "t": "1", **{name: f"(1-s)*(1-p)^{r + 1}" for name, r in states.items()}}],
            "steps": {"level": {"set": {"j": "j+1", "t": "p*t", **step}}},
            "define": {"mass": "sum0", "mean": "sum1/(1-p)", "second": "sum2/(1-p)^2"},
        },
        stated(
            ("mass", "=", "(1-s) - (1-s)*p*t"),
            ("mean", "=", "(1-s)/(1-p) - (1-s)*p*t*(j + 1/(1-p))"),
            ("second", "=", "(1-s)*(1+p)/(1-p)^2 - (1-s)*p*t*(j^2 + 2*j/(1-p) + (1+p)/(1-p)^2)"),
        ),
    )


def _same_best() -> Statement:
    """Larger s lowers E f(J) = s f0 + (1-s) C and the tail of the gap, (1-s)/s times what does not depend on s."""
    return Statement(
        "sign",
        {
            "variables": ["s", "t", "f", "C"],
            "domain": {"s": ["s", ">"], "g": ["t-s", ">"], "h": ["1-t", ">="], "c": ["C-f", ">="]},
        },
        stated(
            ("t*f + (1-t)*C", "<=", "s*f + (1-s)*C"),
            ("t*f + (1-t)*C", "<", "s*f + (1-s)*C", {"assume": {"k": ["C-f", ">"]}}),
            ("(1-t)/t", "<", "(1-s)/s"),
        ),
    )


def _average_above_start() -> Statement:
    """C = sum of (1-p) p^(j-1) f(j) is at least f(0): partial sums of a nondecreasing f, one more value a step.

    low = f(0), now = f(j), left = p^j, sum = the weighted values so far; the rest weighs at least left * now.
    """
    return Statement(
        "induction",
        {
            "variables": ["p", "low", "rise"],
            "domain": {"p": ["p", ">="], "a": ["1-p", ">"], "r": ["rise", ">="]},
            "state": ["now", "left", "sum"],
            "starts": [{"now": "low", "left": "1", "sum": "0"}],
            "steps": {
                "stay": {"set": {"now": "now", "left": "p*left", "sum": "sum + (1-p)*left*now"}},
                "rise": {"set": {"now": "now+rise", "left": "left", "sum": "sum"}},
            },
        },
        stated(("sum + left*now", ">=", "low"), ("now", ">=", "low")),
    )


def _bound() -> tuple[Statement, Statement]:
    """A = I - D S with S self-adjoint, norm at most 1: A is nonnegative, and <1, x> <1, A 1> >= 1 where A x = 1.

    Pairs: <v, v> - D <v, S v> is at least the sum of nu_i K_ij (u^2 + v^2 - 2 D u v)/2, each nonnegative.
    Then 0 <= <x - t 1, A (x - t 1)> = X - 2 t + t^2 A at t = 1/A (times A^2 below), with X = <1, x> = gain + 1 and A = 1 - alpha D.
    """
    pairs = Statement(
        "sign",
        {
            "variables": ["u", "v", "D"],
            "domain": {"m": ["1-D", ">="], "n": ["1+D", ">="], "s": ["(u+v)^2", ">="], "t": ["(u-v)^2", ">="]},
        },
        stated(("u^2 + v^2 - 2*D*u*v", ">=", "0"), ("u^2 + v^2 - 2*u*v", ">=", "0"), ("u^2 + v^2 + 2*u*v", ">=", "0")),
    )
    schwarz = Statement(
        "sign",
        {
            "variables": ["X", "alpha", "D"],
            "domain": {
                "b": ["1-alpha*D", ">"],
                "q": ["(1-alpha*D)^2*X - 2*(1-alpha*D) + (1-alpha*D)", ">="],
            },
        },
        stated(("X - 1", ">=", "alpha*D/(1-alpha*D)")),
    )
    return pairs, schwarz


def claim(id: str, text: str, **more: Any) -> Claim:
    return Claim(
        id=id, text=text, **{"scope": Scope.ALL, "assumptions": ASSUMPTIONS, "definitions": DEFINITIONS, **more}
    )


CLAIMS = (
    claim(
        "age.markov.law",
        "For every irreducible source of any size: level-0 vector (1-p) nu (I - D P_k)^-1, beyond level 0 the age goes up"
        " by p P and its law is geometric with ratio p.",
        latex=r"\pi_0 = (1-p)\,\nu\,(I - D P_k)^{-1},\qquad P(J=j) = (1-s_0)(1-p)p^{j-1},\; s_0 = \pi_0 1",
        source=Source(("P6",), "states"),
        statement=_law,
        argument="A word identity: nothing about the size or the entries of P and P_k is used. The inverse exists because"
        " the rows of D P_k sum to less than one in absolute value.",
        witness={},
    ),
    claim(
        "age.markov.metrics",
        "With s0 = P(J = 0): failure 1 - s0, mean (1-s0)/(1-p), second moment (1-s0)(1+p)/(1-p)^2: every metric is a"
        " function of s0.",
        latex=r"E J = \frac{1-s_0}{1-p},\qquad E J^2 = \frac{(1-s_0)(1+p)}{(1-p)^2}",
        source=Source(("P6",), "states"),
        statement=_metrics,
        argument="Induction over the levels: partial sums with explicit remainders, each a multiple of p^j times a"
        " polynomial in j, hence vanishing in the limit. Gap mean 1/s0 and mean peak follow from renewal.",
        uses=("age.markov.law",),
        witness={"p": "1/2", "s": "1/2"},
    ),
    claim(
        "age.markov.gain-series",
        "The gain over actual updates is the sum over i >= 1 of D^i times the chance of i consecutive small differences.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} = \sum_{i\ge1} D^i\, \nu P_k^i 1",
        source=Source(("P6",), "sharpens"),
        statement=_series,
        argument="w = nu (I - D P_k)^-1 = pi_0/(1-p), and the gain is w 1 - 1. Word identities: the first term of the"
        " series with its remainder, and the step from one remainder to the next; remainders D^i w P_k^i vanish"
        " for |D| < 1.",
        uses=("age.markov.law",),
        witness={},
    ),
    claim(
        "age.markov.same-best-threshold",
        "A threshold that maximises s0 minimises every nondecreasing penalty of the age and of the gap, p being the same"
        " for all thresholds.",
        latex=r"\arg\max_k s_0(k) \subseteq \arg\min_k E f(J_k) \quad\text{for every nondecreasing } f",
        source=Source((), "ours"),
        statement=lambda: together(_same_best(), _average_above_start()),
        argument="E f(J) = s0 f(0) + (1-s0) C with C = sum of (1-p) p^(j-1) f(j) >= f(0), which an induction over the levels"
        " shows; the tail of the gap is (1-s0)/s0 times a factor free of s0.",
        uses=("age.markov.law",),
        witness={"s": "1/4", "t": "1/2", "f": "0", "C": "1", "p": "1/2", "low": "0", "rise": "1"},
    ),
    claim(
        "age.markov.gain-lower-bound",
        "Reversible source and symmetric window: the gain is at least alpha D/(1 - alpha D), alpha the stationary chance of"
        " a small difference, for every size and every |D| < 1.",
        latex=r"E J_{\mathrm{actual}} - E J_{\mathrm{markov}} \ge \frac{\alpha D}{1-\alpha D}",
        source=Source((), "ours"),
        statement=lambda: together(*_bound()),
        assumptions=ASSUMPTIONS + "; nu_i P_ij = nu_j P_ji, window W = -W",
        argument="P_k is self-adjoint for nu, so A = I - D P_k is, and it is nonnegative by pairs (part 1). With A x = 1 the"
        " form <x - t 1, A (x - t 1)> >= 0 at t = 1/<1, A 1> says <1, x> <1, A 1> >= 1 (part 2); <1, x> is gain + 1.",
        uses=("age.markov.law",),
        witness={"u": "1", "v": "1/2", "D": "1/2", "X": "2", "alpha": "1/2"},
    ),
)
