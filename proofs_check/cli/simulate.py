"""``exaq simulate MODEL NAME=VALUE ... --seed S --out FILE``."""

from pathlib import Path
from typing import Any

import click

from aoi_tools.solvers.age import age_law
from exactchains.domain import Balls
from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.catalogue import find
from proofs_check.cli.words import assignments
from proofs_check.simulators.reference import simulate, write


def without_law(thing: Any) -> bool:
    """Return whether an age model has no law: its ages can be simulated, but nothing converges."""
    if not hasattr(thing, "scheme"):
        return False
    try:
        age_law(thing.scheme, domain=Balls())
    except DoesNotExist:
        return True
    except (InputError, Undecided):
        return False
    return False


@click.command("simulate")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--seed", required=True, type=click.IntRange(0), help="the same seed gives the same file")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="write CSV here")
@click.option(
    "--length",
    "--slots",
    "--jobs",
    "lengths",
    multiple=True,
    type=click.IntRange(1, 1_000_000_000),
    help="slots or jobs; by default what a verdict at the default margin needs",
)
def command(model: str, parameters: tuple[str, ...], seed: int, out: Path, lengths: tuple[int, ...]) -> None:
    """Simulate MODEL packet by packet, or job by job, and write what happened as CSV.

    The simulator shares no chain and no formula with the exact code.
    """
    if len(set(lengths)) > 1:
        raise InputError(f"--length, --slots and --jobs are one option: {' and '.join(map(str, lengths))} contradict")
    length = lengths[0] if lengths else None
    subject = find(model)
    values = subject.read(assignments(parameters))
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    header, rows = simulate(subject, values, seed=seed, length=length)
    write(out, header, rows)
    if without_law(subject.build(values)):
        click.echo("note: no age law exists for these parameters: this run does not settle", err=True)
    click.echo(f"{out}: {len(rows)} rows of {', '.join(header)}", err=True)
