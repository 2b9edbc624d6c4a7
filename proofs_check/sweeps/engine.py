"""What computes: processes of this machine, a Dask cluster, or any ``concurrent.futures.Executor``."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from exactchains.truth import InputError
from proofs_check.store.question import METHODS
from proofs_check.sweeps.guard import Guard, enlist, guarded
from proofs_check.sweeps.spec import Limits
from proofs_check.sweeps.work import answers


@dataclass(frozen=True)
class Engine:
    """An executor, the number of its workers, and whether each point gets a guarded process of its own.

    Threads are always guarded: the precision of flint is one for a whole process.
    """

    executor: Executor
    workers: int
    guard: bool

    @classmethod
    def of(cls, executor: Executor, limits: Limits) -> "Engine":
        """Return the engine of a given executor.

        Raises
        ------
        InputError
            It is no executor.
        """
        if not isinstance(executor, Executor):
            raise InputError(f"executor = {str(executor)[:80]!r} is none; give a concurrent.futures.Executor, or None")
        workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        return cls(executor, int(workers), isinstance(executor, ThreadPoolExecutor) or limits != Limits())

    def submit(self, items: Sequence[Mapping[str, Any]], limits: Limits) -> Any:
        """Hand a chunk of items to a worker; return the future of its answers."""
        task = {"items": list(items), "guard": self.guard, "methods": METHODS}
        try:
            return self.executor.submit(performed, task | {"seconds": limits.seconds, "memory": limits.memory})
        except RuntimeError as error:  # shut down, or broken
            raise unusable(error) from None


def unusable(error: RuntimeError) -> InputError:
    """Return what to say about an executor that takes no more work."""
    return InputError(f"executor: {error}; what was finished is stored: give a new executor and run again")


def performed(task: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """Answer a chunk of items, in the worker; plain data in and out."""
    if task["methods"] != METHODS:
        raise InputError(f"a worker has methods {METHODS}, the sweep {task['methods']}; install one version everywhere")
    if task["guard"]:
        return guarded(task["items"], Limits(task["seconds"], task["memory"]))
    return [list(answers(item)) for item in task["items"]]


@contextmanager
def local(jobs: int | None = None) -> Iterator[Engine]:
    """Give processes of this machine, one a core unless ``jobs`` says otherwise.

    Each worker thread owns one child process: a crash or a limit ends that process and costs one point, and when this
    process is killed its children end by themselves.  An error or Ctrl-C ends them at once.
    """
    count = jobs or os.cpu_count() or 1
    guards: list[Guard] = []
    executor = ThreadPoolExecutor(count, initializer=enlist, initargs=(guards,))
    try:
        yield Engine(executor, count, guard=True)
    except BaseException:
        for guard in guards:
            guard.stop()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def dask(scheduler: str | None, limits: Limits) -> Iterator[Engine]:
    """Give the workers of a Dask scheduler, or of a cluster on this machine without an address.

    Whoever runs the scheduler can run code in its workers: use addresses you trust.  Workers need one thread each.
    """
    if find_spec("distributed") is None:
        raise InputError("--engine dask needs Dask: pip install 'exaq[dask]'; --engine local needs nothing")
    from dask.distributed import Client, LocalCluster

    own = None
    if scheduler is None:
        own = LocalCluster(n_workers=os.cpu_count() or 1, threads_per_worker=1, dashboard_address=None)
    try:
        try:
            client = Client(own or scheduler, timeout=20)
        except (OSError, ValueError) as error:
            raise InputError(f"--scheduler {scheduler!r} does not answer ({error}); give tcp://HOST:PORT") from None
        with client:
            threads = client.nthreads()
            if any(n != 1 for n in threads.values()) and limits == Limits():
                raise InputError("Dask workers need one thread each: start them with --nthreads 1, or set [limits]")
            if not threads:
                raise InputError(f"--scheduler {scheduler!r} has no workers; start some with: dask worker ADDRESS")
            yield Engine(client.get_executor(pure=False), sum(threads.values()), limits != Limits())
    finally:
        if own is not None:
            own.close()
