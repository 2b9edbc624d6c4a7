"""Level chains and infinite chains, side by side with uncertified solvers in one run.

    python -m bench.level_chains [--runs N]

Ours is timed from the exact chain to certified G and R; peers from ready arrays of doubles to G and R.  The worst
entry of a peer is judged by the certified matrices.  One BLAS thread.  Peers: logarithmic reduction in plain numpy,
with and without shift; BuTools and the SMC solvers of line-solver where they can be imported.  Times are processor
seconds, which other work on the machine disturbs least.
"""

import argparse
import contextlib
import importlib
import io
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from exactchains import LevelChain, Reward, expectation, rate_matrix  # noqa: E402
from exactchains.countable_chain import shortest_queue  # noqa: E402
from proofs_check.check.document import check, loads  # noqa: E402

SIZES, GAPS = (2, 20, 50, 100, 200), (1e-1, 1e-3, 1e-6, 1e-9)
Blocks = tuple[Any, Any, Any]  # up, off-diagonal local, down


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--runs", type=int, default=5, help="median of so many runs")
    runs = words.parse_args().runs
    warnings.simplefilter("ignore")
    rates_table(runs)
    digits_table()
    infinite_table()


def rates_table(runs: int) -> None:
    """Print times, ratios and accuracy of G for random chains, and for two halves coupled by 1e-12."""
    peers = available()
    print(f"certified to 12 digits in every entry; ratio = ours / fastest peer; peers: {', '.join(peers)}")
    print(f"{'chain':28} {'ours s':>8} {'digits':>6} {'ratio':>6}   " + "  ".join(f"{p:>22}" for p in peers))
    cases = [(f"m={m} 1-load={gap:g}", random_chain(m, 1 - gap)) for m in SIZES for gap in GAPS]
    cases.append(("m=20 halves, 1e-12", decoupled(20)))
    for name, blocks in cases:
        chain = LevelChain.from_floats(dict(zip(("up", "local", "down"), blocks, strict=True)))
        ours, rates = median(lambda chain=chain: rate_matrix(chain, digits=12), runs)
        exact = np.array([[middle(x) for x in row] for row in rates.G])
        found = [judged(solve, blocks, exact, runs) for solve in peers.values()]
        ratio = ours / min(seconds for seconds, _ in found)
        cells = "  ".join(f"{seconds:8.4f} {error:12.0e} " for seconds, error in found)
        print(f"{name:28} {ours:8.4f} {rates.certain_digits:6} {ratio:6.1f}   {cells}", flush=True)


def digits_table() -> None:
    """Print times for many digits, and of the check by the standard library."""
    print(f"\n{'many digits':28} {'solve s':>8} {'file kB':>8} {'check s':>8}")
    for m, gap, digits in ((50, 1e-6, 50), (50, 1e-6, 300), (100, 1e-6, 50), (200, 1e-9, 12), (20, 1e-9, 1000)):
        blocks = random_chain(m, 1 - gap)
        chain = LevelChain.from_floats(dict(zip(("up", "local", "down"), blocks, strict=True)))
        seconds, rates = median(lambda chain=chain, digits=digits: rate_matrix(chain, digits=digits), 1)
        text = json.dumps(rates.certificate)
        checked, _ = median(lambda text=text: check(loads(text)), 1)
        print(f"m={m} 1-load={gap:g}, {digits} digits{'':4} {seconds:8.2f} {len(text) // 1000:8} {checked:8.2f}")


def infinite_table() -> None:
    print(f"\n{'infinite chain':28} {'solve s':>8} {'digits':>8} {'check s':>8}   mean total")
    chain = shortest_queue(9, (7, 3))
    for digits in (15, 24, 40):
        seconds, found = median(lambda digits=digits: expectation(chain, Reward.total(), digits=digits), 1)
        text = json.dumps(found.certificate)
        checked, _ = median(lambda text=text: check(loads(text)), 1)
        certain = found.enclosure.certain_digits
        print(f"{'shortest queue 7, 3 load .9':28} {seconds:8.2f} {certain:8} {checked:8.2f}   {found.digits(digits)}")


def middle(x: Any) -> float:
    value = (x.lower + x.upper) / 2
    return int(value.p) / int(value.q)


def median(job: Callable[[], Any], runs: int) -> tuple[float, Any]:
    seconds, result = [], None
    for _ in range(runs):
        start = time.process_time()
        result = job()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds), result


def judged(solve: Callable[..., Any], blocks: Blocks, exact: Any, runs: int) -> tuple[float, float]:
    """Return the time of a peer and the worst relative error of its G."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            seconds, G = median(lambda: solve(*generator(blocks)), runs)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return float("inf"), float("nan")
    live = exact > 0
    return seconds, float(np.abs(np.asarray(G)[live] / exact[live] - 1).max())


def available() -> dict[str, Callable[..., Any]]:
    """Return the solvers that can be run here."""
    peers: dict[str, Callable[..., Any]] = {"plain reduction": plain, "shifted reduction": shifted}
    with contextlib.suppress(Exception):
        butools = importlib.import_module("butools.mam")
        peers["BuTools"] = lambda up, local, down: butools.QBDFundamentalMatrices(
            *map(np.asmatrix, (down, local, up)), "GR"
        )[0]
    with contextlib.suppress(Exception):
        smc = importlib.import_module("line_solver.lib.thirdparty.smc")
        peers["LINE SMC CR shift"] = lambda up, local, down: smc.qbd_cr(down, local, up)["G"]
    return peers


def plain(up: Any, local: Any, down: Any, *, shift: bool = False) -> Any:
    """Logarithmic reduction in numpy, G and R."""
    m = len(up)
    one, ones, weights = np.eye(m), np.ones((m, 1)), np.full((1, m), 1 / m)
    inner, fall = local, down
    if shift:
        inner, fall = local + up @ ones @ weights, down - down @ ones @ weights
    high, low = np.linalg.solve(-inner, up), np.linalg.solve(-inner, fall)
    G, climb = low.copy(), high.copy()
    for _ in range(60):
        middle = one - high @ low - low @ high
        high, low = np.linalg.solve(middle, high @ high), np.linalg.solve(middle, low @ low)
        change = climb @ low
        if not np.isfinite(change).all():
            break
        G, climb = G + change, climb @ high
        if np.abs(change).max() < 1e-15:
            break
    G = G + ones @ weights if shift else G
    np.linalg.solve(-(local + up @ G).T, up.T)  # R belongs to the job
    return G


def shifted(up: Any, local: Any, down: Any) -> Any:
    return plain(up, local, down, shift=True)


def generator(blocks: Blocks) -> Blocks:
    up, local, down = blocks
    return up, local - np.diag((up + local + down).sum(1)), down


def random_chain(m: int, load: float, seed: int = 1) -> Blocks:
    """Dense blocks over two decades, the upward rates scaled to the load."""
    rng = np.random.default_rng(seed)
    up, local, down = (rng.random((m, m)) * 10.0 ** (-2 * rng.random((m, m))) + 1e-3 for _ in range(3))
    np.fill_diagonal(local, 0)
    factor = 1.0
    for _ in range(100):
        A = factor * up + local + down
        Q = A - np.diag(A.sum(1))
        Q[:, 0] = 1.0
        law = np.linalg.solve(Q.T, np.eye(m)[0])
        factor *= load / (factor * (law @ up).sum() / (law @ down).sum())
    return factor * up, local, down


def decoupled(m: int) -> Blocks:
    """Two halves that hardly know of each other."""
    up, local, down = random_chain(m, 0.5, seed=3)
    mask = np.ones((m, m))
    mask[: m // 2, m // 2 :] = mask[m // 2 :, : m // 2] = 1e-12
    return up * mask, local * mask, down * mask


if __name__ == "__main__":
    main()
