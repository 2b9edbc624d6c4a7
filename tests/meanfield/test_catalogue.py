"""The load-balancing models of the catalogue: parameters, quantities, refusals in one line."""

import pytest
from flint import fmpq

from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from proofs_check.catalogue import find, models
from proofs_check.catalogue.constants import DRIFT
from proofs_check.check.document import check

TWO = {"pools": "1/2:3/2,1/2:1/2"}
NAMES = ("pod.load-dependent", "pod.load-independent", "jsq", "sa-jsq", "jiq", "sa-jiq", "sed", "random")


def _solve(name, quantity, digits=10, index=(0,), **words):
    model = find(name)
    return model.results(model.make(words), [quantity], list(index), digits)


def test_all_models_are_listed():
    assert set(NAMES) <= {m.name for m in models()}
    for name in NAMES:
        assert find(name).conventions


def test_symbols_and_names_are_the_same_parameter():
    (a,) = _solve("pod.load-dependent", "mean_response", d="2", g="2", eps="1/2", lam="9/10")
    (b,) = _solve("pod.load-dependent", "mean_response", d="2", g="2", epsilon="0.5", load="0.9")
    assert a.enclosure == b.enclosure
    assert a.digits(10) == "3.290582157"
    check(a.certificate)


@pytest.mark.parametrize("name", NAMES[2:])
def test_limits_of_pools(name):
    results = {
        q.name: _solve(name, q.name, lam="1/2", index=(1,), **TWO)
        for q in find(name).quantities
        if q.name not in ("blocking", "time_average_variance", "response_ccdf")
        and q not in DRIFT  # these need n, at, a buffer
    }
    assert results["optimal_response"][0].value == fmpq(2, 3)
    assert results["stability_limit"][0].value == 1
    assert results["mean_response"][0].lower >= fmpq(2, 3)
    assert results["speedup"][0].upper <= 3
    assert results["mean_queue"][0].lower == results["mean_response"][0].lower / 2
    idle, tail = results["idle"][0], results["tail"][0]
    assert idle.lower == 1 - tail.upper


@pytest.mark.parametrize("name", NAMES[2:])
def test_two_servers_of_pools(name):
    extra = {"fallback": "speed"} if "jiq" in name else {}
    (mean,) = _solve(name, "mean_response", digits=8, lam="1/2", n="2", **TWO, **extra)
    assert fmpq(2, 3) < mean.lower < mean.upper + fmpq(1, 10**6)
    joined = _solve(name, "joined", digits=6, index=(0, 1, 2), lam="1/2", n="2", **TWO, **extra)
    assert joined[0].value == 1
    assert joined[2].upper < joined[1].lower
    busy = _solve(name, "busy", digits=6, index=range(8), lam="1/2", n="2", **TWO, **extra)
    assert len(busy) == 2
    total = fmpq(3, 4) * busy[0].lower + fmpq(1, 4) * busy[1].lower
    assert abs(total - fmpq(1, 2)) < fmpq(1, 10**5)


@pytest.mark.parametrize(("name", "words"), [("pool-pod", {"d": "2", "weighting": "speed"}), ("threshold", {})])
def test_models_that_sample_pools(name, words):
    """With speeds as weights both keep each pool busy at the load; at finite n, against few jobs at a server."""
    (mean,) = _solve(name, "mean_queue", lam="1/2", **TWO, **words)
    (busy,) = _solve(name, "busy", lam="1/2", index=(1,), **TWO, **words)
    assert busy.lower <= fmpq(1, 2) <= busy.upper
    assert fmpq(1, 2) < mean.lower < mean.upper < 1
    (few,) = _solve(name, "mean_queue", lam="1/2", n="2", buffer="4", **TWO, **words)
    assert few.value is not None and fmpq(1, 2) < few.value < 1


def test_two_of_two_servers_in_pools_are_shortest_queue_by_their_ties():
    """d = n = 2 without replacement: jsq with ties at random, sa-jsq with ties to the fastest."""
    words = {"lam": "1/2", "n": "2", **TWO}
    for ties, name in (("random", "jsq"), ("fastest", "sa-jsq")):
        (sampled,) = _solve("pool-pod", "mean_queue", digits=8, d="2", ties=ties, **words)
        assert sampled.enclosure.overlaps(_solve(name, "mean_queue", digits=8, **words)[0].enclosure)
    (twice,) = _solve("pool-pod", "mean_queue", digits=8, d="2", replacement="yes", **words)
    assert twice.lower > sampled.upper


def test_response_time_distribution():
    """M/M/1: exp(-(1 - load) t); the limit of JIQ: one unit stage; the mean is the integral of the tail."""
    (random,) = _solve("random", "response_ccdf", digits=20, pools="1:1", lam="1/2", n="2", at="3")
    assert random.digits(20) == "0.22313016014842982893"
    (idle,) = _solve("jiq", "response_ccdf", digits=20, pools="1:1", lam="9/10", at="1")
    assert idle.digits(20) == "0.36787944117144232159"
    at_zero = _solve("pod.load-dependent", "response_ccdf", d="2", g="1", eps="1/2", lam="4/5", at="0")[0]
    assert at_zero.enclosure.contains(1)
    words = {"d": "2", "g": "1", "eps": "1/2", "lam": "4/5"}
    (mean,) = _solve("pod.load-dependent", "mean_response", **words)
    step, total = 0.25, 0.5
    for i in range(1, 160):
        (tail,) = _solve("pod.load-dependent", "response_ccdf", digits=6, at=f"{i * step}", **words)
        total += float(tail.lower.p) / int(tail.lower.q)
    assert abs(step * total - float(mean.lower.p) / int(mean.lower.q)) < 0.01
    with pytest.raises(InputError, match="needs at"):
        _solve("random", "response_ccdf", pools="1:1", lam="1/2")
    (pools,) = _solve("sa-jsq", "response_ccdf", digits=8, lam="1/2", n="2", at="3", **TWO)
    assert pools.digits(8) == "0.12270594"


def test_certificates_of_finite_systems():
    (mean,) = _solve("sa-jsq", "mean_queue", digits=12, lam="1/2", n="2", **TWO)
    check(mean.certificate)
    assert mean.certificate["kind"] == "comparison"
    (pair,) = _solve("jiq", "mean_queue", digits=8, lam="1/2", n="2", **TWO)
    check(pair.certificate)


@pytest.mark.parametrize(
    ("name", "words", "error", "said"),
    [
        ("sa-jsq", {"pools": "1/2:3/2,1/3:1/2", "lam": "1/2"}, InputError, "sum to 5/6"),
        ("sa-jsq", {"pools": "1/2:2,1/2:1", "lam": "1/2"}, InputError, "rescaled: pools=1/2:4/3"),
        ("sa-jsq", {**TWO, "lam": "1/2", "n": "3"}, InputError, "multiple of 2"),
        ("threshold", {**TWO, "lam": "1/2", "n": "2"}, InputError, "set buffer, or leave out n"),
        ("sa-jsq", {**TWO, "lam": "1"}, InputError, "load = 1"),
        ("sa-jsq", {**TWO, "lam": "1/2", "eps": "1/2"}, InputError, "no parameter 'eps'"),
        ("pod.load-dependent", {"d": "3", "g": "1", "eps": "1", "lam": "1/2", "n": "2"}, InputError, "lower d"),
        ("pod.load-dependent", {"d": "2", "g": "1", "eps": "3/2", "lam": "1/2"}, InputError, "from 0 to 1"),
        ("pod.load-independent", {"d": "2", "eps": "4/5", "lam": "7/10"}, DoesNotExist, "limit 5/8"),
        ("pod.load-independent", {"d": "2", "eps": "4/5", "lam": "7/10", "n": "3"}, DoesNotExist, "limit 5/8"),
        ("jiq", {**TWO, "lam": "76/100", "n": "2"}, DoesNotExist, "limit 3/4"),
        ("jiq", {**TWO, "lam": "3/5", "n": "4"}, Undecided, "set buffer"),
        ("jsq", {**TWO, "lam": "1/2", "buffer": "3"}, InputError, "needs n"),
    ],
)
def test_refusals_are_one_line(name, words, error, said):
    with pytest.raises(error, match=said) as caught:
        _solve(name, "mean_response", **words)
    assert "\n" not in str(caught.value)


def test_digits_out_of_reach_are_said():
    with pytest.raises(PrecisionExhausted, match="digits"):
        _solve("pod.load-independent", "mean_response", digits=60, d="2", eps="2/5", lam="0.5", n="3")
