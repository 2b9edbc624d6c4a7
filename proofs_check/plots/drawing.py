"""Draws figures with matplotlib: SVG, PDF or PNG, the same bytes every time, readable without colours."""

import math
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from exactchains.domain import Rigor
from exactchains.truth import InputError
from proofs_check.plots.figure import Figure, Panel, Series

FORMATS = (".svg", ".pdf", ".png")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f")  # Okabe and Ito
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)), (0, (1, 2)))
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "legend.frameon": False, "svg.hashsalt": "exaq", "svg.fonttype": "path", "text.parse_math": False,
    "figure.constrained_layout.use": True, "pdf.fonttype": 42, "axes.titlesize": 10, "axes.titlelocation": "left",
}  # fmt: skip
UNDATED: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "exaq"},
    ".pdf": {"CreationDate": None, "ModDate": None, "Producer": None},
    ".png": {"Software": None},
}
MANY = 25  # points beyond which markers hide the line
WIDE, HIGH = 70, 36  # characters of a line of the title, and of a vertical label


def draw(figure: Figure, path: Path) -> None:
    """Write a figure to a ``.svg``, ``.pdf`` or ``.png`` file.

    Raises
    ------
    InputError
        Another ending, or matplotlib is not installed.
    """
    count = len(figure.panels)
    with saved(path, (6.4, 1.0 + 2.9 * count)) as canvas:
        axes = canvas.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        for axis, panel in zip(axes, figure.panels, strict=True):
            _panel(axis, panel, steps=figure.steps)
        axes[0].set_title(textwrap.fill(figure.title, WIDE), pad=12)
        below = [*textwrap.wrap(figure.x_label, WIDE), figure.note or _legend_of_marks(figure)]
        axes[-1].set_xlabel("\n".join(below).rstrip())
        if figure.log_x:
            _powers(axes[-1].xaxis)
        elif _whole(figure):
            from matplotlib.ticker import MaxNLocator

            axes[-1].xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def checked_figure(path: Path) -> None:
    """Raise what can be known before there is anything to draw: the ending, and that matplotlib is there.

    Raises
    ------
    InputError
        Another ending, no such folder, or matplotlib is not installed.
    """
    if path.suffix not in FORMATS:
        raise InputError(f"--out {path.name}: figures are written as {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: there is no folder {str(path.parent)!r}; make it first")
    if find_spec("matplotlib") is None:
        raise InputError("figures need matplotlib; install it with `pip install 'exaq[plot]'`")


@contextmanager
def saved(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """Yield an empty figure of ``size`` inches, and write it to ``path``: the same bytes every time.

    Raises
    ------
    InputError
        Another ending, or matplotlib is not installed.
    """
    checked_figure(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=size)
        yield canvas
        canvas.savefig(path, dpi=150, metadata=UNDATED[path.suffix])


def _panel(axis: Any, panel: Panel, *, steps: bool) -> None:
    for i, series in enumerate(panel.series):
        _line(axis, series, i, steps)
    whole = re.sub(r"\([^()]*\)$", lambda unit: unit[0].replace(" ", "\u00a0"), panel.label)  # a unit stays in one line
    axis.set_ylabel(textwrap.fill(whole, HIGH, break_on_hyphens=False))
    axis.margins(x=0.03, y=0.08)
    if panel.log:
        _powers(axis.yaxis)
    elif steps:
        from matplotlib.ticker import MaxNLocator

        axis.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    if len(panel.series) > 1:
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=3.2)


def _line(axis: Any, series: Series, i: int, steps: bool) -> None:
    """Draw the band of the enclosures, the line through their middles, and a filled mark where a value is exact."""
    colour, mark = COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)] if len(series.points) <= MANY else ""
    look: dict[str, Any] = {"color": colour, "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.5}
    look |= {"drawstyle": "steps-mid" if steps else "default"}
    for run in _runs(series):
        xs = [p.x for p in run]
        axis.fill_between(xs, [p.lower for p in run], [p.upper for p in run], color=colour, alpha=0.25, linewidth=0)
        middle = [(p.lower + p.upper) / 2 for p in run]
        axis.plot(xs, middle, **look)
        for p, y in zip(run, middle, strict=True):
            fill = colour if p.rigor is Rigor.EXACT else "white"
            axis.plot([p.x], [y], mark, color=colour, markerfacecolor=fill, markersize=4.5)
    exact = all(p.rigor is Rigor.EXACT for p in series.points if p)
    label = series.label if any(series.points) else f"{series.label} (no values)"
    fill = colour if exact else "white"
    axis.plot([], [], label=label, marker=mark, markerfacecolor=fill, markersize=4.5, **look)


def _legend_of_marks(figure: Figure) -> str:
    """Say what filled and open marks mean."""
    rigors = {p.rigor for panel in figure.panels for s in panel.series for p in s.points if p}
    says = {Rigor.EXACT: "exact", Rigor.ENCLOSED: "proved enclosures", Rigor.ESTIMATE: "estimates"}
    kinds = [text for rigor, text in says.items() if rigor in rigors]
    if kinds == ["exact"] or not kinds:
        return "all values exact" if kinds else ""
    filled = "filled marks: exact; " if "exact" in kinds else ""
    return f"{filled}open marks: {' or '.join(k for k in kinds if k != 'exact')}"


def _whole(figure: Figure) -> bool:
    return all(p.x == round(p.x) for panel in figure.panels for s in panel.series for p in s.points if p)


def _runs(series: Series) -> list[list[Any]]:
    """Return the stretches of points between gaps."""
    runs: list[list[Any]] = [[]]
    for point in series.points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _powers(axis: Any) -> None:
    """Label an axis of decimal logarithms by the numbers that they stand for."""
    from matplotlib.ticker import MaxNLocator

    low, high = axis.get_view_interval()
    if high - low < 1:
        values = [v for v in MaxNLocator(5).tick_values(10**low, 10**high) if v > 0]
        ticks = {math.log10(v): f"{v:.6g}" for v in values}
    else:
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000) if (high - low) / s <= 8)
        wholes = [e for e in range(math.floor(low), math.ceil(high) + 1) if e % step == 0]
        leading = (1, 2, 5) if high - low < 2.5 else (1,)
        plain = all(-3 <= e <= 4 for e in wholes if low <= e <= high)
        ticks = {e + math.log10(k): _power(k, e, plain=plain) for e in wholes for k in leading}
    shown = sorted(t for t in ticks if low <= t <= high)
    axis.set_ticks(shown, [ticks[t] for t in shown])


def _power(k: int, e: int, *, plain: bool) -> str:
    """Return k 10^e, spelled out on an axis where all numbers are; 1 always is."""
    if plain or e == 0:
        return f"{k * 10**e}" if e >= 0 else f"0.{'0' * (-e - 1)}{k}"
    power = "10" + str(e).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if k == 1 else f"{k}·{power}"
