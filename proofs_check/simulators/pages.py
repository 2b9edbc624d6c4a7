"""Verdicts as JUnit XML and as one HTML page, for continuous integration and for mail."""

import html
import re
from xml.etree import ElementTree

from proofs_check.simulators.validation import Validation
from proofs_check.simulators.verdict import Verdict
from proofs_check.simulators.wording import finding_lines, properties, spelled_out

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLOURS = {Verdict.AGREES: "#1a7f37", Verdict.DISAGREES: "#c62828", Verdict.UNDECIDED: "#9a6700"}


def junit_text(found: Validation) -> str:
    """Return one test suite with one test case a quantity: disagrees fails, undecided is skipped."""
    verdicts = [finding.judgement.verdict for finding in found.findings]
    suite = ElementTree.Element(
        "testsuite",
        name=f"exaq validate {found.model.name}",
        tests=str(len(verdicts) + len(found.refused)),
        failures=str(verdicts.count(Verdict.DISAGREES)),
        errors=str(len(found.refused)),
        skipped=str(verdicts.count(Verdict.UNDECIDED)),
    )
    about = ElementTree.SubElement(suite, "properties")
    given = {"parameters": spelled_out(found), "data": f"{found.source}, {found.observations} {found.what}"}
    for name, text in (*given.items(), *(("note", note) for note in found.notes)):
        ElementTree.SubElement(about, "property", name=f"exaq.{name}", value=_FORBIDDEN.sub("\ufffd", text))
    marks = {Verdict.DISAGREES: "failure", Verdict.UNDECIDED: "skipped"}
    for finding in found.findings:
        judgement = finding.judgement
        case = ElementTree.SubElement(suite, "testcase", classname=found.model.name, name=judgement.label)
        told = ElementTree.SubElement(case, "properties")
        for name, value in properties(found).items():
            if name.startswith(f"exaq.{judgement.label}."):
                ElementTree.SubElement(told, "property", name=name, value=_FORBIDDEN.sub("\ufffd", value))
        text = _FORBIDDEN.sub("\ufffd", "\n".join(finding_lines(finding)))
        if judgement.verdict in marks:
            mark = ElementTree.SubElement(case, marks[judgement.verdict], message=judgement.reason)
            mark.text = text
        else:
            ElementTree.SubElement(case, "system-out").text = text
    for name, why in found.refused.items():
        case = ElementTree.SubElement(suite, "testcase", classname=found.model.name, name=name)
        ElementTree.SubElement(case, "error", message=_FORBIDDEN.sub("\ufffd", why))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def html_text(found: Validation) -> str:
    """Return one self-contained page: verdict, figures and diagnosis of every quantity."""
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in found.notes)
    listed = f"<ul>{notes}</ul>" if notes else ""
    parts = [
        f'<section><h2>{html.escape(f.judgement.label)}: <span style="color:{COLOURS[f.judgement.verdict]}">'
        f"{f.judgement.verdict.value}</span></h2><pre>{html.escape(chr(10).join(finding_lines(f)))}</pre></section>"
        for f in found.findings
    ]
    parts += [
        f"<section><h2>{html.escape(name)}: no finding</h2><pre>{html.escape(why)}</pre></section>"
        for name, why in found.refused.items()
    ]
    title = html.escape(f"{found.model.name} {spelled_out(found)}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "pre{background:#f4f4f4;padding:1em;overflow-x:auto;white-space:pre-wrap}</style></head>\n"
        f"<body><h1>{title}</h1><p>{html.escape(found.source)}, {found.observations} {found.what}</p>{listed}\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
