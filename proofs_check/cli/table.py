"""``exaq table NAME|SPEC.toml``: tables in which every digit is certain."""

from concurrent.futures import Executor
from contextlib import nullcontext
from pathlib import Path

import click

from exactchains.spread import processes
from exactchains.truth import InputError, PrecisionExhausted
from proofs_check.cli.progress import progress
from proofs_check.cli.words import jobs_option
from proofs_check.store.store import Store
from proofs_check.tables.evaluation import table, with_settings
from proofs_check.tables.sheet import FORMATS, written
from proofs_check.tables.spec import Spec, recipes, spec
from proofs_check.tables.table import NOTATIONS, Table


@click.command("table")
@click.argument("name", required=False, metavar="[NAME|SPEC.toml]")
@click.option("--all", "every", is_flag=True, help="every recipe, in all formats, into the folder --out")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), help="format  [default: text, or as --out ends]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="file (its JSON twin beside it), or folder for all formats"
)
@click.option("--digits", type=click.IntRange(1, 100_000), help="certain digits  [default: those of the table]")
@click.option("--notation", type=click.Choice(list(NOTATIONS)), help="how numbers are written")
@click.option("--store", type=click.Path(dir_okay=False, path_type=Path), help="results store: what it knows stays")
@jobs_option("the cells")
@click.option("--quiet", is_flag=True, help="no progress")
def command(
    name: str | None,
    every: bool,
    form: str | None,
    out: Path | None,
    digits: int | None,
    notation: str | None,
    store: Path | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Print a table, or list the recipes that are shipped."""
    if every and (name or not out or form):
        raise InputError("--all writes every recipe in all formats: give --out DIR, and neither NAME nor --format")
    if name is None and not every:
        for known in recipes():
            click.echo(f"{known:28}  {spec(known).title}")
        return
    wanted = [spec(n) for n in recipes()] if every else [spec(name or "")]
    short: list[str] = []
    with Store(store, write=True) if store else nullcontext() as kept, processes(jobs) as executor:
        for asked in wanted:
            paths = {} if out is None else _paths(asked.name, out, form, folder=every)  # before the work, not after
            made = _made(with_settings(asked, digits=digits, notation=notation), kept, executor, quiet)
            short += [f"{made.name}: {reason}" for reason in made.undecided]
            if out is None:
                click.echo(written(made, form or "text"), nl=False)
            else:
                for kind, path in paths.items():
                    path.write_text(written(made, kind), encoding="utf-8", newline="\n")
                    click.echo(f"wrote {path}", err=True)
    if short:
        raise PrecisionExhausted("; ".join(short))


def _made(asked: Spec, store: Store | None, executor: Executor | None, quiet: bool) -> Table:
    with progress(asked.name, quiet=quiet) as report:
        return table(asked, progress=report, store=store, executor=executor)


def _paths(name: str, out: Path, form: str | None, *, folder: bool) -> dict[str, Path]:
    """Return the files to write, by format: one file and its JSON twin, or all formats in a folder, which is made."""
    if folder or out.is_dir() or not out.suffix:
        out.mkdir(parents=True, exist_ok=True)
        forms = FORMATS if form is None else {form: FORMATS[form], "json": FORMATS["json"]}
        paths = {kind: out / f"{name}{ending}" for kind, ending in forms.items()}
    else:
        by_ending = {ending: kind for kind, ending in FORMATS.items()}
        named = by_ending.get(out.suffix)
        if form and named and named != form:
            raise InputError(f"--format {form} contradicts --out {out.name}, which ends as {named}: leave out --format,"
                             f" or end the name in {FORMATS[form]}")  # fmt: skip
        kind = form or named
        if kind is None:
            raise InputError(f"--out {out.name}: its ending names no format; add --format, or end it in one of"
                             f" {', '.join(by_ending)}")  # fmt: skip
        if not out.parent.is_dir():
            raise InputError(f"--out {out}: there is no folder {str(out.parent)!r}; make it first")
        paths = {kind: out, "json": out if kind == "json" else out.with_suffix(".json")}
    return paths
