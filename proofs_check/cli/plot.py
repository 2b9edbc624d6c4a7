"""``exaq plot NAME|SPEC.toml --out FILE``: figures of tables."""

from pathlib import Path

import click

from exactchains.truth import InputError
from proofs_check.cli.words import progress
from proofs_check.plots.drawing import draw
from proofs_check.plots.figure import figure
from proofs_check.tables.evaluation import table
from proofs_check.tables.spec import Spec, recipes, spec


@click.command("plot")
@click.argument("name", required=False, metavar="[NAME|SPEC.toml]")
@click.option("--out", type=click.Path(path_type=Path), help="file ending in .svg, .pdf or .png; a folder with --all")
@click.option("--all", "every", is_flag=True, help="every figure as SVG, into the folder --out")
@click.option("--quiet", is_flag=True, help="no progress")
def command(name: str | None, out: Path | None, every: bool, quiet: bool) -> None:
    """Draw a table as a figure, or list the figures that are shipped."""
    if every and (name or out is None):
        raise InputError("--all draws every figure: give --out DIR and no NAME")
    if name is None and not every:
        for known in plotted():
            click.echo(f"{known:28}  {spec(known).title}")
        return
    if out is None:
        raise InputError("give --out FILE, ending in .svg, .pdf or .png")
    if every:
        out.mkdir(parents=True, exist_ok=True)
    for asked in [spec(n) for n in plotted()] if every else [spec(name or "")]:
        path = out / f"{asked.name}.svg" if every else out
        _draw(asked, path, quiet)
        click.echo(f"wrote {path}", err=True)


def plotted() -> list[str]:
    """Return the recipes that people would rather look at than read."""
    return [name for name in recipes() if spec(name).plot]


def _draw(asked: Spec, path: Path, quiet: bool) -> None:
    with progress(asked.name, quiet=quiet) as report:
        made = table(asked, progress=report)
    draw(figure(asked, made), path)
