"""Laws of level chains against Pollaczek-Khinchine, Erlang, batch arrivals, published values and the checker."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import QQ, DoesNotExist, Enclosure, LevelChain, rational
from exactchains.solvers import law_certificate, matrix_geometric
from exactchains.solvers.level_decay import perron_vector
from exactchains.solvers.level_law import level_law
from exactchains.solvers.matrix_geometric import rate_matrix
from exactchains.truth import InputError, PrecisionExhausted, Undecided
from proofs_check.check.document import check, loads

from .level_chains import generator, phase_service, pollaczek, service_moments, single_server, spread_chains, text

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "data" / "peer_cases.json").read_text())["cases"]
}
HYPER = ([Fraction(1, 10), Fraction(9, 10)], [[Fraction(-1, 9), Fraction(0)], [Fraction(0), Fraction(-9)]])
ERLANG = (
    [Fraction(1), Fraction(0), Fraction(0)],
    [
        [Fraction(-3), Fraction(3), Fraction(0)],
        [Fraction(0), Fraction(-3), Fraction(3)],
        [Fraction(0)] * 2 + [Fraction(-3)],
    ],
)


def near(x: Enclosure, published: float, places: int) -> bool:
    middle = (x.lower + x.upper) / 2
    return abs(float(middle.p) / float(middle.q) - published) <= 0.5 * 10**-places + 1e-12


def accepted(law) -> None:
    check(loads(json.dumps(law.certificate)))


def test_peer_qbd_levels():
    case = CASES["butools-qbd-1"]
    names = {"up": "F", "local": "L", "down": "B", "boundary_local": "L0"}
    law = level_law(LevelChain.from_blocks({name: text(case[key]) for name, key in names.items()}))
    for n in range(3):
        assert all(near(x, y, 8) for x, y in zip(law.level(n), case[f"pi{n}"], strict=True))
    assert law.mean_level.is_exact
    accepted(law)


def test_peer_mg1_levels():
    case = CASES["butools-mg1-1"]
    down, *rest = (text([[str(x) for x in row] for row in block]) for block in case["A"])
    edge = {(0, k): text([[str(x) for x in row] for row in block]) for k, block in enumerate(case["B"])}
    jumps = {-1: down} | dict(enumerate(rest))
    chain = LevelChain.jumping(jumps, boundary=edge, time="discrete")
    law = level_law(chain)
    for n in range(3):
        assert all(near(x, y, 8) for x, y in zip(law.level(n), case[f"pi{n}"], strict=True))
    assert law.tail(0).contains(1)
    accepted(law)


@pytest.mark.parametrize("load", ["1/2", "9/10", "999999999/1000000000"])
def test_single_server(load):
    rho = Fraction(load)
    law = level_law(single_server(load), digits=20)
    assert law.mean_level.contains(rho / (1 - rho))
    assert law.decay.contains(rho) and law.tail(7).contains(rho**7)
    assert law.level(50)[0].contains((1 - rho) * rho**50)
    assert law.variance.contains(rho / (1 - rho) ** 2)


@pytest.mark.parametrize("service", [HYPER, ERLANG])
@pytest.mark.parametrize("load", ["1/3", "9/10", "999/1000"])
def test_phase_type_service_with_a_boundary_of_its_own(service, load):
    law = level_law(phase_service(Fraction(load), *service), digits=25)
    assert law.mean_level.contains(pollaczek(Fraction(load), *service_moments(*service)))
    assert law.tail(1).contains(Fraction(load))
    accepted(law)


def test_several_servers_are_a_level_dependent_chain():
    servers, load = 5, Fraction(4)
    edge: dict = {}
    for n in range(servers):
        edge[n, n + 1], edge[n, n] = [[str(load)]], [[str(-load - n)]]
        if n:
            edge[n, n - 1] = [[str(n)]]
    jumps = {-1: [[str(servers)]], 0: [[str(-load - servers)]], 1: [[str(load)]]}
    law = level_law(LevelChain.jumping(jumps, boundary=edge))
    terms = [Fraction(1)]
    for n in range(1, servers):
        terms.append(terms[-1] * load / n)
    wait = terms[-1] * load / servers / (1 - load / servers)  # Erlang C, unnormalised
    waiting = wait / (sum(terms) + wait)
    assert law.tail(servers).contains(waiting)
    assert law.mean_level.contains(load + waiting * load / (servers - load))
    assert law.level(2)[0].value == rational(terms[2] / (sum(terms) + wait))
    assert law.moment(0).value == 1


def test_batch_arrivals():
    jumps = {-1: [["1"]], 0: [["-6/5"]], 1: [["1/10"]], 3: [["1/10"]]}
    edge = {(0, 0): [["-1/5"]], (0, 1): [["1/10"]], (0, 3): [["1/10"]]}
    law = level_law(LevelChain.jumping(jumps, boundary=edge), digits=30)
    load, batch, square = Fraction(2, 5), Fraction(2), Fraction(5)
    assert law.mean_level.contains(load * (1 + square / batch) / 2 / (1 - load))
    assert law.tail(1).contains(load) and law.mean_level.has_digits(30)
    accepted(law)


def test_resets_give_the_geometric_law_of_a_slot_age():
    law = level_law(LevelChain.resetting([["2/5"]], [["3/5"]], domain=QQ))
    assert [x.value for level in law.levels(3) for x in level] == [rational(x) for x in ("3/5", "6/25", "12/125")]
    assert law.mean_level.value == rational("2/3") and law.decay.value == rational("2/5")
    accepted(law)


def test_resets_beside_single_steps():
    blocks = {
        "up": [["1/10", "1/5"], ["1/7", "0"]],
        "local": [["1/5", "0"], ["1/7", "1/7"]],
        "down": [["0", "1/10"], ["1/7", "1/7"]],
        "reset": [["2/5", "0"], ["1/7", "1/7"]],
        "boundary_local": [["7/10", "0"], ["5/7", "1/7"]],
    }
    chain = LevelChain.from_blocks(blocks, time="discrete")
    law = level_law(chain)
    assert balanced(chain, law, 5) and law.mean_level.has_digits(15)
    accepted(law)


def balanced(chain, law, levels) -> bool:
    """Return whether the balance of levels 1 .. levels-1 can hold within the enclosures (resets only enter level 0)."""
    shift, bounds = (1 if chain.time == "discrete" else 0), law.levels(levels + 1)
    for n in range(2, levels):
        for j in range(chain.phases):
            ends = [QQ.convert(0), QQ.convert(0)]
            for block, level in ((chain.up, n - 1), (chain.local, n), (chain.down, n + 1)):
                for i, x in enumerate(bounds[level]):
                    rate = block[i][j] - (shift if level == n and i == j else 0)
                    low, high = (x.lower, x.upper) if rate >= 0 else (x.upper, x.lower)
                    ends = [ends[0] + rate * low, ends[1] + rate * high]
            if not ends[0] <= 0 <= ends[1]:
                return False
    return True


def test_a_chain_without_a_law_is_refused_by_name():
    with pytest.raises(DoesNotExist, match="transient"):
        level_law(single_server("3/2"))
    with pytest.raises(DoesNotExist, match="null recurrent"):
        level_law(single_server("1"))
    with pytest.raises(InputError, match="boundary_local is missing"):
        level_law(generator([["1"]], [["0"]], [["2"]]))


def test_two_recurrent_classes_are_not_mixed():
    chain = generator(
        [["1", "0"], ["0", "1"]],
        [["0", "0"], ["0", "0"]],
        [["2", "0"], ["0", "3"]],
        boundary_local=[["-1", "0"], ["0", "-1"]],
    )
    with pytest.raises(DoesNotExist, match="2 recurrent classes"):
        level_law(chain)


def test_transient_phases_of_level_zero_carry_no_mass():
    chain = generator([["1", "0"], ["0", "1"]], [["0", "1"], ["0", "0"]], [["2", "0"], ["0", "3"]],
                      boundary_local=[["-2", "1"], ["0", "-1"]])  # fmt: skip
    law = level_law(chain)
    assert law.level(0)[0].value == 0 and law.level(0)[1].contains(Fraction(2, 3)) and law.level(3)[0].value == 0
    assert law.mean_level.contains(Fraction(1, 2))


def test_far_levels_keep_relative_digits():
    chain = generator([["1/2", "0"], ["0", "3/2"]], [["0", "1"], ["1", "0"]], [["2", "0"], ["1/3", "2"]],
                      boundary_local=[["-3/2", "1"], ["1", "-5/2"]])  # fmt: skip
    law = level_law(chain, digits=12)
    far = law.level(4000)
    assert all(x.has_digits(12) for x in far) and far[0].upper < QQ.convert("1e-700")
    ratio = [x.upper / y.lower for x, y in zip(law.level(4001), far, strict=True)]
    assert all(abs(q - law.decay.lower) < QQ.convert("1e-9") for q in ratio)
    accepted(law)


rates = st.sampled_from(["1", "1/3", "2", "1e-6", "5/2"])


@settings(max_examples=25, deadline=None)
@given(st.lists(rates, min_size=4, max_size=4), st.lists(rates, min_size=4, max_size=4), rates, rates)
def test_random_laws_balance_and_sum_to_one(up, down, there, back):
    blocks = [[up[0], up[1]], ["0", up[3]]], [["0", there], [back, "0"]], [[down[0], "0"], [down[2], down[3]]]
    leaving = [sum(map(Fraction, row), Fraction(x)) for row, x in zip(blocks[0], (there, back), strict=True)]
    level_zero = [[str(-leaving[0]), there], [back, str(-leaving[1])]]
    chain = generator(*blocks, boundary_local=level_zero)
    try:
        law = level_law(chain)
    except DoesNotExist:
        return
    assert balanced(chain, law, 4)
    mass = sum(x.upper for n in range(3) for x in law.level(n)) + law.tail(3).upper
    least = sum(x.lower for n in range(3) for x in law.level(n)) + law.tail(3).lower
    assert least <= 1 <= mass
    accepted(law)


def test_three_hundred_servers_keep_relative_digits():
    servers, load = 300, Fraction(270)
    edge: dict = {}
    for n in range(servers):
        edge[n, n + 1], edge[n, n] = [[str(load)]], [[str(-load - n)]]
        if n:
            edge[n, n - 1] = [[str(n)]]
    jumps = {-1: [[str(servers)]], 0: [[str(-load - servers)]], 1: [[str(load)]]}
    law = level_law(LevelChain.jumping(jumps, boundary=edge))
    term = total = Fraction(1)
    for n in range(1, servers):
        term = term * load / n
        total += term
    wait = term * load / servers / (1 - load / servers)
    assert law.level(0)[0].contains(1 / (total + wait)) and law.level(0)[0].upper < QQ.convert("1e-100")
    assert law.tail(servers).contains(wait / (total + wait))


def test_rates_three_hundred_orders_of_magnitude_apart():
    tiny = Fraction("1e-300")
    blocks = [[str(tiny), "0"], ["0", "1"]], [["0", "1"], ["1e-200", "0"]], [["1", "1"], ["1e250", "1e299"]]
    chain = generator(*blocks, boundary_local=[[str(-1 - tiny), "1"], ["1", "-2"]])
    law = level_law(chain)
    assert balanced(chain, law, 4) and all(x.has_digits(15) for x in law.level(3))
    assert law.decay.has_digits(15)
    check(loads(json.dumps(law.certificate)))


@pytest.mark.parametrize("service", [HYPER, ERLANG])
@pytest.mark.parametrize("load", ["1/7", "99/100", "999999/1000000"])
def test_the_route_in_balls_contains_the_exact_law(service, load, monkeypatch):
    """``down`` has rank one, so that everything is known in fractions; without that knowledge balls must contain it."""
    chain = phase_service(Fraction(load), *service)
    exact = level_law(chain, digits=20)
    known = [x for n in (0, 1, 2, 40) for x in exact.level(n)] + [exact.mean_level, exact.variance, exact.tail(9)]
    assert all(x.is_exact for x in known)
    monkeypatch.setattr(matrix_geometric, "_exact", lambda blocks, sign: None)
    law = level_law(chain, digits=20)
    found = [x for n in (0, 1, 2, 40) for x in law.level(n)] + [law.mean_level, law.variance, law.tail(9)]
    assert law.rates.exact is None
    assert all(x.contains(y.value) and x.has_digits(20) for x, y in zip(found, known, strict=True))
    assert law.decay.overlaps(exact.decay)
    accepted(law)


@pytest.mark.parametrize("digits", [1.5, True, 0])
def test_digits_are_an_integer(digits):
    blocks = {"up": [[1]], "local": [[-3]], "down": [[2]], "boundary_local": [[-1]]}
    with pytest.raises(InputError, match=f"digits = {digits}"):
        level_law(LevelChain.from_blocks(blocks), digits=digits)


def test_a_class_of_phases_that_is_transient_is_named():
    blocks = {
        "up": [[1, 0], [0, 3]],
        "local": [[-3, 0], [0, -5]],
        "down": [[2, 0], [0, 2]],
        "boundary_local": [[-1, 0], [0, -3]],
    }
    with pytest.raises(DoesNotExist, match=r"the class of phase 1 \(of 2\) is never left and is transient"):
        level_law(LevelChain.from_blocks(blocks))


@given(st.lists(st.integers(-400, 400), min_size=2, max_size=5), st.integers(1, 9))
@settings(max_examples=40)
def test_decay_of_rates_over_hundreds_of_decades(powers, scale):
    """D^-1 B D has the radius of B: here rows of B sum to 10, with one large entry beside small ones."""
    m = len(powers)
    rows = [[fmpq(10 - scale if j == (i + 1) % m else 0) + fmpq(scale, m) for j in range(m)] for i in range(m)]
    R = fmpq_mat([[x * fmpq(2) ** (powers[j] - powers[i]) for j, x in enumerate(row)] for i, row in enumerate(rows)])
    with ctx.workprec(200):
        vector = perron_vector(arb_mat(R))
        ratios = [x / y for x, y in zip((arb_mat(R) * arb_mat([[x] for x in vector])).entries(), vector, strict=True)]
        assert all(abs(x - 10) < arb(10) ** -30 for x in ratios)


def test_a_decay_rate_that_doubles_miss():
    rows = [["9.1e-53", "4e-209", "1.1e-168"], ["5.4e-13", "0.23", "7.2e-20"], ["1.8e-90", "9.6e-90", "2.8e-49"]]
    with ctx.workprec(200):
        R = arb_mat([[arb(x) for x in row] for row in rows])
        vector = perron_vector(R)
        ratios = [x / y for x, y in zip((R * arb_mat([[x] for x in vector])).entries(), vector, strict=True)]
        assert all(abs(x - arb("0.23")) < arb(10) ** -20 for x in ratios)


def test_no_certificate_where_integers_of_one_size_do_not_hold_the_law(monkeypatch):
    def refused(law, digits):
        raise Undecided("no integer bounds of the law at this precision")

    monkeypatch.setattr(law_certificate, "law_certificate", refused)
    assert level_law(single_server("1/2"), digits=5).certificate is None


@settings(max_examples=40, deadline=None)
@given(spread_chains(40), st.sampled_from([1, 12, 40]))
def test_certificates_of_laws_over_eighty_decades_are_accepted(chain, digits):
    try:
        law = level_law(chain, digits=digits)
    except (DoesNotExist, PrecisionExhausted):
        return
    if law.certificate is not None:
        accepted(law)


def test_climbs_of_hundreds_of_decades_are_enclosed():
    """G_00 is the least root of a quadratic; reduction takes 800 steps, each of which costs a bit or two."""
    tiny, back = Fraction("1e-250"), Fraction("1e-251")
    chain = generator([["1", "0"], ["0", "0"]], [["0", str(tiny)], [str(back), "0"]], [[str(tiny), "0"], ["0", "1"]],
                      boundary_local=[[str(-1 - tiny), str(tiny)], [str(back), str(-back)]])  # fmt: skip
    law, share = level_law(chain), rational(back / (1 + back))

    def excess(x):
        return rational(tiny) * (1 + share * x) + x * x + (1 - x) * share * x - (1 + 2 * rational(tiny)) * x

    for rates in (law.rates, rate_matrix(chain, digits=19)):
        first = rates.G[0][0]
        assert first.has_digits(19) and excess(first.lower) >= 0 >= excess(first.upper)
    assert law.mean_level.has_digits(15) and balanced(chain, law, 3)
