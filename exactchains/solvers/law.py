"""The stationary law as a result: enclosures on demand, method, cost and certificate."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload

import numpy as np
from flint import arb, ctx, fmpq

from exactchains.domain import Rigor, ball_ends, rational
from exactchains.enclosure import Enclosure
from exactchains.truth import InputError


class Values(Protocol):
    """The positive entries of a law, in whatever form the method made them."""

    def __len__(self) -> int: ...
    def ends(self, k: int) -> tuple[fmpq, fmpq]: ...


@dataclass(frozen=True, eq=False)
class ExactValues:
    """Entries ``numerators[k] / total``."""

    numerators: Sequence[Any]
    total: Any

    def __len__(self) -> int:
        return len(self.numerators)

    def ends(self, k: int) -> tuple[fmpq, fmpq]:
        x = fmpq(self.numerators[k], self.total)
        return x, x


@dataclass(frozen=True, eq=False)
class TwofoldValues:
    """Entries ``(high + low) 2^exponent`` with relative errors below ``error``: 28 bytes a state."""

    high: Any
    low: Any
    exponent: Any
    error: Any

    def __len__(self) -> int:
        return len(self.high)

    def ends(self, k: int) -> tuple[fmpq, fmpq]:
        x = _exact(self.high[k]) + _exact(self.low[k])
        x *= fmpq(2) ** int(self.exponent[k])
        radius = x * _exact(self.error[k])
        return x - radius, x + radius


@dataclass(frozen=True, eq=False)
class IntegerValues:
    """Entries ``mantissa[k] 2^exponent[k] / total`` with relative errors below ``error``."""

    mantissa: Any
    exponent: Any
    total: fmpq
    error: fmpq
    bits: int

    def __len__(self) -> int:
        return len(self.mantissa)

    def ends(self, k: int) -> tuple[fmpq, fmpq]:
        x = fmpq(int(self.mantissa[k])) * fmpq(2) ** int(self.exponent[k]) / self.total
        unit = fmpq(2) ** (int(x.p).bit_length() - int(x.q).bit_length() - self.bits)
        low, high = x * (1 - self.error) / unit, x * (1 + self.error) / unit
        return (int(low.p) // int(low.q)) * unit, -(-int(high.p) // int(high.q)) * unit


@dataclass(frozen=True, eq=False)
class StationaryLaw(Sequence[Enclosure]):
    """The stationary law of one recurrent class: entry i encloses the long-run share of time in state i.

    ``states`` are the states of the class (sorted); all other entries are exactly zero.

    Guarantee
    ---------
    The class has exactly one stationary law, and it lies in the entries.
    """

    size: int
    states: Any
    values: Values
    method: str
    seconds: float = 0.0
    prove: Callable[[], dict[str, Any]] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, i: int) -> Enclosure: ...
    @overload
    def __getitem__(self, i: slice) -> list[Enclosure]: ...
    def __getitem__(self, i: int | slice) -> Enclosure | list[Enclosure]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self.size))]
        if not -self.size <= i < self.size:
            raise IndexError(i)
        k = int(np.searchsorted(self.states, i % self.size))
        if k == len(self.states) or self.states[k] != i % self.size:
            return Enclosure.exact(0)
        return self._entry(k)

    def _entry(self, k: int) -> Enclosure:
        lower, upper = self.values.ends(k)
        exact = isinstance(self.values, ExactValues)
        return Enclosure(lower, upper, Rigor.EXACT if exact else Rigor.ENCLOSED)

    def __iter__(self) -> Iterator[Enclosure]:
        return (self[i] for i in range(self.size))

    def __repr__(self) -> str:
        return f"StationaryLaw({self.size} states, {self.status}, {self.method}, {self.seconds:.2g} s)"

    @property
    def status(self) -> str:
        return "exact" if isinstance(self.values, ExactValues) else "enclosed"

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The certificate that ``python -m proofs_check.check`` accepts, built when asked for; None: has none."""
        return self.prove() if self.prove else None

    def certain_digits(self) -> int | None:
        """Return the least number of certain digits of an entry; None: exact."""
        counts = [self._entry(k).certain_digits for k in self._worst()]
        return None if None in counts else min(c for c in counts if c is not None)

    def _worst(self) -> Iterator[int]:
        if isinstance(self.values, TwofoldValues):
            return iter([int(np.argmax(self.values.error))])
        return iter(range(len(self.values)))

    def mean(self, reward: Callable[[int], Any] | Sequence[Any], *, digits: int = 30) -> Enclosure:
        """Return the long-run mean of an exact reward of the state: ``reward(i)`` or ``reward[i]``.

        Raises
        ------
        InputError
            A sequence of the wrong length.
        """
        if not callable(reward) and len(reward) != self.size:
            raise InputError(f"reward has {len(reward)} entries, the chain {self.size} states")
        of = reward if callable(reward) else reward.__getitem__
        if isinstance(self.values, ExactValues):
            total = sum((rational(of(int(i))) * self.values.ends(k)[0] for k, i in enumerate(self.states)), fmpq(0))
            return Enclosure.exact(total)
        lower, upper = arb(0), arb(0)
        with ctx.workprec(int(3.33 * digits) + 64):
            for k, i in enumerate(self.states):
                x = rational(of(int(i)))
                if x != 0:
                    low, high = self.values.ends(k)
                    lower += arb(x * (low if x > 0 else high))
                    upper += arb(x * (high if x > 0 else low))
            return Enclosure(ball_ends(lower)[0], ball_ends(upper)[1])


def _exact(x: Any) -> fmpq:
    return fmpq(*float(x).as_integer_ratio())
