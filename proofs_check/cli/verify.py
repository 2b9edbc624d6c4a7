"""``exaq verify [PATTERN ...]``: one line a claim, a summary, a report."""

import json
import time
from concurrent.futures import Executor
from pathlib import Path

import click

from exactchains.spread import processes
from proofs_check.cli.words import jobs_option
from proofs_check.verify import Verification, certificate_folder, dump, file_name, to_json, verification, verify

ROW = {"PROVED": "green", "REFUTED": "green", "REJECTED": "red"}


@click.command("verify")
@click.argument("patterns", nargs=-1, metavar="[PATTERN ...]")
@click.option("--find", "search", is_flag=True, help="search for missing certificates and store them")
@click.option("--report", type=click.Path(file_okay=False, path_type=Path), help="write a report to DIR/index.html")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="write JUnit XML")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="write JSON")
@click.option("--strict", is_flag=True, help="exit 3 also for claims that are open, conditional or only evidence")
@click.option(
    "--certificates", type=click.Path(file_okay=False, path_type=Path), help="write those of a claim file here"
)
@jobs_option("checks, your own claims and the report")
@click.option("--quiet", is_flag=True, help="print the summary only")
def command(
    patterns: tuple[str, ...],
    search: bool,
    report: Path | None,
    junit: Path | None,
    json_file: Path | None,
    strict: bool,
    certificates: Path | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Print the status of every claim that matches a PATTERN (an id, a prefix, or wildcards); all by default.

    A PATTERN that ends in .toml is a file with your own claims.
    """
    start = time.perf_counter()
    files = [p for p in patterns if p.endswith(".toml")]
    named = [p for p in patterns if not p.endswith(".toml")]
    with processes(jobs) as executor:
        catalogued = verify(*named, executor=executor) if named or not files else []
        own = [v for file in files for v in _own(file, executor)]
    if search:
        catalogued = [_found(v) if not v.settled else v for v in catalogued]
    results = [*catalogued, *own]
    width = max(len(v.claim.id) for v in results)
    for v in () if quiet else results:
        click.echo(line(v, width))
    wrong = [v for v in results if not v.as_expected]
    unsettled = [v for v in results if not v.settled]
    counts = {s: sum(v.status.value == s for v in results) for s in dict.fromkeys(v.status.value for v in results)}
    summary = ", ".join(f"{n} {s}" for s, n in counts.items())
    click.echo(
        f"{len(results)} {'claim' if len(results) == 1 else 'claims'}: {summary}; {time.perf_counter() - start:.1f} s"
    )
    if json_file:
        json_file.write_text(json.dumps([to_json(v) for v in results], indent=1) + "\n", encoding="utf-8")
    if junit:
        from proofs_check.report.junit import junit_text

        junit.write_text(junit_text(results), encoding="utf-8")
    if report:
        from proofs_check.report.page import write_report

        with processes(jobs) as executor:
            click.echo(f"report: {write_report(catalogued, report, executor=executor)}")
    if certificates:
        _written(own, certificates)
    undecided = [v for v in own if not v.settled]
    click.get_current_context().exit(1 if wrong else 3 if undecided or (strict and unsettled) else 0)


def line(v: Verification, width: int) -> str:
    """Return one line for one claim."""
    status = click.style(f"{v.status.value:11}", fg=ROW.get(v.status.value, "yellow"))
    if v.settled:
        how = f"{v.reason}; " if v.reason else ""
        about = f"{v.claim.scope.value}; {how}certificate {v.size} bytes, checked in {v.seconds:.2f} s"
    else:
        about = v.reason
    expected = "" if v.as_expected else f" (expected: {v.claim.expected.value})"
    return f"{status} {v.claim.id:{width}}  {about}{expected}"


def _own(file: str, executor: Executor | None) -> list[Verification]:
    """Return the verdicts on a user's claims."""
    from proofs_check.user_claims import verdicts

    return list(verdicts(file, executor=executor))


def _written(own: list[Verification], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for v in own:
        if v.certificate:
            (folder / f"{file_name(v.claim.id)}.json").write_text(dump(v.certificate), encoding="utf-8")


def _found(v: Verification) -> Verification:
    """Search for a certificate; the claim keeps its status when none is found."""
    from proofs_check.search.find import find
    from proofs_check.search.handelman import NotFound

    try:
        certificate = find(v.claim)
    except NotFound as reason:
        click.echo(f"{v.claim.id}: {reason}", err=True)
        return v
    path = certificate_folder() / f"{file_name(v.claim.id)}.json"
    path.write_text(dump(certificate), encoding="utf-8")
    verification.cache_clear()
    return verification(v.claim.id)
