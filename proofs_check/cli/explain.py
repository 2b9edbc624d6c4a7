"""``exaq explain CLAIM``: what is claimed and how it is proved, for a referee."""

import textwrap

import click

from proofs_check.check.document import read
from proofs_check.registry import claim
from proofs_check.verify import Verification, stored, verification

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
    path = stored(v.claim.id)
    if path is None:
        return ""
    certificate = read(path)
    problems = certificate["problem"].get("parts", [certificate | {"problem": certificate["problem"]}])
    kinds = [part["kind"] for part in problems]
    says = certificate["conclusion"].get("parts", [certificate["conclusion"]])
    stated = "; ".join(text for conclusion in says for text in _stated(conclusion))
    return f"{v.size} bytes, {' + '.join(kinds)}, checked in {v.seconds:.2f} s. It establishes: {stated}"


def _stated(conclusion: dict) -> list[str]:
    """Return what one part of a certificate concludes, sentence by sentence."""
    found = [" ".join(s["claim"]) + _given(s) for s in conclusion.get("statements", [])]
    found += [f"{o['smaller']} <= {o['larger']} stochastically" + _given(o) for o in conclusion.get("orders", [])]
    found += [f"the law of {name} at every level" for name in conclusion.get("laws", {})]
    if "left" in conclusion:
        point = ", ".join(f"{name} = {x}" for name, x in conclusion["at"].items()) or "the instance"
        found.append(f"left side {conclusion['left']}, right side {conclusion['right']} at {point}")
    return found


def _given(statement: dict) -> str:
    """Return the further assumptions of one statement."""
    assumed = [f"{text} {relation} 0" for text, relation in statement.get("assume", {}).values()]
    assumed += [f"{name} = {text}" for name, text in statement.get("set", {}).items()]
    return f" if {' and '.join(assumed)}" if assumed else ""
