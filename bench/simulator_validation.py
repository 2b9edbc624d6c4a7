"""How honest the validator is: false alarms, coverage, power and diagnoses, over many seeded runs.

Run ``python -m bench.simulator_validation [SEEDS] [PART..]``, parts of right, coverage and faults; prints one line a
case and asserts nothing.
"""

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from aoi_tools import Actual, Delayed, Feedback, Generalised, Periodic, Schedule, slot_ages
from meanfield.models.idle import JIQ
from meanfield.models.noisy import PowerOfD
from meanfield.models.shortest import JSQ, SpeedAwareJSQ
from proofs_check.catalogue import find
from proofs_check.simulators import replications
from proofs_check.simulators.balancing_suspects import RandomError
from proofs_check.simulators.diagnosis import diagnose
from proofs_check.simulators.knowledge import knowledge
from proofs_check.simulators.pieces import Pieces
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.server_runs import server_trace
from proofs_check.simulators.statistics import Estimate, estimate
from proofs_check.simulators.verdict import Judgement, Margin, Verdict, judge

MOST = 1_000_000
MARGIN = Margin.read("5%")
HALF = {"lam": "1/2", "mu": "1"}
PD = {"p": "1/2", "d": "1/10"}
PAIR = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}
UNEVEN = {"pools": "1/3:2,2/3:1/2", "n": "3", "lam": "1/2"}
STEEP = {"pools": "1/3:5/2,2/3:1/4", "n": "3", "lam": "1/2"}
TWO = {"d": "2", "g": "1", "eps": "1/2", "lam": "7/10", "n": "2"}
STAR = {"p": "1/2", "d": "1/4", "q": "3"}
FULL = {"pools": "1/3:2,2/3:1/2", "n": "3", "lam": "7/10", "buffer": "6"}
WIDE = {"d": "2", "g": "8", "eps": "1/2", "lam": "1/2", "n": "2"}
NOISY = {"d": "2", "g": "1", "eps": "1/2", "lam": "7/10", "n": "3"}
Data = Callable[[int, int], dict[str, Any]]  # (size, seed) -> columns


class Case:
    """A quantity of a model, with the exact side solved once."""

    def __init__(self, model: str, words: dict[str, str], quantity: str) -> None:
        subject = find(model)
        values = subject.read(words)
        thing = subject.build(values)
        self.known, self.quantity = knowledge(subject, values, thing), quantity
        self.exact = subject.results(thing, [quantity], [1], self.known.digits)[0]
        self.suspects = list(self.known.suspects(quantity, self.exact.index))

    def judged(self, data: dict[str, Any], margin: Margin = MARGIN) -> tuple[Judgement, Estimate]:
        read = replications.read(data, self.known.observed)
        if isinstance(read, replications.Replications):
            found = read.estimate(self.quantity, self.exact.index, 0.0)
            return judge(self.exact, found, margin=margin), found
        pieces, statistic = read.pieces(self.quantity, self.exact.index)
        constant = self.known.variance_constant(self.quantity, self.exact.index, type(read).__name__)
        found = estimate(pieces.array(), statistic, variance_constant=constant)
        return judge(self.exact, found, margin=margin, variance_constant=constant), found

    def meet(self, data: dict[str, Any]) -> None:
        """Add what only replications of that length could be."""
        read = replications.read(data, self.known.observed)
        if isinstance(read, replications.Replications):
            length = read.length(self.quantity)
            self.suspects = [*self.known.empty_start(self.quantity, self.exact.index, length), *self.suspects]

    def effect(self, fault: str) -> float:
        """Return the relative effect of a fault on the exact value."""
        value = next(s.value for s in self.suspects if fault in s.fault)
        return float(value.lower) / float(self.exact.lower) - 1

    def named(self, found: Estimate) -> list[str]:
        return [s.fault for s in diagnose(found, self.exact.enclosure, self.suspects).matches]


def jobs(model: str, words: dict[str, str]) -> Data:
    values = find(model).read(words)

    def make(size: int, seed: int) -> dict[str, Any]:
        header, rows = job_trace(model, values, jobs=size, seed=seed)
        return dict(zip(header, rows.T, strict=True))

    return make


def servers(policy: Any, n: int, buffer: int | None = None) -> Data:
    def make(size: int, seed: int) -> dict[str, Any]:
        header, rows = server_trace(policy, n, jobs=size, seed=seed, buffer=buffer)
        return dict(zip(header, rows.T, strict=True))

    return make


def ages(scheme: Any, shift: int = 0) -> Data:
    return lambda size, seed: {"age": slot_ages(scheme, slots=size, seed=seed) + shift}


def values(of: Callable[[dict[str, Any]], Any], source: Data) -> Data:
    return lambda size, seed: {"value": of(source(size, seed))}


def levels(data: dict[str, Any]) -> Any:
    """Return the number in the system after every event, as a list of events has it."""
    times = np.concatenate([data["t_arrive"], data["t_end"]])
    steps = np.repeat([1, -1], len(data["t_arrive"]))
    return np.cumsum(steps[np.argsort(times, kind="stable")])[: len(data["t_arrive"])]


def polled(data: dict[str, Any]) -> Any:
    """Return the number in the system at whole times."""
    at = np.arange(data["t_arrive"][0], data["t_arrive"][-1])
    came, left = (np.searchsorted(np.sort(data[name]), at, side="right") for name in ("t_arrive", "t_end"))
    return (came - left).astype(float)


def peaks(data: dict[str, Any]) -> Any:
    return data["t_end"][1:] - data["t_arrive"][:-1]


def midpoints(data: dict[str, Any]) -> Any:
    return (peaks(data) + data["t_end"][:-1] - data["t_arrive"][:-1]) / 2


RIGHT: list[tuple[str, dict[str, str], str, Data]] = [
    ("mm1", HALF, "mean_queue", jobs("mm1", HALF)),
    ("mm1", {"lam": "4/5", "mu": "1"}, "mean_wait", jobs("mm1", {"lam": "4/5", "mu": "1"})),
    ("mm1", HALF, "age_mean", jobs("mm1", HALF)),
    ("md1", HALF, "mean_response", jobs("md1", HALF)),
    ("dm1", HALF, "peak_mean", jobs("dm1", HALF)),
    ("mmc", {"lam": "2", "mu": "1", "c": "3"}, "mean_queue", jobs("mmc", {"lam": "2", "mu": "1", "c": "3"})),
    ("mm1k", {"lam": "1", "mu": "1", "k": "4"}, "mean_queue", jobs("mm1k", {"lam": "1", "mu": "1", "k": "4"})),
    ("lcfs", HALF, "age_mean", jobs("lcfs", HALF)),
    ("mm1-ps", HALF, "mean_response", jobs("mm1-ps", HALF)),
    ("age.feedback", PD, "slot_mean", ages(Feedback("1/2", "1/10"))),
    ("age.actual", {"p": "1/2"}, "slot_variance", ages(Actual("1/2"))),
    ("age.periodic", PD | {"q": "3"}, "slot_mean", ages(Periodic("1/2", "1/10", 3))),
    ("age.generalised", PD | {"alpha": "1/3"}, "failure", ages(Generalised("1/2", "1/10", "1/3"))),
    ("jsq", PAIR, "mean_queue", servers(JSQ(PAIR["pools"], "1/2"), 2)),
    ("pod.load-dependent", NOISY, "tail", servers(PowerOfD("7/10", 2, 1, "1/2"), 3)),
]


def own_start(size: int, seed: int) -> dict[str, Any]:
    data = jobs("mm1", HALF)(size, seed)
    return data | {"t_arrive": data["t_start"]}


def stays(data: dict[str, Any]) -> Any:
    return data["t_end"] - data["t_arrive"]


def delays(data: dict[str, Any]) -> Any:
    waits = data["t_start"] - data["t_arrive"]
    return waits[waits > 0]


def repeated(length: int, source: Data) -> Data:
    """Return replications of ``length`` jobs that start empty, ``size`` jobs in all."""

    def make(size: int, seed: int) -> dict[str, Any]:
        runs = [source(length, 1_000_000 * (seed + 1) + k) for k in range(size // length)]
        numbers = np.repeat(np.arange(len(runs)), [len(next(iter(run.values()))) for run in runs])
        return {name: np.concatenate([run[name] for run in runs]) for name in runs[0]} | {"replication": numbers}

    return make


BUSY = {"lam": "4/5", "mu": "1"}
THREE = {"lam": "2", "mu": "1", "c": "3"}
PLAIN, SHORTEST = jobs("mm1", HALF), servers(JSQ(PAIR["pools"], "1/2"), 2)
FAULTS: list[tuple[str, str, dict[str, str], str, Data]] = [
    ("peak age", "mm1", HALF, "age_mean", values(peaks, PLAIN)),
    ("system time", "mm1", HALF, "age_mean", values(stays, PLAIN)),
    ("start of service", "mm1", HALF, "age_mean", own_start),
    ("mid-points", "mm1", HALF, "age_mean", values(midpoints, PLAIN)),
    ("event-weighted", "mm1", HALF, "mean_queue", values(levels, PLAIN)),
    ("had to wait", "mm1", HALF, "mean_wait", values(delays, PLAIN)),
    ("time in service is counted", "mm1", HALF, "mean_wait", values(stays, PLAIN)),
    ("mean service time", "mm1", {"lam": "1/4", "mu": "2"}, "mean_queue", jobs("mm1", {"lam": "1/4", "mu": "1/2"})),
    ("separate queues", "mmc", THREE, "mean_response", jobs("mm1", {"lam": "2/3", "mu": "1"})),
    ("one slot late: it is 1", "age.feedback", PD, "slot_mean", ages(Feedback("1/2", "1/10"), 1)),
    ("feedback arrives one slot late", "age.feedback", PD, "slot_mean", ages(Delayed("1/2", "1/10", 1))),
    ("swapped", "age.feedback", PD, "slot_mean", ages(Feedback("1/10", "1/2"))),
    ("(star)", "age.periodic", STAR, "slot_mean", ages(Schedule.star("1/2", "1/4", 3))),
    ("waiting jobs only and ignores", "jsq", PAIR, "mean_queue", servers(JSQ(PAIR["pools"], "1/2", "waiting"), 2)),
    ("fastest pool", "jsq", UNEVEN, "mean_queue", servers(SpeedAwareJSQ(UNEVEN["pools"], "1/2"), 3)),
    ("fallback=speed", "jiq", FULL, "mean_queue", servers(JIQ(UNEVEN["pools"], "7/10", "speed"), 3, buffer=6)),
    ("swapped orientation", "jsq", STEEP, "mean_queue", servers(JSQ("2/3:10/7,1/3:1/7", "1/2"), 3)),
    ("replacement=yes", "pod.load-dependent", TWO, "mean_queue", servers(PowerOfD("7/10", 2, 1, "1/2", True), 2)),
    ("random sampled server", "pod.load-dependent", WIDE, "mean_queue", servers(RandomError("1/2", 2, 8, "1/2"), 2)),
    ("limit of many", "pod.load-dependent", NOISY, "mean_response", servers(PowerOfD("7/10", 2, 1, "1/2"), 150)),
    ("total over all servers", "jsq", PAIR, "mean_queue", values(polled, SHORTEST)),
    ("starts empty", "mm1", BUSY, "mean_queue", repeated(60, jobs("mm1", BUSY))),
    ("starts empty", "mm1", BUSY, "mean_response", repeated(60, jobs("mm1", BUSY))),
    ("starts empty", "mmc", THREE, "mean_queue", repeated(30, jobs("mmc", THREE))),
    ("starts empty", "jsq", PAIR, "mean_queue", repeated(15, SHORTEST)),
]  # fmt: skip


def false_alarms(seeds: int) -> Iterator[str]:
    wrong = total = 0
    for model, words, quantity, make in RIGHT:
        case, verdicts = Case(model, words, quantity), []
        for seed in range(seeds):
            verdicts.append(case.judged(make((2_000, 8_000, 30_000)[seed % 3], seed))[0].verdict)
        wrong, total = wrong + verdicts.count(Verdict.DISAGREES), total + seeds
        counts = ", ".join(f"{v.value} {verdicts.count(v)}" for v in Verdict)
        yield f"right: {model} {quantity}: {counts}"
    yield f"false alarms: {wrong} of {total}"


def coverage(seeds: int) -> Iterator[str]:
    """Return how often 95 % intervals of M/M/1 waits at load 0.8 from an empty start hold the exact mean, 4."""
    known = Case("mm1", {"lam": "4/5", "mu": "1"}, "mean_wait").known.variance_constant("mean_wait", None, "Jobs")
    table = [
        "| jobs | method | 95 %, model's variance | 95 %, own error | 99.9 %, model's variance | 99.9 %, own error |"
    ]
    table += ["|---|---|---|---|---|---|"]
    for size in (20_000, 50_000, 200_000):
        runs = min(seeds, 100_000_000 // size)
        for method in ("batch", "overlapping", "spectral"):
            near, far = [], []
            for constant in (known, None):
                low, high, alarms = misses(method, constant, size, runs)
                inside = 1 - (low + high) / runs
                near.append(f"{100 * inside:.1f} %")
                far.append(f"{100 * (1 - alarms / runs):.1f} %")
                side = math.sqrt(inside * (1 - inside) / runs)
                yield (
                    f"coverage: {size} jobs, {method}, {'with' if constant else 'without'} the model's variance: "
                    f"{inside:.4f} +- {2 * side:.4f} of {runs}; ends below {low / runs:.4f}, begins above "
                    f"{high / runs:.4f}; the 0.999 interval misses {alarms / runs:.4f}"
                )
            table.append(f"| {size} | {method} | " + " | ".join(near + far) + " |")
    yield from table


def misses(method: str, constant: float | None, size: int, runs: int) -> tuple[int, int, int]:
    """Return how many 95 % intervals end below 4, how many begin above, and how many 99.9 % intervals miss it."""
    low = high = alarms = 0
    for seed in range(runs):
        pieces = Pieces()
        pieces.add_values(waits(size, seed))
        found = estimate(pieces.array(), method=method, variance_constant=constant)
        (bottom, top), (least, most) = found.interval(0.95), found.interval(0.999)
        low, high, alarms = low + (top < 4), high + (bottom > 4), alarms + (not least <= 4 <= most)
    return low, high, alarms


def waits(size: int, seed: int) -> Any:
    """Return the waits of successive jobs by Lindley's recursion, all at once."""
    rng = np.random.default_rng(seed)
    net = np.cumsum(np.concatenate([[0.0], rng.exponential(1, size - 1) - rng.exponential(1.25, size - 1)]))
    return net - np.minimum.accumulate(net)


def power(seeds: int) -> Iterator[str]:
    """Judge every fault with a margin of at most a third of its effect, at the run length that a pilot run names."""
    for fault, model, words, quantity, make in FAULTS:
        case = Case(model, words, quantity)
        case.meet(make(20_000, 0))
        effect = case.effect(fault)
        largest = 1.0 if fault == "starts empty" else 0.05  # short runs are slow to make: judged as coarsely as will do
        margin = Margin.read(f"{min(largest, abs(effect) / 3):.4f}")
        needed = case.judged(make(20_000, 0), margin)[0].needed
        rate = case.known.observed.rate if "units" in unit(case, make) else None
        size = int(min(max(needed * (rate or 1.0), 5_000), MOST))
        disagreed = named = first = 0
        for seed in range(1, seeds + 1):
            verdict, estimated = case.judged(make(size, seed), margin)
            names = case.named(estimated)
            disagreed += verdict.verdict is Verdict.DISAGREES
            named += any(fault in name for name in names)
            first += bool(names) and fault in names[0]
        yield (
            f"fault: {fault} ({model} {quantity}, effect {effect:+.0%}, margin {margin}, {size} rows): "
            f"disagrees {disagreed / seeds:.0%}, named {named / seeds:.0%}, named first {first / seeds:.0%}"
        )


def unit(case: Case, make: Data) -> str:
    return replications.read(make(5_000, 0), case.known.observed).unit(case.quantity)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    parts = {"right": (false_alarms, 1), "coverage": (coverage, 50), "faults": (power, 1)}
    for name in sys.argv[2:] or parts:
        part, more = parts[name]
        for line in part(seeds * more):
            print(line, flush=True)


if __name__ == "__main__":
    main()
