"""Measured times of the main jobs on this machine, as a table.  Asserts nothing; run by ``make bench``."""

import platform
import statistics
import time
from collections.abc import Callable

from aoi_tools import Code, Feedback, Periodic, age_quantity
from proofs_check.verify import verification, verify

RUNS = 3


def main() -> None:
    far = Code("rpc", n=10_000, m=7_000, k=1_000, eps="3/10")
    near = Code("rpc", n=100, m=70, k=10, eps="3/10")
    print(f"Python {platform.python_version()}, {platform.machine()}; median of {RUNS} runs")
    row("verify all claims", _verify)
    row("feedback, n = 100, 30 digits", lambda: mean(Feedback, near, 30))
    row("feedback, n = 100, 1000 digits", lambda: mean(Feedback, near, 1000))
    row("feedback, n = 10000, 30 digits", lambda: mean(Feedback, far, 30))
    row("periodic, q = 20, n = 100, 30 digits", lambda: mean(Periodic, near, 30, 20))


def _verify() -> None:
    verification.cache_clear()
    verify()


def mean(scheme: Callable[..., object], code: Code, digits: int, *more: int) -> object:
    return age_quantity(scheme(code.actual, code.differential, *more), "slot_mean", digits=digits)


def row(what: str, job: Callable[[], object]) -> None:
    seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    print(f"{what:<40} {statistics.median(seconds):9.4f} s")


if __name__ == "__main__":
    main()
