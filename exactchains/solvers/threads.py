"""One thread for BLAS inside solvers of small blocks: on a busy machine more threads cost up to 100 times the time."""

import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["one_thread"]

P = ParamSpec("P")
T = TypeVar("T")


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Hold BLAS to one thread while ``function`` runs; the caller's setting is restored afterwards."""

    @wraps(function)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        with _libraries("scipy.linalg" in sys.modules).limit(limits=1):
            return function(*args, **kwargs)

    return bounded


@cache
def _libraries(_scipy_too: bool) -> Any:
    """Return the numerical libraries that are loaded; scipy brings its own BLAS, later than numpy."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
