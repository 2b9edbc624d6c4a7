"""Work spread over processes: the same answers and the same bytes as without, in the same order."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import pytest

from aoi_tools import Design, Feedback, best
from exactchains import certified_by_levels, read_vector
from exactchains.solvers.streamed import sliced
from exactchains.spread import processes, spread
from exactchains.truth import DoesNotExist, InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.design import best_parameter, crossings, switching_points
from proofs_check.plots import paths
from proofs_check.report.page import write_report
from proofs_check.store import Store
from proofs_check.tables.evaluation import table
from proofs_check.tables.sheet import FORMATS, written
from proofs_check.tables.spec import from_text
from proofs_check.user_claims import verdicts
from proofs_check.verify import to_json, verify

MIXED = """
[parameters]
d = 2
lam = "4/5"
[rows]
eps = ["1/5", "3/5", "7/10"]
[[columns]]
model = "pod.load-independent"
quantity = "mean_response"
[[columns]]
model = "pod.load-independent"
quantity = "stability_limit"
without = ["lam"]
parameters = { lam = "1/2" }
form = "root"
"""

CLAIMS = """
[[claim]]
variables = ["x"]
statement = "x*(1-x) <= 1/4"
[[claim]]
variables = ["x"]
domain = ["x > 0"]
statement = "x > 1"
expect = "refuted"
[[claim]]
variables = ["x"]
integers = ["n >= 0"]
domain = ["x >= -1"]
statement = "(1+x)^n >= 1 + n*x"
"""

PATHS = """
slots = 40
[[paths]]
model = "age.feedback"
parameters = { n = 10, p = "1/2", d = "1/10" }
[[paths]]
model = "age.actual"
parameters = { n = 10, p = "1/2" }
"""


class Counting(ProcessPoolExecutor):
    """A process pool that counts how often it is asked."""

    asked = 0

    def map(self, *words, **options):
        self.asked += 1
        return super().map(*words, **options)


@pytest.fixture(scope="module")
def elsewhere():
    """One process: what differs between here and there shows with one as with many, and each costs a start."""
    with Counting(1, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.fixture
def pool(elsewhere):
    """The process pool, which the test must have asked."""
    before = elsewhere.asked
    yield elsewhere
    assert elsewhere.asked > before


def texts(made) -> list[str]:
    return [written(made, form) for form in FORMATS]


# Tables, claims, reports, figures


def test_a_table_is_the_same_bytes_and_reports_every_cell(pool):
    seen: list[tuple[int, int]] = []
    asked = from_text(MIXED)
    made = table(asked, executor=pool, progress=lambda done, total: seen.append((done, total)))
    assert texts(made) == texts(table(asked))
    assert "none" in written(made, "text") and seen == [(i, 6) for i in range(1, 7)]


def test_closed_forms_come_back_from_a_process(pool):
    assert texts(table("P5.periodic-closed-forms", executor=pool)) == texts(table("P5.periodic-closed-forms"))


def test_a_store_learns_from_processes_what_it_learns_here(pool, tmp_path):
    asked, known = from_text(MIXED), []
    for name, executor in (("here", None), ("there", pool)):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            made = table(asked, store=store, executor=executor)
            assert texts(table(asked, store=store, executor=executor)) == texts(made)
            known.append({q.key: (a.status, a.lower, a.upper, a.reason) for q, a in store.rows()})
    assert known[0] == known[1] and len(known[0]) == 6


def test_claims_get_the_same_verdicts_and_a_report_the_same_bytes(pool, tmp_path):
    here, there = (verify("age.feedback.gain", "age.periodic.*", executor=e) for e in (None, pool))
    assert len(here) > 2 and untimed(here) == untimed(there)
    for name, executor in (("here", None), ("there", pool)):
        write_report(here[:1], tmp_path / name, executor=executor)
    pages = [p.relative_to(tmp_path / "here") for p in (tmp_path / "here").rglob("*.*")]
    assert len(pages) == 3
    assert all((tmp_path / "here" / p).read_bytes() == (tmp_path / "there" / p).read_bytes() for p in pages)


def test_claims_of_a_user_get_the_same_verdicts_and_certificates(pool, tmp_path):
    (tmp_path / "my.toml").write_text(CLAIMS, encoding="utf-8")
    here, there = (list(verdicts(tmp_path / "my.toml", executor=e)) for e in (None, pool))
    assert [v.status.value for v in here] == ["PROVED", "REFUTED", "PROVED"]
    assert untimed(here) == untimed(there) and all(v.certificate for v in there)
    assert [v.claim.witness for v in here] == [v.claim.witness for v in there]


def untimed(found) -> list[dict]:
    return [{key: x for key, x in to_json(v).items() if key != "seconds"} for v in found]


def test_paths_are_the_same_points(pool):
    asked = paths.from_text(PATHS)
    assert paths.drawn(asked, executor=pool) == paths.drawn(asked)


# Design problems


def test_best_integers_with_ties_and_without_law_are_the_same(pool):
    coded = find("age.feedback"), {"code": "rpc", "m": "8", "k": "0", "eps": "1/4"}, ("n", 8, 20), "age_mean"
    tied = find("age.periodic"), {"p": "1/2", "d": "0"}, ("q", 0, 3), "slot_mean"
    for model, words, over, minimise in (coded, tied):
        here, there = (best_parameter(model, words, over=over, minimise=minimise, executor=e) for e in (None, pool))
        assert here == there and list(here.values) == list(there.values)
    lost = find("age.actual"), {"code": "rpc", "m": "8", "eps": "1"}
    for executor in (None, pool):
        with pytest.raises(DoesNotExist, match="no age law exists for any of the 2 candidates"):
            best_parameter(*lost, over=("n", 8, 9), minimise="age_mean", executor=executor)


def test_switching_points_and_crossings_are_the_same(pool):
    model, words = find("age.feedback"), {"code": "rpc", "n": "12", "m": "8"}
    asked = {"over": ("k", 0, 2), "along": ("eps", "1/100", "99/100"), "minimise": "age_mean"}
    assert switching_points(model, words, executor=pool, **asked) == switching_points(model, words, **asked)
    models = [find("age.feedback"), find("age.periodic")]
    both = [{"d": "1/4"}, {"d": "0", "q": "2"}]
    asked = {"along": ("p", "1/4", "3/4"), "quantity": "slot_mean"}
    here, there = (crossings(models, both, executor=e, **asked) for e in (None, pool))
    assert here == there and here


# Levels


@dataclass(frozen=True)
class Tandem:
    """Two stations in a row, arrivals at rate 1, services at rate 4."""

    levels: int

    def size(self, level: int) -> int:
        return level + 1

    def out(self, level: int):
        jobs = np.arange(level + 1)
        moves = [(jobs[1:], 0, jobs[1:] - 1, 4), (jobs[:-1], -1, jobs[:-1], 4)]
        moves += [(jobs, 1, jobs + 1, 1)] if level < self.levels - 1 else []
        columns = [[np.broadcast_to(move[k], move[0].shape) for move in moves] for k in range(4)]
        return tuple(map(np.concatenate, columns))

    def law(self, level: int) -> np.ndarray:
        return np.full(level + 1, 4.0**-level)

    def vector(self, level: int) -> np.ndarray:
        return self.law(level) * (level - np.arange(level + 1) / 2)


@pytest.mark.parametrize("levels", [2, 41])
def test_levels_are_bounded_alike(pool, tmp_path, levels):
    t = Tandem(levels)
    np.save(tmp_path / "x.npy", np.concatenate([t.law(k) for k in range(levels)]))
    mapped = sliced(read_vector(tmp_path / "x.npy"), t)
    here = certified_by_levels(t, candidate=t.law, vector=t.vector)
    for candidate in (t.law, mapped):
        there = certified_by_levels(t, candidate=candidate, vector=t.vector, executor=pool)
        assert (here.error, here.delta, here.masses) == (there.error, there.delta, there.masses)
        assert (here.states, here.transitions) == (there.states, there.transitions)
        assert here.entry(1, 1) == there.entry(1, 1)


# What is refused


def test_an_error_of_a_process_arrives_as_itself(pool):
    with pytest.raises(TypeError):
        list(spread(len, [3], pool))


def test_functions_that_do_not_reach_a_process_are_refused(elsewhere):
    with pytest.raises(InputError, match="give functions of a module, no lambda"):
        best(lambda k: Design(Feedback("1/2", "1/4")), [0, 1], quantity="slot_mean", executor=elsewhere)


def test_threads_are_refused():
    with ThreadPoolExecutor(1) as threads, pytest.raises(InputError, match="threads share one precision"):
        table(from_text(MIXED), executor=threads)


def test_one_job_is_done_here():
    for jobs in (None, 1):
        with processes(jobs) as executor:
            assert executor is None


def test_executors_that_are_none_or_shut_down_are_named():
    closed = ProcessPoolExecutor(1, get_context("spawn"))
    closed.shutdown()
    for bad, says in ((closed, "shutdown"), ("pool", "'pool' is none")):
        with pytest.raises(InputError, match=f"^executor.*{says}"):
            spread(abs, [1, 2], bad)
