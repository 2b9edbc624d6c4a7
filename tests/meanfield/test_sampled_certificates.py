"""Certificates of equilibria of general rules: accepted by the checker, rejected however they are spoiled."""

import copy
import json
from fractions import Fraction
from itertools import product

import pytest
from click.testing import CliRunner
from flint import fmpq

from meanfield.models.policy import Policy, Server, routed
from meanfield.models.random import Threshold
from meanfield.models.shortest import PoolPowerOfD
from meanfield.solvers.krawczyk import sampled_equilibrium
from meanfield.solvers.quantities import balancing_quantity
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected, rational
from proofs_check.check.sampled_rule import Rule
from proofs_check.cli.main import cli

TWO = "1/2:3/2,1/2:1/2"


class Eager(Policy):
    """Sample two: an idle one of the faster pool, else the shorter, else the first."""

    d = 2
    sight = (1, 1)

    def route(self, sample):
        idle = [(s.pool, i) for i, s in enumerate(sample) if s.jobs == 0]
        return {min(idle)[1] if idle else min((s.jobs, i) for i, s in enumerate(sample))[1]: 1}


POLICIES = {
    "pools": PoolPowerOfD(TWO, "1/2"),
    "three of them": PoolPowerOfD("1/4:2,1/4:1,1/2:1/2", "9/10", d=3, weighting="speed"),
    "threshold": Threshold(TWO, "1/2", threshold=2),
    "user": Eager("7/10", TWO),
}


@pytest.fixture(scope="module")
def good():
    return sampled_equilibrium(POLICIES["pools"], digits=30).certificate(tails=(1, 2))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_the_checker_accepts(policy):
    found = sampled_equilibrium(policy, digits=30, levels=3)
    certificate = loads(json.dumps(found.certificate(tails=(1, 3))))
    check(certificate)
    low, high = map(rational, certificate["conclusion"]["mean_queue"])
    assert 0 < high - low < Fraction(1, 10**29)


def moved(text, by):
    return hex(int(text, 16) + by)


def levels_doubled(c):
    box = c["conclusion"]["box"]
    box["levels"] = [[hex(2 * int(x, 16)) for x in row] for row in box["levels"]]


def one_level_off(c):
    row = c["conclusion"]["box"]["levels"][0]
    row[1] = moved(row[1], int(row[1], 16) >> 60)


def box_shrunk(c):
    box = c["conclusion"]["box"]
    box["radius"] = [[hex(int(x, 16) // 1000 + 1) for x in row] for row in box["radius"]]


def box_huge(c):
    box = c["conclusion"]["box"]
    box["radius"] = [[hex((1 << box["scale"]) // 2)] * len(row) for row in box["radius"]]


def box_beyond_zero(c):
    box = c["conclusion"]["box"]
    box["radius"][1][0] = hex(1 << box["scale"])


def uneven(c):
    del c["conclusion"]["box"]["levels"][1][-1]


def ratio_small(c):
    c["conclusion"]["box"]["ratio"] = "1/1" + "0" * 60


def ratio_large(c):
    c["conclusion"]["box"]["ratio"] = "999/1000"


def ratio_one(c):
    c["conclusion"]["box"]["ratio"] = "1"


def table_moved(c):
    entry = next(e for e in c["problem"]["table"][0] if e[2] == "1")
    entry[2] = "9/10"


def table_negative(c):
    table = c["problem"]["table"][0]
    first, second = [e for e in table if sorted([e[0], *e[1]]) == [0, 2]]
    first[2], second[2] = "-1", "3"


def table_without_least(c):
    c["problem"]["table"][0].append([1, [3], "1"])


def table_swapped(c):
    """Join the slower pool at ties instead: another rule, consistent in itself."""
    table = c["problem"]["table"][0]
    first, second = [e for e in table if sorted([e[0], *e[1]]) == [0, 2]]
    first[2], second[2] = "0", "2"


def d_three(c):
    c["problem"]["d"] = 3


def load_near(c):
    c["problem"]["load"] = "500000000000001/1000000000000000"


def load_unstable(c):
    c["problem"]["load"] = "11/10"


def shares_off(c):
    c["problem"]["pools"][0][2] = "3/4"


def speed_off(c):
    c["problem"]["pools"][0][1] = "7/5"


def inverse_scaled(c):
    c["proof"]["inverse"][0] -= 2  # four times the inverse; half of it still contracts


def inverse_zero(c):
    rows = c["proof"]["inverse"][1]
    c["proof"]["inverse"][1] = [["0"] * len(row) for row in rows]


def inverse_row(c):
    rows = c["proof"]["inverse"][1]
    rows[3][3] = moved(rows[3][3], 1 << 66)


def mean_narrow(c):
    low, high = map(rational, c["conclusion"]["mean_queue"])
    c["conclusion"]["mean_queue"] = [str((low + high) / 2), str(high)]


def mean_missed(c):
    low, high = map(rational, c["conclusion"]["mean_queue"])
    c["conclusion"]["mean_queue"] = [str(low), str((low + high) / 2)]


def tail_narrow(c):
    _, low, high = c["conclusion"]["tail"][1]
    c["conclusion"]["tail"][1] = [2, low, str((rational(low) + rational(high)) / 2)]


def tail_beyond(c):
    c["conclusion"]["tail"].append([100, "0", "1"])


def numbers_huge(c):
    c["conclusion"]["box"]["scale"] = 10**9


SPOILT = [f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__code__.co_varnames[:1] == ("c",)]


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda f: f.__name__)
def test_the_checker_rejects(good, spoil):
    bad = copy.deepcopy(good)
    spoil(bad)
    with pytest.raises(Rejected, match=r"^(?!malformed)"):
        check(bad)


def test_every_spoiling_is_tried():
    assert len(SPOILT) == 26


@pytest.mark.parametrize(
    "policy",
    [POLICIES["pools"], POLICIES["user"], PoolPowerOfD(TWO, "1/2", d=3)],
    ids=lambda policy: f"{type(policy).__name__}-{policy.d}",
)
def test_the_polynomials_are_the_rule(policy):
    """Psi against all samples one by one; slopes against differences, exact for what is linear in each level."""
    rule = Rule(sampled_equilibrium(policy, digits=5).certificate()["problem"])
    masses = [[5, 3, 2, 1], [7, 4, 0, 3]]
    none = [[0] * (rule.reach + 1)] * 2
    found, _ = rule.shares(masses, none)
    flow = {(j, k): fmpq(0) for j in range(2) for k in range(4)}
    for classes in product(flow, repeat=policy.d):
        weight = fmpq(1)
        for j, k in classes:
            weight *= masses[j][k]
        for i, chance in routed(policy, [Server(j, policy.pools.speeds[j], k) for j, k in classes]).items():
            flow[classes[i]] += weight * chance
    for (j, k), total in flow.items():
        assert masses[j][k] * fmpq(found[j][k][0], rule.common) == total
        assert sum(s * masses[n // 4][n % 4] for n, s in enumerate(found[j][k][2:])) == (rule.d - 1) * found[j][k][0]
        if rule.d == 2:
            for n in range(8):
                more = copy.deepcopy(masses)
                more[n // 4][n % 4] += 1
                assert rule.shares(more, none)[0][j][k][0] - found[j][k][0] == found[j][k][2 + n]


def test_mass_beyond_is_the_mass_of_more_levels():
    rule = Rule(sampled_equilibrium(POLICIES["user"], digits=5).certificate()["problem"])
    whole, cut = [[5, 3, 2, 1], [7, 4, 0, 3]], [[5, 3, 2], [7, 4, 0]]
    longer, _ = rule.shares(whole, [[0, 0]] * 2)
    shorter, _ = rule.shares(cut, [[1, 0], [3, 0]])
    for j, k in product(range(2), range(3)):
        assert shorter[j][k][0] == longer[j][k][0]
        assert shorter[j][k][1] == longer[j][k][2 + 3] * 1 + longer[j][k][2 + 7] * 3


def test_results_carry_the_certificate():
    found = balancing_quantity(POLICIES["threshold"], "mean_queue", digits=12)
    check(found.certificate)
    check(balancing_quantity(POLICIES["pools"], "tail", index=2, digits=12).certificate)


@pytest.mark.parametrize(
    "words",
    [
        ["pool-pod", f"pools={TWO}", "lam=1/2", "d=2", "--quantity", "mean_queue"],
        ["threshold", f"pools={TWO}", "lam=1/2", "threshold=2", "--quantity", "tail", "--index", "2"],
    ],
    ids=lambda words: words[0],
)
def test_the_command_line_writes_and_checks(words, tmp_path):
    file = str(tmp_path / "c.json")
    assert CliRunner().invoke(cli, ["solve", *words, "--digits", "15", "--certificate", file]).exit_code == 0
    assert CliRunner().invoke(cli, ["check", file]).output.startswith(f"ACCEPTED {file}: kind krawczyk")


def test_no_certificate_beyond_the_caps_of_the_checker():
    assert sampled_equilibrium(PoolPowerOfD(TWO, "1/2"), digits=30, levels=16).certificate() is None
