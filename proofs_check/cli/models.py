"""``exaq models [MODEL]``."""

import json

import click

from proofs_check.catalogue import Model, find, models


@click.command("models")
@click.argument("model", required=False)
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(model: str | None, as_json: bool) -> None:
    """List the models; for one MODEL: parameters, quantities, conventions."""
    listed = models() if model is None else [find(model)]
    if as_json:
        click.echo(json.dumps([plain(m) for m in listed], indent=1))
    elif model is None:
        width = max(len(m.name) for m in listed)
        for m in listed:
            click.echo(f"{m.name:{width}}  {m.title}")
    else:
        click.echo(described(listed[0]))


def described(model: Model) -> str:
    """Return the full description of one model as text."""
    lines = [f"{model.name}: {model.title}", "", "Parameters"]
    width = max(len(p.name) for p in model.parameters)
    for p in model.parameters:
        unit = f", in {p.unit}" if p.unit else ""
        symbol = f" ({p.symbol})" if p.symbol != p.name else ""
        default = f" [default {p.default}]" if p.default is not None else ""
        lines.append(f"  {p.name:{width}}{symbol}  {p.meaning}{unit}: {p.allowed}{default}")
    lines += ["", "Quantities"]
    width = max(len(q.name) for q in model.quantities)
    for q in model.quantities:
        index = f"; takes --index {q.index}" if q.index else ""
        unit = f", in {q.unit}" if q.unit else ""
        lines.append(f"  {q.name:{width}}  {q.symbol}: {q.meaning}{unit}{index}")
    if model.conventions:
        lines += ["", "Conventions", *(f"  {line}" for line in model.conventions)]
    if model.source:
        lines += ["", f"Source: {model.source}"]
    return "\n".join(lines)


def plain(model: Model) -> dict:
    """Return the description of one model as data."""
    return {
        "model": model.name,
        "title": model.title,
        "parameters": [
            {"name": p.name, "symbol": p.symbol, "meaning": p.meaning, "unit": p.unit, "allowed": p.allowed}
            | {"default": p.default, "required": p.required and p.default is None}
            for p in model.parameters
        ],
        "quantities": [
            {"name": q.name, "symbol": q.symbol, "meaning": q.meaning, "unit": q.unit, "indexed": q.indexed}
            | ({"index": q.index, "index_unit": q.index_unit} if q.index else {})
            for q in model.quantities
        ],
        "conventions": list(model.conventions),
        "source": model.source,
    }
