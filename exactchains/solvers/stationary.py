"""Stationary laws of finite chains: the entry functions, which choose the method."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.domain import QQ
from exactchains.enclosure import Enclosure
from exactchains.solvers.arrays import Arrays, arrays
from exactchains.solvers.certificate import Certified, normalised, normalising_error
from exactchains.solvers.dixon import dixon, dixon_cost
from exactchains.solvers.elimination import certified_law, eliminated_law
from exactchains.solvers.entrywise import BLOCK_WORK, entrywise, mode
from exactchains.solvers.gth import gth, several
from exactchains.solvers.law import ExactValues, StationaryLaw, TwofoldValues, Values
from exactchains.solvers.long_block import LongBlock
from exactchains.solvers.proof import exact_proof, integer_proof, twofold_proof
from exactchains.solvers.refine import refined
from exactchains.solvers.structure import narrow_order, structure
from exactchains.solvers.threads import one_thread
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, expect

LARGEST_EXACT = 2500  # states
QUICK_STATES = 300  # more take longer than QUICK with rates of one bit
QUICK = 0.2  # seconds that an exact solve may take before floating-point methods are tried
REDUCTION_WORK = 3e7  # states times squared bandwidth up to which elimination by states comes first,
LARGEST_REDUCTION = 5e8  # and up to which it is tried at last: minutes
METHODS = ("auto", "exact", "gth", "direct", "levels", "block")

Found = tuple[Values, str, Callable[[], dict[str, Any]] | None]


@one_thread
def stationary(chain: FiniteChain, *, digits: int | None = None, method: str = "auto") -> Any:
    r"""Return the stationary law: :math:`\pi Q = 0` (or :math:`\pi P = \pi`), :math:`\sum \pi = 1`.

    Parameters
    ----------
    chain
        One recurrent class; transient states have the exact entry 0.
    digits
        Certain significant digits wanted in *every* entry, however small.  Without it the law is exact, in the
        chain's own domain (fractions, rational functions, balls).
    method
        ``auto``, or one of ``exact`` (p-adic), ``gth`` (subtraction-free, in long floating-point numbers),
        ``direct`` (sparse factors), ``levels`` (Krylov), ``block`` (subtraction-free by levels); the last three
        refine in two doubles, then in integers.

    Returns
    -------
    list or StationaryLaw
        A list of native numbers without ``digits``, else a law of enclosures with method, cost and certificate.

    Guarantee
    ---------
    The law exists and is unique, and it lies in the enclosures returned.

    Raises
    ------
    DoesNotExist
        Several recurrent classes; :func:`extremal_laws` lists the law of each.
    PrecisionExhausted
        No method could certify that many digits.

    Examples
    --------
    >>> chain = FiniteChain.from_matrix([["-3/2", "3/2", 0], [3, "-9/2", "3/2"], [0, 3, -3]])
    >>> stationary(chain)
    [4/7, 2/7, 1/7]
    >>> stationary(chain, digits=20)[2]
    Enclosure(1/7, exact)
    """
    expect(chain, FiniteChain)
    if digits is None and chain.domain != QQ:
        return gth(chain)
    flow = arrays(chain)
    found = structure(flow)
    if len(found.recurrent) > 1:
        raise DoesNotExist(several(len(found.recurrent), [int(c[0]) for c in found.recurrent]))
    law = _class_law(chain, flow, found.recurrent[0], digits, method)
    return law if digits is not None else _fractions(law)


def extremal_laws(chain: FiniteChain, *, digits: int | None = None, method: str = "auto") -> list[StationaryLaw]:
    """Return the law of every recurrent class, in order of their first states.

    The stationary laws of the chain are exactly the mixtures of these.  Parameters as in :func:`stationary`; without
    ``digits`` the laws are exact.
    """
    flow = arrays(chain)
    return [_class_law(chain, flow, states, digits, method) for states in structure(flow).recurrent]


def _class_law(chain: FiniteChain, flow: Arrays, states: Any, digits: int | None, method: str) -> StationaryLaw:
    if method not in METHODS:
        raise InputError(f"method = {method!r}: give one of {', '.join(METHODS)}")
    if digits is not None and (not isinstance(digits, int) or isinstance(digits, bool) or not 1 <= digits <= 100_000):
        raise InputError(f"digits = {digits!r}: give an integer from 1 to 100000, or None for the exact law")
    start = time.perf_counter()
    inside = flow.within(states)
    problem = (chain, states, inside)
    values, name, prove = _exact(problem) if len(states) == 1 else _solve(problem, digits, method)
    return StationaryLaw(chain.size, states, values, name, time.perf_counter() - start, prove)


def _solve(problem: tuple[FiniteChain, Any, Arrays], digits: int | None, method: str) -> Found:
    inside = problem[2]
    if digits is None:
        if inside.size > LARGEST_EXACT:
            raise InputError(
                f"digits = None: exact laws end at {LARGEST_EXACT} states, here are {inside.size}; give digits"
            )
        return _exact(problem)
    if method == "exact" or (method == "auto" and inside.size <= QUICK_STATES and dixon_cost(inside) < QUICK):
        return _exact(problem)
    if method == "gth":
        return _reduced(problem, narrow_order(inside)[0], digits)
    laws = entrywise(inside, target=0.4 * 10.0 ** max(1 - digits, -25), method=method)
    reached = _reached(laws)
    if reached >= digits:
        return twofold_law(problem, laws[-1])
    for found in reversed([law for law in laws if law.contracts()]):
        try:
            return _integers(problem, found, digits)
        except PrecisionExhausted:
            continue
    if method == "auto":
        return _last_resort(problem, laws, digits, reached)
    raise PrecisionExhausted(f"could not certify {digits} digits in every entry: {max(reached, 0)}")


def _last_resort(problem: tuple[FiniteChain, Any, Arrays], laws: list[Certified], digits: int, reached: int) -> Found:
    """Elimination in long numbers, by states or by levels, or exact arithmetic: the cheapest that the size allows."""
    inside = problem[2]
    order, width = narrow_order(inside)
    work = inside.size * float(width) ** 2
    if work < REDUCTION_WORK:
        return _reduced(problem, order, digits)
    if laws and float((np.diff(laws[-1].flow.start).astype(float) ** 3).sum()) < BLOCK_WORK:
        return _long_block(problem, laws[-1], digits)
    if inside.size <= LARGEST_EXACT and dixon_cost(inside) < 600:
        return _exact(problem)
    if work < LARGEST_REDUCTION:
        return _reduced(problem, order, digits)
    raise PrecisionExhausted(f"could not certify {digits} digits in every entry: {max(reached, 0)}")


def _reached(laws: list[Certified]) -> int:
    """Return the certain digits of the best law, -1 without one."""
    if not laws or not np.isfinite(laws[-1].error.max()):
        return -1
    total = float(laws[-1].error.max()) + normalising_error(laws[-1].flow.size)
    worst = fmpq(*total.as_integer_ratio()) * fmpq(1001, 1000)
    certain = Enclosure(1 - worst, 1 + worst).certain_digits if worst < 1 else 0
    return certain or 0


def _exact(problem: tuple[FiniteChain, Any, Arrays]) -> Found:
    numerators, total = dixon(problem[2])
    values = ExactValues(numerators, total)
    return values, "exact", lambda: exact_proof(problem, values)


def twofold_law(problem: tuple[FiniteChain, Any, Arrays], found: Certified) -> Found:
    h, lo, e = normalised(found.flow, (found.h, found.lo, found.e))
    back = np.argsort(found.flow.order)
    error = (found.error + normalising_error(found.flow.size)) * (1 + 2.0**-40)
    values = TwofoldValues(h[back], lo[back], e[back], error[back])
    return values, found.method, lambda: twofold_proof(problem, values, found)


def _integers(problem: tuple[FiniteChain, Any, Arrays], found: Certified, digits: int) -> Found:
    values, proof = refined(problem[2], found, digits)
    return values, f"{found.method}, integers", lambda: integer_proof(problem, values, proof)


def _reduced(problem: tuple[FiniteChain, Any, Arrays], order: Any, digits: int) -> Found:
    values, proof = eliminated_law(problem[2], order, digits)
    return values, "gth", lambda: integer_proof(problem, values, proof)


def _long_block(problem: tuple[FiniteChain, Any, Arrays], found: Certified, digits: int) -> Found:
    flow, back = found.flow, np.argsort(found.flow.order)
    guess = found.h[back], (found.e - flow.shift)[back]

    def attempt(reference: int) -> tuple[Any, list[Any], list[Any]]:
        block = LongBlock(problem[2], reference, guess)
        return block.order, *block.law_and_vector()

    start = int(flow.order[mode(found.h, found.e)])
    values, proof = certified_law(problem[2], start, attempt, digits=digits)
    return values, "block, long", lambda: integer_proof(problem, values, proof)


def _fractions(law: StationaryLaw) -> list[fmpq]:
    entries = [fmpq(0)] * law.size
    for k, i in enumerate(law.states):
        entries[int(i)] = law.values.ends(k)[0]
    return entries


def removed_equation(chain: FiniteChain) -> list[Any]:
    r"""Return the stationary law by one linear solve: :math:`x_0 = 1`, balance of states 1..n-1, then normalise.

    The balance equation of state 0 is dropped, not replaced by the normalisation, which would destroy every entry
    below the rounding error of the largest.  For irreducible chains over any domain.
    """
    domain, n = chain.domain, chain.size
    with domain.working():
        zero = domain.convert(0)
        balance = [[zero] * n for _ in range(n)]  # balance[j][i]: flow from i into j
        for i, row in enumerate(chain.rows):
            for j, rate in row.items():
                if i != j:
                    balance[j][i] = balance[j][i] + rate
                    balance[i][i] = balance[i][i] - rate
        tail = domain.solve([row[1:] for row in balance[1:]], [zero - row[0] for row in balance[1:]]) if n > 1 else []
        law = [domain.convert(1), *tail]
        total = sum(law, zero)
        return [x / total for x in law]
