"""The pytest plugin in a user's project: fixture, JUnit properties, HTML page, workers, and what it costs to load."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from xml.etree import ElementTree

import numpy as np
import pytest

import proofs_check.simulators.assertion  # noqa: F401  # before pytester keeps modules from staying loaded
from proofs_check.pytest_plugin import Page
from tests.source import ROOT

pytest_plugins = ["pytester"]
INSTALLED = any(point.name == "exaq" for point in entry_points(group="pytest11"))
SUITE = """
    import numpy as np
    import pytest

    HALF = {"lam": "1/2", "mu": "1"}

    def values(mean, size=4000):
        return {"replication": np.arange(size), "value": np.random.default_rng(1).exponential(mean, size)}

    def test_right(assert_agrees):
        assert_agrees(values(2), "mm1", HALF, quantity="mean_response", margin="10%")

    def test_wrong(assert_agrees):
        assert_agrees(values(1), "mm1", HALF, quantity="mean_response")

    def test_broken(assert_agrees):
        assert_agrees([[1.0, 2.0], [1.0]], "mm1", HALF, quantity="mean_response")

    def test_short(assert_agrees):
        assert_agrees(values(2, 60), "mm1", HALF, quantity="mean_response", undecided="skip")

    def test_without():
        pass
"""


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    pytester.makepyfile(test_mine=SUITE)
    plugin = () if INSTALLED else ("-p", "proofs_check.pytest_plugin")
    return pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", "--junitxml=out.xml", *words)


def test_fixture_tells_the_terminal_the_junit_file_and_the_page(pytester):
    result = run(pytester, "-p", "no:xdist", "--exaq-html=pages/exaq.html")
    result.assert_outcomes(passed=2, failed=2, skipped=1)
    text = result.stdout.str()
    assert (
        "mean_response: disagrees" in text and "waiting time only" in text
    )  # the whole finding, with the fault's name
    assert "insist(found" not in text  # and none of our own code
    found = {}
    for case in ElementTree.parse(pytester.path / "out.xml").iter("testcase"):
        found[case.get("name")] = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert found["test_right"]["exaq.mean_response.verdict"] == "agrees"
    assert found["test_wrong"]["exaq.mean_response.verdict"] == "disagrees"
    assert found["test_short"]["exaq.mean_response.verdict"] == "undecided"
    assert found["test_wrong"]["exaq.mean_response.exact"] == "2 (exact)"
    assert not found["test_without"]
    expect_page(pytester)


def test_findings_travel_with_the_report_from_a_worker_to_the_page(pytestconfig, tmp_path):
    reports = []
    for name, found in (("b.py::test_b", ["two", "three"]), ("a.py::test_a", ["one"]), ("a.py::test_none", [])):
        report = pytest.TestReport(name, (name, 1, name), {}, "passed", None, "call")
        report.exaq_found = found
        sent = pytestconfig.hook.pytest_report_to_serializable(
            config=pytestconfig, report=report
        )  # as pytest-xdist does
        sent = json.loads(json.dumps(sent))
        reports.append(pytestconfig.hook.pytest_report_from_serializable(config=pytestconfig, data=sent))
    page = Page(tmp_path / "new" / "page.html")
    for report in reports:
        page.pytest_runtest_logreport(report)
    page.pytest_sessionfinish()
    text = page.path.read_text(encoding="utf-8")
    assert text.index("one") < text.index("two") < text.index("three") and "test_none" not in text


def expect_page(pytester):
    page = (pytester.path / "pages" / "exaq.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 4 and "1 passed, 2 failed, 1 skipped" in page and "no finding" in page
    assert page.count("mean_response: disagrees") == 1 and "test_without" not in page


def test_text_from_the_data_is_escaped(pytester):
    pytester.makepyfile(
        test_mine="""
        def test_it(assert_agrees, tmp_path):
            path = tmp_path / "<b>.csv"
            path.write_text("value\\n" + "2\\n3\\n1\\n2\\n" * 500)
            assert_agrees(path, "mm1", {"lam": "1/2", "mu": "1"}, quantity="mean_response")
        """
    )
    plugin = () if INSTALLED else ("-p", "proofs_check.pytest_plugin")
    pytester.runpytest_inprocess(*plugin, "-p", "no:xdist", "-p", "no:cacheprovider", "--exaq-html=exaq.html")
    page = (pytester.path / "exaq.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;.csv" in page and "<b>" not in page


def test_loading_the_plugin_loads_nothing_heavy():
    code = "import proofs_check.pytest_plugin, sys; print(*{m.split('.')[0] for m in sys.modules})"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, timeout=120
    )
    assert not {"numpy", "scipy", "sympy", "flint", "click"} & set(done.stdout.split())


def test_a_mistyped_option_is_no_verdict():
    from proofs_check import assert_agrees

    with pytest.raises(ValueError, match="undecided = 'pass'"):
        assert_agrees(
            np.random.default_rng(1).exponential(2, 4000),
            "mm1",
            {"lam": "1/2", "mu": "1"},
            quantity="mean_response",
            undecided="pass",
        )
