"""Laws of irreducible chains in two doubles with a certified relative error for every entry, however small.

Approximate (cut balance, positive sweeps), scale by the approximation, correct with residuals in two doubles, certify.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from exactchains.solvers.arrays import Arrays
from exactchains.solvers.block import Block, ScaledBlock
from exactchains.solvers.certificate import Certified, certify, jumps, renormalised
from exactchains.solvers.flow import Flow, flow_of
from exactchains.solvers.scaled import Direct, Levels, Scaled, cut_logs, scaled_matrix
from exactchains.solvers.structure import narrow_order
from exactchains.solvers.twofold import inflow

NARROW = 40  # widest level of chains that are factored directly
BLOCK_WORK = 3e9  # largest sum of cubed level widths for dense elimination
NARROW_FILL = 1.5e6  # states times bandwidth up to which sparse LU comes first,
LARGEST_FILL = 1.5e8  # and up to which it is tried at last
WEAK = 1e-8  # ratio of rates from which a chain counts as nearly decomposable
Vector = tuple[Any, Any, Any]


def entrywise(chain: Arrays, *, target: float = 1e-15, method: str = "auto") -> list[Certified]:
    """Return what the methods tried could certify, best last; empty: rates range beyond two doubles.

    ``target`` is the relative error wanted in every entry; trying ends when it is reached.
    """
    flow = flow_of(chain)
    if flow is None:
        return []
    found: list[Certified] = []
    for name in methods(chain, flow) if method == "auto" else [method]:
        try:
            with np.errstate(all="ignore"):  # what is not finite is not certified
                result = replace(_SOLVE[name](chain, flow, target), method=name)
        except (RuntimeError, ZeroDivisionError, np.linalg.LinAlgError):  # a singular factor: the next method
            continue
        found.append(result)
        if result.error.max() <= target:
            break
    return sorted(found, key=lambda r: -float(r.error.max()))


def methods(chain: Arrays, flow: Flow) -> Iterator[str]:
    """Yield the methods worth trying, the cheapest that is likely to succeed first."""
    widths = np.diff(flow.start).astype(float)
    work = float((widths**3).sum())
    block = ["block"] if work < BLOCK_WORK and flow.levels < 20_000 else []
    weak = float(flow.rate_high.min()) < WEAK * float(flow.rate_high.max())
    if weak and block and flow.levels < flow.size:
        yield "block"
        return
    narrow = widths.max() <= NARROW or (flow.size <= 50_000 and flow.size * narrow_order(chain)[1] <= NARROW_FILL)
    if narrow:
        yield "direct"
    levels = ["levels"] if flow.levels < min(flow.size // 4 + 100, 20_000) else []
    yield from [*block, *levels] if narrow or work < 2e7 else [*levels, *block]
    if not narrow and flow.size <= 500_000 and flow.size * narrow_order(chain)[1] <= LARGEST_FILL:
        yield "direct"


def _direct(chain: Arrays, flow: Flow, target: float) -> Certified:
    h, e = _cut_magnitudes(flow, np.ones(flow.size), np.zeros(flow.size, np.int64))
    return _refined(flow, (h, e), lambda h, e, r: Direct(flow, h, e, r), target)


def _levels(chain: Arrays, flow: Flow, target: float) -> Certified:
    """Start from the inflow out of lower levels; where that misleads, from equal entries within each level."""
    flat = _cut_magnitudes(flow, np.ones(flow.size), np.zeros(flow.size, np.int64))
    for h, e in (_from_below(flow, *flat), flat):
        start = _positive_sweeps(flow, h, e)
        result = _refined(flow, start, lambda h, e, r: Levels(flow, h, e, r), target)
        if np.isfinite(result.error.max()):
            break
    return result


def _block(chain: Arrays, flow: Flow, target: float) -> Certified:
    """Eliminate around state 0, then again around the mode if the certificate would be poor."""
    result = None
    for _ in range(2):
        block = Block(flow)
        h, e = _scaled_up(*block.law())
        result = _refined(flow, (h, e), lambda h, e, r, b=block: ScaledBlock(b, h, e), target, 0)
        reference = mode(h, e)
        if result.error.max() <= target or reference == 0:
            break
        again = flow_of(chain, int(flow.order[reference]))
        if again is None or float((np.diff(again.start).astype(float) ** 3).sum()) > 2 * BLOCK_WORK:
            break
        flow = again
    return result  # type: ignore[return-value]


_SOLVE: dict[str, Callable[[Arrays, Flow, float], Certified]] = {"direct": _direct, "levels": _levels, "block": _block}


def mode(h: Any, e: Any) -> int:
    """Return the state with the largest entry."""
    near = e >= e.max() - 60
    return int(np.argmax(np.where(near, np.ldexp(h, np.maximum(e - e.max(), -60)), 0)))


def _refined(
    flow: Flow, start: tuple[Any, Any], system: Callable[..., Scaled], target: float, at: int | None = None
) -> Certified:
    """Correct the approximation with residuals in two doubles until the certificate is good enough or gains no more."""
    h, e = start
    lo, r = np.zeros(flow.size), mode(h, e) if at is None else at
    scaled: Any = system(h, e, r)
    u, before, applied = None, np.inf, 0
    best = Certified(flow, r, h, lo, e, (np.zeros(0), np.zeros(0)), np.array([np.inf]), "", None)
    for _ in range(12):
        rest = inflow(flow, h, lo, e)[0] / (h * flow.exit_high)
        rest[r] = 0
        y = scaled.solve(rest, 1e-7)
        size = float(np.abs(y).max() + 0 * np.abs(rest).max())  # not finite where either is not
        if not np.isfinite(size):
            break
        if size > 0.1:  # not near yet: scale anew
            applied += scaled.applied
            h, e = _multiplied(flow, h, e, y, sweeping=isinstance(scaled, Levels))
            lo, before, u, scaled = np.zeros(flow.size), np.inf, None, None  # one system at a time in memory
            scaled = system(h, e, r)
            continue
        h, lo = renormalised(h, lo, h * y + lo * y)
        if size < 1e-9 or size > before / 4:
            u = jumps(flow, scaled, h, e, r) if u is None else u
            _, error = certify(flow, (h, lo, e), u, r)
            if error.max() <= best.error.max():
                best = Certified(flow, r, h, lo, e, u, error, "", scaled, applied + scaled.applied)
            if error.max() <= target or size > before / 4:
                break
        before = size
    return best


def _multiplied(flow: Flow, h: Any, e: Any, y: Any, *, sweeping: bool) -> tuple[Any, Any]:
    """Return the law corrected by the factor 1 + y, or by positive sweeps where that would be negative."""
    if sweeping and (y <= -0.9).any():
        return _positive_sweeps(flow, h, e)
    return _scaled_up(h * np.maximum(1 + y, 1e-3), e)


def _scaled_up(h: Any, e: Any) -> tuple[Any, Any]:
    h, k = np.frexp(h)
    return h, e + k


def _cut_magnitudes(flow: Flow, h: Any, e: Any) -> tuple[Any, Any]:
    """Rescale the levels so that the flow up equals the flow down across every cut."""
    top = np.maximum.reduceat(e, flow.start[:-1])
    logs = cut_logs(flow, np.ldexp(h, np.maximum(e - top[flow.level], -1000)), top, flow.moves)
    whole = np.floor(logs)
    return _scaled_up(h * np.exp2(logs - whole)[flow.level], e + (whole.astype(np.int64) - top)[flow.level])


def _from_below(flow: Flow, h: Any, e: Any) -> tuple[Any, Any]:
    """Take the shape of each level from the inflow out of lower levels: an underestimate, which converges fast.

    States without such inflow are fed from within their level; those left over get its least entry.
    """
    W, y, s = scaled_matrix(flow, h, e, None), np.zeros(flow.size), flow.start
    y[0] = 1.0
    for k in range(1, flow.levels):
        rows = W[s[k] : s[k + 1]]
        z = rows @ y
        for _ in range(8):
            if z.min() > 0 or z.max() == 0:
                break
            y[s[k] : s[k + 1]] = z
            z = np.where(z > 0, z, rows @ y)
        if z.max() > 0:
            z = np.maximum(np.where(z > 0, z, z[z > 0].min()) / z.max(), 1e-250)
        y[s[k] : s[k + 1]] = z if z.max() > 0 else 1.0
    return _cut_magnitudes(flow, *_scaled_up(h * y, e))


def _positive_sweeps(flow: Flow, h: Any, e: Any) -> tuple[Any, Any]:
    """Run positive Gauss-Seidel cycles with exact cut balance after each."""
    system, y, moves = Levels(flow, h, e, None), np.ones(flow.size), flow.moves
    for _ in range(min(max(20, flow.levels // 4), 400)):
        y = system.sweep(y)
        y *= np.exp2(np.clip(cut_logs(flow, system.x * y, system.top, moves) - system.top, -900, 900))[flow.level]
    return _scaled_up(h * y, e)
