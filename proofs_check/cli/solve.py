"""``exaq solve MODEL NAME=VALUE ... --quantity Q``."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from exactchains import decimals
from exactchains.domain import Rigor
from exactchains.enclosure import Result
from exactchains.truth import InputError, PrecisionExhausted
from proofs_check.catalogue import find
from proofs_check.catalogue.model import spelled
from proofs_check.cli.words import assignments, digits_option, indices, names

GUARD = 10  # decimals beyond the digits asked for, in the bounds that are printed
LONG = 40  # exact fractions longer than this also show their decimals


@click.command("solve")
@click.argument("model")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--quantity", help="one quantity or several, separated by commas; `exaq models MODEL` lists them")
@click.option("--index", default="0..7", show_default=True, help="I or I..J, for indexed quantities")
@digits_option()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), help="write the certificate here")
def command(
    model: str,
    parameters: tuple[str, ...],
    quantity: str | None,
    index: str,
    digits: int,
    as_json: bool,
    certificate: Path | None,
) -> None:
    """Print quantities of MODEL with status and certain digits.

    Of several quantities those with an answer are printed; of each other one line says why, and the exit code is not 0.
    """
    m = find(model)
    if quantity is None:
        listed = ", ".join(q.name for q in m.quantities)
        raise InputError(f"say which quantity: --quantity Q[,Q...]; {m.name} has {listed}")
    wanted = names(quantity)
    for name in wanted:
        m.quantity(name)
    values = m.read(assignments(parameters))
    thing = m.build(values)
    refused: dict[str, Exception] = {}
    results = m.results(thing, wanted, indices(index), digits, refused)
    if len(refused) == 1 and not results:
        raise next(iter(refused.values()))
    if refused and not results:
        click.get_current_context().exit(_told(refused))
    if certificate is not None:
        results = [write_certificate(certificate, results, lambda r: m.certify(thing, r) if m.certify else None)]
    if as_json:
        rows = [plain(r, model=m.name, parameters=spelled(values), digits=digits, path=certificate) for r in results]
        click.echo(json.dumps(rows, indent=1))
    else:
        click.echo(f"{m.name} " + " ".join(f"{name}={_short(x)}" for name, x in spelled(values).items()))
        for line in lines(results, digits):
            click.echo(line)
    claimed = [r for r in results if r.enclosure.rigor is not Rigor.ESTIMATE]  # an estimate was asked for as such
    short = [r for r in claimed if not r.enclosure.has_digits(digits)]
    if short:
        reached = min(r.enclosure.certain_digits or 0 for r in short)
        raise PrecisionExhausted(f"{digits} digits asked, {reached} reached for {short[0].quantity}")
    if refused:
        click.get_current_context().exit(_told(refused))


def _told(refused: dict[str, Exception]) -> int:
    """Say in one line each what has no answer; return the largest exit code."""
    from proofs_check.cli.main import failure

    codes = []
    for name, error in refused.items():
        code, text = failure(error)
        click.echo(f"exaq: {name}: {text}", err=True)
        codes.append(code)
    return max(codes)


def lines(results: list[Result], digits: int) -> list[str]:
    """Return one line a result: quantity, value, status."""
    labels = [r.quantity if r.index is None else f"{r.quantity}[{r.index}]" for r in results]
    width = max(map(len, labels))
    return [f"{label:{width}} = {shown(r, digits)}" for label, r in zip(labels, results, strict=True)]


def shown(result: Result, digits: int) -> str:
    """Return value and status: a short fraction with its decimals, or the certain digits."""
    e = result.enclosure
    if e.is_exact:
        fraction = str(e.lower)
        if "/" not in fraction and len(fraction) <= LONG:
            return f"{fraction}  (exact)"
        text = e.digits(digits)
        return f"{fraction} = {text}..  (exact)" if len(fraction) <= LONG else f"{text}..  (exact)"
    if e.rigor is Rigor.ESTIMATE:
        return f"{e.short()}  ({e.status})"
    certain = digits if e.certain_digits is None else e.certain_digits  # None: an enclosure of width 0
    if certain == 0:
        return f"{e.short()}  ({e.status}, no certain digit)"
    return f"{e.digits(min(digits, certain))}  ({e.status}, {min(digits, certain)} certain digits)"


def plain(result: Result, *, model: str, parameters: dict[str, str], digits: int, path: Path | None) -> dict[str, Any]:
    """Return one result as the JSON object of the interface."""
    e = result.enclosure
    certain = e.certain_digits
    return {
        "model": model,
        "parameters": parameters,
        "quantity": result.quantity,
        "index": result.index,
        "status": e.status,
        "exact": str(e.lower) if e.is_exact else None,
        "lower": decimals.outward(e.lower, digits + GUARD, up=False),
        "upper": decimals.outward(e.upper, digits + GUARD, up=True),
        "digits": e.digits(digits if certain is None else min(digits, certain)) if certain != 0 else e.short(),
        "certain_digits": digits if certain is None else certain,
        "method": result.method,
        "certificate": str(path) if path and result.certificate else None,
        "seconds": round(result.seconds, 4),
    }


def write_certificate(path: Path, results: list[Result], certify: Callable[[Result], dict[str, Any] | None]) -> Result:
    """Write the certificate of the one result that was asked for; return the result with it."""
    from proofs_check.verify import dump

    if len(results) != 1:
        raise InputError("--certificate writes one certificate: ask for one quantity at one index")
    result = results[0]
    certificate = result.certificate if result.certificate is not None else certify(result)
    if certificate is None:
        raise InputError(
            f"{result.quantity}: the method {result.method!r} stores no certificate; leave out --certificate"
        )
    path.write_text(dump(certificate), encoding="utf-8")
    return replace(result, certificate=certificate)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:40]}..({len(text)} characters)"
