"""A results store: one SQLite file, many readers, one writer; killed at any moment it is whole.

Every row carries a seal (SHA-256 of its contents), so that a flipped bit inside a number is found as surely as a broken
page.  A damaged file is named and left as it is.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from exactchains.truth import InputError
from proofs_check.store.question import Answer, Question, canonical, sha256

APPLICATION = 0x65786171  # "exaq", in the header of the file
FORMAT = 1
BROKEN = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")  # our own SQL is in order
HEAD = 100  # bytes of the header of a SQLite file
COLUMNS = ("key", "subject", "question", "status", "lower", "upper", "certain_digits", "reason", "method",
           "certificate", "seconds", "versions")  # fmt: skip
_SCHEMA = f"""
CREATE TABLE result (
  key TEXT PRIMARY KEY, subject TEXT NOT NULL, question TEXT NOT NULL, status TEXT NOT NULL, lower TEXT, upper TEXT,
  certain_digits INTEGER, reason TEXT NOT NULL, method TEXT NOT NULL, certificate TEXT NOT NULL, seconds REAL NOT NULL,
  versions TEXT NOT NULL, seal TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX result_subject ON result (subject);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""
_SELECT = f"SELECT {', '.join(COLUMNS)}, seal FROM result"
_UPSERT = f"INSERT OR REPLACE INTO result VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"


class StoreError(InputError):
    """The store cannot be opened, read or written; the message names the file and what to do."""


class StoreDamaged(StoreError):
    """The file is no store, or part of it is broken; it was left as it is."""


class Contradiction(StoreError):
    """Two certain answers to one question have no number in common: at least one of them is wrong."""


class Store:
    """Rows (question, answer) in the SQLite file at ``path``.

    With ``write`` the file is made when it is not there, and no other process may write while this one is open.
    The file is checked when it is opened: its structure, and for writing every row.

    Raises
    ------
    StoreDamaged
        Damaged, truncated, or no store.
    StoreError
        Another process writes, the folder cannot be written, the file is not there.
    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        self.path, self.write = Path(path), write
        with ExitStack() as opened, _named(self.path):
            _checked_head(self.path, write)
            if write:
                opened.callback(_writer_lock(self.path).close)
                _made(self.path)
            self._db = _connected(self.path, write)
            opened.callback(self._db.close)
            if write:  # a broken row would not be found by its key, and its question be answered again
                for _ in self.rows():
                    pass
            self._opened = opened.pop_all()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._db is not None:
            self._opened.close()

    def statuses(self) -> dict[str, str]:
        """Return the status of every row, by key."""
        with _named(self.path):
            return dict(self._db.execute("SELECT key, status FROM result"))

    def costs(self) -> dict[tuple[str, str], float]:
        """Return the mean seconds of an answer for each (model, quantity) in the store."""
        sums: dict[tuple[str, str], list[float]] = {}
        for question, answer in self.rows():
            sums.setdefault((question.model, question.quantity), []).append(answer.seconds)
        return {pair: sum(seconds) / len(seconds) for pair, seconds in sums.items()}

    def answer(self, question: Question) -> Answer | None:
        """Return the answer to a question, None where it was not asked yet."""
        with _named(self.path):
            row = self._db.execute(f"{_SELECT} WHERE key = ?", (question.key,)).fetchone()
        return None if row is None else self._read(row)[1]

    def rows(self) -> Iterator[tuple[Question, Answer]]:
        """Yield all rows in the order of their keys, each checked against its seal."""
        with _named(self.path):
            for row in self._db.execute(f"{_SELECT} ORDER BY key"):
                yield self._read(row)

    def put(self, found: Iterable[tuple[Question, Answer]]) -> int:
        """Store answers in one transaction, all or none; return how many rows changed.

        A better answer takes the place of a worse one to the same question; otherwise the old one stays.

        Raises
        ------
        Contradiction
            An answer has no number in common with one to the same subject, at whatever digits; nothing is stored.
        StoreError
            Disk full or not writable; nothing is stored.
        """
        if not self.write:
            raise StoreError(f"store {self.path.name!r} was opened for reading")
        with _named(self.path), self._transaction():
            return sum(self._put(question, answer) for question, answer in found)

    def _put(self, question: Question, answer: Answer) -> bool:
        found = self._db.execute(f"{_SELECT} WHERE subject = ?", (question.subject,)).fetchall()
        known = {asked.key: stored for asked, stored in map(self._read, found)}
        for key, stored in known.items():
            if stored.contradicts(answer, same_key=key == question.key):
                raise Contradiction(
                    f"store {self.path.name!r}: {question.label}: {said(stored)} is stored, {said(answer)} was found;"
                    " they exclude each other, one is wrong: keep the file and report it"
                )
        if question.key in known and not answer.better(known[question.key]):
            return False
        values = _values(question, answer)
        self._db.execute(_UPSERT, (*values, seal(values)))
        return True

    def _read(self, row: tuple[Any, ...]) -> tuple[Question, Answer]:
        values = row[:-1]
        if not _sealed(values, row[-1]):
            raise StoreDamaged(_damage(self.path, f"row {str(row[0])[:16]} does not match its seal"))
        named = dict(zip(COLUMNS, values, strict=True))
        try:
            question = Question.from_text(named.pop("question"))
            answer = Answer(**{name: x for name, x in named.items() if name not in ("key", "subject")})
        except (TypeError, ValueError) as error:  # sealed, but not by us
            raise StoreDamaged(_damage(self.path, f"row {str(row[0])[:16]} has no meaning: {error}")) from None
        if question.key != named.pop("key") or question.subject != named.pop("subject"):
            raise StoreDamaged(_damage(self.path, f"row {str(row[0])[:16]} is filed under a wrong key"))
        return question, answer

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


def seal(values: tuple[Any, ...]) -> str:
    """Return the SHA-256 of the contents of a row."""
    return sha256(canonical(list(values)))


def _sealed(values: tuple[Any, ...], mark: Any) -> bool:
    try:
        return seal(values) == mark
    except (TypeError, ValueError):  # bytes or NaN: a broken cell may hold what no row has
        return False


def said(answer: Answer) -> str:
    """Return an answer in a few words."""
    if answer.status == "refused":
        return f"refused ({answer.reason[:120]})"
    e = answer.enclosure
    return f"{answer.status} {e.short()}" if e is not None else answer.status


def _values(question: Question, answer: Answer) -> tuple[Any, ...]:
    named = answer.to_json() | {"key": question.key, "subject": question.subject, "question": question.text}
    return tuple(named[name] for name in COLUMNS)


def _checked_head(path: Path, write: bool) -> None:
    """Read the beginning of the file as bytes: what is no store is not touched, nor is anything made beside it."""
    if not path.exists():
        if write:
            return
        raise StoreError(f"store {path.name!r} is not there; exaq sweep SPEC.toml --store FILE makes one")
    try:
        head = b""
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(HEAD)
    except OSError as error:
        raise StoreError(f"store {path.name!r} cannot be read ({error.strerror}); give another --store") from None
    if head[:16] != b"SQLite format 3\0" or int.from_bytes(head[68:72], "big") != APPLICATION:
        raise StoreDamaged(
            f"store {path.name!r} is no results store, or its beginning is lost; it was left as it is: give another"
            " --store"
        )
    page, size = int.from_bytes(head[16:18], "big"), path.stat().st_size
    if size % (page if page > 1 else 65536) and not _pending(path):
        raise StoreDamaged(_damage(path, f"cut off after {size} bytes"))


def _connected(path: Path, write: bool) -> sqlite3.Connection:
    """Open and check the file: format, structure of every page, and for writing that the index fits the rows."""
    db = sqlite3.connect(_uri(path, "rw" if write else "ro"), uri=True, isolation_level=None, timeout=30)
    try:
        try:
            (version,) = db.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError:
            if write or _pending(path):
                raise
            db.close()  # a folder that cannot be written: nobody writes, the file is read as it stands
            db = sqlite3.connect(_uri(path, "ro") + "&immutable=1", uri=True, isolation_level=None)
            (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise StoreError(f"store {path.name!r} has format {version}, this version reads {FORMAT}; use a newer exaq")
        (state,) = db.execute(f"PRAGMA {'integrity' if write else 'quick'}_check(1)").fetchone()
        if state != "ok":
            raise StoreDamaged(_damage(path, state))
        if write:
            db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    return db


def _uri(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


def _pending(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.is_file() and log.stat().st_size > 0


def _writer_lock(path: Path) -> sqlite3.Connection:
    """Hold the file ``PATH-writer`` locked: the operating system frees it whenever and however the process ends."""
    lock = sqlite3.connect(path.with_name(path.name + "-writer"), isolation_level=None, timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorname.startswith("SQLITE_BUSY"):
            raise StoreError(f"store {path.name!r}: another process writes to it; wait for it, or give another --store"
                             " and merge later") from None  # fmt: skip
        raise
    return lock


def _made(path: Path) -> None:
    """Make an empty store under another name and move it in place, so that no half-made store is ever seen."""
    if path.exists():
        return
    new = path.with_name(path.name + "-new")
    new.unlink(missing_ok=True)
    db = sqlite3.connect(new, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)
    finally:
        db.close()
    new.rename(path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn what SQLite reports into one line that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        decoding = isinstance(error, sqlite3.OperationalError) and not name
        if decoding or name.startswith(BROKEN):
            raise StoreDamaged(_damage(path, str(error))) from None
        raise StoreError(f"store {path.name!r}: {_explained(name, str(error))}") from None


def _damage(path: Path, why: str) -> str:
    shown = " ".join(why.split())[:120]
    return f"store {path.name!r} is damaged ({shown}); it was left as it is: restore a copy, or start a new store"


def _explained(name: str, text: str) -> str:
    if name.startswith("SQLITE_FULL") or name.startswith("SQLITE_IOERR"):
        return (
            f"the disk is full or fails ({text}); everything stored so far is safe: make room and run the command again"
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"cannot be written ({text}); give a --store in a folder that you may write to"
    if name.startswith("SQLITE_BUSY"):
        return f"another process holds it ({text}); run the command again"
    return text
