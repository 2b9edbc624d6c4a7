"""Draws drift fields: an arrow a state, to scale; states in which the jobs in all grow have open arrows."""

import textwrap
from pathlib import Path

from exactchains.number import nearest_double
from proofs_check.plots.drawing import COLOURS, WIDE, saved
from proofs_check.plots.fields import Field, Fields

LENGTH = 0.42  # of the distance of states, for a drift of 1


def draw_fields(shown: Fields, path: Path) -> None:
    """Write drift fields to a ``.svg``, ``.pdf`` or ``.png`` file."""
    with saved(path, (3.3 * len(shown.fields) + 0.6, 4.4)) as canvas:
        axes = canvas.subplots(1, len(shown.fields), sharey=True, squeeze=False)[0]
        for axis, field in zip(axes, shown.fields, strict=True):
            _field(axis, field)
        canvas.suptitle(textwrap.fill(shown.title, WIDE), x=0.01, ha="left", fontsize=10)
        canvas.supxlabel(
            f"arrows: exact drift, {LENGTH} of the grid for 1 job per mean service time; open: the jobs in all grow",
            fontsize=8,
        )


def _field(axis, field: Field) -> None:  # type: ignore[no-untyped-def]
    for a, b, x, y in field.arrows:
        grows = x + y > 0
        u, v = (LENGTH * nearest_double(z) for z in (x, y))
        colour = COLOURS[1] if grows else COLOURS[0]
        look = {"facecolor": "white" if grows else colour, "edgecolor": colour, "linewidth": 1.0}
        axis.plot([a], [b], ".", color="#7f7f7f", markersize=2.5)
        if u or v:
            arrow = {"arrowstyle": "simple,head_length=.35,head_width=.4,tail_width=.12", "shrinkA": 0, "shrinkB": 0}
            axis.annotate("", (a + u, b + v), (a, b), arrowprops=arrow | look)
    most = max(arrow[0] for arrow in field.arrows)
    axis.set(xlim=(-0.6, most + 0.8), ylim=(-0.6, most + 0.8), aspect="equal")
    axis.set_xticks(range(most + 1))
    axis.set_yticks(range(most + 1))
    axis.set_title(field.label)
    axis.set_xlabel(f"jobs at the server of speed {field.speeds[0]}")
    axis.set_ylabel(f"jobs at the {'other ' if len(set(field.speeds)) == 1 else ''}server of speed {field.speeds[1]}")
