"""``exaq validate MODEL NAME=VALUE ... --data FILE --quantity Q``."""

import json
from pathlib import Path

import click

from proofs_check.cli.words import assignments, indices, names
from proofs_check.simulators.intervals import METHODS
from proofs_check.simulators.pages import html_text, junit_text
from proofs_check.simulators.presets import read_names
from proofs_check.simulators.validation import Rule, validate
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Verdict
from proofs_check.simulators.wording import lines, plain

EXIT = {Verdict.AGREES: 0, Verdict.DISAGREES: 1, Verdict.UNDECIDED: 3}


@click.command("validate")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option(
    "--data",
    required=True,
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="the simulator's output; several files, or 'runs/*.csv', are replications",
)
@click.option("--quantity", required=True, help="one quantity or several, separated by commas")
@click.option("--index", default="0", show_default=True, help="I or I..J, for indexed quantities")
@click.option(
    "--margin",
    default=DEFAULT_MARGIN,
    show_default=True,
    help="what does not matter: 5%, 0.05 (of the exact value), abs:M",
)
@click.option("--warmup", default="0", show_default=True, help="part of the run to leave out first: 10%, 0.1")
@click.option("--interval", default="batch", show_default=True, help=f"how errors are found: {', '.join(METHODS)}")
@click.option("--sequential", is_flag=True, help="intervals that hold at every look at a growing run")
@click.option(
    "--law",
    is_flag=True,
    help="also compare the whole law of slot ages or of the number in the system",
)
@click.option("--format", "preset", help="whose output it is; found from the columns when not given")
@click.option("--columns", type=click.Path(dir_okay=False, path_type=Path), help='TOML: t_arrive = "my arrival" ..')
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="write JUnit XML")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="write one HTML page")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(
    model: str,
    parameters: tuple[str, ...],
    data: tuple[Path, ...],
    quantity: str,
    index: str,
    margin: str,
    warmup: str,
    interval: str,
    sequential: bool,
    law: bool,
    preset: str | None,
    columns: Path | None,
    junit: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Say whether a simulator's output agrees with MODEL, disagrees, or leaves it undecided.

    Exit codes: 0 agrees, 1 disagrees, 2 broken input, 3 undecided.
    """
    found = validate(
        model,
        assignments(parameters),
        list(data) if len(data) > 1 else data[0],
        quantities=names(quantity),
        indices=indices(index),
        margin=margin,
        preset=preset,
        warmup=warmup,
        names=read_names(columns) if columns else None,
        rule=Rule(interval, sequential, law),
    )
    if junit:
        junit.write_text(junit_text(found), encoding="utf-8")
    if html:
        html.write_text(html_text(found), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(plain(found), indent=1))
    else:
        for line in lines(found):
            click.echo(line)
    click.get_current_context().exit(EXIT[found.verdict])
