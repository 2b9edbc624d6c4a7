"""The moments of a periodic scheme for every period, as a transition system: one more position is one step.

After position i the scheme has a phase law n, first moments m (E[J; phase]) and second moments s.  A position with
blocks (U, R) moves them by n' = n (U + R), m' = (m + n) U, s' = (s + 2 m + n) U.  The first position forgets the phase
(its rows agree), so that n starts afresh and m, s start from the totals mu = E J, sigma = E J^2 at the end of the
period, unknown but linear: m = m0 + m1 mu, s = s0 + s1 mu + s2 sigma.  Setting the totals after position L equal to mu
and sigma solves for them; sums over the positions give the time averages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from exactchains.symbolic import Fractions

PHASES = ("alive", "dead")
MOMENTS = ("m0", "m1", "s0", "s1", "s2")
TOTALS = ("F", "A0", "A1", "S0", "S1", "S2")

DEFINITIONS = {
    "mu": "m0/(1-m1)",
    "sigma": "(s0 + s1*mu)/(1-s2)",
    "mean": "(A0 + A1*mu)/L",
    "second": "(S0 + S1*mu + S2*sigma)/L",
    "failure": "F/L",
}


@dataclass(frozen=True)
class System:
    """The transition system of the moments, as texts."""

    variables: tuple[str, ...]
    start: Mapping[str, str]
    step: Mapping[str, str]

    def problem(
        self, *, domain: Mapping[str, Any], extra: Mapping[str, tuple[str, str]] | None = None
    ) -> dict[str, Any]:
        """Return the problem of kind *induction*; ``extra`` adds states as {name: (start, step)}."""
        start = {**self.start, **{name: first for name, (first, _) in (extra or {}).items()}}
        step = {**self.step, **{name: later for name, (_, later) in (extra or {}).items()}}
        return {
            "variables": list(self.variables),
            "domain": {symbol: list(constraint) for symbol, constraint in domain.items()},
            "state": list(start),
            "starts": [start],
            "steps": {"next": {"set": step}},
            "define": DEFINITIONS,
        }


def moment_system(rules: Mapping[str, Any], field: Fractions, *, variables: tuple[str, ...] | None = None) -> System:
    """Return the system of a scheme with rules "first" and "following" on (alive, dead).

    Only the dead phase carries an age: both rules reset J in the alive phase, which is checked here.
    """
    (up_first, reset_first), (up, reset) = rules["first"], rules["following"]
    zero = field.convert(0)
    if any(field.convert(block[i][0]) != zero for block in (up_first, up) for i in range(2)):
        raise ValueError("a slot that ends alive must reset the age")
    if any(block[0] != block[1] for block in (up_first, reset_first)):
        raise ValueError("the first position must forget the phase")

    def text(x: Any) -> str:
        return f"({field.text(field.convert(x))})"

    lost = text(up_first[0][1])
    start = {
        "L": "1",
        "alive": text(reset_first[0][0] + up_first[0][0]),
        "dead": text(reset_first[0][1] + up_first[0][1]),
    }
    start |= {"m0": lost, "m1": lost, "s0": lost, "s1": f"2*{lost}", "s2": lost}
    start |= {"F": lost, "A0": lost, "A1": lost, "S0": lost, "S1": f"2*{lost}", "S2": lost}
    here, stays = text(up[0][1]), text(up[1][1])  # lost from alive, lost from dead
    fresh = f"(alive*{here} + dead*{stays})"
    step = {"L": "L+1"}
    for j, phase in enumerate(PHASES):
        into = [text(up[i][j] + reset[i][j]) for i in range(2)]
        step[phase] = f"alive*{into[0]} + dead*{into[1]}"
    step |= {
        "m0": f"m0*{stays} + {fresh}",
        "m1": f"m1*{stays}",
        "s0": f"(s0 + 2*m0)*{stays} + {fresh}",
        "s1": f"(s1 + 2*m1)*{stays}",
        "s2": f"s2*{stays}",
    }
    for total, part in zip(TOTALS, ("F", "m0", "m1", "s0", "s1", "s2"), strict=True):
        step[total] = f"{total} + {fresh if part == 'F' else step[part]}"
    return System(field.names if variables is None else variables, start, step)
