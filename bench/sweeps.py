"""Throughput of sweeps on one and two processes and on a Dask cluster, and twenty kills of the command itself.

    python -m bench.sweeps [--points 10000] [--dask] [--kills 20] [--levels 2000]

Noisy power of d over load, error probability, gap and d, to 15 certified digits.  Exports of all runs are compared.
"""

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from exactchains.solvers.streamed import certified_by_levels
from proofs_check.store import Store, StoreError, export
from proofs_check.sweeps import from_text, sweep
from proofs_check.sweeps.engine import dask, local

SPEC = """
model = "pod.load-dependent"
quantities = ["mean_queue"]
digits = 15
[grid]
d = [2, 3, 4, 5]
g = [1, 2, 3, 4, 5]
eps = "1/100..39/100 step 2/100"
lam = "1/50..49/50 count {loads}"
"""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--points", type=int, default=2000, help="a multiple of 400, at least 800")
    words.add_argument("--dask", action="store_true", help="also on a Dask cluster of this machine")
    words.add_argument("--kills", type=int, default=0, help="kill the command so many times")
    words.add_argument("--levels", type=int, default=0, help="certify a law of so many levels, at most 500")
    options = words.parse_args()
    if options.points < 800 or options.points % 400:
        words.error("--points: a multiple of 400 is needed, at least 800")
    text = SPEC.format(loads=options.points // 400)
    with tempfile.TemporaryDirectory() as folder:
        if options.levels:
            levels(options.levels)
        throughput(text, Path(folder), with_dask=options.dask)
        if options.kills:
            kills(text, Path(folder), options.kills)


def throughput(text: str, folder: Path, *, with_dask: bool) -> None:
    spec, base = from_text(text), 0.0
    engines = {"1 process": lambda: local(1), "2 processes": lambda: local(2)}
    if with_dask:
        engines["Dask, 2"] = lambda: dask(None, spec.limits)
    print(f"{'engine':12} {'answers':>8} {'s':>7} {'a second':>9} {'ratio':>6} {'own CPU s':>9}  export")
    for name, engine in engines.items():
        with Store(folder / f"{name}.sqlite", write=True) as store:
            with engine() as chosen:
                warm = from_text(text.replace("/100..39/100", "/100..3/100").replace("[2, 3, 4, 5]", "[2]"))
                with Store(folder / f"warm {name}.sqlite", write=True) as other:
                    sweep(warm, other, executor=chosen)  # workers have started
                start, own = time.perf_counter(), _cpu()
                done = sweep(spec, store, executor=chosen)
                seconds, own = time.perf_counter() - start, _cpu() - own
            digest = hashlib.sha256(export(store.rows(), folder / "a.json").read_bytes()).hexdigest()[:12]
        base = base or seconds
        rate = done.computed / seconds
        line = f"{name:12} {done.asked:8} {seconds:7.1f} {rate:9.1f} {base / seconds:6.2f} {own:9.2f}"
        print(f"{line}  {digest}", flush=True)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kills(text: str, folder: Path, count: int) -> None:
    """Kill the command at random moments after its workers have started; then let it end and compare the exports."""
    (folder / "study.toml").write_text(text)
    store = folder / "killed.sqlite"
    command = [
        sys.executable,
        "-m",
        "proofs_check.cli.main",
        "sweep",
        str(folder / "study.toml"),
        "--store",
        str(store),
    ]
    chance, had, done = random.Random(7), 0, 0
    for _ in range(count):
        running = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
        target = had + chance.randrange(1, 60)
        while running.poll() is None and (had := _rows(store)) < target:
            time.sleep(chance.uniform(0.01, 0.1))
        if running.poll() is not None:
            break  # it ended before it could be killed
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        done += 1
    subprocess.run([*command, "--quiet", "--export", str(folder / "killed.json")], check=True)
    digest = hashlib.sha256((folder / "killed.json").read_bytes()).hexdigest()[:12]
    print(f"{done} kills, {had} answers kept at the last one; export {digest}")


def _rows(path: Path) -> int:
    try:
        with Store(path) as store:
            return len(store.statuses())
    except StoreError:
        return 0


class Tandem:
    """Three stations in a row, arrivals 1, services 4, blocked at ``levels - 1`` jobs; the law is 4^-level.

    State (a, b) of a level, with the other jobs at the third station, has number a (level + 1) - a (a - 1)/2 + b.
    """

    def __init__(self, levels: int) -> None:
        self.levels = levels

    def size(self, level: int) -> int:
        return (level + 1) * (level + 2) // 2

    def jobs(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        a = np.repeat(np.arange(level + 1), np.arange(level + 1, 0, -1))
        return a, np.arange(self.size(level)) - self.number(level, a, 0)

    def number(self, level: int, a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
        return a * (level + 1) - a * (a - 1) // 2 + b

    def out(self, level: int) -> tuple[np.ndarray, ...]:
        a, b = self.jobs(level)
        here = np.arange(len(a))
        moves = [(a > 0, 0, -1, 1, 4), (b > 0, 0, 0, -1, 4), (a + b < level, -1, 0, 0, 4)]
        if level < self.levels - 1:
            moves.append((a >= 0, 1, 1, 0, 1))
        parts = []
        for possible, step, da, db, rate in moves:
            target = self.number(level + step, a[possible] + da, b[possible] + db)
            parts.append((here[possible], np.full_like(target, step), target, np.full_like(target, rate)))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def law(self, level: int) -> np.ndarray:
        return np.full(self.size(level), 4.0**-level)

    def vector(self, level: int) -> np.ndarray:
        """The law times a function that drifts down in the reversed chain, whose jobs enter at the last station."""
        a, b = self.jobs(level)
        return self.law(level) * (level - 2 * a / 3 - b / 3)


def levels(count: int) -> None:
    """Certify the law of a tandem queue level by level: states, seconds, memory."""
    chain = Tandem(count)
    start = time.perf_counter()
    found = certified_by_levels(chain, candidate=chain.law, vector=chain.vector)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{found.states} states, {found.transitions} transitions, {seconds:.1f} s, {memory} MB, error {found.error:.1e}"
    )


if __name__ == "__main__":
    main()
