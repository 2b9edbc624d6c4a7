"""``exaq best MODEL NAME=VALUE ... --over NAME=LO..HI --minimise Q``."""

import json
from typing import Any

import click

from exactchains.enclosure import Enclosure
from exactchains.spread import processes
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.design import best_parameter, switching_points
from proofs_check.cli.words import assignments, jobs_option

DIGITS = 20


@click.command("best")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--over", required=True, metavar="NAME=LO..HI", help="integer parameter to choose, both ends included")
@click.option("--minimise", required=True, metavar="Q", help="quantity to minimise")
@click.option("--switches", metavar="NAME=LO..HI", help="real parameter along which the best integer may change")
@jobs_option("candidates, or the pieces of --switches")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(
    model: str,
    parameters: tuple[str, ...],
    over: str,
    minimise: str,
    switches: str | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Print the certified best integer parameter of MODEL; exact ties are all named.

    With --switches the pieces of that parameter's range with their best integers, switching points isolated.
    """
    m, words, chosen = find(model), assignments(parameters), interval(over, "--over")
    if switches is None:
        with processes(jobs) as executor:
            found = best_parameter(m, words, over=chosen, minimise=minimise, executor=executor)
        data = {
            "model": m.name,
            "minimise": minimise,
            "parameter": chosen[0],
            "best": list(found.arguments),
            "value": ends(found.value),
            "candidates": {str(k): ends(x) for k, x in found.values.items()},
            "without_law": list(found.absent),
        }
        lines = [f"best {chosen[0]} = {_list(found.arguments)}: {minimise} = {_shown(found.value)}"]
        lines += [f"  {chosen[0]} = {k}: {_shown(x)}" for k, x in found.values.items()]
        lines += [f"  {chosen[0]} = {k}: no age law" for k in found.absent]
    else:
        along = interval(switches, "--switches")
        with processes(jobs) as executor:
            pieces = switching_points(m, words, over=chosen, along=along, minimise=minimise, executor=executor)
        data = {
            "model": m.name,
            "minimise": minimise,
            "parameter": chosen[0],
            "along": along[0],
            "pieces": [
                {"lower": ends(p.lower), "upper": ends(p.upper), "best": list(p.arguments)}
                | {"without_law": list(map(str, p.without_law))}
                for p in pieces
            ],
        }
        lines = [
            f"{along[0]} from {_shown(p.lower)} to {_shown(p.upper)}: best {chosen[0]} = {_list(p.arguments)}"
            + "".join(f"; no age law at {along[0]} = {x}" for x in p.without_law)
            for p in pieces
        ]
    click.echo(json.dumps(data, indent=1) if as_json else "\n".join(lines))


def interval(word: str, option: str) -> tuple[str, str, str]:
    """Return name and both ends of NAME=LO..HI."""
    name, equals, rest = word.partition("=")
    low, dots, high = rest.partition("..")
    if not (name and equals and dots and low and high):
        raise InputError(f"{option} {word[:60]!r}: write NAME=LO..HI, for instance k=0..10")
    return name.strip(), low.strip(), high.strip()


def ends(x: Enclosure) -> dict[str, Any]:
    """Return an enclosure as data."""
    return {**x.to_json(), "text": x.short(DIGITS)}


def _shown(x: Enclosure) -> str:
    return f"{x.short(DIGITS)} ({x.status})"


def _list(arguments: tuple[int, ...]) -> str:
    return ", ".join(map(str, arguments)) + (" (exact tie)" if len(arguments) > 1 else "")
