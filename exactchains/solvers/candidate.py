"""Laws that came from elsewhere: a candidate vector, by whatever solver, gets a proved error for every entry here."""

import time
from typing import Any

import numpy as np

from exactchains.chain import FiniteChain
from exactchains.solvers.arrays import Arrays, arrays
from exactchains.solvers.block import Block, ScaledBlock
from exactchains.solvers.certificate import Certified, certify, jumps
from exactchains.solvers.entrywise import methods
from exactchains.solvers.flow import Flow, flow_of
from exactchains.solvers.gth import several
from exactchains.solvers.law import StationaryLaw
from exactchains.solvers.scaled import Direct, Levels, Scaled
from exactchains.solvers.stationary import twofold_law
from exactchains.solvers.structure import structure
from exactchains.solvers.threads import one_thread
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted


@one_thread
def certified_candidate(chain: FiniteChain, candidate: Any, *, digits: int | None = None) -> StationaryLaw:
    """Return the stationary law as what the candidate is, with a proved relative error for every entry.

    The candidate is not improved: a good one gets a narrow bound, one with a wrong digit a wide one.

    Parameters
    ----------
    chain
        One recurrent class, rational rates.
    candidate
        One double a state, in any scale, positive on the recurrent class; entries of transient states are not read.
    digits
        Certain digits that every entry must have.

    Guarantee
    ---------
    The chain has exactly one stationary law, and it lies in the enclosures returned, whatever the candidate was.

    Raises
    ------
    DoesNotExist
        Several recurrent classes.
    InputError
        Wrong length; an entry that is not positive and finite.
    PrecisionExhausted
        Nothing, or not ``digits`` digits, could be proved of this candidate.

    Examples
    --------
    >>> chain = FiniteChain.from_matrix([["-3/2", "3/2", 0], [3, "-9/2", "3/2"], [0, 3, -3]])
    >>> certified_candidate(chain, [0.5714285714285714, 0.2857142857142857, 0.14285714285714285])[2].digits(15)
    '0.142857142857142'
    """
    start = time.perf_counter()
    everything = arrays(chain)
    found = structure(everything)
    if len(found.recurrent) > 1:
        raise DoesNotExist(several(len(found.recurrent), [int(c[0]) for c in found.recurrent]))
    states = found.recurrent[0]
    x = positive(candidate, chain.size, states)
    inside = everything.within(states)
    flow = flow_of(inside, int(np.argmax(x)))
    best = None if flow is None else _best(inside, flow, x)
    if best is None or not np.isfinite(best.error.max()):
        raise PrecisionExhausted(
            "could not certify 1 digit of this candidate: it is no law of this chain, or too coarse"
        )
    values, name, prove = twofold_law((chain, states, inside), best)
    law = StationaryLaw(chain.size, states, values, f"candidate, {name}", time.perf_counter() - start, prove)
    reached = law.certain_digits() or 0
    if digits is not None and reached < digits:
        raise PrecisionExhausted(f"could not certify {digits} digits of this candidate in every entry: {reached}")
    return law


def positive(candidate: Any, size: int, states: Any) -> Any:
    """Return the entries of ``states`` as doubles; what cannot be a law is refused with the place."""
    x = np.asarray(candidate)
    if x.shape != (size,) or x.dtype.kind not in "fiu":
        raise InputError(f"candidate: an array of {x.dtype} of shape {x.shape}; give {size} real numbers")
    x = x[states].astype(float)
    bad = ~(np.isfinite(x) & (x > 0))
    if bad.any():
        k = int(np.argmax(bad))
        raise InputError(f"candidate: entry {int(states[k])} is {x[k]}; a law is positive on its recurrent class")
    return x


def _best(inside: Arrays, flow: Flow, x: Any) -> Certified | None:
    """Return the candidate with the best certificate that the floating-point systems find; state 0 is its mode."""
    h, k = np.frexp(x[flow.order])
    e = k.astype(np.int64) + flow.shift
    best: Certified | None = None
    for name in methods(inside, flow):
        try:
            with np.errstate(all="ignore"):  # what is not finite is not certified
                system = _system(name, flow, h, e)
                u = jumps(flow, system, h, e, 0)
                low = np.zeros(flow.size)
                _, error = certify(flow, (h, low, e), u, 0)
        except (RuntimeError, ZeroDivisionError, np.linalg.LinAlgError):  # a singular factor: the next method
            continue
        if best is None or error.max() < best.error.max():
            best = Certified(flow, 0, h, low, e, u, error, name, system)
        if np.isfinite(error.max()):
            break
    return best


def _system(name: str, flow: Flow, h: Any, e: Any) -> Scaled:
    if name == "block":
        return ScaledBlock(Block(flow), h, e)
    return Direct(flow, h, e, 0) if name == "direct" else Levels(flow, h, e, 0)
