"""Poisson's equation on a finite box of a countable chain, solved in doubles and refined in integers.

Inside the box V is free, with V(0) = 0; outside it is a piecewise quadratic function plus a constant kappa.  All rates
are multiplied by ``scale`` and rewards by ``unit``, so that every number is an integer over a power of two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import splu

from exactchains.countable_chain import CountableChain
from exactchains.solvers.cone_geometry import SUM, Side, basis
from exactchains.truth import PrecisionExhausted

TAIL_BITS = 20  # the outer function has coefficients over 2^20
ROUNDS = 80
Pair = tuple[int, int]
Integers = Any  # numpy array of Python integers


@dataclass(frozen=True)
class Box:
    """The pairs inside, in lexicographic order, and the shell of pairs from which a jump may lead inside."""

    sides: tuple[Side, ...]
    inside: list[Pair]
    shell: list[Pair]

    @classmethod
    def of(cls, sides: tuple[Side, ...]) -> "Box":
        ends = [min(s.bound + s.step for s in sides if s.form in (SUM, axis)) for axis in ((1, 0), (0, 1))]
        grid = np.stack(np.meshgrid(*(np.arange(end + 1) for end in ends), indexing="ij"), -1).reshape(-1, 2)
        near, within = np.ones(len(grid), dtype=bool), np.ones(len(grid), dtype=bool)
        for side in sides:
            value = grid @ np.array(side.form)
            near &= value <= side.bound + side.step
            within &= value <= side.bound
        pairs = [[(i, j) for i, j in grid[which].tolist()] for which in (within, near & ~within)]
        return cls(sides, pairs[0], pairs[1])


@dataclass(frozen=True)
class Flow:
    """Integer rates out of some pairs: into the box (row, column, rate), to outside targets, and in total."""

    row: Any
    column: Any
    rate: Integers
    beyond: list[list[tuple[Pair, int]]]
    total: Integers

    @classmethod
    def out_of(cls, pairs: list[Pair], place: dict[Pair, int], chain: CountableChain, scale: int) -> "Flow":
        row, column, rate, beyond, total = [], [], [], [], []
        for k, pair in enumerate(pairs):
            far, out = [], 0
            for target, amount in chain.transitions(pair):
                q = int((amount * scale).p)
                out += q
                if (at := place.get(target)) is None:
                    far.append((target, q))
                else:
                    row.append(k)
                    column.append(at)
                    rate.append(q)
            beyond.append(far)
            total.append(out)
        index = [np.array(x, dtype=np.int64) for x in (row, column)]
        return cls(index[0], index[1], np.array(rate, dtype=object), beyond, np.array(total, dtype=object))

    def inward(self, V: Integers) -> Integers:
        """Return the sum of rate V(target) over targets in the box."""
        found = np.zeros(len(self.total), dtype=object)
        np.add.at(found, self.row, V[self.column] * self.rate)
        return found


class Poisson:
    """The equation Q V + f = c of one chain, one reward (times ``unit``) and one box."""

    def __init__(self, chain: CountableChain, box: Box, reward: Any, scale: int) -> None:
        self.chain, self.box, self.scale = chain, box, scale
        place = {pair: k for k, pair in enumerate(box.inside)}
        self.inner = Flow.out_of(box.inside, place, chain, scale)
        self.outer = Flow.out_of(box.shell, place, chain, scale)
        self.reward = [np.array([reward(x) * scale for x in pairs], dtype=object) for pairs in (box.inside, box.shell)]
        self.factors = self._factors()

    def _factors(self) -> Any:
        """Factorise the unknowns (c, V(1), ..): column 0 of Q, whose V is 0, serves c."""
        n, diagonal = len(self.box.inside), np.arange(len(self.box.inside))
        row, column = np.concatenate([self.inner.row, diagonal]), np.concatenate([self.inner.column, diagonal])
        data = np.concatenate([self.inner.rate, -self.inner.total]).astype(float)
        keep = column != 0
        row, column = np.concatenate([row[keep], diagonal]), np.concatenate([column[keep], np.zeros(n, dtype=np.int64)])
        matrix = csr_matrix((np.concatenate([data[keep], -np.ones(n)]), (row, column)), shape=(n, n))
        return splu(matrix.tocsc(), permc_spec="COLAMD")

    def tail(self, theta: list[int], pair: Pair) -> int:
        """Return the outer function without kappa, times 2^TAIL_BITS."""
        return sum(t * v for t, v in zip(theta, basis(pair, self.chain.borders), strict=True))

    def solve(self, theta: list[int], bits: int) -> tuple[Integers, Integers]:
        """Return (c, V(1), ..) for kappa = 0 over 2^(bits + TAIL_BITS), and its response to kappa over 2^bits."""
        fixed, response = -self.reward[0] * (1 << TAIL_BITS), np.zeros(len(self.box.inside), dtype=object)
        for k, far in enumerate(self.inner.beyond):
            for target, q in far:
                fixed[k] -= q * self.tail(theta, target)
                response[k] -= q
        return self._refined(fixed, bits), self._refined(response, bits)

    def _refined(self, right: Integers, bits: int) -> Integers:
        """Solve Q V - c = right / 2^-bits to the last bits: exact residuals, corrections in doubles."""
        x, target, last = np.zeros(len(right), dtype=object), right * (1 << bits), None
        remainder = target
        for _ in range(ROUNDS):
            size = max(map(abs, remainder.tolist())).bit_length()
            if size == 0 or (last is not None and size > last - 2):
                return x
            last, shift = size, max(size - 60, 0)
            change = self.factors.solve(np.array([float(v >> shift) for v in remainder.tolist()]))
            if not np.isfinite(change).all():
                break
            top = 60 - int(np.frexp(np.abs(change).max())[1])
            steps = np.array(np.rint(np.ldexp(change, top)).astype(np.int64).tolist(), dtype=object)
            move = shift - top
            x = x + (steps * (1 << move) if move >= 0 else steps // (1 << -move))
            remainder = target - self._balance(x)
        raise PrecisionExhausted("Poisson's equation on the box does not converge; ask for fewer digits")

    def _balance(self, x: Integers) -> Integers:
        """Return Q V - c for x = (c, V(1), ..) with V = 0 outside."""
        V = x.copy()
        V[0] = 0
        return self.inner.inward(V) - V * self.inner.total - x[0]

    def shell(self, theta: list[int], solved: tuple[Integers, Integers], bits: int) -> tuple[Integers, Integers]:
        """Return Q V + f in the shell for kappa = 0, and its response to kappa, scaled as the solutions are."""
        rise = np.array(
            [
                sum(q * self.tail(theta, y) for y, q in far) - out * self.tail(theta, x)
                for far, out, x in zip(self.outer.beyond, self.outer.total, self.box.shell, strict=True)
            ],
            dtype=object,
        )
        away = np.array([sum(q for _, q in far) for far in self.outer.beyond], dtype=object) - self.outer.total
        inward = [self.outer.inward(np.concatenate([[0], x[1:]])) for x in solved]
        value = inward[0] + (rise + self.reward[1] * (1 << TAIL_BITS)) * (1 << bits)
        return value, inward[1] + away * (1 << bits)

    def worst(self, theta: list[int], V: Integers, kappa: int, bits: int, sense: int) -> int:
        """Return the largest (sense 1) or least Q V + f inside and in the shell, over 2^(bits + TAIL_BITS)."""
        V = np.concatenate([[0], V[1:]])
        lift = 1 << bits
        beyond = np.array(
            [sum(q * (self.tail(theta, y) + kappa) for y, q in far) for far in self.inner.beyond], dtype=object
        )
        inner = self.inner.inward(V) - V * self.inner.total + beyond * lift
        inner = inner + self.reward[0] * (lift << TAIL_BITS)
        zero = np.zeros(len(V), dtype=object)
        outer = self.shell(theta, (V, zero), bits)[0] + kappa * lift * self.shell_away
        return sense * int(max(sense * v for v in [*inner.tolist(), *outer.tolist()]))

    @property
    def shell_away(self) -> Integers:
        """Rate from each shell pair to outside minus its total rate."""
        return np.array([sum(q for _, q in far) for far in self.outer.beyond], dtype=object) - self.outer.total
