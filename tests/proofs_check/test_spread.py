"""Work spread over processes: the same answers and the same bytes as without, in the same order."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from exactchains.spread import processes, spread
from exactchains.truth import InputError
from proofs_check.report.page import write_report
from proofs_check.store import Store
from proofs_check.tables.evaluation import table
from proofs_check.tables.sheet import FORMATS, written
from proofs_check.tables.spec import from_text
from proofs_check.verify import verify

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


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


def texts(made) -> list[str]:
    return [written(made, form) for form in FORMATS]


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


def test_claims_get_the_same_verdicts(pool):
    here, there = (verify("age.feedback.*", "age.periodic.*", executor=e) for e in (None, pool))
    assert len(here) > 2
    assert [(v.claim, v.status, v.reason, v.size) for v in here] == [
        (v.claim, v.status, v.reason, v.size) for v in there
    ]


def test_a_report_is_the_same_bytes(pool, tmp_path):
    results = verify("age.feedback.gain")
    for name, executor in (("here", None), ("there", pool)):
        write_report(results, tmp_path / name, executor=executor)
    pages = [p.relative_to(tmp_path / "here") for p in (tmp_path / "here").rglob("*.*")]
    assert len(pages) == 3
    assert all((tmp_path / "here" / p).read_bytes() == (tmp_path / "there" / p).read_bytes() for p in pages)


def test_an_error_of_a_process_arrives_as_itself(pool):
    with pytest.raises(TypeError):
        list(spread(len, [3], pool))


def test_threads_are_refused():
    with ThreadPoolExecutor(1) as threads, pytest.raises(InputError, match="threads share one precision"):
        table(from_text(MIXED), executor=threads)


def test_one_job_is_done_here():
    for jobs in (None, 1):
        with processes(jobs) as executor:
            assert executor is None
