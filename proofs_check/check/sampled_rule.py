"""Rules that sample d servers and look at few loads, as a finite table, and the polynomials Psi they give.

See :mod:`proofs_check.check.krawczyk` for the table.  Each kind of sample must send its job to one of its servers.

Caps    d <= 12; 60,000 kinds of samples; numbers of 1000 bits, 4000 in the common denominator of a table
"""

from fractions import Fraction
from itertools import accumulate, combinations_with_replacement
from math import comb, factorial, lcm, prod
from operator import add
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, rational

Rows = list[list[int]]
Entry = tuple[int, list[int], Fraction]
Factor = tuple[int, int, range]
MAX_COMMON = 4000  # bits of the common denominator


class Rule:
    """The problem: a table that sends each job to one server of its sample, and its polynomials."""

    def __init__(self, problem: Any) -> None:
        data = fields(problem, "load d pools sight table")
        self.load, self.d = short(data["load"]), integer(data["d"], 1)
        self.pools = [tuple(short(x) for x in items(row, 3)) for row in items(data["pools"])]
        self.base, self.reach = integer(items(data["sight"], 2)[0]), integer(data["sight"][1], 1)
        totals = [sum(column) for column in zip(*self.pools, strict=True)]
        if min(self.load, *(x for row in self.pools for x in row)) <= 0 or not totals[0] == totals[2] == 1:
            raise Rejected("load, fractions, speeds and shares are positive; fractions and shares sum to 1")
        self.rates = [self.load * w / (f * s) for f, s, w in self.pools]
        codes = len(self.pools) * (self.reach + 1)
        if self.d > 12 or codes > 60_000 or comb(codes + self.d - 1, self.d) > 60_000:
            raise Rejected("more than 60,000 kinds of samples")
        read = [[_entry(entry, self.d) for entry in items(kind)] for kind in items(data["table"], self.base + 1)]
        self.length = sum(map(len, read)) * self.d
        self.common = 1
        for bottom in {x.denominator for kind in read for _, _, x in kind}:
            self.common = lcm(self.common, bottom)
            if self.common.bit_length() > MAX_COMMON:
                raise Rejected("coefficients out of bounds")
        self.table = [self._kind(kind, codes) for kind in read]

    def _kind(self, entries: list[Entry], codes: int) -> dict[int, list[tuple[int, list[int]]]]:
        """Return others and coefficients by code joined, if each sample's coefficients sum to its orders."""
        left = {}
        for sample in combinations_with_replacement(range(codes), self.d):
            if any(c % (self.reach + 1) == 0 for c in sample):
                left[sample] = Fraction(factorial(self.d), prod(factorial(sample.count(c)) for c in set(sample)))
        found: dict[int, list[tuple[int, list[int]]]] = {}
        for code, others, x in entries:
            sample = tuple(sorted([code, *others]))
            if x < 0 or sample not in left:
                raise Rejected("a coefficient below 0, or of a sample without a least load")
            left[sample] -= x
            found.setdefault(code, []).append((int(x * self.common), others))
        if any(left.values()):
            raise Rejected("the table does not send each job to one server of its sample")
        return found

    def shares(self, x: Rows, beyond: Rows) -> tuple[list[Rows], list[int]]:
        """Return for each class Psi, its change by all levels beyond, and its slopes by each level; and Psi far out.

        x in units 2^-E and ``beyond[i][m]``, the mass of pool i on levels K + 1 + m and above, give units
        2^(-E (d-1)) / common and, for slopes, 2^(-E (d-2)) / common.
        """
        size, found, far = len(x[0]), [], []
        above = [list(accumulate(row[::-1]))[::-1] for row in x]
        factors = [self._factors(least, x, above, beyond) for least in range(size)]
        for j in range(len(x)):
            run, rows, first = [0] * (2 + len(x) * size), [], j * (self.reach + 1)
            for k in range(size):
                if k == size - 1:
                    far.append(run[0])
                if k >= self.reach:
                    least = k - self.reach
                    run = self._joined(run, first + self.reach, least, factors[least])
                row = run
                for r in range(min(self.reach, k + 1)):
                    row = self._joined(row, first + r, k - r, factors[k - r])
                rows.append(row)
            found.append(rows)
        return found, far

    def _factors(self, least: int, x: Rows, above: Rows, beyond: Rows) -> list[Factor]:
        """Return for each code its mass, that of it which lies beyond, and the levels of the rest."""
        found, size = [], len(x[0])
        for c in range(len(x) * (self.reach + 1)):
            i, r = divmod(c, self.reach + 1)
            k, whole = least + r, r == self.reach
            inside = 0 if k >= size else above[i][k] if whole else x[i][k]
            outside = beyond[i][max(k - size, 0)] if whole or k >= size else 0
            last = size if whole else min(k + 1, size)
            found.append((inside + outside, outside, range(i * size + k, i * size + last)))
        return found

    def _joined(self, known: list[int], code: int, least: int, factors: list[Factor]) -> list[int]:
        """Return ``known`` with the value, the change and the slopes that samples of one least load add."""
        here, by = [0] * len(known), [0] * len(factors)
        for coefficient, others in self.table[min(least, self.base)].get(code, []):
            values = [factors[o][0] for o in others]
            here[0] += coefficient * prod(values)
            for a, o in enumerate(others):
                by[o] += coefficient * prod(values[:a] + values[a + 1 :])
        for part, (_, outside, levels) in zip(by, factors, strict=True):
            here[1] += part * outside
            for level in levels:
                here[2 + level] += part
        return list(map(add, known, here))


def short(text: Any) -> Fraction:
    """Return a number of at most 1000 bits."""
    value = rational(text)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 1000:
        raise Rejected("a number of more than 1000 bits")
    return value


def _entry(entry: Any, d: int) -> Entry:
    code, others, x = items(entry, 3)
    return integer(code), [integer(o) for o in items(others, d - 1)], short(x)
