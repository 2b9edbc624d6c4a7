"""Settings of every test: reproducible examples, no deadlines, one thread a worker."""

import os

import pytest
from hypothesis import HealthCheck, settings

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # read when numpy is first imported

settings.register_profile(
    "exaq",
    max_examples=50,
    derandomize=True,  # the same examples at every run
    database=None,
    deadline=None,  # a slow machine is no failure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("exaq")


def pytest_collection_modifyitems(items):
    """Refuse names that hold an address: two workers would collect different tests, and none would run."""
    if changing := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"a test's name changes from run to run; give it ids: {changing[0]}")
