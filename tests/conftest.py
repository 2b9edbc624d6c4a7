"""Settings of every test: reproducible examples, no deadlines, one thread a worker."""

import os

from hypothesis import HealthCheck, settings

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # read when numpy is first imported

settings.register_profile(
    "exaq",
    derandomize=True,  # the same examples at every run
    database=None,
    deadline=None,  # a slow machine is no failure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("exaq")
