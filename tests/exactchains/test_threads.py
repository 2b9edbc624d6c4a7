"""BLAS runs on one thread inside a solver, and on as many as before afterwards, also when the solver fails."""

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from exactchains.solvers.threads import one_thread


def threads() -> list[int]:
    assert np.linalg.solve(np.eye(2), np.ones(2)).sum() == scipy.linalg.norm(np.ones(4)) == 2
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


@one_thread
def seen(*, fails: bool = False) -> list[int]:
    if fails:
        raise ValueError("inside")
    return threads()


def test_a_solver_runs_on_one_thread_and_gives_the_rest_back():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        if set(before) != {2}:
            pytest.skip("this BLAS cannot be given two threads")
        assert set(seen()) == {1} and threads() == before
        with pytest.raises(ValueError, match="inside"):
            seen(fails=True)
        assert threads() == before
