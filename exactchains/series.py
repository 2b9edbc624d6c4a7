"""Truncated power series over any domain: transforms near a point, hence moments without differentiation."""

from collections.abc import Sequence
from typing import Any

from exactchains.truth import Undecided


class Series:
    """c_0 + c_1 t + ... + c_{n-1} t^{n-1} + O(t^n); coefficients are native numbers of one domain.

    Operands may be series of the same length or numbers.  A quotient whose divisor starts with exact zeros cancels
    common powers of t and is shorter by them.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Sequence[Any]) -> None:
        self.terms = tuple(terms)

    @classmethod
    def variable(cls, length: int, one: Any) -> "Series":
        """Return t itself to ``length`` terms; ``one`` is the unit of the domain."""
        zero = one - one
        return cls([zero, one] + [zero] * (length - 2))

    def __len__(self) -> int:
        return len(self.terms)

    def __getitem__(self, k: int) -> Any:
        return self.terms[k]

    def _other(self, x: Any) -> "Series":
        if isinstance(x, Series):
            return x
        zero = self.terms[0] - self.terms[0]
        return Series([zero + x] + [zero] * (len(self) - 1))

    def __add__(self, x: Any) -> "Series":
        return Series([a + b for a, b in zip(self.terms, self._other(x).terms, strict=False)])

    __radd__ = __add__

    def __neg__(self) -> "Series":
        return Series([-a for a in self.terms])

    def __sub__(self, x: Any) -> "Series":
        return self + (-self._other(x))

    def __rsub__(self, x: Any) -> "Series":
        return self._other(x) - self

    def __mul__(self, x: Any) -> "Series":
        if not isinstance(x, Series):
            return Series([a * x for a in self.terms])
        n = min(len(self), len(x))
        return Series([_convolved(self.terms, x.terms, k) for k in range(n)])

    __rmul__ = __mul__

    def __truediv__(self, x: Any) -> "Series":
        if not isinstance(x, Series):
            return Series([a / x for a in self.terms])
        top, bottom = self.terms, x.terms
        while bottom and top and bottom[0] == 0 and top[0] == 0:
            top, bottom = top[1:], bottom[1:]
        n = min(len(top), len(bottom))
        if not n:
            raise Undecided("the series is too short for this quotient")
        found: list[Any] = []
        for k in range(n):
            rest = top[k] - sum((found[i] * bottom[k - i] for i in range(k)), top[k] - top[k])
            found.append(rest / bottom[0])
        return Series(found)

    def __rtruediv__(self, x: Any) -> "Series":
        return self._other(x) / self

    def __pow__(self, n: int) -> "Series":
        result = self._other(1)
        for _ in range(n):
            result = result * self
        return result

    def exp(self) -> "Series":
        """Return e to the series; a constant term other than exact zero needs numbers with ``exp()``."""
        first = self.terms[0]
        found = [first - first + 1 if first == 0 else first.exp()]
        for k in range(1, len(self)):
            parts = (i * self.terms[i] * found[k - i] for i in range(1, k + 1))
            found.append(sum(parts, first - first) / k)
        return Series(found)


def _convolved(a: Sequence[Any], b: Sequence[Any], k: int) -> Any:
    return sum((a[i] * b[k - i] for i in range(1, k + 1)), a[0] * b[k])
