"""The report in HTML: an index that is whole by itself and a page a claim; offline, without scripts."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from html import escape
from importlib import resources
from pathlib import Path

from exactchains.spread import spread
from proofs_check.report.article import Links, article, papers_of, slug
from proofs_check.report.definitions import definitions
from proofs_check.report.exhibits import exhibit, illustrations
from proofs_check.report.graph import graph
from proofs_check.report.papers import OURS, PAPERS
from proofs_check.report.reproducibility import facts
from proofs_check.verify import Verification, file_name, stored

READING = ("claim-status", "scope", "certificate", "witness", "exact", "enclosed", "certain-digits")
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#claims">Skip to the claims</a>
{body}
</body>
</html>
"""


def write_report(results: Sequence[Verification], folder: str | Path, *, executor: Executor | None = None) -> Path:
    """Write the report into ``folder`` and return the path of its ``index.html``.

    The index is whole by itself; beside it stand a page for each claim, with its tables and figures, and copies of
    the certificates.  With an ``executor`` of processes tables and figures are made there.

    Guarantee
    ---------
    Same results, same bytes, up to the times of the checks.
    """
    place = Path(folder)
    for part in ("claims", "certificates"):
        (place / part).mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for v in results for name in illustrations(v.claim.id)))
    made = dict(zip(names, spread(exhibit, names, executor), strict=True))
    for v in results:
        page = place / "claims" / f"{file_name(v.claim.id)}.html"
        shown = [made[name] for name in illustrations(v.claim.id)]
        page.write_text(claim_text(v, results, shown), encoding="utf-8", newline="\n")
        certificate = stored(v.claim.id)
        if certificate is not None:
            (place / "certificates" / f"{file_name(v.claim.id)}.json").write_bytes(certificate.read_bytes())
    index = place / "index.html"
    index.write_text(report_text(results), encoding="utf-8", newline="\n")
    return index


def claim_text(v: Verification, results: Sequence[Verification], shown: Sequence[str]) -> str:
    """Return the page of one claim: all that the index says of it, unfolded, and ``shown``: its tables and figures."""
    links = Links(results, "../index.html")
    body = "\n".join(
        [
            f'<nav><a href="../index.html#{escape(v.claim.id)}">All claims</a></nav>',
            '<main id="claims">',
            article(v, links, unfolded=True),
            *(["<h2>Tables and figures</h2>", *shown] if shown else []),
            "</main>",
        ]
    )
    return PAGE.format(title=f"exaq: {escape(v.claim.id)}", style=style(), body=body)


def report_text(results: Sequence[Verification]) -> str:
    """Return the whole page as text."""
    filters = {
        "paper": sorted({p for v in results for p in papers_of(v)}),
        "status": list(dict.fromkeys(sorted(v.status.value for v in results))),
        "scope": list(dict.fromkeys(v.claim.scope.value for v in results)),
    }
    links = Links(results, "")
    drawn = graph(results)
    body = "\n".join(
        [
            _head(results),
            _filters(filters),
            '<main>\n<section id="claims">\n<h2>Claims</h2>',
            *(article(v, links) for v in results),
            "</section>",
            *(["<section>\n<h2>Which claims rest on which</h2>", drawn, "</section>"] if drawn else []),
            _papers(filters["paper"]),
            _words(),
            _reproducibility(results),
            "</main>",
        ]
    )
    return PAGE.format(title="exaq: status of claims", style=style() + _rules(filters), body=body)


def style() -> str:
    return (Path(str(resources.files("proofs_check"))) / "report" / "style.css").read_text(encoding="utf-8")


def _head(results: Sequence[Verification]) -> str:
    counts: dict[str, int] = {}
    for v in results:
        counts[v.status.value] = counts.get(v.status.value, 0) + 1
    summary = ", ".join(f"{n} {status}" for status, n in counts.items())
    wrong = [v.claim.id for v in results if not v.as_expected]
    verdict = (
        f'<p class="bad"><strong>Not as expected: {escape(", ".join(wrong))}.</strong></p>'
        if wrong
        else "<p>Every verdict is the expected one.</p>"
    )
    return (
        "<header>\n<h1>Status of claims</h1>\n"
        f'<p class="count"><strong>{len(results)} claims: {escape(summary)}</strong></p>\n{verdict}\n'
        '<p class="soft">A claim is PROVED or REFUTED when an independent checker accepts its stored certificate, and'
        " the certificate says exactly what the claim says about the model in the code. Neither verdict rests on"
        " samples or on floating point.</p>\n</header>"
    )


def _filters(filters: dict[str, list[str]]) -> str:
    groups = []
    for name, options in filters.items():
        choices = [_choice(name, "", "all", checked=True), *(_choice(name, slug(x), x) for x in options)]
        groups.append(f"<fieldset><legend>{name.capitalize()}</legend>{''.join(choices)}</fieldset>")
    shown = "".join([*groups, '<button type="reset">Show all claims</button>'])
    return f'<form class="filters" role="search" aria-label="Show claims by paper, status and scope">{shown}</form>'


def _choice(group: str, value: str, text: str, *, checked: bool = False) -> str:
    mark = " checked" if checked else ""
    return f'<label><input type="radio" name="{group}" id="{group}-{value or "all"}"{mark}> {escape(text)}</label> '


def _rules(filters: dict[str, list[str]]) -> str:
    """Return the style rules that hide what a chosen filter leaves out, but not the claim that a link leads to.

    A browser without them shows everything.
    """
    return "".join(
        f'body:has(#{name}-{slug(x)}:checked) article:not([data-{name}~="{slug(x)}"], :target) {{ display: none; }}\n'
        for name, options in filters.items()
        for x in options
    )


def _papers(names: Iterable[str]) -> str:
    known = {**PAPERS, OURS: "No paper makes these claims; they extend or correct what the papers say"}
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(known.get(name, ""))}</td></tr>' for name in names
    )
    return f"<section>\n<h2>Papers</h2>\n{_scrolled('Papers', rows)}\n</section>"


def _scrolled(name: str, rows: str) -> str:
    """Return a table that scrolls by itself where it is too wide, by keyboard too."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{name}"><table>{rows}</table></div>'


def _words() -> str:
    known = definitions()
    words = "".join(f"<dt>{escape(known[w].title)}</dt><dd>{known[w].body}</dd>" for w in READING)
    return f'<section>\n<h2>How to read this page</h2>\n<dl class="words">{words}</dl>\n</section>'


def _reproducibility(results: Sequence[Verification]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><code>{escape(x)}</code></td></tr>' for name, x in facts(results)
    )
    return (
        "<section>\n<h2>To reproduce this page</h2>\n"
        "<p>Run <code>exaq verify --report report</code>. To check one certificate with the standard library alone, run"
        " <code>python -m proofs_check.check FILE</code>.</p>\n"
        f"{_scrolled('What made this page', rows)}\n</section>"
    )
