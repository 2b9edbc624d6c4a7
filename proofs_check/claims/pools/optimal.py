"""The least mean response time of any policy, who attains it in the limit, and who does not."""

from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

MODEL = "pools j with fraction g_j and speed m_j, sum g_j m_j = 1, fastest first, load 0 < lam < 1"
DEFINITIONS = ("load", "pools", "mean-response")
TWO = Fractions("g", "m", "r")


def _dual() -> Statement:
    """One pool: x >= theta m x - max(0, theta m - 1) for 0 <= x <= 1, with equality at a full or an empty pool."""
    part = {"x": ["x", ">="], "y": ["1-x", ">="]}
    fast, slow = {"assume": {"s": ["theta*m - 1", ">="]}}, {"assume": {"s": ["1 - theta*m", ">="]}}
    return Statement(
        "sign",
        {"variables": ["x", "theta", "m"], "domain": part},
        stated(
            ("x", ">=", "theta*m*x - (theta*m - 1)", fast),
            ("x", ">=", "theta*m*x", slow),
            ("x", "=", "theta*m*x - (theta*m - 1)", {"set": {"x": "1"}}),
            ("x", "=", "theta*m*x", {"set": {"x": "0"}}),
        ),
    )


def _attained() -> Statement:
    """Equality in the dual inequality at a full pool with theta m >= 1 and at an empty pool."""
    return Statement(
        "identity",
        {"variables": ["x", "theta", "m"], "domain": {}},
        stated(
            ("x", "=", "theta*m*x - (theta*m - 1)", {"set": {"x": "1"}}),
            ("x", "=", "theta*m*x", {"set": {"x": "0"}}),
        ),
    )


def _last_pool() -> Statement:
    """The partly busy pool has theta m = 1: equality for every x."""
    return Statement(
        "identity",
        {"variables": ["x", "m"], "domain": {"m": ["m", ">"]}},
        stated(("x", "=", "1/m*m*x - (1/m*m - 1)")),
    )


def _oblivious() -> Statement:
    """Two pools, g of speed m, 1-g of speed k = (1-g m)/(1-g), m > k: r = busy/idle odds over speed.

    Busy fractions r/(m+r) and r/(k+r); lam = sum g m r/(m+r), busy = sum g r/(m+r); D = busy/lam against 1.
    """
    k = "((1-g*m)/(1-g))"
    load = f"(g*m*r/(m+r) + (1-g)*{k}*r/({k}+r))"
    busy = f"(g*r/(m+r) + (1-g)*r/({k}+r))"
    return Statement(
        "sign",
        {
            "variables": ["g", "m", "r"],
            "domain": {
                "g": ["g", ">"],
                "h": ["1-g", ">"],
                "m": ["m-1", ">"],
                "slow": ["1-g*m", ">"],
                "r": ["r", ">"],
            },
        },
        stated((busy, ">", load)),
    )


def _equal() -> Statement:
    """Equal speeds: every pool has speed 1, busy fraction lam; response 1."""
    return Statement(
        "identity",
        {"variables": ["lam", "r"], "domain": {"lam": ["lam", ">"], "r": ["r", ">"]}},
        stated(("r/(1+r)", "=", "lam*(r/(1+r))/lam"), ("lam/lam", "=", "1")),
    )


CLAIMS = (
    Claim(
        id="pools.lower-bound",
        text="No policy, idling, clairvoyant or migrating, has a mean response time below D*(lam), the value of filling the"
        " fastest pools first; any number of pools and servers.",
        latex=r"E T \ge D^*(\lambda) = \frac1\lambda \min\Bigl\{\sum g_j x_j : \sum g_j m_j x_j = \lambda,\ 0\le x\le1\Bigr\}",
        source=Source(("P3", "P4"), "sharpens"),
        scope=Scope.ALL,
        statement=lambda: together(_dual(), _last_pool()),
        assumptions=MODEL + "; the work rate sum g_j m_j x_j of the busy fractions x_j is lam",
        argument="Multiplier theta = 1/m of the partly busy pool: pool by pool x >= theta m x - max(0, theta m - 1), summed with"
        " weights g_j: jobs >= busy >= theta lam - sum g_j max(0, theta m_j - 1); equality where faster pools are full and"
        " slower ones empty.",
        definitions=DEFINITIONS,
        witness={"x": "1/2", "theta": "1", "m": "1"},
    ),
    Claim(
        id="pools.optimal",
        text="The equilibrium of SA-JSQ and SA-JIQ, fastest pools full and one partly busy, attains D*(lam), for any number of"
        " pools.",
        latex=r"D_{\mathrm{SA}}(\lambda) = D^*(\lambda)",
        source=Source(("P3", "P4"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_attained(), _last_pool()),
        assumptions=MODEL
        + "; equilibrium with one job at most at each server: x_j = 1 in faster pools, 0 in slower ones",
        argument="Pool by pool the dual inequality of pools.lower-bound holds with equality: full pools, empty pools, and the"
        " partly busy one, whose speed times the multiplier is 1.",
        definitions=DEFINITIONS,
        uses=("pools.lower-bound",),
        witness={"x": "1/2", "theta": "1", "m": "1"},
    ),
    Claim(
        id="pools.jsq-suboptimal",
        text="Two pools of different speeds: in the limit JSQ and JIQ without regard to speed have mean response time above 1,"
        " while D* is at most 1.",
        latex=r"D_{\mathrm{obl}}(\lambda) > 1 \ge D^*(\lambda)",
        source=Source(("P3", "P4"), "states"),
        scope=Scope.BOX,
        statement=_oblivious,
        assumptions=MODEL + "; two pools; equilibrium x_j = r/(m_j + r) with r > 0 such that the work rate is lam",
        argument="Busy servers minus work rate is a positive rational function of g, m, r; x_j = lam is feasible for D*, so"
        " D* <= 1.",
        definitions=DEFINITIONS,
        uses=("pools.lower-bound",),
        witness={"g": "1/2", "m": "3/2", "r": "1"},
    ),
    Claim(
        id="pools.equal-speeds.jiq-optimal",
        text="Equal speeds: JIQ has mean response time 1 = D* in the limit.",
        latex=r"D_{\mathrm{obl}} = 1 = D^*",
        source=Source(("P3",), "states"),
        scope=Scope.ALL,
        statement=_equal,
        assumptions=MODEL + "; all speeds 1; equilibrium with busy fraction lam",
        argument="With one speed the work rate is the busy fraction.",
        definitions=DEFINITIONS,
        uses=("pools.lower-bound",),
        witness={"lam": "1/2", "r": "1"},
    ),
)
