"""Verifications as JUnit XML: a claim that fails is a failure, one that is not settled is skipped with its reason."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from proofs_check.verify import Verification

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(results: Sequence[Verification]) -> str:
    """Return one test suite with one test case a claim."""
    wrong = [v for v in results if not v.as_expected]
    skipped = [v for v in results if v.as_expected and not v.settled]
    suite = ElementTree.Element(
        "testsuite",
        name="exaq verify",
        tests=str(len(results)),
        failures=str(len(wrong)),
        errors="0",
        skipped=str(len(skipped)),
        time=f"{sum(v.seconds for v in results):.3f}",
    )
    for v in results:
        family, _, name = v.claim.id.rpartition(".")
        case = ElementTree.SubElement(
            suite, "testcase", classname=_clean(family), name=_clean(name), time=f"{v.seconds:.3f}"
        )
        says = _clean(f"{v.status.value}, expected {v.claim.expected.value}" + (f": {v.reason}" if v.reason else ""))
        if v in wrong:
            ElementTree.SubElement(case, "failure", message=says).text = _clean(v.claim.text)
        elif v in skipped:
            ElementTree.SubElement(case, "skipped", message=says)
        else:
            ElementTree.SubElement(case, "system-out").text = says
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """Return text without the characters that XML cannot hold; the writer escapes the rest."""
    return _FORBIDDEN.sub("\ufffd", text)
