"""Sweeps: what is asked, that every answer is that of the model, what limits and kills leave, where signs change."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import pytest
import scipy.sparse
from click.testing import CliRunner
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from exactchains.number import parse
from exactchains.truth import InputError, Undecided
from meanfield.solvers.bordered import solver
from proofs_check.arithmetic import evaluated, names_in
from proofs_check.catalogue import find
from proofs_check.cli.main import cli
from proofs_check.store import Store, StoreError, export
from proofs_check.sweeps import boundary, from_text, missing, sweep, work
from proofs_check.sweeps import guard as guard_module
from proofs_check.sweeps.axis import values
from proofs_check.sweeps.cost import cost
from proofs_check.sweeps.engine import Engine, local
from proofs_check.sweeps.guard import Guard
from proofs_check.sweeps.schedule import Item
from proofs_check.sweeps.spec import Limits
from tests.source import ROOT

SPEC = """model = "md1"
quantities = ["mean_queue", "age_mean"]
digits = 12
[parameters]
mu = 1
[grid]
lam = "1/10..11/10 step 1/10"
"""
CONSTANT = 'model = "md1"\nquantities = ["mean_queue"]\n[grid]\nlam = "1/10..9/10 step 2/10"\n[parameters]\nmu = 1\n'


class Here(Executor):
    """Computes at once, in this process."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


# What is asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2..5", ["2", "3", "4", "5"]),
        ("0.1..0.3 step 0.1", ["1/10", "1/5", "3/10"]),
        ("0..1 step 2/5", ["0", "2/5", "4/5"]),
        ("-1..1 count 3", ["-1", "0", "1"]),
        ("1/8..1 times 2", ["1/8", "1/4", "1/2", "1"]),
    ],
)
def test_ranges_are_exact(text, expected):
    assert list(values(text)) == expected


@pytest.mark.parametrize(
    "text", ["3..2", "0..1 step 0", "0..1 count 1", "0..1 times 2", "1..2 times 1", "0..1 step 1e-9"]
)
def test_ranges_that_never_end_or_begin_are_refused(text):
    with pytest.raises(InputError):
        values(text)
    assert values("mds") is None and values("7/10") is None


numbers = st.fractions(-50, 50, max_denominator=30)
formulas = st.recursive(
    numbers.map(lambda x: (f"({x})", x)) | st.just(("lam", Fraction(3, 7))) | st.just(("n-1", Fraction(-2, 3))),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).filter(lambda t: t[1] != "/" or t[2][1]).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})",
                       {"+": t[0][1] + t[2][1], "-": t[0][1] - t[2][1], "*": t[0][1] * t[2][1],
                        "/": t[0][1] / (t[2][1] or 1)}[t[1]])
        ),
        st.tuples(inner, st.integers(0, 3)).map(lambda t: (f"({t[0][0]})^{t[1]}", t[0][1] ** t[1])),
        inner.map(lambda t: (f"floor({t[0]})", Fraction(t[1].__floor__()))),
        inner.map(lambda t: (f"ceil({t[0]})", Fraction(t[1].__ceil__()))),
        st.tuples(inner, inner).map(lambda t: (f"max({t[0][0]}, {t[1][0]})", max(t[0][1], t[1][1]))),
        inner.map(lambda t: (f"-{t[0]}", -t[1])),
    ),
    max_leaves=8,
)  # fmt: skip


@given(formulas)
def test_formulas_are_exact_arithmetic(formula):
    text, expected = formula
    if len(text) > 500 or max(abs(expected.numerator), expected.denominator).bit_length() > 10_000:
        return
    found = evaluated(text, {"lam": fmpq(3, 7), "n-1": fmpq(-2, 3)})
    assert (int(found.p), int(found.q)) == (expected.numerator, expected.denominator)


def test_formulas_follow_precedence_and_name_their_needs():
    assert evaluated("2 - 3 - 4*5^2/10 + -2^2", {}) == -15
    assert names_in("max(lam, 1-mu) + floor(lam-mu)", ["lam", "mu"]) == {"lam", "mu"}
    assert names_in("1-p-r", ["p-r"]) == {"p-r"}


@pytest.mark.parametrize("text", ["", "1 +", "(1", "1/0", "2^x", "2^(1/2)", "9^999^9", "a b", "f(1)", "floor(1, 2)",
                                  "__import__('os')", "(" * 60 + "1" + ")" * 60, "1" * 600, "0^-1"])  # fmt: skip
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(InputError):
        evaluated(text, {"a": fmpq(1), "x": fmpq(1, 2)})


def test_points_are_the_product_of_grid_and_zips_with_links():
    spec = from_text(
        'model = "age.feedback"\nquantities = ["slot_mean"]\n[parameters]\ncode = "rlg"\n[grid]\neps = ["1/10", 0.3]\n'
        '[[zip]]\nn = [100, 200]\nk = [10, 15]\n[linked]\nm = "ceil(7*n/10) + spare"\n'.replace(" + spare", "")
    )
    found = [(w["eps"], w["n"], w["k"], w["m"]) for w in spec.points()]
    assert found == [("1/10", "100", "10", "70"), ("1/10", "200", "15", "140"),
                     ("0.3", "100", "10", "70"), ("0.3", "200", "15", "140")]  # fmt: skip
    assert spec.size == 4 and len({q.key for q in spec.questions()}) == 4
    assert {q.parameters["eps"] for q in spec.questions()} == {"1/10", "3/10"}  # canonical


def test_links_may_need_links_in_any_order():
    text = CONSTANT.replace("mu = 1", "") + '[linked]\nmu = "at-0+lam"\nat = "2*lam"\n'
    spec = from_text(text.replace('"mean_queue"', '"age_ccdf"'))
    assert next(spec.points()) == {"lam": "1/10", "mu": "3/10", "at": "1/5"}


def test_a_link_without_a_value_costs_its_own_points_only(tmp_path):
    """1 + 1/(10*lam - 2)^2 has no value at 1/5, and ``at`` needs it."""
    text = SPEC.replace("11/10", "3/10").replace("mu = 1", '[linked]\nmu = "1 + 1/(10*lam - 2)^2"\nat = "mu/4"')
    with Store(tmp_path / "b.sqlite", write=True) as store:
        done = sweep(from_text(text.replace('"mean_queue", "age_mean"', '"age_ccdf"')), store, executor=Here())
        refused = [(q, a) for q, a in store.rows() if a.status == "refused"]
    assert done.statuses == {"exact": 2, "refused": 1}
    ((question, answer),) = refused
    assert question.parameters["lam"] == "1/5" and answer.reason in (
        f"{name} has no value: division by zero in 1 + 1/(10*lam - 2)^2" for name in ("mu", "at")
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("mu = 1", "mu = 1\nspeed = 2"), "line 6: parameters.speed: md1 has no parameter"),
        (("lam = ", "mu = 2\nlam = "), "line 7: grid.mu: mu is given twice, here and as parameters.mu"),
        (("mu = 1", ""), "line 4: parameters: md1 needs mu"),
        (("age_mean", "age_meen"), "line 2: quantities: md1 has no quantity 'age_meen'; did you mean age_mean"),
        (("md1", "md2"), "line 1: model: model 'md2' is not known"),
        (("digits = 12", "digits = 0"), "line 3: digits: an integer from 1"),
        (("digits = 12", "digit = 12"), "line 3: digit: unknown key; did you mean digits"),
        (("digits = 12", "index = 3"), "line 3: index: mean_queue takes no index"),
        (("1/10..11/10", "2..1"), "line 7: grid.lam: "),
        (('"1/10..11/10 step 1/10"', "[]"), "line 7: grid.lam: the list is empty"),
        (('"1/10..11/10 step 1/10"', "true"), "line 7: grid.lam: a number or text is needed"),
        (("mu = 1", '[linked]\nmu = "1/(lam - 1/10) + la"'), "line 6: linked.mu: "),
        (("mu = 1", "mu = [1, # nan\n nan]"), "line 6: nan is no number"),
        (("mu = 1", "mu = +inf"), "line 5: +inf is no number"),
        (("mu = 1", 'mu = "l"'), "line 5: parameters.mu: mu = 'l' is no number"),
        (('"1/10..11/10 step 1/10"', '[0.5, "o.6"]'), "line 7: grid.lam: lam = 'o.6' is no number"),
        (("mu = 1", '[linked]\nmu = "lam +"'), "line 6: linked.mu: "),
        (("mu = 1", '[linked]\nmu = "mu + 1"'), "line 6: linked.mu: mu need each other"),
        (("mu = 1", "mu = 1\n[limits]\nseconds = 0"), "line 7: limits.seconds: a number > 0"),
        (("mu = 1", 'mu = 1\n[limits]\nmemory = "1 KB"'), "line 7: limits.memory: at least"),
        (("mu = 1", 'mu = 1\n[boundary]\nover = "mu"\nto = 1\nvalue = 1'), "line 7: boundary.over: an axis of"),
        (("mu = 1", 'mu = 1\n[boundary]\nover = "lam"\nvalue = 1'), "boundary.to: the width"),
        (("mu = 1", 'mu = 1\n[boundary]\nover = "lam"\nto = "1/9"'), "line 6: boundary: either against"),
        (("mu = 1", 'mu = 1\n[boundary]\nover = "lam"\nto = "1/9"\nvalue = 1'), "boundary: a boundary follows one"),
        (('lam = "1', 'n = 1\n[[zip]]\nlam = "1'), "line 7: grid.n: md1 has no parameter"),
        (("mu = 1\n[grid]", "[[zip]]\nmu = [1, 2]\nat = [1, 2, 3]\n[grid]"), "line 6: zip[0].mu: lists of one length"),
    ],
)
def test_what_is_wrong_is_named_with_key_and_line(change, says):
    with pytest.raises(InputError) as error:
        from_text(SPEC.replace("[parameters]\n", "", says.startswith("zip")).replace(*change), "study")
    assert says in str(error.value) and str(error.value).startswith("study.toml") and "\n" not in str(error.value)


# What is answered


@pytest.fixture(scope="module")
def engine():
    with local(2) as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed(engine, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("undisturbed") / "a.sqlite"
    seen = []
    with Store(path, write=True) as store:
        done = sweep(from_text(SPEC), store, executor=engine, progress=lambda *x: seen.append(x))
        assert (done.asked, done.computed) == (22, 22) and seen[-1] == (22, 22)
        assert done.statuses == {"enclosed": 9, "exact": 9, "refused": 4}
        again = sweep(from_text(SPEC), store, executor=engine)
        assert (again.computed, again.statuses) == (0, done.statuses)
    return path


def test_every_answer_is_that_of_the_model(undisturbed):
    model = find("md1")
    with Store(undisturbed) as store:
        assert not missing(from_text(SPEC), store)
        for question, answer in store.rows():
            if answer.status == "refused":
                assert parse(question.parameters["lam"]) >= 1 and "unstable" in answer.reason
                continue
            (result,) = model.results(model.make(question.parameters), [question.quantity], [], question.digits)
            assert answer.enclosure == result.enclosure and answer.method == result.method
            assert answer.enclosure.has_digits(12) and answer.certain_digits == result.enclosure.certain_digits
            assert json.loads(answer.versions)["methods"] == question.methods


@pytest.mark.parametrize("kind", ["here", "processes"])
def test_any_executor_gives_the_same_bytes(undisturbed, tmp_path, kind):
    files = []
    executor = Here() if kind == "here" else ProcessPoolExecutor(1, get_context("spawn"))
    with executor, Store(tmp_path / "b.sqlite", write=True) as store:
        sweep(from_text(SPEC), store, executor=executor)
        files.append(export(store.rows(), tmp_path / "b.json"))
    with Store(undisturbed) as store:
        files.append(export(store.rows(), tmp_path / "a.json"))
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_shortfall_keeps_its_ends_and_is_undecided(tmp_path, monkeypatch):
    model = find("md1")
    from dataclasses import replace

    coarse = replace(model, solve=lambda thing, q, i, digits: model.solve(thing, q, i, 5))
    monkeypatch.setattr("proofs_check.sweeps.work.find", lambda name: coarse)
    with Store(tmp_path / "b.sqlite", write=True) as store:
        sweep(from_text(SPEC.replace("12", "300")), store, executor=Here())
        short = [answer for q, answer in store.rows() if q.quantity == "age_mean" and answer.status != "refused"]
    assert short and all(a.status == "undecided" and a.lower and "300 digits asked" in a.reason for a in short)


def test_models_that_break_are_failures_and_are_tried_again(tmp_path, monkeypatch):
    text, real = SPEC.replace('"mean_queue", ', ""), find

    def broken(name):
        raise ZeroDivisionError("a bug")

    with Store(tmp_path / "b.sqlite", write=True) as store:
        monkeypatch.setattr("proofs_check.sweeps.work.find", broken)
        assert sweep(from_text(text), store, executor=Here()).statuses == {"failed": 11}
        monkeypatch.setattr("proofs_check.sweeps.work.find", real)
        assert sweep(from_text(text), store, executor=Here()).computed == 0
        assert sweep(from_text(text), store, executor=Here(), retry=True).statuses == {"enclosed": 9, "refused": 2}


def test_certificates_are_files_beside_the_store(tmp_path):
    text = 'model = "age.feedback"\nquantities = ["slot_mean"]\ncertificates = true\n[grid]\np = ["1/3", "1/2"]\n'
    with Store(tmp_path / "b.sqlite", write=True) as store:
        sweep(from_text(text + '[parameters]\nd = "1/10"\n'), store, executor=Here())
        answers = [answer for _, answer in store.rows()]
    written = {answer.certificate for answer in answers}
    assert written == {f"b.certificates/{p.name}" for p in tmp_path.glob("b.certificates/*")} or written == {""}


# Limits and accidents


HOG = {"model": "jsq", "parameters": {"lam": "9/10", "n": "6", "pools": "1:1"}, "digits": 15,
       "asks": [["mean_queue", None]]}  # fmt: skip
QUICK = {"model": "md1", "parameters": {"lam": "1/2", "mu": "1"}, "digits": 9, "asks": [["mean_queue", None]] * 2}


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
def test_time_memory_and_crashes_cost_one_answer_each():
    guard = Guard(Limits(60, 20_000_000))
    assert [a["status"] for a in guard.answers(HOG)] == ["memory"]
    assert [a["status"] for a in guard.answers(QUICK)] == ["exact"] * 2
    child = guard._child.pid
    os.kill(child, signal.SIGINT)  # Ctrl-C is for whoever started it
    assert [a["status"] for a in guard.answers(QUICK)] == ["exact"] * 2 and guard._child.pid == child
    os.kill(child, signal.SIGKILL)  # somebody else ends it: started again, nothing lost
    assert [a["status"] for a in guard.answers(QUICK)] == ["exact"] * 2 and guard._child.pid != child
    guard.limits = Limits(0.01)
    (late,) = guard.answers(HOG)
    assert late["status"] == "timeout" and "0.01 seconds" in late["reason"]
    guard.close()


def test_a_worker_that_is_killed_while_it_starts_is_started_again(monkeypatch):
    guard, real, begun = Guard(Limits()), subprocess.Popen, []

    def killed(*words, **more):
        begun.append(child := real(*words, **more))
        if len(begun) <= 2:
            child.kill()
        return child

    monkeypatch.setattr("proofs_check.sweeps.guard.subprocess.Popen", killed)
    assert [a["status"] for a in guard.answers(QUICK)] == ["exact"] * 2 and len(begun) == 3
    guard.close()
    assert all(child.poll() is not None for child in begun)
    monkeypatch.setattr("proofs_check.sweeps.guard.PAUSE", 0)
    monkeypatch.setattr("proofs_check.sweeps.guard.sys.executable", str(ROOT / "nowhere"))
    with pytest.raises(InputError, match=r"could not start, 5 times in a row .*nowhere"):
        guard.answers(QUICK)
    monkeypatch.setattr("proofs_check.sweeps.guard.sys.executable", "false")
    with pytest.raises(InputError, match="ended with code 1"):
        guard.answers(QUICK)


def test_executors_that_are_none_or_shut_down_are_named(tmp_path):
    closed = ProcessPoolExecutor(1, get_context("spawn"))
    closed.shutdown()
    for bad, says in ((closed, "shutdown"), ("pool", "'pool' is none")):
        with Store(tmp_path / "b.sqlite", write=True) as store, pytest.raises(InputError, match=f"^executor.*{says}"):
            sweep(from_text(SPEC), store, executor=bad)


def test_a_point_that_crashes_twice_is_recorded(monkeypatch):
    guard = Guard(Limits())
    sent = []

    def crash(item):
        sent.append(len(item["asks"]))
        if len(sent) in (1, 2):
            guard._start()
            guard._child.kill()
            guard._child.wait()
        return real(item)

    real, guard._send = guard._send, crash
    assert [a["status"] for a in guard.answers(QUICK)] == ["failed", "exact"]
    assert sent == [2, 2, 1]
    guard.close()


KILLS = """model = "md1"
quantities = ["age_mean", "age_variance"]
digits = 100
[parameters]
mu = 1
[grid]
lam = "1/400..399/400 step 1/400"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_twenty_kills_leave_the_store_of_an_undisturbed_run(tmp_path):
    (tmp_path / "study.toml").write_text(KILLS)
    command = [sys.executable, "-m", "tests.proofs_check.kill_driver", str(tmp_path / "study.toml")]
    for name, kills in (("killed", 20), ("undisturbed", 0)):
        words = [str(tmp_path / f"{name}.sqlite"), str(tmp_path / f"{name}.log"), str(kills), "20241"]
        done = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        stored = [int(line) for line in done.stdout.split()]
        assert stored == sorted(stored) and len(stored) == kills + 1
        noted = Counter((tmp_path / f"{name}.log").read_text().splitlines())
        assert max(noted.values()) == 1  # nothing is computed twice by one run
        last = sum(line.startswith(f"{kills} ") for line in noted)
        assert last == 2 * 399 - stored[-1]  # nor what was stored before
        if kills:
            assert len(set(stored)) > 5, "the kills came too early to disturb anything"
        with Store(tmp_path / f"{name}.sqlite") as store:
            export(store.rows(), tmp_path / f"{name}.json")
    assert (tmp_path / "killed.json").read_bytes() == (tmp_path / "undisturbed.json").read_bytes()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_a_killed_command_takes_its_workers_along_and_is_continued(tmp_path):
    (tmp_path / "study.toml").write_text(KILLS)
    command = [sys.executable, "-m", "proofs_check.cli.main", "sweep", str(tmp_path / "study.toml"), "--store"]
    command += [str(tmp_path / "a.sqlite"), "--quiet"]
    first = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    while first.poll() is None and stored(tmp_path / "a.sqlite") < 20:
        time.sleep(0.05)
    assert first.poll() is None, "it ended before it could be killed"
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    while alive(first.pid):  # its workers end by themselves, or this test never does
        time.sleep(0.05)
    kept = stored(tmp_path / "a.sqlite")
    with Store(tmp_path / "a.sqlite", write=True) as store:
        done = sweep(from_text(KILLS), store, executor=Here())
    assert (done.asked, done.computed) == (2 * 399, 2 * 399 - kept) and set(done.statuses) == {"enclosed"}


def stored(path: Path) -> int:
    try:
        with Store(path) as store:
            return len(store.statuses())
    except StoreError:  # not made yet
        return 0


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals")
def test_an_interrupt_ends_the_workers_at_once():
    with pytest.raises(KeyboardInterrupt), local(1) as engine:
        assert engine.submit([QUICK], Limits()).result()[0][0]["status"] == "exact"
        child = engine.executor.submit(lambda: guard_module._here.guard._child.pid).result()
        os.kill(child, signal.SIGSTOP)  # a point that never ends
        future = engine.submit([QUICK], Limits())
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert isinstance(future.exception(), CancelledError)


def test_a_sparse_factor_that_is_refused_memory_is_not_called_singular(monkeypatch):
    words = {"SUPERLU_MALLOC fails for buf in intCalloc()": MemoryError, "Factor is exactly singular": Undecided}
    for says, kind in words.items():

        def refused(_matrix, says=says):
            raise RuntimeError(says)

        monkeypatch.setattr("scipy.sparse.linalg.splu", refused)
        with pytest.raises(kind):
            solver(scipy.sparse.eye_array(3))


# Where signs change


def mean_queue(load: fmpq) -> fmpq:
    """M/D/1: the load, and the Pollaczek-Khinchine mean wait times the load."""
    return load + load**2 / (2 * (1 - load))


def test_a_boundary_is_bracketed_by_certain_signs(tmp_path):
    text = CONSTANT + '[boundary]\nover = "lam"\nto = "1/1000"\nvalue = 1\n'
    with Store(tmp_path / "b.sqlite", write=True) as store:
        done = sweep(from_text(text), store, executor=Here())
        (found,) = done.boundary
        assert boundary(from_text(text), store) == done.boundary  # out of the store alone
        assert sweep(from_text(text), store, executor=Here()).computed == 0
    assert (found.below, found.above, found.note) == (-1, 1, "")
    assert mean_queue(found.lower) < 1 < mean_queue(found.upper)
    assert 0 < found.upper - found.lower <= fmpq(1, 1000)
    root_below = fmpq(585_786, 10**6)  # 2 - sqrt 2 = 0.585786..
    assert found.lower <= root_below + fmpq(1, 10**6) and root_below <= found.upper


def test_an_exact_equality_is_found_exactly(tmp_path):
    text = CONSTANT.replace("md1", "mm1") + '[boundary]\nover = "lam"\nto = "1/9"\nvalue = 1\n'
    with Store(tmp_path / "b.sqlite", write=True) as store:
        (found,) = sweep(from_text(text), store, executor=Here()).boundary
        assert found.lower == found.upper == fmpq(1, 2) and str(found) == "lam = 1/2, sign - to +"
        (found,) = sweep(from_text(text.replace("9/10", "5/10")), store, executor=Here()).boundary
        assert str(found) == "lam = 1/2, sign - to ?"  # nothing is asked above it
        edges = text.replace('"1/10..9/10 step 2/10"', '["1/2", "6/5"]')  # no law from 1 on: at 17/20 there is one
        (found,) = sweep(from_text(edges), store, executor=Here()).boundary
        assert str(found) == "lam = 1/2, sign ? to +"
        edges = edges.replace('["1/2"', '["1/4"').replace("6/5", "5/4")  # its middle is 3/4
        (found,) = sweep(from_text(edges.replace("value = 1", "value = 3")), store, executor=Here()).boundary
        assert str(found) == "lam = 3/4, sign - to +"


def limited(monkeypatch, *loads: str) -> None:
    """Let the answers at some loads be cut off by a limit."""
    real = work.answers

    def answers(item):
        cut = item["parameters"]["lam"] in loads
        return [guard_module.failed("timeout", "late", 1)] if cut else real(item)

    monkeypatch.setattr("proofs_check.sweeps.engine.answers", answers)


def test_a_limit_leaves_the_proved_interval_and_a_note(tmp_path, monkeypatch):
    text = CONSTANT + '[boundary]\nover = "lam"\nto = "1/1000"\nvalue = 1\n'
    with Store(tmp_path / "b.sqlite", write=True) as store:
        limited(monkeypatch, "3/5", "23/40", "5/8")  # the middle of 1/2 and 7/10, and what is tried beside it
        (found,) = sweep(from_text(text), store, executor=Here()).boundary
    assert str(found) == "lam in [1/2, 7/10], sign - to + (wider than asked: timeout at lam=5/8)"


def test_a_line_that_limits_leave_without_a_change_names_the_places(tmp_path, monkeypatch):
    text = CONSTANT + '[boundary]\nover = "lam"\nto = "1/10"\nvalue = 1\n'
    with Store(tmp_path / "b.sqlite", write=True) as store:
        limited(monkeypatch, "3/10", "7/10", "9/10")
        done = sweep(from_text(text), store, executor=Here())
    assert done.boundary == ()
    assert [str(g) for g in done.gaps] == ["sign not certain at lam = 3/10 (timeout), 7/10 (timeout), 9/10 (timeout)"]
    with Store(tmp_path / "c.sqlite", write=True) as store:
        limited(monkeypatch, "1/2")  # inside an interval that is halved: nothing is left open
        done = sweep(from_text(text), store, executor=Here())
    assert len(done.boundary) == 1 and not done.gaps


def test_two_models_are_compared_line_by_line(tmp_path):
    """M/M/1 at rate mu against M/D/1 at rate 1, both fed at rate lam."""
    text = (
        'model = "mm1"\nquantities = "mean_queue"\n[grid]\nlam = "1/10..9/10 step 1/10"\nmu = ["11/10", "3/2"]\n'
        '[boundary]\nover = "lam"\nto = "1/64"\nagainst = "md1"\nparameters = {mu = 1}\n'
    )
    with Store(tmp_path / "b.sqlite", write=True) as store:
        found = sweep(from_text(text), store, executor=Here()).boundary
    assert [b.at for b in found] == [{"mu": "11/10"}] or len(found) == 2
    for b in found:
        low, high = (x / (parse(b.at["mu"]) - x) - mean_queue(x) for x in (b.lower, b.upper))
        assert low * high < 0 and (low > 0) == (b.below > 0) and b.upper - b.lower <= fmpq(1, 64)


def test_points_without_a_law_have_no_sign_but_are_approached(tmp_path):
    text = (
        'model = "mm1"\nquantities = "mean_queue"\n[parameters]\nmu = 1\n[grid]\nlam = ["1/10", "1/5", "11/10"]\n'
        '[boundary]\nover = "lam"\nto = "1/64"\nvalue = 3\n'
    )
    with Store(tmp_path / "b.sqlite", write=True) as store:
        (found,) = sweep(from_text(text), store, executor=Here()).boundary  # at 3/4; from 1 on there is no law
        assert found.lower < fmpq(3, 4) < found.upper and found.upper - found.lower <= fmpq(1, 64)
        far = text.replace("value = 3", "value = 1000")  # closer to the edge than was asked for: not found, not claimed
        assert sweep(from_text(far), store, executor=Here()).boundary == ()


def test_integer_parameters_are_halved_between_integers(tmp_path):
    text = (
        'model = "mmc"\nquantities = "mean_queue"\n[parameters]\nlam = 5\nmu = 1\n[grid]\nc = [2, 40]\n'
        '[boundary]\nover = "c"\nto = 1\nvalue = "51/10"\n'
    )
    with Store(tmp_path / "b.sqlite", write=True) as store:
        (found,) = sweep(from_text(text), store, executor=Here()).boundary
        mean = find("mmc")
        ends = [mean.make({"lam": "5", "mu": "1", "c": str(c)}) for c in (found.lower, found.upper)]
        low, high = (mean.results(e, ["mean_queue"], [], 9)[0].enclosure for e in ends)
    assert found.upper == found.lower + 1 and high.upper < fmpq(51, 10) < low.lower


# The command


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(SPEC)

    from contextlib import contextmanager

    @contextmanager
    def here(jobs=None):
        yield Engine(Here(), 1, guard=False)

    monkeypatch.setattr("proofs_check.cli.sweep.local", here)

    def invoke(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(cli, ["sweep", *words], prog_name="exaq")
        assert done.exit_code == code, done.output
        return done.output

    return invoke


def test_command_sweeps_resumes_exports_and_merges(run):
    out = run("study.toml", "--store", "a.sqlite", "--export", "a.csv", "--quiet")
    assert "22 answers: 9 enclosed, 9 exact, 4 refused; 22 computed, 0 from the store" in out
    assert "0 computed, 22 from the store" in run("study.toml", "--store", "a.sqlite", "--export", "b.csv")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "22 answers, 22 of them new" in run("--store", "b.sqlite", "--merge", "a.sqlite", "--export", "c.csv")
    assert Path("a.csv").read_bytes() == Path("c.csv").read_bytes()


def test_command_exports_what_the_specification_asks_for_only(run):
    run("study.toml", "--store", "a.sqlite")
    Path("other.toml").write_text(SPEC.replace("11/10", "3/10"))
    run("other.toml", "--store", "a.sqlite", "--export", "a.csv")
    assert len(Path("a.csv").read_text().splitlines()) == 1 + 2 * 3


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (("--export", "a.csv", "--export", "a.xls"), "names no format"),
        (("--export", "missing/a.csv"), "no folder 'missing'"),
        (("--figure", "a.svg"), "[boundary]"),
        (("--figure", "a.gif"), "written as .svg"),
    ],
)
def test_command_refuses_what_it_could_not_write_before_it_computes(run, wanted, says):
    assert says in run("study.toml", "--store", "a.sqlite", *wanted, code=2)
    assert not Path("a.sqlite").exists()


def test_trial_points_do_not_fall_in_step_with_the_grid(monkeypatch):
    tried = []

    def seen(_self, task):
        tried.append(task["parameters"])
        return [{"seconds": 1.0, "status": "exact"}]

    monkeypatch.setattr(Guard, "answers", seen)
    text = 'model = "mm1"\nquantities = ["mean_queue"]\n[grid]\nlam = "1/100..2/5 count 50"\nmu = "1..2 count 20"\n'
    assert cost(from_text(text).questions(), None).seconds == 1000
    assert len({p["lam"] for p in tried}) > 2 and len({p["mu"] for p in tried}) > 2


def test_dry_run_does_nothing(run):
    Path("study.toml").write_text(SPEC + '[boundary]\nover = "lam"\nto = 0.1\nvalue = 1\n'.replace("x", ""))
    run("study.toml", "--store", "a.sqlite", "--dry-run", code=2)  # two quantities have no one boundary
    Path("study.toml").write_text(SPEC)
    run("study.toml", "--store", "a.sqlite")
    before = Path("a.sqlite").read_bytes()
    Path("study.toml").write_text(SPEC.replace("1/10..", "1/20.."))
    out = run("study.toml", "--store", "a.sqlite", "--dry-run")
    assert "11 points, 22 answers, 0 of them in the store" in out
    assert "22 to compute: about" in out and "from the costs in the store" in out
    assert Path("a.sqlite").read_bytes() == before
    assert not Path("new.sqlite").exists()


def test_command_names_what_is_undecided_and_what_a_retry_would_compute(run, monkeypatch):
    Path("study.toml").write_text(SPEC.replace('"mean_queue", ', ""))
    limited(monkeypatch, "3/10", "7/10")
    out = run("study.toml", "--store", "a.sqlite", code=3).splitlines()[-1]
    assert "2 timeout of 11 answers (md1 lam=3/10 mu=1 age_mean; md1 lam=7/10 mu=1 age_mean)" in out
    assert "to compute" not in run("study.toml", "--store", "a.sqlite", "--dry-run")
    assert "2 to compute, 2 of them again" in run("study.toml", "--store", "a.sqlite", "--dry-run", "--retry")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("study.toml", "--store", "a.txt/b"), 2, "--store"),
        (("--store", "a.sqlite"), 2, "give SPEC.toml, or --merge or --export"),
        (("--store", "a.sqlite", "--export", "a.csv"), 2, "not there"),
        (("nothing.toml", "--store", "a.sqlite"), 2, "nothing.toml"),
        (("study.json", "--store", "a.sqlite"), 2, ".toml"),
        (("study.toml", "--store", "a.sqlite", "--scheduler", "tcp://x:1"), 2, "--engine dask"),
        (("unstable.toml", "--store", "a.sqlite"), 2, "no point of this sweep exists: load = 2"),
    ],
)
def test_errors_are_one_line(run, words, code, says):
    Path("a.txt").write_text("")
    Path("unstable.toml").write_text(SPEC.replace('"1/10..11/10 step 1/10"', "2"))
    assert says in run(*words, code=code).splitlines()[-1]


def test_an_interrupted_sweep_says_how_to_go_on(run, monkeypatch):
    def stopped(*_words, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("proofs_check.cli.sweep.sweep", stopped)
    out = run("study.toml", "--store", "a.sqlite", code=130)
    assert out == "exaq: interrupted; what was finished is stored, the same command goes on\n"


def test_a_store_that_is_not_there_is_not_merged_into_a_new_one(run):
    assert "gone.sqlite" in run("--store", "new.sqlite", "--merge", "gone.sqlite", code=2)
    assert not list(Path().glob("new.sqlite*"))


def test_contradicting_stores_exit_with_one(run):
    run("study.toml", "--store", "a.sqlite")
    from proofs_check.store import Answer

    with Store("a.sqlite") as good, Store("b.sqlite", write=True) as bad:
        bad.put([(question, Answer("exact", "-1", "-1")) for question, _ in good.rows()])
    assert "contradicts" in run("--store", "a.sqlite", "--merge", "b.sqlite", code=1)


def test_items_share_a_model_and_keep_their_order():
    questions = from_text(SPEC).questions()
    item = Item(tuple(questions[:2])).plain()
    assert item["asks"] == [["mean_queue", None], ["age_mean", None]] and item["parameters"]["lam"] == "1/10"


def test_dask_gives_the_same_bytes(undisturbed, tmp_path):
    """Through the command, on a cluster that it starts itself: two processes of one thread each."""
    pytest.importorskip("distributed")
    (tmp_path / "study.toml").write_text(SPEC)
    command = [sys.executable, "-m", "proofs_check.cli.main", "sweep", "study.toml", "--store", "a.sqlite"]
    command += ["--engine", "dask", "--jobs", "1", "--export", "a.json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Store(undisturbed) as store:
        export(store.rows(), tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_phase_diagram_is_drawn_from_a_store(run):
    pytest.importorskip("matplotlib")
    text = CONSTANT.replace("mu = 1\n", "").replace("[grid]\n", '[grid]\nmu = ["1", "8/7"]\n').replace("md1", "mm1")
    Path("edge.toml").write_text(text + '[boundary]\nover = "lam"\nto = "1/100"\nvalue = 1\n')
    out = run("edge.toml", "--store", "a.sqlite", "--figure", "a.svg")
    assert "mm1: smaller below a line, larger above" in Path("a.svg").read_text()  # one boundary is a point of the grid
    assert "mu=1: lam = 1/2, sign - to +" in out and "mu=8/7: lam in [" in out
    assert "0 computed" in run("edge.toml", "--store", "a.sqlite", "--figure", "b.svg")
    Path("wide.toml").write_text(Path("edge.toml").read_text().replace('["1", "8/7"]', '["8/7"]'))
    run("wide.toml", "--store", "a.sqlite", "--figure", "wide.svg")
    assert "mm1: smaller below a line, larger above" in Path("wide.svg").read_text()
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes() and Path("a.svg").read_text().startswith("<?xml")
    Path("far.toml").write_text(Path("edge.toml").read_text().replace("value = 1", "value = 100"))
    out = run("far.toml", "--store", "a.sqlite", "--figure", "c.svg", code=3)
    assert "no certain change of sign along lam was found" in out and "no boundary was found" in out.splitlines()[-1]
    assert "[boundary]" in run("study.toml", "--store", "a.sqlite", "--figure", "c.svg", code=2)
    assert "written as .svg" in run("edge.toml", "--store", "a.sqlite", "--figure", "c.gif", code=2)
