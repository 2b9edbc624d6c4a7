"""A code for both kinds of update: n channel uses carry m bits of state or k bits of difference."""

from dataclasses import dataclass
from typing import Any

from aoi_tools.models.codes import IdealErasure, RandomGenerator, RandomParityCheck, probability
from exactchains.truth import InputError

FAMILIES = {c.family: c for c in (RandomParityCheck, RandomGenerator, IdealErasure)}


@dataclass(frozen=True)
class Code:
    """Codewords of ``n`` uses with ``m`` bits (actual) and ``k`` bits (differential) of one family.

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
        object.__setattr__(self, "eps", probability(self.eps, "eps"))

    @property
    def actual(self) -> Any:
        return FAMILIES[self.family](self.n, self.m, self.eps)

    @property
    def differential(self) -> Any:
        if self.k is None:
            raise InputError("k is missing: the number of bits of a differential update; give 0 <= k <= m")
        return FAMILIES[self.family](self.n, self.k, self.eps)
