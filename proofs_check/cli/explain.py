"""``exaq explain CLAIM``: what is claimed and how it is proved, for a referee."""

import textwrap

import click

from proofs_check.registry import claim
from proofs_check.report.summary import summary
from proofs_check.verify import Verification, verification

WIDTH = 100


@click.command("explain")
@click.argument("name", metavar="CLAIM")
def command(name: str) -> None:
    """Print statement, source, assumptions, argument and certificate summary of CLAIM."""
    click.echo(explanation(verification(claim(name).id)))


def explanation(v: Verification) -> str:
    """Return the explanation of one verified claim as text."""
    c = v.claim
    parts = [
        ("Claim", c.id),
        ("Statement", c.text),
        ("Status", f"{v.status.value} for {c.scope.value}" + (f": {v.reason}" if v.reason else "")),
        ("Source", str(c.source)),
        ("Assumptions", c.assumptions),
        ("Argument", c.argument),
        ("Rests on", ", ".join(c.uses)),
        ("Definitions", ", ".join(c.definitions)),
        ("Assumptions met at", ", ".join(f"{name} = {x}" for name, x in c.witness.items())),
        ("Certificate", _summary(v)),
    ]
    indent = max(len(title) for title, _ in parts) + 2
    return "\n".join(
        textwrap.fill(text, WIDTH, initial_indent=f"{title:{indent}}", subsequent_indent=" " * indent)
        for title, text in parts
        if text
    )


def _summary(v: Verification) -> str:
    found = summary(v.claim.id)
    if found is None:
        return ""
    kinds, says = " + ".join(found.kinds), "; ".join(found.sentences)
    return f"{v.size} bytes, {kinds}, checked in {v.seconds:.2f} s. It establishes: {says}"
