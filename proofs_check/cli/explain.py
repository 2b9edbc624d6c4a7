"""``exaq explain CLAIM``: what is claimed and how it is proved, for a referee."""

import textwrap
from collections import Counter

import click

from proofs_check.refutations.maps import Label, Slice, slice_of
from proofs_check.refutations.smallest import smallest
from proofs_check.registry import claim
from proofs_check.report.summary import summary
from proofs_check.verify import Verification, verification

WIDTH = 100
SHOWN = 12  # sentences of a certificate that are listed
ACROSS, UP = 32, 12  # cells of a map
SIGNS = {Label.FAILS: "#", Label.HOLDS: ".", Label.OUTSIDE: " ", Label.UNDECIDED: "?"}


@click.command("explain")
@click.argument("name", metavar="CLAIM")
def command(name: str) -> None:
    """Print statement, source, assumptions, argument and certificate summary of CLAIM.

    A refuted claim also shows its smallest counterexample, where it fails, and a map of certified cells.
    """
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
        ("Smallest", str(smallest(c.id) or "")),
        ("Fails", c.fails),
        ("Rests on", ", ".join(c.uses)),
        ("Definitions", ", ".join(c.definitions)),
        ("Assumptions met at", ", ".join(f"{name} = {x}" for name, x in c.witness.items())),
        ("Certificate", _summary(v)),
    ]
    indent = max(len(title) for title, _ in parts) + 2
    lines = [
        textwrap.fill(text, WIDTH, initial_indent=f"{title:{indent}}", subsequent_indent=" " * indent)
        for title, text in parts
        if text
    ]
    found = slice_of(c.id)
    drawn = textwrap.indent(picture(found), " " * indent) if found else ""
    return "\n".join([*lines, f"{'Map':{indent}}{drawn.lstrip()}"] if drawn else lines)


def picture(shown: Slice) -> str:
    """Return a map as text: a character a cell, each label certified inside it."""
    rows = ["".join(SIGNS[label] for label in row).rstrip() for row in shown.cells(ACROSS, UP)]
    legend = f"# fails, . holds, ? not decided{f', blank {shown.outside}' if shown.outside else ''}"
    up, across = (f"{axis.says}, from {axis.low} to {axis.high}" for axis in (shown.up, shown.across))
    head = textwrap.wrap(f"{shown.fixed}; {legend}; up: {up}; across: {across}", WIDTH - 20)
    return "\n".join([*head, *(f"|{row}" for row in reversed(rows)), "+" + "-" * ACROSS])


def _summary(v: Verification) -> str:
    found = summary(v.claim.id)
    if found is None:
        return ""
    kinds = " + ".join(f"{n} {kind}" if n > 1 else kind for kind, n in Counter(found.kinds).items())
    says, more = "; ".join(found.sentences[:SHOWN]), len(found.sentences) - SHOWN
    rest = f"; and {more} further statements" if more > 0 else ""
    return f"{v.size} bytes, {kinds}, checked in {v.seconds:.2f} s. It establishes: {says}{rest}"
