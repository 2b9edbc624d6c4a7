"""Stationary laws of finite chains by every solver that can be imported, side by side in one run.

    python -m bench.peers [--runs N] [--limit SECONDS] [--only WORD]

``make bench-peers`` installs the solvers of ``bench/requirements.txt`` in an environment of their own first; BuTools,
which no registry has, is used where it can be imported.  Every solver runs in a process of its own, ended at the
limit.  Ours is timed from the exact chain to the law certified to 12 digits in every entry, the others from their own
ready data structure to their law; medians of processor seconds, one thread.  An entry is judged by our certified law.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from bench import chains, finite_chains  # noqa: E402
from exactchains import chain_from_arrays, stationary  # noqa: E402

CHAINS: dict[str, Callable[[], Any]] = {
    "birth-death 100, to 1e-99": lambda: chains.birth_death(100, up=1),
    "birth-death 1000, to 1e-100": lambda: chains.birth_death(1000, up=1000, down=1259),
    "birth-death 10 000, to 1e-458": lambda: chains.birth_death(10_000),
    "power of two, 4 servers, 4 places": lambda: chains.power_of_two(4, 4),
    "power of two, 4 servers, 9 places": lambda: chains.power_of_two(4, 9),
    "power of two, 4 servers, 20 places": lambda: chains.power_of_two(4, 20),
    "20 clusters, 1e-9": lambda: chains.clusters(20, 50, 10**9),
    "20 clusters, 1e-12": lambda: chains.clusters(20, 50, 10**12),
}
OURS, DIGITS, MEMORY = "exaq", 13, 8 << 30  # relative error below 1e-12; bytes a solver may take


def dense(raw: Any) -> Any:
    """Return the generator as an array of doubles."""
    size, sources, targets, rates = raw
    Q = np.zeros((size, size))
    Q[sources, targets] = rates
    np.fill_diagonal(Q, -Q.sum(1))
    return Q


def ours(raw: Any) -> Callable[[], Any]:
    chain = chain_from_arrays(*raw)
    return lambda: stationary(chain, digits=DIGITS)


def scipy_fixed(raw: Any) -> Callable[[], Any]:
    system, right = finite_chains.fixed_state(raw)
    return lambda: np.r_[1.0, finite_chains.splu(system, right)]


def scipy_ones(raw: Any) -> Callable[[], Any]:
    """The balance equations with one replaced by the normalisation, as most scripts do."""
    import scipy.sparse as sp
    from scipy.sparse.linalg import spsolve

    system = sp.lil_matrix(dense(raw).T)
    system[-1, :] = 1.0
    ready, right = system.tocsc(), np.r_[np.zeros(raw[0] - 1), 1.0]
    return lambda: spsolve(ready, right)


def quantecon(raw: Any) -> Callable[[], Any]:
    from quantecon.markov import gth_solve

    gth_solve(np.array([[-1.0, 1.0], [1.0, -1.0]]))  # compiles
    Q = dense(raw)
    return lambda: gth_solve(Q)


def line(raw: Any) -> Callable[[], Any]:
    from line_solver.api.mc import ctmc_solve

    Q = dense(raw)
    return lambda: np.ravel(ctmc_solve(Q))


def butools(raw: Any) -> Callable[[], Any]:
    from butools.mc import CTMCSolve

    Q = np.asmatrix(dense(raw))
    return lambda: np.ravel(CTMCSolve(Q))


def storm(raw: Any, *, exact: bool) -> Callable[[], Any]:
    import stormpy
    from stormpy.analysis import compute_steady_state_distribution
    from stormpy.datastructures import SparseMatrixBuilder
    from stormpy.models import SparseCtmc, SparseModelComponents, StateLabeling

    number = stormpy.Rational if exact else float
    builder, size = SparseMatrixBuilder[number](), raw[0]
    for i, j, q in sorted(zip(*(part.tolist() for part in raw[1:]), strict=True)):
        builder.add_next_value(i, j, number(q))
    labels = StateLabeling(size)
    labels.add_label("init")
    labels.add_label_to_state("init", 0)
    parts = {"transition_matrix": builder.build(), "state_labeling": labels, "rate_transitions": True}
    model = SparseCtmc[number](SparseModelComponents[number](**parts))
    return lambda: list(compute_steady_state_distribution(model).get_value_vector())


def multiprecision(raw: Any) -> Callable[[], Any]:
    import mpmath

    mpmath.mp.dps = 50
    return lambda: finite_chains.mpmath_gth(raw)


Prepare = Callable[[Any], Callable[[], Any]]
SOLVERS: dict[str, tuple[str, Prepare]] = {  # name -> (module it needs, preparation)
    OURS: ("exactchains", ours),
    "scipy, state fixed": ("scipy", scipy_fixed),
    "scipy, row of ones": ("scipy", scipy_ones),
    "quantecon": ("quantecon", quantecon),
    "LINE": ("line_solver", line),
    "stormpy": ("stormpy", lambda raw: storm(raw, exact=False)),
    "stormpy exact": ("stormpy", lambda raw: storm(raw, exact=True)),
    "mpmath, 50 digits": ("mpmath", multiprecision),
    "BuTools": ("butools", butools),
}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--runs", type=int, default=5, help="median of so many runs")
    words.add_argument("--limit", type=float, default=30, help="processor seconds for a solver on a chain")
    words.add_argument("--only", default="", help="only chains whose name holds this word")
    words.add_argument("--one", nargs=3, metavar=("SOLVER", "CHAIN", "FILE"), help=argparse.SUPPRESS)
    options = words.parse_args()
    if options.one:
        alone(*options.one, runs=options.runs, limit=options.limit)
        return
    missing = sorted({module for module, _ in SOLVERS.values() if find_spec(module) is None})
    if missing:
        print(f"not installed, hence left out: {', '.join(missing)}; `make bench-peers` installs what a registry has\n")
    present = [name for name, (module, _) in SOLVERS.items() if module not in missing]
    print("Cells: seconds (ratio to ours); worst relative error of an entry; negative entries.\n")
    print(f"| chain | states | {' | '.join(present)} |\n|---|---|{'---|' * len(present)}")
    for name in (n for n in CHAINS if options.only in n):
        print(f"| {name} | {CHAINS[name]()[0]} | {' | '.join(row(name, present, options))} |", flush=True)


def row(name: str, present: list[str], options: argparse.Namespace) -> Iterator[str]:
    """Yield what each solver does on one chain."""
    law = [(x.lower + x.upper) / 2 for x in stationary(chain_from_arrays(*CHAINS[name]()), digits=20)]
    exact = [Fraction(int(x.p), int(x.q)) for x in law]
    seconds = 0.0
    for solver in present:
        found = separate(solver, name, options)
        if "law" not in found:
            yield found["failed"]
        elif solver == OURS:
            seconds = found["seconds"]
            yield f"{seconds:.2g}; {judged(found['law'], exact)}"
        else:
            ratio = found["seconds"] / seconds
            times = f"{ratio:.0f}" if ratio > 9.5 else f"{ratio:.2g}"
            yield f"{found['seconds']:.2g} ({times}x); {judged(found['law'], exact)}"


def separate(solver: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run one solver on one chain in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "law.json"
        words = ["--runs", str(options.runs), "--limit", str(options.limit), "--one", solver, name, str(place)]
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "bench.peers", *words],
                capture_output=True,
                text=True,
                timeout=60 + 20 * options.limit,  # a busy machine; the limit itself is of processor time
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"failed": "waited in vain"}
        if place.exists():
            return dict(json.loads(place.read_text()))
        if ended.returncode == -signal.SIGXCPU:
            return {"failed": f"> {options.limit:g} s"}
        last = (ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"])[-1]
        return {"failed": last.replace("|", "/")[:60]}


def alone(solver: str, name: str, place: str, *, runs: int, limit: float) -> None:
    """Time one solver on one chain, as often as the limit allows, and write its law as text."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    solve = SOLVERS[solver][1](CHAINS[name]())
    used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (used + int(limit) + 1, hard))
    (seconds, law), again = finite_chains.median(solve, 1), 1
    if 2 * seconds < limit:
        seconds, _ = finite_chains.median(solve, 1)  # the first call may have loaded what it needs
    while seconds < 0.1:  # the clock is coarse
        again *= 4
        seconds, _ = finite_chains.median(partial(repeated, solve, again), 1)
    if seconds * runs < limit:
        seconds, _ = finite_chains.median(partial(repeated, solve, again), runs)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    found = {"seconds": seconds / again, "law": [text(x) for x in law]}
    Path(place).write_text(json.dumps(found), encoding="utf-8")


def repeated(solve: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        solve()


def text(x: Any) -> str:
    if hasattr(x, "lower"):
        return str((x.lower + x.upper) / 2)
    return repr(float(x)) if isinstance(x, float | np.floating) else str(x)


def judged(law: list[str], exact: list[Fraction]) -> str:
    """Return the worst relative error of an entry, scaled to the same first entry, and the negative entries."""
    found = [Fraction(x) if "/" in x or np.isfinite(float(x)) else Fraction(0) for x in law]
    total = sum(found)
    if not total:
        return "no law"
    worst = max(abs(x / total / p - 1) for x, p in zip(found, exact, strict=True))
    negative = sum(x < 0 for x in found)
    shown = "< 1e-18" if worst < Fraction(1, 10**18) else power(worst)
    return f"{shown}; {negative} negative" if negative else shown


def power(x: Fraction) -> str:
    """Return x to one digit, also beyond the range of doubles."""
    shift = len(str(x.numerator)) - len(str(x.denominator))
    near = float(x / Fraction(10) ** shift)  # 0.1 to 10
    mantissa, _, more = f"{near:.0e}".partition("e")
    return f"{mantissa}e{shift + int(more)}"


if __name__ == "__main__":
    main()
