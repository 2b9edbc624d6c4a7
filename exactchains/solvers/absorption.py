"""Where a reducible chain ends: the probability of each recurrent class from a start."""

from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.enclosure import Enclosure
from exactchains.solvers.arrays import arrays
from exactchains.solvers.stationary import stationary
from exactchains.solvers.structure import Structure, structure
from exactchains.truth import InputError


def absorption(chain: FiniteChain, start: int, *, digits: int | None = None) -> list[Enclosure]:
    r"""Return the probability of ending in each recurrent class, in the order of ``extremal_laws``.

    Let the chain start anew, at rate 1, whenever it has reached a recurrent class: the classes c of this irreducible
    chain have stationary probabilities :math:`\pi_c` in proportion to the numbers of visits, so that
    :math:`p_c = \pi_c / \sum_{c'} \pi_{c'}`.

    Parameters
    ----------
    digits
        Certain digits of every probability, however small; without it they are exact.

    Guarantee
    ---------
    The probabilities lie in the enclosures, which lie in [0, 1]; impossible classes have the exact value 0.

    Raises
    ------
    InputError
        No such state, or too many transient states for exact arithmetic.
    PrecisionExhausted
        The digits could not be certified.
    """
    if not 0 <= start < chain.size:
        raise InputError(f"start = {start}: states are 0 to {chain.size - 1}")
    found = structure(arrays(chain))
    again, ends = _starting_anew(chain, found, start)
    count = len(found.recurrent)
    if not ends:
        return [Enclosure.exact(int(start in c)) for c in map(set, (c.tolist() for c in found.recurrent))]
    law = stationary(again, digits=None if digits is None else digits + 2)
    visits = {c: Enclosure.of(law[k]) if digits is None else law[k] for c, k in ends.items()}
    return [_share(visits, c) if c in visits else Enclosure.exact(0) for c in range(count)]


def _starting_anew(chain: FiniteChain, found: Structure, start: int) -> tuple[FiniteChain, dict[int, int]]:
    """Return the chain on the transient states reachable from ``start`` and one state for each class that they reach.

    The second value numbers the classes' states.
    """
    of_class = {int(i): c for c, states in enumerate(found.recurrent) for i in states}
    number: dict[int, int] = {} if start in of_class else {start: 0}
    queue, ends = list(number), {}  # type: list[int], dict[int, int]
    rows: dict[int, dict[int, fmpq]] = {}
    for i in queue:
        row = rows.setdefault(number[i], {})
        for j, x in chain.rows[i].items():
            if j == i:
                continue
            if j in of_class:
                k = ends.setdefault(of_class[j], len(number) + len(ends))
            elif j in number:
                k = number[j]
            else:
                k = number[j] = len(number) + len(ends)
                queue.append(j)
            row[k] = row.get(k, fmpq(0)) + x
    for k in ends.values():
        rows[k] = {0: fmpq(1)}
    return FiniteChain(tuple(rows[k] for k in range(len(rows))) or ({},)), ends


def _share(visits: dict[int, Enclosure], c: int) -> Enclosure:
    own, others = visits[c], [e for k, e in visits.items() if k != c]
    lower = own.lower / (own.lower + sum((e.upper for e in others), fmpq(0)))
    upper = own.upper / (own.upper + sum((e.lower for e in others), fmpq(0)))
    return Enclosure.exact(lower) if lower == upper else Enclosure(lower, upper)
