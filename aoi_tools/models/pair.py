"""A code for both kinds of update: n channel uses carry m bits of state or k bits of difference."""

from dataclasses import dataclass
from typing import Any

from aoi_tools.models.codes import IdealErasure, RandomGenerator, RandomParityCheck, probability
from aoi_tools.models.more_codes import Repetition
from aoi_tools.models.polar import Polar
from exactchains.truth import InputError

FAMILIES: dict[str, Any] = {c.family: c for c in (RandomParityCheck, RandomGenerator, IdealErasure, Repetition, Polar)}
OVER_FIELDS = ("rpc", "rlg")


@dataclass(frozen=True)
class Code:
    """Codewords of ``n`` uses with ``m`` bits (actual) and ``k`` bits (differential) of one family.

    ``header`` bits are added to both kinds of update: without a control channel they say which one it is.  ``field``
    is the size of the field of random codes; then n, m and k count its symbols.

    Examples
    --------
    >>> from aoi_tools import Code, Feedback, age_law
    >>> code = Code("mds", n=4, m=3, k=1, eps="1/2")
    >>> age_law(Feedback(code.actual, code.differential)).mean()
    8/15
    """

    family: str
    n: int
    m: int
    eps: Any
    k: int | None = None
    header: int = 0
    field: int = 2

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"code = {self.family!r}: allowed are {' | '.join(FAMILIES)}")
        for name, x, top in (("n", self.n, None), ("m", self.m, self.n), ("k", self.k, self.m)):
            if name == "k" and x is None:
                continue
            least = 1 if name == "n" else 0
            if not isinstance(x, int) or x < least or (top is not None and x > top):
                bound = (
                    f"an integer >= {least}" if top is None else f"an integer from 0 to {'n' if name == 'm' else 'm'}"
                )
                raise InputError(f"{name} = {x}: {bound}{'' if top is None else f' = {top}'} is needed")
        if not isinstance(self.header, int) or self.header < 0 or self.m + self.header > self.n:
            raise InputError(f"header = {self.header}: m + header is an integer up to n = {self.n}")
        if self.field != 2 and self.family not in OVER_FIELDS:
            raise InputError(f"field = {self.field}: only {' and '.join(OVER_FIELDS)} have a field; leave it out")
        object.__setattr__(self, "eps", probability(self.eps, "eps"))

    @property
    def actual(self) -> Any:
        return self.word(self.m)

    @property
    def differential(self) -> Any:
        if self.k is None:
            raise InputError("k is missing: the number of bits of a differential update; give 0 <= k <= m")
        return self.word(self.k)

    def word(self, bits: int) -> Any:
        """Return the code of this family for ``bits`` bits and the header."""
        field = (self.field,) if self.family in OVER_FIELDS else ()
        return FAMILIES[self.family](self.n, bits + self.header, self.eps, *field)
