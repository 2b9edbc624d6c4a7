"""For pytest in users' projects: the fixture ``assert_agrees``, JUnit properties, and a page with all findings.

Registered as ``exaq`` where the package is installed.  It imports nothing heavy: a suite that does not use the fixture
starts as fast as before.
"""

import html
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

FOUND = pytest.StashKey[list[str]]()
COLOURS = {"passed": "#1a7f37", "failed": "#c62828", "skipped": "#9a6700"}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Simulators against models</title>
<style>body{{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}
pre{{background:#f4f4f4;padding:1em;overflow-x:auto;white-space:pre-wrap}}</style></head>
<body><h1>Simulators against models</h1>
<p>{summary}</p>
{tests}
</body></html>
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("exaq").addoption(
        "--exaq-html", metavar="FILE", help="write what the fixture assert_agrees found to one HTML page"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--exaq-html")
    if path and not hasattr(config, "workerinput"):  # with pytest-xdist all reports arrive at the one that starts it
        config.pluginmanager.register(Page(Path(path)), "exaq-html")


@pytest.fixture
def assert_agrees(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return :func:`proofs_check.assert_agrees`; what it finds also goes to the JUnit file and to ``--exaq-html``."""

    def checked(data: Any, model: str, parameters: Any, *, undecided: str = "fail", **options: Any) -> Any:
        __tracebackhide__ = True
        from exactchains.truth import InputError
        from proofs_check.simulators.assertion import examine, insist
        from proofs_check.simulators.wording import lines, properties

        try:
            found = examine(data, model, parameters, **options)
        except InputError as error:
            request.node.stash.setdefault(FOUND, []).append(f"{model}: no finding: {error}")
            raise
        request.node.user_properties.extend(properties(found).items())
        request.node.stash.setdefault(FOUND, []).append("\n".join(lines(found)))
        return insist(found, undecided)

    return checked


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hang the findings on the report of the test, which pytest-xdist hands on."""
    report = yield
    report.exaq_found = item.stash.get(FOUND, [])
    return report


class Page:
    """Collects findings test by test and writes them at the end of the session."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: list[tuple[str, str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = getattr(report, "exaq_found", [])
        if report.when == "call" and found:
            self.tests.append((report.nodeid, report.outcome, "\n\n".join(found)))

    def pytest_sessionfinish(self) -> None:
        outcomes = [outcome for _, outcome, _ in self.tests]
        parts = (
            f'<section><h2>{html.escape(name)}: <span style="color:{COLOURS[outcome]}">{outcome}</span></h2>'
            f"<pre>{html.escape(text)}</pre></section>"
            for name, outcome, text in sorted(self.tests)
        )
        summary = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in COLOURS)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(PAGE.format(summary=summary, tests="\n".join(parts)), encoding="utf-8")
