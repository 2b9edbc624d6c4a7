"""Where a reducible chain ends: the probability of each recurrent class from a start."""

from collections.abc import Iterable

from flint import fmpq

from exactchains.chain import FiniteChain
from exactchains.enclosure import Enclosure
from exactchains.initial import Start, initial_law
from exactchains.solvers.arrays import arrays
from exactchains.solvers.stationary import stationary
from exactchains.solvers.structure import Structure, structure


def absorption(chain: FiniteChain, start: Start, *, digits: int | None = None) -> list[Enclosure]:
    r"""Return the probability of ending in each recurrent class, in the order of ``extremal_laws``.

    Let the chain start anew, at rate 1, whenever it has reached a recurrent class: the classes c of this irreducible
    chain have stationary probabilities :math:`\pi_c` in proportion to the numbers of visits, so that
    :math:`p_c = \pi_c / \sum_{c'} \pi_{c'}`.

    Parameters
    ----------
    start
        A state, or a table from states to exact probabilities that sum to 1.
    digits
        Certain digits of every probability, however small; without it they are exact.

    Guarantee
    ---------
    The probabilities lie in the enclosures, which lie in [0, 1]; impossible classes have the exact value 0.

    Raises
    ------
    InputError
        No such state, no law to start from, or too many transient states for exact arithmetic.
    PrecisionExhausted
        The digits could not be certified.
    """
    found = structure(arrays(chain))
    again, ends = _starting_anew(chain, found, initial_law(chain.size, start))
    law = stationary(again, digits=None if digits is None else digits + 2)
    visits = {c: Enclosure.of(law[k]) if digits is None else law[k] for c, k in ends.items()}
    return [_share(visits, c) if c in visits else Enclosure.exact(0) for c in range(len(found.recurrent))]


def _starting_anew(chain: FiniteChain, found: Structure, start: dict[int, fmpq]) -> tuple[FiniteChain, dict[int, int]]:
    """Return the chain on the transient states that can be reached and one state for each class that can.

    The second value numbers the classes' states.
    """
    of_class = {int(i): c for c, states in enumerate(found.recurrent) for i in states}
    number: dict[int, int] = {}
    queue: list[int] = []
    ends: dict[int, int] = {}

    def place(i: int) -> int:
        if i in of_class:
            return ends.setdefault(of_class[i], len(number) + len(ends))
        if i not in number:
            number[i] = len(number) + len(ends)
            queue.append(i)
        return number[i]

    def added(moves: Iterable[tuple[int, fmpq]]) -> dict[int, fmpq]:
        row: dict[int, fmpq] = {}
        for j, x in moves:
            k = place(j)
            row[k] = row.get(k, fmpq(0)) + x
        return row

    anew = added(start.items())
    rows: dict[int, dict[int, fmpq]] = {}
    for i in queue:
        rows[number[i]] = added((j, x) for j, x in chain.rows[i].items() if j != i)
    for k in ends.values():
        rows[k] = {j: x for j, x in anew.items() if j != k}
    return FiniteChain(tuple(rows[k] for k in range(len(rows)))), ends


def _share(visits: dict[int, Enclosure], c: int) -> Enclosure:
    own, others = visits[c], [e for k, e in visits.items() if k != c]
    lower = own.lower / (own.lower + sum((e.upper for e in others), fmpq(0)))
    upper = own.upper / (own.upper + sum((e.lower for e in others), fmpq(0)))
    return Enclosure.exact(lower) if lower == upper else Enclosure(lower, upper)
