"""The definitions that claims name, from ``claims/definitions.md``: title and text by label."""

import html
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path


@dataclass(frozen=True)
class Definition:
    """One definition: its label as claims spell it, its heading, its text in HTML."""

    label: str
    title: str
    body: str


@cache
def definitions() -> dict[str, Definition]:
    """Return every definition by label, in the order of the page."""
    text = (Path(str(resources.files("proofs_check"))) / "claims" / "definitions.md").read_text(encoding="utf-8")
    found = {}
    for section in re.split(r"(?m)^### ", text)[1:]:
        title, _, body = section.partition("\n")
        body = re.split(r"(?m)^## ", body)[0]
        found[label(title)] = Definition(label(title), title.strip(), _paragraphs(body.strip()))
    return found


def label(title: str) -> str:
    """Return a heading as claims name it: ``Slot age`` is ``slot-age``."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def _paragraphs(text: str) -> str:
    found = []
    for block in re.split(r"\n\s*\n", text):
        if block.startswith("- "):
            items = "".join(f"<li>{_inline(item)}</li>" for item in re.split(r"(?m)^- ", block)[1:])
            found.append(f"<ul>{items}</ul>")
        elif block:
            found.append(f"<p>{_inline(block)}</p>")
    return "".join(found)


def _inline(text: str) -> str:
    safe = html.escape(" ".join(text.split()))
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", safe)
