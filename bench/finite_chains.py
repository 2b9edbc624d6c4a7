"""Stationary laws of finite chains, side by side with scipy, flint and mpmath in one run.

    python -m bench.finite_chains [--large] [--huge] [--peers-large] [--only TEXT] [--growth FILE.svg] [--runs N]

Ours is certified to 12 digits in every entry and timed from the chain to the certified law.  scipy gets one state
fixed (an M-matrix system, its best formulation) and is timed from the ready matrix; its worst entry is judged by the
certified law.  Times are processor seconds: one thread, so the wall clock shows the same on an idle machine.

``--growth`` draws the times of the chains with five servers.  It keeps them beside the figure (FILE.json): what this
run does not measure, ten million states above all, is drawn as it was measured last.
"""

import argparse
import json
import os
import resource
import statistics
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg as sla  # noqa: E402

from bench import chains  # noqa: E402
from exactchains import chain_from_arrays, stationary  # noqa: E402
from exactchains.solvers.law import StationaryLaw, TwofoldValues  # noqa: E402

DIGITS = 13  # relative error below 1e-12

SMALL = {
    "power of two, 4 servers, 20 places": lambda: chains.power_of_two(4, 20),
    "power of two, 10 servers, 8 places": lambda: chains.power_of_two(10, 8),
    "birth-death, 1e5": lambda: chains.birth_death(100_000),
    "20 clusters, 1e-9": lambda: chains.clusters(20, 50, 10**9),
    "20 clusters, 1e-12": lambda: chains.clusters(20, 50, 10**12),
    "200 clusters, 1e-9": lambda: chains.clusters(200, 50, 10**9),
    "200 clusters, 1e-12": lambda: chains.clusters(200, 50, 10**12),
}
LARGE = {
    "power of two, 5 servers, 30 places": lambda: chains.power_of_two(5, 30),
    "birth-death, 1e6": lambda: chains.birth_death(1_000_000),
    "power of two, 5 servers, 38 places": lambda: chains.power_of_two(5, 38),
    "power of two, 4 servers, 68 places": lambda: chains.power_of_two(4, 68),
}
HUGE = {"power of two, 5 servers, 63 places": lambda: chains.power_of_two(5, 63)}
GROWTH = {comb(5 + places, 5): places for places in (8, 13, 19, 26, 38, 63)}  # states: places of five servers


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--large", action="store_true", help="3e5 to 1e6 states: two minutes, 1.5 GB")
    words.add_argument("--huge", action="store_true", help="1e7 states: some minutes, 7 GB")
    words.add_argument("--peers-large", action="store_true", help="scipy also where it needs minutes")
    words.add_argument("--only", default="", help="chains whose name contains this text")
    words.add_argument("--growth", metavar="FILE", help="draw the growth of time with the number of states")
    words.add_argument("--runs", type=int, default=3, help="median of so many runs")
    options = words.parse_args()
    print(
        f"{'chain':38}{'states':>9} | {'ours s':>7} {'bound':>8} {'method':16} | peer: s, worst error, negative; ratio"
    )
    cases = SMALL | (LARGE if options.large else {}) | (HUGE if options.huge else {})
    measured = {}
    for name, make in cases.items():
        if options.only in name:
            size, seconds = compare(name, make, runs=options.runs if name in SMALL else 1, patient=options.peers_large)
            measured[size] = seconds
    if not options.only:
        exact_laws(options.runs)
    if options.growth:
        growth(Path(options.growth), measured, huge=options.huge)


def compare(name: str, make: Callable[[], Any], *, runs: int, patient: bool) -> tuple[int, float]:
    """Print one row of the table; return the number of states and our seconds."""
    raw = make()
    chain, size = chain_from_arrays(*raw), raw[0]
    peers = []
    if size <= 20_000 or name.startswith("birth-death") or (patient and size < 50_000):
        peers.append("splu")
    if size <= 50_000 and name.startswith("power"):
        peers.append("ILU+GMRES")
    if not peers:
        del raw  # memory is measured too
    seconds, law = median(lambda: stationary(chain, digits=DIGITS), runs)
    bound = float(law.values.error.max()) if isinstance(law.values, TwofoldValues) else 10.0 ** (1 - DIGITS)
    line = f"{name:38}{size:9} | {seconds:7.2f} {bound:8.1e} {law.method:16} | "
    line += "".join(judged(peer, raw, law, seconds, runs) for peer in peers)
    print(line + f"[{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB]", flush=True)
    return size, seconds


def judged(peer: str, raw: Any, law: StationaryLaw, ours: float, runs: int) -> str:
    """Return time, worst relative error and negative entries of a peer, and the ratio of times."""
    system, right = fixed_state(raw)
    solve = {"splu": splu, "ILU+GMRES": ilu_gmres}[peer]
    try:
        seconds, x = median(lambda: solve(system, right), 1 if raw[0] > 20_000 else runs)
    except RuntimeError as error:
        return f"{peer}: {error}; "
    x = np.r_[1.0, x]
    logs = logarithms(law)
    with np.errstate(all="ignore"):
        worst = np.nanmax(np.abs(np.expm1(np.log(np.abs(x)) - (logs - logs[0])) + 2 * (x < 0)))
    return f"{peer}: {seconds:.2f}, {worst:.1e}, {int((x < 0).sum())}; {seconds / ours:.1f}x  "


def logarithms(law: StationaryLaw) -> Any:
    """Return natural logarithms of the certified law."""
    if isinstance(law.values, TwofoldValues):
        return np.log(law.values.high + law.values.low) + law.values.exponent * np.log(2)
    return np.array([_log(law.values.ends(k)[0]) for k in range(law.size)])


def _log(x: Any) -> float:
    top, bottom = int(x.p), int(x.q)
    shift = top.bit_length() - bottom.bit_length()
    return float(np.log((top << max(0, -shift)) / (bottom << max(0, shift))) + shift * np.log(2))


def fixed_state(raw: Any) -> tuple[Any, Any]:
    """Return S and q of x S = q with x_0 = 1, transposed for solvers of columns."""
    size, sources, targets, rates = raw
    Q = sp.csr_matrix((rates.astype(float), (targets, sources)), shape=(size, size))
    exits = np.bincount(sources, rates, size)
    S = (sp.diags_array(exits) - Q).tocsc()[1:, 1:].tocsc()
    return S, Q[1:, [0]].toarray().ravel()


def splu(S: Any, q: Any) -> Any:
    options = {"SymmetricMode": True}
    return sla.splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve(q)


def ilu_gmres(S: Any, q: Any) -> Any:
    factor = sla.spilu(S, drop_tol=1e-2, fill_factor=4)
    M = sla.LinearOperator(S.shape, factor.solve)
    return sla.gmres(S, q, M=M, rtol=1e-13, restart=50, maxiter=10)[0]


def exact_laws(runs: int) -> None:
    """Exact arithmetic against the bare flint solve, 50 digits against mpmath."""
    import mpmath
    from flint import fmpz_mat

    raw = chains.ring(400)
    chain = chain_from_arrays(*raw)
    size, sources, targets, rates = raw
    S = [[0] * (size - 1) for _ in range(size - 1)]
    q = [[0] for _ in range(size - 1)]
    for i, j, rate in zip(sources.tolist(), targets.tolist(), rates.tolist(), strict=True):
        if i:
            S[i - 1][i - 1] += rate
        if i and j:
            S[j - 1][i - 1] -= rate
        if i == 0:
            q[j - 1][0] += rate
    A, b = fmpz_mat(S), fmpz_mat(q)
    bare, _ = median(lambda: A.solve(b), runs)
    ours, _ = median(lambda: stationary(chain, digits=30, method="exact"), runs)
    print(f"exact law, 400 states: {ours:.3f} s; bare flint solve {bare:.3f} s; ratio {ours / bare:.2f}")
    chain = chain_from_arrays(*chains.ring(200))
    ours, law = median(lambda: stationary(chain, digits=50), runs)
    start = time.process_time()
    with mpmath.workdps(50):
        reference = mpmath_gth(chains.ring(200))
    theirs = time.process_time() - start
    agree = max(abs(_log(e.lower) - float(mpmath.log(x))) for e, x in zip(law, reference, strict=True)) < 1e-12
    print(f"50 digits, 200 states: {ours:.3f} s ({law.method}); mpmath GTH {theirs:.1f} s; ratio {theirs / ours:.0f}")
    assert agree, "the two laws differ"


def mpmath_gth(raw: Any) -> list[Any]:
    import mpmath

    size, sources, targets, rates = raw
    A = [[mpmath.mpf(0)] * size for _ in range(size)]
    for i, j, rate in zip(sources.tolist(), targets.tolist(), rates.tolist(), strict=True):
        A[i][j] = mpmath.mpf(rate)
    for k in range(size - 1, 0, -1):
        total = sum(A[k][:k], mpmath.mpf(0))
        for i in range(k):
            if A[i][k]:
                A[i][k] /= total
                for j in range(k):
                    if i != j:
                        A[i][j] += A[i][k] * A[k][j]
    law = [mpmath.mpf(1)]
    for k in range(1, size):
        law.append(sum((law[i] * A[i][k] for i in range(k)), mpmath.mpf(0)))
    total = sum(law, mpmath.mpf(0))
    return [x / total for x in law]


def growth(path: Path, measured: dict[int, float], *, huge: bool) -> None:
    """Draw time against size, 1e3 to 1e7 states; measure what neither this run nor, for 1e7, an earlier one has."""
    kept = path.with_suffix(".json")
    points = {int(size): seconds for size, seconds in json.loads(kept.read_text())} if kept.exists() else {}
    for size, places in GROWTH.items():
        if size in measured:
            points[size] = measured[size]
        elif huge or size < 2_000_000:
            chain = chain_from_arrays(*chains.power_of_two(5, places))
            points[size] = median(lambda c=chain: stationary(c, digits=DIGITS, method="levels"), 1)[0]
        if size in points:
            print(f"growth: {size} states {points[size]:.2f} s", flush=True)
    kept.write_text(json.dumps([[size, round(seconds, 3)] for size, seconds in sorted(points.items())]) + "\n")
    draw(sorted(points.items()), str(path))


def draw(points: list[tuple[int, float]], path: str) -> None:
    """Draw seconds against states, doubly logarithmic, with the line of proportional growth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "exaq"  # the same bytes for the same points
    sizes, seconds = np.array(points).T
    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    axes.loglog(sizes, seconds, "o-", label="power of two, 5 servers")
    axes.loglog(sizes, seconds[0] * sizes / sizes[0], "--", color="gray", label="proportional")
    axes.set_xlabel("states")
    axes.set_ylabel("seconds to a law certified in every entry")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def median(call: Callable[[], Any], runs: int) -> tuple[float, Any]:
    times, value = [], None
    for _ in range(runs):
        start = time.process_time()
        value = call()
        times.append(time.process_time() - start)
    return statistics.median(times), value


if __name__ == "__main__":
    main()
