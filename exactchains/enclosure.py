"""Enclosures: two exact ends, the digits that are certain, and text without loss.

An enclosure has D certain digits when ``upper - lower <= 10^(1-D) |value|``.  It prints as the decimals that both
ends share when those are D digits; else (0.99999.. / 1.00000..) as a value with the enclosure of its last digit:
``1.000(1)`` means within one unit of the last digit shown.  An estimate prints with a leading ``~``.
"""

from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from exactchains import decimals
from exactchains.domain import Rational, Rigor, ball_ends, rational
from exactchains.number import unwire, wire
from exactchains.truth import PrecisionExhausted

SHORT = 24  # a fraction of at most so many characters prints as a fraction


@dataclass(frozen=True)
class Enclosure:
    """A real number between two exact ends, with the status of that statement.

    ``Rigor.EXACT`` needs equal ends.  ``Rigor.ESTIMATE`` marks a number that nothing vouches for.
    """

    lower: fmpq
    upper: fmpq
    rigor: Rigor = Rigor.ENCLOSED

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(f"empty enclosure: lower end {self.lower} above upper end {self.upper}")
        if self.rigor is Rigor.EXACT and self.lower != self.upper:
            raise ValueError("an exact value has equal ends")

    @classmethod
    def exact(cls, x: Rational) -> "Enclosure":
        q = rational(x)
        return cls(q, q, Rigor.EXACT)

    @classmethod
    def of(cls, x: Any, rigor: Rigor | None = None) -> "Enclosure":
        """Return the enclosure of a native number: ``fmpq`` exact, ``arb`` enclosed, ``float`` an estimate."""
        if isinstance(x, arb):
            lower, upper = ball_ends(x)
            return cls(lower, upper, Rigor.ENCLOSED if rigor is None else min(rigor, Rigor.ENCLOSED))
        if isinstance(x, float):
            q = fmpq(*x.as_integer_ratio())
            return cls(q, q, Rigor.ESTIMATE)
        q = rational(x)
        return cls(q, q, Rigor.EXACT if rigor is None else rigor)

    @property
    def status(self) -> str:
        return str(self.rigor)

    @property
    def value(self) -> "Enclosure | fmpq":
        """The exact number where it is known, else the enclosure itself."""
        return self.lower if self.rigor is Rigor.EXACT else self

    @property
    def is_exact(self) -> bool:
        return self.rigor is Rigor.EXACT

    @property
    def certain_digits(self) -> int | None:
        """Number of certain significant digits; None: all of them."""
        return 0 if self.rigor is Rigor.ESTIMATE else decimals.certain_digits(self.lower, self.upper)

    def has_digits(self, digits: int) -> bool:
        certain = self.certain_digits
        return certain is None or certain >= digits

    def digits(self, count: int) -> str:
        """Return text with ``count`` certain significant digits.

        Raises
        ------
        PrecisionExhausted
            Fewer digits are certain; the message says how many.
        """
        if self.rigor is Rigor.ESTIMATE:
            return "~" + decimals.truncated(self.lower, min(count, 17))
        if not self.has_digits(count):
            raise PrecisionExhausted(f"could not certify {count} digits: {self.certain_digits}")
        return self._decimals(count)

    def _decimals(self, count: int) -> str:
        if self.lower == self.upper:
            return decimals.truncated(self.lower, count)
        low, high = (decimals.truncated(x, count) for x in (self.lower, self.upper))
        return low if low == high else self.bracket(count)

    def bracket(self, count: int) -> str:
        """Return the nearest number of ``count`` digits, and in brackets how many units of its last digit enclose.

        Without brackets the value is exactly the number shown.
        """
        middle = (self.lower + self.upper) / 2
        if middle == 0 and self.lower == self.upper:
            return "0"
        places = count - 1 - decimals.exponent10(middle)
        nearest = (decimals.scaled(2 * middle, places, up=False) + 1) // 2
        unit = fmpq(10) ** -places
        far = max(abs(self.upper - nearest * unit), abs(self.lower - nearest * unit))
        reach = decimals.scaled(far / unit, 0, up=True)
        shown = decimals.positional(nearest, places, count)
        mantissa, mark, exponent = shown.partition("e")
        return f"{mantissa}({reach}){mark}{exponent}" if reach else shown

    def short(self, count: int = 15) -> str:
        """Return the shortest honest text: a short fraction, else up to ``count`` certain digits."""
        if self.rigor is Rigor.ESTIMATE:
            return self.digits(min(count, 17))
        if self.lower == self.upper:
            fraction = str(self.lower)
            return fraction if len(fraction) <= SHORT else decimals.truncated(self.lower, count) + ".."
        certain = self.certain_digits or 0
        if certain == 0:
            return self.bounds(3)
        return self._decimals(min(count, certain))

    def bounds(self, count: int) -> str:
        """Return both ends as text, rounded outward to ``count`` digits."""
        return f"[{decimals.outward(self.lower, count, up=False)}, {decimals.outward(self.upper, count, up=True)}]"

    def contains(self, x: Rational) -> bool:
        return bool(self.lower <= rational(x) <= self.upper)

    def overlaps(self, other: "Enclosure") -> bool:
        return bool(self.lower <= other.upper and other.lower <= self.upper)

    def to_json(self) -> dict[str, str]:
        """Return the lossless text form; :meth:`from_json` reads it back."""
        return {"lower": wire(self.lower), "upper": wire(self.upper), "status": self.status}

    @classmethod
    def from_json(cls, data: dict[str, str]) -> "Enclosure":
        return cls(unwire(data["lower"]), unwire(data["upper"]), Rigor[data["status"].upper()])

    def __str__(self) -> str:
        return self.short()

    def __repr__(self) -> str:
        return f"Enclosure({self.short()}, {self.status})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, float):
            raise TypeError(f"an enclosure is never compared with the float {other!r}; use contains() with exact text")
        if not isinstance(other, Enclosure):
            return NotImplemented
        return bool((self.lower, self.upper, self.rigor) == (other.lower, other.upper, other.rigor))

    def __hash__(self) -> int:
        return hash((str(self.lower), str(self.upper), self.rigor))

    def _repr_latex_(self) -> str:
        if self.lower == self.upper and self.lower.q != 1 and len(str(self.lower)) <= SHORT:
            sign = "-" if self.lower < 0 else ""
            return rf"${sign}\frac{{{abs(int(self.lower.p))}}}{{{self.lower.q}}}$"
        return f"${self.short()}$"


@dataclass(frozen=True)
class Result:
    """What a solver returns: the number, how it was found, what it cost, and its certificate if it has one."""

    enclosure: Enclosure
    quantity: str = ""
    index: int | None = None
    method: str = ""
    seconds: float = 0.0
    certificate: dict[str, Any] | None = None

    @property
    def value(self) -> Enclosure | fmpq:
        return self.enclosure.value

    @property
    def lower(self) -> fmpq:
        return self.enclosure.lower

    @property
    def upper(self) -> fmpq:
        return self.enclosure.upper

    @property
    def status(self) -> str:
        return self.enclosure.status

    def digits(self, count: int) -> str:
        return self.enclosure.digits(count)

    def __str__(self) -> str:
        return str(self.enclosure)

    def _repr_latex_(self) -> str:
        return self.enclosure._repr_latex_()
