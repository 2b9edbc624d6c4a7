"""The results store: lossless, sealed, one writer; damage is named, contradictions are errors, exports repeat."""

import csv
import errno
import hashlib
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exactchains.enclosure import Enclosure
from exactchains.number import unwire, wire
from exactchains.truth import InputError
from proofs_check.store import (
    METHODS,
    Answer,
    Contradiction,
    Question,
    Store,
    StoreDamaged,
    StoreError,
    export,
    merge,
    methods,
)
from proofs_check.store import store as store_module
from proofs_check.store.methods import SOLVERS
from proofs_check.store.question import canonical
from proofs_check.store.store import COLUMNS
from tests.source import ROOT, imports, module_name, modules

FIXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def question(i: int = 1, *, quantity: str = "mean_queue", digits: int = 15) -> Question:
    return Question("mm1", {"lam": str(fmpq(i, 200)), "mu": "1"}, quantity, None, digits)


def exact(x: fmpq, seconds: float = 0.0) -> Answer:
    return Answer("exact", wire(x), wire(x), None, method="formula", seconds=seconds)


def between(low: str, high: str, status: str = "enclosed") -> Answer:
    return Answer(status, low, high, 3, method="balls")


ROWS = [(question(i), exact(fmpq(i, 200 - i), seconds=i / 7)) for i in range(1, 80)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "a.sqlite", write=True) as store:
        store.put(ROWS)
    return tmp_path / "a.sqlite"


def rows(path: Path) -> dict[str, Answer]:
    with Store(path) as store:
        return {q.key: answer for q, answer in store.rows()}


# Keys and answers


def test_the_version_of_methods_covers_all_code_that_numbers_come_from():
    named = {module_name(path): path for path in modules()}
    covered = {name for name, path in named.items() if any(path.parts[: len(s)] == s for s in SOLVERS)}
    assert len(covered) > 100 and {"exactchains.enclosure", "proofs_check.catalogue.age"} <= covered
    used = {name for module in covered for _, name in imports(named[module])}
    homes = {next((m for m in (name, name.rpartition(".")[0]) if m in named), "") for name in used}
    assert homes - covered - {""} == {
        "proofs_check.search.age_value",  # certificates, beside the numbers
        "proofs_check.store.question",  # rows
        "proofs_check.verify",  # the text of certificates
    }


def test_the_version_of_methods_moves_with_every_byte_of_a_solver(tmp_path, monkeypatch):
    for place in SOLVERS:
        file = tmp_path.joinpath(*place, *([] if place[-1].endswith(".py") else ["deep", "solver.py"]))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"digits = 15\n")
    monkeypatch.setattr(methods.resources, "files", tmp_path.joinpath)
    versions = [methods.method_version()]
    for content in (b"digits = 16\n", b"digits = 16  # why\n", b"digits = 15\r\n"):
        file.write_bytes(content)
        versions.append(methods.method_version())
    file.with_suffix(".pyc").write_bytes(b"compiled")
    assert versions[0] == versions[3] == methods.method_version() and len(set(versions)) == 3
    (tmp_path / "meanfield" / "deep" / "solver.py").rename(tmp_path / "meanfield" / "solver.py")
    assert methods.method_version() not in versions


def test_rows_of_another_version_stay_and_are_not_taken_for_answers(path):
    older = replace(question(), methods="0" * 12)
    with Store(path, write=True) as store:
        assert store.answer(older) is None
        with pytest.raises(Contradiction):
            store.put([(older, exact(fmpq(7)))])
        assert store.put([(older, between("0", "1"))]) == 1
        assert store.answer(question()).status == "exact" and store.answer(older).status == "enclosed"


def test_key_is_the_hash_of_canonical_json():
    text = (
        b'{"digits":15,"index":null,"methods":"%b","model":"mm1","parameters":{"lam":"1/200","mu":"1"},'
        b'"quantity":"mean_queue"}' % METHODS.encode()
    )
    assert question().key == hashlib.sha256(text).hexdigest()
    assert Question.from_text(text.decode()) == question()
    assert Question("mm1", {"mu": "1", "lam": "1/200"}, "mean_queue", None, 15).key == question().key
    assert len({question().key, question(2).key, question(digits=16).key, question(quantity="mean_wait").key}) == 4
    assert question().subject == question(digits=30).subject != question(2).subject


ends = st.tuples(st.fractions(), st.integers(-400, 0), st.fractions(0, 1), st.floats(0, 1e6))


@settings(FIXED, max_examples=8)
@given(st.lists(ends, min_size=10, max_size=40))
def test_answers_come_back_without_loss(tmp_path, listed):
    given_rows = []
    for i, (x, exponent, width, seconds) in enumerate(listed):
        low = fmpq(x.numerator, x.denominator) + fmpq(2) ** exponent
        e = Enclosure(low, low + fmpq(width.numerator, width.denominator))
        answer = Answer(**{**e.to_json(), "certain_digits": e.certain_digits, "seconds": seconds})
        assert answer.enclosure == e
        given_rows.append((question(i), answer))
    file = Path(tempfile.mkdtemp(dir=tmp_path)) / "b.sqlite"
    with Store(file, write=True) as store:
        store.put(given_rows)
    assert rows(file) == {q.key: answer for q, answer in given_rows}


@pytest.mark.parametrize("bad", [{"status": "fine"}, {"status": "exact"}, {"status": "undecided", "lower": "1"}])
def test_answers_without_meaning_are_refused(bad):
    with pytest.raises(ValueError, match=r"status|ends"):
        Answer(**bad)


def test_better_answers_take_the_place_of_worse_ones(tmp_path):
    ladder = [
        Answer("timeout", reason="more than 1 seconds"),
        Answer("undecided", reason="15 digits asked"),
        between("1", "3", "undecided"),
        between("1", "2"),
        between("5/4", "3/2"),
        exact(fmpq(4, 3)),
    ]
    with Store(tmp_path / "b.sqlite", write=True) as store:
        for better in ladder:
            assert store.put([(question(), better)]) == 1
            for worse in ladder[: ladder.index(better) + 1]:
                assert store.put([(question(), worse)]) == 0
            assert store.answer(question()) == better
        assert store.answer(question(2)) is None


# Contradictions


def test_a_contradiction_is_an_error_and_stores_nothing(path):
    before = rows(path)
    with Store(path, write=True) as store:
        for asked in (question(3), question(3, digits=40)):  # the same subject at other digits counts
            with pytest.raises(Contradiction, match=r"lam=3/200 .*3/197.*exclude each other"):
                store.put([(question(100), exact(fmpq(1))), (asked, between("1", "2"))])
        store.put([(question(3, digits=40), Answer("estimate", "1", "1", 0))])  # an estimate claims nothing
    assert rows(path).keys() == before.keys() | {question(3, digits=40).key}


def test_merge_takes_what_is_new_or_better(path, tmp_path):
    with Store(tmp_path / "b.sqlite", write=True) as other:
        other.put(ROWS[:40])
        other.put([(question(150), between("2", "4")), (question(41, digits=9), between("1/8", "1/2"))])
    with Store(path, write=True) as store:
        assert (merge(store, tmp_path / "b.sqlite").seen, store.statuses()[question(150).key]) == (42, "enclosed")
        assert merge(store, tmp_path / "b.sqlite").taken == 0
    with Store(tmp_path / "b.sqlite", write=True) as other:
        merge(other, path)
    assert rows(path) == rows(tmp_path / "b.sqlite")


def test_merge_reports_contradictions_and_takes_nothing(path, tmp_path):
    with Store(tmp_path / "b.sqlite", write=True) as other:
        other.put([(question(150), between("2", "4")), *((question(i), between("-2", "-1")) for i in range(1, 6))])
    before = rows(path)
    with Store(path, write=True) as store, pytest.raises(Contradiction, match="and 2 more"):
        merge(store, tmp_path / "b.sqlite")
    assert rows(path) == before


def test_a_number_and_a_refusal_of_the_same_question_contradict(tmp_path):
    refused = Answer("refused", reason="load = 2: unstable")
    with Store(tmp_path / "a.sqlite", write=True) as store, Store(tmp_path / "b.sqlite", write=True) as other:
        store.put([(question(1), refused), (question(2, digits=9), exact(fmpq(1))), (question(3), refused)])
        other.put([(question(2), refused), (question(3), Answer("estimate", "1", "1", 0))])
        assert merge(store, other.path).taken == 2  # other digits may be refused; an estimate claims nothing
        other.put([(question(1), exact(fmpq(1)))])
        with pytest.raises(Contradiction, match=r"refused \(load = 2: unstable\) here, exact 1 there"):
            merge(store, other.path)
    with Store(tmp_path / "b.sqlite", write=True) as other, pytest.raises(Contradiction, match="refused"):
        other.put([(question(1), refused)])


# Damage


def test_sealed_rows_without_meaning_are_named(tmp_path):
    good = store_module._values(question(), between("1", "2"))
    at = COLUMNS.index
    asked = json.loads(question().text)
    changes = [
        ("lower", "3"), ("upper", "foo"), ("lower", None), ("status", "fine"), ("status", "refused"),
        ("status", "exact"), ("certain_digits", "many"), ("seconds", "long"), ("subject", "0" * 64),
        ("question", "[]"), ("question", "no JSON"), ("question", canonical(asked | {"colour": 1})),
        ("question", canonical(asked | {"parameters": {"lam": 1}})), ("question", canonical(asked | {"digits": "x"})),
    ]  # fmt: skip
    for i, (name, bad) in enumerate(changes):
        path = tmp_path / f"{i}.sqlite"
        Store(path, write=True).close()
        values = (*good[: at(name)], bad, *good[at(name) + 1 :])
        db = sqlite3.connect(path)
        db.execute(store_module._UPSERT, (*values, store_module.seal(values)))
        db.commit()
        db.close()
        with pytest.raises(StoreDamaged, match=rf"'{i}\.sqlite' is damaged \(row {question().key[:16]} ") as error:
            Store(path, write=True)
        with Store(path) as store, pytest.raises(StoreDamaged, match=rf"'{i}\.sqlite' is damaged"):
            list(store.rows())
        assert "\n" not in str(error.value)


def test_a_cut_file_is_named_or_whole_and_never_touched(path, tmp_path):
    whole, content, cut = rows(path), path.read_bytes(), tmp_path / "cut.sqlite"
    for size in [0, 1, 15, 99, *range(100, len(content), 1777), len(content) - 1, len(content)]:
        cut.write_bytes(content[:size])
        for write in (False, True):
            try:
                with Store(cut, write=write) as store:  # a writer is told before it has read or written anything
                    found = whole if write else {q.key: answer for q, answer in store.rows()}
            except StoreDamaged as error:
                assert "cut.sqlite" in str(error) and "\n" not in str(error)
            else:
                assert found == whole and size == len(content)
            assert cut.read_bytes() == content[:size]


@FIXED
@given(st.data())
def test_a_flipped_bit_is_named_or_harmless(path, tmp_path, data):
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    bad = tmp_path / "flipped.sqlite"
    bad.write_bytes(content)
    for suffix in ("-wal", "-shm"):
        bad.with_name(bad.name + suffix).unlink(missing_ok=True)
    try:
        found = rows(bad)
    except StoreError as error:
        assert isinstance(error, StoreDamaged) or "has format" in str(error)
        assert "flipped.sqlite" in str(error)
    else:
        assert found == rows(path)


def test_every_flip_inside_a_number_is_found(path, tmp_path):
    content = path.read_bytes()
    number = b"exact71/12971/129"  # status, lower and upper of one row, side by side in the page
    assert content.count(number) == 1
    at = content.index(number) + 5
    for k in range(12):
        bad = tmp_path / f"{k}.sqlite"
        bad.write_bytes(content[: at + k] + bytes([content[at + k] ^ 1]) + content[at + k + 1 :])
        with Store(bad) as store, pytest.raises(StoreDamaged, match=rf"{k}.sqlite.*does not match its seal"):
            list(store.rows())
        before = bad.read_bytes()
        with pytest.raises(StoreDamaged, match="seal"):
            Store(bad, write=True)
        assert bad.read_bytes() == before


@pytest.mark.parametrize("cell", [b"exact", math.inf, None])
def test_cells_of_another_kind_are_named(path, cell):
    db = sqlite3.connect(path)
    db.execute(
        "UPDATE result SET status = coalesce(?, status), seconds = coalesce(?, seconds), method = 7", (cell, cell)
    )
    db.commit()
    db.close()
    with Store(path) as store, pytest.raises(StoreDamaged, match="does not match its seal"):
        list(store.rows())


def test_a_writer_is_refused_where_a_key_is_broken(path, tmp_path):
    """Such a row would not be found, and its question be answered again beside it."""
    key, content = question(71).key.encode(), path.read_bytes()
    row = content.index(b"exact71/12971/129")
    at = content.rindex(key, 0, row)
    bad = tmp_path / "b.sqlite"
    bad.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    before = bad.read_bytes()
    with Store(bad) as store, pytest.raises(StoreDamaged, match=r"b\.sqlite"):
        list(store.rows())
    with pytest.raises(StoreDamaged, match=r"b\.sqlite"):
        Store(bad, write=True)
    assert bad.read_bytes() == before


def test_foreign_files_are_left_alone(tmp_path):
    text, other = tmp_path / "notes.sqlite", tmp_path / "other.sqlite"
    text.write_text("my notes\n" * 1000)
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    for file in (text, other):
        before = file.read_bytes()
        with pytest.raises(StoreDamaged, match=file.name):
            Store(file, write=True)
        assert file.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"notes.sqlite", "other.sqlite"}  # nothing is made beside them
    with pytest.raises(StoreDamaged, match="no results store"):
        Store(tmp_path, write=True)
    with pytest.raises(StoreError, match="not there"):
        Store(tmp_path / "missing.sqlite")
    with pytest.raises(StoreError, match=r"nowhere.*folder"):
        Store(tmp_path / "folder" / "nowhere.sqlite", write=True)


def test_a_store_half_made_is_made_again(tmp_path):
    (tmp_path / "a.sqlite-new").write_bytes(b"SQLite format 3\0 half")
    with Store(tmp_path / "a.sqlite", write=True) as store:
        assert store.put(ROWS) == len(ROWS)


# Processes, disks, folders


def test_one_writer_and_many_readers(path):
    with Store(path, write=True) as writer:
        with Store(path) as first, Store(path) as second:
            writer.put([(question(100), exact(fmpq(1)))])
            assert len(first.statuses()) == len(second.statuses()) == len(ROWS) + 1
        with pytest.raises(StoreError, match="another process writes"):
            Store(path, write=True)
        with Store(path) as reader, pytest.raises(StoreError, match="for reading"):
            reader.put(ROWS)
        done = python("Store(sys.argv[1], write=True)", path)
        assert done.returncode == 1 and "StoreError" in done.stderr and "another process writes" in done.stderr
    with Store(path, write=True) as writer:  # freed
        assert len(writer.statuses()) == len(ROWS) + 1


def python(code: str, *words: object) -> "subprocess.CompletedProcess[str]":
    start = "import sys\nfrom flint import fmpq\nfrom proofs_check.store import *\n"
    command = [sys.executable, "-c", start + code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


FULL = """
import resource
rows = [(Question("m", {"x": str(i)}, "q", None, 15), Answer("exact", "7" * 300, "7" * 300)) for i in range(4000)]
with Store(sys.argv[1], write=True) as store:
    store.put(rows[:10])
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
    try:
        store.put(rows)
    except StoreError as error:
        print(error)
    print(len(store.statuses()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    print(store.put(rows), len(list(store.rows())))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
def test_a_full_disk_loses_nothing(tmp_path):
    done = python(FULL, tmp_path / "a.sqlite")
    assert done.returncode == 0, done.stderr
    message, kept, after = done.stdout.splitlines()
    assert "a.sqlite" in message and "make room and run the command again" in message
    assert (kept, after) == ("10", "3990 4000")


READ_ONLY = """
import os
from pathlib import Path
os.chdir(sys.argv[1])
export([(Question("m", {}, "q", None, 9), Answer("exact", "1", "1"))], "warm.csv")
if os.getuid() == 0:
    os.seteuid(65534)
os.chdir("closed")
with Store("a.sqlite") as store:
    print(len(list(store.rows())))
for name in ("a.sqlite", "new.sqlite"):
    try:
        Store(name, write=True)
    except StoreError as error:
        print(error)
print(sorted(p.name for p in Path().iterdir()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of folders")
def test_a_folder_that_cannot_be_written_is_read(path):
    with tempfile.TemporaryDirectory() as name:
        top, folder = Path(name), Path(name) / "closed"
        folder.mkdir()
        shutil.copy(path, folder)
        top.chmod(0o755)
        (folder / "a.sqlite").chmod(0o444)
        folder.chmod(0o555)
        done = python(READ_ONLY, top)
        folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    count, old, new, left = done.stdout.splitlines()
    assert count == str(len(ROWS)) and left == "['a.sqlite']"
    for line, file in ((old, "a.sqlite"), (new, "new.sqlite")):
        assert file in line and "cannot be written" in line and "--store" in line


# Exports


@pytest.mark.parametrize("ending", [".csv", ".json", ".parquet"])
def test_exports_of_the_same_rows_are_the_same_bytes(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    files = []
    for name, listed, seconds in (("a", ROWS, 1.0), ("b", ROWS[::-1], 2.5)):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            store.put((q, Answer(**{**a.to_json(), "seconds": seconds, "versions": name})) for q, a in listed)
            files.append(export(store.rows(), tmp_path / f"{name}{ending}"))
            with_costs = export(store.rows(), tmp_path / f"{name}-costs{ending}", costs=True)
            assert with_costs.read_bytes() != files[-1].read_bytes()
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not list(tmp_path.glob("*-new"))


def test_csv_and_json_say_the_same_and_enclose(tmp_path):
    third = [(question(1), between("0xaaaaaaaaaaaaaaaaaaaaaa*2^-89", "0xaaaaaaaaaaaaaaaaaaaaab*2^-89")),
             (question(2), Answer("refused", reason="load = 2: unstable, no law")), ROWS[2]]  # fmt: skip
    table = list(csv.DictReader(export(third, tmp_path / "a.csv").read_text().splitlines()))
    records = json.loads(export(third, tmp_path / "a.json").read_text())
    assert [r["lam"] for r in table] == ["1/200", "1/100", "3/200"]  # sorted as numbers
    assert [r["key"] for r in table] == [r["key"] for r in records]
    for line, record, (_, answer) in zip(table, records, third, strict=True):
        assert record["lossless"] == {"lower": answer.lower, "upper": answer.upper}
        assert (line["status"], line["reason"]) == (answer.status, answer.reason)
        if answer.enclosure:
            low, high = Fraction(line["lower"]), Fraction(line["upper"])
            assert fmpq(low.numerator, low.denominator) <= unwire(answer.lower)
            assert unwire(answer.upper) <= fmpq(high.numerator, high.denominator)
            assert high - low < Fraction(1, 10**20)
    assert table[2]["exact"] == table[2]["value"] == "3/197"


def test_parquet_holds_the_table_of_the_csv(path, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    with Store(path) as store:
        listed = list(store.rows())
    lines = list(csv.DictReader(export(listed, tmp_path / "a.csv").read_text().splitlines()))
    records = parquet.read_table(export(listed, tmp_path / "a.parquet")).to_pylist()
    assert [{k: "" if v is None else str(v) for k, v in record.items()} for record in records] == lines


def test_exports_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.csv, \.json, \.parquet"):
        export(ROWS, tmp_path / "a.xls")
    with pytest.raises(InputError, match="no such rows"):
        export([], tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_an_export_that_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("older")

    def full(_new, _place):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=r"a\.csv.*No space left.*make room"):
        export(ROWS, tmp_path / "a.csv")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.csv", "older")]
