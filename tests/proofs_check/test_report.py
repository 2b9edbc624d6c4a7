"""The report: well-formed, self-contained, complete, escaped; formulas as MathML; JUnit XML."""

import fnmatch
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from exactchains.truth import InputError
from proofs_check.claim import Scope, Source
from proofs_check.registry import claims
from proofs_check.report import exhibits
from proofs_check.report.article import Links, article, formula
from proofs_check.report.definitions import definitions
from proofs_check.report.graph import graph
from proofs_check.report.junit import junit_text
from proofs_check.report.mathml import UnknownLatex, mathml
from proofs_check.report.page import READING, report_text, style, write_report
from proofs_check.tables.spec import recipes, spec
from proofs_check.verify import Status, Verification, stored, verify

EVIL = "<script>alert(1)</script> & \"quoted\" 'single' \u0001 ]]> a<b"
VOID = {"meta", "link", "input", "br", "img"}


@pytest.fixture(scope="module")
def results() -> list[Verification]:
    return verify("age.feedback", "age.headline.iid-needed", "age.periodic.never-improves")


def spoiled(v: Verification) -> Verification:
    """Return a verification whose every text came from outside and is hostile."""
    claim = replace(
        v.claim,
        id=f"x.{EVIL}",
        text=EVIL,
        latex=EVIL,
        assumptions=EVIL,
        argument=EVIL,
        definitions=(EVIL,),
        uses=(EVIL,),
        witness={EVIL: EVIL},
        source=Source((EVIL,), EVIL, EVIL),
    )
    return replace(v, claim=claim, status=Status.REJECTED, reason=EVIL)


class Page(HTMLParser):
    """Checks nesting, gathers ids, links and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = dict(attrs)
        assert not any(name.startswith("on") for name in values), values
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values[name] or "" for name in ("href", "src") if name in values]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("mspace", "path", "rect"), f"<{tag}/> is not closed in HTML"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_report_shows_every_claim_with_its_parts(results, tmp_path):
    path = write_report(results, tmp_path / "deep" / "report")
    assert path == tmp_path / "deep" / "report" / "index.html"
    links = Links(results, "")
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    for v in results:
        assert v.claim.id in page.ids
        part = article(v, links)
        assert v.status.value in part and f"{v.size} bytes" in part and str(v.claim.scope.value) in part
        assert "<math" in part
        for label in v.claim.definitions:
            assert definitions()[label].body in part
    assert "python-flint" in text and "SHA-256" in text


def test_report_needs_no_network_and_no_script(results):
    page = Page(report_text(results))
    assert page.tags.isdisjoint({"script", "iframe", "object", "embed"})
    assert all(link.startswith(("#", "data:", "claims/", "certificates/")) for link in page.links), page.links
    assert "url(" not in style() and "@import" not in style()
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_every_filter_hides_exactly_the_others(results):
    text = report_text(results)
    rules = re.findall(r'body:has\(#([\w-]+):checked\) article:not\(\[data-(\w+)~="([\w-]+)"\], :target\)', text)
    assert {name for _, name, _ in rules} == {"paper", "status", "scope"}
    for choice, name, value in rules:
        assert choice == f"{name}-{value}" and f'id="{choice}"' in text
        shown = [
            a
            for a in re.findall(r"<article [^>]*>", text)
            if value in re.search(f'data-{name}="([^"]*)"', a)[1].split()
        ]
        assert shown, f"{choice} shows nothing"
    refuted = [a for a in re.findall(r"<article [^>]*>", text) if 'data-status="REFUTED"' in a]
    assert len(refuted) == sum(v.status is Status.REFUTED for v in results) == 1


def test_same_results_give_the_same_bytes_but_for_times(results):
    untimed = [replace(v, seconds=0.0) for v in results]
    assert report_text(untimed) == report_text(untimed)
    late = [replace(v, seconds=9.0) for v in results]
    assert report_text(late).replace("9.00 s", "0.00 s") == report_text(untimed)


def test_outside_text_is_escaped_everywhere(results):
    text = report_text([spoiled(results[0])])
    page = Page(text)
    assert "script" not in page.tags
    assert "REJECTED" in text and "Not as expected" in text
    assert text.count("&lt;script&gt;") >= 8


def test_a_claim_without_certificate_says_why(results):
    v = replace(results[0], status=Status.OPEN, reason="no certificate is stored", size=0)
    shown = article(v, Links([v], ""))
    assert "no certificate is stored" in shown and "bytes" not in shown.split("<details>")[0]


def test_rests_on_and_used_by_are_linked(results):
    first, second = results[0], replace(results[1], claim=replace(results[1].claim, uses=(results[0].claim.id, "else")))
    text = report_text([first, second])
    assert f'<p><a href="#{first.claim.id}">{first.claim.id}</a>, else</p>' in text
    assert f'<p><a href="#{second.claim.id}">{second.claim.id}</a></p>' in text


def test_the_site_holds_a_page_and_a_certificate_for_every_claim(results, tmp_path):
    write_report(results, tmp_path)
    for file in tmp_path.rglob("*.html"):
        page = Page(file.read_text(encoding="utf-8"))
        for link in page.links:
            target, _, anchor = link.partition("#")
            if target and not link.startswith("data:"):
                assert (file.parent / target).is_file(), (file, link)
            if anchor and target:
                assert anchor in Page((file.parent / target).read_text(encoding="utf-8")).ids
    for v in results:
        copy = tmp_path / "certificates" / f"{v.claim.id}.json"
        assert copy.read_bytes() == stored(v.claim.id).read_bytes()
        shown = (tmp_path / "claims" / f"{v.claim.id}.html").read_text(encoding="utf-8")
        assert "<details" not in shown and v.claim.id in shown
    shown = (tmp_path / "claims" / "age.feedback.gain.html").read_text(encoding="utf-8")
    assert "exaq table P5.closed-forms" in shown and "<mfrac>" in shown


def test_recipes_illustrate_claims_that_exist():
    for name in recipes():
        for pattern in spec(name).claims:
            assert fnmatch.filter(claims(), pattern), (name, pattern)


def test_a_table_that_cannot_be_computed_says_why(monkeypatch):
    def refuse(asked):
        raise InputError("p = <1>: too much")

    monkeypatch.setattr(exhibits, "table", refuse)
    exhibits.exhibit.cache_clear()
    assert "could not be computed: p = &lt;1&gt;: too much" in exhibits.exhibit("P5.closed-forms")
    exhibits.exhibit.cache_clear()


# The graph


def chained(results, uses: dict[int, tuple[int, ...]]) -> list[Verification]:
    """Return the results with invented ids c0, c1, .. and the given dependencies."""
    return [
        replace(v, claim=replace(v.claim, id=f"c{i}", uses=tuple(f"c{j}" for j in uses.get(i, ()))))
        for i, v in enumerate(results)
    ]


def test_the_graph_puts_every_claim_right_of_what_it_rests_on(results):
    uses = {1: (0,), 2: (1, 0), 3: (2,), 4: (0,)}
    svg = ElementTree.fromstring(graph(chained(results, uses)))  # a div around the drawing
    space = "{http://www.w3.org/2000/svg}"
    left, spots = {}, set()
    for node in svg.iter(f"{space}a"):
        box, name = node.find(f"{space}rect"), node.find(f"{space}text").text
        left[name] = float(box.attrib["x"])
        spots.add((box.attrib["x"], box.attrib["y"]))
        assert node.attrib["href"] == f"#{name}"
    assert len(spots) == len(left) == 5
    assert all(left[f"c{i}"] > left[f"c{j}"] for i, below in uses.items() for j in below)
    assert len([p for p in svg.iter(f"{space}path") if p.attrib["class"] == "edge"]) == 5


def test_claims_that_stand_alone_draw_no_graph(results):
    assert graph(results) == ""


def test_headings_descend_one_by_one(results, tmp_path):
    write_report(results[:2], tmp_path)
    for file in tmp_path.rglob("*.html"):
        ranks = [int(rank) for rank in re.findall(r"<h([1-6])[ >]", file.read_text(encoding="utf-8"))]
        assert ranks[0] == 1 and ranks.count(1) == 1
        assert all(later <= rank + 1 for rank, later in pairwise(ranks)), (file, ranks)


# Accessibility, of every page, without a network


class Outline(HTMLParser):
    """Gathers what a screen reader and a keyboard need; text in <svg> and <math> counts as text."""

    NAMED = ("a", "summary", "button", "label", "legend", "h1", "h2", "h3", "h4", "th", "caption", "title")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.names: list[tuple[str, dict, list[str]]] = []  # elements whose text is their name
        self.inputs: list[tuple[dict, bool]] = []
        self.targets: set[str] = set()
        self.labelled: set[str] = set()
        self.seen: list[str] = []
        self.lang, self.stack = "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = {name: value or "" for name, value in attrs}
        self.seen.append(tag)
        self.targets.add(a.get("id", ""))
        if tag == "html":
            self.lang = a.get("lang", "")
        if tag in self.NAMED:
            self.names.append((tag, a, [a.get("aria-label", "")]))
        if tag == "label":
            self.labelled.add(a.get("for", ""))
        if tag == "input":
            self.inputs.append((a, "label" in self.stack))
        if tag == "img" and not a.get("alt", "").strip():
            self.faults.append("an image without alt")
        if tag == "svg" and not (a.get("aria-label") or a.get("aria-labelledby") or a.get("aria-hidden") == "true"):
            self.faults.append("a drawing without a name")
        if int(a.get("tabindex", 0)) > 0:
            self.faults.append("a tab order of its own")
        if tag == "th" and a.get("scope") not in ("col", "row"):
            self.faults.append("a heading of a table without scope")
        if tag not in VOID:
            self.stack.append(tag)
            self.depths = [*getattr(self, "depths", []), len(self.names)]

    def handle_data(self, data: str) -> None:
        waiting = [i for i, tag in enumerate(self.stack) if tag in self.NAMED]
        for i in waiting:
            self.names[self.depths[i] - 1][2].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.stack.pop()
        self.depths.pop()

    @property
    def found(self) -> list[str]:
        """Return what is wrong."""
        wrong = list(self.faults)
        wrong += [] if self.lang == "en" else ["no language"]
        wrong += [f"{self.seen.count(tag)} <{tag}>" for tag in ("title", "main", "h1") if self.seen.count(tag) != 1]
        wrong += [f"an empty <{tag}>" for tag, _, text in self.names if not "".join(text).strip()]
        vague = ("here", "click here", "more", "link", "this")
        wrong += [f"a link called {''.join(t)}" for tag, _, t in self.names if "".join(t).strip().lower() in vague]
        ids = [a.get("href", "")[1:] for tag, a, _ in self.names if tag == "a" and a.get("href", "").startswith("#")]
        wrong += [f"a link to #{i}, which is not there" for i in ids if i not in self.targets]
        named = ("aria-label", "aria-labelledby")
        for a, inside in self.inputs:
            if not (
                inside or a.get("id") in self.labelled or any(a.get(k) for k in named) or a.get("type") == "hidden"
            ):
                wrong.append(f"a control without a label: {a}")
        return wrong


def test_every_page_can_be_read_without_eyes_and_without_a_mouse(results, tmp_path):
    write_report(results[:6], tmp_path)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) >= 7
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert Outline(text).found == [], page.name
        assert 'name="viewport"' in text and "maximum-scale" not in text and "user-scalable" not in text
        first = re.search(r"<body.*?<a ([^>]*)>", text, re.DOTALL)
        assert first and 'href="#' in first[1] and "skip" in first[1], page.name


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<h1>a</h1><a href='#x'>go on</a>", "a link to #x, which is not there"),
        ("<h1>a</h1><a href='y.html'>here</a>", "a link called here"),
        ("<h1>a</h1><a href='y.html'></a>", "an empty <a>"),
        ("<h1>a</h1><input type='radio'>", "a control without a label: {'type': 'radio'}"),
        ("<h1>a</h1><img src='x'>", "an image without alt"),
        ("<h1>a</h1><svg></svg>", "a drawing without a name"),
        ("<p>a</p>", "0 <h1>"),
    ],
)
def test_the_accessibility_check_sees_faults(body: str, fault: str):
    page = f"<html lang='en'><title>t</title><body><main>{body}</main></body></html>"
    assert Outline(page).found == [fault]


def test_everything_that_takes_the_keyboard_shows_its_focus():
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", style())
    shown = " ".join(names for names, says in rules if ":focus" in names and re.search(r"outline: [2-9]px solid", says))
    assert all(f"{what}:focus-visible" in shown for what in ("a", "summary", "input", "button", "[tabindex]"))
    assert not any(re.search(r"outline:\s*(0|none)", says) for _, says in rules)


def test_what_scrolls_takes_the_keyboard_and_has_a_name(results):
    text = report_text(results)
    kinds = [dict(re.findall(r'([\w-]+)="([^"]*)"', mark)) for mark in re.findall(r"<(?:div|figure)( [^>]*)>", text)]
    scrolling = [a for a in kinds if a.get("class") in ("scroll", "formula", "exaq-table")]
    assert len(scrolling) > len(results)
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in scrolling)


def test_a_form_can_be_reset_and_paper_holds_what_is_folded(results):
    assert re.search(r'<form class="filters".*<button type="reset">', report_text(results))
    paper = style().partition("@media print")[2]
    assert "::details-content" in paper and ".filters" in paper


# Contrast, from the style sheet itself


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_contrast_is_sufficient_by_day_and_by_night():
    schemes = re.findall(r":root \{([^}]*)\}", style())
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", scheme))
        for ground in ("ground", "panel"):
            for ink in ("ink", "soft", "link", "good", "bad", "open"):
                low, high = sorted((luminance(colours[ink]), luminance(colours[ground])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


# Definitions


def test_definitions_have_text_and_the_words_to_read_the_page():
    known = definitions()
    assert all(d.body and d.title for d in known.values())
    assert set(READING) <= set(known)
    assert definitions()["slot-age"].title == "Slot age"
    assert "##" not in "".join(d.body for d in known.values())


# MathML


def test_every_formula_of_a_claim_is_typeset():
    for c in claims().values():
        if c.latex:
            for part in re.findall(r"<math.*?</math>", mathml(c.latex)):
                ElementTree.fromstring(part)


@pytest.mark.parametrize(
    ("latex", "inside"),
    [
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        (r"m'", "<msup><mi>m</mi><mo>′</mo></msup>"),
        (r"\mathrm{st}", '<mi mathvariant="normal">st</mi>'),
        (r"\text{a < b}", "<mtext>a\u00a0&lt;\u00a0b</mtext>"),
        (r"\Bigl\{x\Bigr\}", '<mo stretchy="true" minsize="1.8em" maxsize="1.8em">{</mo><mi>x</mi>'),
        (r"\sum_{j=1}^\infty", "<munderover><mo>∑</mo>"),
        (r"a<b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
        (r"\left(\frac12\right)", '<mo stretchy="true">(</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>'),
        (r"\mathrm{SA\text{-}JSQ}", '<mi mathvariant="normal">SA-JSQ</mi>'),
        (r"x^12", "<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>"),
    ],
)
def test_latex_becomes_mathml(latex: str, inside: str):
    assert inside in mathml(latex)


@pytest.mark.parametrize("latex", [r"\unknown", "{a", "a}", r"\frac{a}", "a^b^c", r"\left(a", "a\u221a", "%", "{" * 60])
def test_what_leaves_the_subset_is_refused(latex: str):
    with pytest.raises(UnknownLatex):
        mathml(latex)


def test_an_unknown_formula_is_shown_as_its_source():
    assert formula(r"\evil<x>") == r'<div class="formula"><code>\evil&lt;x&gt;</code></div>'


# JUnit


def test_junit_counts_and_escapes(results):
    rejected = spoiled(results[0])
    waiting = replace(
        results[1], status=Status.OPEN, reason="no certificate", claim=replace(results[1].claim, scope=Scope.BOX)
    )
    root = ElementTree.fromstring(junit_text([rejected, waiting, *results[2:]]).encode())
    assert root.attrib["tests"] == str(len(results))
    assert (root.attrib["failures"], root.attrib["skipped"]) == ("1", "1")
    failure = root.find(".//failure")
    assert failure is not None and "<script>" in failure.attrib["message"] and "REJECTED" in failure.attrib["message"]
    assert {case.attrib["classname"] + "." + case.attrib["name"] for case in root.iter("testcase")} >= {
        v.claim.id for v in results[1:]
    }


# A real browser, where there is one


def test_a_browser_draws_it(results, tmp_path: Path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    page = write_report(results, tmp_path)
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path}/profile",
    ]
    run = subprocess.run(
        [browser, *flags, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=100, check=False
    )
    assert results[0].claim.id in run.stdout
    assert "CONSOLE" not in run.stderr, run.stderr
