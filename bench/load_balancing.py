"""Load balancing: fixed points, enclosures of n servers, rmftool and its port in LINE beside them in one run.

    python -m bench.load_balancing [--runs N] [--large] [--gaps] [--growth]

Processor seconds, one BLAS thread.  Ours is timed from the policy to certified digits; rmftool, where it can be
imported, from its model to a vector of doubles, judged by the closed form of the noiseless power of two.  ``--gaps``
simulates 50, 100 and 200 servers, a few minutes, and prints their distance from the limit and its corrections;
``--growth`` prints how the chain with a buffer grows with the servers, beside scipy on the same chain.
"""

import argparse
import importlib
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from bench.finite_chains import fixed_state, logarithms, splu  # noqa: E402
from exactchains import stationary  # noqa: E402
from meanfield import SED, PowerOfD, SpeedAwareJSQ, fixed_point, refinement  # noqa: E402
from meanfield.finite import exact_chain  # noqa: E402
from meanfield.solvers.enclosures import best_system  # noqa: E402
from proofs_check.check.document import check, loads  # noqa: E402

TWO, THREE = "1/2:3/2,1/2:1/2", "1/3:3/2,1/3:1,1/3:1/2"
NEAR = ("0.999999", "0.999999999")
POINTS = (
    (PowerOfD("9/10", 2, 2, "1/2"), 15),
    *((PowerOfD("999/1000", 2, 20, 1), digits) for digits in (50, 1000)),
    *((PowerOfD(load, d, 20, 1), digits) for d in (2, 3, 5, 10) for load in NEAR for digits in (50, 1000)),
    *((PowerOfD(load, d, None, eps), 30) for load, d, eps in (("999/2000", 2, 1), ("0.8325", 3, "2/5"))),
    *((PowerOfD("0.999999", d, None, eps), 30) for d, eps in ((2, "1/10"), (3, "1/5"))),
    (PowerOfD("9/10", 1000, 2, "1/2"), 50),
    (PowerOfD("9/10", 2, 10_000, "1/2"), 15),
    (PowerOfD("99/100", 2, 200, 1), 15),
)
NOISY = PowerOfD("9/10", 2, 1, "1/2")
PEERS = ("rmftool", "line_solver.lib.rmftool")
SYSTEMS = (
    (SpeedAwareJSQ(TWO, "1/2"), 2, 30),
    (SpeedAwareJSQ(TWO, "99/100"), 2, 9),
    (SpeedAwareJSQ(THREE, "3/5"), 3, 15),
    (SpeedAwareJSQ(TWO, "1/2"), 4, 10),
    (SED(TWO, "9/10"), 2, 11),
    (NOISY, 3, 13),
    (NOISY, 5, 8),
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--runs", type=int, default=3, help="median of so many runs")
    words.add_argument("--large", action="store_true", help="ten servers too, several minutes")
    words.add_argument("--gaps", action="store_true", help="simulate 50 to 200 servers instead")
    words.add_argument("--growth", action="store_true", help="two to ten servers with eight places, beside scipy")
    choice = words.parse_args()
    warnings.simplefilter("ignore")
    if choice.gaps:
        gaps(PowerOfD("7/10", 2, 1, 1), 400, 500)
        gaps(PowerOfD("9/10", 2, 2, "1/2"), 600, 500)
        return
    if choice.growth:
        by_servers(choice.runs)
        return
    points(choice.runs)
    peers(choice.runs)
    systems(choice.large)


def points(runs: int) -> None:
    print("| fixed point | digits | solve, s | certificate, kB | check, s |\n|---|---|---|---|---|")
    for policy, digits in POINTS:
        solve = median(runs, lambda p=policy, k=digits: fixed_point(p, digits=k))  # type: ignore[misc]
        written = json.dumps(fixed_point(policy, digits=digits).certificate())
        checked = median(1, lambda w=written: check(loads(w)))  # type: ignore[misc]
        print(f"| {named(policy)} | {digits} | {solve:.4f} | {len(written) / 1000:.1f} | {checked:.3f} |")


def peers(runs: int) -> None:
    """Print our time, and of each peer its time, its worst absolute error and its negative entries."""
    found = [tool for tool in map(_imported, PEERS) if tool is not None]
    if not found:
        print("neither rmftool nor line_solver can be imported here")
        return
    print("| tool | load | seconds | ours, 15 digits, s | ratio | its absolute error | its negative entries |")
    print("|---|---|---|---|---|---|---|")
    for load, levels in (("9/10", 15), ("99/100", 20), ("999/1000", 20)):
        ours = median(5 * runs, lambda x=load: fixed_point(PowerOfD(x), digits=15))  # type: ignore[misc]
        noisy = median(runs, lambda x=load: fixed_point(PowerOfD(x, 2, 1, 1), digits=15))  # type: ignore[misc]
        lam = quotient(load)
        exact = np.array([lam ** (2 ** (k + 1) - 1) for k in range(levels)])
        for name, tool in found:
            model, start = _model(tool, lam, levels), time.process_time()
            x = model.fixed_point()
            theirs = time.process_time() - start
            shown = f"| {name} | {load} | {theirs:.3f} | {ours:.5f} | {theirs / ours:.0f} |"
            print(f"{shown} {np.abs(x - exact).max():.1e} | {int((x < 0).sum())} |")
        print(f"| ours with errors, g 1, eps 1 | {load} | | {noisy:.5f} | | | |")


def by_servers(runs: int, places: int = 8) -> None:
    """Print, for chains with a buffer, states and times; the law certified to 12 digits beside scipy's ``splu``."""
    print("| n | states | chain from the rule, s | certified law, s | scipy, s | ratio | its worst relative error |")
    print("|---|---|---|---|---|---|---|")
    for n in (2, 3, 4, 5, 6, 8, 10):
        start = time.process_time()
        chain = exact_chain(NOISY, n=n, buffer=places).chain
        built = time.process_time() - start
        size, several = chain.size, runs if n < 8 else 1
        arrays = zip(*((i, j, float(rate)) for i, row in enumerate(chain.rows) for j, rate in row.items()), strict=True)
        sources, targets, rates = (np.array(x) for x in arrays)
        ours = median(several, partial(stationary, chain, digits=12))
        system, right = fixed_state((size, sources, targets, rates))
        theirs = median(several, partial(splu, system, right))
        logs = logarithms(stationary(chain, digits=15))
        off = np.abs(np.expm1(np.log(np.abs(splu(system, right))) - (logs[1:] - logs[0]))).max()
        shown = f"| {n} | {size} | {built:.2f} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} | {off:.0e} |"
        print(shown, flush=True)


def _imported(name: str) -> tuple[str, Any] | None:
    try:
        return name, importlib.import_module(name)
    except ImportError:
        return None


def gaps(policy: PowerOfD, time_units: int, copies: int) -> None:
    """Print simulated mean queues at n servers beside the limit and its corrections; both are estimates."""
    found = refinement(policy, order=2)
    limit, first = found.limit.sum(), found.correction.sum()
    print(f"{named(policy)}: limit {limit:.6f}, 1/n {first:.4f}, 1/n^2 {found.second.sum():.4f}")  # type: ignore[union-attr]
    print("| n | simulated - limit, 95 % | predicted, 1/n | and 1/n^2 |\n|---|---|---|---|")
    for n in (50, 100, 200):
        mean, half = simulated(policy, n, time_units, copies)
        both = found.mean_queue(n) - limit
        print(f"| {n} | {mean - limit:.5f} +- {half:.5f} | {first / n:.5f} | {both:.5f} |", flush=True)


def simulated(policy: PowerOfD, n: int, time_units: int, copies: int, seed: int = 1) -> tuple[float, float]:
    """Return the stationary mean queue of n servers and half of its 95 % interval, from independent copies at once.

    Every step is an arrival or a service at a random server; the busy share, of known mean, is a control variate.
    """
    rng, load, eps = np.random.default_rng(seed), float(policy.load), float(policy.eps)
    row, queue = np.arange(copies), np.zeros((copies, n), dtype=np.int32)
    jobs, busy = np.zeros(copies), np.zeros(copies)
    total, used = np.zeros(copies), np.zeros(copies)
    steps = int(time_units * n * (1 + load))
    for step in range(steps):
        arrives = rng.random(copies) < load / (1 + load)
        seen = np.stack([rng.integers(0, n - i, copies) for i in range(policy.d)], axis=1)
        for i in range(1, policy.d):  # without replacement: skip over those seen before, in ascending order
            for earlier in np.sort(seen[:, :i], axis=1).T:
                seen[:, i] += seen[:, i] >= earlier
        length = queue[row[:, None], seen]
        near = (policy.g is None) | (np.ptp(length, axis=1) <= (policy.g or 0))
        errs = near & (rng.random(copies) < eps)
        chosen = seen[row, np.where(errs, length.argmax(axis=1), length.argmin(axis=1))]
        at = np.where(arrives, chosen, rng.integers(0, n, copies))
        before = queue[row, at]
        change = np.where(arrives, 1, -np.minimum(before, 1))
        queue[row, at] = before + change
        jobs += change
        busy += (before + change > 0).astype(float) - (before > 0)
        if 4 * step >= steps:
            total, used = total + jobs, used + busy
    count = n * (steps - (steps + 3) // 4)
    x, control = total / count, used / count - load
    slope = np.cov(x, control)[0, 1] / control.var(ddof=1)
    corrected = x - slope * control
    return float(corrected.mean()), float(1.96 * corrected.std(ddof=1) / np.sqrt(copies))


def systems(large: bool) -> None:
    print(
        "| system | n | digits | width of the mean queue | shapes | levels | s | check, s |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    more: tuple[tuple[Any, int, int], ...] = ((NOISY, 10, 4),) if large else ()
    for policy, n, digits in (*SYSTEMS, *more):
        start = time.process_time()
        system = best_system(policy, n=n, digits=digits, most=500_000 if n > 5 else None)
        mean = system.enclosure("mean_queue")
        seconds = time.process_time() - start
        checked = (
            "" if n > 3 else f"{median(1, lambda s=system: check(loads(json.dumps(s.certificate('mean_queue'))))):.2f}"
        )  # type: ignore[misc]
        size = float((mean.upper - mean.lower).p) / int((mean.upper - mean.lower).q)
        shown = f"| {named(policy)} | {n} | {digits} | {size:.1e} | {len(system.found.shapes)} | {system.top + 1} "
        print(shown + f"| {seconds:.1f} | {checked} |", flush=True)


def _model(rmftool: Any, lam: float, levels: int) -> Any:
    model = rmftool.DDPP()
    for i in range(levels):
        step = np.eye(levels)[i]
        model.add_transition(step, lambda x, i=i: lam * ((1.0 if i == 0 else x[i - 1]) ** 2 - x[i] ** 2))
        model.add_transition(-step, lambda x, i=i: x[i] - (x[i + 1] if i + 1 < levels else 0.0))
    model.set_initial_state(np.zeros(levels))
    return model


def quotient(word: str) -> float:
    top, bottom = word.split("/")
    return int(top) / int(bottom)


def named(policy: Any) -> str:
    if isinstance(policy, PowerOfD):
        gap = "every gap" if policy.g is None else f"g {policy.g}"
        return f"power of {policy.d}, {gap}, eps {policy.eps}, load {policy.load}"
    return f"{type(policy).__name__} {policy.pools}, load {policy.load}"


def median(runs: int, job: Callable[[], object]) -> float:
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        job()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


if __name__ == "__main__":
    main()
