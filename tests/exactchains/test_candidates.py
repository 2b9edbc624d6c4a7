"""Laws that came from elsewhere: accepted with a true bound, widened by a wrong digit, refused when they are no law."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from exactchains import chain_from_arrays, stationary
from exactchains.chain import FiniteChain, NotAGenerator
from exactchains.enclosure import Enclosure
from exactchains.number import unwire
from exactchains.solvers.candidate import certified_candidate
from exactchains.solvers.streamed import certified_by_levels, sliced
from exactchains.solvers.streamed_certificate import levels_certificate
from exactchains.solvers.vector_file import read_vector
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted
from proofs_check.check.document import check, loads
from proofs_check.check.exact import Rejected


def random_chain(size: int, seed: int):
    """A ring with random shortcuts: irreducible, integer rates."""
    rng = np.random.default_rng(seed)
    rates = sp.lil_matrix((size, size), dtype=np.int64)
    for i in range(size):
        rates[i, (i + 1) % size] = int(rng.integers(1, 50))
        for j in rng.integers(0, size, 3):
            if j != i:
                rates[i, j] = int(rng.integers(1, 50))
    return rates.tocoo()


def by_scipy(rates) -> np.ndarray:
    """The law in doubles: one balance equation replaced by x_0 = 1."""
    Q = (rates - sp.diags(np.asarray(rates.sum(1)).ravel())).T.tocsc().astype(float)
    x = np.r_[1.0, sla.spsolve(Q[1:, 1:], -Q[1:, 0].toarray().ravel())]
    return x / x.sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_law_of_scipy_is_accepted_with_a_bound_that_holds(seed):
    rates = random_chain(60, seed)
    chain = chain_from_arrays(60, rates.row, rates.col, rates.data)
    law, exact = certified_candidate(chain, by_scipy(rates), digits=12), stationary(chain)
    assert all(law[i].contains(exact[i]) for i in range(60))
    assert law.certain_digits() >= 12 and law.method.startswith("candidate")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 59), st.floats(-0.9, 3), st.sampled_from([1e-13, 1e-9, 1e-5, 1e-2, 1.0]))
def test_a_wrong_digit_widens_the_bound_or_is_refused(i, sign, size):
    rates = random_chain(60, 7)
    chain = chain_from_arrays(60, rates.row, rates.col, rates.data)
    x = by_scipy(rates)
    x[i] *= 1 + sign * size
    exact = stationary(chain)
    try:
        law = certified_candidate(chain, x)
    except PrecisionExhausted:
        return
    assert all(law[k].contains(exact[k]) for k in range(60))
    if abs(sign) * size > 1e-6:
        assert law.certain_digits() < 10
        with pytest.raises(PrecisionExhausted, match="could not certify 10 digits of this candidate"):
            certified_candidate(chain, x, digits=10)


def test_the_certificate_of_a_candidate_is_accepted_by_the_checker():
    from proofs_check.check.document import check

    rates = random_chain(12, 3)
    law = certified_candidate(chain_from_arrays(12, rates.row, rates.col, rates.data), by_scipy(rates))
    check(law.certificate)


def test_what_is_no_candidate_is_refused_with_its_place():
    chain = FiniteChain.from_matrix([["-1", "1", 0], [1, "-2", 1], [0, 1, "-1"]])
    for bad, says in (
        ([1.0, 1.0], "shape"),
        ([1.0, -1.0, 1.0], "entry 1 is -1.0"),
        ([1.0, 1.0, float("nan")], "entry 2 is nan"),
        ([1.0, 0.0, 1.0], "entry 1 is 0.0"),
        (["1", "1", "1"], "real numbers"),
    ):
        with pytest.raises(InputError, match=says):
            certified_candidate(chain, bad)
    with pytest.raises(PrecisionExhausted, match="no law of this chain"):
        certified_candidate(chain, [1.0, 100.0, 1.0])
    split = FiniteChain.from_transitions(2, [])
    with pytest.raises(DoesNotExist):
        certified_candidate(split, [0.5, 0.5])


def test_transient_entries_are_not_read():
    chain = FiniteChain.from_transitions(3, [(0, 1, 1), (1, 2, 2), (2, 1, 3)])
    law = certified_candidate(chain, [7.0, 0.6, 0.4])
    assert law[0].is_exact and law[0].lower == 0 and law[1].contains(fmpq(3, 5)) and law[2].contains(fmpq(2, 5))


# By levels


class Tandem:
    """Two stations in a row, arrivals 1, services ``first`` and ``second``, blocked at ``most`` jobs: product form."""

    def __init__(self, first: int, second: int, most: int) -> None:
        self.first, self.second, self.most = first, second, most

    @property
    def levels(self) -> int:
        return self.most + 1

    def size(self, level: int) -> int:
        return level + 1

    def out(self, level: int):
        jobs = np.arange(level + 1)  # at the first station
        busy, other = jobs[jobs > 0], jobs[jobs < level]
        parts = [(busy, 0, busy - 1, self.first), (other, -1, other, self.second)]
        if level < self.most:
            parts.append((jobs, 1, jobs + 1, 1))
        return tuple(
            np.concatenate([np.broadcast_to(part[k], part[0].shape) for part in parts]) for k in range(4)
        )  # fmt: skip

    def law(self, level: int) -> np.ndarray:
        jobs = np.arange(level + 1)
        return (1 / self.first) ** jobs * (1 / self.second) ** (level - jobs)

    def vector(self, level: int) -> np.ndarray:
        jobs = np.arange(level + 1)
        return self.law(level) * (jobs / 2 + (level - jobs))

    def chain(self) -> FiniteChain:
        start = np.cumsum([0, *range(1, self.levels + 1)])
        triples = [
            (int(start[k] + i), int(start[k + step] + j), int(rate))
            for k in range(self.levels)
            for i, step, j, rate in zip(*self.out(k), strict=True)
        ]
        return FiniteChain.from_transitions(int(start[-1]), triples)


def exact_masses(t: Tandem) -> list[fmpq]:
    weights = [
        sum((fmpq(1, t.first) ** a * fmpq(1, t.second) ** (level - a) for a in range(level + 1)), fmpq(0))
        for level in range(t.levels)
    ]
    return [w / sum(weights, fmpq(0)) for w in weights]


@pytest.mark.parametrize(("first", "second", "most"), [(4, 4, 1), (4, 4, 30), (5, 7, 12), (3, 7, 20)])
def test_levels_enclose_the_product_form(first, second, most):
    t = Tandem(first, second, most)
    found = certified_by_levels(t, candidate=t.law, vector=t.vector)
    masses = exact_masses(t)
    assert all(m.contains(x) for m, x in zip(found.masses, masses, strict=True))
    assert found.mean_level().contains(sum((k * x for k, x in enumerate(masses)), fmpq(0)))
    assert found.mean_level().has_digits(9) and found.error < 1e-10
    one = found.entry(1, 1)
    assert one.contains(masses[1] * fmpq(1, first) / (fmpq(1, first) + fmpq(1, second)))
    assert found.states == (most + 1) * (most + 2) // 2


def test_levels_and_whole_chain_agree():
    t = Tandem(4, 5, 8)
    whole = stationary(t.chain())
    found = certified_by_levels(t, candidate=t.law, vector=t.vector)
    place = 0
    for level in range(t.levels):
        for k in range(level + 1):
            assert found.entry(level, k).contains(whole[place])
            place += 1


def test_the_checker_accepts_what_was_proved_by_levels():
    for t in (Tandem(4, 5, 1), Tandem(4, 5, 8), Tandem(3, 7, 12)):
        document = loads(json.dumps(levels_certificate(t, candidate=t.law, vector=t.vector)))
        check(document)
        exact = stationary(t.chain())
        for state, lower, upper in document["conclusion"]["entries"]:
            assert Enclosure(unwire(lower), unwire(upper)).contains(exact[state])


def spoiled(document: dict, part: str, key: str, change) -> dict:
    made = json.loads(json.dumps(document))
    made[part][key] = change(made[part][key])
    return made


@pytest.mark.parametrize(
    ("part", "key", "change"),
    [
        ("proof", "vector", lambda u: ["0"] * len(u)),
        ("proof", "vector", lambda u: u[:-1]),
        ("proof", "vector", lambda u: [u[0], "-" + u[1], *u[2:]]),
        ("proof", "vector", lambda u: ["1", *u[1:]]),
        ("proof", "vector", lambda u: [u[0], str(1000 * int(u[1])), *u[2:]]),
        ("proof", "law", lambda x: [[str(2 * int(x[0][0])), x[0][1]], *x[1:]]),
        ("proof", "law", lambda x: [["0", x[0][1]], *x[1:]]),
        ("proof", "reference", lambda r: 1),
        ("conclusion", "entries", lambda e: [[0, e[0][2], e[0][2]], *e[1:]]),
        ("conclusion", "entries", lambda e: [*e[:-1], [len(e), *e[-1][1:]]]),
        ("problem", "transitions", lambda t: [[*t[0][:2], str(int(t[0][2]) + 1)], *t[1:]]),
        ("problem", "transitions", lambda t: t[1:]),
        ("problem", "states", lambda n: n + 1),
    ],
)
def test_the_checker_rejects_what_is_spoiled(part, key, change):
    t = Tandem(4, 5, 6)
    document = levels_certificate(t, candidate=t.law, vector=t.vector)
    with pytest.raises(Rejected):
        check(loads(json.dumps(spoiled(document, part, key, change))))


def test_a_file_of_too_many_states_is_refused():
    t = Tandem(4, 5, 700)
    with pytest.raises(InputError, match="at most 200000"):
        levels_certificate(t, candidate=t.law, vector=t.vector)


def test_a_wrong_digit_shows_in_levels_too(tmp_path):
    t = Tandem(4, 5, 10)
    law, vector = (np.concatenate([part(k) for k in range(t.levels)]) for part in (t.law, t.vector))
    exact = exact_masses(t)
    bounds = []
    for error in (0, 1e-12, 1e-6, 1e-2):
        wrong = law.copy()
        wrong[17] *= 1 + error
        np.save(tmp_path / "x.npy", wrong)
        read = sliced(read_vector(tmp_path / "x.npy"), t)
        found = certified_by_levels(t, candidate=read, vector=sliced(vector, t))
        assert all(m.contains(x) for m, x in zip(found.masses, exact, strict=True))
        bounds.append(found.error)
    assert bounds == sorted(bounds) and bounds[0] < 1e-13 < bounds[1] < 1e-9 < bounds[2] < bounds[3]
    wrong[17] *= 1000
    with pytest.raises(PrecisionExhausted, match="could not certify 1 digit"):
        certified_by_levels(t, candidate=sliced(wrong, t), vector=sliced(vector, t))


def test_vectors_that_prove_nothing_are_refused():
    t = Tandem(4, 4, 5)
    for vector, says in (
        (lambda level: t.law(level) * (level > 0), "proves nothing"),  # no drift: constant above the reference
        (lambda level: t.law(level), "0 in the reference state"),
        (lambda level: t.vector(level)[:-1], "shape"),
        (lambda level: -t.vector(level), "positive and finite"),
    ):
        with pytest.raises((PrecisionExhausted, InputError), match=says):
            certified_by_levels(t, candidate=t.law, vector=vector)
    with pytest.raises(InputError, match="shape"):
        sliced(np.ones(7), t)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([(0, 0, 0, 1)], "to itself"),
        ([(0, 2, 0, 1)], "steps"),
        ([(0, 1, 5, 1)], "not there"),
        ([(0, -1, 0, 1)], "not there"),
        ([(0, 1, 0, 0)], "rates > 0"),
    ],
)
def test_levels_that_are_no_chain_are_refused(rows, says):
    class Bad(Tandem):
        def out(self, level):
            return tuple(np.array(column) for column in zip(*rows, strict=True)) if level == 0 else super().out(level)

    t = Bad(4, 4, 3)
    with pytest.raises(NotAGenerator, match=says):
        certified_by_levels(t, candidate=t.law, vector=t.vector)


# Files


def test_vectors_come_back_from_all_formats(tmp_path):
    x = np.array([0.1, 1e-300, 5e-324, 1 / 3, 7.0])
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "x.txt").write_text("\n".join(map(repr, x.tolist())))
    for word in (4, 8):
        head = b"".join(n.to_bytes(word, "big") for n in (1211214, len(x)))
        (tmp_path / f"x{word}.petsc").write_bytes(head + x.astype(">f8").tobytes())
    for name in ("x.npy", "x.txt", "x4.petsc", "x8.petsc"):
        assert np.array_equal(read_vector(tmp_path / name), x)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.txt", b"1.0\nnan\n", "'nan' as entry 1"),
        ("x.txt", b"1.0 0x1p3", "'0x1p3' as entry 1"),
        ("x.txt", b"1_000", "'1_000'"),
        ("x.txt", b"", "nothing"),
        ("x.txt", b"\xff\xfe", "ASCII"),
        ("x.petsc", b"\0" * 32, "no PETSc"),
        ("x.petsc", (1211214).to_bytes(4, "big") + (9).to_bytes(4, "big") + b"\0" * 16, "9 entries announced, 2"),
        ("x.npy", b"\x93NUMPY", "no whole .npy"),
        ("x.npy", b"", "no whole .npy"),
        ("x.csv", b"1", "files are read"),
    ],
)
def test_files_that_hold_no_vector_are_refused(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=says):
        read_vector(tmp_path / name)
    with pytest.raises(InputError, match="cannot be read"):
        read_vector(tmp_path / "missing.npy")


def test_pickles_and_matrices_in_npy_files_are_refused(tmp_path):
    for k, array in enumerate(
        [np.array([{"a": 1}], dtype=object), np.ones((2, 2)), np.ones(3, int), np.ones(2, complex)]
    ):
        np.save(tmp_path / f"{k}.npy", array, allow_pickle=True)
        with pytest.raises(InputError, match=r"vector of doubles|whole"):
            read_vector(tmp_path / f"{k}.npy")
