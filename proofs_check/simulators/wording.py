"""Verdicts in words and as data."""

import math
from typing import Any

from exactchains import decimals
from proofs_check.simulators.diagnosis import Suspect
from proofs_check.simulators.validation import Finding, Validation
from proofs_check.simulators.verdict import Verdict, rounded_up, shown_exact

MANY = 10  # times the exact value, from which on a percentage is hard to read


def lines(found: Validation) -> list[str]:
    """Return the verdicts as text."""
    text = [f"{found.model.name} {spelled_out(found)}", f"data: {found.source}, {found.observations} {found.what}"]
    text += [f"note: {note}" for note in found.notes]
    for finding in found.findings:
        text += ["", *finding_lines(finding)]
    for name, why in found.refused.items():
        text += ["", f"{name}: no finding: {why}"]
    return text


def spelled_out(found: Validation) -> str:
    """Return the parameters as they are written in a call."""
    return " ".join(f"{name}={x}" for name, x in found.parameters.items())


def finding_lines(finding: Finding) -> list[str]:
    """Return the verdict on one quantity as text."""
    j, e = finding.judgement, finding.judgement.estimate
    right = float((j.exact.lower + j.exact.upper) / 2)
    ratio = f" ({j.difference / right:+.2%})" if right else ""
    if right and abs(j.difference) > MANY * abs(right):
        ratio = f" ({e.value / right:.4g} times the exact value)"
    kind = "confidence sequence" if e.sequential else "interval"
    count = f"{e.batches} { {'regenerative': 'cycles', 'replications': 'replications'}.get(e.method, 'batches') }"
    count += f" {e.method}" if e.method in ("overlapping", "spectral") else ""
    count += " and the variance of the exact model" if e.modelled else ""
    half = _arms(*e.arms(j.confidence))
    spread = f"{half} ({j.confidence:.4g} {kind}, {count}, worth {e.effective:.0f} independent observations)"
    if e.method == "reported":
        spread = f"{half} ({j.confidence:.4g} {kind})" if e.error < math.inf else "(no error given)"
    text = [
        f"{j.label}: {j.verdict.value}: {j.reason}",
        f"  exact       {shown_exact(j.exact.enclosure)}",
        f"  simulated   {e.value:.6g} {spread}",
        f"  difference  {j.difference:+.3g}{ratio}; margin {j.tolerance:.3g} ({j.margin})",
    ]
    if j.verdict is Verdict.UNDECIDED and 0 < j.needed < float("inf"):
        total, more = rounded_up(j.needed), rounded_up(j.needed - e.weight)
        rest = f" in all, {more} more" if j.needed > e.weight and more != total else ""
        about = "more than" if j.at_least else "about"
        text.append(f"  needed      {about} {total} {finding.unit}{rest}, if the simulator is right; from {j.source}")
    if finding.diagnosis is not None:
        text += [f"  matches     {s.fault} ({_would_be(s)})" for s in finding.diagnosis.matches]
        if not finding.diagnosis.matches and j.verdict is Verdict.DISAGREES:
            text.append(f"  matches     none of the {finding.diagnosis.tried} known faults of this model")
    return text


def _would_be(suspect: Suspect) -> str:
    text = suspect.value.short(8)
    return f"about {text.removeprefix('~')}" if text.startswith("~") else f"exactly {text}"


def _arms(below: float, above: float) -> str:
    low, high = f"{below:.2g}", f"{above:.2g}"
    return f"+- {high}" if low == high else f"+{high} -{low}"


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
        "refused": found.refused,
    }


def properties(found: Validation) -> dict[str, str]:
    """Return the verdicts as short names and texts, for the properties of a test case."""
    given = {f"exaq.note.{i}": note for i, note in enumerate(found.notes, 1)}
    given |= {f"exaq.{name}.refused": why for name, why in found.refused.items()}
    for finding in found.findings:
        j = finding.judgement
        low, high = j.estimate.interval(j.confidence)
        given |= {
            f"exaq.{j.label}.verdict": j.verdict.value,
            f"exaq.{j.label}.exact": shown_exact(j.exact.enclosure),
            f"exaq.{j.label}.simulated": f"{j.estimate.value:.6g} in [{low:.6g}, {high:.6g}]",
        }
    return given


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
        "standard_error": _finite(e.error),
        "confidence": j.confidence,
        "interval": [_finite(low), _finite(high)],
        "interval_method": e.method,
        "model_variance_used": e.modelled,
        "sequential": e.sequential,
        "batches": e.batches,
        "effective_sample": _finite(e.effective),
        "margin": j.tolerance,
        "margin_rule": str(j.margin),
        "difference": j.difference,
        "total_error": _finite(j.total_error),
        "needed": _finite(j.needed),
        "needed_unit": finding.unit,
        "needed_from": j.source,
        "needed_is_lower_bound": j.at_least,
        "matches": [{"fault": s.fault, "value": s.value.short(15)} for s in diagnosis.matches] if diagnosis else [],
        "faults_tried": diagnosis.tried if diagnosis else 0,
    }


def _finite(x: float) -> float | None:
    """Return a number that JSON can hold, or None."""
    return float(x) if math.isfinite(x) else None
