"""Which columns of whose output mean what: one preset a simulator, found from the columns unless it is named."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exactchains.truth import InputError
from proofs_check.simulators import job_stream
from proofs_check.simulators.conservation import count_notes
from proofs_check.simulators.finished import AgeMeans, Histogram, StationTable, Summary
from proofs_check.simulators.jobs import Jobs
from proofs_check.simulators.memory import read_json, read_parquet, table_of
from proofs_check.simulators.observed import Observed
from proofs_check.simulators.omnetpp import COLUMNS, Vectors
from proofs_check.simulators.paths import Levels
from proofs_check.simulators.pieces import Floats
from proofs_check.simulators.slot_ages import AGE_NAMES, SlotAges
from proofs_check.simulators.table import Table, is_number
from proofs_check.simulators.values import HALF_WIDTH, VALUE, WEIGHTS, Values

TIME = ("t", "time", "clock", "vectime")
IN_SYSTEM = ("level", "value", "number", "n", "system", "num_total", "in_system", "queue_length", "vecvalue")
WAITING = ("queue_len", "requesters_length", "num_queued", "waiting", "queue")
IN_SERVICE = ("busy", "claimers_length", "in_service", "server")
ARRIVE = ("t_arrive", "t_gen", "arrival", "arrival_time", "arrive", "gen", "generated", "start_time")
START = ("t_start", "start", "service_start", "service_start_time")
SERVER = ("server", "server_id", "q_id")
HOW_OFTEN = ("count", "frequency", "occurrences")
HOW_LONG = ("total_time", "total_duration", "time_spent")
FOUND = ("num_total", "in_system", "number_in_system", "found")
AGE_MEANS = ("MeanAoI", "MeanPeakAoI")
FEW_JOBS = 5_000  # below, jobs that the end of a run cut off may matter
END = ("t_depart", "t_end", "departure", "depart", "departure_time", "delivery", "end_time")


@dataclass(frozen=True)
class Preset:
    """A reader of one simulator's output: the columns that show it, and how they become a canonical shape."""

    name: str
    about: str
    fits: Callable[[list[str]], bool]
    read: Callable[[Any, Observed], Any]


def read(data: Any, seen: Observed, *, preset: str | None = None, names: Mapping[str, str] | None = None) -> Any:
    """Return the canonical shape of a simulator's output: a file, or data in memory.

    Parameters
    ----------
    data
        Path of a CSV, TSV, JSON, JSONL or Parquet file; or a DataFrame, an array, a list of records, a dictionary of
        columns.
    seen
        What the model says about the system that was observed.
    preset
        Name of one of ``PRESETS``; None: the first whose columns are there.
    names
        The user's name of each canonical column, where it is another.
    """
    return shaped(renamed(opened(data), names) if names else opened(data), seen, preset)


def shaped(table: Any, seen: Observed, preset: str | None) -> Any:
    """Return the canonical shape of a table."""
    if seen.slots:
        if preset not in (None, "slot-ages", "histogram"):
            raise InputError(f"--format {preset}: a model of slot ages reads slot-ages and histogram")
        counted = _first(table.columns, AGE_NAMES) and _first(table.columns, HOW_OFTEN)
        return _histogram(table, seen) if counted or preset == "histogram" else SlotAges(table, seen.sampling)
    chosen = _named(preset, table) if preset else next((p for p in PRESETS if p.fits(table.columns)), None)
    if chosen is None:
        raise InputError(
            f"{table.path}: columns {', '.join(table.columns)[:200]} fit none of the formats "
            f"{', '.join(p.name for p in PRESETS)}; rename columns "
            f"(job trace: t_arrive, t_start, t_end; levels: t, level){_hint(table)}"
        )
    return chosen.read(table, seen)


def _hint(table: Any) -> str:
    """Return what columns of no format may come from."""
    columns = table.columns
    if getattr(table, "commented", False):
        return "; the first line is a comment and is read as the header: remove it"
    if len(columns) == 1 and len(re.split(r"[\s|:]+", columns[0])) > 1:
        return "; columns are separated by comma, semicolon or tab"
    return "; is the header line missing?" if all(map(is_number, columns)) else "; the first line is read as the header"


def opened(data: Any) -> Any:
    """Return a table of a file or of data in memory."""
    if isinstance(data, str | Path):
        path = Path(data)
        if str(path) != "-" and (path.is_dir() or not path.exists()):
            raise InputError(
                f"{path}: {'this is a directory' if path.is_dir() else 'No such file'}; a file of data is read"
            )
        if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
            return table_of(_rows(read_json(path), path), str(path))
        if path.suffix.lower() in (".parquet", ".pq"):
            return read_parquet(path)
        return Table(path)
    return table_of(data)


def renamed(table: Any, names: Mapping[str, str]) -> Any:
    """Return a table whose columns carry canonical names: ``names`` maps canonical to the user's name."""
    for name in names.values():
        if name not in table.columns:
            raise InputError(f"{table.path}: no column {name[:60]!r}; there are {', '.join(table.columns)[:200]}")
    if len(set(names.values())) < len(names):
        raise InputError("--columns: one column stands for two names; map each once")
    table.rename({own: canonical for canonical, own in names.items()})
    return table


def read_names(path: Path) -> dict[str, str]:
    """Read a TOML file of lines ``canonical = "name in the data"``."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no readable TOML: {str(error)[:150]}") from None
    bad = next((key for key, value in found.items() if not isinstance(value, str)), None)
    if bad is not None or not found:
        raise InputError(f'{path}: write lines such as t_arrive = "my arrival"; {bad or "nothing"} is no such line')
    return found


def _rows(found: Any, path: Path) -> Any:
    """Return rows of what JSON held; a dictionary of equal lists of three is that of the aoi-simulator."""
    if isinstance(found, dict) and found and all(isinstance(x, list) and len(x) == 3 for x in found.values()):
        return {name: [row[i] for row in found.values()] for i, name in enumerate(("gen", "service_start", "delivery"))}
    if isinstance(found, dict) and found and set(found) <= {"mean", "peak"}:
        parts = [part for part in found.values() if isinstance(part, dict)]
        results = [one for part in parts for one in part.items() if isinstance(one[1], dict)]
        if results:  # of the aoi-simulator, by sources
            sources = dict.fromkeys(source for source, _ in results)
            return [{k: x for name, one in results if name == source for k, x in one.items()} for source in sources]
    listed = isinstance(found, dict) and all(isinstance(x, list) for x in found.values())
    if not listed and not isinstance(found, list):
        raise InputError(f"{path}: this JSON holds no rows: a list of records, or one list a column, is read")
    return found


def _columns(table: Any, *wanted: str | None) -> tuple[int, list[Floats | None]]:
    names = [name for name in wanted if name is not None]
    parts = list(table.blocks(names))
    if not parts:
        raise InputError(f"{table.path}: a header and no data")
    rows = np.concatenate([rows for _, rows in parts])
    found = iter(rows.T)
    return parts[0][0], [None if name is None else np.ascontiguousarray(next(found)) for name in wanted]


def _first(columns: list[str], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in columns), None)


def _ciw(table: Any, seen: Observed) -> Jobs:
    """One row a finished visit; a node that takes no time at all is a dispatcher, whose visits are no jobs."""
    line, (node, arrive, start, leave) = _columns(table, "node", "arrival_date", "service_start_date", "exit_date")
    assert node is not None and arrive is not None and start is not None and leave is not None
    notes, keep = [], np.ones(len(node), dtype=bool)
    nodes = np.unique(node[np.isfinite(node)])
    for number in nodes if len(nodes) > 1 else ():
        here = node == number
        if np.all(leave[here] == arrive[here]):
            keep &= ~here
            notes.append(
                f"node {number:.0f} takes no time: a dispatcher, whose {int(here.sum())} visits would "
                "count jobs twice; left out"
            )
    if len(nodes) > 1:
        notes.append(
            "Ciw's JoinShortestQueue compares waiting customers only and ignores those in service, unlike the textbook "
            "rule, which counts both"
        )
    if np.all(np.isfinite(leave[keep])):
        notes.append("Ciw lists finished visits only; unfinished jobs are missing (include_incomplete=True)")
    if len(nodes) == 1:
        notes += _counted(table, arrive, leave, ("queue_size_at_arrival",))
    order = np.flatnonzero(keep)[np.argsort(arrive[keep], kind="stable")]
    numbered = np.unique(node[order], return_inverse=True)[1] if len(nodes) > 1 else None
    return Jobs(str(table.path), arrive[order], leave[order], start[order], numbered, line, notes, seen.servers)


def _jobs(table: Any, seen: Observed) -> Jobs | job_stream.JobStream:
    start = _first(table.columns, START)
    names = (_first(table.columns, ARRIVE), start, _first(table.columns, END), _first(table.columns, SERVER))
    if names[0] and names[2] and isinstance(table, Table) and table.place.stat().st_size >= job_stream.LARGE:
        return job_stream.JobStream(table, (names[0], start, names[2]))
    line, (arrive, begin, end, server) = _columns(table, *names)
    assert arrive is not None and end is not None
    end, notes = _without_sentinels(arrive, end)
    if begin is not None:
        begin = np.where((begin == 0) & (arrive > 0), np.nan, begin)
    notes += _counted(table, arrive, end, FOUND)
    if len(end) < FEW_JOBS and np.isfinite(end).all() and "replication" not in table.columns:
        notes.append("all listed jobs have left: a run stopped at a time lacks its unfinished jobs, most of them long")
    return Jobs(str(table.path), arrive, end, begin, server, line, notes, seen.servers)


def _queueing_tool(table: Any, seen: Observed) -> Jobs:
    """Departure 0 marks a job that has not left; several queues follow one another."""
    line, (arrive, begin, end) = _columns(table, "arrival", "service", "departure")
    assert arrive is not None and begin is not None and end is not None
    end, notes = _without_sentinels(arrive, end)
    begin = np.where((begin == 0) & (arrive > 0), np.nan, begin)
    notes += _counted(table, arrive, end, FOUND)
    order = np.argsort(arrive, kind="stable")
    return Jobs(str(table.path), arrive[order], end[order], begin[order], None, line, notes, seen.servers)


def _aoi_simulator(table: Any, seen: Observed) -> Jobs | AgeMeans:
    if "gen" not in table.columns:
        return AgeMeans(table)
    line, (arrive, begin, end) = _columns(table, "gen", "service_start", "delivery")
    assert arrive is not None and begin is not None and end is not None
    end, notes = _without_sentinels(arrive, end)
    begin = np.where((begin == 0) & (arrive > 0), np.nan, begin)
    if notes:
        notes.append("the aoi-simulator counts updates that were not delivered (delivery 0) as preempted")
    order = np.argsort(arrive, kind="stable")
    return Jobs(str(table.path), arrive[order], end[order], begin[order], None, line, notes, seen.servers)


def _simmer(table: Any, seen: Observed) -> Jobs:
    """Waiting is what is left of the stay beside the activity; rows of ongoing arrivals have no end."""
    line, (arrive, end, activity) = _columns(table, "start_time", "end_time", "activity_time")
    assert arrive is not None and end is not None and activity is not None
    order = np.argsort(arrive, kind="stable")
    return Jobs(str(table.path), arrive[order], end[order], (end - activity)[order], None, line, [], seen.servers)


def _counted(table: Any, arrive: Floats, end: Floats, names: tuple[str, ...]) -> list[str]:
    """Return notes on a column of numbers in the system that jobs found, where there is one."""
    name = _first(table.columns, names)
    if name is None:
        return []
    _, (found,) = _columns(table, name)
    assert found is not None
    return list(count_notes(arrive, end, found, name))


def _without_sentinels(arrive: Floats, end: Floats) -> tuple[Floats, list[str]]:
    marks = (end <= 0) & (arrive > 0)
    if not marks.any():
        return end, []
    clean = np.where(marks, np.nan, end)
    if not np.isfinite(clean).any():
        return clean, ["departure 0 or below marks jobs that had not left, and all jobs are marked"]
    naive, right = float(np.mean(end - arrive)), float(np.nanmean(clean - arrive))
    return clean, [
        f"departure 0 or below marks jobs that had not left ({int(marks.sum())}), and is no time; read as it stands "
        f"it would give a mean response of {naive:.4g} instead of {right:.4g}"
    ]


def _levels(table: Any, seen: Observed) -> Levels:
    """Levels over time: waiting and in service are added when both are there."""
    time = _first(table.columns, TIME)
    system, waiting = _first(table.columns, IN_SYSTEM), _first(table.columns, WAITING)
    serving = _first(table.columns, IN_SERVICE)
    columns = [system] if system else [waiting] if serving is None else [waiting, serving]
    assert time is not None
    _, rows = next(iter(table.blocks([time])), (0, np.empty((0, 1))))
    steps = np.diff(rows[:, 0])
    polled = len(steps) > 1 and bool(np.allclose(steps, steps[0], rtol=1e-9, atol=1e-12)) and steps[0] > 0
    return Levels(
        table,
        [time, *(name for name in columns if name)],
        path=not polled,
        waiting=system is None and serving is None,
        seen=seen,
    )


def _values(table: Any, seen: Observed) -> Values:
    return Values(table, _first(table.columns, WEIGHTS))


def _summary(table: Any, seen: Observed) -> Summary:
    return Summary(table, "mean", _first(table.columns, HALF_WIDTH))


def _histogram(table: Any, seen: Observed) -> Histogram:
    value = _first(table.columns, AGE_NAMES if seen.slots else IN_SYSTEM + VALUE)
    weight = _first(table.columns, HOW_OFTEN + HOW_LONG)
    if value is None or weight is None:
        raise InputError(f"{table.path}: a histogram has columns value and count (or total_time)")
    return Histogram(table, (value, weight), seen, timed=weight in HOW_LONG)


def _line(table: Any, seen: Observed) -> StationTable:
    return StationTable(table, seen, analytic=True)


def _jmt(table: Any, seen: Observed) -> StationTable:
    return StationTable(table, seen, analytic=False)


def _has(*names: str) -> Callable[[list[str]], bool]:
    return lambda columns: set(names) <= set(columns)


def _any_of(*groups: tuple[str, ...]) -> Callable[[list[str]], bool]:
    return lambda columns: all(_first(columns, group) for group in groups)


STATIONS = _has("Station", "JobClass", "QLen", "RespT", "Tput")

PRESETS = (
    Preset("omnetpp", "OMNeT++ vectors in CSV-R", _has(*COLUMNS), Vectors),
    Preset("jmt", "JMT or LINE table of stations, simulated", STATIONS, _jmt),
    Preset("line", "LINE table of stations, computed", STATIONS, _line),
    Preset("ciw", "Ciw get_all_records()", _has("node", "arrival_date", "service_start_date", "exit_date"), _ciw),
    Preset("queueing-tool", "queueing-tool get_queue_data()", _has("arrival", "service", "departure"), _queueing_tool),
    Preset(
        "aoi-simulator",
        "aoi-simulator JSON of deliveries or of results",
        lambda columns: {"gen", "service_start", "delivery"} <= set(columns) or bool(_first(columns, AGE_MEANS)),
        _aoi_simulator,
    ),
    Preset("simmer", "simmer get_mon_arrivals()", _has("start_time", "end_time", "activity_time"), _simmer),
    Preset("simpy-jobs", "job trace: t_arrive, t_start, t_depart", _any_of(ARRIVE, END), _jobs),
    Preset(
        "histogram",
        "value, and count or total_time",
        lambda columns: _any_of(IN_SYSTEM + VALUE, HOW_OFTEN + HOW_LONG)(columns) and not _first(columns, TIME),
        _histogram,
    ),
    Preset("salabim", "level over time: t, level", _any_of(TIME, IN_SYSTEM + WAITING), _levels),
    Preset("values", "values whose mean is the quantity: value, and optionally weight", _any_of(VALUE), _values),
    Preset("summary", "a reported mean: mean, and optionally half_width", _has("mean"), _summary),
)
NAMES = (*(p.name for p in PRESETS), "slot-ages")


def _named(name: str, table: Any) -> Preset:
    found = next((p for p in PRESETS if p.name == name), None)
    if found is None:
        raise InputError(f"--format {name[:40]!r}: allowed are {', '.join(NAMES)}")
    if not found.fits(table.columns):
        raise InputError(
            f"{table.path}: the columns {', '.join(table.columns)[:200]} are not those of {name} ({found.about})"
        )
    return found


def looks_like_ages(columns: list[str]) -> bool:
    """Return whether a table holds slot ages."""
    return _first(columns, AGE_NAMES) is not None
