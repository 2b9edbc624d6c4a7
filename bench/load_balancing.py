"""Load balancing: fixed points, enclosures of n servers, and rmftool beside them in one run.

    python -m bench.load_balancing [--runs N] [--large]

Processor seconds, one BLAS thread.  Ours is timed from the policy to certified digits; rmftool, where it can be
imported, from its model to a vector of doubles, judged by the closed form of the noiseless power of two.
"""

import argparse
import importlib
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from meanfield import SED, PowerOfD, SpeedAwareJSQ, fixed_point  # noqa: E402
from meanfield.solvers.enclosures import best_system  # noqa: E402
from proofs_check.check.document import check, loads  # noqa: E402

TWO, THREE = "1/2:3/2,1/2:1/2", "1/3:3/2,1/3:1,1/3:1/2"
POINTS = (
    (PowerOfD("9/10", 2, 2, "1/2"), 15),
    (PowerOfD("999/1000", 2, 20, 1), 50),
    (PowerOfD("999/1000", 2, 20, 1), 1000),
    (PowerOfD("0.999999999", 10, 20, 1), 50),
    (PowerOfD("0.999999999", 10, 20, 1), 1000),
    (PowerOfD("0.8325", 3, None, "2/5"), 30),
    (PowerOfD("0.999999", 2, None, "1/10"), 30),
)
NOISY = PowerOfD("9/10", 2, 1, "1/2")
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
    choice = words.parse_args()
    warnings.simplefilter("ignore")
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
    """Print our time, that of rmftool, its worst absolute error and its negative entries."""
    try:
        rmftool = importlib.import_module("rmftool")
    except ImportError:
        print("rmftool cannot be imported here")
        return
    print("| load | ours, 15 digits, s | rmftool, s | its absolute error | negative entries |")
    print("|---|---|---|---|---|")
    for load, levels in (("9/10", 15), ("99/100", 20), ("999/1000", 20)):
        ours = median(runs, lambda x=load: fixed_point(PowerOfD(x), digits=15))  # type: ignore[misc]
        lam = quotient(load)
        model = _model(rmftool, lam, levels)
        start = time.process_time()
        x = model.fixed_point()
        theirs = time.process_time() - start
        exact = np.array([lam ** (2 ** (k + 1) - 1) for k in range(levels)])
        print(f"| {load} | {ours:.5f} | {theirs:.2f} | {np.abs(x - exact).max():.1e} | {int((x < 0).sum())} |")


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
