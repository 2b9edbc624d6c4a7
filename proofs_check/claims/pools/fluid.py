"""The fluid limit of pools: the fast chain of idle places, the equilibrium of finite mass, and what it does not attract."""

from fractions import Fraction

from meanfield.fluid import fluid_drift, joining_rates
from meanfield.models.idle import SpeedAwareJIQ
from meanfield.models.shortest import SpeedAwareJSQ
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

POOLS = "1/4:2,1/2:3/4,1/4:1/2"
BOUNDARIES = (Fraction(1, 2), Fraction(7, 8))  # Lam_1, Lam_2
LOADS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(7, 8), Fraction(15, 16))
RULES = (SpeedAwareJSQ, SpeedAwareJIQ)
MODEL = (
    "pools j with fraction g_j and speed m_j, sum g_j m_j = 1, fastest first, load 0 < lam < 1; limit of many servers"
)
DEFINITIONS = ("load", "pools", "tail-k")


def _prefix() -> Statement:
    """Z_1 + .. + Z_k: up at rate a = a_1 + .. + a_k; down at rate l iff it is positive, since one of its classes is served.

    Its law p = (1-r) r^j, r = a/l < 1, balances; x = r^j, the sum s of the first j+1 terms is 1 - r x.
    """
    return Statement(
        "induction",
        {
            "variables": ["r", "l"],
            "domain": {"r": ["r", ">"], "one": ["1-r", ">"], "l": ["l", ">"]},
            "state": ["p", "s", "x"],
            "starts": [{"p": "1-r", "s": "1-r", "x": "1"}],
            "steps": {"level": {"set": {"p": "r*p", "s": "s + r*p", "x": "r*x"}}},
            "define": {"above": "r*p"},
        },
        stated(("(r*l)*p", "=", "l*above"), ("s", "=", "1 - r*x")),
    )


def _overloaded() -> Statement:
    """With a >= l fewer arrivals c < l would leave 0 the fraction 1 - c/l, and more arrivals leave it less: below any e."""
    return Statement(
        "sign",
        {"variables": ["l", "e"], "domain": {"l": ["l", ">"], "e": ["e", ">"]}},
        stated(("1 - (1-e)*l/l", "<=", "e")),
    )


def _emptiness() -> Statement:
    """The live rates into idle places: prefix sums are min(prefix of the inflows g m (x_1 - x_2), lam); pool 3 gets the rest."""
    claims = []
    for load in LOADS:
        rates = joining_rates(SpeedAwareJSQ(POOLS, load), [[1, 1, "1/2"], [1, 1, "1/4"], [1, "1/2", 0]])
        inflows, prefix = (Fraction(1, 4), Fraction(9, 32)), Fraction(0)
        for j, inflow in enumerate(inflows):
            prefix += inflow
            live = "+".join(str(rates.get((i, 0), 0)) for i in range(j + 1))
            claims.append((live, "=", str(min(prefix, load))))
        claims.append((str(rates.get((2, 0), 0)), "=", str(max(load - prefix, Fraction(0)))))
    return Statement("identity", {"variables": [], "domain": {}}, stated(*claims))


def _one_index() -> Statement:
    """Lam_(j-1) = L <= lam < L + g m fixes j: a later index would need lam >= L + g m, an earlier one lam < L."""
    domain = {"g": ["g", ">"], "m": ["m", ">"], "low": ["lam-L", ">="], "high": ["L+g*m-lam", ">"]}
    return Statement(
        "sign",
        {"variables": ["lam", "L", "g", "m", "later", "earlier"], "domain": domain},
        stated(
            ("(lam-L)/(g*m)", ">=", "0"),
            ("(lam-L)/(g*m)", "<", "1"),
            ("L + g*m*((lam-L)/(g*m))", "=", "lam"),
            ("later", ">", "lam", {"assume": {"l": ["later-L-g*m", ">="]}}),
            ("earlier", "<=", "lam", {"assume": {"e": ["L-earlier", ">="]}}),
        ),
    )


def equilibrium(load: Fraction) -> list[list[Fraction]]:
    """Return the claimed point for POOLS: full pools, one partly busy, idle ones."""
    left, point = load, []
    for fraction, speed in (
        (Fraction(1, 4), Fraction(2)),
        (Fraction(1, 2), Fraction(3, 4)),
        (Fraction(1, 4), Fraction(1, 2)),
    ):
        busy = min(Fraction(1), left / (fraction * speed))
        point.append([Fraction(1), busy, Fraction(0)])
        left -= busy * fraction * speed
    return point


def _rests() -> Statement:
    """The live fluid derivative vanishes at the claimed point, at and between the boundaries Lam_j."""
    zero = {
        (str(x), "=", "0")
        for rule in RULES
        for load in LOADS
        for row in fluid_drift(rule(POOLS, load), equilibrium(load))
        for x in row
    }
    return Statement("identity", {"variables": [], "domain": {}}, stated(*sorted(zero)))


def _stays(levels: int) -> Statement:
    """Pool 1 full on all levels looked at: its tails below the last one do not move, whatever the other pools do."""
    still = {
        (str(x), "=", "0")
        for rule in RULES
        for load in LOADS
        for others in ([1, *["1/2"] * levels], [1, *[0] * levels])
        for x in fluid_drift(rule(POOLS, load), [[1] * (levels + 1), others, others])[0][:-1]
    }
    return Statement("identity", {"variables": [], "domain": {}}, stated(*sorted(still)))


CLAIMS = (
    Claim(
        id="pools.fluid.fast-chain",
        text="Idle places in classes 1..c, inflows a_i >= 0, the arrivals of rate lam serve the first class that is not empty:"
        " every prefix sum Z_1 + .. + Z_k is M/M/1 with load r = (a_1 + .. + a_k)/lam. It is 0 with chance 1 - r if r < 1, and for"
        " a long-run fraction 0 of the time if r >= 1.",
        latex=r"P(Z_1=\dots=Z_k=0) = \Big(1-\frac{a_1+\dots+a_k}{\lambda}\Big)^+",
        source=Source(("P4",), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_prefix(), _overloaded(), _emptiness()),
        assumptions=MODEL + "; a_1 + .. + a_k > 0 (else the prefix is always 0)",
        argument="An inflow to the classes 1..k raises the prefix sum. An arrival lowers it iff it is positive, since the first class"
        " that is not empty is then among them. The geometric law balances and sums to 1 (part 1). With more inflow the prefix sum"
        " is larger under one coupling, so an overloaded one is 0 less often than one of load 1 - e, for every e (part 2). The last"
        " part checks that the live rates into idle places have min(prefix, lam) for prefix sums.",
        definitions=DEFINITIONS,
        witness={"r": "1/2", "l": "1/2", "e": "1/2"},
    ),
    Claim(
        id="pools.fixed-point",
        text="SA-JSQ and SA-JIQ with any fallback have exactly one equilibrium of finite mass in the fluid limit: pools before j*"
        " busy, pool j* busy to the fraction (lam - Lam_(j*-1))/(g_j* m_j*), later pools idle, nobody waits; also at lam = Lam_j.",
        latex=r"x_{1,j}=1\ (j<j^*),\quad x_{1,j^*}=\frac{\lambda-\Lambda_{j^*-1}}{\gamma_{j^*}\mu_{j^*}},\quad x_{1,j}=0\ (j>j^*),"
        r"\quad x_{k,j}=0\ (k\ge2)",
        source=Source(("P3", "P4"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_one_index(), _rests()),
        assumptions=MODEL + "; equilibria with sum of all x_(k,j) finite; Lam_j = sum_(i<=j) g_i m_i",
        argument="Finite mass is constant, so the busy speed sum g_j m_j x_(1,j) is lam < 1 and some pool has idle servers in positive"
        " density. Then no job joins a busy server, so x_(2,j) = x_(3,j) = .. = 0. Jobs go to the first pool with idle servers, after"
        " the idle places that faster pools free; so pools before it are full and pools after it get nothing and are empty. The busy"
        " speed fixes the index and the fraction (part 1: Lam_(j-1) <= lam < Lam_j for exactly one j). The live fluid rests there, for"
        " three pools at and between the boundaries (part 2).",
        definitions=DEFINITIONS,
        uses=("pools.fluid.fast-chain",),
        witness={"lam": "3/4", "L": "1/2", "g": "1/2", "m": "3/4", "later": "7/8", "earlier": "1/2"},
    ),
    Claim(
        id="pools.fixed-point.not-attracting-all",
        text="Attraction of the equilibrium fails from infinite mass: with x_(k,1) = 1 for all k the fastest pool never moves. Finite"
        " mass cannot be dropped from the assumption (it is not claimed to be necessary).",
        latex=r"x_{k,1}(0)=1\ \forall k \implies \dot x_{k,1} = 0\ \forall k",
        source=Source(("P3", "P4"), "corrects"),
        scope=Scope.INSTANCE,
        statement=lambda: together(*(_stays(levels) for levels in (2, 4, 6))),
        assumptions=MODEL
        + "; three pools 1/4:2, 1/2:3/4, 1/4:1/2, five loads, other pools half busy on all levels or empty",
        argument="Nobody can join a class below a full level of a pool, and x_k - x_(k+1) = 0: the live fluid derivative of every level"
        " of pool 1 below the last one that is written is 0; the same at any depth.",
        definitions=DEFINITIONS,
    ),
    Claim(
        id="pools.attraction",
        text="The equilibrium of SA-JSQ and SA-JIQ attracts every start of finite mass.",
        latex=r"\sum_{j,k} x_{k,j}(0)<\infty \implies x(t)\to x^*",
        source=Source(("P3", "P4"), "states"),
        scope=Scope.ALL,
        assumptions=MODEL + "; finite mass at the start",
        argument="A monotone flow between a start above and one below, whose mass changes at rate lam - busy speed.",
        definitions=DEFINITIONS,
        uses=("pools.fixed-point",),
        missing="uniqueness and monotony of the fluid flow, whose right-hand side is discontinuous",
    ),
)
