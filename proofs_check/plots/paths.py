"""Figures of paths: ages slot by slot, and the mean field in time.  Simulated or integrated, never proved."""

import re
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from aoi_tools.simulation import slot_ages
from exactchains.document import parsed, read_document
from exactchains.domain import Floats, Rigor
from exactchains.spread import spread
from exactchains.truth import InputError
from meanfield.solvers.trajectory import trajectory
from proofs_check.catalogue import find
from proofs_check.catalogue.age_parts import AgeProblem
from proofs_check.catalogue.balancing import System
from proofs_check.plots.figure import MAX_SERIES, Figure, Panel, Point, Series, greek
from proofs_check.tables.reader import Reader

KEYS = {"title", "papers", "seed", "slots", "until", "paths"}
PATH_KEYS = {"model", "heading", "parameters", "start"}
MAX_SLOTS = 2_000


@dataclass(frozen=True)
class Run:
    """One path: a model with its parameters; ``start`` are the first tails of a mean field, none for an empty one."""

    model: str
    heading: str
    parameters: Mapping[str, str]
    start: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paths:
    """Paths in one picture: ages for ``slots`` slots from ``seed``, or mean fields up to the time ``until``."""

    name: str
    title: str
    runs: tuple[Run, ...]
    seed: int = 1
    slots: int = 0
    until: str = ""
    papers: tuple[str, ...] = ()


def recipes() -> dict[str, Path]:
    """Return the shipped pictures that are no tables, by name."""
    folder = Path(str(resources.files("proofs_check"))) / "plots" / "recipes"
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def paths(place: Path) -> Paths | None:
    """Return the paths that a TOML file asks for; None when it asks for a table."""
    data = read_document(place)
    if "paths" not in data:
        return None
    return PathReader(place.stem, place.name, place.read_text(encoding="utf-8")).paths(data)


def from_text(text: str, name: str = "paths") -> Paths:
    """Return the paths that TOML text asks for."""
    return PathReader(name, f"{name}.toml", text).paths(parsed(text, f"{name}.toml", toml=True))


class PathReader(Reader):
    """Reads pictures of paths; errors name key and line."""

    def paths(self, data: Mapping[str, Any]) -> Paths:
        self._known(data, KEYS, "")
        raw = data.get("paths")
        if not isinstance(raw, list) or not 1 <= len(raw) <= MAX_SERIES:
            raise self.error("paths", f"from 1 to {MAX_SERIES} [[paths]] with model and parameters are needed")
        if ("slots" in data) == ("until" in data):
            raise self.error("slots", "give slots (for ages) or until (for mean fields)")
        return Paths(
            self.name,
            self._text(data.get("title", self.name), "title"),
            tuple(self._run(run, i) for i, run in enumerate(raw)),
            self._count(data.get("seed", 1), "seed", 2**32),
            self._count(data["slots"], "slots", MAX_SLOTS) if "slots" in data else 0,
            self._word(data["until"], "until") if "until" in data else "",
            self._names(data.get("papers", []), "papers"),
        )

    def _run(self, data: Any, i: int) -> Run:
        where = f"paths[{i}]"
        if not isinstance(data, Mapping):
            raise self.error("paths", "write [[paths]] and below it model and parameters")
        self._known(data, PATH_KEYS, f"{where}.")
        words = self._parameters(data.get("parameters", {}), f"{where}.parameters")
        name = self._text(data.get("model", ""), f"{where}.model")
        model = self._try(f"{where}.model", partial(find, name))
        self._try(f"{where}.parameters", partial(model.make, words))
        start = data.get("start", [])
        if not isinstance(start, list):
            raise self.error(f"{where}.start", 'a list of tails such as ["1", "1/2"] is needed')
        heading = self._text(data.get("heading", model.name), f"{where}.heading")
        return Run(model.name, heading, words, tuple(self._word(x, f"{where}.start") for x in start))

    def _count(self, x: Any, key: str, most: int) -> int:
        if isinstance(x, bool) or not re.fullmatch(r"[0-9]{1,10}", str(x)) or int(str(x)) > most:
            raise self.error(key, f"an integer from 0 to {most} is needed")
        return int(str(x))


def drawn(asked: Paths, *, executor: Executor | None = None) -> Figure:
    """Return the picture: simulated ages in channel uses (or slots, without n), or mean queues by integration.

    With an ``executor`` of processes the paths are computed there side by side.

    Raises
    ------
    InputError
        A model of the other kind.
    """
    ages = bool(asked.slots)
    found = spread(partial(_age if ages else _fluid, asked=asked), asked.runs, executor)
    lines = tuple(Series(greek(run.heading), tuple(points)) for run, points in zip(asked.runs, found, strict=True))
    if ages:
        label, below, note = "age (channel uses)", "time (channel uses)", f"simulated with seed {asked.seed}"
    else:
        label, below, note = "mean number of jobs at one server", "time (mean service times)", "integrated numerically"
    return Figure(asked.title, below, (Panel(label, lines, False),), False, note=f"{note}; nothing is proved")


def _age(run: Run, asked: Paths) -> list[Point]:
    """Return the corners of the path of the age: up with time, down at every usable update."""
    problem = find(run.model).make(run.parameters)
    if not isinstance(problem, AgeProblem) or problem.sampling is None:
        raise InputError(f"{asked.name}: {run.model} has no age in channel uses; give an age.* model with n")
    n, start = problem.sampling.n, problem.sampling.start
    corners = []
    for t, j in enumerate(slot_ages(problem.scheme, slots=asked.slots, seed=asked.seed)):
        age = float(start + n * int(j))
        corners += [_point(float(t * n), age), _point(float((t + 1) * n), age + n)]
    return corners


def _fluid(run: Run, asked: Paths) -> list[Point]:
    """Return the mean number of jobs along the mean field."""
    system = find(run.model).make(run.parameters)
    if not isinstance(system, System) or system.n is not None:
        raise InputError(f"{asked.name}: {run.model} has no mean field; give a load-balancing model without n")
    path = trajectory(system.policy, start=run.start, until=asked.until)
    fractions = [Floats().convert(pool.fraction) for pool in system.policy.pools]
    return [_point(float(t), float(q)) for t, q in zip(path.times, path.mean_queue(fractions), strict=True)]


def _point(x: float, y: float) -> Point:
    return Point(x, y, y, Rigor.ESTIMATE)
