"""Starts one sweep again and again and kills it (SIGKILL) at seeded random moments; then lets it end.

    python -m tests.proofs_check.kill_driver SPEC STORE LOG KILLS SEED

Each run is a fork of this process, so that it needs no time to start.  Every answer that is computed is noted in LOG
before it can be stored: ``run key``.  The moment is a number of notes and some milliseconds, so that slow machines see
the same.  Prints the number of stored rows before each run.
"""

import os
import random
import signal
import sys
import time
from concurrent.futures import Executor, Future
from pathlib import Path

from proofs_check.catalogue import models
from proofs_check.store import Question, Store
from proofs_check.sweeps import read_spec, sweep
from proofs_check.sweeps.engine import performed

LINE = 68  # bytes of a note


class Noted(Executor):
    """Computes at once, in this process, and notes what it computes."""

    _max_workers = 1

    def __init__(self, log: int, run: int) -> None:
        self.log, self.run = log, run

    def submit(self, fn, /, *args, **kwargs):
        assert fn is performed
        (task,) = args
        future: Future = Future()
        future.set_result(fn(task))
        for item in task["items"]:
            for quantity, index in item["asks"]:
                key = Question(item["model"], item["parameters"], quantity, index, item["digits"]).key
                os.write(self.log, f"{self.run} {key}\n".encode())
        return future


def main(spec: str, store: str, log: str, kills: int, seed: int) -> None:
    asked, chance = read_spec(spec), random.Random(seed)
    models()
    note = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for run in range(kills + 1):
        print(rows(store), flush=True)
        child = os.fork()
        if not child:
            with Store(store, write=True) as held:
                sweep(asked, held, executor=Noted(note, run))
            os._exit(0)
        if run < kills:
            enough = Path(log).stat().st_size + LINE * chance.randrange(30)
            while Path(log).stat().st_size < enough:
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, 0.01))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert status == (signal.SIGKILL if run < kills else 0), f"run {run} ended with {status}; give it more to do"


def rows(store: str) -> int:
    """Return the number of rows, every one checked."""
    if not Path(store).exists():
        return 0
    with Store(store) as held:
        return sum(1 for _ in held.rows())


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))
