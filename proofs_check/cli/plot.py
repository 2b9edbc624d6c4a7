"""``exaq plot NAME|SPEC.toml --out FILE``: figures of tables."""

from concurrent.futures import Executor
from pathlib import Path

import click

from exactchains.spread import processes
from exactchains.truth import InputError
from proofs_check.cli.progress import progress
from proofs_check.cli.words import jobs_option
from proofs_check.plots import fields, maps, paths
from proofs_check.plots.arrows import draw_fields
from proofs_check.plots.drawing import checked_figure, draw
from proofs_check.plots.figure import Figure, figure
from proofs_check.tables.evaluation import table
from proofs_check.tables.spec import Spec, recipes, spec


@click.command("plot")
@click.argument("name", required=False, metavar="[NAME|SPEC.toml]")
@click.option("--out", type=click.Path(path_type=Path), help="file ending in .svg, .pdf or .png; a folder with --all")
@click.option("--all", "every", is_flag=True, help="every figure as SVG, into the folder --out")
@jobs_option("cells of tables, and paths")
@click.option("--quiet", is_flag=True, help="no progress")
def command(name: str | None, out: Path | None, every: bool, jobs: int | None, quiet: bool) -> None:
    """Draw a table, paths, drift fields or where a claim fails as a figure, or list the figures that are shipped."""
    if every and (name or out is None):
        raise InputError("--all draws every figure: give --out DIR and no NAME")
    if name is None and not every:
        for known in plotted():
            click.echo(f"{known:28}  {asked(known).title}")
        return
    if out is None:
        raise InputError("give --out FILE, ending in .svg, .pdf or .png")
    if every:
        out.mkdir(parents=True, exist_ok=True)
    with processes(jobs) as executor:
        for wanted in plotted() if every else [name or ""]:
            path = out / f"{wanted}.svg" if every else out
            checked_figure(path)
            made = shown(asked(wanted), quiet, executor)
            if isinstance(made, maps.Map):
                maps.draw_map(made, path)
            elif isinstance(made, fields.Fields):
                draw_fields(made, path)
            else:
                draw(made, path)
            click.echo(f"wrote {path}", err=True)


def plotted() -> list[str]:
    """Return the figures that are shipped: paths, drift fields, maps, and tables that people would rather look at."""
    return sorted([*paths.recipes(), *(name for name in recipes() if spec(name).plot)])


def asked(name: str) -> Spec | paths.Paths | fields.Wanted | maps.Wanted:
    """Return what a name or a file asks for."""
    place = paths.recipes().get(name)
    if place is None and name.endswith(".toml"):
        place = Path(name)
    readers = (paths.paths, fields.wanted, maps.wanted)
    found = next((x for read in readers if (x := read(place)) is not None), None) if place is not None else None
    return spec(name) if found is None else found


def shown(
    wanted: Spec | paths.Paths | fields.Wanted | maps.Wanted, quiet: bool, executor: Executor | None = None
) -> Figure | fields.Fields | maps.Map:
    if isinstance(wanted, maps.Wanted):
        return maps.drawn(wanted)
    if isinstance(wanted, paths.Paths):
        return paths.drawn(wanted, executor=executor)
    if isinstance(wanted, fields.Wanted):
        return fields.drawn(wanted)
    with progress(wanted.name, quiet=quiet) as report:
        return figure(wanted, table(wanted, progress=report, executor=executor))
