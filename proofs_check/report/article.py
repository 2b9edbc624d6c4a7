"""One claim in HTML: statement, facts, and behind a fold assumptions, argument, definitions and certificate."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from proofs_check.claim import Verdict
from proofs_check.refutations.smallest import smallest
from proofs_check.report.definitions import definitions
from proofs_check.report.mathml import UnknownLatex, mathml
from proofs_check.report.papers import OURS
from proofs_check.report.summary import summary
from proofs_check.verify import Verification, file_name

SHOWN = 24  # sentences of a certificate that are listed


@dataclass(frozen=True)
class Links:
    """Where the claims of a report stand, seen from one of its pages: ``index`` is "" on the index itself."""

    results: Sequence[Verification]
    index: str

    @property
    def folder(self) -> str:
        return "../" if self.index else ""

    def used_by(self, name: str) -> list[str]:
        """Return the claims of the report that rest on a claim."""
        return [v.claim.id for v in self.results if name in v.claim.uses]

    def to(self, names: Iterable[str]) -> str:
        """Return a paragraph of names, linked where they are in the report."""
        here = {v.claim.id for v in self.results}
        items = [f'<a href="{self.index}#{escape(n)}">{escape(n)}</a>' if n in here else escape(n) for n in names]
        return f"<p>{', '.join(items)}</p>" if items else ""


def article(v: Verification, links: Links, *, unfolded: bool = False) -> str:
    """Return the article of one verified claim; ``unfolded`` as a page of its own, with nothing behind a fold."""
    c = v.claim
    colour = "bad" if not v.as_expected else "good" if v.settled else "open"
    data = {"paper": papers_of(v), "status": [v.status.value], "scope": [c.scope.value]}
    why = "holds" if c.expected is Verdict.PROVED else "fails"
    marks = "".join(f' data-{name}="{" ".join(map(slug, values))}"' for name, values in data.items())
    rank, inside = "h1" if unfolded else "h3", _inside(v, links, "h2" if unfolded else "h4")
    if not unfolded:
        page = f"claims/{file_name(c.id)}.html"
        inside += f'\n<p><a href="{page}">The page of this claim</a>, with its tables and figures</p>'
        fold = f"<details><summary>Why it {why}, and what is assumed</summary>"
        inside = f'{fold}\n<div class="inside">{inside}</div></details>'
    return "\n".join(
        [
            f'<article id="{escape(c.id)}"{marks}>',
            f'<header><span class="status {colour}">{v.status.value}</span>'
            f'<{rank}><a href="#{escape(c.id)}">{escape(c.id)}</a></{rank}></header>',
            f"<p>{prose(c.text)}</p>",
            formula(c.latex),
            _facts(v),
            inside,
            "</article>",
        ]
    )


def prose(text: str) -> str:
    """Return a sentence, escaped, with its order signs as one character."""
    return escape(text.replace("<=", "≤").replace(">=", "≥"))


def formula(latex: str) -> str:
    """Return a typeset formula; what leaves our subset is shown as its source, never guessed."""
    if not latex:
        return ""
    try:
        typeset = mathml(latex)
        return f'<div class="formula" tabindex="0" role="group" aria-label="the statement as a formula">{typeset}</div>'
    except UnknownLatex:
        return f'<div class="formula"><code>{escape(latex)}</code></div>'


def papers_of(v: Verification) -> list[str]:
    return list(v.claim.source.papers) or [OURS]


def _facts(v: Verification) -> str:
    c = v.claim
    source = str(c.source) if c.source.papers else c.source.relation
    rows = [("Source", source), ("Scope", c.scope.value)]
    if v.size:
        rows += [("Certificate", f"{v.size} bytes"), ("Checked in", f"{v.seconds:.2f} s")]
    if v.reason:
        rows.append(("Reason", v.reason))
    if not v.as_expected:
        rows.append(("Expected", c.expected.value.upper()))
    cells = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in rows)
    return f'<dl class="facts">{cells}</dl>'


def _inside(v: Verification, links: Links, rank: str) -> str:
    c = v.claim
    point = ", ".join(f"{name} = {x}" for name, x in c.witness.items())
    parts = [
        ("Assumptions", f"<p>{prose(c.assumptions)}</p>" if c.assumptions else ""),
        ("Assumptions can be met, for instance at", f"<p>{escape(point)}</p>" if point else ""),
        ("Argument", f"<p>{prose(c.argument)}</p>" if c.argument else ""),
        ("Smallest counterexample", f"<p>{prose(str(found))}</p>" if (found := smallest(c.id)) else ""),
        ("Where it fails", f"<p>{prose(c.fails)}</p>" if c.fails else ""),
        ("Rests on", links.to(c.uses)),
        ("Used by", links.to(links.used_by(c.id))),
        ("Definitions", _definitions(c.definitions)),
        ("Certificate", _certificate(v, links)),
    ]
    return "\n".join(f"<{rank}>{title}</{rank}>\n{text}" for title, text in parts if text)


def _definitions(labels: Iterable[str]) -> str:
    known = definitions()
    found = [
        f"<dt>{escape(known[name].title)}</dt><dd>{known[name].body}</dd>"
        if name in known
        else f"<dt>{escape(name)}</dt><dd>not defined</dd>"
        for name in labels
    ]
    return f'<dl class="words">{"".join(found)}</dl>' if found else ""


def _certificate(v: Verification, links: Links) -> str:
    found = summary(v.claim.id)
    if found is None:
        return ""
    kinds = ", ".join(f"{kind} ({n}&times;)" if n > 1 else kind for kind, n in _counted(found.kinds))
    shown = [f"<li><code>{prose(s)}</code></li>" for s in found.sentences[:SHOWN]]
    more = len(found.sentences) - len(shown)
    rest = f"<p>and {more} further statements</p>" if more > 0 else ""
    file = f"{links.folder}certificates/{file_name(v.claim.id)}.json"
    return (
        f'<p>Kind: {kinds}. <a href="{file}" download>The file</a>, checked with the standard library alone by'
        f" <code>python -m proofs_check.check FILE</code>. It establishes, of the model in the code:</p>"
        f"<ul>{''.join(shown)}</ul>{rest}"
    )


def _counted(kinds: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[escape(kind)] = counts.get(escape(kind), 0) + 1
    return list(counts.items())


def slug(text: str) -> str:
    """Return text as part of an id: only letters, digits and dashes.

    Examples
    --------
    >>> slug("all parameters")
    'all-parameters'
    """
    return re.sub(r"[^A-Za-z0-9-]+", "-", text).strip("-")
