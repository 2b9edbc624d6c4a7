"""A statement about all integers at given ones: powers, sums and sequences written out, integers as numbers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exactchains.truth import InputError
from proofs_check.expression_size import bounded
from proofs_check.integer_terms import Integers

MAX_LENGTH = 20_000
Claim = tuple[str, str, str]


@dataclass(frozen=True)
class Plain:
    """A statement about real variables only."""

    names: tuple[str, ...]
    domain: Mapping[str, Any]
    claim: Claim


@dataclass(frozen=True)
class Case:
    """A statement about all integers."""

    names: tuple[str, ...]
    domain: Mapping[str, Any]
    integers: Integers
    claim: Claim

    def at(self, chosen: Mapping[str, int]) -> Plain | None:
        """Return the statement at these integers; None if it becomes too long."""
        values = {n: str(x) for n, x in chosen.items()}
        values |= self._states(chosen)
        real = tuple(n for n in self.names if n not in chosen)
        both = {**self.domain, **self.integers.assume}
        domain = {s: [_put(f, values), relation] for s, (f, relation) in both.items()}
        claim = (_put(self.claim[0], values), self.claim[1], _put(self.claim[2], values))
        try:
            for side in (claim[0], claim[2], *(f for f, _ in domain.values())):
                if len(side) > MAX_LENGTH:
                    return None
                bounded(side, list(real))
        except InputError:
            return None
        return Plain(real, domain, claim)

    def _states(self, chosen: Mapping[str, int]) -> dict[str, str]:
        """Return the states at the integers, as text in the real variables."""
        fixed = {n: str(chosen[n]) for n in self.integers.whole}
        found: dict[str, str] = {}
        for integer, least in self.integers.least.items():
            mine = {n: s for n, s in self.integers.states.items() if s.index == integer}
            now = {n: f"({_put(s.start, fixed)})" for n, s in mine.items()}
            for at in range(least, chosen[integer]):
                values = {**fixed, integer: str(at), **now}
                now = {
                    n: f"(({_put(s.base, fixed)})^{at + 1 - least})" if s.base else f"({_put(s.after, values)})"
                    for n, s in mine.items()
                }
                if any(len(x) > MAX_LENGTH for x in now.values()):
                    break
            found |= now
        return found


def _put(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z][A-Za-z0-9_]*", lambda m: values.get(m[0], m[0]), text)
