"""``exaq drift POLICY NAME=VALUE ...``: is a policy stable, and how do its queues decay?"""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from exactchains.number import parse
from exactchains.truth import InputError, Undecided
from proofs_check.catalogue import find
from proofs_check.catalogue.balancing import System
from proofs_check.catalogue.model import spelled
from proofs_check.cli.words import assignments
from proofs_check.joined import joined
from proofs_check.lyapunov.engine import FUNCTIONS, Drift, drift
from proofs_check.lyapunov.finding import Finding

MANY = 12  # cells that are listed


@click.command("drift")
@click.argument("policy")
@click.argument("parameters", nargs=-1, metavar="NAME=VALUE ...")
@click.option("--lyapunov", type=click.Choice([*FUNCTIONS, "auto"]), default="auto", show_default=True)
@click.option("--base", help="base of the exponential function, above 1  [default: one near the best]")
@click.option("--function", help="look at this polynomial in q1, q2, .. instead, for instance q1^2+2*q1*q2+3*q2^2")
@click.option("--cells", "every", is_flag=True, help="list all cells")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), help="write the certificate here")
def command(
    policy: str,
    parameters: tuple[str, ...],
    lyapunov: str,
    base: str | None,
    function: str | None,
    every: bool,
    as_json: bool,
    certificate: Path | None,
) -> None:
    """Print exact drift constants of POLICY, with n servers or, without n, for every number of servers."""
    model = find(policy)
    values = model.read(assignments(parameters))
    thing = model.build(values)
    if not isinstance(thing, System):
        raise InputError(f"{model.name} is no dispatching policy; `exaq drift` takes jsq, sa-jsq, jiq, sa-jiq, sed, ..")
    if thing.buffer is not None:
        raise InputError("buffer: with finite buffers every system is stable; leave it out")
    y = None if base is None else parse(base, "--base")
    found = drift(thing.policy, n=thing.n, lyapunov=lyapunov, base=y, function=function)
    if certificate is not None:
        write_certificate(certificate, found)
    if as_json:
        click.echo(json.dumps(plain(found, model.name, spelled(values)), indent=1))
    else:
        words = " ".join(f"{name}={x}" for name, x in spelled(values).items())
        for line in lines(found, f"{model.name} {words}", every=every):
            click.echo(line)
    if found.verdict == "undecided":
        raise Undecided(f"no function of the classes tried settles {model.name}; see the rays above")


def plain(found: Drift, name: str, parameters: dict[str, str]) -> dict:
    """Return the findings as data; each certificate has been accepted by the checker."""
    return {
        "policy": name,
        "parameters": parameters,
        "n": found.n,
        "verdict": found.verdict,
        "findings": [f.plain() for f in found.findings],
    }


def lines(found: Drift, title: str, *, every: bool) -> Iterator[str]:
    """Yield the findings as a referee would read them: statement, constants, consequences, cells."""
    yield title
    yield f"{found.verdict}, {'every n' if found.n is None else f'n = {found.n}'}"
    for f in found.findings:
        yield ""
        yield f"{f.function}: {f.statement}"
        if f.constants:
            yield "  " + ", ".join(f"{name} = {x}" for name, x in f.constants.items())
        if f.attained:
            more = f" and {len(f.attained) - 3} more" if len(f.attained) > 3 else ""
            yield f"  reached at {'; '.join(f.attained[:3])}{more}"
        if f.ray:
            yield f"  {f.ray}"
        for text in f.follows:
            yield f"  so {text}"
        yield from _cells(f, every)
        if f.certificate is not None:
            yield f"  certificate of kind {f.certificate['kind']}, accepted by the checker"


def _cells(f: Finding, every: bool) -> Iterator[str]:
    if not f.table:
        return
    shown = f.table if every or len(f.table) <= MANY else f.table[:MANY]
    yield "  cells (a, b, .. = 0, 1, 2, ..): joined with chances; value at the least state; slopes along a, b, .."
    widths = [max(len(getattr(row, name)) for row in shown) for name in ("queues", "join", "least")]
    for row in shown:
        slopes = f"; {', '.join(row.slopes)}" if row.slopes else ""
        yield f"    {row.queues:{widths[0]}}  {row.join:{widths[1]}}  {row.least}{slopes}"
    if len(shown) < len(f.table):
        yield f"    .. {len(f.table) - len(shown)} more cells, listed by --cells"


def write_certificate(path: Path, found: Drift) -> None:
    """Write one certificate, of kind *all* when several findings have one."""
    from proofs_check.verify import dump

    if not found.certificates:
        raise InputError("--certificate: nothing was proved, there is no certificate to write")
    path.write_text(dump(joined(found.certificates)), encoding="utf-8")
