"""``exaq simulate MODEL NAME=VALUE ... --seed S --out FILE``."""

from pathlib import Path

import click

from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.cli.words import assignments
from proofs_check.simulators.reference import simulate, write


@click.command("simulate")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--seed", required=True, type=click.IntRange(0), help="the same seed gives the same file")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="write CSV here")
@click.option(
    "--length",
    "--slots",
    "--jobs",
    "length",
    type=click.IntRange(1, 1_000_000_000),
    help="slots or jobs; by default what a verdict at the default margin needs",
)
def command(model: str, parameters: tuple[str, ...], seed: int, out: Path, length: int | None) -> None:
    """Simulate MODEL packet by packet, or job by job, and write what happened as CSV.

    The simulator shares no chain and no formula with the exact code.
    """
    subject = find(model)
    values = subject.read(assignments(parameters))
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    header, rows = simulate(subject, values, seed=seed, length=length)
    write(out, header, rows)
    click.echo(f"{out}: {len(rows)} rows of {', '.join(header)}", err=True)
