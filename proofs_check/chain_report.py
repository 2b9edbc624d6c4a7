"""Answers about a chain as plain data: classes, laws, absorption, levels; what ``exaq chain --json`` prints."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from exactchains import decimals
from exactchains.chain import FiniteChain
from exactchains.enclosure import Enclosure
from exactchains.initial import Start, initial_law
from exactchains.level_chain import LevelChain
from exactchains.solvers.absorption import absorption
from exactchains.solvers.arrays import arrays
from exactchains.solvers.level_law import level_law
from exactchains.solvers.matrix_geometric import rate_matrix
from exactchains.solvers.stationary import extremal_laws
from exactchains.solvers.structure import period, structure
from exactchains.truth import InputError

GUARD = 10  # decimals beyond the digits asked for, in bounds
FINITE = ("law", "classes", "absorption")
LEVELS = ("law", "levels", "R", "G", "decay", "mean_level")
FEW = range(4)  # levels that are shown unless others are asked for


def report(
    chain: FiniteChain | LevelChain,
    quantity: str = "law",
    *,
    start: Start | None = None,
    index: Sequence[int] | None = None,
    digits: int = 30,
) -> dict[str, Any]:
    """Return the answer as JSON data.

    Parameters
    ----------
    quantity
        Finite chains: ``law``, ``classes``, ``absorption`` (needs ``start``).  Level chains: ``law`` (all of what
        follows), ``levels``, ``R``, ``G``, ``decay``, ``mean_level``.
    index
        States or levels to show; default: all states, the first four levels.

    Raises
    ------
    InputError
        The quantity does not fit the chain, or a state does not exist.
    """
    known = FINITE if isinstance(chain, FiniteChain) else LEVELS
    if quantity not in known:
        what = "a finite" if isinstance(chain, FiniteChain) else "a level"
        raise InputError(f"quantity = {quantity[:40]!r}: {what} chain has {', '.join(known)}")
    if (start is not None) != (quantity == "absorption"):
        raise InputError("from: give the state or law to start in with quantity 'absorption', and only there")
    if isinstance(chain, LevelChain):
        return _levels(chain, quantity, FEW if index is None else index, digits)
    if index is not None and max(index) >= chain.size:
        raise InputError(f"index {max(index)}: states are 0 to {chain.size - 1}")
    if start is not None:
        return _absorption(chain, start, digits)
    return _classes(chain, quantity, index, digits)


def certificate(chain: FiniteChain | LevelChain, digits: int) -> dict[str, Any]:
    """Return the certificate of the law: of the only recurrent class, or of the first levels.

    Raises
    ------
    InputError
        Several recurrent classes, a law spread too far, or one whose method stores no certificate.
    """
    if isinstance(chain, LevelChain):
        found = level_law(chain, digits=digits).certificate
        if found is None:
            raise InputError("--certificate: the law is spread too far for integers of one size; ask for fewer digits")
    else:
        laws = extremal_laws(chain, digits=digits)
        if len(laws) > 1:
            raise InputError(
                f"--certificate: the chain has {len(laws)} recurrent classes; one law is certified at a time"
            )
        found = laws[0].certificate
    if found is None:
        raise InputError("--certificate: this law's method stores no certificate; ask for fewer digits")
    return found


def number(e: Enclosure, digits: int) -> dict[str, Any]:
    """Return one number: status, exact value or null, bounds rounded outward, certain digits."""
    certain = e.certain_digits
    return {
        "status": e.status,
        "exact": str(e.lower) if e.is_exact else None,
        "lower": decimals.outward(e.lower, digits + GUARD, up=False),
        "upper": decimals.outward(e.upper, digits + GUARD, up=True),
        "digits": e.digits(digits if certain is None else min(digits, certain)) if certain != 0 else e.short(),
    }


def _classes(chain: FiniteChain, quantity: str, index: Sequence[int] | None, digits: int) -> dict[str, Any]:
    flow = arrays(chain)
    found = structure(flow)
    looping = _loops(chain)
    classes: list[dict[str, Any]] = []
    for states in found.recurrent:
        turns = None if chain.time == "continuous" else period(flow, states, bool(looping[states].any()))
        classes.append({"states": states.tolist(), "period": turns})
    if quantity == "law":
        for data, law in zip(classes, extremal_laws(chain, digits=digits), strict=True):
            shown = data["states"] if index is None else [i for i in index if i in set(data["states"])]
            data["law"] = [{"state": i} | number(law[i], digits) for i in shown]
            data["method"] = law.method
    return {"classes": classes, "transient": found.transient.tolist()}


def _loops(chain: FiniteChain) -> Any:
    rows: Any = chain.rows
    sources = np.repeat(np.arange(chain.size), np.diff(np.asarray(rows.indptr)))
    looping = np.zeros(chain.size, bool)
    looping[sources[sources == np.asarray(rows.indices)]] = True
    return looping


def _absorption(chain: FiniteChain, start: Start, digits: int) -> dict[str, Any]:
    found = structure(arrays(chain))
    ends = absorption(chain, start, digits=digits)
    listed = [{"states": c.tolist()} | number(e, digits) for c, e in zip(found.recurrent, ends, strict=True)]
    law = {str(i): str(p) for i, p in initial_law(chain.size, start).items()}
    return {"from": start if isinstance(start, int) else law, "absorption": listed}


def _levels(chain: LevelChain, quantity: str, index: Sequence[int], digits: int) -> dict[str, Any]:
    rates = rate_matrix(chain, digits=digits)
    answer: dict[str, Any] = {"status": str(rates.drift.drift)}
    wanted = [quantity] if quantity != "law" else list(LEVELS[1:])
    for name in ("R", "G"):
        if name in wanted:
            answer[name] = [[number(x, digits) for x in row] for row in getattr(rates, name)]
    if quantity in ("R", "G"):
        return answer
    law = level_law(chain, digits=digits)
    parts: dict[str, Callable[[], Any]] = {
        "decay": lambda: number(law.decay, digits),
        "levels": lambda: [[number(x, digits) for x in law.level(n)] for n in index],
        "mean_level": lambda: number(law.mean_level, digits),
    }
    answer |= {name: make() for name, make in parts.items() if name in wanted}
    return answer | ({"index": list(index)} if "levels" in wanted else {})
