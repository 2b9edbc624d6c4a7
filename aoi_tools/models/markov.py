"""Schemes on a finite Markov source: differential updates where the change of the source is small.

An update is sent for the new state of the slot.  With P the source, P_k = P weighted by the window and D = p - d:

- :class:`Markov` sends a differential after a success if the change is small, otherwise the actual state.  Level =
  slot age, phase = (last outcome, source state); only resets lead down, so the rate matrix is p P and
  pi_0 = (1-p) nu (I - D P_k)^{-1}.
- :class:`LastDecoded` sends the difference to the last decoded state, also after failures.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aoi_tools.models.codes import Codeword, Decoding
from aoi_tools.models.protocol import Blocks
from aoi_tools.models.sources import Source
from aoi_tools.models.windows import Window
from exactchains.domain import Domain

Row = dict[int, Any]


@dataclass(frozen=True)
class Markov:
    """Differential iff the last update was received and the change lies in ``window``.  Notes: GM."""

    actual: Decoding
    differential: Decoding
    source: Source
    window: Window

    def __post_init__(self) -> None:
        _read(self)

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(f"{outcome} {i}" for outcome in ("success", "failure") for i in range(self.source.size))

    @cached_property
    def common_share(self) -> Any | None:
        """The chance of a small change when it is the same in every state, else None."""
        small, _ = self.source.split(self.window)
        shares = [sum(row.values(), self.source.domain.convert(0)) for row in small]
        return shares[0] if all(x == shares[0] for x in shares) else None

    @property
    def degree(self) -> int:
        """Size of the exact answer in multiples of the size of the parameters."""
        return self.source.size if self.common_share is None else 1

    def blocks(self, domain: Domain) -> Blocks:
        n, zero = self.source.size, domain.convert(0)
        p, d = self.actual.over(domain), self.differential.over(domain)
        small, large = self.source.split(self.window)
        up, reset = ([[zero] * (2 * n) for _ in range(2 * n)] for _ in range(2))
        for i, row in enumerate(self.source.rows):
            for j, x in row.items():
                near, far = (domain.convert(part[i].get(j, 0)) for part in (small, large))
                both = domain.convert(x)
                up[i][n + j] = near * d.failure + far * p.failure
                reset[i][j] = near * d.success + far * p.success
                up[n + i][n + j] = both * p.failure
                reset[n + i][j] = both * p.success
        return tuple(map(tuple, up)), tuple(map(tuple, reset))


@dataclass(frozen=True)
class LastDecoded:
    """Differential iff the new state minus the last decoded one lies in ``window``, also after failures.  Notes: LD.

    Mode "u|l": source state u, last decoded state l.
    """

    actual: Decoding
    differential: Decoding
    source: Source
    window: Window

    def __post_init__(self) -> None:
        _read(self)

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(f"{u}|{kept}" for kept in range(self.source.size) for u in range(self.source.size))

    @property
    def degree(self) -> int:
        return self.source.size**2

    def blocks(self, domain: Domain) -> Blocks:
        n, zero = self.source.size, domain.convert(0)
        up, reset = ([[zero] * n**2 for _ in range(n**2)] for _ in range(2))
        for kept in range(n):
            lost, received = self.reference(kept, domain)
            for u in range(n):
                up[kept * n + u][kept * n : (kept + 1) * n] = [lost[u].get(v, zero) for v in range(n)]
                for v, x in received[u].items():
                    reset[kept * n + u][v * n + v] = x
        return tuple(map(tuple, up)), tuple(map(tuple, reset))

    def reference(self, kept: int, domain: Domain) -> tuple[list[Row], list[Row]]:
        """Return P diag(f) and P diag(1 - f): f(v) = P(update of v is lost), ``kept`` being the last decoded state."""
        p, d = self.actual.over(domain), self.differential.over(domain)
        fates = {}
        for v in {j for row in self.source.rows for j in row}:
            w = self.window.weight(self.source.values[kept], self.source.values[v], self.source.cyclic)
            on, off = domain.convert(w), domain.convert(1 - w)
            fates[v] = (on * d.failure + off * p.failure, on * d.success + off * p.success)
        lost = [{v: domain.convert(x) * fates[v][0] for v, x in row.items()} for row in self.source.rows]
        received = [{v: domain.convert(x) * fates[v][1] for v, x in row.items()} for row in self.source.rows]
        return lost, received


def _read(scheme: Any) -> None:
    object.__setattr__(scheme, "actual", Codeword.of(scheme.actual, "p"))
    object.__setattr__(scheme, "differential", Codeword.of(scheme.differential, "d"))
    object.__setattr__(scheme, "source", scheme.source.closed())
