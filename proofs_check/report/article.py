"""One claim in HTML: statement, facts, and behind a fold assumptions, argument, definitions and certificate."""

import re
from collections.abc import Collection, Iterable
from html import escape

from proofs_check.claim import Verdict
from proofs_check.report.definitions import definitions
from proofs_check.report.mathml import UnknownLatex, mathml
from proofs_check.report.papers import OURS
from proofs_check.report.summary import summary
from proofs_check.verify import Verification

SHOWN = 24  # sentences of a certificate that are listed


def article(v: Verification, *, used_by: Iterable[str] = (), here: Collection[str] = ()) -> str:
    """Return the article of one verified claim.

    Parameters
    ----------
    used_by
        Ids of claims on the page that rest on this one.
    here
        Ids of all claims on the page: others are named without a link.
    """
    c = v.claim
    colour = "bad" if not v.as_expected else "good" if v.settled else "open"
    data = {"paper": papers_of(v), "status": [v.status.value], "scope": [c.scope.value]}
    why = "holds" if c.expected is Verdict.PROVED else "fails"
    marks = "".join(f' data-{name}="{" ".join(map(slug, values))}"' for name, values in data.items())
    return "\n".join(
        [
            f'<article id="{escape(c.id)}"{marks}>',
            f'<header><span class="status {colour}">{v.status.value}</span>'
            f'<h3><a href="#{escape(c.id)}">{escape(c.id)}</a></h3></header>',
            f"<p>{prose(c.text)}</p>",
            formula(c.latex),
            _facts(v),
            f"<details><summary>Why it {why}, and what is assumed</summary>",
            f'<div class="inside">{_inside(v, used_by, here)}</div></details>',
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


def _inside(v: Verification, used_by: Iterable[str], here: Collection[str]) -> str:
    c = v.claim
    point = ", ".join(f"{name} = {x}" for name, x in c.witness.items())
    parts = [
        ("Assumptions", f"<p>{prose(c.assumptions)}</p>" if c.assumptions else ""),
        ("Assumptions can be met, for instance at", f"<p>{escape(point)}</p>" if point else ""),
        ("Argument", f"<p>{prose(c.argument)}</p>" if c.argument else ""),
        ("Rests on", _links(c.uses, here)),
        ("Used by", _links(used_by, here)),
        ("Definitions", _definitions(c.definitions)),
        ("Certificate", _certificate(v)),
    ]
    return "\n".join(f"<h4>{title}</h4>\n{text}" for title, text in parts if text)


def _links(names: Iterable[str], here: Collection[str]) -> str:
    items = [f'<a href="#{escape(n)}">{escape(n)}</a>' if n in here else escape(n) for n in names]
    return f"<p>{', '.join(items)}</p>" if items else ""


def _definitions(labels: Iterable[str]) -> str:
    known = definitions()
    found = [
        f"<dt>{escape(known[name].title)}</dt><dd>{known[name].body}</dd>"
        if name in known
        else f"<dt>{escape(name)}</dt><dd>not defined</dd>"
        for name in labels
    ]
    return f'<dl class="words">{"".join(found)}</dl>' if found else ""


def _certificate(v: Verification) -> str:
    found = summary(v.claim.id)
    if found is None:
        return ""
    kinds = ", ".join(f"{kind} ({n}&times;)" if n > 1 else kind for kind, n in _counted(found.kinds))
    shown = [f"<li><code>{prose(s)}</code></li>" for s in found.sentences[:SHOWN]]
    more = len(found.sentences) - len(shown)
    rest = f"<p>and {more} further statements</p>" if more > 0 else ""
    return f"<p>Kind: {kinds}. It establishes, of the model in the code:</p><ul>{''.join(shown)}</ul>{rest}"


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
