"""``exaq sweep SPEC.toml --store FILE``: parameter studies that lose nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from exactchains.truth import InputError, PrecisionExhausted, Undecided
from proofs_check.cli.progress import progress
from proofs_check.store import Answer, Contradiction, Question, Store, checked_export, export, merge
from proofs_check.store.question import VALUES
from proofs_check.sweeps.cost import cost
from proofs_check.sweeps.crossings import FEW
from proofs_check.sweeps.engine import Engine, dask, local
from proofs_check.sweeps.phase_figure import checked_phase, phase_figure
from proofs_check.sweeps.spec import Spec, read_spec
from proofs_check.sweeps.study import Swept, missing, sweep

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("sweep")
@click.argument("spec", required=False, metavar="[SPEC.toml]", type=FILE)
@click.option("--store", required=True, type=FILE, help="results store, made when it is not there")
@click.option("--engine", type=click.Choice(["local", "dask"]), default="local", show_default=True)
@click.option("--scheduler", help="address of a Dask scheduler, which can run code in its workers")
@click.option("--jobs", type=click.IntRange(1, 1024), help="processes of the local engine  [default: one a core]")
@click.option("--retry", is_flag=True, help="compute again what failed by time, memory or a crash")
@click.option("--dry-run", is_flag=True, help="print how much there is to do, and do nothing")
@click.option("--merge", "others", multiple=True, type=FILE, help="take in what another store knows (first)")
@click.option("--export", "files", multiple=True, type=FILE, help="write .csv, .json or .parquet (at last)")
@click.option("--costs", is_flag=True, help="export seconds and versions too")
@click.option("--figure", type=FILE, help="draw the boundary: .svg, .pdf or .png")
@click.option("--quiet", is_flag=True, help="no progress")
def command(
    spec: Path | None,
    store: Path,
    engine: str,
    scheduler: str | None,
    jobs: int | None,
    retry: bool,
    dry_run: bool,
    others: tuple[Path, ...],
    files: tuple[Path, ...],
    costs: bool,
    figure: Path | None,
    quiet: bool,
) -> None:
    """Answer every question of SPEC.toml and keep the answers in a store; what is there is not computed again.

    Without SPEC.toml: merge, export and check a store.
    """
    asked = read_spec(spec) if spec is not None else None
    if scheduler is not None and engine != "dask":
        raise InputError("--scheduler needs --engine dask")
    if asked is None and (dry_run or retry or figure or not (others or files)):
        raise InputError("give SPEC.toml, or --merge or --export for what is in the store")
    for file in files:  # before the sweep: what cannot be written should not show after hours
        checked_export(file)
    if figure is not None and asked is not None:
        checked_phase(asked, figure)
    if dry_run and asked is not None:
        _dry(asked, store, retry)
        return
    for other in others:  # before a store is made
        Store(other).close()
    done = None
    with Store(store, write=asked is not None or bool(others)) as held:
        for other in others:
            _merged(held, other)
        if asked is not None:
            with progress(asked.name, quiet=quiet) as report, _engine(engine, scheduler, jobs, asked) as chosen:
                try:
                    done = sweep(asked, held, executor=chosen, retry=retry, progress=report)
                except KeyboardInterrupt:
                    raise KeyboardInterrupt("what was finished is stored, the same command goes on") from None
            _told(done, asked)
        rows = list(held.rows()) if files or (done and _unanswered(done)) else []
    mine = [row for row in rows if done is None or row[0].key in done.keys]
    for file in files:
        click.echo(f"wrote {export(mine, file, costs=costs)}", err=True)
    undrawn = None
    if figure is not None and done is not None and asked is not None:
        try:
            click.echo(f"wrote {phase_figure(asked, done.boundary, figure)}", err=True)
        except Undecided as error:
            undrawn = error
    if done is not None:
        _judged(done, mine)
    if undrawn is not None:
        raise undrawn


def _dry(spec: Spec, path: Path, retry: bool) -> None:
    held = Store(path) if path.exists() else None
    try:
        asked, known = spec.questions(), held.statuses() if held is not None else {}
        left, stored = missing(spec, held, retry=retry), sum(q.key in known for q in asked)
        click.echo(f"{counted(spec.size, 'point')}, {counted(len(asked), 'answer')}, {stored} of them in the store")
        if left:
            again = sum(q.key in known for q in left)
            twice = f", {again} of them again" if again else ""
            click.echo(f"{len(left)} to compute{twice}: {cost(left, held)}, shared by the workers")
        if spec.boundary:
            click.echo(f"and where the sign changes along {spec.boundary.over}: halving down to {spec.boundary.to}")
    finally:
        if held is not None:
            held.close()


def _merged(held: Store, other: Path) -> None:
    try:
        found = merge(held, other)
    except Contradiction as error:
        click.echo(f"exaq: {error}", err=True)
        raise click.exceptions.Exit(1) from None
    click.echo(f"{other.name}: {counted(found.seen, 'answer')}, {found.taken} of them new or better")


@contextmanager
def _engine(name: str, scheduler: str | None, jobs: int | None, spec: Spec) -> Iterator[Engine]:
    with dask(scheduler, spec.limits) if name == "dask" else local(jobs) as engine:
        yield engine


def counted(n: int, name: str) -> str:
    """Return a number of things in words."""
    return f"{n} {name}{'' if n == 1 else 's'}"


def _told(done: Swept, spec: Spec) -> None:
    listed = ", ".join(f"{count} {status}" for status, count in done.statuses.items())
    stored = done.asked - done.computed
    click.echo(f"{counted(done.asked, 'answer')}: {listed}; {done.computed} computed, {stored} from the store")
    for piece in (*done.boundary, *done.gaps):
        click.echo(str(piece))
    if spec.boundary and not done.boundary:
        click.echo(f"no certain change of sign along {spec.boundary.over} was found")


def _unanswered(done: Swept) -> dict[str, int]:
    """Return how many answers there are of each status that is to be explained."""
    kinds = {s: n for s, n in done.statuses.items() if s not in VALUES}
    return kinds if set(done.statuses) == {"refused"} else {s: n for s, n in kinds.items() if s != "refused"}


def _judged(done: Swept, rows: list[tuple[Question, Answer]]) -> None:
    """Raise what the exit code tells: nothing exists, or not everything was decided."""
    short = _unanswered(done)
    if "refused" in short:
        raise InputError(f"no point of this sweep exists: {rows[0][1].reason}")
    if "failed" in short:
        places = _places(rows, ("failed",))
        raise RuntimeError(f"{counted(short['failed'], 'answer')} failed ({places}); --retry computes them again")
    if short:
        words = ", ".join(f"{n} {s}" for s, n in short.items())
        raise PrecisionExhausted(f"{words} of {counted(done.asked, 'answer')} ({_places(rows, tuple(short))})")


def _places(rows: list[tuple[Question, Answer]], statuses: tuple[str, ...]) -> str:
    """Return the first few questions whose answers have one of the statuses."""
    found = sorted((question for question, answer in rows if answer.status in statuses), key=lambda q: q.order)
    return "; ".join([*(q.label for q in found[:FEW]), *([".."] if len(found) > FEW else [])])
