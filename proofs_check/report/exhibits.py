"""Tables and figures that illustrate claims, computed for their pages."""

import base64
import fnmatch
import importlib.util
import tempfile
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path

from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.plots import maps, paths
from proofs_check.plots.drawing import draw
from proofs_check.plots.figure import Figure, figure
from proofs_check.tables.evaluation import table
from proofs_check.tables.sheet import fragment, sheet
from proofs_check.tables.spec import recipes, spec


def illustrations(claim: str) -> list[str]:
    """Return the names of the recipes that illustrate a claim, its map first."""
    tables = [name for name, patterns in _illustrated().items() if _matches(claim, patterns)]
    return [*(name for name, place in paths.recipes().items() if _mapped(place) == claim), *tables]


@cache
def map_of(place: Path) -> str:
    """Return the map of a refuted claim as HTML, with the shares of its labels in words."""
    asked = maps.wanted(place)
    assert asked is not None
    made = maps.drawn(asked)
    shares = ", ".join(f"{label.value} {made.share(label):.1%}" for label in maps.LOOKS if made.share(label))
    alt = f"{asked.title}; {made.slice.across.says} against {made.slice.up.says}: {shares}"
    picture = _image(lambda path: maps.draw_map(made, path), alt)
    says = f"<p>{escape(alt)} of the box, certified inside every cell.</p>"
    command = f"exaq plot {asked.name} --out FILE"
    return f'<section>\n{picture}{says}<p class="soft"><code>{escape(command)}</code></p>\n</section>'


@cache
def _mapped(place: Path) -> str:
    asked = maps.wanted(place)
    return asked.claim if asked else ""


@cache
def exhibit(name: str) -> str:
    """Return one recipe as HTML, with the command that gives it; what cannot be computed says why."""
    if name in paths.recipes():
        return map_of(paths.recipes()[name])
    asked = spec(name)
    try:
        made = table(asked)
        body = fragment(sheet(made))
        if asked.plot:
            body = f"{_picture(figure(asked, made), asked.title)}\n{body}"
    except (DoesNotExist, InputError, Undecided) as error:
        body = f"<p>This table could not be computed: {escape(str(error))}</p>"
    command = f"exaq table {name}"
    return f'<section>\n{body}<p class="soft"><code>{escape(command)}</code></p>\n</section>'


@cache
def _illustrated() -> dict[str, tuple[str, ...]]:
    return {name: found for name in recipes() if (found := spec(name).claims)}


def _matches(claim: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(claim, pattern) for pattern in patterns)


def _picture(shown: Figure, title: str) -> str:
    return _image(lambda path: draw(shown, path), f"{title}; the numbers follow as a table")


def _image(write: Callable[[Path], None], alt: str) -> str:
    """Return a figure as an image inside the page; nothing where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        write(path)
        data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img class="figure" alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">'
