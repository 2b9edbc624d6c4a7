"""Maps of where a refuted claim fails: certified cells in a slice of two parameters, as a figure."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from exactchains.document import parsed, read_document
from proofs_check.plots.drawing import COLOURS, WIDE, saved
from proofs_check.plots.paths import PathReader
from proofs_check.refutations.maps import Cell, Label, Slice, known

KEYS = {"title", "papers", "map", "depth"}
MAX_DEPTH = 9
SEAM = 0.4  # points of outline in the colour of the cells; else viewers of SVG and PDF show white lines between them
LOOKS = {  # face colour, hatch
    Label.FAILS: (COLOURS[1], "///"),
    Label.HOLDS: (COLOURS[6], ""),
    Label.OUTSIDE: ("#eeeeee", ".."),
    Label.UNDECIDED: ("#222222", ""),
}


@dataclass(frozen=True)
class Wanted:
    """A map as asked for: the claim, and how often an undecided cell is cut into four."""

    name: str
    title: str
    claim: str
    depth: int
    papers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Map:
    """Cells with their labels, in a slice."""

    title: str
    slice: Slice
    cells: tuple[tuple[Cell, Label], ...]

    def share(self, label: Label) -> float:
        """Return the share of the box that has a label."""
        ((a, b), (c, d)) = self.slice.box
        area = sum((x[1] - x[0]) * (y[1] - y[0]) for (x, y), found in self.cells if found is label)
        return float(area / ((b - a) * (d - c)))


def wanted(place: Path) -> Wanted | None:
    """Return the map that a TOML file asks for; None when it asks for something else."""
    data = read_document(place)
    if "map" not in data:
        return None
    return MapReader(place.stem, place.name, place.read_text(encoding="utf-8")).map(data)


def from_text(text: str, name: str = "map") -> Wanted:
    """Return the map that TOML text asks for."""
    return MapReader(name, f"{name}.toml", text).map(parsed(text, f"{name}.toml", toml=True))


class MapReader(PathReader):
    """Reads maps; errors name key and line."""

    def map(self, data: Mapping[str, Any]) -> Wanted:
        self._known(data, KEYS, "")
        claim = self._text(data["map"], "map")
        self._try("map", partial(known, claim))
        title = self._text(data.get("title", f"Where {claim} fails"), "title")
        depth = self._count(data.get("depth", 6), "depth", MAX_DEPTH)
        return Wanted(self.name, title, claim, depth, self._names(data.get("papers", []), "papers"))


def drawn(asked: Wanted) -> Map:
    """Return the map: cells that cover the box, each with a certified label."""
    found = known(asked.claim)
    return Map(asked.title, found, tuple(found.refined(asked.depth)))


def draw_map(shown: Map, path: Path) -> None:
    """Write a map to a ``.svg``, ``.pdf`` or ``.png`` file."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    across, up = shown.slice.across, shown.slice.up
    with saved(path, (6.4, 5.0)) as canvas:
        axis, keys = canvas.subplots(), []
        for label, (colour, hatch) in LOOKS.items():
            corners = [_corners(cell) for cell, found in shown.cells if found is label]
            if not corners:
                continue
            look: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
            axis.add_collection(PolyCollection(corners, facecolor=colour, edgecolor=colour, linewidth=SEAM))
            if hatch:
                axis.add_collection(PolyCollection(corners, antialiased=False, **look | {"facecolor": "none"}))
            says = shown.slice.outside if label is Label.OUTSIDE else label.value
            keys.append(Patch(label=f"{says} ({shown.share(label):.1%})", **look))
        axis.set(xlim=(float(across.low), float(across.high)), ylim=(float(up.low), float(up.high)))
        axis.set_title(textwrap.fill(shown.title, WIDE), pad=12)
        axis.set_ylabel(up.says)
        below = [across.says, f"{shown.slice.fixed}; certified inside every cell"]
        axis.set_xlabel("\n".join(line for text in below for line in textwrap.wrap(text, WIDE)))
        axis.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.0, 1.0), title="the claim")


def _corners(cell: Cell) -> list[tuple[float, float]]:
    (a, b), (c, d) = (tuple(map(float, side)) for side in cell)
    return [(a, c), (b, c), (b, d), (a, d)]
