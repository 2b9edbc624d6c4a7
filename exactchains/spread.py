"""Independent pieces of work, done here or on an executor: the same results in the same order."""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from exactchains.truth import InputError

T = TypeVar("T")
R = TypeVar("R")


def spread(function: Callable[[T], R], items: Iterable[T], executor: Executor | None = None) -> Iterator[R]:
    """Yield ``function`` of each item, in the order of the items; without an executor one after the other, here.

    ``function`` is one of a module, or a ``partial`` of one; it, the items and the results must pickle, which exact
    numbers and enclosures do and balls do not.

    Raises
    ------
    InputError
        The executor is none, is shut down, or is one of threads: the precision of flint is one for a whole process.
        Or ``function`` holds what does not reach another process, such as a lambda.

    Examples
    --------
    >>> list(spread(abs, [-2, 3]))
    [2, 3]
    """
    if executor is None:
        return map(function, items)
    if not isinstance(executor, Executor):
        raise InputError(f"executor = {str(executor)[:80]!r} is none; give a ProcessPoolExecutor, or None")
    if isinstance(executor, ThreadPoolExecutor):
        raise InputError("executor: threads share one precision; give processes, such as a ProcessPoolExecutor")
    if isinstance(executor, ProcessPoolExecutor):
        _must_pickle(function)
    try:
        return iter(executor.map(function, items))
    except RuntimeError as error:  # shut down, or broken
        raise InputError(f"executor: {error}; give a new one") from None


def _must_pickle(function: Callable[[T], R]) -> None:
    try:
        ForkingPickler.dumps(function)
    except Exception as error:  # whatever an object says when it is asked to pickle
        raise InputError(
            f"executor: {str(error)[:200]}; give functions of a module, no lambda and none defined inside another"
        ) from None


@contextmanager
def processes(jobs: int | None) -> Iterator[Any]:
    """Give an executor with ``jobs`` processes of this machine; None for one job, which is done here."""
    if jobs is None or jobs < 2:
        yield None
        return
    executor = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=sys.set_int_max_str_digits,
        initargs=(sys.get_int_max_str_digits(),),
    )
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
