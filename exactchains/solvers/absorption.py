"""Where a reducible chain ends: the probability of each recurrent class from a start."""

from collections.abc import Mapping
from typing import Any

from flint import fmpq, fmpz, fmpz_mat

from exactchains.chain import FiniteChain
from exactchains.domain import Balls, Domain
from exactchains.enclosure import Enclosure
from exactchains.solvers.arrays import arrays
from exactchains.solvers.structure import Structure, structure
from exactchains.truth import InputError, PrecisionExhausted

LARGEST_EXACT = 1500  # transient states on the way
FEW = 60  # so few are solved exactly in any case


def absorption(chain: FiniteChain, start: int, *, digits: int | None = None) -> list[Enclosure]:
    r"""Return the probability of ending in each recurrent class, in the order of ``extremal_laws``.

    With the transient part T of the generator, :math:`p_c = e_{start} (-Q_{TT})^{-1} Q_{Tc} 1`.

    Parameters
    ----------
    digits
        Certain digits of every probability, however small; without it (and for small chains) they are exact.

    Guarantee
    ---------
    The probabilities lie in the enclosures, which lie in [0, 1]; impossible classes have the exact value 0.

    Raises
    ------
    InputError
        No such state, or too many transient states for exact arithmetic.
    PrecisionExhausted
        Elimination in balls could not certify the digits.
    """
    if not 0 <= start < chain.size:
        raise InputError(f"start = {start}: states are 0 to {chain.size - 1}")
    found = structure(arrays(chain))
    rows = _on_the_way(chain, found, start)
    count = len(found.recurrent)
    if not rows:
        return [Enclosure.exact(int(start in c)) for c in map(set, (c.tolist() for c in found.recurrent))]
    if digits is None or len(rows) <= FEW:
        if len(rows) > LARGEST_EXACT:
            raise InputError(
                f"digits = None: {len(rows)} transient states are too many for exact fractions; give digits"
            )
        return [Enclosure.exact(x) for x in _exact(rows, start, count)]
    return _enclosed(rows, start, count, digits)


def _on_the_way(chain: FiniteChain, found: Structure, start: int) -> dict[int, dict[int, fmpq]]:
    """Return the rows of the transient states reachable from ``start``; class c is the state -1 - c."""
    number = {int(i): -1 - c for c, states in enumerate(found.recurrent) for i in states}
    rows: dict[int, dict[int, fmpq]] = {}
    queue = [] if start in number else [start]
    seen = set(queue)
    for i in queue:
        row: dict[int, fmpq] = {}
        for j, x in chain.rows[i].items():
            if j != i:
                j = number.get(j, j)
                row[j] = row.get(j, fmpq(0)) + x
                if j >= 0 and j not in seen:
                    seen.add(j)
                    queue.append(j)
        rows[i] = row
    return rows


def _exact(rows: Mapping[int, Mapping[int, fmpq]], start: int, count: int) -> list[fmpq]:
    """Solve y S = e_start p-adically; rows are scaled to integers, which scales y."""
    number = {i: k for k, i in enumerate(rows)}
    system, leaving = [[0] * len(rows) for _ in rows], [[fmpz(0)] * count for _ in rows]
    scales = []
    for k, row in enumerate(rows.values()):
        scale = fmpz(1)
        for x in row.values():
            scale = scale.lcm(x.q)
        scales.append(scale)
        for j, x in row.items():
            q = int((x * scale).p)
            system[k][k] += q
            if j >= 0:
                system[number[j]][k] -= q  # transposed
            else:
                leaving[k][-1 - j] += q
    right = fmpz_mat([[int(i == start)] for i in rows])
    solution: Any = fmpz_mat(system).solve(right)
    visits, below = solution.numer_denom()
    ends = visits.transpose() * fmpz_mat(leaving)
    return [fmpq(ends[0, c], below) for c in range(count)]


def _enclosed(rows: Mapping[int, Mapping[int, fmpq]], start: int, count: int, digits: int) -> list[Enclosure]:
    bits = int(3.33 * digits) + 64
    while bits < 20_000 + 10 * digits:
        domain = Balls(bits)
        with domain.working():
            ends = _censored(rows, start, domain)
        balls = [ends.get(-1 - c) for c in range(count)]
        if all(b is None or b.rel_accuracy_bits() > 3.33 * digits + 4 for b in balls):
            found = [Enclosure.exact(0) if b is None else Enclosure.of(b) for b in balls]
            return [e if e.upper <= 1 else Enclosure(min(e.lower, fmpq(1)), fmpq(1)) for e in found]
        bits *= 2
    raise PrecisionExhausted(f"could not certify {digits} digits of every absorption probability")


def _censored(rows: Mapping[int, Mapping[int, fmpq]], start: int, domain: Domain) -> dict[int, Any]:
    """Eliminate all transient states but ``start``, sparsest first; only sums, products and quotients occur."""
    left = {i: {j: domain.convert(x) for j, x in row.items()} for i, row in rows.items()}
    into: dict[int, set[int]] = {i: set() for i in left}
    for i, row in left.items():
        for j in row:
            if j >= 0:
                into[j].add(i)
    zero = domain.convert(0)
    for k in sorted((i for i in left if i != start), key=lambda i: len(left[i]) * len(into[i])):
        out = left.pop(k)
        total = sum(out.values(), zero)
        for i in into.pop(k):
            share = left[i].pop(k) / total
            for j, x in out.items():
                if j != i:
                    left[i][j] = left[i][j] + share * x if j in left[i] else share * x
                    if j >= 0:
                        into[j].add(i)
        for j in out:
            if j >= 0:
                into[j].discard(k)
    total = sum(left[start].values(), zero)
    return {j: x / total for j, x in left[start].items()}
