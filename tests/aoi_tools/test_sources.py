"""Markov sources: reference values, closed law = mode chain, large sources, windows, and bad sources."""

import json
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from aoi_tools import (
    Actual,
    Code,
    LastDecoded,
    Markov,
    NotIrreducible,
    Sampling,
    Source,
    age_law,
    age_quantity,
    named_source,
    window,
)
from aoi_tools.models.source_library import reflected_walk
from aoi_tools.models.windows import HammingBall, Listed, LowBits, Predicate, Range
from aoi_tools.solvers.markov import source_law
from aoi_tools.solvers.visits import Visits, law_of
from exactchains import QQ, Balls, DoesNotExist, Fractions, InputError, NotAGenerator
from exactchains.document import parsed, read_document
from exactchains.domain import encloses
from exactchains.number import parse
from proofs_check.catalogue import find

DATA = json.loads((Path(__file__).parent.parent / "data" / "aoi_values.json").read_text())
NAMES = {"S1-cyclic8": "cyclic8", "S2-reflect8": "reflected8", "S3-regime8": "regime8"}
QUANTITY = {
    "slot_mean": "slot_mean",
    "slot_var": "slot_variance",
    "decoding_failure": "failure",
    "inter_success_mean": "gap_mean",
    "inter_success_second_moment": "gap_second_moment",
    "bit_mean_age": "age_mean",
    "bit_var_age": "age_variance",
    "bit_mean_peak_age": "peak_mean",
}


def test_named_sources_are_the_reference_matrices():
    for label, name in NAMES.items():
        source, expected = named_source(name), DATA["source_matrices"][label]["matrix"]
        assert [[source.rows[i].get(j, 0) for j in range(8)] for i in range(8)] == [
            [parse(x) for x in r] for r in expected
        ]


@pytest.mark.parametrize("case", DATA["sources"], ids=lambda c: f"{c['source']}-{c['n']}-{c['k']}")
def test_reference_values_to_forty_digits(case):
    code = Code("rpc", case["n"], case["m"], case["eps"], case["k"])
    k, full = case["k"], case["m"]
    word = "0" if k == 0 else "all" if k == full else f"{-(2 ** (k - 1))}..{2 ** (k - 1) - 1}"
    source, sampling = named_source(NAMES[case["source"]]), Sampling(case["n"])
    for scheme, key in ((Markov, "GM"), (LastDecoded, "LD")):
        for name, quantity in QUANTITY.items():
            if name in case.get(key, {}):
                made = scheme(code.actual, code.differential, source, window(word))
                close(age_quantity(made, quantity, digits=40, sampling=sampling), case[key][name])
        for j, expected in enumerate(case.get(key, {}).get("slot_pmf", [])):
            made = scheme(code.actual, code.differential, source, window(word))
            close(age_quantity(made, "slot_pmf", index=j, digits=40), expected)
    plain = age_quantity(Actual(code.actual), "slot_mean", digits=40)
    threshold = age_quantity(Markov(code.actual, code.differential, source, window(word)), "slot_mean", digits=40)
    gain = parse(case["gain_over_TU"])
    assert abs(plain.lower - threshold.lower - gain) <= fmpq(1, 10**38)


def close(result, expected: str) -> None:
    assert result.enclosure.has_digits(40)
    value = parse(expected)
    assert abs((result.lower + result.upper) / 2 - value) <= abs(value) / 10**40


weights = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)
chances = st.integers(0, 6).map(lambda i: fmpq(i, 7))


@given(
    st.lists(weights, min_size=3, max_size=3), chances, chances, st.sampled_from(["0", "-1..0", "0..1", "1,2", "all"])
)
def test_closed_law_is_the_mode_chain(rows, p, d, word):
    """Random three-state sources, d > p and periodic or reducible ones included."""
    source = Source.of([[fmpq(x, sum(row)) for x in row] for row in rows])
    for scheme in (Markov, LastDecoded):
        try:
            made = scheme(p, d, source, window(word))
        except NotIrreducible:
            return
        closed, chain = age_law(made), age_law(made, method="chain")
        assert closed.mean() == chain.mean() and closed.variance() == chain.variance()
        for j in range(4):
            assert closed.pmf(j) == chain.pmf(j) and closed.ccdf(j) == chain.ccdf(j)
            assert closed.gap_pmf(j + 1) == chain.gap_pmf(j + 1)


def test_symbolic_two_state_source():
    F = Fractions("p", "d", "u", "v")
    p, d, u, v = F.gens
    source = Source(({0: 1 - u, 1: u}, {0: v, 1: 1 - v}), domain=F)
    for scheme in (Markov, LastDecoded):
        made = scheme(p, d, source, window("0"))
        closed, chain = age_law(made, domain=F), age_law(made, domain=F, method="chain")
        assert closed.mean() == chain.mean() and closed.pmf(2) == chain.pmf(2)
        point = {"p": fmpq(1, 2), "d": fmpq(1, 10), "u": fmpq(1, 3), "v": fmpq(1, 5)}
        numbers = Source.of([["2/3", "1/3"], ["1/5", "4/5"]])
        assert F.at(closed.mean(), point) == age_law(scheme("1/2", "1/10", numbers, window("0"))).mean()


def test_last_decoded_is_below_markov_is_below_actual():
    source, word = named_source("regime8"), window("-1..1")
    laws = [
        age_law(s)
        for s in (LastDecoded("1/2", "1/10", source, word), Markov("1/2", "1/10", source, word), Actual("1/2"))
    ]
    for j in range(8):
        tails = [law.ccdf(j) for law in laws]
        assert tails == sorted(tails)


def test_large_sources_have_thirty_digits():
    cyclic = named_source("cyclic-walk:4096,1/4,1/4")
    result = age_quantity(Markov("1/2", "1/10", cyclic, window("-8..7")), "age_mean", digits=30, sampling=Sampling(20))
    assert result.status == "exact"  # every step is small: feedback with d
    assert result.lower == age_law(
        Markov("1/2", "1/10", named_source("cyclic-walk:8,1/4,1/4"), window("all"))
    ).age_mean(Sampling(20))
    walk = named_source("autoregressive:512,9/10,6")
    bounded = age_quantity(Markov("1/2", "1/10", walk, window("-2..1")), "slot_mean", digits=30)
    assert bounded.enclosure.has_digits(30)


def test_certified_visits_of_large_chains_hold_the_exact_ones():
    """A reflected walk of 450 states (the refined method) against its product-form law and exact visits."""
    size, up, down = 450, fmpq(1, 5), fmpq(1, 4)
    source, domain = reflected_walk(size, up, down), Balls(120)
    with domain.working():
        law = law_of([{j: domain.convert(x) for j, x in row.items()} for row in source.rows], domain)
    ratio = up / down
    total = (1 - ratio**size) / (1 - ratio)
    for i in (0, 1, 200, 449):
        assert encloses(law[i], ratio**i / total)
        assert law[i].rad().fmpq() < ratio**i / total / 10**20
    rows = [{j: x * fmpq(9, 10) for j, x in row.items()} for row in source.rows]
    exact = Visits(rows, [fmpq(1, 10)] * size, QQ).row([fmpq(int(i == 0)) for i in range(size)])
    with domain.working():
        balls = Visits(
            [{j: domain.convert(x) for j, x in row.items()} for row in rows], [domain.convert("1/10")] * size, domain
        )
        found = balls.row([domain.convert(int(i == 0)) for i in range(size)])
    assert all(encloses(b, x) for b, x in zip(found, exact, strict=True))


def test_general_law_matches_uniform_law_and_gth():
    source = named_source("regime8")
    assert all(encloses(b, x) for b, x in zip(source_law(source, Balls(100)), source_law(source, QQ), strict=True))


@pytest.mark.parametrize(
    ("word", "old", "new", "cyclic", "inside"),
    [
        ("-1..1", 0, 7, 8, True),  # 7 is -1 on the cycle
        ("-1..1", 0, 7, None, False),
        ("4", 0, 4, 8, False),  # 4 is reduced to -4
        ("-4", 0, 4, 8, True),
        ("2..5", 0, 5, 8, False),
        ("2", 0, 2, 5, True),  # odd cycle: -2..2
        ("-2", 0, 3, 5, True),
        ("xor:2", 4, 7, None, True),
        ("xor:2", 3, 4, None, False),
        ("hamming:1", 5, 4, None, True),
        ("hamming:1", 5, 6, None, False),
        ("1/2, 3/2", 0, 1, None, False),
        ("all", 0, 99, None, True),
    ],
)
def test_windows(word, old, new, cyclic, inside):
    assert window(word).weight(fmpq(old), fmpq(new), cyclic) == int(inside)


def test_vector_values_predicates_and_randomised_thresholds():
    grid = [[x, y] for x in range(2) for y in range(3)]
    matrix = [[fmpq(1, 6)] * 6] * 6
    source = Source.of(matrix, values=grid)
    assert source.dimension == 2 and source.bits == 3
    box, near = source.split(Range(-1, 1)), source.split(HammingBall(1))
    assert box[0][0][1] == fmpq(1, 6) and 2 not in box[0][0]  # (0,0) -> (0,2) is too far
    assert set(near[0][0]) == {0, 1, 2, 3}
    same = source.split(Predicate(lambda old, new: old[0] == new[0]))
    assert set(same[0][0]) == {0, 1, 2}
    half = Listed.of({0: 1, 1: "1/2", -1: "1/2"})
    cyclic = named_source("cyclic8")
    alpha = fmpq(1, 2) + fmpq(1, 8)
    assert age_law(Markov("1/2", "1/10", cyclic, half)).mean() == 1 - alpha * fmpq(4, 10) / (1 - alpha * fmpq(4, 10))


def test_hidden_source_shares_values():
    plain = Source.of([["1/2", "1/2"], ["1/2", "1/2"]])
    hidden = Source.of([["1/4"] * 4] * 4, values=[0, 0, 1, 1])
    laws = [age_law(Markov("1/2", "1/5", s, window("0"))).variance() for s in (plain, hidden)]
    assert laws[0] == laws[1] and hidden.bits == 1


def test_periodic_source_is_fine_and_flip_at_p0_d1_is_not():
    flip = Source.of([[0, 1], [1, 0]])
    assert flip.period == 2
    assert age_law(Markov("1/2", "1/10", flip, window("all"))).mean() == fmpq(1, 3)
    # p = 0, d = 1: the modes fall into two classes, but in both the slot age alternates 0, 1
    assert age_law(Markov(0, 1, flip, window("all"))).mean() == fmpq(1, 2)
    with pytest.raises(DoesNotExist, match="no unique age law"):
        age_law(Markov(0, 1, flip, window("all")), method="chain")


def test_reducible_source_lists_its_classes():
    source = Source.of([[1, 0, 0], [0, "1/2", "1/2"], [0, "1/2", "1/2"]])
    with pytest.raises(NotIrreducible, match=r"2 closed classes of states \(0; 1, 2\)"):
        Markov("1/2", "1/10", source, window("0"))
    assert source.restricted(2).size == 2
    transient = Source.of([["1/2", "1/2", 0], [0, "1/2", "1/2"], [0, "1/2", "1/2"]])
    assert Markov("1/2", "1/10", transient, window("0")).source.size == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Source.of([["1/2", "1/3"], [0, 1]]), NotAGenerator, "row 0"),
        (lambda: Source.of([["3/2", "-1/2"], [0, 1]]), NotAGenerator, "negative"),
        (lambda: Source.of([[1, 0]]), NotAGenerator, "expected 1"),
        (lambda: Source.of([[1]], values=[1, 2]), InputError, "2 given for 1 states"),
        (lambda: Source.of([["1/2"] * 2] * 2, values=[1, [1, 2]]), InputError, "mixed"),
        (lambda: Source.of([[1]], cyclic=0), InputError, "cyclic = 0"),
        (lambda: window(""), InputError, "window = ''"),
        (lambda: window("3..1"), InputError, "is empty"),
        (lambda: window("xor:-1"), InputError, "write lo..hi"),
        (lambda: LowBits(1).weight(fmpq(-1), fmpq(0), None), InputError, "integers >= 0"),
        (lambda: named_source("nowhere"), InputError, "source = 'nowhere'"),
        (lambda: named_source("autoregressive:5,1/2,-1"), InputError, "spread = -1: an integer from 0 to 500000"),
        (lambda: named_source("circulant:" + ",".join(["1/3000"] * 3000)), InputError, "9000000 transitions"),
        (lambda: Source.from_document({"matrix": [["1"]], "colour": "red"}), InputError, "unknown field 'colour'"),
        (lambda: Source.from_document({"matrix": [["1"]], "states": ["calm"]}), InputError, "states: a number, here 1"),
        (lambda: Source.from_document({}), InputError, "either matrix"),
        (lambda: Source.from_document({"states": "2", "transitions": [["0", "1"]]}), InputError, "no triple"),
        (
            lambda: Source.from_document({"states": "100000000", "transitions": [["0", "0", "1"]]}),
            InputError,
            "states = 100000000: only 1 transitions",
        ),
        (lambda: Source.from_document({"matrix": [[True]]}), InputError, "True is a truth value"),
        (lambda: Source.from_document(parsed("matrix = [[1979-05-27]]", toml=True)), InputError, "is a date"),
        (lambda: parsed('{"a": 1, "a": 2}'), InputError, "occurs twice"),
        (lambda: parsed('{"a": NaN}'), InputError, "NaN is no number"),
        (lambda: parsed("a = nan", toml=True), InputError, "nan is no number"),
        (lambda: parsed("[" * 10_000), InputError, "nested deeper"),
        (lambda: parsed("{"), InputError, "not valid JSON"),
        (lambda: parsed("[1]"), InputError, "a table"),
    ],
)
def test_bad_sources_and_files(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    for name, text in (("s.toml", "matrix = [[1]]"), ("s.json", '{"matrix": [[1]]}')):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert Source.from_document(read_document(tmp_path / name)).size == 1


def test_source_files_read_numbers_as_text(tmp_path):
    toml, plain = tmp_path / "s.toml", tmp_path / "s.json"
    toml.write_text("cyclic = 2\nmatrix = [[0.7, 0.3], [0.3, 0.7]]\n")
    plain.write_text('{"states": 2, "transitions": [[0,0,0.7],[0,1,0.3],[1,0,0.3],[1,1,0.7]], "cyclic": 2}')
    model = find("age.markov")
    for path in (toml, plain):
        thing = model.make({"p": "1/2", "d": "1/10", "source": str(path), "window": "0"})
        assert thing.scheme.source.rows[0][0] == fmpq(7, 10)
        value = model.results(thing, ["slot_mean"], [], 20)[0].value
        alpha = fmpq(7, 10)
        assert value == 1 - alpha * fmpq(4, 10) / (1 - alpha * fmpq(4, 10))


def test_window_must_fit_into_k_bits():
    words = {"code": "rpc", "n": "10", "m": "3", "k": "1", "eps": "2/5", "source": "cyclic8", "window": "-1..1"}
    model = find("age.markov")
    with pytest.raises(InputError, match="3 differences do not fit into k = 1"):
        model.make(words)
    assert model.make(words | {"check_bits": "no"}).scheme.source.size == 8


def test_states_must_fit_into_m_symbols():
    words = {
        "code": "rpc",
        "n": "10",
        "m": "2",
        "k": "1",
        "eps": "2/5",
        "source": "cyclic-walk:8,1/4,1/4",
        "window": "0",
    }
    model = find("age.markov")
    with pytest.raises(InputError, match="8 states do not fit into m = 2 bits"):
        model.make(words)
    wide = model.make(words | {"field": "3", "window": "threshold"}).scheme  # 9 words, 3 differences: -1, 0, 1
    assert wide.window.size(1, 3) == 3
    assert model.make(words | {"check_bits": "no"}).scheme.source.size == 8
