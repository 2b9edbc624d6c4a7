"""Every finite-chain case of users' reports about other tools, with the right value or the right refusal."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq

from exactchains import (
    Balls,
    DoesNotExist,
    FiniteChain,
    Floats,
    NotAGenerator,
    classes,
    period,
    reachable_chain,
    stationary,
)
from exactchains.domain import rational
from exactchains.solvers.absorption import absorption
from exactchains.solvers.arrays import arrays
from exactchains.solvers.dixon import dixon
from exactchains.solvers.gth import gth
from exactchains.solvers.stationary import extremal_laws
from tests.exactchains.chains import birth_death, clusters, power_of_two

PEERS = Path(__file__).parents[1] / "data" / "peer_cases.json"
CASES = {case["id"]: case for case in json.loads(PEERS.read_text(encoding="utf-8"))["cases"]}
HALVES = [["1/2", "1/2", 0, 0], ["1/2", "1/2", 0, 0], [0, 0, "1/4", "3/4"], [0, 0, "1/5", "4/5"]]


def exact(values):
    return [rational(v) for v in values]


@pytest.mark.parametrize("name", ["butools-dtmc-1", "qe-gth-2", "qe-core-periodic", "pydtmc-2", "pykov-31"])
def test_laws_of_published_chains(name):
    case = CASES[name]
    time = "continuous" if case["type"] == "ctmc" else "discrete"
    chain = FiniteChain.from_matrix(case["Q" if time == "continuous" else "P"], time=time)
    assert stationary(chain) == exact(case["pi_exact"])
    law = stationary(chain, digits=30, method="direct")
    assert all(x.contains(v) and x.has_digits(30) for x, v in zip(law, exact(case["pi_exact"]), strict=True))
    if "period" in case:
        assert period(chain, classes(chain).recurrent[0]) == case["period"]


def test_quantecon_six_states():
    case = CASES["qe-core-6"]
    chain = FiniteChain.from_matrix(case["P"], time="discrete")
    found = classes(chain)
    assert [list(c) for c in found.recurrent] == case["recurrent"] and found.transient == (2,)
    assert [period(chain, c) for c in found.recurrent] == [2, 3]
    for law, expected in zip(extremal_laws(chain), case["extremal_pis"], strict=True):
        assert [x.lower for x in law] == exact(expected)


@pytest.mark.parametrize("parameters", CASES["qe-kmr"]["params"])
def test_kandori_mailath_rob(parameters):
    """Birth-death: detailed balance is the second route."""
    N, p, eps = parameters[0], Fraction(parameters[1]), Fraction(parameters[2])

    def flip(share: Fraction, better: bool) -> Fraction:
        sure = Fraction(1, 2) if share == p else Fraction((share > p) == better)
        return eps / 2 + (1 - eps) * sure

    up = {n: Fraction(N - n, N) * flip(Fraction(n, N - 1), True) if n else eps / 2 for n in range(N)}
    down = {n: Fraction(n, N) * flip(Fraction(n - 1, N - 1), False) if n < N else eps / 2 for n in range(1, N + 1)}
    moves = [(n, n + 1, str(q)) for n, q in up.items()] + [(n, n - 1, str(q)) for n, q in down.items()]
    moves += [(n, n, str(1 - up.get(n, 0) - down.get(n, 0))) for n in range(N + 1)]
    chain = FiniteChain.from_transitions(N + 1, moves, time="discrete")
    weights = [Fraction(1)]
    for n in range(N):
        weights.append(weights[-1] * up[n] / down[n + 1])
    law = [rational(w / sum(weights)) for w in weights]
    assert stationary(chain) == law
    assert all(x.contains(v) and x.has_digits(15) for x, v in zip(stationary(chain, digits=15), law, strict=True))


def test_storm_long_run_reward():
    case = CASES["storm-lrarewards"]
    chain = birth_death(4, 3, 6)
    assert stationary(chain) == exact(case["pi_exact"])
    law = extremal_laws(chain)[0]
    assert law.mean(lambda s: s).lower == rational(case["LRA_reward_exact"])


def test_knuth_yao_die():
    """States 0 to 6 toss a coin, 7 to 12 are the faces; from 0 every face has 1/6."""
    jumps = {0: (1, 2), 1: (3, 4), 2: (5, 6), 3: (1, 7), 4: (8, 9), 5: (10, 11), 6: (2, 12)}
    moves = [(i, j, "1/2") for i, pair in jumps.items() for j in pair] + [(i, i, 1) for i in range(7, 13)]
    chain = FiniteChain.from_transitions(13, moves, time="discrete")
    assert [x.lower for x in absorption(chain, 0)] == [fmpq(1, 6)] * 6
    assert all(x.contains("1/6") and x.has_digits(40) for x in absorption(chain, 0, digits=40))
    assert [x.lower for x in absorption(chain, 9)] == [0, 0, 1, 0, 0, 0]
    with pytest.raises(DoesNotExist, match="6 recurrent classes"):
        stationary(chain)


def test_identity_has_two_laws():
    """QuantEcon.py 19 (a singular matrix error there)."""
    chain = FiniteChain.from_matrix([[1, 0], [0, 1]], time="discrete")
    assert [[x.lower for x in law] for law in extremal_laws(chain)] == [[1, 0], [0, 1]]
    with pytest.raises(DoesNotExist, match="2 recurrent classes"):
        stationary(chain)


def test_labels_are_never_indices():
    """QuantEcon.py 252: labels of a reducible chain were used as indices; here they are numbers out of order."""
    chain = reachable_chain(7, lambda s: {7: [(0, 1), (3, 2)], 0: [(2, 1)], 2: [(0, 3)], 3: [(3, 1)]}[s])
    assert chain.labels == [7, 0, 3, 2] and chain.index(2) == 3
    found = [{chain.labels[i]: law[i].lower for i in map(int, law.states)} for law in extremal_laws(chain)]
    assert found == [{0: fmpq(3, 4), 2: fmpq(1, 4)}, {3: fmpq(1)}]
    assert [x.lower for x in absorption(chain, chain.index(7))] == exact(["1/3", "2/3"])


def test_power_of_two_with_715_states():
    """stormpy: no exact answer in 40 seconds.  Two methods, to 30 digits."""
    chain = power_of_two(4, 9)
    first, second = (stationary(chain, digits=30, method=method) for method in ("levels", "block"))
    assert all(
        x.has_digits(30) and x.lower <= y.upper and y.lower <= x.upper for x, y in zip(first, second, strict=True)
    )


def test_two_closed_classes_are_not_mixed():
    """sympy 19011, LINE: one mixture was presented as the answer."""
    chain = FiniteChain.from_matrix(HALVES, time="discrete")
    assert classes(chain).recurrent == ((0, 1), (2, 3))
    laws = extremal_laws(chain)
    assert [x.lower for x in laws[0]] == exact(["1/2", "1/2", 0, 0])
    assert [x.lower for x in laws[1]] == exact([0, 0, "4/19", "15/19"])


def test_gamblers_ruin_of_five_states():
    moves = [(i, i + d, "1/2") for i in (1, 2, 3) for d in (-1, 1)] + [(0, 0, 1), (4, 4, 1)]
    chain = FiniteChain.from_transitions(5, moves, time="discrete")
    assert [[x.lower for x in absorption(chain, i)] for i in (1, 2)] == [exact(["3/4", "1/4"]), exact(["1/2", "1/2"])]


def test_flip_is_periodic_and_not_absorbing():
    """sympy 20273: said to be regular and absorbing."""
    flip = FiniteChain.from_matrix([[0, 1], [1, 0]], time="discrete")
    assert period(flip, classes(flip).recurrent[0]) == 2
    more = FiniteChain.from_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 1]], time="discrete")
    assert [len(c) for c in classes(more).recurrent] == [2, 1] and classes(more).transient == ()


def test_hitting_probabilities_of_1e_130():
    """R markovchain 233: probabilities of -0.0134 with entries down to 1e-130."""
    tiny = Fraction(1, 10**130)
    moves = [(0, 1, str(tiny)), (0, 2, str(1 - tiny)), (2, 0, "1/2"), (2, 3, "1/2"), (1, 1, 1), (3, 3, 1)]
    chain = FiniteChain.from_transitions(4, moves, time="discrete")
    expected = tiny / (1 - (1 - tiny) / 2)
    assert [x.lower for x in absorption(chain, 0)] == [rational(expected), rational(1 - expected)]
    found = absorption(chain, 0, digits=15)
    assert all(0 <= x.lower <= x.upper <= 1 and x.has_digits(15) for x in found)
    assert found[0].contains(expected) and found[1].contains(1 - expected)


@pytest.mark.parametrize("size", [100, 1000])
def test_birth_death_tail_of_1e_100(size):
    """LINE, scipy, deeptime: negative or wrong entries below 1e-16."""
    up = {100: (1, 10), 1000: (1000, 1259)}[size]
    law = stationary(birth_death(size, *up), digits=14)
    ratio = Fraction(*up)
    mass = (1 - ratio**size) / (1 - ratio)
    assert all(law[k].contains(ratio**k / mass) and law[k].has_digits(14) for k in (0, 1, size // 2, size - 1))
    assert law[size - 1].lower > 0


def test_nearly_decomposable_four_states():
    """Cross rates 1e-13 and 3e-13: other tools give .35307, .35306, .35301."""
    slow = {(0, 2): "1e-13", (2, 0): "3e-13"}
    fast = {(0, 1): 1, (1, 0): 2, (2, 3): 3, (3, 2): 1}
    chain = FiniteChain.from_transitions(4, [(i, j, q) for (i, j), q in (slow | fast).items()])
    expected = exact(["1/2", "1/4", "1/6", "1/2"])
    expected = [x / sum(expected, fmpq(0)) for x in expected]
    assert stationary(chain) == expected == exact(["6/17", "3/17", "2/17", "6/17"])
    for method in ("direct", "levels", "block", "gth"):
        law = stationary(chain, digits=12, method=method)
        assert all(x.contains(v) for x, v in zip(law, expected, strict=True))


def test_elimination_over_every_domain():
    """mpmath PR 294 asked for GTH in any precision."""
    rates = [(0, 1, 2), (1, 2, "1/3"), (2, 0, 5), (1, 0, "7/11")]
    law = stationary(FiniteChain.from_transitions(3, rates))
    for domain in (Balls(200), Floats()):
        found = gth(FiniteChain.from_transitions(3, rates, domain=domain))
        assert all(abs(float(x) - int(v.p) / int(v.q)) < 1e-15 for x, v in zip(found, law, strict=True))


@pytest.mark.parametrize("rate", [-1, "nan"])
def test_negative_and_undefined_rates(rate):
    """quantecon gth_solve: (1, 0) or nan, silently."""
    with pytest.raises((NotAGenerator, ValueError)):
        FiniteChain.from_transitions(2, [(0, 1, rate), (1, 0, 1)])


def test_results_are_the_same_at_every_run():
    """Pykov 31: zeros at random runs; Storm 833: quotients that depend on the system."""
    chain = clusters(4, 6, 1000)
    first, second = (stationary(chain, digits=20, method="levels") for _ in range(2))
    assert [(x.lower, x.upper) for x in first] == [(x.lower, x.upper) for x in second]
    assert dixon(arrays(chain)) == dixon(arrays(chain))
