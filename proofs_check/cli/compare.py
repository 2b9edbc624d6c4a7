"""``exaq compare MODEL_A ... -- MODEL_B ... --quantity Q``."""

import json

import click

from aoi_tools.solvers.orders import Order
from exactchains.truth import InputError
from proofs_check.catalogue import find
from proofs_check.catalogue.design import compare, order
from proofs_check.cli.best import ends
from proofs_check.cli.words import assignments, digits_option

BETWEEN = "//"  # stands for the -- between the two models, which click would take as the end of options


class TwoModels(click.Command):
    """Lets options stand anywhere, also after the ``--`` between the models."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [BETWEEN if word == "--" else word for word in args])


@click.command("compare", cls=TwoModels)
@click.argument("words", nargs=-1, required=True, metavar="MODEL_A NAME=VALUE ... -- MODEL_B NAME=VALUE ...")
@click.option("--quantity", default="slot_mean", show_default=True, help="quantity whose difference is signed")
@click.option("--order", "kind", type=click.Choice(["stochastic"]), help="compare the whole laws instead")
@digits_option(15)
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(words: tuple[str, ...], quantity: str, kind: str | None, digits: int, as_json: bool) -> None:
    """Print the certified sign of a difference, or a stochastic order, of two models."""
    if words.count(BETWEEN) != 1:
        raise InputError("write the two models with -- between them: age.feedback p=1/2 d=1/10 -- age.actual p=1/2")
    at = words.index(BETWEEN)
    sides = [words[:at], words[at + 1 :]]
    if not all(sides):
        raise InputError("a model is missing before or after --")
    models = [find(side[0]) for side in sides]
    first, second = (m.make(assignments(side[1:])) for m, side in zip(models, sides, strict=True))
    names = [m.name for m in models]
    if kind:
        found, back = order(first, second), order(second, first)
        data = {"first": names[0], "second": names[1], "smaller": found.smaller, "violated_at": found.level}
        data |= {"larger": back.smaller, "reverse_violated_at": back.level}
        text = _order_text(names, found, back)
    else:
        if any(m.quantity(quantity).indexed for m in models):
            raise InputError(
                f"{quantity} has an index; compare means and variances, or the laws with --order stochastic"
            )
        gap = compare(first, second, quantity=quantity, digits=digits).enclosure
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
