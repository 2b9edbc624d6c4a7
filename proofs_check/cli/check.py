"""``exaq check FILE ...``: the independent checker, and for stored claims the comparison with the live statement."""

import time

import click

from proofs_check.check.document import check, read
from proofs_check.check.exact import Rejected


@click.command("check")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE ...", type=click.Path(exists=True, dir_okay=False, readable=True)
)
def command(files: tuple[str, ...]) -> None:
    """Accept or reject certificate FILEs, with the reason.

    A certificate that names a claim must also state what that claim states.
    """
    rejected = 0
    for path in files:
        start = time.perf_counter()
        try:
            certificate = read(path)
            proves = _checked(certificate)
        except Rejected as reason:
            rejected += 1
            click.echo(f"REJECTED {path}: {reason}")
        else:
            click.echo(f"ACCEPTED {path}: {proves} ({time.perf_counter() - start:.2f} s)")
    click.get_current_context().exit(1 if rejected else 0)


def _checked(certificate: dict) -> str:
    name = certificate.get("claim")
    if name is None:
        check(certificate)
        return f"kind {certificate['kind']}, no claim named"
    from exactchains.truth import InputError
    from proofs_check.registry import claim
    from proofs_check.verify import check_against

    try:
        live = claim(str(name))
    except InputError as unknown:
        raise Rejected(str(unknown)) from None
    check_against(certificate, live)
    return f"{live.id} is {live.expected.value}"
