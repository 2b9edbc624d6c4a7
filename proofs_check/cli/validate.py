"""``exaq validate MODEL NAME=VALUE ... --data FILE --quantity Q``."""

import json
from pathlib import Path
from typing import Any

import click

from exactchains import decimals
from proofs_check.cli.words import assignments, indices, names
from proofs_check.simulators.validation import Finding, Validation, validate
from proofs_check.simulators.verdict import DEFAULT_MARGIN, Verdict, rounded_up, shown_exact

EXIT = {Verdict.AGREES: 0, Verdict.DISAGREES: 1, Verdict.UNDECIDED: 3}


@click.command("validate")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--data", required=True, type=click.Path(dir_okay=False, path_type=Path), help="the simulator's output")
@click.option("--quantity", required=True, help="one quantity or several, separated by commas")
@click.option("--index", default="0", show_default=True, help="I or I..J, for indexed quantities")
@click.option(
    "--margin",
    default=DEFAULT_MARGIN,
    show_default=True,
    help="what does not matter: 5%, 0.05 (of the exact value), abs:M",
)
@click.option("--format", "preset", help="whose output it is; found from the columns when not given")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
def command(
    model: str,
    parameters: tuple[str, ...],
    data: Path,
    quantity: str,
    index: str,
    margin: str,
    preset: str | None,
    as_json: bool,
) -> None:
    """Say whether a simulator's output agrees with MODEL, disagrees, or leaves it undecided.

    Exit codes: 0 agrees, 1 disagrees, 2 broken input, 3 undecided.
    """
    wanted, which = names(quantity), indices(index)
    found = validate(
        model, assignments(parameters), data, quantities=wanted, indices=which, margin=margin, preset=preset
    )
    if as_json:
        click.echo(json.dumps(plain(found), indent=1))
    else:
        for line in lines(found):
            click.echo(line)
    click.get_current_context().exit(EXIT[found.verdict])


def lines(found: Validation) -> list[str]:
    """Return the verdicts as text."""
    given = " ".join(f"{name}={x}" for name, x in found.parameters.items())
    text = [f"{found.model.name} {given}", f"data: {found.source}, {found.observations} {found.what}"]
    text += [f"note: {note}" for note in found.notes]
    for finding in found.findings:
        text += ["", *_lines(finding)]
    return text


def _lines(finding: Finding) -> list[str]:
    j, e = finding.judgement, finding.judgement.estimate
    half = e.half_width(j.confidence)
    right = float((j.exact.lower + j.exact.upper) / 2)
    ratio = f" ({j.difference / right:+.2%})" if right else ""
    text = [
        f"{j.label}: {j.verdict.value}: {j.reason}",
        f"  exact       {shown_exact(j.exact.enclosure)}",
        f"  simulated   {e.value:.6g} +- {half:.2g} ({j.confidence:.4g} interval, {e.batches} batches, "
        f"worth {e.effective:.0f} independent observations)",
        f"  difference  {j.difference:+.3g}{ratio}; margin {j.tolerance:.3g} ({j.margin})",
    ]
    if j.verdict is Verdict.UNDECIDED:
        text.append(f"  needed      about {rounded_up(j.needed)} {finding.unit}, if the simulator is right")
    if finding.diagnosis is not None:
        text += [f"  matches     {s.fault} (exactly {s.value.short(8)})" for s in finding.diagnosis.matches]
        if not finding.diagnosis.matches and j.verdict is Verdict.DISAGREES:
            text.append(f"  matches     none of the {finding.diagnosis.tried} known faults of this model")
    return text


def plain(found: Validation) -> dict[str, Any]:
    """Return the validation as data."""
    return {
        "model": found.model.name,
        "parameters": found.parameters,
        "data": found.source,
        "observations": found.observations,
        "what": found.what,
        "verdict": found.verdict.value,
        "notes": list(found.notes),
        "quantities": [_plain(finding) for finding in found.findings],
    }


def _plain(finding: Finding) -> dict[str, Any]:
    j, e = finding.judgement, finding.judgement.estimate
    low, high = e.interval(j.confidence)
    diagnosis = finding.diagnosis
    return {
        "quantity": j.quantity,
        "index": j.index,
        "verdict": j.verdict.value,
        "reason": j.reason,
        "exact": {
            "status": j.exact.status,
            "lower": decimals.outward(j.exact.lower, 17, up=False),
            "upper": decimals.outward(j.exact.upper, 17, up=True),
        },
        "estimate": e.value,
        "standard_error": e.error,
        "confidence": j.confidence,
        "interval": [low, high],
        "batches": e.batches,
        "effective_sample": e.effective,
        "margin": j.tolerance,
        "margin_rule": str(j.margin),
        "difference": j.difference,
        "total_error": j.total_error,
        "needed": j.needed,
        "needed_unit": finding.unit,
        "matches": [{"fault": s.fault, "value": s.value.short(15)} for s in diagnosis.matches] if diagnosis else [],
        "faults_tried": diagnosis.tried if diagnosis else 0,
    }
