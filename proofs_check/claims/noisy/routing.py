"""Where a noisy job goes: the closed routing law against all samples, and monotony of the sorted chain."""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate, product

from flint import fmpq

from meanfield.models.noisy import PowerOfD
from proofs_check.claim import Claim, Scope, Source, Statement, together
from proofs_check.claims.age.domains import stated

MODEL = "n unit-rate servers, samples of d with or without replacement, errors with chance eps at gaps up to g (or at every gap)"
DEFINITIONS = ("comparison-error", "policy", "queue-length")
ENDS = ("0", "1")  # error chances: every law is affine in eps, so that both ends stand for all of [0, 1]
NUMBERS = {"variables": [], "domain": {}}


def states(n: int, gap: int) -> Iterator[tuple[int, ...]]:
    """Yield the sorted queues with shortest 0 and neighbouring gaps up to ``gap``: beyond, all gaps act alike."""
    for gaps in product(range(gap + 1), repeat=n - 1):
        yield tuple(accumulate(gaps, initial=0))


def _formula() -> Statement:
    """By inclusion and exclusion: a..f are the chances that all samples lie in sets of N_j, N_(j+1), N_j - N_(j+),
    N_(j+1) - N_(j+), N_(j-) - N_(j+1), N_(j-) - N_j servers, e0 in the N_j - N_(j+1) servers at j.

    Shortest at j: a - b; of these the gap is allowed and the longest is above j: (c-d) - e0; longest at j, gap allowed,
    shortest below j: (e-f) - e0.
    """
    return Statement(
        "identity",
        {"variables": ["a", "b", "c", "d", "e", "f", "e0", "eps"], "domain": {}},
        stated(("(a-b) - eps*((c-d)-e0) + eps*((e-f)-e0)", "=", "a - b - eps*(c-d) + eps*(e-f)")),
    )


@cache
def _exhaustive(d: int, g: int | None, replacement: bool, n: int) -> Statement:
    """The live closed law equals the live enumeration of all samples."""
    found = {}
    for eps in ENDS:
        policy = PowerOfD("1/2", d, g, eps, replacement)
        for queue in states(n, 2 if g is None else g + 1):
            closed, listed = policy.law((queue,)), policy.enumerated_law((queue,))
            for key in {*closed, *listed}:
                pair = (str(closed.get(key, fmpq(0))), "=", str(listed.get(key, fmpq(0))))
                found[pair] = pair
    return Statement("identity", NUMBERS, stated(*sorted(found)))


def ranks(policy: PowerOfD, queue: tuple[int, ...]) -> list[fmpq]:
    """Return the chance that each rank of the sorted queue gains a job: the last of equal queues does."""
    gains = [fmpq(0)] * len(queue)
    for (_, jobs), chance in policy.law((queue,)).items():
        gains[max(i for i, q in enumerate(queue) if q == jobs)] = chance
    return gains


@cache
def _monotone(d: int, g: int | None, replacement: bool, n: int) -> Statement:
    """One job more at rank r: every other rank gains at least as often, p_i(q) <= p_i(q + e_r) for i != r.

    Then arrivals can be coupled so that both go to the same rank, or that to the smaller vector to rank r: the order of
    the sorted vectors is kept.
    """
    found = set()
    for eps in ENDS:
        policy = PowerOfD("1/2", d, g, eps, replacement)
        for queue in states(n, 3 if g is None else g + 2):
            before = ranks(policy, queue)
            for r in range(n):
                if r < n - 1 and queue[r] == queue[r + 1]:
                    continue  # not sorted after the step
                after = ranks(policy, (*queue[:r], queue[r] + 1, *queue[r + 1 :]))
                found |= {(str(before[i]), "<=", str(after[i])) for i in range(n) if i != r}
    return Statement("sign", NUMBERS, stated(*sorted(found)))


def _cases(most: int, samples: tuple[int, ...]) -> list[tuple[int, int | None, bool, int]]:
    return [
        (d, g, replacement, n)
        for n in range(1, most + 1)
        for d in samples
        for g in (0, 1, 2, None)
        for replacement in (False, True)
        if replacement or d <= n
    ]


CLAIMS = (
    Claim(
        id="noisy.routing.formula",
        text="The closed routing law of power of d with errors equals the enumeration of all samples, for every n, d, g, eps and"
        " state, with and without replacement; the live code for n <= 4, d <= 3, g = 0, 1, 2 and every gap, in all states.",
        latex=r"r_j = w(N_j)-w(N_{j+1}) - \varepsilon[w(N_j-N_{j^+})-w(N_{j+1}-N_{j^+})]"
        r" + \varepsilon[w(N_{j^-}-N_{j+1})-w(N_{j^-}-N_j)]",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        statement=lambda: together(_formula(), *(_exhaustive(*case) for case in _cases(4, (1, 2, 3)))),
        assumptions=MODEL,
        argument="w(a) is the chance that all samples lie among given a servers. Inclusion and exclusion over the sets at or above"
        " j, above j, up to j+g and down to j-g gives the law; the chance that all samples are at j cancels (part 1). The other"
        " parts compare the live law with the live rule run on every sample, for eps = 0 and 1, both being affine in eps; gaps beyond"
        " g + 1 act alike.",
        definitions=DEFINITIONS,
        witness=dict.fromkeys(("a", "b", "c", "d", "e", "f", "e0", "eps"), "1/2"),
    ),
    Claim(
        id="noisy.finite.monotone",
        text="The sorted chain of n servers is stochastically monotone in the coordinatewise order, with and without replacement,"
        " for every eps and all states; here n <= 4, d = 2, 3, g = 0, 1, 2 and every gap.",
        latex=r"q \le q' \implies \text{the chains can be coupled so that } q(t) \le q'(t)",
        source=Source((), "ours"),
        scope=Scope.INSTANCE,
        statement=lambda: together(*(_monotone(*case) for case in _cases(4, (2, 3)) if case[3] > 1)),
        assumptions=MODEL + "; sorted queues, an arrival raises the last of equal queues, services by rank",
        argument="It is enough to compare q with q + e_r. The law of the live rule satisfies p_i(q) <= p_i(q + e_r) for every rank"
        " i other than r: couple the arrivals so that both raise the same rank, or the smaller vector rank r. Services at the same"
        " rank keep the order. Only gaps up to g + 2 need be looked at, and only eps = 0 and 1, the laws being affine in eps.",
        definitions=DEFINITIONS,
    ),
)
