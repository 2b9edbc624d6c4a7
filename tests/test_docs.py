"""Every example in README.md and docs/ runs and prints what the page says; every link leads somewhere.

Blocks of a page share one empty folder and one Python session, in the page's order:

- ``console``: lines ``$ exaq ...`` run, and ``$ cat FILE`` and ``$ echo $?`` (a trailing backslash goes on); what
  follows is the exact output.  ``...`` stands for any text, alone on its line for any lines.  Times do not count.
  A command that fails must show its message, or be followed by ``$ echo $?``.
- ``python``: doctest examples.
- any block whose info line names a file, as in ```` ```toml source.toml ````, is written to that file.
"""

import doctest
import importlib
import re
import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from proofs_check.cli.main import cli
from proofs_check.registry import claims
from tests.source import ROOT, module_name, modules

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "proofs_check").rglob("*.md")),
]
NEEDS = {"docs/tutorials/simulators.md": ("ciw", "simpy", "salabim")}  # of the extra "simulators"
TIME = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-\d+)? ?(?:µs|ms|s|seconds?)\b")
JSON_TIME = re.compile(r'("seconds": )[0-9.e-]+')
FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: language, file name or "", text, and the line at which the text starts."""

    language: str
    file: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    found = []
    for fence in FENCE.finditer(page):
        language, _, file = fence[3].strip().partition(" ")
        indent = len(fence[1])
        text = "".join(line[indent:] if line.strip() else line for line in fence[4].splitlines(keepends=True))
        found.append(Block(language, file.strip(), text, page.count("\n", 0, fence.start(4)) + 1))
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """Return (command, expected output) for each ``$`` line of a console block."""
    found: list[tuple[str, str]] = []
    joined = re.sub(r"(?m)^(\$ .*?(?:\\\n.*?)*)$", lambda m: re.sub(r"\\\n\s*(?:> )?", "", m[1]), text)
    for line in joined.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
        elif line.strip():
            raise AssertionError(f"output {line!r} before any command")
    return found


def matches(output: str, expected: str) -> bool:
    """Return whether output is as expected; ``...`` stands for anything, times and blanks at line ends do not count."""
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line == "..." else "[^\n]*".join(map(re.escape, line.split("...")))
        for line in normal(expected).split("\n")
    )
    return re.fullmatch(pattern, normal(output)) is not None


def normal(text: str) -> str:
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    return TIME.sub("<time>", JSON_TIME.sub(r"\1<time>", "\n".join(lines)))


class Session:
    """Runs the examples of one page."""

    def __init__(self) -> None:
        self.status = 0
        self.names: dict[str, object] = {}

    def run(self, block: Block, where: str) -> None:
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            listed = commands(block.text)
            for (command, expected), (following, _) in zip(listed, [*listed[1:], ("", "")], strict=True):
                output = self.output(shlex.split(command))
                told = "echo $?" in (command, following) or (self.status != 4 and expected.strip(".\n"))
                assert self.status == 0 or told, f"{where}: $ {command}\nended with {self.status}\n{output}"
                assert matches(output, expected), f"{where}: $ {command}\nprinted\n{output}\nthe page says\n{expected}"
        elif block.language == "python":
            assert ">>>" in block.text, f"{where}: a python block without >>> is not run; make it a doctest"
            test = doctest.DocTestParser().get_doctest(block.text, self.names, where, where, block.line)
            report: list[str] = []
            doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.append, clear_globs=False)
            self.names.update(test.globs)
            assert not report, "".join(report)

    def output(self, words: list[str]) -> str:
        if words == ["echo", "$?"]:
            return str(self.status)
        if words[0] == "cat" and len(words) == 2:
            return Path(words[1]).read_text(encoding="utf-8")
        assert words[0] == "exaq", f"{words[0]!r} is not run here; put commands that are not run into a ```sh block"

        result = CliRunner().invoke(cli, words[1:], prog_name="exaq")
        self.status = result.exit_code
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output


@pytest.fixture
def quiet_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, and a plain terminal of 100 columns."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_examples_print_what_the_page_says(page: Path, quiet_folder: Path):
    for name in NEEDS.get(relative(page), ()):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'exaq[simulators]'")
    session = Session()
    for block in blocks(page.read_text(encoding="utf-8")):
        session.run(block, f"{relative(page)}:{block.line}")


@pytest.mark.parametrize(
    "path", [path for path in modules() if ">>> " in (ROOT / path).read_text(encoding="utf-8")], ids=module_name
)
def test_docstring_examples(path: Path, quiet_folder: Path):
    module = importlib.import_module(module_name(path))
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        runner.run(test, out=report.append)
    assert not report, "".join(report)


# Links

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: its headings as GitHub spells them, and explicit ids."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"(?m)^#+ +(.*?) *$", text)
    plain = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
    return {*plain, *re.findall(r'<a (?:id|name)="([^"]+)"', text)}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=relative)
def test_links_lead_somewhere(page: Path):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    bad = []
    for link in (a or b for a, b in LINK.findall(text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            bad.append(link)
    assert not bad


def test_every_definition_that_a_claim_names_is_there():
    named = {(label, c.id) for c in claims().values() for label in c.definitions}
    known = anchors(ROOT / "proofs_check/claims/definitions.md")
    assert named
    assert not {(label, claim) for label, claim in named if label not in known}


def test_every_page_is_reached_from_the_index():
    start = ROOT / "docs/index.md"
    seen, todo = {start}, [start]
    while todo:
        page = todo.pop()
        for link in (a for a, _ in LINK.findall(page.read_text(encoding="utf-8"))):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file() and target not in seen:
                seen.add(target)
                todo.append(target)
    lost = {relative(page) for page in PAGES if page.is_relative_to(ROOT / "docs")} - {relative(p) for p in seen}
    assert not lost, f"no link leads to {sorted(lost)}; add them to docs/index.md"


# The reader of examples, on small samples


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nb\nc\n", "a\n...\nc", True),
        ("a\nb\nc\n", "a\n...\nd", False),
        ("mean = 1.2345\n", "mean = 1.2...", True),
        ("mean = 1.2345\nmore\n", "mean = 1.2...", False),
        ("checked in 0.03 s\n", "checked in 1.2 s", True),
        ('"seconds": 0.0012', '"seconds": 3', True),
        ("3/7\n", "3/8", False),
        ("(a+b)*\n", "(a+b)*", True),
        ("something\n", "", False),
    ],
)
def test_matching(output: str, expected: str, same: bool):
    assert matches(output, expected) is same


def test_blocks_and_commands_are_found():
    page = "x\n```console\n$ exaq a \\\n    b\n1\n$ exaq c\n```\n  ```toml s.toml\n  k = 1\n  ```\n"
    first, second = blocks(page)
    assert (second.language, second.file, second.text) == ("toml", "s.toml", "k = 1\n")
    assert first.line == 3
    assert commands(first.text) == [("exaq a b", "1\n"), ("exaq c", "")]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", ">>> 1 + 1\n3\n"),
        ("python", "x = 1\n"),
        ("console", "$ make verify\n"),
        ("console", "$ exaq solve no.model\n...\n"),
    ],
)
def test_a_wrong_example_is_noticed(language: str, text: str):
    with pytest.raises(AssertionError):
        Session().run(Block(language, "", text, 1), "sample")
