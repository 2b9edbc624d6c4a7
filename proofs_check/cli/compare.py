"""``exaq compare MODEL_A ... -- MODEL_B ... --quantity Q``."""

import json

import click

from aoi_tools.solvers.design import Piece
from aoi_tools.solvers.orders import Order
from exactchains.spread import processes
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.age_parts import AgeProblem
from proofs_check.catalogue.design import compare, crossings, enclosed_difference, order
from proofs_check.cli.best import ends, interval
from proofs_check.cli.words import assignments, digits_option, jobs_option

BETWEEN = "//"  # stands for the -- between the two models, which click would take as the end of options


class TwoModels(click.Command):
    """Lets options stand anywhere, also after the ``--`` between the models."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [BETWEEN if word == "--" else word for word in args])


@click.command("compare", cls=TwoModels)
@click.argument("words", nargs=-1, required=True, metavar="MODEL_A NAME=VALUE ... -- MODEL_B NAME=VALUE ...")
@click.option("--quantity", default="slot_mean", show_default=True, help="quantity whose difference is signed")
@click.option("--order", "kind", type=click.Choice(["stochastic"]), help="compare the whole laws instead")
@click.option("--along", metavar="NAME=LO..HI", help="real parameter to move: who is smaller where, crossings isolated")
@digits_option(15)
@jobs_option("the pieces of --along")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(
    words: tuple[str, ...],
    quantity: str,
    kind: str | None,
    along: str | None,
    digits: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Print the certified sign of a difference, or a stochastic order, of two models."""
    if words.count(BETWEEN) != 1:
        raise InputError("write the two models with -- between them: age.feedback p=1/2 d=1/10 -- age.actual p=1/2")
    at = words.index(BETWEEN)
    sides = [words[:at], words[at + 1 :]]
    if not all(sides):
        raise InputError("a model is missing before or after --")
    models, given = [find(side[0]) for side in sides], [assignments(side[1:]) for side in sides]
    names = [m.name for m in models]
    if names[0] == names[1]:
        names = [f"{place} {name}" for place, name in zip(("first", "second"), names, strict=True)]
    if any(m.quantity(quantity).indexed for m in models):
        raise InputError(f"{quantity} has an index; compare means and variances, or the laws with --order stochastic")
    if along:
        if kind:
            raise InputError("--along and --order: give one of them")
        moved = interval(along, "--along")
        with processes(jobs) as executor:
            found = crossings(models, given, along=moved, quantity=quantity, executor=executor)
        click.echo(_along(names, along.partition("=")[0], quantity, found, digits, as_json))
        return
    first, second = (m.make(side) for m, side in zip(models, given, strict=True))
    if kind:
        smaller, back = order(first, second), order(second, first)
        data = {"first": names[0], "second": names[1], "smaller": smaller.smaller, "violated_at": smaller.level}
        data |= {"larger": back.smaller, "reverse_violated_at": back.level}
        text = _order_text(names, smaller, back)
    else:
        if all(isinstance(thing, AgeProblem) for thing in (first, second)):
            gap = compare(first, second, quantity=quantity, digits=digits).enclosure
        else:
            gap = enclosed_difference(models, (first, second), quantity=quantity, digits=digits).enclosure
        sign = "=" if gap.lower == gap.upper == 0 else ">" if gap.lower > 0 else "<" if gap.upper < 0 else "?"
        data = {"first": names[0], "second": names[1], "quantity": quantity, "sign": sign, "difference": ends(gap)}
        text = f"{quantity}: {names[0]} {sign} {names[1]}, difference {gap.short(digits)} ({gap.status})"
    click.echo(json.dumps(data, indent=1) if as_json else text)
    if not kind and sign == "?":
        click.get_current_context().exit(3)


def _order_text(names: list[str], found: Order, back: Order) -> str:
    one, two = names
    if found.smaller and back.smaller:
        return f"{one} = {two} stochastically: the laws agree at every level"
    if found.smaller or back.smaller:
        smaller, larger, other = (one, two, back) if found.smaller else (two, one, found)
        return f"{smaller} <= {larger} stochastically, at every level; not the other way: violated {_where(other)}"
    return (
        f"{one} and {two} are not ordered stochastically: {one} <= {two} is violated {_where(found)},"
        f" {two} <= {one} {_where(back)}"
    )


def _where(found: Order) -> str:
    return "in the far tail" if found.level is None else f"at level {found.level}"


def _along(names: list[str], parameter: str, quantity: str, pieces: list[Piece], digits: int, as_json: bool) -> str:
    """Return the pieces of a moved parameter, each with the model of the smaller quantity, as text or JSON."""
    signs = {(0,): "<", (1,): ">", (0, 1): "="}
    if as_json:
        listed = [
            {"lower": ends(p.lower), "upper": ends(p.upper), "sign": signs[p.arguments]}
            | {"without_law": list(map(str, p.without_law))}
            for p in pieces
        ]
        data = {"first": names[0], "second": names[1], "quantity": quantity, "along": parameter, "pieces": listed}
        return json.dumps(data, indent=1)
    return "\n".join(
        f"{parameter} from {p.lower.short(digits)} ({p.lower.status}) to {p.upper.short(digits)} ({p.upper.status}):"
        f" {names[0]} {signs[p.arguments]} {names[1]}"
        + "".join(f"; no age law at {parameter} = {x}" for x in p.without_law)
        for p in pieces
    )
